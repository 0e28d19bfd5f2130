/* What a process wrote and what its parent did, by the kernel: a real child, and this process as the engine's shim. */
#include "observers/engine_io.h"

#include <signal.h>

#include "core/clock.h"
#include "tests/unit/writer.h"

#define SHIM "containerd-shim"
#define PASSED_ON 20000
#define GUARD_MS 5000

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

/* What this process writes to others in between, orders among them. */
#define ASIDE 100

static bool is_about(int64_t written, int64_t expected)
{
	return written >= expected && written < expected + ASIDE;
}

/* The kernel counts a write behind it: who has read what was written may look too early. */
static bool look_until(struct engine_io *io, int64_t expected)
{
	int64_t guard = clock_deadline(GUARD_MS);
	bool looked;

	do
		looked = engine_io_look(io, false);
	while (looked && io->written < expected && clock_now() < guard);
	return looked && is_about(io->written, expected);
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
	CU_ASSERT(writer_write(&writer));
	CU_ASSERT(look_until(&io, WRITER_BYTES));
	CU_ASSERT(pass_on());
	CU_ASSERT(look_until(&io, WRITER_BYTES + PASSED_ON));
	CU_ASSERT_FALSE(io.final);
}

/* Whether the look comes before its parent waited for it or behind it, the number is the same; and it is the last. */
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
		CU_ASSERT(is_about(io.written, WRITER_BYTES + PASSED_ON));
		child_end(&writer.child);
		CU_ASSERT(pass_on());
		CU_ASSERT(engine_io_look(&io, true));
		CU_ASSERT(is_about(io.written, WRITER_BYTES + PASSED_ON));
	}
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

/* The shim is another process that is gone, as some time behind the end of a container. */
static void shim_gone(void)
{
	cleanup_writer struct writer writer = { .child = CHILD_NONE }, shim = { .child = CHILD_NONE };
	cleanup_io struct engine_io io = ENGINE_IO_NONE;

	parent_is(SHIM);
	CU_ASSERT(writer_start(&writer));
	CU_ASSERT(writer_start(&shim));
	CU_ASSERT(engine_io_open(&io, writer.proc));
	CU_ASSERT(writer_write(&writer));
	CU_ASSERT(look_until(&io, WRITER_BYTES));
	fd_close(&io.shim);
	io.shim = steal_fd(&shim.proc);
	CU_ASSERT(writer_kill(&shim));
	child_end(&shim.child);
	CU_ASSERT(writer_kill(&writer));
	child_end(&writer.child);
	CU_ASSERT_FALSE(engine_io_look(&io, true));
	CU_ASSERT_FALSE(io.final);
	CU_ASSERT(is_about(io.written, WRITER_BYTES));
}

static CU_TestInfo tests[] = {
	{ "alive", alive }, { "dead", dead }, { "refused", refused }, { "shim gone", shim_gone }, CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "engine_io", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("engine_io", suites);
}
