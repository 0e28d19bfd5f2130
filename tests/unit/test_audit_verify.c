/* The verifier, over a chain that the real gateway 0.7.1 wrote (tests/data/audit: synthetic calls that were allowed,
 * denied, failed and drifted, a reset, and sessions that were closed) and over ours, whole and spoilt. */
#include <signal.h>
#include <sqlite3.h>

#include "core/database.h"
#include "tests/unit/audit_writer.h"

#define REFERENCE_ROWS 22

static sqlite3 *connect_to(const char *path)
{
	sqlite3 *connection = NULL;

	CU_ASSERT_EQUAL(sqlite3_open(path, &connection), SQLITE_OK);
	return connection;
}

static bool change(sqlite3 *connection, const char *sql)
{
	return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* A copy of the reference's without a log, so that a change is in the file at once. */
static sqlite3 *open_copy(const struct audit_world *world)
{
	sqlite3 *connection = NULL;

	if (audit_copy(REFERENCE, world->path)) {
		connection = connect_to(world->path);
		CU_ASSERT(change(connection, "PRAGMA journal_mode=DELETE;PRAGMA synchronous=OFF"));
	}
	return connection;
}

static bool is_broken(const struct audit_world *world, int64_t at)
{
	struct audit_verdict verdict = audit_verdict_of(world->path);

	return verdict.reason && verdict.broken_at == at;
}

/* ---- the reference's ------------------------------------------------------------------------------------------------
 */

static void accepts_the_references(void)
{
	char before[HEX_SHA256], after[HEX_SHA256];
	struct audit_verdict verdict;

	audit_hash_file(REFERENCE, before);
	verdict = audit_verdict_of(REFERENCE);
	audit_hash_file(REFERENCE, after);
	CU_ASSERT_EQUAL(verdict.entries, REFERENCE_ROWS);
	CU_ASSERT_EQUAL(verdict.sessions, 5);
	CU_ASSERT_EQUAL(verdict.chains, 4);
	CU_ASSERT_EQUAL(verdict.broken_at, -1);
	CU_ASSERT_PTR_NULL(verdict.reason);
	CU_ASSERT_STRING_EQUAL(before, after);
	CU_ASSERT_NOT_EQUAL(access(REFERENCE "-wal", F_OK), 0);
	CU_ASSERT_NOT_EQUAL(access(REFERENCE "-shm", F_OK), 0);
}

static bool flip(sqlite3 *connection, const char *column, int row, int at, int *length)
{
	char sql[512];
	sqlite3_stmt *statement = NULL;
	bool done;

	/* The byte becomes its neighbour, which leaves text text. */
	snprintf(sql, sizeof(sql),
		 "UPDATE audit_entries SET %s = substr(%s, 1, %d) || char(unicode(substr(%s, %d, 1)) + 1) || "
		 "substr(%s, %d) WHERE rowid = %d AND length(%s) >= %d RETURNING length(%s)",
		 column, column, at - 1, column, at, column, at + 1, row, column, at, column);
	done = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK &&
	       sqlite3_step(statement) == SQLITE_ROW;
	if (done && length)
		*length = sqlite3_column_int(statement, 0);
	while (sqlite3_step(statement) == SQLITE_ROW)
		;
	(void)sqlite3_finalize(statement);
	return done;
}

static void take_back(sqlite3 *connection)
{
	CU_ASSERT(change(connection, "DELETE FROM audit_entries;"
				     "INSERT INTO audit_entries SELECT * FROM kept ORDER BY rowid"));
}

static sqlite3 *open_kept(const struct audit_world *world)
{
	sqlite3 *connection = open_copy(world);

	CU_ASSERT(change(connection, "CREATE TABLE kept AS SELECT * FROM audit_entries ORDER BY rowid"));
	return connection;
}

/* Each byte of one row's payload, one at a time. */
static void each_byte(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	sqlite3 *connection;
	int length = 1;

	CU_ASSERT(audit_world_open(&world));
	connection = open_kept(&world);
	for (int at = 1; at <= length; at++) {
		CU_ASSERT(flip(connection, "payload", 3, at, &length));
		CU_ASSERT(is_broken(&world, 2));
		take_back(connection);
	}
	CU_ASSERT(length > 800);
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, REFERENCE_ROWS);
	(void)sqlite3_close(connection);
}

