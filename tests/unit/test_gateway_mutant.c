/*
 * The mutants of the gateway: each gives up what it is named after and nothing else of what is asked here; and the
 * gateway itself knows none of them.
 */
#include "tests/unit/gateway_rig.h"

#define USAGE 4

/* Each asks something that the gateway refuses; whether it was allowed. */
typedef bool (*question)(struct rig *rig);

static const char *const mutants[] = {
	"log",   "span",      "row",        "error-text", "ceiling-once", "no-response-ceiling",
	"falls", "unscanned", "audit-open", "unmeasured", "environment",  "descriptors",
};

static bool allowed(struct rig *rig, const char *tool, const char *arguments)
{
	struct reply reply = rig_call(rig, tool, arguments, "");

	CU_ASSERT(reply.outcome == MCP_RESULT || reply.outcome == MCP_ERROR);
	return reply.outcome == MCP_RESULT;
}

/* A session that starts at public, and that permitted.tool raises. */
static void raise_by_permitted(struct rig *rig)
{
	snprintf(rig->config.session.sensitivity, NAME_MAX_SHORT, "public");
	snprintf(rig->config.catalog[0].sensitivity, NAME_MAX_SHORT, "confidential");
	rig_tool(rig, "beacon.tool", "public");
	rig_ceiling(rig, "beacon.tool", "confidential");
}

static bool ask_fallen(struct rig *rig)
{
	raise_by_permitted(rig);
	rig_start(rig);
	CU_ASSERT(allowed(rig, "permitted.tool", "{}"));
	CU_ASSERT(allowed(rig, "beacon.tool", "{}"));
	return allowed(rig, "public.tool", "{}");
}

static bool ask_response(struct rig *rig)
{
	raise_by_permitted(rig);
	snprintf(rig->config.sink_policy.response, NAME_MAX_SHORT, "public");
	rig_start(rig);
	CU_ASSERT(allowed(rig, "beacon.tool", "{}"));
	return allowed(rig, "permitted.tool", "{}");
}

static bool ask_dangerous(struct rig *rig)
{
	rig->config.scan_arguments = true;
	rig_start(rig);
	CU_ASSERT(allowed(rig, "permitted.tool", "{\"value\":\"rm\"}"));
	return allowed(rig, "permitted.tool", "{\"value\":\"x ; rm -rf /\"}");
}

static bool ask_undeclared(struct rig *rig)
{
	char *digit = &rig->config.servers[0].sha256[0];

	*digit = *digit == '0' ? '1' : '0';
	rig_start(rig);
	return allowed(rig, "permitted.tool", "{}");
}

/* The ceiling that nobody takes away but the one who falls. */
static bool ask_denied(struct rig *rig)
{
	rig_start(rig);
	CU_ASSERT(allowed(rig, "permitted.tool", "{}"));
	return allowed(rig, "public.tool", "{}");
}

static const struct {
	question ask;
	const char *mutant; /* that gives way, or NULL */
} questions[] = {
	{ ask_fallen, "falls" },        { ask_response, "no-response-ceiling" },
	{ ask_dangerous, "unscanned" }, { ask_undeclared, "unmeasured" },
	{ ask_denied, "falls" },
};

static void test_given_up(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions) * ARRAY_SIZE(mutants); i++) {
		const char *mutant = mutants[i / ARRAY_SIZE(questions)];
		const char *gives = questions[i % ARRAY_SIZE(questions)].mutant;
		cleanup_rig struct rig rig;
		bool given;

		rig_init(&rig);
		rig.program = "gateway-mutant";
		rig.mode = mutant;
		given = questions[i % ARRAY_SIZE(questions)].ask(&rig);
		CU_ASSERT_EQUAL(given, strcmp(mutant, gives) == 0);
		if (given != (strcmp(mutant, gives) == 0))
			fprintf(stderr, "%s: question %zu\n", mutant, i % ARRAY_SIZE(questions));
	}
}

static void test_ours(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		cleanup_rig struct rig rig;

		rig_init(&rig);
		CU_ASSERT(!questions[i].ask(&rig));
	}
}

/* Words that are no mutant, and mutants that are asked of our own gateway. */
static void test_usage(void)
{
	for (size_t i = 0; i <= ARRAY_SIZE(mutants); i++) {
		bool ours = i < ARRAY_SIZE(mutants);
		char path[RIG_PATH_BYTES], name[] = "gateway", word[NAME_MAX_SHORT];
		char *argv[] = { name, word, NULL };
		const struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;
		int status = -1;

		snprintf(word, sizeof(word), "%s", ours ? mutants[i] : "embedded");
		CU_ASSERT_EQUAL(
			spawn_helper_path(ours ? "harness-gateway" : "gateway-mutant", path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(RIG_GUARD_MS), &status, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(status, USAGE);
	}
}

static CU_TestInfo tests[] = {
	{ "each gives up its own", test_given_up },
	{ "ours gives up nothing", test_ours },
	{ "usage", test_usage },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway mutant", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("gateway_mutant", suites);
}
