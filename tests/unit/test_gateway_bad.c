/* What the gateway must refuse, survive or say: configurations, callers, programs, databases, upstreams that are bad.
 */
#include <sys/resource.h>

#include "gateway/program.h"
#include "tests/unit/gateway_process.h"

#define SECRET "zzsecretzz"

/* ---- words and configurations ---- */

struct words_row {
	const char *words[5];
	int code;
	const char *says;
};

static const struct words_row words_rows[];

static void test_words(void)
{
	for (const struct words_row *row = words_rows; row->says; row++) {
		const char *words[7] = { "harness-gateway" };
		struct ended ended;
		bool ok;

		memcpy(words + 1, row->words, sizeof(row->words));
		ended = run_in(NULL, words);
		ok = ended.code == row->code && is_one_line(ended.err) && ended.out[0] == '\0' &&
		     strstr(ended.err, row->says) && !strstr(ended.err, SECRET);
		if (!ok)
			fprintf(stderr, "%s %s: exit %d, said: %s", words[1] ? words[1] : "", words[2] ? words[2] : "",
				ended.code, ended.err);
		CU_ASSERT(ok);
	}
	CU_ASSERT_EQUAL(RUN("help").code, 0);
	CU_ASSERT_EQUAL(run_in(NULL, (const char *const[]){ "harness-gateway", NULL }).code, 0);
}

struct config_row {
	const char *policy; /* what stands behind "sinkPolicy": */
	const char *rest; /* members behind it */
	const char *says;
};

static const struct config_row config_rows[];

/* The reference's malformed configurations, and more; no value of one is ever said. */
static void test_configurations(void)
{
	SERVED(served, "public");
	for (const struct config_row *row = config_rows; row->says; row++) {
		char text[RIG_TEXT_BYTES], path[RIG_PATH_BYTES];
		struct ended ended;
		bool ok;

		snprintf(text, sizeof(text),
			 "{\"session\":{\"sensitivity\":\"public\"}%s%s%s,\"catalog\":[],\"servers\":[]}",
			 row->policy ? ",\"sinkPolicy\":" : "", row->policy ? row->policy : "", row->rest);
		put_file(&served, "config.json", text);
		in_folder(path, served.folder, "config.json");
		ended = RUN("check", "--config", path);
		ok = ended.code == 3 && is_one_line(ended.err) && strstr(ended.err, row->says) &&
		     !strstr(ended.err, SECRET);
		if (!ok)
			fprintf(stderr, "%s: exit %d, said: %s", text, ended.code, ended.err);
		CU_ASSERT(ok);
	}
}

/* Labels without a rank are read, and nothing passes them: as the reference refuses them, no call gets through. */
static void test_unranked(void)
{
	for (int i = 0; i < 4; i++) {
		struct heard heard;

		SERVED(served, "public");
		if (i == 0)
			snprintf(served.rig.config.sink_policy.response, NAME_MAX_SHORT, "future");
		else if (i == 1)
			snprintf(served.rig.config.sink_policy.tools[0].max, NAME_MAX_SHORT, "future");
		else if (i == 2)
			snprintf(served.rig.config.session.sensitivity, NAME_MAX_SHORT, "future");
		else
			served.rig.config.sink_policy.tools_count = 0;
		rig_start(&served.rig);
		CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 403);
		/* A ceiling of answers alone is met behind the call. */
		CU_ASSERT_EQUAL(count_lines(&served, "calls"), i == 0);
		rig_stop(&served.rig);
	}
}

static void test_alone(void)
{
	struct ended ended;

	SERVED(served, "public");
	served.rig.config.servers[0].pass_fd = 9;
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && strstr(ended.err, "passFd") && is_one_line(ended.err));
	served.rig.config.servers[0].pass_fd = -1;
	served.rig.config.http.address[0] = '\0';
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && strstr(ended.err, "http") && is_one_line(ended.err));
}

