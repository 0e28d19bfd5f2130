/* report.html: the verdict and its limits first, each cell within reach, every text for itself, and nothing that a
 * browser would fetch or run. */
#include "core/fd.h"
#include "reports/coverage.h"
#include "reports/html.h"
#include "reports/html_parts.h"
#include "reports/summary.h"
#include "tests/unit/findings_world.h"

#define TEXT_BYTES ((size_t)8 * MIB)

static int encode(struct world *world, struct buf *out)
{
	struct manifest_facts facts;
	struct findings findings = world_findings(world, &facts);
	struct error *err = NULL;

	return html_encode(&findings, out, &err) == 0 && test_no_error(&err);
}

#define HOLDS(text, part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(text), part))
#define LACKS(text, part) CU_ASSERT_PTR_NULL(strstr(buf_string(text), part))

/* In this order, each behind the one before. */
static void in_order(const struct buf *text, const char *const *parts)
{
	const char *at = buf_string(text);

	for (; *parts; parts++) {
		const char *found = strstr(at, *parts);

		if (!found)
			fprintf(stderr, "not there, or not in its place: %s\n", *parts);
		CU_ASSERT_PTR_NOT_NULL(found);
		at = found ? found : at;
	}
}

/* The row of a cell in its arm's table, without its line feed. */
static const char *row(const struct world *world, const struct buf *text, const char *arm, const char *subject,
		       const char *observer, char out[512])
{
	const struct verdict_cell *cell = cell_in(world, arm, 1, subject, observer);
	const char *at;
	char start[32];

	snprintf(start, sizeof(start), "<tr id=\"c%zu\">", (size_t)(cell - world->verdicts->cells));
	at = strstr(buf_string(text), start);
	snprintf(out, 512, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	return out;
}

/* Of the tags that are closed one by one. */
static void balanced(const struct buf *text)
{
	static const char *const tags[] = { "html", "head",  "body",    "main",    "header", "nav", "h1",  "h2",  "h3",
					    "div",  "table", "details", "summary", "svg",    "ul",  "pre", "a",   "ol",
					    "dl",   "code",  "small",   "title",   "desc",   "p",   "b",   "span" };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		char plain[16], open[16], close[16];

		snprintf(plain, sizeof(plain), "<%s>", tags[i]);
		snprintf(open, sizeof(open), "<%s ", tags[i]);
		snprintf(close, sizeof(close), "</%s>", tags[i]);
		if (count_of(text, plain) + count_of(text, open) != count_of(text, close))
			fprintf(stderr, "%s: not closed as often as opened\n", tags[i]);
		CU_ASSERT_EQUAL(count_of(text, plain) + count_of(text, open), count_of(text, close));
	}
}

static bool once(const struct buf *text, const char *name, size_t length)
{
	char id[48];

	snprintf(id, sizeof(id), " id=\"%.*s\"", (int)length, name);
	return count_of(text, id) == 1;
}

/* Each link leads to one place of the page, and each place is one. */
static void linked(const struct buf *text)
{
	size_t links = 0;

	for (const char *at = buf_string(text); (at = strstr(at, "href=\"")); links++) {
		at += strlen("href=\"");
		CU_ASSERT_EQUAL(*at, '#');
		if (*at == '#' && !once(text, at + 1, strcspn(at + 1, "\""))) {
			fprintf(stderr, "leads nowhere: %.*s\n", (int)strcspn(at, "\""), at);
			CU_FAIL("a link");
		}
	}
	CU_ASSERT(links > 0);
}

/* Nothing is fetched or run, and a terminal may show it. */
static void inert(const struct buf *text)
{
	static const char *const none[] = { "<script", "<iframe",    "<img",    "<object", "<embed",  "<link",
					    "<form",   "<base",      " src=",   "url(",    "@import", "http:",
					    "https:",  "javascript", " onload", "<use",    "<foreign" };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		LACKS(text, none[i]);
	HOLDS(text, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		    "'unsafe-inline'; base-uri 'none'; form-action 'none'\">");
	for (size_t i = 0; i < text->length; i++)
		CU_ASSERT(text->data[i] == '\n' || (text->data[i] >= ' ' && text->data[i] <= '~'));
}

