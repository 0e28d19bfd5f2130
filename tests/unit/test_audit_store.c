/* The audit store on real files: what it leaves, when it syncs, what it refuses, and how it fails. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "core/clock.h"
#include "tests/unit/audit_world.h"

#define ROOM 65536 /* of a disk that is soon full */

/* ---- syncs, counted on their way to the kernel; SQLite calls these two ---------------------------------------------
 */

struct syncs {
	int count;
	int fail; /* errno of the next ones, or 0 */
};

static struct syncs *syncs(void)
{
	static struct syncs state;

	return &state;
}

static int count_sync(long number, int fd)
{
	syncs()->count++;
	errno = syncs()->fail;
	return syncs()->fail ? -1 : (int)syscall(number, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	return count_sync(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
	return count_sync(SYS_fsync, fd);
}

static int syncs_of(struct audit_store *store, bool durable)
{
	int before = syncs()->count;

	CU_ASSERT(audit_commit(store, durable));
	return syncs()->count - before;
}

/* ---- what it leaves ------------------------------------------------------------------------------------------------
 */

static void one_file(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct audit_verdict verdict;
	struct stat about = { 0 };

	CU_ASSERT(audit_world_open(&world));
	for (int session = 0; session < 2; session++) {
		const char *id = session ? "s2" : "s1";

		store = audit_open(world.path);
		CU_ASSERT(audit_add(store, id, "session_start", NULL));
		CU_ASSERT(audit_add(store, id, "call_intent", "c1"));
		CU_ASSERT(audit_commit(store, true));
		CU_ASSERT(audit_add(store, id, "tool_call", "c1"));
		CU_ASSERT(audit_close(store));
		CU_ASSERT_EQUAL(audit_world_count(&world), 1);
	}
	CU_ASSERT_EQUAL(stat(world.path, &about), 0);
	CU_ASSERT_EQUAL(about.st_mode & 07777, 0600);
	verdict = audit_verdict_of(world.path);
	CU_ASSERT_EQUAL(verdict.entries, 6);
	CU_ASSERT_EQUAL(verdict.sessions, 2);
	CU_ASSERT_EQUAL(verdict.chains, 1);
	CU_ASSERT_EQUAL(verdict.broken_at, -1);
	CU_ASSERT_PTR_NULL(verdict.reason);
}

static void fills_in(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_entry one = audit_entry_of("s1", "session_start", NULL), other = one;
	struct error *err = NULL;
	struct audit_store *store;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT_EQUAL(audit_store_append(store, &one, &err), 0);
	CU_ASSERT_EQUAL(audit_store_append(store, &other, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(one.sequence_number, 0);
	CU_ASSERT_STRING_EQUAL(one.prev_entry_hash, AUDIT_GENESIS);
	CU_ASSERT_EQUAL(other.sequence_number, 1);
	CU_ASSERT_STRING_EQUAL(other.prev_entry_hash, one.entry_hash);
	CU_ASSERT_STRING_NOT_EQUAL(other.entry_id, one.entry_id);
	CU_ASSERT(strcmp(one.timestamp_utc, "2026") > 0 && strcmp(one.timestamp_utc, other.timestamp_utc) <= 0);
	CU_ASSERT(audit_close(store));
}

/* The clock fell behind the last entry's: its time stands. */
static void time_never_falls(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_entry entry = audit_entry_of("s1", "session_start", NULL);
	cleanup_buf struct buf payload = BUF(4 * KIB);
	struct error *err = NULL;
	sqlite3 *connection = NULL;
	sqlite3_stmt *insert = NULL;
	struct audit_store *store;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT(audit_close(audit_open(world.path)));
	memcpy(entry.entry_id, "x", 2);
	memcpy(entry.prev_entry_hash, AUDIT_GENESIS, sizeof(AUDIT_GENESIS));
	audit_time(INT64_C(4000000000) * NS_PER_S + 5000, entry.timestamp_utc);
	CU_ASSERT_EQUAL(audit_entry_seal(&entry, &payload, &err), 0);
	CU_ASSERT_EQUAL(sqlite3_open(world.path, &connection), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_prepare_v2(connection,
					   "INSERT INTO audit_entries VALUES(0,'s1','x','session_start',?,'genesis',?)",
					   -1, &insert, NULL),
			SQLITE_OK);
	(void)sqlite3_bind_text(insert, 1, entry.entry_hash, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 2, payload.data, -1, SQLITE_STATIC);
	CU_ASSERT_EQUAL(sqlite3_step(insert), SQLITE_DONE);
	(void)sqlite3_finalize(insert);
	(void)sqlite3_close(connection);
	store = audit_open(world.path);
	entry = audit_entry_of("s2", "session_start", NULL);
	CU_ASSERT_EQUAL(audit_store_append(store, &entry, &err), 0);
	CU_ASSERT_STRING_EQUAL(entry.timestamp_utc, "2096-10-02T07:06:40.000005+00:00");
	CU_ASSERT_EQUAL(entry.sequence_number, 1);
	CU_ASSERT(audit_close(store));
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 2);
}

/* A chain of the real gateway's goes on. */
static void goes_on_with_the_references(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct audit_verdict verdict;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT(audit_copy(REFERENCE, world.path));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_close(store));
	verdict = audit_verdict_of(world.path);
	CU_ASSERT_EQUAL(verdict.entries, 23);
	CU_ASSERT_EQUAL(verdict.chains, 4);
	CU_ASSERT_EQUAL(verdict.broken_at, -1);
}

static int64_t rows_seen(const char *path)
{
	sqlite3 *connection = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t count = -1;

	if (sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(connection, "SELECT count(*) FROM audit_entries", -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		count = sqlite3_column_int64(statement, 0);
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(connection);
	return count;
}

static void batches(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
	CU_ASSERT_EQUAL(rows_seen(world.path), 0);
	CU_ASSERT(audit_commit(store, false));
	CU_ASSERT_EQUAL(rows_seen(world.path), 2);
	CU_ASSERT(audit_close(store));
}

/* ---- when it syncs -------------------------------------------------------------------------------------------------
 */

static void syncs_when_it_says(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct error *err = NULL;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT_EQUAL(audit_store_due(store), NEVER);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT_EQUAL(syncs_of(store, true), 1);
	for (int i = 0; i < 10; i++) {
		int64_t now;

		CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
		CU_ASSERT_EQUAL(syncs_of(store, true), 1);
		CU_ASSERT_EQUAL(audit_store_due(store), NEVER);
		CU_ASSERT(audit_add(store, "s1", "tool_call", "c1"));
		now = clock_now();
		CU_ASSERT_EQUAL(syncs_of(store, false), 0);
		CU_ASSERT(audit_store_due(store) >= now + AUDIT_SYNC_MS * NS_PER_MS);
		CU_ASSERT(audit_store_due(store) <= clock_deadline(AUDIT_SYNC_MS));
	}
	/* The first of two decides when; one sync is for both, and for a batch of many. */
	CU_ASSERT(audit_add(store, "s1", "tool_call", "c2"));
	CU_ASSERT_EQUAL(syncs_of(store, false), 0);
	syncs()->count = 0;
	CU_ASSERT_EQUAL(audit_store_sync(store, &err), 0);
	CU_ASSERT_EQUAL(syncs()->count, 1);
	CU_ASSERT_EQUAL(audit_store_due(store), NEVER);
	CU_ASSERT_EQUAL(audit_store_sync(store, &err), 0);
	CU_ASSERT_EQUAL(syncs()->count, 1);
	CU_ASSERT_EQUAL(syncs_of(store, true), 0);
	for (int i = 0; i < 8; i++)
		CU_ASSERT(audit_add(store, "s1", "call_intent", "c3"));
	CU_ASSERT_EQUAL(syncs_of(store, true), 1);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(audit_close(store));
}

/* ---- how it fails --------------------------------------------------------------------------------------------------
 */

static void fails_for_ever(struct audit_store *store, const char *part)
{
	struct audit_entry entry = audit_entry_of("s1", "tool_call", "c1");
	struct error *err = NULL;

	CU_ASSERT(audit_store_append(store, &entry, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, part));
	CU_ASSERT(audit_store_commit(store, false, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, part));
	CU_ASSERT(audit_store_sync(store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, part));
	CU_ASSERT_EQUAL(audit_store_due(store), NEVER);
}

static void ends_failed(struct audit_store *store, const char *part)
{
	struct error *err = NULL;

	fails_for_ever(store, part);
	CU_ASSERT(audit_store_close(store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, part));
}

static void failed_sync(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct error *err = NULL;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	syncs()->fail = EIO;
	CU_ASSERT(audit_store_commit(store, true, &err) < 0);
	syncs()->fail = 0;
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the audit store: input or output failed"));
	ends_failed(store, "input or output failed");
}

/* Appends until it fails; returns how many batches of two were committed. */
static int64_t fill(struct audit_store *store, const char *part)
{
	for (int64_t batches = 0; batches < 10000; batches++) {
		struct audit_entry one = audit_entry_of("s1", "call_intent", "c1"), other = one;
		struct error *err = NULL;

		if (audit_store_append(store, &one, &err) < 0 || audit_store_append(store, &other, &err) < 0 ||
		    audit_store_commit(store, batches % 2 != 0, &err) < 0) {
			CU_ASSERT(test_error(&err, ERROR_SYSTEM, part));
			return batches;
		}
	}
	return -1;
}

/* All that was committed is there, and nothing of the batch that failed. */
static void holds(const char *path, int64_t batches)
{
	struct audit_verdict verdict = audit_verdict_of(path);
	struct audit_store *store = audit_open(path);

	CU_ASSERT_EQUAL(verdict.entries, batches * 2 + 1);
	CU_ASSERT_EQUAL(verdict.broken_at, -1);
	CU_ASSERT(audit_add(store, "s2", "session_start", NULL));
	CU_ASSERT(audit_close(store));
	CU_ASSERT_EQUAL(audit_verdict_of(path).entries, batches * 2 + 2);
}

static void file_too_large(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct rlimit limit = { 0 }, small;
	struct audit_store *store;
	int64_t batches;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_commit(store, true));
	(void)signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ .rlim_cur = 4 * ROOM, .rlim_max = limit.rlim_max };
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	batches = fill(store, "the audit store: input or output failed");
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CU_ASSERT(batches > 1);
	ends_failed(store, "input or output failed");
	holds(world.path, batches);
}

/* A small file system in a mount namespace of its own. */
static void full_disk(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	int64_t batches;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT_EQUAL(unshare(CLONE_NEWNS), 0);
	CU_ASSERT_EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CU_ASSERT_EQUAL(mount("none", world.folder, "tmpfs", 0, "size=512k"), 0);
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_commit(store, true));
	batches = fill(store, "the audit store: the disk is full");
	CU_ASSERT(batches > 1);
	ends_failed(store, "the disk is full");
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, batches * 2 + 1);
	CU_ASSERT_EQUAL(umount2(world.folder, MNT_DETACH), 0);
}

