/* The real gateway and the real recorder, as processes over pipes; where an upstream has to misbehave, one is played.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/gateway_played.h"

/* ---- tests ---- */

static void use_played(struct rig *rig, const char *manner)
{
	char path[RIG_PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct gateway_server *server = &rig->config.servers[0];

	CU_ASSERT(length > 0);
	path[length > 0 ? length : 0] = '\0';
	rig_server(rig, path);
	snprintf(server->arguments[0], GATEWAY_ARGUMENT_BYTES, "--upstream");
	snprintf(server->arguments[1], GATEWAY_ARGUMENT_BYTES, "%s", manner);
	server->arguments_count = 2;
}

static bool allowed(const struct reply *reply, const char *text)
{
	bool ok = reply->outcome == MCP_RESULT && strcmp(reply->text, text) == 0 && strlen(reply->call_id) == 32 &&
		  schema_matches(PATTERN_HEX, reply->call_id, 32);

	if (!ok)
		fprintf(stderr, "expected %s, got outcome %d %s %s\n", text, (int)reply->outcome, reply->error_code,
			reply->text);
	return ok;
}

static bool refused(const struct reply *reply, const char *error_code)
{
	bool ok = reply->outcome == MCP_ERROR && reply->code == RPC_SERVER_ERROR &&
		  strcmp(reply->error_code, error_code) == 0;

	if (!ok)
		fprintf(stderr, "expected %s, got outcome %d %s %s\n", error_code, (int)reply->outcome,
			reply->error_code, reply->text);
	return ok;
}

static bool decided(const struct rig *rig, size_t index, const char *tool, enum gateway_decision decision,
		    enum gateway_rule rule)
{
	struct decided row = rig_decision(rig, index);
	bool ok = row.sequence == index + 1 && strcmp(row.tool, tool) == 0 && row.decision == (uint32_t)decision &&
		  row.rule == (uint32_t)rule;

	if (!ok)
		fprintf(stderr, "row %zu: sequence %d, tool %s, decision %u, rule %u\n", index, (int)row.sequence,
			row.tool, row.decision, row.rule);
	return ok;
}

static void test_permitted(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig_upstream(&rig), 0);
	reply = rig_call(&rig, PERMITTED, "{\"v\": 1.50e3,\"w\":12345678901234567890}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_ALLOW, RULE_ALLOW));
	reply = rig_request(&rig, "tools/call", "{\"name\":\"" PERMITTED "\"}");
	CU_ASSERT(allowed(&reply, "recorded"));
	CU_ASSERT(rig_sink_is(&rig,
			      "{\"tool\":\"permitted.tool\",\"arguments\":{\"v\": 1.50e3,\"w\":12345678901234567890}}\n"
			      "{\"tool\":\"permitted.tool\",\"arguments\":{}}\n"));
	CU_ASSERT_EQUAL(rig_decisions(&rig), 2);
	rig_stop(&rig);
}

struct denied_row {
	const char *tool, *rest, *named, *error_code;
	enum gateway_rule rule;
};

static const struct denied_row denied_rows[];

/* Not one of these starts the upstream. */
static void test_denied(void)
{
	cleanup_rig struct rig rig;
	size_t count = 0;

	rig_init(&rig);
	rig_tool(&rig, "unlisted.tool", "public");
	rig_tool(&rig, "odd.tool", "future-secret");
	rig_tool(&rig, "ceiling.tool", "public");
	rig_ceiling(&rig, "odd.tool", "trade_secret");
	rig_ceiling(&rig, "ceiling.tool", "future-secret");
	rig_start(&rig);
	for (const struct denied_row *row = denied_rows; row->tool; row++, count++) {
		struct reply reply = rig_call(&rig, row->tool, "{\"v\":\"secret\"}", row->rest);

		CU_ASSERT(refused(&reply, row->error_code));
		CU_ASSERT(decided(&rig, count, row->named, DECISION_DENY, row->rule));
	}
	CU_ASSERT_EQUAL(rig_decisions(&rig), count);
	CU_ASSERT_EQUAL(rig_upstream(&rig), 0);
	CU_ASSERT(rig_sink_is(&rig, ""));
	rig_stop(&rig);
}

static void test_invalid(void)
{
	static const char *const params[] = { "{}", "{\"name\":1}", "{\"name\":\"" PERMITTED "\",\"arguments\":[]}",
					      NULL };
	cleanup_rig struct rig rig;

	rig_init(&rig);
	rig_start(&rig);
	for (size_t i = 0; params[i]; i++) {
		struct reply reply = rig_request(&rig, "tools/call", params[i]);

		CU_ASSERT(reply.outcome == MCP_ERROR && reply.code == RPC_INVALID_PARAMS);
	}
	CU_ASSERT_EQUAL(rig_decisions(&rig), 0);
	rig_stop(&rig);
}

static void test_declared(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	snprintf(rig.config.session.sensitivity, NAME_MAX_SHORT, "public");
	rig_start(&rig);
	/* What is no string is no declaration; what is declared stays with the session. */
	reply = rig_call(&rig, PUBLIC, "{}", ",\"_cmcp\":{\"data_class\":42}");
	CU_ASSERT(allowed(&reply, "recorded"));
	reply = rig_call(&rig, PERMITTED, "{}", ",\"_cmcp\":{\"data_class\":\"confidential\"}");
	CU_ASSERT(allowed(&reply, "recorded"));
	reply = rig_call(&rig, PUBLIC, "{}", ",\"_cmcp\":{\"data_class\":\"public\"}");
	CU_ASSERT(refused(&reply, "POLICY_DENY"));
	CU_ASSERT(decided(&rig, 2, PUBLIC, DECISION_DENY, RULE_CEILING_TOOL));
	rig_stop(&rig);
}

/* The upstream was called, the answer is kept, and the session has risen. */
static void test_response_ceiling(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	snprintf(rig.config.session.sensitivity, NAME_MAX_SHORT, "public");
	snprintf(rig.config.sink_policy.response, NAME_MAX_SHORT, "public");
	snprintf(rig.config.catalog[0].sensitivity, NAME_MAX_SHORT, "confidential");
	rig_start(&rig);
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	reply = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(refused(&reply, "POLICY_DENY"));
	CU_ASSERT(decided(&rig, 1, PERMITTED, DECISION_DENY, RULE_CEILING_RESPONSE));
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(refused(&reply, "POLICY_DENY"));
	CU_ASSERT(decided(&rig, 2, PUBLIC, DECISION_DENY, RULE_CEILING_TOOL));
	CU_ASSERT(rig_sink_is(&rig, "{\"tool\":\"public.tool\",\"arguments\":{}}\n"
				    "{\"tool\":\"permitted.tool\",\"arguments\":{}}\n"));
	rig_stop(&rig);
}

/* The session rises between the first check and dispatch: the call that waited for its upstream is denied. */
static void test_risen_meanwhile(void)
{
	cleanup_fd int tell = -1;
	cleanup_rig struct rig rig;
	struct reply waiting, reply;
	struct error *err = NULL;

	rig_init(&rig);
	fd_close(&rig.sink);
	CU_ASSERT_EQUAL(fd_pipe(&rig.sink, &tell, &err), 0);
	CU_ASSERT(test_no_error(&err));
	snprintf(rig.config.session.sensitivity, NAME_MAX_SHORT, "public");
	snprintf(rig.config.catalog[0].sensitivity, NAME_MAX_SHORT, "confidential");
	use_played(&rig, "plain");
	rig.config.servers[1] = rig.config.servers[0];
	rig.config.servers[0].pass_fd = -1;
	snprintf(rig.config.servers[1].arguments[1], GATEWAY_ARGUMENT_BYTES, "list-told");
	rig.config.servers_count = 2;
	rig.config.catalog[1].server = 1;
	rig_start(&rig);
	rig_send(&rig, "tools/call", "{\"name\":\"" PUBLIC "\"}", &waiting);
	reply = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(allowed(&reply, "played"));
	CU_ASSERT_EQUAL(waiting.times, 0);
	CU_ASSERT_EQUAL(write(tell, "", 1), 1);
	rig_wait(&rig, &waiting);
	CU_ASSERT(refused(&waiting, "POLICY_DENY"));
	CU_ASSERT(decided(&rig, 1, PUBLIC, DECISION_DENY, RULE_CEILING_TOOL));
	rig_stop(&rig);
}

static void test_list(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	rig_tool(&rig, "missing.tool", "public");
	rig_start(&rig);
	reply = rig_request(&rig, "tools/list", "{}");
	CU_ASSERT_STRING_EQUAL(reply.text,
			       "{\"tools\":[{\"name\":\"permitted.tool\",\"description\":\"record synthetic data\","
			       "\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"public.tool\",\"description\":"
			       "\"record synthetic data\",\"inputSchema\":{\"type\":\"object\"}}]}");
	CU_ASSERT(rig_upstream(&rig) > 0);
	CU_ASSERT_EQUAL(rig_decisions(&rig), 0);
	rig_stop(&rig);
}

static void test_list_starts_nothing_denied(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	rig.config.sink_policy.tools_count = 0;
	rig_start(&rig);
	reply = rig_request(&rig, "tools/list", "{}");
	CU_ASSERT_STRING_EQUAL(reply.text, "{\"tools\":[]}");
	CU_ASSERT_EQUAL(rig_upstream(&rig), 0);
	rig_stop(&rig);
}

static void test_measured(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;
	char *last;

	rig_init(&rig);
	last = &rig.config.servers[0].sha256[HEX_SHA256 - 2];
	*last = *last == '0' ? '1' : '0';
	rig_start(&rig);
	reply = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(refused(&reply, "TEE_FAULT"));
	CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_FAULT, RULE_UPSTREAM_MEASURE));
	CU_ASSERT_EQUAL(rig_upstream(&rig), 0);
	CU_ASSERT(rig_sink_is(&rig, ""));
	rig_stop(&rig);
}

