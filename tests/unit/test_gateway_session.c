/* The session that all callers share: it rises, is reset and closed while calls are under way, which are cancelled,
 * queued, and committed together. */
#include "tests/unit/gateway_served.h"

#define CONFIDENTIAL ",\"_cmcp\":{\"data_class\":\"confidential\"}"
#define TOGETHER 8
#define AT_ONCE 32 /* what an upstream takes */
#define MANY 40 /* more than that */

/* A second server behind public.tool, in a folder of its own below. */
static void add_second(struct served *served, struct served *second)
{
	struct gateway_config *config = &served->rig.config;

	*second = *served;
	CU_ASSERT((size_t)snprintf(second->folder, sizeof(second->folder), "%.40s/second", served->folder) <
		  sizeof(second->folder));
	CU_ASSERT_EQUAL(mkdir(second->folder, 0700), 0);
	config->servers[1] = config->servers[0];
	config->servers_count = 2;
	config->catalog[1].server = 1;
	snprintf(config->servers[1].arguments[1], GATEWAY_ARGUMENT_BYTES, "%s", second->folder);
}

/* Waits for a process to be in a state of proc(5). */
static void await_state(pid_t pid, char wanted)
{
	int64_t guard = clock_deadline(RIG_GUARD_MS);
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state != wanted && clock_now() < guard) {
		cleanup_buf struct buf stat = BUF(RIG_TEXT_BYTES);
		cleanup_error struct error *ignored = NULL;

		if (fd_read_file(AT_FDCWD, path, RIG_TEXT_BYTES, &stat, &ignored) == 0 &&
		    strrchr(buf_string(&stat), ')'))
			state = strrchr(buf_string(&stat), ')')[2];
	}
	CU_ASSERT_EQUAL(state, wanted);
}

/* What comes in from now on is seen at once, when it goes on. */
static void hold_still(struct rig *rig)
{
	CU_ASSERT_EQUAL(child_signal(&rig->gateway, SIGSTOP), 0);
	await_state(rig->gateway.pid, 'T');
}

/* Raised by a parallel call while the first waits for its upstream's tools. */
static void test_raised_in_discovery(void)
{
	struct served second;
	struct heard heard;
	int waiting, gate;

	SERVED(served, "public");
	add_second(&served, &second);
	shut_gate(&second, "gate-list");
	rig_start(&served.rig);
	waiting = call_begin(&served, "", PUBLIC, "{}", "");
	gate = reach_gate(&second, "gate-list");
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", CONFIDENTIAL, &heard), 200);
	fd_close(&gate);
	hear_http(&waiting, &heard);
	CU_ASSERT_EQUAL(heard.status, 403);
	CU_ASSERT_EQUAL(count_lines(&second, "calls"), 0);
	CU_ASSERT(entries_are(&served, SESSION_START("public") INTENT(PERMITTED, "public>public", EMPTY)
					       ALLOWED(PERMITTED, "public>confidential",
						       EMPTY) "tool_call deny sink_policy:tool_denied public.tool "
							      "public>confidential " EMPTY " - - -\n"));
	rig_stop(&served.rig);
}

/* While the gateway stands still, an answer that raises and another call come in: the call is let in first, and its
 * intent is not yet on the disk when the answer is taken. */
static void test_raised_in_intent(void)
{
	struct reply reply;
	struct heard heard;
	int raising, gate;
	size_t turns;
	int64_t guard = clock_deadline(RIG_GUARD_MS);

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", "", &heard), 200);
	shut_gate(&served, "gate-call");
	raising = call_begin(&served, "", PERMITTED, "{}", CONFIDENTIAL);
	gate = reach_gate(&served, "gate-call");
	hold_still(&served.rig);
	turns = count_lines(&served, "turns");
	fd_close(&gate);
	while (count_lines(&served, "turns") == turns && clock_now() < guard)
		(void)poll(NULL, 0, 1);
	rig_send(&served.rig, "tools/call", "{\"name\":\"" PUBLIC "\"}", &reply);
	child_signal(&served.rig.gateway, SIGCONT);
	rig_wait(&served.rig, &reply);
	hear_http(&raising, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT(reply.outcome == MCP_ERROR && strcmp(reply.error_code, "POLICY_DENY") == 0);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 2);
	CU_ASSERT(entries_are(
		&served,
		SESSION_START("public") INTENT(PUBLIC, "public>public", EMPTY) ALLOWED(PUBLIC, "public>public", EMPTY)
			INTENT(PERMITTED, "public>public", EMPTY) INTENT(PUBLIC, "public>public", EMPTY)
				ALLOWED(PERMITTED, "public>confidential",
					EMPTY) "tool_call deny sink_policy:tool_denied public.tool "
					       "public>confidential " EMPTY " - - -\n"));
	rig_stop(&served.rig);
}

