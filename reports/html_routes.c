/* The routes with their mediators, and which of their mutants this run caught. */
#include "reports/html_parts.h"
#include "reports/routes.h"

static bool is_shown_by(const struct route *route, const struct scenario *mutant)
{
	for (size_t i = 0; i < mutant->removes_count; i++)
		if (route_has(route->mutations, mutant->removes[i]))
			return route_has_scenario(route, mutant->id);
	return false;
}

static void put_mutants(struct buf *out, const struct route *route, const struct verdicts *verdicts)
{
	size_t ran = 0, caught = 0;

	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		if (!is_shown_by(route, verdicts->mutations[i].scenario))
			continue;
		ran++;
		caught += verdicts->mutations[i].verdict == VERDICT_PASS;
	}
	if (!route->mutations)
		buf_text(out, "no mutant");
	else if (ran == 0)
		buf_text(out, "none ran");
	else
		escape_printf(out, "%zu of %zu caught", caught, ran);
}

static void put_words(struct buf *out, const char *const *words)
{
	if (!words)
		buf_text(out, "nobody");
	for (const char *const *word = words; word && *word; word++)
		escape_printf(out, "%s%s", word == words ? "" : ", ", *word);
}

static void put_route(struct buf *out, const struct route *route, const struct verdicts *verdicts)
{
	escape_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s<td>%s", route->id, route->title, route->mediator,
		      route->missing);
	if (route->rest)
		escape_printf(out, " <b>Not shown:</b> %s", route->rest);
	buf_text(out, "<td>");
	put_words(out, route->observers);
	buf_text(out, "<td>");
	put_mutants(out, route, verdicts);
	buf_text(out, "\n");
}

void html_routes(struct html_page *page)
{
	static const char *const columns[] = { "Route",      "What it is", "Stopped or checked by",
					       "Without it", "Seen by",    "Mutants of this run",
					       NULL };
	struct buf *out = page->out;
	size_t count = 0;

	while (routes[count].id)
		count++;
	buf_text(out, "<h2 id=\"routes\">Routes and mediators</h2>\n<p>The ways on which plaintext could leave, as far "
		      "as they are known. The list does not show that there is no other.</p>\n<details><summary>");
	html_count(out, count, "route", "routes");
	buf_text(out, "</summary>\n");
	html_table(out, "x", "Routes and mediators", columns);
	for (size_t i = 0; i < count; i++)
		put_route(out, &routes[i], page->findings->verdicts);
	html_table_end(out);
	buf_text(out, "</details>\n");
}