static void test_not_a_program(void)
{
	static const char *const paths[] = { "/nonexistent/recorder", "/dev/null", "/proc/self", NULL };
	char path[] = "/tmp/test-gateway-XXXXXX";
	cleanup_fd int fd = mkostemp(path, O_CLOEXEC);
	struct reply reply;

	CU_ASSERT_EQUAL(write(fd, "text\n", 5), 5);
	CU_ASSERT_EQUAL(fchmod(fd, 0700), 0);
	{
		cleanup_rig struct rig rig;

		rig_init(&rig);
		rig_server(&rig, path);
		rig_start(&rig);
		reply = rig_call(&rig, PERMITTED, "{}", "");
		CU_ASSERT(refused(&reply, "TEE_FAULT"));
		CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_FAULT, RULE_UPSTREAM_START));
		rig_stop(&rig);
	}
	unlink(path);
	for (size_t i = 0; paths[i]; i++) {
		cleanup_rig struct rig rig;

		rig_init(&rig);
		snprintf(rig.config.servers[0].command, GATEWAY_PATH_BYTES, "%s", paths[i]);
		rig_start(&rig);
		reply = rig_call(&rig, PERMITTED, "{}", "");
		CU_ASSERT(refused(&reply, "TEE_FAULT"));
		CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_FAULT, RULE_UPSTREAM_MEASURE));
		rig_stop(&rig);
	}
}

