#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000

struct pair {
	int one, other; /* of a pipe: the reading end, the writing end */
};

static void pair_close(struct pair *pair)
{
	fd_close(&pair->one);
	fd_close(&pair->other);
}
#define cleanup_pair __attribute__((cleanup(pair_close)))

static void pair_pipe(struct pair *pair)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&pair->one, &pair->other, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void pair_packets(struct pair *pair)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_seqpacket(&pair->one, &pair->other, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void pair_stream(struct pair *pair)
{
	int ends[2] = { -1, -1 };

	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	pair->one = ends[0];
	pair->other = ends[1];
}

static bool closes_on_exec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && flags & FD_CLOEXEC;
}

/* The lowest free number: the same before and after where nothing leaked. */
static int lowest_free(void)
{
	cleanup_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return fd;
}

static void test_close(void)
{
	cleanup_pair struct pair pipe = { -1, -1 };
	int number;

	pair_pipe(&pipe);
	number = pipe.one;
	errno = E2BIG;
	fd_close(&pipe.one);
	CU_ASSERT_EQUAL(pipe.one, -1);
	CU_ASSERT_EQUAL(errno, E2BIG);
	CU_ASSERT_EQUAL(fcntl(number, F_GETFD), -1);
	fd_close(&pipe.one);
	number = steal_fd(&pipe.other);
	CU_ASSERT_EQUAL(pipe.other, -1);
	fd_close(&number);
}

static void test_made(void)
{
	cleanup_pair struct pair pipe = { -1, -1 };
	cleanup_pair struct pair packets = { -1, -1 };

	pair_pipe(&pipe);
	pair_packets(&packets);
	CU_ASSERT(closes_on_exec(pipe.one) && closes_on_exec(pipe.other));
	CU_ASSERT(closes_on_exec(packets.one) && closes_on_exec(packets.other));
}

static void test_same(void)
{
	cleanup_fd int one = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup_fd int again = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup_fd int other = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	CU_ASSERT(one >= 0 && again >= 0 && other >= 0);
	CU_ASSERT(fd_same(one, again));
	CU_ASSERT(!fd_same(one, other));
	CU_ASSERT(!fd_same(one, -1) && !fd_same(-1, one) && !fd_same(-1, -1));
}

static void test_nonblocking(void)
{
	cleanup_pair struct pair pipe = { -1, -1 };
	struct error *err = NULL;

	pair_pipe(&pipe);
	CU_ASSERT_EQUAL(fd_nonblocking(pipe.one, true, &err), 0);
	CU_ASSERT(fcntl(pipe.one, F_GETFL) & O_NONBLOCK);
	CU_ASSERT_EQUAL(fd_nonblocking(pipe.one, false, &err), 0);
	CU_ASSERT(!(fcntl(pipe.one, F_GETFL) & O_NONBLOCK));
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(fd_nonblocking(-1, true, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "flags"));
}

static void test_wait(void)
{
	cleanup_pair struct pair pipe = { -1, -1 };
	struct error *err = NULL;
	int64_t start = clock_now();

	pair_pipe(&pipe);
	CU_ASSERT_EQUAL(fd_wait(pipe.other, POLLOUT, NEVER, &err), 1);
	CU_ASSERT_EQUAL(fd_wait(pipe.other, POLLOUT, 0, &err), 1);
	CU_ASSERT_EQUAL(fd_wait(pipe.one, POLLIN, 0, &err), 0);
	CU_ASSERT_EQUAL(fd_wait(pipe.one, POLLIN, clock_deadline(20), &err), 0);
	CU_ASSERT(clock_now() - start >= 20 * NS_PER_MS);
	fd_close(&pipe.other);
	CU_ASSERT_EQUAL(fd_wait(pipe.one, POLLIN, NEVER, &err), 1);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(fd_wait(9999, POLLIN, NEVER, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "Bad file descriptor"));
}

/* A program counts what a pipe took, blocking or not; both need more than the pipe's room. */
static void test_write_all(void)
{
	char *const argv[] = { (char[]){ "wc" }, (char[]){ "-c" }, NULL };
	static char bytes[3 * MIB];

	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		cleanup_pair struct pair in = { -1, -1 };
		cleanup_pair struct pair out = { -1, -1 };
		cleanup_child struct child child = CHILD_NONE;
		cleanup_buf struct buf text = BUF(64);
		struct spawn_options options = { SPAWN_DEFAULTS, .path = "/usr/bin/wc", .argv = argv };
		struct error *err = NULL;

		pair_pipe(&in);
		pair_pipe(&out);
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = in.one, .to = 0 };
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = out.other, .to = 1 };
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		fd_close(&in.one);
		fd_close(&out.other);
		CU_ASSERT_EQUAL(fd_nonblocking(in.other, nonblocking, &err), 0);
		CU_ASSERT_EQUAL(fd_write_all(in.other, bytes, sizeof(bytes), clock_deadline(GUARD_MS), &err), 0);
		fd_close(&in.other);
		CU_ASSERT_EQUAL(fd_read_all(out.one, &text, clock_deadline(GUARD_MS), &err), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&text), "3145728\n");
		CU_ASSERT(test_no_error(&err));
	}
}