/* The upstream goes while the intent is on its way: nothing is sent, and the next call starts another. */
static void test_gone_in_intent(void)
{
	struct reply reply;
	struct heard heard;
	pid_t upstream;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	upstream = rig_upstream(&served.rig);
	CU_ASSERT(upstream > 0);
	hold_still(&served.rig);
	if (upstream > 0)
		kill(upstream, SIGKILL);
	await_state(upstream, 'Z');
	rig_send(&served.rig, "tools/call", "{\"name\":\"" PERMITTED "\"}", &reply);
	child_signal(&served.rig.gateway, SIGCONT);
	rig_wait(&served.rig, &reply);
	CU_ASSERT(reply.outcome == MCP_ERROR && strcmp(reply.error_code, "UPSTREAM_UNAVAILABLE") == 0);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 2);
	CU_ASSERT(entries_are(&served, SESSION_START("public") INTENT(PERMITTED, "public>public",
								      EMPTY) ALLOWED(PERMITTED, "public>public", EMPTY)
					       INTENT(PERMITTED, "public>public",
						      EMPTY) "fault fault upstream:"
							     "UPSTREAM_UNAVAILABLE "
							     "permitted.tool public>public " EMPTY
							     " - - none\n" INTENT(PERMITTED, "public>public", EMPTY)
								     ALLOWED(PERMITTED, "public>public", EMPTY)));
	rig_stop(&served.rig);
}

/* ---- reset and close ---- */

static void post_session(const struct served *served, const char *verb, struct heard *out)
{
	char line[128], id[NAME_MAX_SHORT + 1];

	session_of(served, id);
	snprintf(line, sizeof(line), "POST /sessions/%s/%s", id, verb);
	http(served->port, line, "", "", out);
}