static void test_tokens(void)
{
	static const char *const bad[] = { "", "\n", "\r\n" SECRET, NULL };
	struct gateway_http *http_config;
	struct ended ended;

	SERVED(served, "public");
	http_config = &served.rig.config.http;
	in_folder(http_config->token_file, served.folder, "token");
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && strstr(ended.err, "a token's file") && is_one_line(ended.err));
	for (size_t i = 0; bad[i]; i++) {
		put_file(&served, "token", bad[i]);
		ended = run_config(&served, "serve");
		CU_ASSERT(ended.code == 3 && strstr(ended.err, "holds no token") && is_one_line(ended.err));
		CU_ASSERT_PTR_NULL(strstr(ended.err, SECRET));
	}
	snprintf(http_config->token_file, GATEWAY_PATH_BYTES, "%s", served.folder);
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && strstr(ended.err, "a token's file") && is_one_line(ended.err));
	/* One for all is no operator's. */
	in_folder(http_config->token_file, served.folder, "token");
	in_folder(http_config->operator_token_file, served.folder, "operator");
	put_file(&served, "token", SECRET "\n");
	put_file(&served, "operator", SECRET);
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && strstr(ended.err, "operator") && !strstr(ended.err, SECRET));
}

/* ---- callers ---- */

static void test_bearers(void)
{
	char id[NAME_MAX_SHORT + 1], line[128];
	struct heard heard;

	SERVED(served, "public");
	in_folder(served.rig.config.http.token_file, served.folder, "token");
	in_folder(served.rig.config.http.operator_token_file, served.folder, "operator");
	put_file(&served, "token", "right\n");
	put_file(&served, "operator", "other\n");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 401);
	CU_ASSERT_STRING_EQUAL(heard.body, "{\"error\":\"unauthorized\",\"error_code\":\"MISSING_BEARER_TOKEN\"}");
	for (int i = 0; i < 4; i++) {
		static const char *const heads[] = { "Authorization: Bearer wrong\r\n",
						     "Authorization: Bearer righ\r\n",
						     "Authorization: Bearer other\r\n",
						     "Authorization: Bearer right2\r\n" };
		int fd = call_begin(&served, heads[i], PERMITTED, "{}", "");

		hear_http(&fd, &heard);
		CU_ASSERT_EQUAL(heard.status, 401);
		CU_ASSERT_STRING_EQUAL(heard.body,
				       "{\"error\":\"unauthorized\",\"error_code\":\"INVALID_BEARER_TOKEN\"}");
	}
	session_of(&served, id);
	snprintf(line, sizeof(line), "POST /sessions/%s/reset", id);
	http(served.port, line, "Authorization: Bearer right\r\n", "", &heard);
	CU_ASSERT_EQUAL(heard.status, 401);
	http(served.port, line, "Authorization: Bearer other\r\n", "", &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT_EQUAL(rig_decisions(&served.rig), 0);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 0);
	rig_stop(&served.rig);
}