/* Each column of each row. */
static void each_column(void)
{
	static const char *const columns[] = { "session_id", "entry_id",        "entry_type",
					       "entry_hash", "prev_entry_hash", "payload" };
	cleanup_audit_world struct audit_world world = { 0 };
	sqlite3 *connection;

	CU_ASSERT(audit_world_open(&world));
	connection = open_kept(&world);
	for (int row = 1; row <= REFERENCE_ROWS; row++) {
		for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
			CU_ASSERT(flip(connection, columns[i], row, 1 + row % 5, NULL));
			CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, row - 1);
			CU_ASSERT_PTR_NOT_NULL(audit_verdict_of(world.path).reason);
			take_back(connection);
		}
	}
	(void)sqlite3_close(connection);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

static const struct {
	const char *sql;
	int64_t broken_at;
	const char *part;
} spoils[] = {
	{ "DELETE FROM audit_entries WHERE rowid = 1", 1, "link" },
	{ "DELETE FROM audit_entries WHERE rowid = 7", 7, "link" },
	{ "UPDATE audit_entries SET rowid = 100 WHERE rowid = 5", 5, "link" },
	{ "UPDATE audit_entries SET rowid = rowid + 100; UPDATE audit_entries SET rowid = 1 WHERE rowid = 102;", 1,
	  "link" },
	{ "UPDATE audit_entries SET sequence_number = 7 WHERE rowid = 3", 7, "differ" },
	{ "UPDATE audit_entries SET sequence_number = 'x' WHERE rowid = 3", 2, "not of its type" },
	{ "UPDATE audit_entries SET payload = CAST(payload AS BLOB) WHERE rowid = 3", 2, "not of its type" },
	{ "UPDATE audit_entries SET payload = payload || ' ' WHERE rowid = 3", 2, "canonical" },
	{ "UPDATE audit_entries SET payload = replace(payload, '\"call_id\":', '\"call_id\": ') WHERE rowid = 3", 2,
	  "canonical" },
	{ "UPDATE audit_entries SET payload = '{' WHERE rowid = 3", 2, "not JSON" },
	{ "UPDATE audit_entries SET payload = '[]' WHERE rowid = 3", 2, "differ" },
	{ "UPDATE audit_entries SET payload = payload || char(0) WHERE rowid = 3", 2, "not of its type" },
	{ "UPDATE audit_entries SET payload = '{\"call_id\":' || substr(payload, 2) WHERE rowid = 3", 2, "not JSON" },
};

static void each_spoil(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		cleanup_audit_world struct audit_world world = { 0 };
		struct audit_verdict verdict;
		sqlite3 *connection;

		CU_ASSERT(audit_world_open(&world));
		connection = open_copy(&world);
		CU_ASSERT(change(connection, spoils[i].sql));
		(void)sqlite3_close(connection);
		verdict = audit_verdict_of(world.path);
		if (!verdict.reason || !strstr(verdict.reason, spoils[i].part))
			fprintf(stderr, "row: %s: %s\n", spoils[i].sql, verdict.reason ? verdict.reason : "accepted");
		CU_ASSERT(verdict.reason && strstr(verdict.reason, spoils[i].part));
		CU_ASSERT_EQUAL(verdict.broken_at, spoils[i].broken_at);
	}
}

/* A whole entry by somebody who knows the rule: each check has to see what the others cannot. */
static const struct {
	const char *prev; /* NULL: the tip */
	int64_t number;
	const char *type, *part; /* NULL: accepted */
} forged[] = {
	{ NULL, 1, "tool_call", NULL },
	{ NULL, 2, "tool_call", "sequence number is missing" },
	{ NULL, 0, "tool_call", "sequence number is missing" },
	{ "", 1, "tool_call", "link" },
	{ "0000000000000000000000000000000000000000000000000000000000000000", 1, "tool_call", "link" },
	{ AUDIT_GENESIS, 0, "session_start", NULL },
	{ AUDIT_GENESIS, 0, "tool_call", "start of a session" },
	{ AUDIT_GENESIS, 1, "session_start", "start of a session" },
};

