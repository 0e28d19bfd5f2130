/* What report.html says of declared effects: each claim with its reasons, both halves, and the declaration itself. */
#include "reports/claims.h"
#include "reports/html.h"
#include "tests/unit/declaration_world.h"
#include "tests/unit/findings_world.h"

#define TEXT_BYTES ((size_t)8 * MIB)
#define HOLDS(text, part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(text), part))
#define LACKS(text, part) CU_ASSERT_PTR_NULL(strstr(buf_string(text), part))

struct declared {
	struct world world;
	struct effect *effects;
	size_t count;
	struct manifest_facts facts;
	struct findings findings;
	struct buf text;
};

static void declared_free(struct declared *declared)
{
	world_free(&declared->world);
	free(declared->effects);
	buf_free(&declared->text);
}
#define cleanup_declared __attribute__((cleanup(declared_free)))

static int declare(struct declared *declared, const char *selector)
{
	declared->text = (struct buf)BUF(TEXT_BYTES);
	return declared_make(&declared->world, selector, &declared->effects, &declared->count);
}

/* Judges, and writes the page. */
static void show(struct declared *declared)
{
	struct error *err = NULL;

	declared->findings = world_findings(&declared->world, &declared->facts);
	declared->findings.effects = declared->effects;
	declared->findings.effects_count = declared->count;
	declared->text.length = 0;
	CU_ASSERT(html_encode(&declared->findings, &declared->text, &err) == 0 && test_no_error(&err));
}

static void test_taken(void)
{
	cleanup_declared struct declared declared = { .count = 0 };
	const struct buf *text = &declared.text;

	CU_ASSERT(declare(&declared, "effects"));
	show(&declared);
	HOLDS(text, "<li><a href=\"#claims\">Claims</a>\n");
	HOLDS(text, "<h2 id=\"claims\">");
	HOLDS(text, "<h3><code>order_create</code>: a row in the table of orders</h3>");
	HOLDS(text, "<tr><th scope=\"row\"><code>authorization</code><td>established<td>each call of this run");
	HOLDS(text, "<code>path_set_completeness</code><td><b class=\"n\">not established</b><td>an assessor outside");
	HOLDS(text, "<td>that no path exists which nobody looked for; listing paths does not show it\n");
	HOLDS(text, "<li>Unmet: <code>control_evidence</code> of path P4\n");
	HOLDS(text, "<li>Unmet: <code>inventory</code>\n");
	HOLDS(text, "<code>control_evidence</code><td>no assessed evidence of a control in the path, which is of the "
		    "deployment&#39;s side<td>an assessor&#39;s signed statement of the kind `control` about");
	LACKS(text, "<code>read_back</code><td>");
	HOLDS(text, "<li>Its observers cannot tell the <code>role</code>\n");
	HOLDS(text, "<li>Rests on <code>o-0");
	HOLDS(text, "<code>NON_BYPASSABILITY(orders-sqlite,order_create)</code> is <b class=\"n\">not established</b>. "
		    "It has "
		    "two halves: that the set of paths is complete is <b class=\"n\">not established</b>, and that "
		    "what is in "
		    "it is mediated is <b class=\"n\">not established</b>.");
	for (size_t i = 0; i < declared.effects[0].paths_count; i++) {
		char row[64];

		snprintf(row, sizeof(row), "<tr><th scope=\"row\">%s<td>", declared.effects[0].paths[i].id);
		HOLDS(text, row);
	}
	HOLDS(text, "<td>agent<td>gateway<td>authorised<td>order-gateway<td>orders<td>effects/order-gateway, "
		    "effects/order-twice<td>mediated, by "
		    "scenarios: one call");
	HOLDS(text, "<tr><th scope=\"row\">an order that a person enters<td>outside the boundary\n");
}

/* A bypass stands there as what refutes, however the rest came out. */
static void test_refuted(void)
{
	cleanup_declared struct declared declared = { .count = 0 };

	CU_ASSERT(declare(&declared, "effects"));
	see(&declared.world, "effects/order-create", "order-http", "orders")->value = 1;
	show(&declared);
	HOLDS(&declared.text, "<code>complete_mediation</code><td><b class=\"f\">refuted</b>");
	HOLDS(&declared.text, "<li>Refuted by <code>bypass</code> of path P2\n");
}

