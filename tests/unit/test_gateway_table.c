/* The decision table: each row by a real gateway before an upstream that is played, asked over HTTP without a session.
 */
#include "tests/unit/gateway_served.h"

struct table_row {
	const char *name;
	const char *session, *catalog, *response; /* labels of the session, of both tools, of answers */
	const char *tool, *arguments, *rest;
	const char *list, *answer; /* of the upstream, or NULL */
	int status;
	const char *message, *error_code; /* NULL: allowed */
	enum gateway_rule rule;
	const char *named; /* in the decisions file */
	bool started; /* the upstream was */
	size_t calls; /* that it was sent */
	const char *entries; /* behind the session's start */
};

static const struct table_row table[];

static void set_label(char label[NAME_MAX_SHORT], const char *to)
{
	snprintf(label, NAME_MAX_SHORT, "%s", to);
}

/* A vocabulary of three: one that ties with a built-in label, one between two of them, one above all. */
static void add_vocabulary(struct gateway_config *config)
{
	static const struct gateway_label labels[] = { { "internal", 2 }, { "low", 0 }, { "sealed", 9 } };

	memcpy(config->vocabulary, labels, sizeof(labels));
	config->vocabulary_count = ARRAY_SIZE(labels);
}

/* The whole body, but for what the call's id is. */
static bool refused_as(const struct heard *heard, const struct table_row *row)
{
	char id[NAME_MAX_SHORT + 1], expected[RIG_TEXT_BYTES];

	member_of(heard, "call_id", id);
	snprintf(expected, sizeof(expected),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"%s\","
		 "\"data\":{\"error_code\":\"%s\",\"call_id\":\"%s\"}}}",
		 row->message, row->error_code, id);
	return schema_matches(PATTERN_HEX, id, 32) && strlen(id) == 32 && strcmp(heard->body, expected) == 0;
}

static bool decided_as(const struct rig *rig, const struct table_row *row)
{
	struct decided decided = rig_decision(rig, 0);

	return rig_decisions(rig) == 1 && decided.rule == row->rule &&
	       decided.decision == gateway_outcome(row->rule)->decision && strcmp(decided.tool, row->named) == 0;
}

static bool check_row(const struct table_row *row)
{
	cleanup_buf struct buf entries = BUF(SERVED_BYTES);
	struct heard heard;
	bool ok;

	SERVED(served, row->session);
	add_vocabulary(&served.rig.config);
	rig_tool(&served.rig, "unlisted.tool", "public");
	served.rig.config.catalog[2].server = 1;
	served.rig.config.servers[1] = served.rig.config.servers[0];
	served.rig.config.servers_count = 2;
	for (size_t i = 0; i < 2; i++)
		set_label(served.rig.config.catalog[i].sensitivity, row->catalog);
	set_label(served.rig.config.sink_policy.response, row->response);
	served.rig.config.response_bytes = 4 * KIB;
	served.rig.config.call_ms = row->rule == RULE_UPSTREAM_TIMEOUT ? 800 : RIG_GUARD_MS;
	if (row->list)
		put_file(&served, "list", row->list);
	if (row->answer)
		put_file(&served, "answer", row->answer);
	rig_start(&served.rig);
	call_over_http(&served, row->tool, row->arguments, row->rest, &heard);
	buf_printf(&entries, "session_start n/a - - ->%s - - n/a -\n%s", row->session, row->entries);
	ok = heard.status == row->status && decided_as(&served.rig, row) &&
	     (row->message ? refused_as(&heard, row) : strstr(heard.body, "\"result\":{") != NULL) &&
	     (count_lines(&served, "turns") > 0) == row->started && count_lines(&served, "calls") == row->calls &&
	     entries_are(&served, buf_string(&entries));
	if (!ok)
		fprintf(stderr, "row '%s': status %d, calls %zu, turns %zu, rule %u\n%s\n", row->name, heard.status,
			count_lines(&served, "calls"), count_lines(&served, "turns"), rig_decision(&served.rig, 0).rule,
			heard.body);
	rig_stop(&served.rig);
	return ok;
}