/* Bodies and heads that are none; after each the gateway serves as before. */
static void test_callers(void)
{
	static const char part[] = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{\"jso";
	static const char head[] = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n";
	cleanup_buf struct buf bomb = BUF(2 * MIB);
	struct heard heard;
	int half, fd;

	SERVED(served, "public");
	rig_start(&served.rig);
	half = dial(served.port);
	CU_ASSERT(send(half, part, strlen(part), 0) > 0);
	for (int i = 0; i < 4; i++) {
		static const char *const openings[] = { "[", "{\"a\":", "[[],", "{\"a\":[" };

		bomb.length = 0;
		while (bomb.length < 900000)
			buf_text(&bomb, openings[i]);
		http(served.port, "POST /mcp", "", buf_string(&bomb), &heard);
		CU_ASSERT_EQUAL(heard.status, 400);
		CU_ASSERT(strstr(heard.body, "-32700") != NULL);
	}
	bomb.length = 0;
	buf_text(&bomb, "{\"v\":\"");
	while (bomb.length < 1000000)
		buf_text(&bomb, "aaaaaaaaaaaaaaaa");
	buf_text(&bomb, "\"}");
	http(served.port, "POST /mcp", "", buf_string(&bomb), &heard);
	CU_ASSERT_EQUAL(heard.status, 413);
	/* Deep, but whole: within what a body may hold. */
	bomb.length = 0;
	buf_text(&bomb, "{\"v\":");
	for (int i = 0; i < 100; i++)
		buf_text(&bomb, "[");
	for (int i = 0; i < 100; i++)
		buf_text(&bomb, "]");
	buf_text(&bomb, "}");
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, buf_string(&bomb), "", &heard), 400);
	/* A head that is too long, and one of a web page. */
	bomb.length = 0;
	buf_text(&bomb, "X-Long: ");
	for (int i = 0; i < 5000; i++)
		buf_text(&bomb, "aaaaaaaaaaaaaaaa");
	buf_text(&bomb, "\r\n");
	fd = dial(served.port);
	(void)!send(fd, head, strlen(head), MSG_NOSIGNAL);
	(void)!send(fd, bomb.data, bomb.length, MSG_NOSIGNAL);
	hear_http(&fd, &heard);
	CU_ASSERT(heard.status == 0 || heard.status == 431 || heard.status == 413 || heard.status == 400);
	fd = call_begin(&served, "Origin: http://attacker.example\r\n", PERMITTED, "{}", "");
	hear_http(&fd, &heard);
	CU_ASSERT_EQUAL(heard.status, 403);
	CU_ASSERT_EQUAL(rig_decisions(&served.rig), 0);
	/* Two clients at once share one session: what one read, the other may not write. */
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", ",\"_cmcp\":{\"data_class\":\"pii\"}", &heard), 200);
	{
		struct reply reply = rig_call(&served.rig, PUBLIC, "{}", "");

		CU_ASSERT(reply.outcome == MCP_ERROR && strcmp(reply.error_code, "POLICY_DENY") == 0);
	}
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 1);
	fd_close(&half);
	rig_stop(&served.rig);
}

/* ---- programs ---- */

static void put_program(const struct served *served, const char *name, const char *text)
{
	char path[RIG_PATH_BYTES];

	put_file(served, name, text);
	in_folder(path, served->folder, name);
	CU_ASSERT_EQUAL(chmod(path, 0700), 0);
}

/* What was measured runs, whatever has its name by then. */
static void test_by_descriptor(void)
{
	static const char *const firsts[] = { "#!/bin/sh\necho measured\n", NULL };

	for (int i = 0; i < 2; i++) {
		cleanup_program struct program program = PROGRAM_NONE;
		cleanup_child struct child child = CHILD_NONE;
		cleanup_buf struct buf said = BUF(RIG_TEXT_BYTES);
		cleanup_fd int in = -1, out = -1;
		struct gateway_server server = { .pass_fd = -1 };
		struct error *err = NULL;

		SERVED(served, "public");
		in_folder(server.command, served.folder, "program");
		if (firsts[i]) {
			put_program(&served, "program", firsts[i]);
		} else {
			CU_ASSERT_EQUAL(symlink("/bin/echo", server.command), 0);
			snprintf(server.arguments[0], GATEWAY_ARGUMENT_BYTES, "measured");
			server.arguments_count = 1;
		}
		{
			cleanup_fd int fd = open(server.command, O_RDONLY | O_CLOEXEC);

			CU_ASSERT_EQUAL(hash_fd(fd, server.sha256, &err), 0);
		}
		CU_ASSERT_EQUAL(program_measure(&server, &program), 0);
		put_program(&served, "program", "#!/bin/sh\necho replaced\n");
		CU_ASSERT_EQUAL(program_start(&program, &server, 1000, &child, &in, &out, &err), 0);
		CU_ASSERT_EQUAL(fd_read_all(in, &said, clock_deadline(RIG_GUARD_MS), &err), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&said), "measured\n");
		CU_ASSERT(program_measure(&server, &program) < 0);
		CU_ASSERT(test_no_error(&err));
	}
}