static void test_manners(void)
{
	for (const struct manner *manner = manners; manner->name; manner++) {
		cleanup_rig struct rig rig;
		struct reply reply;
		bool ok;

		rig_init(&rig);
		use_played(&rig, manner->name);
		if (manner->rule == RULE_UPSTREAM_TIMEOUT)
			rig.config.call_ms = SOON_MS;
		rig_start(&rig);
		reply = rig_call(&rig, PERMITTED, "{\"v\":\"secret\"}", "");
		if (manner->decision == DECISION_ALLOW && manner->says)
			ok = allowed(&reply, manner->says);
		else if (manner->decision == DECISION_ALLOW)
			ok = reply.outcome == MCP_RESULT;
		else
			ok = refused(&reply, manner->says);
		ok = ok && decided(&rig, 0, PERMITTED, manner->decision, manner->rule);
		if (!ok)
			fprintf(stderr, "manner %s\n", manner->name);
		CU_ASSERT(ok);
		/* A stuck or broken upstream is gone, and the next call starts it anew. */
		if (manner->rule == RULE_UPSTREAM_TIMEOUT || manner->rule == RULE_UPSTREAM_LOST) {
			CU_ASSERT_EQUAL(rig_upstream(&rig), 0);
			reply = rig_call(&rig, PERMITTED, "{}", "");
			CU_ASSERT(refused(&reply, manner->says));
			CU_ASSERT(decided(&rig, 1, PERMITTED, manner->decision, manner->rule));
		}
		rig_stop(&rig);
	}
}