static void test_table(void)
{
	for (const struct table_row *row = table; row->name; row++)
		CU_ASSERT(check_row(row));
}

/* A caller with an MCP session gets the same error with status 200. */
static void test_session_status(void)
{
	char id[64] = "", head[128];
	struct heard heard;

	SERVED(served, "confidential");
	rig_start(&served.rig);
	http(served.port, "POST /mcp", "",
	     "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}",
	     &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	if (strcasestr(heard.bytes, "\r\nMcp-Session-Id: "))
		sscanf(strcasestr(heard.bytes, "\r\nMcp-Session-Id: ") + strlen("\r\nMcp-Session-Id: "), "%63[^\r]",
		       id);
	snprintf(head, sizeof(head), "Mcp-Session-Id: %s\r\n", id);
	{
		int fd = call_begin(&served, head, PUBLIC, "{}", "");

		hear_http(&fd, &heard);
	}
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT(strstr(heard.body, "\"error\":{\"code\":-32000,\"message\":\"Request denied by policy\",\"data\":{"
				     "\"error_code\":\"POLICY_DENY\",") != NULL);
	rig_stop(&served.rig);
}

/* ---- drift ---- */

struct drift_row {
	const char *list;
	const char *kinds; /* "tool kind" of each entry */
};

static const struct drift_row drift_rows[];

static void check_drift(const struct drift_row *row)
{
	cleanup_buf struct buf before = BUF(SERVED_BYTES), after = BUF(SERVED_BYTES), kinds = BUF(SERVED_BYTES);
	struct heard heard;

	SERVED(served, "public");
	put_file(&served, "list", row->list);
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 503);
	CU_ASSERT(strstr(heard.body, "\"message\":\"catalog_drift\",\"data\":{\"error_code\":\"CATALOG_DRIFT\"") !=
		  NULL);
	ask_chain(&served,
		  "SELECT json_extract(payload,'$.tool_name')||' '||json_extract(payload,'$.detail.kind') "
		  "FROM audit_entries WHERE entry_type='catalog_drift' ORDER BY rowid",
		  &kinds);
	CU_ASSERT_STRING_EQUAL(buf_string(&kinds), row->kinds);
	entries_of(&served, &before);
	/* It sticks, also for the other tools and when the upstream is honest again; no call of it has an entry. */
	put_file(&served, "list", BOTH_TOOLS);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 503);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", "", &heard), 503);
	CU_ASSERT_EQUAL(call_over_http(&served, "other.tool", "{}", "", &heard), 503);
	entries_of(&served, &after);
	CU_ASSERT_STRING_EQUAL(buf_string(&after), buf_string(&before));
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 0);
	CU_ASSERT_EQUAL(rig_decisions(&served.rig), 4);
	CU_ASSERT_EQUAL(rig_decision(&served.rig, 3).rule, RULE_CATALOG_DRIFT);
	http(served.port, "GET /readyz", "", "", &heard);
	CU_ASSERT_EQUAL(heard.status, 503);
	rig_stop(&served.rig);
}

static void test_drift(void)
{
	for (const struct drift_row *row = drift_rows; row->list; row++)
		check_drift(row);
}

/* ---- budget, lists, programs ---- */

static void test_budget(void)
{
	struct heard heard;

	SERVED(served, "public");
	served.rig.config.budget = 10;
	rig_start(&served.rig);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
		/* What is denied before counts for nothing. */
		CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", ",\"_cmcp\":{\"data_class\":\"pii\"}", &heard),
				403);
	}
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 403);
	CU_ASSERT_EQUAL(rig_decision(&served.rig, 20).rule, RULE_BUDGET);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 10);
	rig_stop(&served.rig);
}