/* The upstream as a script that /bin/sh is to run. */
static void use_script(struct served *served)
{
	struct gateway_server *server = &served->rig.config.servers[0];
	char text[3 * RIG_PATH_BYTES];
	struct error *err = NULL;
	cleanup_fd int fd = -1;

	snprintf(text, sizeof(text), "exec '%s' --upstream '%s'\n", server->command, served->folder);
	put_file(served, "script", text);
	snprintf(server->command, sizeof(server->command), "/bin/sh");
	in_folder(server->script, served->folder, "script");
	server->arguments_count = 0;
	fd = open(server->script, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(hash_fd(fd, server->sha256, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Replaced, or changed in place, between its start and its first call: nothing goes out to it. */
static void test_script_changed(void)
{
	for (int i = 0; i < 3; i++) {
		char path[RIG_PATH_BYTES];
		struct heard heard;
		int call, gate;
		pid_t upstream;

		SERVED(served, "public");
		use_script(&served);
		in_folder(path, served.folder, "script");
		shut_gate(&served, "gate-list");
		rig_start(&served.rig);
		call = call_begin(&served, "", PERMITTED, "{}", "");
		gate = reach_gate(&served, "gate-list");
		if (i == 0)
			put_file(&served, "script", "echo another\n");
		else if (i == 1)
			add_line(served.folder, "script", "#\n", 2);
		fd_close(&gate);
		hear_http(&call, &heard);
		CU_ASSERT_EQUAL(heard.status, i == 2 ? 200 : 500);
		CU_ASSERT_EQUAL(count_lines(&served, "calls"), i == 2);
		CU_ASSERT_EQUAL(rig_decision(&served.rig, 0).rule, i == 2 ? RULE_ALLOW : RULE_UPSTREAM_MEASURE);
		if (i == 2) {
			/* Changed while it runs: its next start is refused, and readiness says so. */
			put_file(&served, "script", "echo another\n");
			CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
			upstream = rig_upstream(&served.rig);
			CU_ASSERT(upstream > 0);
			if (upstream > 0)
				kill(upstream, SIGKILL);
			do
				http(served.port, "GET /readyz", "", "", &heard);
			while (heard.status == 200);
			CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
			CU_ASSERT_EQUAL(count_lines(&served, "calls"), 2);
		}
		rig_stop(&served.rig);
	}
}

static void test_no_interpreter(void)
{
	static const char *const texts[] = { "#!/nonexistent/interpreter\n", "#!\n", "no interpreter\n", "", NULL };

	for (size_t i = 0; texts[i]; i++) {
		char path[RIG_PATH_BYTES];
		struct heard heard;

		SERVED(served, "public");
		put_program(&served, "program", texts[i]);
		in_folder(path, served.folder, "program");
		rig_server(&served.rig, path);
		served.rig.config.servers[0].pass_fd = -1;
		rig_start(&served.rig);
		CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
		CU_ASSERT_EQUAL(rig_decision(&served.rig, 0).rule, RULE_UPSTREAM_START);
		rig_stop(&served.rig);
	}
}

/* ---- databases ---- */

/* A database that takes no more: the call is refused, and has no effect; so is every later one. */
static void test_full(void)
{
	struct rlimit before, small;
	struct heard heard;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(prlimit(served.rig.gateway.pid, RLIMIT_FSIZE, NULL, &before), 0);
	small = before;
	small.rlim_cur = 4096;
	CU_ASSERT_EQUAL(prlimit(served.rig.gateway.pid, RLIMIT_FSIZE, &small, NULL), 0);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
	CU_ASSERT(strstr(heard.body, "\"message\":\"Internal error\",\"data\":{\"error_code\":\"TEE_FAULT\"") != NULL);
	CU_ASSERT_EQUAL(prlimit(served.rig.gateway.pid, RLIMIT_FSIZE, &before, NULL), 0);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
	CU_ASSERT_EQUAL(call_over_http(&served, "other.tool", "{}", "", &heard), 500);
	http(served.port, "GET /readyz", "", "", &heard);
	CU_ASSERT_EQUAL(heard.status, 503);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 1);
	CU_ASSERT_EQUAL(rig_decision(&served.rig, 1).rule, RULE_AUDIT);
	rig_stop(&served.rig);
}

static void change(const struct served *served, const char *sql)
{
	char path[RIG_PATH_BYTES], *why = NULL;
	sqlite3 *connection = NULL;

	in_folder(path, served->folder, "audit.db");
	CU_ASSERT_EQUAL(sqlite3_open(path, &connection), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(connection, sql, NULL, NULL, &why), SQLITE_OK);
	if (why)
		fprintf(stderr, "%s: %s\n", sql, why);
	sqlite3_free(why);
	sqlite3_close(connection);
}

/* Somebody else writes to the chain while the gateway has it. */
static void test_other_writer(void)
{
	struct heard heard;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	change(&served, "DELETE FROM audit_entries WHERE sequence_number = 1");
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 500);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 1);
	rig_stop(&served.rig);
}

struct planted_row {
	const char *sql;
	int code;
	const char *says; /* of audit verify */
	bool goes_on; /* a gateway starts on it */
};

static const struct planted_row planted_rows[];

/* Each row on a copy of what one gateway wrote. */
static void test_planted(void)
{
	cleanup_buf struct buf whole = BUF(MIB);
	char path[RIG_PATH_BYTES];
	struct heard heard;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", "", &heard), 200);
	rig_stop(&served.rig);
	/* It is one file now. */
	in_folder(path, served.folder, "audit.db-wal");
	CU_ASSERT(access(path, F_OK) < 0);
	CU_ASSERT(read_file(served.folder, "audit.db", &whole));
	in_folder(path, served.folder, "audit.db");
	for (const struct planted_row *row = planted_rows; row->sql; row++) {
		struct error *err = NULL;
		struct ended ended;
		bool ok;

		CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, whole.data, whole.length, 0600, &err), 0);
		change(&served, row->sql);
		ended = RUN("audit", "verify", path);
		ok = test_no_error(&err) && ended.code == row->code &&
		     strstr(row->code == 3 ? ended.err : ended.out, row->says);
		if (!ok)
			fprintf(stderr, "%s: exit %d: %s%s", row->sql, ended.code, ended.out, ended.err);
		CU_ASSERT(ok);
		if (row->goes_on)
			continue;
		ended = run_config(&served, "serve");
		CU_ASSERT(ended.code == 3 && is_one_line(ended.err) && strstr(ended.err, "audit"));
	}
}

