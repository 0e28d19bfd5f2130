#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/loop.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000
#define WATCHES_MAX 64

/* What the callbacks share with a test. */
struct seen {
	struct loop *loop;
	int calls;
	int result; /* what the callback returns */
	short revents;
	int signal;
	int other; /* a descriptor that a callback acts on */
	char order[16];
	size_t order_length;
};

struct pipe {
	int reader, writer;
};

static void pipe_open(struct pipe *pipe)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&pipe->reader, &pipe->writer, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void pipe_close(struct pipe *pipe)
{
	fd_close(&pipe->reader);
	fd_close(&pipe->writer);
}
#define cleanup_pipe __attribute__((cleanup(pipe_close)))

static struct loop *new_loop(void)
{
	struct loop *loop = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(loop_new(&loop, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return loop;
}

static int on_fd(void *context, int fd, short revents, struct error **err)
{
	struct seen *seen = context;
	char byte;

	(void)err;
	seen->calls++;
	seen->revents = revents;
	if (revents & POLLIN)
		CU_ASSERT_EQUAL(read(fd, &byte, 1), 1);
	return seen->result;
}

static int on_fd_error(void *context, int fd, short revents, struct error **err)
{
	(void)context;
	(void)fd;
	(void)revents;
	return error_set(err, ERROR_PROTOCOL, "said the callback");
}

static void watch(struct loop *loop, int fd, short events, loop_fd_callback callback, void *context)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(loop_fd(loop, fd, events, callback, context, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static int run(struct loop *loop, int64_t milliseconds)
{
	struct error *err = NULL;
	int result = loop_run(loop, clock_deadline(milliseconds), &err);

	CU_ASSERT(test_no_error(&err));
	return result;
}

static void test_descriptor(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe pipe = { -1, -1 };
	struct seen seen = { .result = 7 };

	pipe_open(&pipe);
	watch(loop, pipe.reader, POLLIN, on_fd, &seen);
	CU_ASSERT_EQUAL(run(loop, 10), 0);
	CU_ASSERT_EQUAL(seen.calls, 0);
	CU_ASSERT_EQUAL(write(pipe.writer, "ab", 2), 2);
	CU_ASSERT_EQUAL(run(loop, GUARD_MS), 7);
	CU_ASSERT_EQUAL(seen.calls, 1);
	seen.result = 0;
	CU_ASSERT_EQUAL(run(loop, 10), 0);
	CU_ASSERT_EQUAL(seen.calls, 2);
	loop_remove(loop, pipe.reader);
	loop_remove(loop, pipe.reader);
	CU_ASSERT_EQUAL(write(pipe.writer, "c", 1), 1);
	CU_ASSERT_EQUAL(run(loop, 10), 0);
	CU_ASSERT_EQUAL(seen.calls, 2);
}

static void test_callback_error(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe pipe = { -1, -1 };
	struct error *err = NULL;

	pipe_open(&pipe);
	watch(loop, pipe.writer, POLLOUT, on_fd_error, NULL);
	CU_ASSERT_EQUAL(loop_run(loop, clock_deadline(GUARD_MS), &err), -ERROR_PROTOCOL);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "said the callback"));
}

static void test_changed_watch(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe pipe = { -1, -1 };
	struct seen one = { .result = 1 }, other = { .result = 2 };

	pipe_open(&pipe);
	CU_ASSERT_EQUAL(write(pipe.writer, "a", 1), 1);
	watch(loop, pipe.reader, POLLIN, on_fd, &one);
	watch(loop, pipe.reader, POLLIN, on_fd, &other);
	CU_ASSERT_EQUAL(run(loop, GUARD_MS), 2);
	CU_ASSERT_EQUAL(one.calls, 0);
}

static void test_hangup_only(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe pipe = { -1, -1 };
	struct seen seen = { .result = 3 };

	pipe_open(&pipe);
	CU_ASSERT_EQUAL(write(pipe.writer, "a", 1), 1);
	watch(loop, pipe.reader, 0, on_fd, &seen);
	CU_ASSERT_EQUAL(run(loop, 10), 0);
	CU_ASSERT_EQUAL(seen.calls, 0);
	fd_close(&pipe.writer);
	CU_ASSERT_EQUAL(run(loop, GUARD_MS), 3);
	CU_ASSERT_EQUAL(seen.revents, POLLHUP);
}

static int remove_other(void *context, int fd, short revents, struct error **err)
{
	struct seen *seen = context;

	(void)fd;
	(void)revents;
	(void)err;
	seen->calls++;
	loop_remove(seen->loop, seen->other);
	return 0;
}

/* Both are ready; whichever comes first takes the other away. */
static void test_removed_by_sibling(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe one = { -1, -1 };
	cleanup_pipe struct pipe two = { -1, -1 };
	struct seen first = { .loop = loop }, second = { .loop = loop };

	pipe_open(&one);
	pipe_open(&two);
	first.other = two.writer;
	second.other = one.writer;
	watch(loop, one.writer, POLLOUT, remove_other, &first);
	watch(loop, two.writer, POLLOUT, remove_other, &second);
	CU_ASSERT_EQUAL(run(loop, 0), 0);
	CU_ASSERT_EQUAL(first.calls + second.calls, 1);
}

static int replace_other(void *context, int fd, short revents, struct error **err)
{
	struct seen *seen = context;

	(void)revents;
	seen->calls++;
	loop_remove(seen->loop, fd);
	loop_remove(seen->loop, seen->other);
	return loop_fd(seen->loop, seen->other, 0, on_fd, seen, err);
}

/* What was polled for a watch must not reach a later watch that has its descriptor's number. */
static void test_replaced_by_sibling(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe one = { -1, -1 };
	cleanup_pipe struct pipe two = { -1, -1 };
	struct seen first = { .loop = loop }, second = { .result = 9 };

	pipe_open(&one);
	pipe_open(&two);
	first.other = two.writer;
	watch(loop, one.writer, POLLOUT, replace_other, &first);
	watch(loop, two.writer, POLLOUT, on_fd, &second);
	CU_ASSERT_EQUAL(run(loop, 10), 0);
	CU_ASSERT_EQUAL(first.calls, 1);
	CU_ASSERT_EQUAL(second.calls, 0);
}

static void test_most_watches(void)
{
	cleanup_loop struct loop *loop = new_loop();
	struct error *err = NULL;
	struct seen seen = { 0 };

	for (int i = 0; i < WATCHES_MAX; i++)
		watch(loop, 1000 + i, POLLIN, on_fd, &seen);
	CU_ASSERT_EQUAL(loop_fd(loop, 2000, POLLIN, on_fd, &seen, &err), -ERROR_LIMIT);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "64"));
	watch(loop, 1000, POLLOUT, on_fd, &seen);
	loop_remove(loop, 1001);
	watch(loop, 2000, POLLIN, on_fd, &seen);
}