static bool change(const char *path, const char *sql)
{
	sqlite3 *connection = NULL;
	bool done = sqlite3_open(path, &connection) == SQLITE_OK &&
		    sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK;

	(void)sqlite3_close(connection);
	return done;
}

static void second_store(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *one, *other = NULL;
	struct error *err = NULL;

	CU_ASSERT(audit_world_open(&world));
	one = audit_open(world.path);
	CU_ASSERT(audit_store_open(world.path, &other, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "another gateway writes to it"));
	CU_ASSERT(audit_add(one, "s1", "session_start", NULL));
	CU_ASSERT(audit_close(one));
	other = audit_open(world.path);
	CU_ASSERT(audit_close(other));
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 1);
}

/* Whoever writes to the chain without a store of ours. */
static void another_writer(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_entry entry = audit_entry_of("s1", "call_intent", "c1");
	struct audit_store *store;
	struct error *err = NULL;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_commit(store, true));
	CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
	CU_ASSERT(audit_commit(store, false));
	CU_ASSERT(change(world.path, "DELETE FROM audit_entries WHERE sequence_number = 1"));
	CU_ASSERT(audit_store_append(store, &entry, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "another process wrote"));
	CU_ASSERT(audit_store_close(store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "another process wrote"));
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 1);
}

/* A file without its name ends with the process: nothing that is written there is on record. */
static void name_taken(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct error *err = NULL;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_commit(store, true));
	CU_ASSERT_EQUAL(unlink(world.path), 0);
	CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
	CU_ASSERT(audit_store_commit(store, true, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the audit store"));
	CU_ASSERT(audit_store_close(store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the audit store"));
}

/* Whoever is in the middle of reading keeps the log; nothing is lost. */
static void reader_at_the_end(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_store *store;
	struct error *err = NULL;
	sqlite3 *reader = NULL;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
	CU_ASSERT(audit_commit(store, true));
	CU_ASSERT_EQUAL(sqlite3_open(world.path, &reader), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(reader, "BEGIN; SELECT * FROM audit_entries", NULL, NULL, NULL), SQLITE_OK);
	CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
	CU_ASSERT(audit_store_close(store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "a reader keeps its log"));
	CU_ASSERT_EQUAL(audit_world_count(&world), 3);
	(void)sqlite3_close(reader);
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 2);
}

/* An agent may choose a long name: its call is refused, and the store goes on. */
static void entries_refused(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	cleanup_free char *name = calloc(1, AUDIT_ENTRY_BYTES + 1);
	struct audit_store *store;

	CU_ASSERT(audit_world_open(&world));
	store = audit_open(world.path);
	for (int i = 0; i < 5; i++) {
		struct audit_entry entry = audit_entry_of("s1", "session_start", NULL);
		struct error *err = NULL;

		if (i == 0)
			entry.entry_type = "call_intent";
		if (i == 1)
			entry.session_id = NULL;
		if (i == 2)
			entry.detail = "no JSON";
		if (i == 3)
			entry.workflow_id = "\xff";
		if (i == 4)
			entry.tool_name = memset(name, 'x', AUDIT_ENTRY_BYTES);
		CU_ASSERT(audit_store_append(store, &entry, &err) < 0);
		CU_ASSERT(test_error(&err, i < 2 ? ERROR_INTERNAL : ERROR_INPUT, "an audit"));
		CU_ASSERT(i > 0 || audit_add(store, "s1", "session_start", NULL));
	}
	CU_ASSERT(audit_add(store, "s1", "call_intent", "c1"));
	CU_ASSERT(audit_close(store));
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, 2);
}

/* ---- what it refuses -----------------------------------------------------------------------------------------------
 */

static bool make_folder(const struct audit_world *world)
{
	return unlink(world->path) == 0 && mkdir(world->path, 0700) == 0;
}

static bool make_link(const struct audit_world *world)
{
	char other[AUDIT_PATH + 8];

	snprintf(other, sizeof(other), "%s.real", world->path);
	return rename(world->path, other) == 0 && symlink("audit.db.real", world->path) == 0;
}

static bool make_fifo(const struct audit_world *world)
{
	return unlink(world->path) == 0 && mkfifo(world->path, 0600) == 0;
}

static bool put_bytes(const struct audit_world *world, off_t at, const char *bytes)
{
	cleanup_fd int fd = open(world->path, O_WRONLY | O_CLOEXEC);

	return pwrite(fd, bytes, strlen(bytes), at) == (ssize_t)strlen(bytes);
}

static bool make_text(const struct audit_world *world)
{
	return put_bytes(world, 0, "This is no database.");
}

/* The format's number for "may be read, but not written". */
static bool make_read_only(const struct audit_world *world)
{
	return put_bytes(world, 18, "\3");
}

#define CHANGE(name, sql)                                                                                              \
	static bool name(const struct audit_world *world)                                                              \
	{                                                                                                              \
		return change(world->path, sql);                                                                       \
	}
CHANGE(add_table, "CREATE TABLE another(x)")
CHANGE(add_trigger, "CREATE TRIGGER t AFTER INSERT ON audit_entries BEGIN DELETE FROM audit_entries; END")
CHANGE(add_view, "CREATE VIEW v AS SELECT 1")
CHANGE(add_column, "ALTER TABLE audit_entries ADD COLUMN more TEXT")
CHANGE(rename_column, "ALTER TABLE audit_entries RENAME COLUMN payload TO body")
CHANGE(drop_index, "DROP INDEX idx_session")
CHANGE(other_index, "DROP INDEX idx_session; CREATE INDEX idx_session ON audit_entries(entry_type)")
CHANGE(other_hash, "UPDATE audit_entries SET entry_hash = replace(entry_hash, substr(entry_hash, 1, 1), 'x')")
CHANGE(other_number, "UPDATE audit_entries SET sequence_number = 5")
CHANGE(other_payload, "UPDATE audit_entries SET payload = replace(payload, 'public', 'Public')")
CHANGE(no_text, "UPDATE audit_entries SET payload = CAST(payload AS BLOB)")

static const struct {
	const char *name;
	bool (*spoil)(const struct audit_world *world);
	const char *part;
} refusals[] = {
	{ "folder", make_folder, "not a regular file" },
	{ "symbolic link", make_link, "not a regular file" },
	{ "pipe", make_fifo, "not a regular file" },
	{ "text", make_text, "damaged, or no database" },
	{ "read-only", make_read_only, "read-only" },
	{ "a table more", add_table, "another program's" },
	{ "a trigger", add_trigger, "another program's" },
	{ "a view", add_view, "another program's" },
	{ "a column more", add_column, "another program's" },
	{ "a column of another name", rename_column, "another program's" },
	{ "no index", drop_index, "another program's" },
	{ "another index", other_index, "another program's" },
	{ "another hash", other_hash, "last entry: a column and the payload differ" },
	{ "another number", other_number, "last entry: a column and the payload differ" },
	{ "another payload", other_payload, "last entry: the entry is not what its hash was made over" },
	{ "no text", no_text, "last entry is not one" },
};

/* And leaves it as it was. */
static void refuses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		cleanup_audit_world struct audit_world world = { 0 };
		struct audit_store *store = NULL;
		struct error *err = NULL;
		char before[HEX_SHA256], after[HEX_SHA256];

		CU_ASSERT(audit_world_open(&world));
		store = audit_open(world.path);
		CU_ASSERT(audit_add(store, "s1", "session_start", NULL));
		CU_ASSERT(audit_close(store));
		store = NULL;
		CU_ASSERT(refusals[i].spoil(&world));
		if (i > 2)
			audit_hash_file(world.path, before);
		CU_ASSERT(audit_store_open(world.path, &store, &err) < 0);
		if (!err || !strstr(error_text(err), refusals[i].part))
			fprintf(stderr, "row: %s\n", refusals[i].name);
		CU_ASSERT(test_error(&err, ERROR_INPUT, refusals[i].part));
		CU_ASSERT_PTR_NULL(store);
		if (i > 2) {
			audit_hash_file(world.path, after);
			CU_ASSERT_STRING_EQUAL(before, after);
			CU_ASSERT_EQUAL(audit_world_count(&world), 1);
		} else {
			(void)rmdir(world.path);
		}
	}
}