static void test_no_database(void)
{
	struct ended ended;

	SERVED(served, "public");
	put_file(&served, "audit.db", "no database, but a text that is long enough to be looked at, " SECRET "\n");
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && is_one_line(ended.err) && !strstr(ended.err, SECRET));
	snprintf(served.rig.config.audit.path, GATEWAY_PATH_BYTES, "%s", served.folder);
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && is_one_line(ended.err));
	in_folder(served.rig.config.audit.path, served.folder, "none/audit.db");
	ended = run_config(&served, "serve");
	CU_ASSERT(ended.code == 3 && is_one_line(ended.err));
}

/* ---- upstreams that hang ---- */

static void test_hung(void)
{
	struct served second;
	struct heard heard;
	int hung, gate;
	int64_t start;
	pid_t upstream;

	SERVED(served, "public");
	second = served;
	snprintf(second.folder, sizeof(second.folder), "%.40s/second", served.folder);
	CU_ASSERT_EQUAL(mkdir(second.folder, 0700), 0);
	served.rig.config.servers[1] = served.rig.config.servers[0];
	served.rig.config.servers_count = 2;
	served.rig.config.catalog[1].server = 1;
	snprintf(served.rig.config.servers[1].arguments[1], GATEWAY_ARGUMENT_BYTES, "%s", second.folder);
	shut_gate(&second, "gate-call");
	rig_start(&served.rig);
	hung = call_begin(&served, "", PUBLIC, "{}", "");
	gate = reach_gate(&second, "gate-call");
	upstream = rig_upstream(&served.rig);
	start = clock_now();
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT(clock_now() - start < 3 * NS_PER_S);
	/* It does not see the end of its input: it is killed. */
	start = clock_now();
	child_signal(&served.rig.gateway, SIGTERM);
	CU_ASSERT_EQUAL(rig_exit(&served.rig), 0);
	CU_ASSERT(clock_now() - start < 3 * NS_PER_S);
	CU_ASSERT(upstream > 0 && kill(upstream, 0) < 0 && errno == ESRCH);
	hear_http(&hung, &heard);
	CU_ASSERT_EQUAL(heard.status, 0);
	fd_close(&gate);
	CU_ASSERT(entries_are(
		&served,
		SESSION_START("public") INTENT(PUBLIC, "public>public", EMPTY) INTENT(PERMITTED, "public>public", EMPTY)
			ALLOWED(PERMITTED, "public>public",
				EMPTY) "fault fault caller_gone public.tool public>public " EMPTY " - - unknown\n"));
}