static bool forge(const char *path, size_t which, const char *tip)
{
	cleanup_buf struct buf payload = BUF(4 * KIB);
	struct audit_entry entry = audit_entry_of("s1", forged[which].type, NULL);
	struct error *err = NULL;
	sqlite3_stmt *insert = NULL;
	sqlite3 *connection = connect_to(path);
	bool done;

	snprintf(entry.entry_id, sizeof(entry.entry_id), "another");
	snprintf(entry.prev_entry_hash, HEX_SHA256, "%s", forged[which].prev ? forged[which].prev : tip);
	entry.sequence_number = forged[which].number;
	CU_ASSERT_EQUAL(audit_entry_seal(&entry, &payload, &err), 0);
	done = sqlite3_prepare_v2(connection, "INSERT INTO audit_entries VALUES(?,?,?,?,?,?,?)", -1, &insert, NULL) ==
	       SQLITE_OK;
	(void)sqlite3_bind_int64(insert, 1, entry.sequence_number);
	(void)sqlite3_bind_text(insert, 2, entry.session_id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 3, entry.entry_id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 4, entry.entry_type, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 5, entry.entry_hash, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 6, entry.prev_entry_hash, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(insert, 7, payload.data, -1, SQLITE_STATIC);
	done = done && sqlite3_step(insert) == SQLITE_DONE;
	(void)sqlite3_finalize(insert);
	(void)sqlite3_close(connection);
	return done && test_no_error(&err);
}

static void each_forgery(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		cleanup_audit_world struct audit_world world = { 0 };
		struct audit_entry entry = audit_entry_of("s1", "session_start", NULL);
		struct audit_verdict verdict;
		struct audit_store *store;
		struct error *err = NULL;

		CU_ASSERT(audit_world_open(&world));
		store = audit_open(world.path);
		CU_ASSERT_EQUAL(audit_store_append(store, &entry, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(audit_close(store));
		CU_ASSERT(forge(world.path, i, entry.entry_hash));
		verdict = audit_verdict_of(world.path);
		CU_ASSERT_EQUAL(verdict.reason != NULL, forged[i].part != NULL);
		CU_ASSERT(!forged[i].part || (verdict.reason && strstr(verdict.reason, forged[i].part)));
		CU_ASSERT_EQUAL(verdict.entries, forged[i].part ? 1 : 2);
	}
}

/* ---- how it lies ---------------------------------------------------------------------------------------------------
 */

/* As the real gateway leaves it on SIGTERM: 4096 bytes without a table, and everything in the log. */
static void log_beside_it(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	char log[AUDIT_PATH + 8], before[2][HEX_SHA256], after[2][HEX_SHA256], sql[512];
	struct audit_verdict verdict;
	struct stat about = { 0 };
	sqlite3 *connection;
	int on;

	CU_ASSERT(audit_world_open(&world));
	snprintf(log, sizeof(log), "%s-wal", world.path);
	connection = connect_to(world.path);
	(void)sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &on);
	snprintf(sql, sizeof(sql),
		 "PRAGMA journal_mode=WAL;PRAGMA wal_autocheckpoint=0;ATTACH '%s' AS real;"
		 "CREATE TABLE audit_entries AS SELECT * FROM real.audit_entries ORDER BY rowid",
		 "file:" REFERENCE "?immutable=1");
	(void)sqlite3_close(connection);
	CU_ASSERT_EQUAL(sqlite3_open_v2(world.path, &connection,
					SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL),
			SQLITE_OK);
	(void)sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &on);
	CU_ASSERT(change(connection, sql));
	(void)sqlite3_close(connection);
	CU_ASSERT_EQUAL(stat(world.path, &about), 0);
	CU_ASSERT_EQUAL(about.st_size, 4096);
	for (int i = 0; i < 2; i++) {
		char shm[AUDIT_PATH + 8];
		int files;

		/* Whether the index of the log is there or not. */
		snprintf(shm, sizeof(shm), "%s-shm", world.path);
		if (i == 1)
			CU_ASSERT_EQUAL(unlink(shm), 0);
		files = audit_world_count(&world);
		audit_hash_file(world.path, before[0]);
		audit_hash_file(log, before[1]);
		verdict = audit_verdict_of(world.path);
		audit_hash_file(world.path, after[0]);
		audit_hash_file(log, after[1]);
		CU_ASSERT_EQUAL(verdict.entries, REFERENCE_ROWS);
		CU_ASSERT_EQUAL(verdict.broken_at, -1);
		CU_ASSERT_STRING_EQUAL(before[0], after[0]);
		CU_ASSERT_STRING_EQUAL(before[1], after[1]);
		CU_ASSERT_EQUAL(audit_world_count(&world), files);
	}
}

/* Names that a URI would take for its own. */
static void strange_name(void)
{
	cleanup_audit_world struct audit_world world = { 0 };

	CU_ASSERT(audit_world_open(&world));
	snprintf(world.path, sizeof(world.path), "%s/a%%41?mode=rw#b.db", world.folder);
	CU_ASSERT(audit_copy(REFERENCE, world.path));
	CU_ASSERT_EQUAL(audit_verdict_of(world.path).entries, REFERENCE_ROWS);
}