static void test_allow_list(void)
{
	struct heard heard;

	SERVED(served, "public");
	served.rig.config.allow_count = 1;
	snprintf(served.rig.config.allow[0], NAME_MAX_SHORT, PERMITTED);
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", "", &heard), 403);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(rig_decision(&served.rig, 0).rule, RULE_NOT_ALLOWED);
	CU_ASSERT(entries_are(&served,
			      SESSION_START("public") "tool_call deny allow_list public.tool public>public " EMPTY
						      " - - -\n" INTENT(PERMITTED, "public>public", EMPTY)
							      ALLOWED(PERMITTED, "public>public", EMPTY)));
	rig_stop(&served.rig);
}

/* Measured, and what cannot be started, with the entries of each. */
static void test_programs(void)
{
	static const char *const details[] = { "unexpected:measure", "unexpected:start" };

	for (size_t i = 0; i < 2; i++) {
		char path[RIG_PATH_BYTES], expected[RIG_TEXT_BYTES];
		struct heard heard;

		SERVED(served, "public");
		put_file(&served, "program", "no program\n");
		in_folder(path, served.folder, "program");
		CU_ASSERT_EQUAL(chmod(path, 0700), 0);
		rig_server(&served.rig, path);
		served.rig.config.servers[0].pass_fd = -1;
		if (i == 0)
			snprintf(served.rig.config.servers[0].command, GATEWAY_PATH_BYTES, "%s", served.folder);
		rig_start(&served.rig);
		CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
		CU_ASSERT(strstr(heard.body, "\"message\":\"Internal error\",\"data\":{\"error_code\":\"TEE_FAULT\"") !=
			  NULL);
		snprintf(expected, sizeof(expected),
			 SESSION_START("public") "fault fault %s permitted.tool public>public " EMPTY " - - none\n",
			 details[i]);
		CU_ASSERT(entries_are(&served, expected));
		http(served.port, "GET /readyz", "", "", &heard);
		CU_ASSERT_EQUAL(heard.status, i == 0 ? 503 : 200);
		rig_stop(&served.rig);
	}
}

/* No label is lowered by what is declared; what is no string is no declaration. */
static void test_declared(void)
{
	static const char *const ignored[] = { "42", "null", "[\"pii\"]", "{}", "true" };
	struct heard heard;

	SERVED(served, "public");
	rig_start(&served.rig);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
		char rest[64];

		snprintf(rest, sizeof(rest), ",\"_cmcp\":{\"data_class\":%s}", ignored[i]);
		CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", rest, &heard), 200);
	}
	/* Private data is read, then nothing that derives from it is written to a public sink. */
	CU_ASSERT_EQUAL(
		call_over_http(&served, PERMITTED, "{}", ",\"_cmcp\":{\"data_class\":\"confidential\"}", &heard), 200);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{\"sink_policy\":null}",
				       ",\"_cmcp\":{\"data_class\":\"public\"}", &heard),
			403);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), ARRAY_SIZE(ignored) + 1);
	rig_stop(&served.rig);
}

/* What no chain could hold is invalid, and not decided. */
static void test_formless(void)
{
	struct heard heard;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{\"v\":1e999}", "", &heard), 400);
	CU_ASSERT(strstr(heard.body, "\"code\":-32602") != NULL);
	CU_ASSERT_EQUAL(rig_decisions(&served.rig), 0);
	CU_ASSERT(entries_are(&served, SESSION_START("public")));
	rig_stop(&served.rig);
}

#define DENIED 403, "Request denied by policy", "POLICY_DENY"
#define DENY(rule, tool, labels, hash, inspection)                                                                     \
	"tool_call deny " rule " " tool " " labels " " hash " - " inspection " -\n"
#define TOOL_DENIED(tool, labels) DENY("sink_policy:tool_denied", tool, labels, SYNTHETIC, "-")
#define FAULT(rule, labels, effect)                                                                                    \
	INTENT(PERMITTED, labels, SYNTHETIC)                                                                           \
	"fault fault " rule " permitted.tool " labels " " SYNTHETIC " - - " effect "\n"
#define PASSED(tool, labels) INTENT(tool, labels, SYNTHETIC) ALLOWED(tool, labels, SYNTHETIC)
#define VALUE "{\"value\":\"synthetic\"}"
#define CLASS(label) ",\"_cmcp\":{\"data_class\":\"" label "\"}"
#define TEXT(text) "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"
#define ZEROS16 "0000000000000000"
#define ZEROS256                                                                                                       \
	ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16 ZEROS16        \
		ZEROS16 ZEROS16 ZEROS16
