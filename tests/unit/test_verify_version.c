/* Bundles of other versions of the format. */
#include "tests/unit/bundle_fixture.h"

/* What a newer minor version of the format says besides is not checked, and never passes; another major is refused. */
struct version_row {
	const char *what, *schema;
	const char *member, *from, *to; /* an edit, or a member that is added */
	const char *failed, *left; /* the check that fails, "" none; one that is not checked, and why */
	const char *reason;
	int exit_code;
	bool recomputed;
};
static const struct version_row versions[];
static const size_t versions_count;

static void test_versions(void)
{
	for (size_t i = 0; i < versions_count; i++) {
		const struct version_row *row = &versions[i];
		cleanup_fixture struct fixture fixture = { .count = 0 };
		cleanup_buf struct buf text = BUF(FIXTURE_BYTES);
		struct verify_report report;

		CU_ASSERT(fixture_make(&fixture, "baseline"));
		if (row->member && row->from)
			fixture_edit(&fixture, row->member, row->from, row->to);
		else if (row->member)
			buf_text(fixture_add(&fixture, row->member), row->to);
		if (!row->member || strcmp(row->member, "manifest.json") != 0)
			CU_ASSERT(fixture_rehash(&fixture));
		fixture_edit(&fixture, "manifest.json", "\"" MANIFEST_SCHEMA "\"", row->schema);
		fixture_sums(&fixture);
		if (strcmp(row->what, "a member that was changed") == 0)
			fixture_text(&fixture, row->member)->data[0] ^= 1;
		CU_ASSERT(fixture_verify(&fixture, &report));
		if (!fixture_failed(&report, row->failed, row->failed[0] ? row->reason : ""))
			CU_FAIL(row->what);
		CU_ASSERT_EQUAL(fixture_check(&report, row->left)->result, CHECK_NOT_CHECKED);
		if (!row->failed[0])
			CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, row->left)->reason, row->reason));
		CU_ASSERT_EQUAL(report.exit_code, row->exit_code);
		CU_ASSERT_EQUAL(report.recomputed, row->recomputed);
		verify_text(&report, true, &text);
		CU_ASSERT_EQUAL(!strstr(buf_string(&text), "verdict: none"), row->recomputed && !row->failed[0]);
	}
}

static CU_TestInfo tests[] = {
	{ "versions of the format", test_versions },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "verify_version", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_version", suites);
}

#define NEWER "\"confinement-evidence/1.7\""

static const struct version_row versions[] = {
	{ "nothing new", NEWER, NULL, NULL, NULL, "", "generated", "version 1.7 of the format", 2, true },
	{ "a new member", NEWER, "zzz.json", NULL, "{}", "", "members",
	  "may say what this program does not know: a member", 2, true },
	{ "a new key", NEWER, "arms.json", "\"agentAttempts\"", "\"aaa\":1,\"agentAttempts\"", "", "canonical",
	  "unknown key 'aaa'", 2, false },
	{ "a new value", NEWER, "arms.json", "\"status\":\"ok\"", "\"status\":\"fine\"", "", "canonical",
	  "status: unknown value", 2, false },
	{ "a new key of an observation", NEWER, "observations.jsonl", "{\"arm\"", "{\"aaa\":1,\"arm\"", "", "canonical",
	  "line 1 is no observation", 2, false },
	{ "a new key of the manifest", NEWER, "manifest.json", "{\"canary\"", "{\"aaa\":1,\"canary\"", "", "manifest",
	  "unknown key 'aaa'", 2, false },
	{ "a new fact", NEWER, "environment.json", "\"before\":{", "\"before\":{\"a.new\":\"x\",", "", "grammar",
	  "a fact that is not listed", 2, false },
	{ "a member that was changed", NEWER, "zzz.json", NULL, "{}", "sums", "generated", "the digest of a member", 1,
	  true },
	{ "a number that is none", NEWER, "arms.json", "\"durationNs\":", "\"durationNs\":-", "canonical", "verdicts",
	  "arms.json: durationNs", 1, false },
	{ "another major", "\"confinement-evidence/2.0\"", NULL, NULL, NULL, "manifest", "verdicts",
	  "the bundle is of version 2.0, and this program reads confinement-evidence/1.1", 1, false },
	{ "another major that says more", "\"confinement-evidence/2.0\"", "zzz.json", NULL, "{}", "manifest", "members",
	  "the bundle is of version 2.0", 1, false },
	{ "no version", "\"confinement-evidence/1\"", NULL, NULL, NULL, "manifest", "verdicts", "schema: unknown value",
	  1, false },
	{ "a zero in front", "\"confinement-evidence/1.07\"", NULL, NULL, NULL, "manifest", "verdicts",
	  "schema: unknown value", 1, false },
};
static const size_t versions_count = ARRAY_SIZE(versions);
