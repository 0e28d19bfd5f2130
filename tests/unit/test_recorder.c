/* The real recorder over pipes. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "mcp/rpc.h"
#include "tests/unit/test.h"

#define GUARD_MS 5000
#define OUT_BYTES (64 * KIB)
#define PATH_BYTES 1024
#define SINK_FD 3

struct talk_row {
	const char *says;
	const char *hears;
	const char *records;
};

static const struct talk_row talk_rows[];

/* Writes `says`, closes, reads all that comes, waits. Returns the exit code, or -1. */
static int talk_to(const char *says, char *file, int sink, struct buf *heard)
{
	char path[PATH_BYTES], name[] = "recorder";
	char *argv[] = { name, file, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int in = -1, out = -1, to = -1, from = -1;
	struct error *err = NULL;
	int status = -1;

	CU_ASSERT_EQUAL(spawn_helper_path("recorder", path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&in, &to, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&from, &out, &err), 0);
	options.fds[0] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options.fds[2] = (struct spawn_fd){ .from = sink, .to = SINK_FD };
	options.fds_count = sink < 0 ? 2 : 3;
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	fd_close(&in);
	fd_close(&out);
	CU_ASSERT_EQUAL(fd_write_all(to, says, strlen(says), clock_deadline(GUARD_MS), &err), 0);
	fd_close(&to);
	CU_ASSERT_EQUAL(fd_read_all(from, heard, clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(GUARD_MS), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return status;
}

static int talk(const char *says, int sink, struct buf *heard)
{
	return talk_to(says, NULL, sink, heard);
}

static bool is(const char *expected, const char *actual)
{
	if (strcmp(expected, actual) != 0)
		fprintf(stderr, "expected %s     got %s\n", expected, actual);
	return strcmp(expected, actual) == 0;
}

static void test_talk(void)
{
	for (const struct talk_row *row = talk_rows; row->says; row++) {
		cleanup_buf struct buf heard = BUF(OUT_BYTES);
		cleanup_fd int sink = memfd_create("sink", MFD_CLOEXEC);
		char recorded[1024];
		ssize_t got;

		CU_ASSERT_EQUAL(fcntl(sink, F_SETFL, O_APPEND), 0);
		CU_ASSERT_EQUAL(talk(row->says, sink, &heard), 0);
		got = pread(sink, recorded, sizeof(recorded) - 1, 0);
		recorded[got > 0 ? got : 0] = '\0';
		CU_ASSERT(is(row->hears, buf_string(&heard)));
		CU_ASSERT(is(row->records, recorded));
	}
}

/* Where nobody passes it a descriptor the file is its argument: it is appended to, and has to be there. */
static void test_file(void)
{
	static const char says[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
				   "{\"name\":\"public.tool\",\"arguments\":{}}}\n";
	static const char line[] = "{\"tool\":\"public.tool\",\"arguments\":{}}\n";
	cleanup_buf struct buf heard = BUF(OUT_BYTES), again = BUF(OUT_BYTES), none = BUF(OUT_BYTES);
	char name[] = "/tmp/harness-test-XXXXXX", recorded[1024];
	cleanup_fd int file = mkstemp(name);
	ssize_t got;

	CU_ASSERT(file >= 0);
	CU_ASSERT_EQUAL(talk_to(says, name, -1, &heard), 0);
	CU_ASSERT_EQUAL(talk_to(says, name, -1, &again), 0);
	got = pread(file, recorded, sizeof(recorded) - 1, 0);
	recorded[got > 0 ? got : 0] = '\0';
	CU_ASSERT(strncmp(recorded, line, sizeof(line) - 1) == 0 && is(line, recorded + sizeof(line) - 1));
	unlink(name);
	CU_ASSERT_EQUAL(talk_to("", name, -1, &none), 3);
	CU_ASSERT(access(name, F_OK) < 0);
}

/* What could not be recorded is not said to be: the recorder ends instead. */
static void test_full(void)
{
	cleanup_buf struct buf heard = BUF(OUT_BYTES);
	cleanup_fd int sink = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CU_ASSERT(sink >= 0);
	CU_ASSERT_EQUAL(
		talk("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"public.tool\","
		     "\"arguments\":{}}}\n",
		     sink, &heard),
		3);
	CU_ASSERT_EQUAL(heard.length, 0);
}

#define SLOW(arguments)                                                                                                \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"                                                            \
	"call\",\"params\":{\"name\":\"slow.tool\",\"arguments\":" arguments "}}\n"
#define INVALID "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params\"}}\n"

static const struct talk_row talk_rows[] = {
	{ "", "", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	  "call\",\"params\":{\"name\":\"permitted.tool\",\"arguments\":"
	  "{\"a\": 1.50e3}}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}}\n",
	  "{\"tool\":\"permitted.tool\",\"arguments\":{\"a\": 1.50e3}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	  "call\",\"params\":{\"name\":\"public.tool\",\"arguments\":{}}}\n"
	  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
	  "call\",\"params\":{\"name\":\"beacon.tool\",\"arguments\":{}}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}}\n"
	  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}}\n",
	  "{\"tool\":\"public.tool\",\"arguments\":{}}\n{\"tool\":\"beacon.tool\",\"arguments\":{}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	  "call\",\"params\":{\"name\":\"other.tool\",\"arguments\":{}}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params\"}}\n", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	  "call\",\"params\":{\"name\":\"public.tool\",\"arguments\":[]}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params\"}}\n", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"arguments\":{}}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params\"}}\n", "" },
	/* Both ends of a slow call, and what waits behind it. */
	{ SLOW("{\"milliseconds\":20}") "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
					"call\",\"params\":{\"name\":\"beacon.tool\",\"arguments\":{}}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}}\n"
	  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}}\n",
	  "{\"tool\":\"slow.tool\",\"arguments\":{\"milliseconds\":20}}\n"
	  "{\"tool\":\"slow.tool\",\"arguments\":{\"milliseconds\":20}}\n"
	  "{\"tool\":\"beacon.tool\",\"arguments\":{}}\n" },
	{ SLOW("{}"), INVALID, "" },
	{ SLOW("{\"milliseconds\":-1}"), INVALID, "" },
	{ SLOW("{\"milliseconds\":10001}"), INVALID, "" },
	{ "garbage\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n",
	  "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
	  "{\"name\":\"permitted.tool\",\"description\":\"record synthetic "
	  "data\",\"inputSchema\":{\"type\":\"object\"}},"
	  "{\"name\":\"public.tool\",\"description\":\"record synthetic data\",\"inputSchema\":{\"type\":\"object\"}},"
	  "{\"name\":\"beacon.tool\",\"description\":\"record synthetic "
	  "data\",\"inputSchema\":{\"type\":\"object\"}},"
	  "{\"name\":\"slow.tool\",\"description\":\"record synthetic "
	  "data\",\"inputSchema\":{\"type\":\"object\"}}]}}\n",
	  "" },
	{ .says = NULL },
};

static CU_TestInfo tests[] = {
	{ "what is said, heard and recorded", test_talk },
	{ "a full sink ends it", test_full },
	{ "its file as an argument", test_file },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "recorder", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("recorder", suites);
}