#define A_KIB "a" ZEROS256 "a" ZEROS256 "a" ZEROS256 "a" ZEROS256
#define P "public"
#define C "confidential"

static const struct table_row table[] = {
	/* 0: a field that is not served */
	{ "execution id", P, P, C, PERMITTED, VALUE, ",\"_cmcp\":{\"execution_id\":\"e\"}", NULL, NULL, DENIED,
	  RULE_EXECUTION_ID, "?", false, 0, DENY("execution:unavailable", "-", "public>public", SYNTHETIC, "-") },
	{ "execution id of null", P, P, C, PERMITTED, VALUE, ",\"_cmcp\":{\"execution_id\":null}", NULL, NULL, DENIED,
	  RULE_EXECUTION_ID, "?", false, 0, DENY("execution:unavailable", "-", "public>public", SYNTHETIC, "-") },
	/* 2: the catalog, of whose names nothing is written down */
	{ "catalog miss", P, P, C, "secret.tool", VALUE, "", NULL, NULL, 403, "Request denied by policy",
	  "TOOL_NOT_IN_CATALOG", RULE_CATALOG_MISS, "?", false, 0,
	  DENY("catalog_miss", "-", "public>public", SYNTHETIC, "-") },
	/* 3: the ceiling, before anything is started; the examples of the reference */
	{ "confidential to permitted", C, P, C, PERMITTED, VALUE, "", NULL, NULL, 200, NULL, NULL, RULE_ALLOW,
	  PERMITTED, true, 1, PASSED(PERMITTED, "confidential>confidential") },
	{ "confidential to public", C, P, C, PUBLIC, VALUE, "", NULL, NULL, DENIED, RULE_CEILING_TOOL, PUBLIC, false, 0,
	  TOOL_DENIED(PUBLIC, "confidential>confidential") },
	{ "confidential declared public", C, P, C, PUBLIC, VALUE, CLASS("public"), NULL, NULL, DENIED,
	  RULE_CEILING_TOOL, PUBLIC, false, 0, TOOL_DENIED(PUBLIC, "confidential>confidential") },
	{ "catalog above", P, C, C, PUBLIC, VALUE, "", NULL, NULL, DENIED, RULE_CEILING_TOOL, PUBLIC, false, 0,
	  TOOL_DENIED(PUBLIC, "public>public") },
	{ "declared above", P, P, C, PUBLIC, VALUE, CLASS("confidential"), NULL, NULL, DENIED, RULE_CEILING_TOOL,
	  PUBLIC, false, 0, TOOL_DENIED(PUBLIC, "public>public") },
	{ "public to public", P, P, C, PUBLIC, VALUE, "", NULL, NULL, 200, NULL, NULL, RULE_ALLOW, PUBLIC, true, 1,
	  PASSED(PUBLIC, "public>public") },
	{ "mis-cased", P, P, C, PERMITTED, VALUE, CLASS("Confidential"), NULL, NULL, DENIED, RULE_LABEL_UNKNOWN,
	  PERMITTED, false, 0, TOOL_DENIED(PERMITTED, "public>public") },
	{ "empty", P, P, C, PERMITTED, VALUE, CLASS(""), NULL, NULL, DENIED, RULE_LABEL_UNKNOWN, PERMITTED, false, 0,
	  TOOL_DENIED(PERMITTED, "public>public") },
	{ "unknown", P, P, C, PUBLIC, VALUE, CLASS("future-secret"), NULL, NULL, DENIED, RULE_LABEL_UNKNOWN, PUBLIC,
	  false, 0, TOOL_DENIED(PUBLIC, "public>public") },
	{ "unknown in the catalog", P, "future", C, PERMITTED, VALUE, "", NULL, NULL, DENIED, RULE_LABEL_UNKNOWN,
	  PERMITTED, false, 0, TOOL_DENIED(PERMITTED, "public>public") },
	{ "above the ceiling", "hipaa_phi", P, C, PERMITTED, VALUE, "", NULL, NULL, DENIED, RULE_CEILING_TOOL,
	  PERMITTED, false, 0, TOOL_DENIED(PERMITTED, "hipaa_phi>hipaa_phi") },
	{ "no ceiling", P, P, C, "unlisted.tool", VALUE, "", NULL, NULL, DENIED, RULE_TOOL_UNLISTED, "unlisted.tool",
	  false, 0, TOOL_DENIED("unlisted.tool", "public>public") },
	/* the operator's labels: a tie passes, and keeps the session's own label; what is above does not */
	{ "a tie", C, "internal", C, PERMITTED, VALUE, "", NULL, NULL, 200, NULL, NULL, RULE_ALLOW, PERMITTED, true, 1,
	  PASSED(PERMITTED, "confidential>confidential") },
	{ "a tie at the bottom", P, "low", C, PUBLIC, VALUE, "", NULL, NULL, 200, NULL, NULL, RULE_ALLOW, PUBLIC, true,
	  1, PASSED(PUBLIC, "public>public") },
	{ "own label raises", P, P, C, PERMITTED, VALUE, CLASS("internal"), NULL, NULL, 200, NULL, NULL, RULE_ALLOW,
	  PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC) ALLOWED(PERMITTED, "public>internal", SYNTHETIC) },
	{ "own label above", P, "sealed", C, PERMITTED, VALUE, "", NULL, NULL, DENIED, RULE_CEILING_TOOL, PERMITTED,
	  false, 0, TOOL_DENIED(PERMITTED, "public>public") },
	{ "own label mis-cased", P, P, C, PERMITTED, VALUE, CLASS("Internal"), NULL, NULL, DENIED, RULE_LABEL_UNKNOWN,
	  PERMITTED, false, 0, TOOL_DENIED(PERMITTED, "public>public") },
	/* 7: arguments */
	{ "dangerous argument", P, P, C, PERMITTED, "{\"v\":\"a; rm -r /\"}", "", NULL, NULL, DENIED, RULE_ARGUMENT,
	  PERMITTED, true, 0, DENY("argument_scan", PERMITTED, "public>public", "63a2986a", "-") },
	/* 8: what the upstream does */
	{ "upstream error", P, C, C, PERMITTED, VALUE, "", NULL, "!error", 502, "Upstream MCP server error",
	  "UPSTREAM_TOOL_ERROR", RULE_UPSTREAM_ERROR, PERMITTED, true, 1,
	  FAULT("upstream:UPSTREAM_TOOL_ERROR", "public>public", "unknown") },
	{ "upstream leaves", P, C, C, PERMITTED, VALUE, "", NULL, "!leave", 502, "Upstream MCP server error",
	  "UPSTREAM_UNAVAILABLE", RULE_UPSTREAM_LOST, PERMITTED, true, 1,
	  FAULT("upstream:UPSTREAM_UNAVAILABLE", "public>public", "unknown") },
	{ "upstream babbles", P, C, C, PERMITTED, VALUE, "", NULL, "!garbage", 502, "Upstream MCP server error",
	  "UPSTREAM_UNAVAILABLE", RULE_UPSTREAM_LOST, PERMITTED, true, 1,
	  FAULT("upstream:UPSTREAM_UNAVAILABLE", "public>public", "unknown") },
	{ "upstream hangs", P, C, C, PERMITTED, VALUE, "", NULL, "!hang", 502, "Upstream MCP server error",
	  "UPSTREAM_UNAVAILABLE", RULE_UPSTREAM_TIMEOUT, PERMITTED, true, 1,
	  FAULT("upstream:UPSTREAM_UNAVAILABLE", "public>public", "unknown") },
	/* 9: size, which raises nothing */
	{ "too long", P, C, C, PERMITTED, VALUE, "", NULL, TEXT(A_KIB A_KIB A_KIB A_KIB), DENIED, RULE_RESPONSE_SIZE,
	  PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC)
		  DENY("response_size_exceeded", PERMITTED, "public>public", SYNTHETIC, "size_exceeded") },
	/* 10, 11: the scanner, behind which the session is raised all the same */
	{ "blocked answer", P, C, C, PERMITTED, VALUE, "", NULL, TEXT("write to a@example.org"), DENIED,
	  RULE_RESPONSE_SCAN, PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC)
		  DENY("response_scan", PERMITTED, "public>confidential", SYNTHETIC, "injection_detected") },
	/* 12: the ceiling of answers */
	{ "response ceiling", P, C, P, PERMITTED, VALUE, "", NULL, NULL, DENIED, RULE_CEILING_RESPONSE, PERMITTED, true,
	  1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC) "egress_denied deny sink_policy:response_denied permitted.tool "
							"public>confidential " SYNTHETIC " - - -\n" },
	{ "response ceiling without a rank", P, P, "future", PERMITTED, VALUE, "", NULL, NULL, DENIED,
	  RULE_LABEL_UNKNOWN, PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public",
		 SYNTHETIC) "egress_denied deny sink_policy:response_denied permitted.tool public>public " SYNTHETIC
			    " - - -\n" },
	/* 14 */
	{ "raised by the catalog", P, C, C, PERMITTED, VALUE, "", NULL, NULL, 200, NULL, NULL, RULE_ALLOW, PERMITTED,
	  true, 1, INTENT(PERMITTED, "public>public", SYNTHETIC) ALLOWED(PERMITTED, "public>confidential", SYNTHETIC) },
	{ "raised by what is declared", P, "pii", C, PERMITTED, VALUE, CLASS("confidential"), NULL, NULL, 200, NULL,
	  NULL, RULE_ALLOW, PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC) ALLOWED(PERMITTED, "public>confidential", SYNTHETIC) },
	{ "not lowered by what is declared", P, C, C, PERMITTED, VALUE, CLASS("pii"), NULL, NULL, 200, NULL, NULL,
	  RULE_ALLOW, PERMITTED, true, 1,
	  INTENT(PERMITTED, "public>public", SYNTHETIC) ALLOWED(PERMITTED, "public>confidential", SYNTHETIC) },
	{ .name = NULL },
};

