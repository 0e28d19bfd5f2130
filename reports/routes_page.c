/* docs/routes.md: the table of routes as Markdown. */
#include "reports/routes.h"

/* The words of a list between backticks; a dash where there is none. */
static void put_words(struct buf *out, const char *const *list)
{
	if (!list || !*list)
		buf_text(out, "none");
	for (const char *const *word = list; word && *word; word++)
		buf_printf(out, "%s`%s`", word == list ? "" : ", ", *word);
}

static void put_overview(struct buf *out)
{
	buf_text(out, "| route | what it is | stopped or checked by | seen by | shown by the mutations |\n"
		      "|---|---|---|---|---|\n");
	for (const struct route *route = routes; route->id; route++) {
		buf_printf(out, "| [%s](#%s) | %s | %s | ", route->id, route->id, route->title, route->mediator);
		put_words(out, route->observers);
		buf_text(out, " | ");
		put_words(out, route->mutations);
		buf_text(out, " |\n");
	}
}

static void put_list(struct buf *out, const char *label, const char *const *list)
{
	if (!list || !*list)
		return;
	buf_printf(out, "- %s: ", label);
	put_words(out, list);
	buf_text(out, "\n");
}

static void put_route(struct buf *out, const struct route *route)
{
	buf_printf(out, "\n### %s\n\n- Without it: %s\n", route->id, route->missing);
	if (route->rest)
		buf_printf(out, "- Not shown: %s\n", route->rest);
	put_list(out, "Tried or measured as", route->subjects);
	put_list(out, "Scenarios", route->scenarios);
	put_list(out, "Rules of admission", route->rules);
}

void routes_page(struct buf *out)
{
	buf_text(out,
		 "<!-- Made by `make docs` from reports/routes.c: do not edit. -->\n"
		 "# Routes and mediators\n\n"
		 "Each row is a way on which plaintext could leave the agent, or the parts that handle it. Each name "
		 "is one "
		 "of a table in the\n"
		 "code: probes and measures, observers ([observers.md](observers.md)), mutations (`harness list`), "
		 "scenarios\n"
		 "([scenarios.md](scenarios.md)), rules of admission ([admission.md](admission.md)). A test holds them "
		 "against those tables: every\n"
		 "probe, measure, observer, mutation and rule stands in a route, and each mutation of a route is taken "
		 "away "
		 "by one of the route's\n"
		 "scenarios, where a cell of one of its observers then turns. A name that ends with `*` stands for all "
		 "that "
		 "begin so.\n\n"
		 "The list does not show that there is no other way: [limits.md](limits.md), "
		 "`path-set-completeness`.\n\n");
	put_overview(out);
	buf_text(out, "\n## When the mediator is missing, and what shows it\n");
	for (const struct route *route = routes; route->id; route++)
		put_route(out, route);
}