/* The call under way keeps the floor that it entered with, and is no business of the session behind. */
static void test_reset(void)
{
	char old[NAME_MAX_SHORT + 1], id[NAME_MAX_SHORT + 1];
	struct heard heard;
	int under_way, late, gate;
	pid_t upstream;

	SERVED(served, "public");
	snprintf(served.rig.config.sink_policy.response, NAME_MAX_SHORT, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", CONFIDENTIAL, &heard), 403);
	session_of(&served, old);
	shut_gate(&served, "gate-call");
	under_way = call_begin(&served, "", PERMITTED, "{}", "");
	gate = reach_gate(&served, "gate-call");
	post_session(&served, "reset", &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT_STRING_EQUAL(member_of(&heard, "old_session_id", id), old);
	CU_ASSERT_STRING_EQUAL(member_of(&heard, "closed_session_max_sensitivity", id), "confidential");
	session_of(&served, id);
	CU_ASSERT_STRING_NOT_EQUAL(id, old);
	/* The upstream is busy: who comes now waits for the list that it is asked for. */
	upstream = rig_upstream(&served.rig);
	late = call_begin(&served, "", PUBLIC, "{}", "");
	http(served.port, "GET /health", "", "", &heard);
	CU_ASSERT(recv(late, heard.bytes, 1, MSG_DONTWAIT) < 0);
	fd_close(&gate);
	hear_http(&under_way, &heard);
	CU_ASSERT_EQUAL(heard.status, 403);
	hear_http(&late, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT(upstream > 0 && rig_upstream(&served.rig) == upstream);
	CU_ASSERT(entries_are(&served, SESSION_START("public") INTENT(
					       PERMITTED, "public>public",
					       EMPTY) "egress_denied deny sink_policy:response_denied permitted.tool "
						      "public>confidential " EMPTY " - - -\n" INTENT(
							      PERMITTED, "confidential>confidential",
							      EMPTY) "session_reset n/a - - ->public "
								     "- - n/a -\n"
								     "egress_denied deny sink_policy:response_denied "
								     "permitted.tool confidential>confidential " EMPTY
								     " - - -\n" INTENT(PUBLIC, "public>public", EMPTY)
									     ALLOWED(PUBLIC, "public>public", EMPTY)));
	/* The old session is none that could be reset or closed again. */
	{
		char line[128];

		snprintf(line, sizeof(line), "POST /sessions/%s/reset", old);
		http(served.port, line, "", "", &heard);
		CU_ASSERT_EQUAL(heard.status, 404);
	}
	rig_stop(&served.rig);
}

/* Two calls wait for the same list: drift is written down once. A session behind a reset looks at it anew. */
static void test_drift_together(void)
{
	cleanup_buf struct buf count = BUF(SERVED_BYTES);
	struct heard heard;
	int one, two, gate;

	SERVED(served, "public");
	put_file(&served, "list", "{\"tools\":[]}");
	shut_gate(&served, "gate-list");
	rig_start(&served.rig);
	one = call_begin(&served, "", PERMITTED, "{}", "");
	gate = reach_gate(&served, "gate-list");
	two = call_begin(&served, "", PUBLIC, "{}", "");
	for (int i = 0; i < 2; i++)
		http(served.port, "GET /health", "", "", &heard);
	fd_close(&gate);
	hear_http(&one, &heard);
	CU_ASSERT_EQUAL(heard.status, 503);
	hear_http(&two, &heard);
	CU_ASSERT_EQUAL(heard.status, 503);
	ask_chain(&served, "SELECT count(*) FROM audit_entries WHERE entry_type = 'catalog_drift'", &count);
	CU_ASSERT_STRING_EQUAL(buf_string(&count), "2\n");
	put_file(&served, "list", BOTH_TOOLS);
	post_session(&served, "reset", &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	/* And the other way round. */
	put_file(&served, "list", "{\"tools\":[]}");
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	post_session(&served, "reset", &heard);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 503);
	rig_stop(&served.rig);
}

static int begin_post(const struct served *served, const char *id, const char *verb)
{
	char line[128];
	int fd = dial(served->port);

	snprintf(line, sizeof(line), "POST /sessions/%s/%s", id, verb);
	say_http(fd, line, "", "");
	return fd;
}

static void test_close(void)
{
	char id[NAME_MAX_SHORT + 1];
	struct heard heard;
	int under_way, closing, late, gate;
	pid_t upstream;

	SERVED(served, "public");
	rig_start(&served.rig);
	shut_gate(&served, "gate-call");
	under_way = call_begin(&served, "", PERMITTED, "{}", CONFIDENTIAL);
	gate = reach_gate(&served, "gate-call");
	upstream = rig_upstream(&served.rig);
	session_of(&served, id);
	closing = begin_post(&served, id, "close");
	/* Two round trips behind it, it has been taken. */
	for (int i = 0; i < 2; i++)
		http(served.port, "GET /health", "", "", &heard);
	late = begin_post(&served, id, "close");
	hear_http(&late, &heard);
	CU_ASSERT_EQUAL(heard.status, 409);
	late = begin_post(&served, id, "reset");
	hear_http(&late, &heard);
	CU_ASSERT_EQUAL(heard.status, 409);
	late = call_begin(&served, "", PUBLIC, "{}", "");
	/* It waits: nothing of it is heard while the gateway answers others. */
	http(served.port, "GET /health", "", "", &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT(recv(late, heard.bytes, 1, MSG_DONTWAIT) < 0);
	fd_close(&gate);
	hear_http(&under_way, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	hear_http(&closing, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT_STRING_EQUAL(heard.body, "{\"status\":\"closed\"}");
	CU_ASSERT(upstream > 0 && kill(upstream, 0) < 0 && errno == ESRCH);
	/* In the new session, which is public again. */
	hear_http(&late, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	CU_ASSERT(entries_are(&served, SESSION_START("public") INTENT(PERMITTED, "public>public", EMPTY)
					       ALLOWED(PERMITTED, "public>confidential",
						       EMPTY) "session_end n/a - - ->confidential - - n/a "
							      "-\n" SESSION_START("public")
								      INTENT(PUBLIC, "public>public", EMPTY)
									      ALLOWED(PUBLIC, "public>public", EMPTY)));
	rig_stop(&served.rig);
}

/* Its only call is cancelled: the close is told all the same. */
static void test_close_after_cancel(void)
{
	char id[NAME_MAX_SHORT + 1];
	struct heard heard;
	int under_way, closing, gate;

	SERVED(served, "public");
	shut_gate(&served, "gate-list");
	rig_start(&served.rig);
	session_of(&served, id);
	under_way = call_begin(&served, "", PERMITTED, "{}", "");
	gate = reach_gate(&served, "gate-list");
	closing = begin_post(&served, id, "close");
	fd_close(&under_way);
	hear_http(&closing, &heard);
	CU_ASSERT_EQUAL(heard.status, 200);
	fd_close(&gate);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 0);
	CU_ASSERT(await_entries(&served, "session_end", 1));
	rig_stop(&served.rig);
}

/* ---- together, and cancelled ---- */

/* Transactions in the database's log: frames that say how large the database is behind them. */
static size_t count_commits(const struct served *served)
{
	cleanup_buf struct buf log = BUF(16 * MIB);
	const unsigned char *bytes;
	size_t count = 0, page;

	CU_ASSERT(read_file(served->folder, "audit.db-wal", &log));
	bytes = (const unsigned char *)log.data;
	page = log.length > 32 ? ((size_t)bytes[10] << 8) + bytes[11] : 0;
	for (size_t at = 32; page && at + 24 + page <= log.length; at += 24 + page)
		count += bytes[at + 4] || bytes[at + 5] || bytes[at + 6] || bytes[at + 7];
	return count;
}

/* What came in together is written together: the intents in one transaction, which is one sync. */
static void test_together(void)
{
	cleanup_buf struct buf order = BUF(SERVED_BYTES);
	struct reply replies[TOGETHER];
	struct heard heard;
	size_t before, after;
	int gate;

	SERVED(served, "public");
	rig_start(&served.rig);
	CU_ASSERT_EQUAL(call_over_http(&served, PERMITTED, "{}", "", &heard), 200);
	shut_gate(&served, "gate-call");
	before = count_commits(&served);
	hold_still(&served.rig);
	for (int i = 0; i < TOGETHER; i++) {
		char params[128];

		snprintf(params, sizeof(params), "{\"name\":\"" PERMITTED "\",\"arguments\":{\"n\":%d}}", i);
		rig_send(&served.rig, "tools/call", params, &replies[i]);
	}
	child_signal(&served.rig.gateway, SIGCONT);
	gate = reach_gate(&served, "gate-call");
	after = count_commits(&served);
	fd_close(&gate);
	CU_ASSERT_EQUAL(after - before, 1);
	for (int i = 0; i < TOGETHER; i++) {
		rig_wait(&served.rig, &replies[i]);
		CU_ASSERT_EQUAL(replies[i].outcome, MCP_RESULT);
	}
	ask_chain(&served,
		  "SELECT group_concat(substr(entry_type,6,1),'') FROM (SELECT entry_type FROM audit_entries "
		  "WHERE entry_type IN ('call_intent','tool_call') ORDER BY rowid)",
		  &order);
	CU_ASSERT_STRING_EQUAL(buf_string(&order), "iciiiiiiiicccccccc\n");
	/* In the order in which they came. */
	{
		cleanup_buf struct buf calls = BUF(SERVED_BYTES);
		const char *at;

		CU_ASSERT(read_file(served.folder, "calls", &calls));
		at = buf_string(&calls);
		for (int i = 0; i < TOGETHER && at; i++) {
			char part[24];

			snprintf(part, sizeof(part), "{\"n\":%d}", i);
			at = strstr(at, part);
		}
		CU_ASSERT_PTR_NOT_NULL(at);
	}
	rig_stop(&served.rig);
}

/* Those that an upstream does not take at once wait for their turn. */
static void test_many(void)
{
	int calls[MANY], gate, raised = 0;
	struct heard heard;

	SERVED(served, "public");
	shut_gate(&served, "gate-call");
	rig_start(&served.rig);
	for (int i = 0; i < MANY; i++)
		calls[i] = call_begin(&served, "", PUBLIC, "{}", "");
	gate = reach_gate(&served, "gate-call");
	CU_ASSERT(await_entries(&served, "call_intent", MANY));
	fd_close(&gate);
	for (int i = 0; i < MANY; i++) {
		hear_http(&calls[i], &heard);
		raised += heard.status == 200;
	}
	CU_ASSERT_EQUAL(raised, MANY);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), MANY);
	rig_stop(&served.rig);
}

/* A call that waits its turn behind others is asked again when that comes: they may have raised the session. */
static void test_raised_in_queue(void)
{
	int calls[AT_ONCE], last, gate;
	struct heard heard;

	SERVED(served, "public");
	shut_gate(&served, "gate-call");
	rig_start(&served.rig);
	for (int i = 0; i < AT_ONCE; i++)
		calls[i] = call_begin(&served, "", PERMITTED, "{}", CONFIDENTIAL);
	CU_ASSERT(await_entries(&served, "call_intent", AT_ONCE));
	gate = reach_gate(&served, "gate-call");
	last = call_begin(&served, "", PUBLIC, "{}", "");
	CU_ASSERT(await_entries(&served, "call_intent", AT_ONCE + 1));
	fd_close(&gate);
	for (int i = 0; i < AT_ONCE; i++) {
		hear_http(&calls[i], &heard);
		CU_ASSERT_EQUAL(heard.status, 200);
	}
	hear_http(&last, &heard);
	CU_ASSERT_EQUAL(heard.status, 403);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), AT_ONCE);
	rig_stop(&served.rig);
}

static void test_cancelled_before(void)
{
	struct heard heard;
	int gone, gate;

	SERVED(served, "public");
	shut_gate(&served, "gate-list");
	rig_start(&served.rig);
	gone = call_begin(&served, "", PERMITTED, "{}", "");
	gate = reach_gate(&served, "gate-list");
	fd_close(&gone);
	CU_ASSERT(await_entries(&served, "fault", 1));
	fd_close(&gate);
	CU_ASSERT_EQUAL(call_over_http(&served, PUBLIC, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(count_lines(&served, "calls"), 1);
	CU_ASSERT(entries_are(&served,
			      SESSION_START("public") "fault fault caller_gone permitted.tool public>public " EMPTY
						      " - - none\n" INTENT(PUBLIC, "public>public", EMPTY)
							      ALLOWED(PUBLIC, "public>public", EMPTY)));
	rig_stop(&served.rig);
}

static void test_cancelled_after(void)
{
	int gone, gate;

	SERVED(served, "public");
	shut_gate(&served, "gate-call");
	rig_start(&served.rig);
	gone = call_begin(&served, "", PERMITTED, "{}", CONFIDENTIAL);
	gate = reach_gate(&served, "gate-call");
	fd_close(&gone);
	fd_close(&gate);
	CU_ASSERT(await_entries(&served, "tool_call", 1));
	CU_ASSERT(entries_are(&served, SESSION_START("public") INTENT(PERMITTED, "public>public", EMPTY)
					       ALLOWED(PERMITTED, "public>confidential", EMPTY)));
	rig_stop(&served.rig);
}

/* A number says as much as an answer: it comes only where that may. */
static void test_progress(void)
{
	static const char *const ceilings[] = { "public", "confidential" };

	for (size_t i = 0; i < 2; i++) {
		struct heard heard;
		int fd;

		SERVED(served, "public");
		snprintf(served.rig.config.sink_policy.response, NAME_MAX_SHORT, "%s", ceilings[i]);
		snprintf(served.rig.config.catalog[0].sensitivity, NAME_MAX_SHORT, "confidential");
		rig_start(&served.rig);
		fd = call_begin(&served, "Accept: application/json, text/event-stream\r\n", PERMITTED, "{}",
				",\"_meta\":{\"progressToken\":\"t\"}");
		hear_http(&fd, &heard);
		CU_ASSERT_EQUAL(strstr(heard.body, "notifications/progress") != NULL, i == 1);
		CU_ASSERT_EQUAL(strstr(heard.body, "played") != NULL, i == 1);
		rig_stop(&served.rig);
	}
}

static CU_TestInfo tests[] = {
	{ "raised during discovery", test_raised_in_discovery },
	{ "raised while the intent is written", test_raised_in_intent },
	{ "gone while the intent is written", test_gone_in_intent },
	{ "reset while a call is under way", test_reset },
	{ "drift, together and behind a reset", test_drift_together },
	{ "closed while a call is under way", test_close },
	{ "closed while its only call is cancelled", test_close_after_cancel },
	{ "what comes together is synced together", test_together },
	{ "more than the upstream takes at once", test_many },
	{ "raised while a call waits its turn", test_raised_in_queue },
	{ "cancelled before it goes out", test_cancelled_before },
	{ "cancelled after it went out", test_cancelled_after },
	{ "progress", test_progress },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_session", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--upstream") == 0)
		return play(argv[2]);
	return test_main("gateway_session", suites);
}