static void test_passed(void)
{
	static const char *const parts[] = { "<!DOCTYPE html>\n<html lang=\"en\">",
					     "<title>Confinement evidence: pass</title>",
					     "Skip to the verdict",
					     "<h1 class=\"p\">Pass</h1>",
					     "No leak was seen, and every protected zero was earned.",
					     "It does not prove that no other way out exists.",
					     "<h2 id=\"not-proved\">",
					     "that the declared set of paths is complete",
					     "<h2 id=\"numbers\">",
					     "<h2 id=\"mutations\">Mutants: 7 of 7 caught</h2>",
					     "<h2 id=\"matrix\">",
					     "<b>capture-host</b>",
					     "<h2 id=\"arms\">",
					     "<h2 id=\"environment\">",
					     "<h2 id=\"coverage\">",
					     "covert-channels",
					     "trusted-host-kernel",
					     "every cell of the scenarios was planned",
					     "<h2 id=\"routes\">",
					     "<th scope=\"row\">initial-input<td>",
					     "<th scope=\"row\">revoked-tools<td>",
					     "<td>none ran\n",
					     "<th scope=\"row\">other-endpoints<td>",
					     "<td>2 of 2 caught\n",
					     "<th scope=\"row\">privileges<td>",
					     "<td>nobody<td>no mutant\n",
					     "<h2 id=\"limits\">",
					     "AppArmor, SELinux and arm64 were not tested",
					     "<th scope=\"row\">timing<td>",
					     "<th scope=\"row\">arm64<td>not tested",
					     "<h2 id=\"verify\">",
					     "harness verify confinement-evidence.tar.gz",
					     "</html>\n",
					     NULL };
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES), again = BUF(TEXT_BYTES);
	char line[512];

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	CU_ASSERT(encode(&world, &text));
	in_order(&text, parts);
	balanced(&text);
	linked(&text);
	inert(&text);
	LACKS(&text, "id=\"troubles\"");
	LACKS(&text, " open>");
	CU_ASSERT_EQUAL(count_of(&text, "<tr id=\"c"), world.verdicts->cells_count);
	CU_ASSERT_EQUAL(count_of(&text, "<details id=\"a"), world.verdicts->arms_count);
	/* In the matrix each cell has its place, and leads to its row. */
	CU_ASSERT_EQUAL(count_of(&text, "<td><a href=\"#c") + count_of(&text, "<td class=\"c\"><a href=\"#c"),
			world.verdicts->cells_count);
	HOLDS(&text, " <small>caught</small></a>");
	row(&world, &text, "baseline", "dns", "dns", line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "dns@dns<td>0<td>= 0<td>pass<td><a href=\"#a"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "\">mutation/network</a><td>1 + 1<td>0<td>0<td>0<td>0<td>o-"));
	CU_ASSERT(encode(&world, &again));
	CU_ASSERT_STRING_EQUAL(buf_string(&text), buf_string(&again));
}

/* Each state of a cell, a mutation and an arm: in the list of what did not pass, in the matrix, and in its arm, which
 * is open. */
static void test_outcomes(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct arm_record *broken;
	struct observation *lost;
	char line[512];

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	see(&world, "baseline", "dns", "dns")->value = 3;
	lost = see(&world, "baseline", "tcp4", "tcp4");
	lost->dropped = 17;
	lost->reason = OBSERVATION_REASON_DROPPED;
	forget(&world, see(&world, "baseline-again", "restarts", "state"));
	see(&world, "mutation/read-only", "file", "files-archive")->value = 0;
	broken = record_of(&world, "lifecycle/bridge-killed");
	broken->status = ARM_TIMEOUT;
	set(broken->reason, sizeof(broken->reason), "session-limit");
	CU_ASSERT(encode(&world, &text));
	balanced(&text);
	linked(&text);
	HOLDS(&text, "<title>Confinement evidence: fail</title>");
	HOLDS(&text, "<h1 class=\"f\">Fail</h1>");
	in_order(&text,
		 (const char *const[]){
			 "<h2 id=\"numbers\">", "cells fail", "cells are not established", "<h2 id=\"troubles\">",
			 because_words(BECAUSE_VALUE), because_next(BECAUSE_VALUE), because_words(BECAUSE_MISSING),
			 because_words(BECAUSE_NOT_LIVE), "Arms that did not end well", "timeout<td>session-limit",
			 "<h2 id=\"mutations\">Mutants: 5 of 7 caught</h2>", "Mutants that were not caught",
			 "mutation/read-only</a>", "5 mutants that were caught", "<h2 id=\"matrix\">", NULL });
	row(&world, &text, "baseline", "dns", "dns", line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "<td>3<td>= 0<td><b class=\"f\">fail</b>, value<td>nobody<td>"));
	row(&world, &text, "baseline", "tcp4", "tcp4", line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "<b class=\"n\">not established</b>, not_live"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "<td>17<td>o-"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, ", dropped"));
	row(&world, &text, "baseline-again", "restarts", "state", line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "<td>none<td>= 0<td><b class=\"n\">not established</b>, missing"));
	HOLDS(&text, "<td class=\"f\"><a href=\"#c");
	HOLDS(&text, "\">3 <b>fail</b></a>");
	HOLDS(&text, "\">0 <small>not established</small></a>");
	HOLDS(&text, " open><summary>baseline<span class=\"soft\">");
	HOLDS(&text, " open><summary>mutation/read-only<span class=\"soft\">mutant, not caught; ");
	HOLDS(&text, " open><summary>lifecycle/bridge-killed<span class=\"soft\">ended: timeout, ");
	/* What failed comes before what passed, within its group too. */
	in_order(&text, (const char *const[]){ "<h3>baseline and mutations</h3>", "<summary>mutation/read-only",
					       "<summary>mutation/network<", NULL });
}

