/* What a reader must not miss: the verdict, what it does not prove, and the numbers that it stands on. */
#include <inttypes.h>
#include <string.h>

#include "reports/coverage.h"
#include "reports/html_parts.h"
#include "reports/summary.h"

static void put_verdict(struct buf *out, enum verdict verdict)
{
	static const char *const headings[] = {
		[VERDICT_PASS] = "<h1 class=\"p\">Pass</h1>\n",
		[VERDICT_FAIL] = "<h1 class=\"f\">Fail</h1>\n",
		[VERDICT_NOT_ESTABLISHED] = "<h1 class=\"n\">Not established</h1>\n",
	};
	const char *words = strchr(verdict_words(verdict), ':');

	buf_text(out, "<p class=\"kind\">Confinement evidence</p>\n");
	buf_text(out, headings[verdict]);
	if (words)
		escape_printf(out, "<p class=\"lead\">%c%s.</p>\n", words[2] - 'a' + 'A', words + 3);
	buf_text(out, "<p>It does not prove that no other way out exists.</p>\n");
}

static void put_limits(const struct html_page *page)
{
	struct buf *out = page->out;

	buf_text(out, "<h2 id=\"not-proved\">What this does not prove</h2>\n"
		      "<p>Only these probes were tried, on this kernel and this engine. By "
		      "themselves they do not establish:</p>\n<ul class=\"two\">\n");
	for (const char *const *id = coverage_not_established(); *id; id++)
		escape_printf(out, "<li>%s\n", html_statement(*id));
	buf_text(out, "</ul>\n");
	if (page->findings->manifest->gateway.kind == GATEWAY_URL)
		escape_printf(out, "<p>%s</p>\n", SUMMARY_UNVOUCHED);
	if (page->findings->verdicts->zeros == 0)
		buf_text(out, "<p>Nothing protected was planned: there are only controls, which prove no "
			      "confinement.</p>\n");
	buf_text(out, "<p>This page cannot say who made it. Whether somebody signed the bundle, and whether it is as "
		      "it was sealed, <a href=\"#verify\">you can check yourself</a>.</p>\n");
}

static void put_figure(struct buf *out, size_t count, size_t of, const char *what)
{
	escape_printf(out, "<li><b>%zu of %zu</b> %s\n", count, of, what);
}

static void put_figures(const struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;
	struct buf *out = page->out;
	size_t caught = 0, earned = 0;

	for (size_t i = 0; i < verdicts->mutations_count; i++)
		caught += verdicts->mutations[i].verdict == VERDICT_PASS;
	for (size_t i = 0; i < verdicts->cells_count; i++)
		earned += verdicts->cells[i].mutant[0] && verdicts->cells[i].verdict == VERDICT_PASS;
	buf_text(out, "<h2 id=\"numbers\">The numbers</h2>\n<ul class=\"figures\">\n");
	put_figure(out, verdicts->pass, verdicts->cells_count, "cells pass");
	if (verdicts->fail)
		put_figure(out, verdicts->fail, verdicts->cells_count, "cells fail");
	if (verdicts->not_established)
		put_figure(out, verdicts->not_established, verdicts->cells_count, "cells are not established");
	put_figure(out, earned, verdicts->zeros, "protected zeros and bounds were earned by a mutant");
	put_figure(out, caught, verdicts->mutations_count, "mutants were caught");
	put_figure(out, verdicts->arms_count - verdicts->arms_not_ok, verdicts->arms_count, "arms ended well");
	buf_text(out, "</ul>\n");
}

/* What was asked for, and from where. */
static void put_origin(struct buf *out, const struct manifest_origin *origin)
{
	buf_text(out, "<dt>Selected<dd>");
	for (size_t i = 0; i < origin->selection_count; i++)
		escape_printf(out, "%s%s", i ? ", " : "", origin->selection[i]);
	if (origin->repeat > 1)
		escape_printf(out, ", each %" PRId64 " times", origin->repeat);
	if (origin->shard.of > 1 && origin->merged_count == 0)
		escape_printf(out, "<dt>Shard<dd>%" PRId64 " of %" PRId64 ": what the others hold is not here\n",
			      origin->shard.index, origin->shard.of);
	escape_printf(out, "\n<dt>Seed<dd>%" PRId64 "\n<dt>Source<dd><code>%s</code>%s\n", origin->seed,
		      origin->build.commit[0] ? origin->build.commit : "not known",
		      origin->build.dirty ? ", changed since" : "");
}

static void put_replay(struct buf *out, const struct replay *replay)
{
	escape_printf(out, "<dt>Repeats<dd>run <code>%s</code>: %s\n", replay->of.run,
		      replay_outcome_names[replay->outcome]);
}

static void put_facts(const struct html_page *page)
{
	const struct manifest_facts *facts = page->findings->manifest;
	struct buf *out = page->out;

	escape_printf(out, "<dl class=\"facts\">\n<dt>Run<dd><code>%s</code>\n<dt>Began<dd>%s\n<dt>Ended<dd>%s\n",
		      facts->run, facts->started, facts->finished);
	escape_printf(out, "<dt>Made by<dd>harness %s\n<dt>Agent&#39;s image<dd><code>sha256:%s</code>\n",
		      facts->version, facts->image);
	escape_printf(out, "<dt>Gateway<dd>%s", gateway_kind_names[facts->gateway.kind]);
	if (facts->gateway.version[0])
		escape_printf(out, ", version %s", facts->gateway.version);
	buf_text(out, "\n");
	if (facts->origin)
		put_origin(out, facts->origin);
	if (page->findings->merge)
		escape_printf(out,
			      "<dt>Merged from<dd>%zu shards; merge.json has the environment of each, this page that "
			      "of the first\n",
			      page->findings->merge->count);
	if (page->findings->replay)
		put_replay(out, page->findings->replay);
	buf_text(out, "</dl>\n");
}

static void put_contents(const struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;
	struct buf *out = page->out;

	buf_text(out, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#not-proved\">What this does not prove</a>\n"
		      "<li><a href=\"#numbers\">The numbers</a>\n");
	if (verdicts->overall != VERDICT_PASS)
		buf_text(out, "<li><a href=\"#troubles\">What did not pass</a>\n");
	buf_text(out, "<li><a href=\"#mutations\">Mutants</a>\n");
	if (html_has_claims(page))
		buf_text(out, "<li><a href=\"#claims\">Claims</a>\n");
	buf_text(out, "<li><a href=\"#matrix\">Matrix</a>\n"
		      "<li><a href=\"#arms\">Arms</a>\n<li><a href=\"#environment\">Environment</a>\n"
		      "<li><a href=\"#coverage\">What was not tested</a>\n"
		      "<li><a href=\"#routes\">Routes</a>\n<li><a href=\"#limits\">Limits</a>\n"
		      "<li><a href=\"#verify\">Check it yourself</a>\n</ul></nav>\n");
}

void html_verdict_section(struct html_page *page)
{
	buf_text(page->out, "<header>\n");
	put_verdict(page->out, page->findings->verdicts->overall);
	buf_text(page->out, "</header>\n");
	put_contents(page);
	buf_text(page->out, "<main id=\"main\">\n");
	put_limits(page);
	put_figures(page);
	put_facts(page);
}