/* While another process writes: whatever is read is one state. */
static void live(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	cleanup_audit_writer struct audit_writer writer = AUDIT_WRITER;
	int64_t seen = 0;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT(audit_writer_start(&writer, &world, 100000));
	for (size_t i = 0; i < 20; i++) {
		struct audit_verdict verdict = { .entries = -1 };
		struct error *err = NULL;

		CU_ASSERT(audit_writer_calls(&writer, 4));
		/* The writer closes its store now and then: what it wrote meanwhile is said, not judged. */
		if (audit_verify(world.path, &verdict, &err) < 0) {
			CU_ASSERT(test_error(&err, ERROR_INPUT, "database"));
			continue;
		}
		CU_ASSERT_EQUAL(verdict.broken_at, -1);
		CU_ASSERT(verdict.entries >= seen && verdict.entries >= (int64_t)(i + 1) * 8);
		seen = verdict.entries;
	}
	CU_ASSERT(seen > 0);
	CU_ASSERT_EQUAL(child_signal(&writer.child, SIGKILL), 0);
}

/* What was read without the writer's locks is not taken for one state. */
static void written_meanwhile(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	cleanup_database struct database *database = NULL;
	cleanup_fd int folder = -1;
	struct error *err = NULL;
	sqlite3 *connection;

	CU_ASSERT(audit_world_open(&world));
	(void)sqlite3_close(open_copy(&world));
	folder = open(world.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(database_open(folder, "audit.db", &database, &err), 0);
	CU_ASSERT_EQUAL(database_unchanged(database, &err), 0);
	CU_ASSERT(test_no_error(&err));
	connection = connect_to(world.path);
	CU_ASSERT(change(connection, "DELETE FROM audit_entries WHERE rowid = 22"));
	(void)sqlite3_close(connection);
	CU_ASSERT(database_unchanged(database, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "written to while it was read"));
}

static const struct {
	const char *what, *part;
	enum error_code code;
} unreadable[] = {
	{ "nothing", "cannot be read: ENOENT", ERROR_INPUT },  { "folder", "cannot be read: E", ERROR_INPUT },
	{ "link", "cannot be read: ELOOP", ERROR_INPUT },      { "text", "damaged, or no database", ERROR_INPUT },
	{ "another", "it holds no audit chain", ERROR_INPUT }, { "cut", "damaged, or no database", ERROR_INPUT },
};

static bool make_unreadable(const char *what, const char *path)
{
	if (strcmp(what, "folder") == 0)
		return mkdir(path, 0700) == 0;
	if (strcmp(what, "link") == 0)
		return symlink("/etc/hostname", path) == 0;
	if (strcmp(what, "text") == 0)
		return audit_copy("Makefile", path);
	if (strcmp(what, "cut") == 0)
		return audit_copy(REFERENCE, path) && truncate(path, 8192) == 0;
	if (strcmp(what, "another") == 0) {
		sqlite3 *connection = connect_to(path);
		bool done = change(connection, "CREATE TABLE another(x)");

		(void)sqlite3_close(connection);
		return done;
	}
	return true;
}

static void each_unreadable(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
		cleanup_audit_world struct audit_world world = { 0 };
		struct audit_verdict verdict;
		struct error *err = NULL;

		CU_ASSERT(audit_world_open(&world));
		CU_ASSERT(make_unreadable(unreadable[i].what, world.path));
		CU_ASSERT(audit_verify(world.path, &verdict, &err) < 0);
		CU_ASSERT(test_error(&err, unreadable[i].code, unreadable[i].part));
		(void)rmdir(world.path);
	}
}

static void empty(void)
{
	cleanup_audit_world struct audit_world world = { 0 };
	struct audit_verdict verdict;

	CU_ASSERT(audit_world_open(&world));
	CU_ASSERT(audit_close(audit_open(world.path)));
	verdict = audit_verdict_of(world.path);
	CU_ASSERT(verdict.entries == 0 && verdict.sessions == 0 && verdict.chains == 0 && verdict.broken_at == -1);
}

static CU_TestInfo row_tests[] = {
	{ "the reference's", accepts_the_references },
	{ "each byte", each_byte },
	{ "each column", each_column },
	{ "spoilt rows", each_spoil },
	{ "forged rows", each_forgery },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo file_tests[] = {
	{ "a log beside it", log_beside_it },
	{ "a strange name", strange_name },
	{ "a live one", live },
	{ "written meanwhile", written_meanwhile },
	{ "unreadable", each_unreadable },
	{ "empty", empty },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "rows", .pTests = row_tests },
	{ .pName = "files", .pTests = file_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("audit_verify", suites);
}