/* Nothing leaked, and yet nothing is shown; a cell that no plan has, of which a canary arrived, is a leak. */
static void test_other_verdicts(void)
{
	cleanup_world struct world world = { .plan = NULL }, leaky = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES), leaked = BUF(TEXT_BYTES);

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	see(&world, "baseline", "dns", "dns")->beacon_after = 0;
	CU_ASSERT(encode(&world, &text));
	HOLDS(&text, "<h1 class=\"n\">Not established</h1>");
	HOLDS(&text, "No leak was seen, but not every protected zero was earned.");
	LACKS(&text, because_words(BECAUSE_VALUE));
	linked(&text);

	CU_ASSERT(world_make(&leaky, "baseline", 1, NULL));
	stray(&leaky, see(&leaky, "baseline", "dns", "dns"), "file", 2);
	CU_ASSERT(encode(&leaky, &leaked));
	HOLDS(&leaked, because_words(BECAUSE_UNPLANNED));
	linked(&leaked);
	balanced(&leaked);
}

/* The drawing and its table say the same; without both ends nothing is thick, without events there is neither. */
static void test_timeline(void)
{
	static const struct {
		const char *name, *subject;
		int64_t at;
	} events[] = {
		{ "created", "", 1000000 },
		{ "first-frame", "", 250000000 },
		{ "delivered", "permitted", 300500000 },
		{ "part-lost", "bridge", 500000000 },
		{ "dead", "", 750000000 },
		{ "something-new", "", 5000000000 },
	};
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct arm_record *record;

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	record = record_of(&world, "baseline");
	record->duration_ns = 1000000000;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct arm_event *event = &record->events[record->events_count++];

		set(event->name, sizeof(event->name), events[i].name);
		set(event->subject, sizeof(event->subject), events[i].subject);
		event->at_ns = events[i].at;
	}
	CU_ASSERT(encode(&world, &text));
	CU_ASSERT_EQUAL(count_of(&text, "<svg "), 1);
	HOLDS(&text, "rowspan=\"6\"><svg role=\"img\" viewBox=\"0 0 1000 12\" height=\"9.0rem\"");
	HOLDS(&text,
	      "<title>Timeline of baseline</title><desc>1000.0 ms in all. The agent could act from 250.0 to 750.0 "
	      "ms.</desc>");
	HOLDS(&text, "<path d=\"M0 1L249 3L300 5L499 7L749 9L1000 11\"/>");
	HOLDS(&text, "<path class=\"u\" d=\"M249 3L300 5L499 7L749 9\"/>");
	HOLDS(&text, "<tr><td>300.5<th scope=\"row\">call delivered<span class=\"soft\">permitted</span>");
	HOLDS(&text, "<th scope=\"row\">something-new");
	balanced(&text);
	set(record->events[4].name, sizeof(record->events[4].name), "left");
	text.length = 0;
	CU_ASSERT(encode(&world, &text));
	LACKS(&text, "class=\"u\"");
	LACKS(&text, "could act from");
	LACKS(&text, "The deployment beside it");
}