#define ONE(name, rest) "{\"name\":\"" name "\"," rest
#define OTHER "\"description\":\"another\",\"inputSchema\":{\"type\":\"object\"}}"
#define SCHEMA "\"description\":\"record synthetic data\",\"inputSchema\":{\"type\":\"object\",\"x\":1}}"
#define OUTPUT "\"outputSchema\":{}," DEFINITION

static const struct drift_row drift_rows[] = {
	{ "{\"tools\":[]}", PERMITTED " withdrawn\n" PUBLIC " withdrawn\n" },
	{ "{\"tools\":[" ONE(PUBLIC, DEFINITION) "]}", PERMITTED " withdrawn\n" },
	{ "{\"tools\":[" ONE(PERMITTED, DEFINITION) "]}", PUBLIC " withdrawn\n" },
	{ "{\"tools\":[" ONE(PERMITTED, OTHER) "," ONE(PUBLIC, DEFINITION) "]}", PERMITTED " definition_changed\n" },
	{ "{\"tools\":[" ONE(PERMITTED, DEFINITION) "," ONE(PUBLIC, SCHEMA) "]}", PUBLIC " definition_changed\n" },
	{ "{\"tools\":[" ONE(PERMITTED, OUTPUT) "]}", PERMITTED " definition_changed\n" PUBLIC " withdrawn\n" },
	{ .list = NULL },
};

static CU_TestInfo tests[] = {
	{ "each row", test_table },
	{ "a caller with a session", test_session_status },
	{ "drift", test_drift },
	{ "the budget's last call", test_budget },
	{ "the allow-list", test_allow_list },
	{ "what is no program", test_programs },
	{ "a declared class", test_declared },
	{ "arguments without a form", test_formless },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_table", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--upstream") == 0)
		return play(argv[2]);
	return test_main("gateway_table", suites);
}
