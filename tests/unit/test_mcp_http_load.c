/* MCP over HTTP: clients in numbers, and what all of them together can make us keep. */
#include <sys/resource.h>

#include "tests/unit/mcp_http_rig.h"

#define CONNECTIONS 1200 /* more than are let in at once */

/* A flood of notifications to a client that does not read is dropped, and the answer still comes. */
static void test_stream_unread(void)
{
	enum { NOTICES = 60000 };
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;
	size_t before;

	rig_start(&rig, DEFAULTS);
	fd = keep_one(&rig, "Accept: text/event-stream\r\n");
	before = resident();
	for (int i = 0; i < NOTICES; i++) {
		mcp_request_notify(
			rig.kept[0], "notifications/progress",
			span("{\"message\":\"0123456789012345678901234567890123456789012345678901234567890123456789"
			     "0123456789012345678901234567890123456789012345678901234567890123456789\"}"));
		if (i % 100 == 0)
			turn(&rig, 0);
	}
	CU_ASSERT(resident() < before + 4 * KIB);
	mcp_request_result(rig.kept[0], span("\"the end\""));
	hear(&rig, fd, &reply);
	CU_ASSERT(holds(&reply, "\"result\":\"the end\"}\n\n"));
	/* Of 13 MB the sockets took a part. */
	CU_ASSERT(reply.bytes.length < 10 * MIB);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
}

/* Many bodies that are almost there: beyond what we hold for all of them the next is refused. */
static void test_bodies_together(void)
{
	enum { CLIENTS = 90, PART = 900000 };
	static const char head[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
	cleanup_free char *part = spaces(PART, "", "");
	int fds[CLIENTS], refused = 0;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = dial(&rig);
		CU_ASSERT(put_text(&rig, fds[i], head));
		CU_ASSERT(put(&rig, fds[i], part, PART));
	}
	turn(&rig, 50);
	for (int i = 0; i < CLIENTS; i++) {
		CU_ASSERT(put(&rig, fds[i], part, 100000));
		hear(&rig, fds[i], &reply);
		CU_ASSERT(reply.status == 400 || reply.status == 503);
		refused += reply.status == 503;
		fd_close(&fds[i]);
	}
	/* 64 MiB is the most, and no body is held once it was decoded. */
	CU_ASSERT(refused >= CLIENTS - 75 && refused < CLIENTS - 60);
	check_served(&rig);
}

static void test_one_after_the_other(void)
{
	enum { ROUNDS = 10000 };
	size_t before = 0;
	RIG(rig);

	rig_start(&rig, DEFAULTS);
	for (int i = 0; i < ROUNDS; i++) {
		cleanup_fd int fd = dial(&rig);

		/* Some say nothing, some leave in the middle, some are served. */
		if (i % 10 == 1)
			put_text(&rig, fd, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
		else if (i % 10 == 2)
			check_served(&rig);
		else
			turn(&rig, 0);
		if (i == ROUNDS / 10)
			before = resident();
	}
	settle(&rig);
	CU_ASSERT(resident() < before + 4 * KIB);
	CU_ASSERT_EQUAL(rig.runs, ROUNDS / 10);
}

static void dial_all(struct rig *rig, int *fds, int count)
{
	for (int i = 0; i < count; i++)
		fds[i] = dial(rig);
}

static void close_all(struct rig *rig, int *fds, int count)
{
	for (int i = 0; i < count; i++)
		fd_close(&fds[i]);
	turn(rig, 50);
}

/* More at once than are let in: each that asks is answered in its turn. */
static void test_at_once(void)
{
	static int fds[CONNECTIONS];
	size_t before = resident();
	int answered = 0;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	dial_all(&rig, fds, CONNECTIONS);
	for (int i = 0; i < CONNECTIONS; i++)
		CU_ASSERT(ask(&rig, fds[i], "POST /mcp", i % 2 ? "" : "Connection: close\r\n", CALL(1, "echo")));
	for (int i = 0; i < CONNECTIONS; i++) {
		hear(&rig, fds[i], &reply);
		answered += reply.status == 200;
	}
	CU_ASSERT_EQUAL(answered, CONNECTIONS);
	CU_ASSERT_EQUAL(rig.runs, CONNECTIONS);
	CU_ASSERT(resident() < before + 64 * KIB);
	close_all(&rig, fds, CONNECTIONS);
	check_served(&rig);
}

/* Silent ones hold up a new one for a moment, no longer. */
static void test_silent(void)
{
	static int fds[CONNECTIONS];
	size_t before = resident();
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	dial_all(&rig, fds, CONNECTIONS);
	turn(&rig, 0);
	post(&rig, "", CALL(1, "echo"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(resident() < before + 64 * KIB);
	close_all(&rig, fds, CONNECTIONS);
	check_served(&rig);
}

static CU_TestInfo tests[] = {
	{ "notifications that nobody reads", test_stream_unread },
	{ "bodies have a maximum together", test_bodies_together },
	{ "10,000 connections, one after the other", test_one_after_the_other },
	{ "1,200 connections that ask at once", test_at_once },
	{ "1,200 connections that are silent", test_silent },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_http_load", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	struct rlimit files;

	/* Both ends of every connection are ours. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return test_main("mcp_http_load", suites);
}