/* The grammar of a bundle has no room for these; the page would not need it. */
static void test_hostile(void)
{
	static const char evil[] = "</title><script>alert(\"1\")</script>'&";
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct arm_record *record;

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	set(scenario_in(&world, "baseline")->title, TITLE_MAX, evil);
	record = record_of(&world, "baseline");
	set(record->deployment_revision, sizeof(record->deployment_revision), "<u>r1");
	set(record->events[0].name, NAME_MAX_SHORT, "<script>");
	set(record->events[0].subject, NAME_MAX_SHORT, "\"><script>");
	record->events_count = 1;
	set(record->failed[0], NAME_MAX_SHORT, "<b>\x1b[31m");
	record->failed_count = 1;
	record->status = ARM_TIMEOUT;
	set(record->reason, sizeof(record->reason), "<svg onload='1'>");
	set(see(&world, "baseline", "dns", "dns")->id, 24, "<i>o-\"1");
	CU_ASSERT(encode(&world, &text));
	LACKS(&text, "<script");
	LACKS(&text, "<i>");
	LACKS(&text, "<u>");
	HOLDS(&text, "The deployment beside it said that it is of revision &lt;u&gt;r1. ");
	LACKS(&text, "<b>?");
	LACKS(&text, "<svg onload");
	LACKS(&text, "\x1b");
	HOLDS(&text, "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;");
	HOLDS(&text, "&lt;svg onload=&#39;1&#39;&gt;");
	HOLDS(&text, "&lt;b&gt;?[31m");
	balanced(&text);
}

static void test_environment(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	CU_ASSERT(encode(&world, &text));
	HOLDS(&text, "kernel.release<td>6.1.0-18-amd64\n");
	HOLDS(&text, "host.cpus<td>4 <b class=\"n\">before; changed:</b> 2\n");
	HOLDS(&text, "engine.securityOptions<td>name=seccomp, name=cgroupns <b class=\"n\">before; changed:</b> not "
		     "known: not said\n");
	HOLDS(&text, "sysctl.corePatternRelative<td>yes <b");
	HOLDS(&text, "clock.synchronised<td>no before; after: yes\n");
	HOLDS(&text, "sysctl.ipv6Disabled<td>not known: permission\n");
	HOLDS(&text, "<dt>harness<dd><code>00ff</code>");
}

