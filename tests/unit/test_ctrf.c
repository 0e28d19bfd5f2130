/* ctrf.json: its counts are those of its tests, and only a pass reads as one. Its schema is looked at by
 * tests/interop/test_report.sh. */
#include "core/json.h"
#include "reports/ctrf.h"
#include "tests/unit/findings_world.h"

#define TEXT_BYTES ((size_t)8 * MIB)

static struct json_document *encode(struct world *world, struct buf *out)
{
	cleanup_buf struct buf again = BUF(TEXT_BYTES);
	struct json_document *document = NULL;
	struct manifest_facts facts;
	struct findings findings = world_findings(world, &facts);
	struct error *err = NULL;

	if (ctrf_encode(&findings, out, &err) == 0 && json_canonical(out->data, out->length, &again, &err) == 0 &&
	    strcmp(buf_string(&again), buf_string(out)) == 0)
		(void)!json_parse(out->data, out->length, JSON_DEPTH, &document, &err);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_PTR_NOT_NULL(document);
	return document;
}

static const struct json_node *at(const struct json_document *document, const char *member)
{
	return json_member(json_member(json_root(document), "results"), member);
}

static int64_t number(const struct json_document *document, const char *member)
{
	int64_t value = -1;

	CU_ASSERT(json_int64(json_member(at(document, "summary"), member), &value));
	return value;
}

static size_t with_status(const struct json_document *document, const char *status)
{
	size_t count = 0;

	for (const struct json_node *one = json_first(at(document, "tests")); one; one = json_next(one))
		count += json_text_is(json_member(one, "status"), status);
	return count;
}

static void counts_agree(const struct json_document *document)
{
	CU_ASSERT_EQUAL((size_t)number(document, "tests"), json_count(at(document, "tests")));
	CU_ASSERT_EQUAL((size_t)number(document, "passed"), with_status(document, "passed"));
	CU_ASSERT_EQUAL((size_t)number(document, "failed"), with_status(document, "failed"));
	CU_ASSERT_EQUAL((size_t)number(document, "other"), with_status(document, "other"));
	CU_ASSERT_EQUAL(number(document, "skipped"), 0);
	CU_ASSERT_EQUAL(number(document, "pending"), 0);
	CU_ASSERT_EQUAL(number(document, "passed") + number(document, "failed") + number(document, "other"),
			number(document, "tests"));
}

static void test_passed(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	cleanup_json struct json_document *document = NULL;

	CU_ASSERT(world_make(&world, "all", 2, NULL));
	document = encode(&world, &text);
	counts_agree(document);
	CU_ASSERT_EQUAL((size_t)number(document, "passed"),
			world.verdicts->cells_count + world.verdicts->mutations_count + world.verdicts->arms_count);
	/* As `date -d` reckons them. */
	CU_ASSERT_EQUAL(number(document, "start"), INT64_C(1767323045000));
	CU_ASSERT_EQUAL(number(document, "stop"), INT64_C(1835481599000));
#define HOLDS(part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), part))
	HOLDS("{\"generatedBy\":\"harness\",\"reportFormat\":\"CTRF\",\"results\":{\"summary\":");
	HOLDS("\"specVersion\":\"0.0.0\"}");
	HOLDS("\"tool\":{\"name\":\"harness\",\"version\":\"9.8.7\"}");
	HOLDS("\"name\":\"tcp4@tcp4 #2\",\"rawStatus\":\"pass\",\"status\":\"passed\",\"suite\":[\"confinement\","
	      "\"mutation/network\"]}");
	HOLDS("\"name\":\"detected\",\"rawStatus\":\"pass\",\"status\":\"passed\",\"suite\":[\"confinement\","
	      "\"mutation/network\"]}");
}

static void test_outcomes(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	cleanup_json struct json_document *document = NULL;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	see(&world, "baseline", "dns", "dns")->value = 3;
	see(&world, "baseline", "tcp4", "tcp4")->dropped = 1;
	forget(&world, see(&world, "baseline-again", "restarts", "state"));
	see(&world, "mutation/read-only", "file", "files-archive")->value = 0;
	record_of(&world, "lifecycle/bridge-killed")->status = ARM_TIMEOUT;
	document = encode(&world, &text);
	counts_agree(document);
	HOLDS("\"extra\":{\"expected\":0,\"observation\":\"o-");
	HOLDS("\"op\":\"eq\",\"value\":3},\"message\":\"value\",\"name\":\"dns@dns\",\"rawStatus\":\"fail\",\"status\":"
	      "\"failed\",\"suite\":[\"confinement\",\"baseline\"]}");
	HOLDS("\"message\":\"not_live\",\"name\":\"tcp4@tcp4\",\"rawStatus\":\"not_established\",\"status\":\"other\"");
	HOLDS("{\"duration\":0,\"extra\":{\"expected\":0,\"op\":\"eq\"},\"message\":\"missing\",\"name\":"
	      "\"restarts@state\"");
	HOLDS("\"message\":\"undetected\",\"name\":\"detected\",\"rawStatus\":\"fail\",\"status\":\"failed\"");
	HOLDS("\"message\":\"timeout\",\"name\":\"arm\",\"rawStatus\":\"not_established\",\"status\":\"other\"");
#undef HOLDS
}

/* A time that is none is 0, and no number of ours is one of the future by chance. */
static void test_times(void)
{
	static const struct {
		const char *time;
		int64_t ms;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2000-02-29T00:00:01Z", INT64_C(951782401000) },
		{ "2000-03-01T00:00:00Z", INT64_C(951868800000) },
		{ "2100-03-01T00:00:00Z", INT64_C(4107542400000) },
		{ "2026-01-02T03:04:05", 0 },
		{ "2026-01-02T03:04:05Z ", 0 },
		{ "2026-01-02 03:04:05Z", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_world struct world world = { .plan = NULL };
		cleanup_buf struct buf text = BUF(TEXT_BYTES);
		struct manifest_facts facts;
		struct findings findings;
		struct error *err = NULL;
		char start[64];

		CU_ASSERT(world_make(&world, "baseline", 1, NULL));
		findings = world_findings(&world, &facts);
		facts.started = rows[i].time;
		CU_ASSERT_EQUAL(ctrf_encode(&findings, &text, &err), 0);
		CU_ASSERT(test_no_error(&err));
		snprintf(start, sizeof(start), "\"start\":%lld,", (long long)rows[i].ms);
		CU_ASSERT_EQUAL(count_of(&text, start), 1);
	}
}

static CU_TestInfo tests[] = {
	{ "passed", test_passed },
	{ "outcomes", test_outcomes },
	{ "times", test_times },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "ctrf", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("ctrf", suites);
}