/* Nobody reads: a blocking descriptor must not hold the writer either. */
static void test_write_timeout(void)
{
	static const char bytes[MIB];

	for (int kind = 0; kind < 4; kind++) {
		cleanup_pair struct pair pair = { -1, -1 };
		struct error *err = NULL;
		int64_t start = clock_now();

		if (kind < 2)
			pair_pipe(&pair);
		else
			pair_stream(&pair);
		CU_ASSERT_EQUAL(fd_nonblocking(pair.other, kind % 2, &err), 0);
		CU_ASSERT(fd_write_all(pair.other, bytes, sizeof(bytes), clock_deadline(20), &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "writing"));
		CU_ASSERT(clock_now() - start < GUARD_MS * NS_PER_MS);
	}
}

static void test_write_closed(void)
{
	for (int kind = 0; kind < 2; kind++) {
		cleanup_pair struct pair pair = { -1, -1 };
		struct error *err = NULL;

		if (kind == 0)
			pair_pipe(&pair);
		else
			pair_stream(&pair);
		fd_close(&pair.one);
		CU_ASSERT(fd_write_all(pair.other, "a", 1, NEVER, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_CLOSED, "peer"));
	}
}

static void test_read_exact(void)
{
	cleanup_pair struct pair pipe = { -1, -1 };
	struct error *err = NULL;
	char out[8] = "";

	pair_pipe(&pipe);
	CU_ASSERT_EQUAL(fd_write_all(pipe.other, "abcdef", 6, NEVER, &err), 0);
	CU_ASSERT_EQUAL(fd_read_exact(pipe.one, out, 3, NEVER, &err), 0);
	CU_ASSERT_EQUAL(memcmp(out, "abc", 3), 0);
	CU_ASSERT_EQUAL(fd_read_exact(pipe.one, out, 0, 0, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(fd_read_exact(pipe.one, out, 4, clock_deadline(10), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "reading"));
	CU_ASSERT_EQUAL(memcmp(out, "def", 3), 0);
	CU_ASSERT_EQUAL(fd_write_all(pipe.other, "g", 1, NEVER, &err), 0);
	fd_close(&pipe.other);
	CU_ASSERT(fd_read_exact(pipe.one, out, 2, NEVER, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_CLOSED, "peer"));
}

static void test_read_all(void)
{
	for (int excess = 0; excess < 2; excess++) {
		cleanup_pair struct pair pipe = { -1, -1 };
		cleanup_buf struct buf out = BUF(6);
		struct error *err = NULL;

		pair_pipe(&pipe);
		CU_ASSERT_EQUAL(fd_write_all(pipe.other, "abcdef!", 6 + (size_t)excess, NEVER, &err), 0);
		if (!excess) {
			CU_ASSERT(fd_read_all(pipe.one, &out, clock_deadline(10), &err) < 0);
			CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "reading"));
		}
		fd_close(&pipe.other);
		CU_ASSERT_EQUAL(fd_read_all(pipe.one, &out, NEVER, &err), excess ? -ERROR_LIMIT : 0);
		CU_ASSERT(excess ? test_error(&err, ERROR_LIMIT, "6 bytes") : test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), "abcdef");
	}
}