/* A gateway of somebody else, and cells that could not be made. */
static void test_less(void)
{
	static const char *const missing[] = { "ipv6-loopback", NULL };
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct manifest_facts facts;
	struct findings findings;
	struct error *err = NULL;

	CU_ASSERT(world_make(&world, "baseline", 1, missing));
	findings = world_findings(&world, &facts);
	facts.gateway.kind = GATEWAY_URL;
	CU_ASSERT_EQUAL(html_encode(&findings, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	HOLDS(&text, "The gateway was composed by somebody else");
	HOLDS(&text, "<th scope=\"row\">tcp6@tcp6<td>declared_untested: ipv6-loopback\n");
	HOLDS(&text, "<dt>Gateway<dd>url, version 1.2.3\n");
	balanced(&text);
}

/* What was asked for and from where; a part of a plan, a merged run and one that was made again are named as such. */
static void test_origin(void)
{
	cleanup_free struct manifest_origin *origin = calloc(1, sizeof(*origin));
	cleanup_free struct replay *replay = calloc(1, sizeof(*replay));
	cleanup_free struct merge *merge = calloc(1, sizeof(*merge));
	cleanup_buf struct buf text = BUF(TEXT_BYTES), whole = BUF(TEXT_BYTES);
	cleanup_world struct world world = { .plan = NULL };
	struct manifest_facts facts;
	struct findings findings;
	struct error *err = NULL;

	if (!origin || !replay || !merge || !world_make(&world, "baseline", 1, NULL)) {
		CU_FAIL("no world");
		return;
	}
	findings = world_findings(&world, &facts);
	set(origin->selection[0], ID_MAX, "baseline");
	set(origin->selection[1], ID_MAX, "watch");
	origin->selection_count = 2;
	origin->repeat = 3;
	origin->seed = 42;
	origin->shard = (struct plan_shard){ .index = 2, .of = 5 };
	set(origin->build.commit, sizeof(origin->build.commit), "0123456789abcdef0123456789abcdef01234567");
	origin->build.dirty = true;
	set(replay->of.run, sizeof(replay->of.run), "fedcba98");
	replay->outcome = REPLAY_DIVERGED;
	merge->count = 5;
	facts.origin = origin;
	CU_ASSERT_EQUAL(html_encode(&findings, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	HOLDS(&text, "<dt>Selected<dd>baseline, watch, each 3 times");
	HOLDS(&text, "<dt>Shard<dd>2 of 5: what the others hold is not here\n");
	HOLDS(&text, "<dt>Seed<dd>42\n");
	HOLDS(&text, "<dt>Source<dd><code>0123456789abcdef0123456789abcdef01234567</code>, changed since\n");
	LACKS(&text, "Merged from");
	LACKS(&text, "Repeats");
	origin->merged_count = 5;
	origin->build.commit[0] = '\0';
	findings.merge = merge;
	findings.replay = replay;
	CU_ASSERT_EQUAL(html_encode(&findings, &whole, &err), 0);
	CU_ASSERT(test_no_error(&err));
	HOLDS(&whole, "<dt>Merged from<dd>5 shards");
	LACKS(&whole, "<dt>Shard<dd>");
	HOLDS(&whole, "<code>not known</code>");
	HOLDS(&whole, "<dt>Repeats<dd>run <code>fedcba98</code>: DIVERGED\n");
	balanced(&whole);
}

static void test_bounded(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf small = BUF(10000), text = BUF(TEXT_BYTES);
	struct manifest_facts facts;
	struct findings findings;
	struct error *err = NULL;

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	findings = world_findings(&world, &facts);
	CU_ASSERT(html_encode(&findings, &small, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "report.html"));
	/* Without the records the cells are there all the same. */
	findings.arms_count = 0;
	CU_ASSERT_EQUAL(html_encode(&findings, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	HOLDS(&text, "It left no record.");
	CU_ASSERT_EQUAL(count_of(&text, "<tr id=\"c"), world.verdicts->cells_count);
	findings.environment = "{";
	findings.environment_length = 1;
	CU_ASSERT(html_encode(&findings, &text, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "environment.json"));
}

static void each_has_words(const char *const *ids)
{
	for (; *ids; ids++) {
		if (!*html_statement(*ids))
			fprintf(stderr, "no words for %s\n", *ids);
		CU_ASSERT(*html_statement(*ids) != '\0');
	}
}

/* What is named by an id alone is not understood. */
static void test_words(void)
{
	cleanup_world struct world world = { .plan = NULL };

	each_has_words(coverage_untested());
	each_has_words(coverage_assumptions());
	each_has_words(coverage_not_established());
	CU_ASSERT_STRING_EQUAL(html_statement("nothing-of-ours"), "");
	CU_ASSERT_STRING_EQUAL(html_event("nothing-of-ours"), "nothing-of-ours");
	CU_ASSERT(world_make(&world, "all", 1, NULL));
	for (size_t i = 0; i < world.observations_count; i++)
		CU_ASSERT(*html_observer(world.observations[i].observer) != '\0');
}

/* Repetitions stand beside each other, each with a place of its own. */
static void test_repetitions(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);

	CU_ASSERT(world_make(&world, "baseline", 3, NULL));
	see_in(&world, "baseline", 2, "dns", "dns")->value = 1;
	CU_ASSERT(encode(&world, &text));
	linked(&text);
	balanced(&text);
	in_order(&text, (const char *const[]){ "<h2 id=\"matrix\">", "\">baseline</a>", "\">baseline #2</a>",
					       "\">baseline #3</a>", "\">mutation/<wbr>", NULL });
	HOLDS(&text, " open><summary>baseline #2<span");
	CU_ASSERT_EQUAL(count_of(&text, " open><summary>baseline"), 1);
	CU_ASSERT_EQUAL(count_of(&text, "<tr id=\"c"), world.verdicts->cells_count);
}

static CU_TestInfo tests[] = {
	{ "passed", test_passed },
	{ "outcomes", test_outcomes },
	{ "other verdicts", test_other_verdicts },
	{ "timeline", test_timeline },
	{ "hostile texts", test_hostile },
	{ "environment", test_environment },
	{ "absent cells, another gateway", test_less },
	{ "origin", test_origin },
	{ "bounds", test_bounded },
	{ "words", test_words },
	{ "repetitions", test_repetitions },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "html", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("html", suites);
}