static void no_folder(void)
{
	struct audit_store *store = NULL;
	struct error *err = NULL;

	CU_ASSERT(audit_store_open("/nowhere/audit.db", &store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "opening the audit database"));
	CU_ASSERT_EQUAL(audit_store_close(NULL, &err), 0);
}

static CU_TestInfo content_tests[] = {
	{ "one file", one_file },
	{ "fills in", fills_in },
	{ "time never falls", time_never_falls },
	{ "goes on with the reference's", goes_on_with_the_references },
	{ "batches", batches },
	{ "syncs", syncs_when_it_says },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo failure_tests[] = {
	{ "a sync that fails", failed_sync },
	{ "a file too large", file_too_large },
	{ "a second store", second_store },
	{ "another writer", another_writer },
	{ "its name taken away", name_taken },
	{ "a reader at the end", reader_at_the_end },
	{ "entries refused", entries_refused },
	{ "refused", refuses },
	{ "no folder", no_folder },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo root_tests[] = {
	{ "a full disk", full_disk },
	CU_TEST_INFO_NULL,
};

enum { CONTENT, FAILURES, AS_ROOT, SUITES };
static CU_SuiteInfo suites[] = {
	[CONTENT] = { .pName = "content", .pTests = content_tests },
	[FAILURES] = { .pName = "failures", .pTests = failure_tests },
	[AS_ROOT] = { .pName = "as root", .pTests = root_tests },
	[SUITES] = CU_SUITE_INFO_NULL,
};

int main(void)
{
	if (geteuid() != 0)
		suites[AS_ROOT] = (CU_SuiteInfo)CU_SUITE_INFO_NULL;
	return test_main("audit_store", suites);
}