#define RESPONSE "\"responseMaxSensitivity\":\"public\""
#define GOOD "{\"toolMaxSensitivity\":[]," RESPONSE "}"

static const struct words_row words_rows[] = {
	{ { SECRET }, 4, "help" },
	{ { "serv" }, 4, "did you mean \"harness-gateway serve\"" },
	{ { "serve" }, 4, "harness-gateway serve --config FILE" },
	{ { "serve", "--" SECRET }, 4, "wrong words" },
	{ { "serve", "--config" }, 4, "wrong words" },
	{ { "check" }, 4, "wrong words" },
	{ { "check", "--config", SECRET, SECRET }, 4, "wrong words" },
	{ { "audit" }, 4, "audit verify DATABASE" },
	{ { "audit", SECRET, SECRET }, 4, "wrong words" },
	{ { "catalog", SECRET }, 4, "wrong words" },
	{ { "catalog", "add", "--catalog", SECRET }, 4, "wrong words" },
	{ { "catalog", "add", "--catalog", SECRET, "--" }, 4, "wrong words" },
	{ { "embedded", SECRET }, 4, "wrong words" },
	{ { "serve", "--config", "/nonexistent/config" }, 3, "the configuration: " },
	{ { "check", "--config", "/nonexistent/config" }, 3, "No such file" },
	{ { "check", "--config", "/" }, 3, "the configuration: " },
	{ { "audit", "verify", "/nonexistent/audit" }, 3, "No such file" },
	{ { "audit", "verify", "/dev/null" }, 3, "database" },
	{ .says = NULL },
};

static const struct config_row config_rows[] = {
	/* the reference's, but for labels without a rank */
	{ "null", "", "sinkPolicy" },
	{ "{}", "", "sinkPolicy.toolMaxSensitivity: missing" },
	{ "{\"toolMaxSensitivity\":[]}", "", "sinkPolicy.responseMaxSensitivity: missing" },
	{ "{" RESPONSE "}", "", "sinkPolicy.toolMaxSensitivity: missing" },
	{ "{\"toolMaxSensitivity\":{\"a\":\"" SECRET "\"}," RESPONSE "}", "", "sinkPolicy.toolMaxSensitivity" },
	{ "{\"toolMaxSensitivity\":[\"" SECRET "\"]," RESPONSE "}", "", "sinkPolicy.toolMaxSensitivity[0]" },
	{ "{\"toolMaxSensitivity\":[]," RESPONSE ",\"advisory\":true}", "", "sinkPolicy: unknown key" },
	/* and ours */
	{ NULL, "", "sinkPolicy: missing" },
	{ "[]", "", "sinkPolicy" },
	{ "{\"toolMaxSensitivity\":null," RESPONSE "}", "", "sinkPolicy.toolMaxSensitivity" },
	{ "{\"toolMaxSensitivity\":[{\"tool\":\"a\",\"max\":\"\"}]," RESPONSE "}", "", "[0].max" },
	{ "{\"toolMaxSensitivity\":[{\"tool\":1,\"max\":\"public\"}]," RESPONSE "}", "", "[0].tool" },
	{ "{\"toolMaxSensitivity\":[{\"tool\":\"a\"}]," RESPONSE "}", "", "[0].max: missing" },
	{ "{\"toolMaxSensitivity\":[],\"responseMaxSensitivity\":\"\"}", "", "responseMaxSensitivity" },
	{ "{\"toolMaxSensitivity\":[],\"responseMaxSensitivity\":\"Public " SECRET "\"}", "",
	  "responseMaxSensitivity" },
	{ GOOD, ",\"vocabulary\":[{\"label\":\"public\",\"rank\":1}]", "vocabulary[0].label: it is built in" },
	{ GOOD, ",\"vocabulary\":[{\"label\":\"a\",\"rank\":true}]", "vocabulary[0].rank" },
	{ GOOD, ",\"vocabulary\":[{\"label\":\"a\",\"rank\":-1}]", "vocabulary[0].rank" },
	{ GOOD, ",\"vocabulary\":[{\"label\":\"a\",\"rank\":1.5}]", "vocabulary[0].rank" },
	{ GOOD, ",\"vocabulary\":{\"a\":1}", "vocabulary" },
	{ GOOD, ",\"budget\":\"" SECRET "\"", "budget" },
	{ GOOD, ",\"audit\":{\"path\":\"\"}", "audit.path" },
	{ GOOD, ",\"audit\":{}", "audit.path: missing" },
	{ GOOD, ",\"http\":{\"address\":\"" SECRET "\"}", "http.address" },
	{ GOOD, ",\"http\":{\"address\":\"127.0.0.1\",\"port\":-1}", "http.port" },
	{ GOOD, ",\"scanArguments\":\"yes\"", "scanArguments" },
	{ GOOD, ",\"scanArguments\":NaN", "gateway: " },
	{ GOOD, ",\"budget\":1,\"budget\":2", "gateway: " },
	{ GOOD, ",\"\\u001b[2J\":1", "unknown key" },
	{ GOOD, "}", "gateway: " },
	{ .says = NULL },
};