static void test_closed_descriptor(void)
{
	cleanup_loop struct loop *loop = new_loop();
	struct pipe pipe = { -1, -1 };
	struct error *err = NULL;
	struct seen seen = { 0 };

	pipe_open(&pipe);
	watch(loop, pipe.reader, POLLIN, on_fd, &seen);
	pipe_close(&pipe);
	CU_ASSERT_EQUAL(loop_run(loop, clock_deadline(GUARD_MS), &err), -ERROR_INTERNAL);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "not open"));
	CU_ASSERT_EQUAL(seen.calls, 0);
}

static int note(struct seen *seen, char letter)
{
	if (seen->order_length < sizeof(seen->order) - 1)
		seen->order[seen->order_length++] = letter;
	return 0;
}

static int on_a(void *context, struct error **err)
{
	(void)err;
	return note(context, 'a');
}

static int on_b(void *context, struct error **err)
{
	(void)err;
	return note(context, 'b');
}

static int on_end(void *context, struct error **err)
{
	(void)err;
	note(context, '.');
	return 5;
}

static void test_timers(void)
{
	cleanup_loop struct loop *loop = new_loop();
	struct seen seen = { 0 };
	int64_t start = clock_now();

	loop_timer(loop, 0, start + 30 * NS_PER_MS, on_a, &seen);
	loop_timer(loop, 15, start + 5 * NS_PER_MS, on_b, &seen);
	loop_timer(loop, 7, start + 60 * NS_PER_MS, on_end, &seen);
	CU_ASSERT_EQUAL(run(loop, GUARD_MS), 5);
	CU_ASSERT_STRING_EQUAL(seen.order, "ba.");
	CU_ASSERT(clock_now() - start >= 60 * NS_PER_MS);
}