/* Under which id a call was authorised: where the upstream's entry asks for it, and whatever the caller says of it. */
static void test_told(void)
{
	static const char own[] = ",\"_meta\":{\"call_id\":\"mine\",\"other\":1}";

	for (int asked = 0; asked < 2; asked++) {
		cleanup_rig struct rig rig;
		struct reply replies[2];
		char expected[2][RIG_TEXT_BYTES];

		rig_init(&rig);
		use_played(&rig, "told");
		rig.config.servers[0].call_id = asked == 1;
		rig_start(&rig);
		for (int i = 0; i < 2; i++) {
			replies[i] = rig_call(&rig, PERMITTED, "{\"v\":\"1\"}", own);
			snprintf(expected[i], sizeof(expected[i]),
				 asked ? "{\"told\":{\"call_id\":\"%s\"}}" : "{\"told\":{}}", replies[i].call_id);
			CU_ASSERT(allowed(&replies[i], expected[i]));
		}
		CU_ASSERT_STRING_NOT_EQUAL(replies[0].call_id, replies[1].call_id);
		rig_stop(&rig);
	}
}

/* Calls under way do not mix, and share one start of the upstream. */
static void test_together(void)
{
	enum { TOGETHER = 4 };
	cleanup_rig struct rig rig;
	struct reply replies[TOGETHER];
	char params[RIG_TEXT_BYTES], expected[RIG_TEXT_BYTES];

	rig_init(&rig);
	use_played(&rig, "arguments");
	rig_start(&rig);
	for (int i = 0; i < TOGETHER; i++) {
		snprintf(params, sizeof(params), "{\"name\":\"%s\",\"arguments\":{\"v\":%d}}",
			 i == 2 ? PUBLIC : PERMITTED, i);
		rig_send(&rig, "tools/call", params, &replies[i]);
	}
	for (int i = 0; i < TOGETHER; i++) {
		rig_wait(&rig, &replies[i]);
		snprintf(expected, sizeof(expected), "{\"v\":%d}", i);
		CU_ASSERT(i == 2 ? refused(&replies[i], "POLICY_DENY") : allowed(&replies[i], expected));
	}
	CU_ASSERT_EQUAL(rig_decisions(&rig), TOGETHER);
	rig_stop(&rig);
}

/* One that is stuck takes those beside it along, and no answer is lost. */
static void test_stuck_together(void)
{
	cleanup_rig struct rig rig;
	struct reply one, two, list;

	rig_init(&rig);
	use_played(&rig, "hang");
	rig.config.call_ms = SOON_MS;
	rig_start(&rig);
	rig_send(&rig, "tools/call", "{\"name\":\"" PERMITTED "\"}", &one);
	rig_send(&rig, "tools/call", "{\"name\":\"" PERMITTED "\"}", &two);
	rig_send(&rig, "tools/list", "{}", &list);
	rig_wait(&rig, &list);
	rig_wait(&rig, &one);
	rig_wait(&rig, &two);
	CU_ASSERT(list.outcome == MCP_RESULT && strstr(list.text, PERMITTED) != NULL);
	CU_ASSERT(refused(&one, "UPSTREAM_UNAVAILABLE"));
	CU_ASSERT(refused(&two, "UPSTREAM_UNAVAILABLE"));
	CU_ASSERT_EQUAL(rig_decisions(&rig), 2);
	rig_stop(&rig);
}

