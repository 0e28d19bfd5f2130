/*
 * Killed at any point of a call: the chain verifies, and what went out has its intent. 30 kills; AUDIT_KILLS says how
 * many, AUDIT_SEED where the points are drawn from (said when it fails).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>

#include "core/database.h"
#include "tests/unit/audit_writer.h"

#define KILLS 30
#define SEED 20260918
#define SPAN_MS 20 /* in which it is killed, once its first call is done */
#define CALLS 1000000

static unsigned long from_environment(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : fallback;
}

/* Waits for nothing that comes: its end, which the deadline forestalls. */
static void kill_at(const struct audit_writer *writer, int64_t nanoseconds)
{
	struct error *err = NULL;
	int ready = fd_wait(writer->child.pidfd, POLLIN, clock_add(clock_now(), nanoseconds), &err);

	CU_ASSERT_EQUAL(ready, 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(child_signal(&writer->child, SIGKILL), 0);
}

static bool has_intent(sqlite3_stmt *query, const char *call)
{
	bool found;

	(void)sqlite3_bind_text(query, 1, call, AUDIT_ID_BYTES - 1, SQLITE_STATIC);
	found = sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int(query, 0) == 1;
	(void)sqlite3_reset(query);
	return found;
}

/* Looks at the calls behind `*seen` bytes of the sink; returns how many there were. */
static size_t check_sink(const struct audit_world *world, const char *sink, size_t *seen)
{
	cleanup_database struct database *database = NULL;
	cleanup_buf struct buf lines = BUF(16 * MIB);
	cleanup_fd int folder = open(world->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error *err = NULL;
	sqlite3_stmt *query = NULL;
	size_t calls = 0;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, sink, lines.max, &lines, &err), 0);
	CU_ASSERT_EQUAL(lines.length % AUDIT_ID_BYTES, 0);
	CU_ASSERT_EQUAL(database_open(folder, "audit.db", &database, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!database)
		return 0;
	CU_ASSERT_EQUAL(sqlite3_prepare_v2(database_connection(database),
					   "SELECT count(*) FROM audit_entries WHERE entry_type = 'call_intent' "
					   "AND json_extract(payload, '$.call_id') = ?",
					   -1, &query, NULL),
			SQLITE_OK);
	for (; *seen < lines.length; *seen += AUDIT_ID_BYTES, calls++)
		CU_ASSERT(has_intent(query, &lines.data[*seen]));
	(void)sqlite3_finalize(query);
	return calls;
}

static bool is_empty(const char *path)
{
	struct stat about = { 0 };

	return stat(path, &about) < 0 ? errno == ENOENT : about.st_size == 0;
}

static void killed(void)
{
	unsigned long kills = from_environment("AUDIT_KILLS", KILLS), seed = from_environment("AUDIT_SEED", SEED);
	unsigned short state[3] = { (unsigned short)seed, (unsigned short)(seed >> 16), 0x330e };
	cleanup_audit_world struct audit_world world = { 0 };
	size_t seen = 0, calls = 0;
	int64_t entries = 0;

	for (unsigned long i = 0; i < kills; i++) {
		cleanup_audit_writer struct audit_writer writer = AUDIT_WRITER;
		struct audit_verdict verdict;
		struct error *err = NULL;
		int status = 0;

		/* A new database now and then, so that looking at it stays quick. */
		if (i % 10 == 0) {
			audit_world_close(&world);
			CU_ASSERT(audit_world_open(&world));
			seen = 0;
			entries = 0;
		}
		CU_ASSERT(audit_writer_start(&writer, &world, CALLS));
		CU_ASSERT(i % 2 == 0 || audit_writer_calls(&writer, 1));
		kill_at(&writer, nrand48(state) % (SPAN_MS * NS_PER_MS));
		CU_ASSERT_EQUAL(child_wait(&writer.child, guard(), &status, &err), 0);
		CU_ASSERT(test_no_error(&err));
		/* Killed before the chain's table was there: then nothing went out either. */
		if (access(world.path, F_OK) != 0 || audit_verify(world.path, &verdict, &err) < 0) {
			error_free(err);
			CU_ASSERT_EQUAL(entries, 0);
			CU_ASSERT(is_empty(writer.sink));
			continue;
		}
		CU_ASSERT(verdict.entries >= entries && verdict.broken_at == -1 && verdict.chains <= 1);
		entries = verdict.entries;
		calls += check_sink(&world, writer.sink, &seen);
	}
	if (CU_get_number_of_failures() > 0)
		fprintf(stderr, "AUDIT_SEED=%lu AUDIT_KILLS=%lu\n", seed, kills);
	CU_ASSERT(calls > kills);
}

/* Unkilled, it does what the others were killed at. */
static void whole(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	cleanup_audit_writer struct audit_writer writer = AUDIT_WRITER;
	struct error *err = NULL;
	size_t seen = 0;
	int status = -1;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT(audit_writer_start(&writer, &world, 120));
	CU_ASSERT_EQUAL(child_wait(&writer.child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 3 + 2 * 120);
	CU_ASSERT_EQUAL(check_sink(&world, writer.sink, &seen), 120);
	CU_ASSERT_EQUAL(audit_world_count(&world), 2);
}

static CU_TestInfo tests[] = {
	{ "killed", killed },
	{ "whole", whole },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "audit_kill", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("audit_kill", suites);
}