static void test_moved_and_disarmed(void)
{
	cleanup_loop struct loop *loop = new_loop();
	struct seen seen = { 0 };

	loop_timer(loop, 0, clock_deadline(5), on_a, &seen);
	loop_timer(loop, 0, NEVER, on_a, &seen);
	loop_timer(loop, 1, clock_deadline(5), on_a, &seen);
	loop_timer(loop, 1, clock_deadline(10), on_b, &seen);
	CU_ASSERT_EQUAL(run(loop, 40), 0);
	CU_ASSERT_STRING_EQUAL(seen.order, "b");
}

static int rearm(void *context, struct error **err)
{
	struct seen *seen = context;

	(void)err;
	if (++seen->calls == 3)
		return 8;
	loop_timer(seen->loop, 2, clock_deadline(1), rearm, seen);
	return 0;
}

static void test_rearmed(void)
{
	cleanup_loop struct loop *loop = new_loop();
	struct seen seen = { .loop = loop };

	loop_timer(loop, 2, 0, rearm, &seen);
	CU_ASSERT_EQUAL(run(loop, GUARD_MS), 8);
	CU_ASSERT_EQUAL(seen.calls, 3);
}

static void test_deadline(void)
{
	cleanup_loop struct loop *loop = new_loop();
	cleanup_pipe struct pipe pipe = { -1, -1 };
	struct seen seen = { 0 };
	int64_t start = clock_now();

	CU_ASSERT_EQUAL(run(loop, 30), 0);
	CU_ASSERT(clock_now() - start >= 30 * NS_PER_MS);
	CU_ASSERT(clock_now() - start < GUARD_MS * NS_PER_MS);
	/* One that is ready for ever does not outlast it, and is served at least once. */
	pipe_open(&pipe);
	watch(loop, pipe.writer, POLLOUT, on_fd, &seen);
	CU_ASSERT_EQUAL(run(loop, 5), 0);
	CU_ASSERT(seen.calls > 0);
	seen.calls = 0;
	CU_ASSERT_EQUAL(run(loop, -5), 0);
	CU_ASSERT_EQUAL(seen.calls, 1);
}

static int on_signal(void *context, int signal, struct error **err)
{
	struct seen *seen = context;

	(void)err;
	seen->calls++;
	seen->signal = signal;
	return seen->result;
}

static void test_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	cleanup_loop struct loop *loop = new_loop();
	struct seen seen = { .result = 4 };
	struct error *err = NULL;
	sigset_t before;

	sigprocmask(SIG_BLOCK, NULL, &before);
	CU_ASSERT_EQUAL(loop_signals(loop, on_signal, &seen, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		raise(signals[i]);
		CU_ASSERT_EQUAL(run(loop, GUARD_MS), 4);
		CU_ASSERT_EQUAL(seen.signal, signals[i]);
	}
	CU_ASSERT_EQUAL(seen.calls, 3);
	seen.result = 0;
	raise(SIGINT);
	raise(SIGTERM);
	CU_ASSERT_EQUAL(run(loop, 20), 0);
	CU_ASSERT_EQUAL(seen.calls, 5);
	CU_ASSERT_EQUAL(loop_signals(loop, on_signal, &seen, &err), -ERROR_INTERNAL);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "once"));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static CU_TestInfo fd_tests[] = {
	{ "ready, removed", test_descriptor },
	{ "a callback's error", test_callback_error },
	{ "a changed watch", test_changed_watch },
	{ "only hang-up", test_hangup_only },
	{ "removed by a sibling", test_removed_by_sibling },
	{ "replaced by a sibling", test_replaced_by_sibling },
	{ "the most watches", test_most_watches },
	{ "a closed descriptor", test_closed_descriptor },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo time_tests[] = {
	{ "timers in order", test_timers },
	{ "moved and disarmed", test_moved_and_disarmed },
	{ "armed again", test_rearmed },
	{ "deadline", test_deadline },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo signal_tests[] = {
	{ "each signal", test_signals },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "descriptors", .pTests = fd_tests },
	{ .pName = "time", .pTests = time_tests },
	{ .pName = "signals", .pTests = signal_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("loop", suites);
}