static void test_pass(void)
{
	cleanup_pair struct pair packets = { -1, -1 };
	cleanup_pair struct pair pipe = { -1, -1 };
	struct error *err = NULL;
	int fds[FD_PASS_MAX] = { -1, -1, -1, -1 };
	int sent[FD_PASS_MAX];
	size_t count = FD_PASS_MAX;
	char out[8];

	pair_packets(&packets);
	pair_pipe(&pipe);
	for (size_t i = 0; i < FD_PASS_MAX; i++)
		sent[i] = pipe.other;
	CU_ASSERT_EQUAL(fd_send(packets.one, "abc", 3, sent, FD_PASS_MAX, clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(fd_receive(packets.other, out, sizeof(out), fds, &count, NEVER, &err), 3);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(out, "abc", 3), 0);
	CU_ASSERT_EQUAL(count, FD_PASS_MAX);
	for (size_t i = 0; i < FD_PASS_MAX; i++) {
		CU_ASSERT(closes_on_exec(fds[i]));
		CU_ASSERT_EQUAL(write(fds[i], "x", 1), 1);
		fd_close(&fds[i]);
	}
	CU_ASSERT_EQUAL(fd_read_exact(pipe.one, out, FD_PASS_MAX, clock_deadline(GUARD_MS), &err), 0);
	/* Without descriptors, into no room for them. */
	CU_ASSERT_EQUAL(fd_send(packets.other, "de", 2, NULL, 0, NEVER, &err), 0);
	CU_ASSERT_EQUAL(fd_receive(packets.one, out, sizeof(out), NULL, NULL, NEVER, &err), 2);
	CU_ASSERT(test_no_error(&err));
}

/* Whatever does not fit is a broken protocol, and no descriptor of it stays open. */
static void test_pass_too_much(void)
{
	static const struct {
		size_t length, size, sent, room;
	} rows[] = {
		{ .length = 9, .size = 8, .sent = 0, .room = 2 }, { .length = 9, .size = 8, .sent = 2, .room = 2 },
		{ .length = 8, .size = 8, .sent = 2, .room = 1 }, { .length = 8, .size = 8, .sent = 1, .room = 0 },
		{ .length = 8, .size = 8, .sent = 4, .room = 3 },
	};
	static const char bytes[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_pair struct pair packets = { -1, -1 };
		int fds[FD_PASS_MAX], sent[FD_PASS_MAX], before;
		size_t count = rows[i].room;
		struct error *err = NULL;
		char out[16];

		pair_packets(&packets);
		for (size_t k = 0; k < FD_PASS_MAX; k++)
			sent[k] = packets.one;
		CU_ASSERT_EQUAL(fd_send(packets.one, bytes, rows[i].length, sent, rows[i].sent, NEVER, &err), 0);
		before = lowest_free();
		CU_ASSERT(fd_receive(packets.other, out, rows[i].size, fds, &count, NEVER, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "room"));
		CU_ASSERT_EQUAL(count, 0);
		CU_ASSERT_EQUAL(lowest_free(), before);
	}
}

static void test_send_wrong(void)
{
	cleanup_pair struct pair packets = { -1, -1 };
	struct error *err = NULL;
	int fds[FD_PASS_MAX + 1] = { 0 };

	pair_packets(&packets);
	CU_ASSERT(fd_send(packets.one, "", 0, NULL, 0, NEVER, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "message"));
	CU_ASSERT(fd_send(packets.one, "a", 1, fds, FD_PASS_MAX + 1, NEVER, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "message"));
	fd_close(&packets.other);
	CU_ASSERT(fd_send(packets.one, "a", 1, NULL, 0, NEVER, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_CLOSED, "peer"));
}

static void test_receive_end(void)
{
	cleanup_pair struct pair packets = { -1, -1 };
	struct error *err = NULL;
	size_t count = 0;
	char out[8];

	pair_packets(&packets);
	CU_ASSERT(fd_receive(packets.one, out, sizeof(out), NULL, &count, clock_deadline(10), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "receiving"));
	fd_close(&packets.other);
	CU_ASSERT_EQUAL(fd_receive(packets.one, out, sizeof(out), NULL, &count, NEVER, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_send_timeout(void)
{
	cleanup_pair struct pair packets = { -1, -1 };
	static const char bytes[8 * KIB];
	struct error *err = NULL;
	int r = 0;

	pair_packets(&packets);
	for (int i = 0; i < 1000 && r == 0; i++)
		r = fd_send(packets.one, bytes, sizeof(bytes), NULL, 0, clock_deadline(20), &err);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "sending"));
}

static CU_TestInfo basic_tests[] = {
	{ "close", test_close }, { "pipe, seqpacket", test_made },
	{ "same", test_same },   { "nonblocking", test_nonblocking },
	{ "wait", test_wait },   CU_TEST_INFO_NULL,
};

static CU_TestInfo io_tests[] = {
	{ "write all", test_write_all },        { "write: deadline", test_write_timeout },
	{ "write: closed", test_write_closed }, { "read exact", test_read_exact },
	{ "read all", test_read_all },          CU_TEST_INFO_NULL,
};

static CU_TestInfo pass_tests[] = {
	{ "pass descriptors", test_pass },
	{ "more than the room", test_pass_too_much },
	{ "send: refused", test_send_wrong },
	{ "send: deadline", test_send_timeout },
	{ "receive: deadline, end", test_receive_end },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "descriptors", .pTests = basic_tests },
	{ .pName = "io", .pTests = io_tests },
	{ .pName = "passing", .pTests = pass_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("fd", suites);
}
