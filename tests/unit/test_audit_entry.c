/* Entries of the audit chain: the reference's two vectors byte by byte, and the forms of their parts. */
#include "core/clock.h"
#include "tests/unit/audit_world.h"

/* gateway 3.4, but for its store's parts, which set_first() and set_second() give. */
static const char first_text[] =
	"{\"call_id\":null,\"detail\":null,\"effective_data_class\":null,\"entry_id\":\"00000000-0000-4000-8000-"
	"000000000000\",\"entry_type\":\"session_start\",\"evidence_class\":\"hash-only\",\"execution_id\":null,"
	"\"external_execution_evidence\":null,\"latency_us\":null,\"policy_decision\":\"n/a\","
	"\"policy_rule_matched\":null,\"prev_entry_hash\":\"genesis\",\"request_payload_hash\":null,"
	"\"response_inspection_result\":\"n/a\",\"response_payload_hash\":null,\"sequence_number\":0,"
	"\"server_identity\":null,\"session_id\":\"s1\",\"session_sensitivity_after\":\"public\","
	"\"session_sensitivity_before\":null,\"timestamp_utc\":\"2026-09-18T00:00:00.000001+00:00\","
	"\"tool_name\":null,\"workflow_id\":null}";
#define FIRST_HASH "b458e34cbcd5c823ccb2cc953e759a3a828befc8dcd690bda2654e701f835ded"
#define SECOND_HASH "95b32f4ed98b9c2d18f87f88b0e88a552e1bec649f439c9eafbc1f006e26905c"
#define MIDNIGHT INT64_C(1789689600000000000) /* 2026-09-18 */

static struct audit_entry first(void)
{
	struct audit_entry entry = {
		.entry_id = "00000000-0000-4000-8000-000000000000",
		.prev_entry_hash = AUDIT_GENESIS,
		.session_id = "s1",
		.entry_type = "session_start",
		.policy_decision = "n/a",
		.latency_us = -1,
		.response_inspection_result = "n/a",
		.session_sensitivity_after = "public",
		.evidence_class = "hash-only",
	};

	audit_time(MIDNIGHT + 1000, entry.timestamp_utc);
	return entry;
}

static struct audit_entry second(void)
{
	struct audit_entry entry = {
		.entry_id = "00000000-0000-4000-8000-000000000001",
		.sequence_number = 1,
		.prev_entry_hash = FIRST_HASH,
		.session_id = "s1",
		.call_id = "c1",
		.entry_type = "tool_call",
		.tool_name = "public.tool",
		.server_identity = "",
		.policy_decision = "deny",
		.policy_rule_matched = "sink_policy:tool_denied",
		.latency_us = -1,
		.request_payload_hash = "sha256:fbef60c9191aaf7a66637178e11570c4211ec3e03a12cb100e6f3a33b1db46c2",
		.session_sensitivity_before = "confidential",
		.session_sensitivity_after = "confidential",
		.evidence_class = "hash-only",
	};

	audit_time(MIDNIGHT + NS_PER_S + 2999, entry.timestamp_utc);
	return entry;
}

static bool seal(struct audit_entry *entry, struct buf *out)
{
	struct error *err = NULL;
	int status = audit_entry_seal(entry, out, &err);

	return test_no_error(&err) && status == 0;
}

static void vectors(void)
{
	cleanup_buf struct buf out = BUF(4 * KIB), sealed = BUF(4 * KIB), again = BUF(4 * KIB);
	struct audit_entry one = first(), other = second();

	(void)audit_entry_write(&one, &out);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), first_text);
	CU_ASSERT(seal(&one, &sealed));
	CU_ASSERT_STRING_EQUAL(one.entry_hash, FIRST_HASH);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&sealed), "\"entry_hash\":\"" FIRST_HASH "\",\"entry_id\""));
	CU_ASSERT_EQUAL(sealed.length, out.length + strlen("\"entry_hash\":\"\",") + HEX_SHA256 - 1);
	CU_ASSERT(seal(&other, &again));
	CU_ASSERT_STRING_EQUAL(other.entry_hash, SECOND_HASH);
}

/* Each field is in the text, and in the hash. */
static void every_field(void)
{
	struct audit_entry full = second();
	char hashes[4][HEX_SHA256];

	full.latency_us = 1234;
	full.detail = "{ \"b\": 1.50, \"a\": [\"\\u00e9\"] }";
	full.external_execution_evidence = "{}";
	full.workflow_id = "w\xc3\xa9";
	full.execution_id = "x1";
	full.effective_data_class = "confidential";
	full.response_payload_hash = "sha256:00";
	full.response_inspection_result = "pass";
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++) {
		cleanup_buf struct buf out = BUF(4 * KIB);

		if (i == 1)
			full.latency_us = 1235;
		if (i == 2)
			full.detail = "{}";
		if (i == 3)
			full.execution_id = "x2";
		CU_ASSERT(seal(&full, &out));
		memcpy(hashes[i], full.entry_hash, HEX_SHA256);
		if (i > 0) {
			CU_ASSERT_STRING_NOT_EQUAL(hashes[i], hashes[i - 1]);
			continue;
		}
		CU_ASSERT_PTR_NULL(strstr(buf_string(&out), "null"));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&out), ",\"detail\":{\"a\":[\"\\u00e9\"],\"b\":1.5},"));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&out), ",\"latency_us\":1234,"));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&out), "\"workflow_id\":\"w\\u00e9\"}"));
	}
}

static void refused(void)
{
	struct audit_entry entry = second();
	struct error *err = NULL;

	for (int i = 0; i < 3; i++) {
		cleanup_buf struct buf out = BUF(i == 0 ? 100 : 4 * KIB);

		entry.workflow_id = i == 1 ? "\xff" : NULL;
		entry.detail = i == 2 ? "{" : NULL;
		CU_ASSERT(audit_entry_seal(&entry, &out, &err) < 0);
		CU_ASSERT(err && strstr(error_text(err), "an audit entry"));
		error_free(err);
		err = NULL;
	}
}

static void times(void)
{
	char text[AUDIT_TIME_BYTES];

	audit_time(MIDNIGHT, text);
	CU_ASSERT_STRING_EQUAL(text, "2026-09-18T00:00:00+00:00");
	audit_time(MIDNIGHT + 999, text);
	CU_ASSERT_STRING_EQUAL(text, "2026-09-18T00:00:00+00:00");
	audit_time(MIDNIGHT - 1, text);
	CU_ASSERT_STRING_EQUAL(text, "2026-09-17T23:59:59.999999+00:00");
}

static void ids(void)
{
	char one[AUDIT_ID_BYTES], other[AUDIT_ID_BYTES];
	struct error *err = NULL;

	CU_ASSERT_EQUAL(audit_new_id(one, &err), 0);
	CU_ASSERT_EQUAL(audit_new_id(other, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_NOT_EQUAL(one, other);
	CU_ASSERT_EQUAL(strlen(one), AUDIT_ID_BYTES - 1);
	CU_ASSERT_EQUAL(one[14], '4');
	CU_ASSERT_PTR_NOT_NULL(strchr("89ab", one[19]));
	for (size_t i = 0; one[i]; i++)
		CU_ASSERT_EQUAL(one[i] == '-', i == 8 || i == 13 || i == 18 || i == 23);
	CU_ASSERT_EQUAL(strspn(one, "0123456789abcdef-"), AUDIT_ID_BYTES - 1);
}

static CU_TestInfo tests[] = {
	{ "vectors", vectors }, { "every field", every_field },
	{ "refused", refused }, { "times", times },
	{ "ids", ids },         CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "audit_entry", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("audit_entry", suites);
}
