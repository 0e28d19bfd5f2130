/* MCP over HTTP: clients in numbers, and what all of them together can make us keep. */
#include <sys/resource.h>

#include "tests/unit/mcp_http_rig.h"

#define CONNECTIONS 1200 /* more than are let in at once */

/* Many bodies that are almost there: beyond what we hold for all of them the next is refused. */
static void test_bodies_together(void)
{
	enum { CLIENTS = 45, PART = 900000 };
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
	/* 32 MiB is the most: 37 of these. No body is held once it was decoded. */
	CU_ASSERT_EQUAL(refused, CLIENTS - 37);
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

static void close_all(struct rig *rig, int *fds, int count)
{
	for (int i = 0; i < count; i++)
		fd_close(&fds[i]);
	turn(rig, 50);
}

/* More at once than are let in: each that asks is answered in its turn. They come in waves that the kernel's queue
 * holds, each with its request. */
static void test_at_once(void)
{
	enum { WAVE = 400 };
	static const char request[] =
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n" CALL(1, "echo");
	static int fds[CONNECTIONS];
	size_t before = resident();
	int answered = 0;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = dial(&rig);
		CU_ASSERT_EQUAL(send(fds[i], request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
		if (i % WAVE == WAVE - 1)
			settle(&rig);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		hear(&rig, fds[i], &reply);
		answered += reply.status == 200;
		fd_close(&fds[i]);
	}
	CU_ASSERT_EQUAL(answered, CONNECTIONS);
	CU_ASSERT_EQUAL(rig.runs, CONNECTIONS);
	CU_ASSERT(resident() < before + 64 * KIB);
	check_served(&rig);
}

/* Silent ones hold up a new one for a moment, no longer. */
static void test_silent(void)
{
	enum { SILENT = 600 };
	static int fds[SILENT];
	size_t before = resident();
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (int i = 0; i < SILENT; i++)
		fds[i] = dial(&rig);
	turn(&rig, 0);
	post(&rig, "", CALL(1, "echo"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(resident() < before + 64 * KIB);
	close_all(&rig, fds, SILENT);
	check_served(&rig);
}

static CU_TestInfo tests[] = {
	{ "bodies have a maximum together", test_bodies_together },
	{ "10,000 connections, one after the other", test_one_after_the_other },
	{ "1,200 connections that ask at once", test_at_once },
	{ "600 connections that are silent", test_silent },
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
