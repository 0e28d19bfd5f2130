/* The policy gate: what an update may say, when it takes hold, and what closes admission. */
#include "adapter/policy_gate.h"

#include "core/fd.h"
#include "tests/unit/test.h"

#define ONE "one.tool"
#define TWO "two.tool"

/* An update that closes admission, whatever the revision. */
struct invalid_row {
	const char *what;
	const char *document;
	size_t length;
};

/* One after the other, at a gate of their own with the tools ONE and TWO. */
struct story_row {
	const char *document; /* NULL: a new gate */
	enum policy_outcome outcome;
	int64_t revision;
	bool closed;
	uint32_t revoked;
};

/* What an update opens of ONE and TWO, by bits. */
struct opens_row {
	bool closed;
	uint32_t revoked;
	const char *document;
	uint32_t opens;
};

static const struct opens_row opens_rows[];
static const struct invalid_row invalid_rows[];
static const struct story_row story_rows[];
static const size_t story_count;

static struct policy_gate new_gate(bool enforced, bool lock)
{
	struct policy_gate gate;

	policy_gate_init(&gate, enforced, lock);
	policy_gate_approve(&gate, ONE);
	policy_gate_approve(&gate, TWO);
	return gate;
}

/* An update at a gate without calls under way is acknowledged at once. */
static struct policy_acknowledgment update(struct policy_gate *gate, const char *document, size_t length)
{
	struct policy_acknowledgment told = { .revision = -1 };

	policy_gate_submit(gate, document, length ? length : strlen(document));
	CU_ASSERT(policy_gate_pending(gate));
	CU_ASSERT(policy_gate_settle(gate, &told));
	CU_ASSERT_FALSE(policy_gate_pending(gate));
	return told;
}

static bool passes(struct policy_gate *gate, const char *tool)
{
	bool admitted = policy_gate_admit(gate, tool);

	if (admitted)
		policy_gate_finish(gate);
	return admitted;
}

static void test_approved(void)
{
	struct policy_gate gate = new_gate(true, true);

	policy_gate_approve(&gate, ONE);
	policy_gate_approve(&gate, "");
	policy_gate_approve(&gate, "a.name.that.is.longer.than.a.name.may.be");
	CU_ASSERT_EQUAL(gate.tools_count, 2);
	CU_ASSERT(passes(&gate, ONE));
	CU_ASSERT(passes(&gate, TWO));
	CU_ASSERT_FALSE(passes(&gate, "three.tool"));
	CU_ASSERT_FALSE(passes(&gate, "one.too"));
	CU_ASSERT_FALSE(passes(&gate, "one.tool "));
	CU_ASSERT_EQUAL(gate.calls, 0);
}

static void test_opens(void)
{
	static const char *const tools[] = { ONE, TWO };

	for (const struct opens_row *row = opens_rows; row->document; row++) {
		const struct policy_acknowledgment now = { .revision = 4,
							   .closed = row->closed,
							   .revoked = row->revoked };
		struct policy_gate gate = new_gate(true, true);
		uint32_t before = 0, behind = 0;

		CU_ASSERT_EQUAL(policy_update_opens(&now, tools, 2, row->document, strlen(row->document)), row->opens);
		gate.revision = 4;
		gate.closed = row->closed;
		for (size_t i = 0; i < 2; i++) {
			gate.tools[i].revoked = row->revoked >> i & 1;
			before |= (uint32_t)passes(&gate, tools[i]) << i;
		}
		update(&gate, row->document, 0);
		for (size_t i = 0; i < 2; i++)
			behind |= (uint32_t)passes(&gate, tools[i]) << i;
		CU_ASSERT_EQUAL(behind & ~before, row->opens);
	}
}

static void test_full(void)
{
	struct policy_gate gate;

	policy_gate_init(&gate, true, true);
	for (int i = 0; i < POLICY_TOOLS_MAX + 2; i++) {
		char name[NAME_MAX_SHORT];

		snprintf(name, sizeof(name), "tool.%d", i);
		policy_gate_approve(&gate, name);
	}
	CU_ASSERT_EQUAL(gate.tools_count, POLICY_TOOLS_MAX);
}

