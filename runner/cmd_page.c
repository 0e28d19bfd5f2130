/* `harness page`: the pages of the documentation that are made from tables in the code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/nearest.h"
#include "reports/claims.h"
#include "reports/limits.h"
#include "runner/paths.h"
#include "runner/routes_check.h"
#include "runner/verb.h"

#define PAGE_BYTES ((size_t)256 * KIB)

struct page {
	const char *name;
	int (*make)(const struct options *options, struct buf *out, struct error **err);
};
static const struct page pages[];

/* A table that the other tables contradict is not printed. */
static int make_routes(const struct options *options, struct buf *out, struct error **err)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct route_names names;
	size_t count = 0;

	if (scenarios_open(options, &scenarios, &count, err) < 0)
		return -1;
	names = route_names_of(scenarios, count);
	if (routes_check(routes, &names, err) < 0)
		return -1;
	routes_page(out);
	return 0;
}

static int make_limits(const struct options *options, struct buf *out, struct error **err)
{
	(void)options, (void)err;
	limits_page(out);
	return 0;
}

static int make_claims(const struct options *options, struct buf *out, struct error **err)
{
	(void)options, (void)err;
	claims_page(out);
	return 0;
}

static const struct page *page_find(const char *name, struct error **err)
{
	struct nearest nearest = { .word = name };

	for (const struct page *page = pages; page->name; page++) {
		if (strcmp(page->name, name) == 0)
			return page;
		nearest_offer(&nearest, page->name);
	}
	(void)nearest_error(&nearest, "page", "there are `routes`, `limits` and `claims`", err);
	return NULL;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_buf struct buf out = BUF(PAGE_BYTES);
	const struct page *page;

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE, "page takes `routes`, `limits` or `claims`");
	page = page_find(options->words[0], err);
	if (!page || page->make(options, &out, err) < 0 || buf_check(&out, "the page", err) < 0)
		return -1;
	fputs(buf_string(&out), stdout);
	return EXIT_PASS;
}

const struct verb verb_page = {
	.name = "page",
	.words = "routes|limits|claims",
	.title = "print a page of the documentation (for `make docs`)",
	.text = "Markdown, from the tables of routes, of limits and of what claims lack.",
	.hidden = true,
	.run = run,
};

static const struct page pages[] = {
	{ "routes", make_routes },
	{ "limits", make_limits },
	{ "claims", make_claims },
	{ NULL, NULL },
};