/* Declarations are somebody's texts: none is markup. */
static void test_escaped(void)
{
	static const char hostile[] = "<script>'\"&";
	static const char shown[] = "&lt;script&gt;&#39;&quot;&amp;";
	cleanup_declared struct declared declared = { .count = 0 };
	size_t count = 0;
	struct effect *effect;

	CU_ASSERT(declare(&declared, "baseline"));
	effect = declared.effects;
	if (!effect)
		return;
	char *const texts[] = { effect->title,
				effect->boundary.what,
				effect->inventory.what,
				effect->paths[0].what,
				effect->paths[0].coverage.why,
				effect->excluded[0].what,
				effect->excluded[0].reason };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		memcpy(texts[i], hostile, sizeof(hostile));
	show(&declared);
	LACKS(&declared.text, "<script>");
	for (const char *at = buf_string(&declared.text); (at = strstr(at, shown)); at += strlen(shown))
		count++;
	CU_ASSERT_EQUAL(count, ARRAY_SIZE(texts));
	HOLDS(&declared.text, "<li>Rests on nothing\n");
}

/* Without a declaration that is said; of a version without claims nothing is. */
static void test_none(void)
{
	cleanup_declared struct declared declared = { .count = 0 };
	struct error *err = NULL;

	CU_ASSERT(declare(&declared, "baseline"));
	declared.count = 0;
	show(&declared);
	HOLDS(&declared.text, "<p>No effect was declared for this run: nothing is claimed of any.</p>");
	declared.facts.minor = 0;
	declared.text.length = 0;
	CU_ASSERT(html_encode(&declared.findings, &declared.text, &err) == 0 && test_no_error(&err));
	LACKS(&declared.text, "#claims");
	LACKS(&declared.text, "id=\"claims\"");
}

static void check_lines(const struct findings *findings, const char *expected)
{
	cleanup_buf struct buf lines = BUF(TEXT_BYTES);
	struct error *err = NULL;

	CU_ASSERT(claims_lines(findings, "b.tar.gz", &lines, &err) == 0 && test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&lines), expected);
}

/* The lines at the end of a run. */
static void test_lines(void)
{
	cleanup_declared struct declared declared = { .count = 0 };

	CU_ASSERT(declare(&declared, "effects"));
	see(&declared.world, "effects/order-create", "order-http", "orders")->value = 1;
	show(&declared);
	check_lines(&declared.findings,
		    "claims: order_create: 3 of 5 established; refuted: complete_mediation; not established: "
		    "path_set_completeness\n"
		    "claims: order_create_pg: 3 of 5 established; not established: path_set_completeness, "
		    "complete_mediation\n"
		    "claims: `harness effects claims b.tar.gz` says why\n");
	declared.findings.effects_count = 0;
	check_lines(&declared.findings, "claims: none: no effect is declared for these scenarios\n");
}

/* Of a run that had nothing to do with an effect, nothing is said that sounds like a defect; the document has it all.
 */
static void test_not_exercised(void)
{
	cleanup_declared struct declared declared = { .count = 0 };
	cleanup_buf struct buf whole = BUF(TEXT_BYTES);
	struct error *err = NULL;

	CU_ASSERT(declare(&declared, "baseline"));
	show(&declared);
	check_lines(&declared.findings, "claims: order_create, order_create_pg: not exercised by these scenarios\n");
	CU_ASSERT(claims_member(&declared.findings, &whole, &err) == 0 && test_no_error(&err));
	HOLDS(&whole, "\"id\":\"order_create_pg\"");
	HOLDS(&whole, "\"status\":\"not_established\"");
}

static void test_one_exercised(void)
{
	cleanup_declared struct declared declared = { .count = 0 };

	CU_ASSERT(declare(&declared, "effects/order-gateway"));
	show(&declared);
	check_lines(&declared.findings,
		    "claims: order_create: 0 of 5 established; not established: authorization, correlation, "
		    "observation, path_set_completeness, complete_mediation\n"
		    "claims: order_create_pg: not exercised by these scenarios\n"
		    "claims: `harness effects claims b.tar.gz` says why\n");
}

static CU_TestInfo tests[] = {
	{ "paths that were taken", test_taken },
	{ "a bypass", test_refuted },
	{ "every text for itself", test_escaped },
	{ "nothing declared", test_none },
	{ "lines", test_lines },
	{ "what was not exercised", test_not_exercised },
	{ "one of two exercised", test_one_exercised },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "html_claims", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("html_claims", suites);
}