static const struct planted_row planted_rows[] = {
	{ "SELECT 1", 0, "the chain holds", true },
	{ "UPDATE audit_entries SET payload = replace(payload, 'public.tool', 'publik.tool') WHERE sequence_number = 3",
	  1, "broken at entry 3", true },
	{ "UPDATE audit_entries SET entry_type = 'x' WHERE sequence_number = 2", 1, "broken at entry 2", true },
	{ "DELETE FROM audit_entries WHERE sequence_number = 2", 1, "broken at entry 3", true },
	{ "UPDATE audit_entries SET sequence_number = 9 WHERE sequence_number = 1", 1, "broken at entry", true },
	{ "INSERT INTO audit_entries SELECT 5, session_id, 'planted', entry_type, entry_hash, prev_entry_hash, payload "
	  "FROM audit_entries WHERE sequence_number = 4",
	  1, "broken at entry 5", false },
	{ "UPDATE audit_entries SET payload = payload || ' ' WHERE sequence_number = 4", 1, "broken at entry 4",
	  false },
	{ "UPDATE audit_entries SET entry_hash = substr(entry_hash, 2) || substr(entry_hash, 1, 1) WHERE "
	  "sequence_number = 4",
	  1, "broken at entry 4", false },
	{ "ALTER TABLE audit_entries ADD COLUMN note TEXT", 0, "the chain holds", false },
	{ "CREATE TABLE other(a)", 0, "the chain holds", false },
	{ "ALTER TABLE audit_entries RENAME TO other", 3, "", false },
	{ .sql = NULL },
};

static CU_TestInfo tests[] = {
	{ "words", test_words },
	{ "malformed configurations", test_configurations },
	{ "labels without a rank", test_unranked },
	{ "what is for an arm alone", test_alone },
	{ "files of tokens", test_tokens },
	{ "bearers", test_bearers },
	{ "callers", test_callers },
	{ "what is measured is what runs", test_by_descriptor },
	{ "a script that changes", test_script_changed },
	{ "no interpreter", test_no_interpreter },
	{ "a full database", test_full },
	{ "another writer", test_other_writer },
	{ "planted rows", test_planted },
	{ "no database", test_no_database },
	{ "an upstream that hangs", test_hung },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_bad", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--upstream") == 0)
		return play(argv[2]);
	return test_main("gateway_bad", suites);
}
