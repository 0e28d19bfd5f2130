/* What a process wrote and what its parent did, by the kernel: a real child, and this process as the engine's shim. */
#include "observers/engine_io.h"

#include <signal.h>

#include "tests/unit/writer.h"

#define SHIM "containerd-shim"
#define PASSED_ON 20000

static void close_io(struct engine_io *io)
{
	engine_io_close(io);
}
#define cleanup_io __attribute__((cleanup(close_io)))

/* As the shim does, of its own. */
static bool pass_on(void)
{
	static const char bytes[PASSED_ON];
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return write(null, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes);
}

static void alive(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT_FALSE(engine_io_opened(&io));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	CU_ASSERT(engine_io_opened(&io));
	CU_ASSERT(engine_io_look(&io, false));
	CU_ASSERT_EQUAL(io.written, 0);
	CU_ASSERT_EQUAL(io.streamed, 0);
	CU_ASSERT(writer_write(&writer));
	CU_ASSERT(pass_on());
	CU_ASSERT(engine_io_look(&io, false));
	CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
	CU_ASSERT(io.streamed >= PASSED_ON && io.streamed < PASSED_ON + 100);
	CU_ASSERT_FALSE(io.final);
	CU_ASSERT_FALSE(io.drained);
}

/* Whether the look comes before its parent waited for it or behind it, the number is the same. */
static void dead(void)
{
	for (int waited_for = 0; waited_for < 2; waited_for++) {
		cleanup_writer struct writer writer = { .child = CHILD_NONE };
		cleanup_io struct engine_io io = ENGINE_IO_NONE;

		parent_is(SHIM);
		CU_ASSERT(writer_start(&writer));
		CU_ASSERT(engine_io_open(&io, writer.proc));
		CU_ASSERT(writer_write(&writer));
		CU_ASSERT(writer_kill(&writer));
		if (waited_for)
			child_end(&writer.child);
		CU_ASSERT(pass_on());
		CU_ASSERT(engine_io_look(&io, true));
		CU_ASSERT(io.final);
		CU_ASSERT(io.drained);
		CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
		CU_ASSERT(io.streamed >= PASSED_ON && io.streamed < PASSED_ON + 100);
		/* What the shim passes on behind it counts on, and nothing is counted twice. */
		CU_ASSERT(pass_on());
		child_end(&writer.child);
		CU_ASSERT(engine_io_look(&io, true));
		CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
		CU_ASSERT(io.streamed >= 2 * PASSED_ON && io.streamed < 2 * PASSED_ON + 100);
	}
}

/* The engine's shim ends threads as it likes: what one had written stays counted, once. */
static void thread_left(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	CU_ASSERT_EQUAL(io.threads_count, 1);
	CU_ASSERT_EQUAL(io.threads[0].id, getpid());
	/* One that wrote 300 before and 50 since, and left: the kernel's sum has all of it. */
	io.threads[io.threads_count++] = (struct engine_io_thread){ .id = 1, .first = 300, .last = 350 };
	io.shim_base -= 50;
	CU_ASSERT(pass_on());
	CU_ASSERT(engine_io_look(&io, false));
	CU_ASSERT(io.streamed >= PASSED_ON + 50 && io.streamed < PASSED_ON + 150);
	CU_ASSERT(writer_write(&writer));
	CU_ASSERT(writer_kill(&writer));
	child_end(&writer.child);
	CU_ASSERT(engine_io_look(&io, true));
	CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
	io.threads_count = ENGINE_IO_THREADS;
	for (size_t i = 0; i < ENGINE_IO_THREADS; i++)
		io.threads[i].id = 1;
	CU_ASSERT_FALSE(engine_io_look(&io, true));
}

/* Another child of the shim's is none of the container's while that one lives. */
static void another_child(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE }, other = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT(writer_start(&other));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	CU_ASSERT(writer_write(&other));
	CU_ASSERT(writer_kill(&other));
	child_end(&other.child);
	CU_ASSERT(engine_io_look(&io, false));
	CU_ASSERT_EQUAL(io.written, 0);
	CU_ASSERT(io.streamed < 100);
}

static void refused(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;
	cleanup_fd int folder = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);

	parent_is("another");
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT_FALSE(engine_io_open(&io, writer.proc));
	CU_ASSERT_FALSE(engine_io_opened(&io));
	parent_is(SHIM);
	CU_ASSERT_FALSE(engine_io_open(&io, folder));
	CU_ASSERT(writer_kill(&writer));
	child_end(&writer.child);
	CU_ASSERT_FALSE(engine_io_open(&io, writer.proc));
	CU_ASSERT_FALSE(engine_io_opened(&io));
}

/* The process is this one's child; the shim is another that is gone, as behind the end of a container. */
static void shim_gone(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE }, shim = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT(writer_start(&shim));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	fd_close(&io.shim);
	io.shim = steal_fd(&shim.proc);
	CU_ASSERT(writer_kill(&shim));
	child_end(&shim.child);
	CU_ASSERT(writer_write(&writer));
	CU_ASSERT_FALSE(engine_io_look(&io, false));
	CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
	CU_ASSERT(writer_kill(&writer));
	child_end(&writer.child);
	CU_ASSERT_FALSE(engine_io_look(&io, true));
	CU_ASSERT_FALSE(io.final);
	CU_ASSERT_FALSE(io.drained);
	CU_ASSERT_EQUAL(io.written, WRITER_BYTES);
}

/* Its threads are gone, and their bytes among those of its children: what was the process's cannot be told. */
static void shim_leaves(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	CU_ASSERT(writer_kill(&writer));
	child_end(&writer.child);
	CU_ASSERT(engine_io_look(&io, true));
	CU_ASSERT_EQUAL(io.streamed, 0);
	CU_ASSERT_FALSE(io.final);
	CU_ASSERT_FALSE(io.drained);
}

static CU_TestInfo tests[] = {
	{ "alive", alive },
	{ "dead", dead },
	{ "another child", another_child },
	{ "a thread that left", thread_left },
	{ "refused", refused },
	{ "shim gone", shim_gone },
	{ "shim leaves", shim_leaves },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "engine_io", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("engine_io", suites);
}