/* Each closes admission for every tool, changes no revision, and is undone by a valid newer one alone. */
static void test_invalid(void)
{
	static const char valid[] = "{\"revision\":8,\"revoke\":\"two.tool\"}";

	for (const struct invalid_row *row = invalid_rows; row->what; row++) {
		struct policy_gate gate = new_gate(true, true);
		struct policy_acknowledgment told;
		bool right;

		told = update(&gate, "{\"revision\":7,\"restore\":\"one.tool\"}", 0);
		CU_ASSERT_EQUAL(told.outcome, POLICY_APPLIED);
		told = update(&gate, row->document, row->length);
		right = told.outcome == POLICY_INVALID && told.closed && told.revision == 7 && told.revoked == 0 &&
			!passes(&gate, ONE) && !passes(&gate, TWO);
		if (!right)
			fprintf(stderr, "accepted: %s\n", row->what);
		CU_ASSERT(right);
		told = update(&gate, "{\"revision\":7,\"restore\":\"one.tool\"}", 0);
		CU_ASSERT(told.outcome == POLICY_STALE && told.closed);
		told = update(&gate, valid, 0);
		CU_ASSERT(told.outcome == POLICY_APPLIED && !told.closed && told.revision == 8);
		CU_ASSERT(passes(&gate, ONE));
		CU_ASSERT_FALSE(passes(&gate, TWO));
	}
}

static void test_stories(void)
{
	struct policy_gate gate = new_gate(true, true);

	for (size_t i = 0; i < story_count; i++) {
		const struct story_row *row = &story_rows[i];
		struct policy_acknowledgment told;
		bool right;

		if (!row->document) {
			gate = new_gate(true, true);
			continue;
		}
		told = update(&gate, row->document, 0);
		right = told.outcome == row->outcome && told.revision == row->revision && told.closed == row->closed &&
			told.revoked == row->revoked && passes(&gate, ONE) == (!row->closed && !(row->revoked & 1)) &&
			passes(&gate, TWO) == (!row->closed && !(row->revoked & 2));
		if (!right)
			fprintf(stderr, "row %zu: %s, revision %lld\n", i, policy_outcome_names[told.outcome],
				(long long)told.revision);
		CU_ASSERT(right);
	}
}

/* An update waits for every call that was admitted before it, and takes hold behind the last. */
static void test_lock(void)
{
	static const char revoke[] = "{\"revision\":1,\"revoke\":\"one.tool\"}";
	struct policy_gate gate = new_gate(true, true);
	struct policy_acknowledgment told = { .revision = -1 };

	CU_ASSERT(policy_gate_admit(&gate, ONE));
	CU_ASSERT(policy_gate_admit(&gate, TWO));
	policy_gate_submit(&gate, revoke, strlen(revoke));
	CU_ASSERT_FALSE(policy_gate_settle(&gate, &told));
	policy_gate_finish(&gate);
	CU_ASSERT_FALSE(policy_gate_settle(&gate, &told));
	CU_ASSERT(policy_gate_pending(&gate));
	policy_gate_finish(&gate);
	CU_ASSERT(policy_gate_settle(&gate, &told));
	CU_ASSERT_EQUAL(told.revision, 1);
	CU_ASSERT_EQUAL(told.revoked, 1);
	CU_ASSERT_FALSE(passes(&gate, ONE));
	CU_ASSERT_FALSE(policy_gate_settle(&gate, &told));
}

/* What is invalid closes at once, though it is acknowledged in its turn. */
static void test_invalid_does_not_wait(void)
{
	struct policy_gate gate = new_gate(true, true);
	struct policy_acknowledgment told = { .revision = -1 };

	CU_ASSERT(policy_gate_admit(&gate, ONE));
	policy_gate_submit(&gate, "{}", 2);
	CU_ASSERT(gate.closed);
	CU_ASSERT_FALSE(policy_gate_settle(&gate, &told));
	policy_gate_finish(&gate);
	CU_ASSERT(policy_gate_settle(&gate, &told));
	CU_ASSERT_EQUAL(told.outcome, POLICY_INVALID);
}

/* The two protections that a session may lack. */
static void test_without_lock(void)
{
	static const char revoke[] = "{\"revision\":1,\"revoke\":\"one.tool\"}";
	struct policy_gate gate = new_gate(true, false);
	struct policy_acknowledgment told = { .revision = -1 };

	CU_ASSERT(policy_gate_admit(&gate, ONE));
	policy_gate_submit(&gate, revoke, strlen(revoke));
	CU_ASSERT(policy_gate_settle(&gate, &told));
	CU_ASSERT_EQUAL(gate.calls, 1);
	CU_ASSERT_FALSE(passes(&gate, ONE));
}

static void test_not_enforced(void)
{
	struct policy_gate gate = new_gate(false, true);
	struct policy_acknowledgment told = update(&gate, "{\"revision\":1,\"revoke\":\"one.tool\"}", 0);

	CU_ASSERT(told.outcome == POLICY_APPLIED && told.revoked == 1);
	CU_ASSERT(passes(&gate, ONE));
	told = update(&gate, "[]", 0);
	CU_ASSERT(told.closed);
	CU_ASSERT(passes(&gate, ONE));
}