/* One call that takes too long is given up, and not the upstream that answers the others. */
static void test_slow_beside_quick(void)
{
	cleanup_rig struct rig rig;
	struct reply slow, quick;
	pid_t upstream;

	rig_init(&rig);
	use_played(&rig, "hang-at-slow");
	rig.config.call_ms = 4 * SOON_MS;
	rig_start(&rig);
	rig_send(&rig, "tools/call", "{\"name\":\"" PERMITTED "\",\"arguments\":{\"v\":\"slow\"}}", &slow);
	quick = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(allowed(&quick, "quick"));
	upstream = rig_upstream(&rig);
	rig_wait(&rig, &slow);
	CU_ASSERT(refused(&slow, "UPSTREAM_UNAVAILABLE"));
	quick = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(allowed(&quick, "quick"));
	CU_ASSERT(upstream > 0 && rig_upstream(&rig) == upstream);
	rig_stop(&rig);
}

static void test_recorder_killed(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;
	pid_t first;

	rig_init(&rig);
	rig_start(&rig);
	reply = rig_call(&rig, PERMITTED, "{\"n\":1}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	first = rig_upstream(&rig);
	CU_ASSERT(first > 0);
	if (first > 0)
		kill(first, SIGKILL);
	/* Whether the gateway has seen it go before the next call or only then: the one after is served anew. */
	reply = rig_call(&rig, PERMITTED, "{\"n\":2}", "");
	CU_ASSERT(reply.outcome == MCP_RESULT || refused(&reply, "UPSTREAM_UNAVAILABLE"));
	reply = rig_call(&rig, PERMITTED, "{\"n\":3}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	CU_ASSERT(rig_upstream(&rig) > 0 && rig_upstream(&rig) != first);
	rig_stop(&rig);
}

static void test_caller_gone(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;
	pid_t upstream;

	rig_init(&rig);
	use_played(&rig, "hang");
	rig_start(&rig);
	reply = rig_request(&rig, "tools/list", "{}");
	CU_ASSERT_EQUAL(reply.outcome, MCP_RESULT);
	upstream = rig_upstream(&rig);
	CU_ASSERT(upstream > 0);
	rig_send(&rig, "tools/call", "{\"name\":\"" PERMITTED "\"}", &reply);
	rig_stop(&rig);
	CU_ASSERT_EQUAL(reply.times, 0);
	CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_FAULT, RULE_CALLER_GONE));
	CU_ASSERT(upstream > 0 && kill(upstream, 0) < 0 && errno == ESRCH);
}