static void test_decode(void)
{
	struct policy_change change;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(policy_change_decode("{\"revision\":3,\"revoke\":\"a.b\"}", 29, &change, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(change.revision, 3);
	CU_ASSERT_STRING_EQUAL(change.revoke, "a.b");
	CU_ASSERT_STRING_EQUAL(change.restore, "");
	CU_ASSERT(policy_change_decode("{\"revision\":3}", 14, &change, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "a policy update: either revoke or restore"));
	CU_ASSERT_EQUAL(change.revision, 0);
}

#define NEW(rest) "{\"revision\":9," rest "}"
#define REVISION(value) "{\"revision\":" value ",\"revoke\":\"one.tool\"}"

#define ROW(name, bytes)                                                                                               \
	{                                                                                                              \
		.what = (name), .document = (bytes), .length = sizeof(bytes) - 1                                       \
	}

static const struct invalid_row invalid_rows[] = {
	ROW("zero", REVISION("0")),
	ROW("negative", REVISION("-1")),
	ROW("negative zero", REVISION("-0")),
	ROW("a boolean", REVISION("true")),
	ROW("a fraction", REVISION("8.5")),
	ROW("a whole fraction", REVISION("9.0")),
	ROW("an exponent", REVISION("9e0")),
	ROW("beyond 2^53", REVISION("9007199254740993")),
	ROW("2^53 itself", REVISION("9007199254740992")),
	ROW("beyond 64 bits", REVISION("18446744073709551625")),
	ROW("a string", REVISION("\"9\"")),
	ROW("null", REVISION("null")),
	ROW("a list of revisions", REVISION("[9]")),
	ROW("a leading zero", REVISION("09")),
	ROW("no revision", "{\"revoke\":\"one.tool\"}"),
	ROW("an unknown tool", NEW("\"revoke\":\"three.tool\"")),
	ROW("an unknown tool restored", NEW("\"restore\":\"three.tool\"")),
	ROW("another case", NEW("\"revoke\":\"One.tool\"")),
	ROW("the operator's own tool", NEW("\"revoke\":\"beacon.tool\"")),
	ROW("an empty name", NEW("\"revoke\":\"\"")),
	ROW("a list of tools", NEW("\"revoke\":[\"one.tool\"]")),
	ROW("an object", NEW("\"revoke\":{\"tool\":\"one.tool\"}")),
	ROW("a number for a tool", NEW("\"revoke\":1")),
	ROW("a boolean for a tool", NEW("\"restore\":true")),
	ROW("null for a tool", NEW("\"restore\":null")),
	ROW("a name that is too long", NEW("\"revoke\":\"one.tool.one.tool.one.tool.one.tool\"")),
	ROW("a pattern", NEW("\"revoke\":\"*\"")),
	ROW("neither", "{\"revision\":9}"),
	ROW("both", NEW("\"revoke\":\"one.tool\",\"restore\":\"two.tool\"")),
	ROW("an unknown key", NEW("\"revoke\":\"one.tool\",\"reason\":\"why\"")),
	ROW("a key of another case", NEW("\"Revoke\":\"one.tool\"")),
	ROW("a key twice", NEW("\"revoke\":\"one.tool\",\"revoke\":\"one.tool\"")),
	ROW("a catalog", NEW("\"revoke\":\"one.tool\",\"catalog\":[]")),
	ROW("a classifier", NEW("\"restore\":\"one.tool\",\"classifier\":\"none\"")),
	ROW("a policy", NEW("\"restore\":\"one.tool\",\"policy\":\"permit\"")),
	ROW("policies", NEW("\"restore\":\"one.tool\",\"policies\":{}")),
	ROW("a ceiling", NEW("\"restore\":\"one.tool\",\"ceiling\":\"confidential\"")),
	ROW("ceilings", NEW("\"restore\":\"one.tool\",\"tool_max_sensitivity\":{}")),
	ROW("a sensitivity", NEW("\"restore\":\"one.tool\",\"sensitivity\":\"public\"")),
	ROW("tools approved anew", NEW("\"restore\":\"one.tool\",\"approve\":\"three.tool\"")),
	ROW("a list of updates", "[" NEW("\"revoke\":\"one.tool\"") "]"),
	ROW("two updates", NEW("\"revoke\":\"one.tool\"") NEW("\"revoke\":\"one.tool\"")),
	ROW("trailing bytes", NEW("\"revoke\":\"one.tool\"") "x"),
	ROW("a string alone", "\"revoke\""),
	ROW("null alone", "null"),
	ROW("an empty object", "{}"),
	ROW("white space", " "),
	ROW("half an update", "{\"revision\":9,\"rev"),
	ROW("NUL behind it", NEW("\"revoke\":\"one.tool\"") "\0"),
	ROW("bytes that are no UTF-8", NEW("\"revoke\":\"one.tool\xff\"")),
	{ NULL, NULL, 0 },
};

static const struct story_row story_rows[] = {
	{ "{\"revision\":1,\"revoke\":\"one.tool\"}", POLICY_APPLIED, 1, false, 1 },
	{ "{\"revision\":2,\"revoke\":\"two.tool\"}", POLICY_APPLIED, 2, false, 3 },
	{ "{\"revision\":3,\"restore\":\"one.tool\"}", POLICY_APPLIED, 3, false, 2 },
	{ "{\"revision\":3,\"restore\":\"two.tool\"}", POLICY_STALE, 3, true, 2 },
	{ "{\"revision\":4,\"restore\":\"two.tool\"}", POLICY_APPLIED, 4, false, 0 },
	{ .document = NULL },
	/* What is said twice is said once, with a newer revision. */
	{ "{\"restore\":\"one.tool\",\"revision\":10}", POLICY_APPLIED, 10, false, 0 },
	{ "{\"revision\":11,\"revoke\":\"one.tool\"}", POLICY_APPLIED, 11, false, 1 },
	{ "{\"revision\":12,\"revoke\":\"one.tool\"}", POLICY_APPLIED, 12, false, 1 },
	/* A duplicate, and a roll back. */
	{ "{\"revision\":12,\"revoke\":\"one.tool\"}", POLICY_STALE, 12, true, 1 },
	{ "{\"revision\":11,\"restore\":\"one.tool\"}", POLICY_STALE, 12, true, 1 },
	/* What was revoked stays so while admission opens again. */
	{ "{\"revision\":13,\"restore\":\"two.tool\"}", POLICY_APPLIED, 13, false, 1 },
	/* An invalid update takes no revision. */
	{ "{\"revision\":14,\"revoke\":\"three.tool\"}", POLICY_INVALID, 13, true, 1 },
	{ "{\"revision\":14,\"restore\":\"one.tool\"}", POLICY_APPLIED, 14, false, 0 },
	{ .document = NULL },
	/* The last revision there is: admission stays closed behind it once something is wrong. */
	{ "{\"revision\":9007199254740991,\"revoke\":\"two.tool\"}", POLICY_APPLIED, 9007199254740991, false, 2 },
	{ "{\"revision\":9007199254740991,\"restore\":\"two.tool\"}", POLICY_STALE, 9007199254740991, true, 2 },
};
static const size_t story_count = ARRAY_SIZE(story_rows);

/* At revision 4. A gate in the same state opens the same. */
static const struct opens_row opens_rows[] = {
	{ false, 3, "{\"revision\":5,\"restore\":\"one.tool\"}", 1 },
	{ false, 3, "{\"revision\":5,\"restore\":\"two.tool\"}", 2 },
	{ false, 1, "{\"revision\":5,\"restore\":\"two.tool\"}", 0 },
	{ false, 1, "{\"revision\":5,\"revoke\":\"two.tool\"}", 0 },
	{ false, 0, "{\"revision\":5,\"revoke\":\"one.tool\"}", 0 },
	{ false, 1, "{\"revision\":4,\"restore\":\"one.tool\"}", 0 },
	{ false, 1, "{\"revision\":5,\"restore\":\"three.tool\"}", 0 },
	{ false, 1, "{\"revision\":5}", 0 },
	/* closed: what is not revoked opens again */
	{ true, 0, "{\"revision\":5,\"restore\":\"one.tool\"}", 3 },
	{ true, 1, "{\"revision\":5,\"restore\":\"two.tool\"}", 2 },
	{ true, 1, "{\"revision\":5,\"restore\":\"one.tool\"}", 3 },
	{ true, 1, "{\"revision\":5,\"revoke\":\"two.tool\"}", 0 },
	{ true, 0, "{\"revision\":5,\"revoke\":\"two.tool\"}", 1 },
	{ true, 1, "{\"revision\":4,\"restore\":\"one.tool\"}", 0 },
	{ true, 1, "no update", 0 },
	{ .document = NULL },
};

static CU_TestInfo tests[] = {
	{ "approved tools, and no others", test_approved },
	{ "as many as a mask holds", test_full },
	{ "every invalid form", test_invalid },
	{ "revisions, restrictions, stale updates", test_stories },
	{ "an update waits for calls under way", test_lock },
	{ "an invalid one closes at once", test_invalid_does_not_wait },
	{ "without the lock", test_without_lock },
	{ "not enforced", test_not_enforced },
	{ "the form of an update", test_decode },
	{ "what an update opens", test_opens },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "policy gate", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("policy_gate", suites);
}