static void test_lifeline(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;
	pid_t upstream;

	rig_init(&rig);
	rig_start(&rig);
	reply = rig_call(&rig, PERMITTED, "{}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	upstream = rig_upstream(&rig);
	fd_close(&rig.lifeline);
	CU_ASSERT_EQUAL(rig_exit(&rig), 0);
	CU_ASSERT(upstream > 0 && kill(upstream, 0) < 0 && errno == ESRCH);
}

static void test_signal(void)
{
	cleanup_rig struct rig rig;

	rig_init(&rig);
	rig_start(&rig);
	child_signal(&rig.gateway, SIGTERM);
	CU_ASSERT_EQUAL(rig_exit(&rig), 0);
}

/* A fresh gateway goes on in the files of one that was killed. */
static void test_continues(void)
{
	cleanup_rig struct rig rig;
	struct reply reply;

	rig_init(&rig);
	rig_start(&rig);
	reply = rig_call(&rig, PERMITTED, "{\"n\":1}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	child_end(&rig.gateway);
	mcp_client_free(steal_pointer(&rig.client));
	fd_close(&rig.lifeline);
	rig_start(&rig);
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(refused(&reply, "POLICY_DENY"));
	reply = rig_call(&rig, PERMITTED, "{\"n\":2}", "");
	CU_ASSERT(allowed(&reply, "recorded"));
	CU_ASSERT(decided(&rig, 0, PERMITTED, DECISION_ALLOW, RULE_ALLOW));
	CU_ASSERT(decided(&rig, 1, PUBLIC, DECISION_DENY, RULE_CEILING_TOOL));
	CU_ASSERT(decided(&rig, 2, PERMITTED, DECISION_ALLOW, RULE_ALLOW));
	CU_ASSERT(rig_sink_is(&rig, "{\"tool\":\"permitted.tool\",\"arguments\":{\"n\":1}}\n"
				    "{\"tool\":\"permitted.tool\",\"arguments\":{\"n\":2}}\n"));
	rig_stop(&rig);
}

/* What cannot be recorded is not decided: a fault, not a denial. */
static void test_unrecorded(void)
{
	cleanup_rig struct rig rig;
	struct rlimit before, small = { 0, 0 };
	struct reply reply;

	rig_init(&rig);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	rig_start(&rig);
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(refused(&reply, "POLICY_DENY"));
	small = before;
	small.rlim_cur = DECISIONS_ROW_BYTES + 1;
	CU_ASSERT_EQUAL(prlimit(rig.gateway.pid, RLIMIT_FSIZE, &small, NULL), 0);
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(refused(&reply, "TEE_FAULT"));
	CU_ASSERT_EQUAL(prlimit(rig.gateway.pid, RLIMIT_FSIZE, &before, NULL), 0);
	reply = rig_call(&rig, PUBLIC, "{}", "");
	CU_ASSERT(refused(&reply, "TEE_FAULT"));
	CU_ASSERT_EQUAL(lseek(rig.decisions, 0, SEEK_END), DECISIONS_ROW_BYTES + 1);
	rig_stop(&rig);
}

static void test_bad_config(void)
{
	cleanup_rig struct rig rig;

	rig_init(&rig);
	rig_spawn(&rig, "{}", 2);
	CU_ASSERT_EQUAL(rig_exit(&rig), 3);
}

static const struct denied_row denied_rows[] = {
	{ PUBLIC, "", PUBLIC, "POLICY_DENY", RULE_CEILING_TOOL },
	{ PERMITTED, ",\"_cmcp\":{\"data_class\":\"mnpi\"}", PERMITTED, "POLICY_DENY", RULE_CEILING_TOOL },
	{ PERMITTED, ",\"_cmcp\":{\"data_class\":\"\"}", PERMITTED, "POLICY_DENY", RULE_LABEL_UNKNOWN },
	{ PERMITTED, ",\"_cmcp\":{\"execution_id\":null}", "?", "POLICY_DENY", RULE_EXECUTION_ID },
	{ "secret.tool", "", "?", "TOOL_NOT_IN_CATALOG", RULE_CATALOG_MISS },
	{ "Permitted.tool", "", "?", "TOOL_NOT_IN_CATALOG", RULE_CATALOG_MISS },
	{ "", "", "?", "TOOL_NOT_IN_CATALOG", RULE_CATALOG_MISS },
	{ "unlisted.tool", "", "unlisted.tool", "POLICY_DENY", RULE_TOOL_UNLISTED },
	{ "odd.tool", "", "odd.tool", "POLICY_DENY", RULE_LABEL_UNKNOWN },
	{ "ceiling.tool", "", "ceiling.tool", "POLICY_DENY", RULE_LABEL_UNKNOWN },
	{ .tool = NULL },
};

static CU_TestInfo tests[] = {
	{ "a permitted call is recorded as written", test_permitted },
	{ "a denied call starts nothing", test_denied },
	{ "an invalid call is not decided", test_invalid },
	{ "a declared class raises, and only raises", test_declared },
	{ "the ceiling of responses", test_response_ceiling },
	{ "a session that rises while a call waits", test_risen_meanwhile },
	{ "tools that both sides know are listed", test_list },
	{ "a list starts nothing that is denied", test_list_starts_nothing_denied },
	{ "another program than the declared one is not started", test_measured },
	{ "what is no program is a fault", test_not_a_program },
	{ "an upstream's manners", test_manners },
	{ "what an upstream is told", test_told },
	{ "calls side by side", test_together },
	{ "a stuck upstream with calls side by side", test_stuck_together },
	{ "a slow call beside quick ones", test_slow_beside_quick },
	{ "a killed recorder is started anew", test_recorder_killed },
	{ "a caller that leaves during a call", test_caller_gone },
	{ "the lifeline ends it", test_lifeline },
	{ "SIGTERM ends it", test_signal },
	{ "a fresh gateway continues the files", test_continues },
	{ "an unrecorded decision is a fault", test_unrecorded },
	{ "a bad configuration is refused", test_bad_config },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--upstream") == 0)
		return play(argv[2]);
	return test_main("gateway", suites);
}
