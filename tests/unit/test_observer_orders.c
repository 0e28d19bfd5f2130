/* observer-orders, the real program, on a real database that the order service's own code writes. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "services/orders.h"
#include "tests/unit/observing.h"

#define PATH_BYTES 64

struct watch {
	char folder[PATH_BYTES], path[PATH_BYTES];
	struct observing observing;
	struct canary one, other;
};

static void end(struct watch *watch)
{
	struct error *err = NULL;

	observing_end(&watch->observing);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, watch->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define cleanup_watch __attribute__((cleanup(end)))

static bool give_folder(struct watch *watch)
{
	cleanup_fd int folder = open(watch->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder >= 0 && observing_give(&watch->observing, "folder", folder);
}

static bool start(struct watch *watch)
{
	snprintf(watch->folder, sizeof(watch->folder), "/tmp/harness-orders-XXXXXX");
	if (!mkdtemp(watch->folder))
		return false;
	snprintf(watch->path, sizeof(watch->path), "%.40s/orders.db", watch->folder);
	return observing_start(&watch->observing, "orders", NULL) &&
	       observing_expect(&watch->observing, "one", "", &watch->one) &&
	       observing_expect(&watch->observing, "other", "", &watch->other) && observing_ready(&watch->observing) &&
	       give_folder(watch);
}

static bool create(struct watch *watch, const char *reference)
{
	cleanup_orders struct orders *orders = NULL;
	struct order order = { .item = "book", .quantity = 1 };
	struct error *err = NULL;
	int64_t id = 0;

	snprintf(order.reference, sizeof(order.reference), "%s", reference);
	return orders_open(watch->path, &orders, &err) == 0 && orders_create(orders, &order, "c1", &id, &err) == 0 &&
	       test_no_error(&err) && id > 0;
}

static sqlite3 *connect(const struct watch *watch)
{
	sqlite3 *connection = NULL;

	CU_ASSERT_EQUAL(sqlite3_open(watch->path, &connection), SQLITE_OK);
	return connection;
}

static bool run(sqlite3 *connection, const char *sql)
{
	return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool change(const struct watch *watch, const char *sql)
{
	sqlite3 *connection = connect(watch);
	bool done = run(connection, sql);

	(void)sqlite3_close(connection);
	return done;
}

static bool copy_file(const char *from, const char *to)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC),
		       out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char bytes[4096];
	ssize_t got = -1;

	while (in >= 0 && out >= 0 && (got = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)got) != got)
			return false;
	return got == 0;
}

static const struct wire_record *record(const struct watch *watch, const char *subject)
{
	return observing_record(&watch->observing, "orders", subject);
}

static int64_t value(const struct watch *watch, const char *subject)
{
	return record(watch, subject)->status == WIRE_OBSERVED ? record(watch, subject)->value : -2;
}

static void counts_rows(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	char inside[ORDER_TEXT];

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, watch.observing.before.text));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT_EQUAL(value(&watch, "orders"), 0);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_after, 0);
	CU_ASSERT(create(&watch, watch.one.text));
	snprintf(inside, sizeof(inside), "order %s, please", watch.one.text);
	CU_ASSERT(create(&watch, inside));
	CU_ASSERT(create(&watch, "nobody's"));
	CU_ASSERT(create(&watch, watch.observing.after.text));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "one"), 2);
	CU_ASSERT_EQUAL(value(&watch, "other"), 0);
	CU_ASSERT_EQUAL(value(&watch, "orders"), 3);
	CU_ASSERT_EQUAL(value(&watch, "orders-other"), 1);
	CU_ASSERT_EQUAL(record(&watch, "one")->connections, 5);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_after, 1);
	CU_ASSERT_EQUAL(watch.observing.count, 4);
}

/* What is not committed, and what was rolled back, is no effect. */
static void only_what_is_committed(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	sqlite3 *writer;
	char insert[256];

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, "first"));
	snprintf(insert, sizeof(insert),
		 "INSERT INTO orders (reference, item, quantity, call) VALUES ('%s', 'book', 1, '')", watch.one.text);
	writer = connect(&watch);
	CU_ASSERT(run(writer, "BEGIN") && run(writer, insert));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT_EQUAL(value(&watch, "orders"), 1);
	CU_ASSERT(run(writer, "ROLLBACK"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT(run(writer, "BEGIN") && run(writer, insert) && run(writer, "COMMIT"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "one"), 1);
	(void)sqlite3_close(writer);
}

/* A write-ahead log that nobody moved to the database yet is part of it. */
static void reads_the_log(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	sqlite3 *writer;

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, "first"));
	CU_ASSERT(change(&watch, "PRAGMA journal_mode=WAL"));
	writer = connect(&watch);
	CU_ASSERT(run(writer, "PRAGMA wal_autocheckpoint=0"));
	CU_ASSERT(run(writer, "INSERT INTO orders (reference, item, quantity, call) VALUES ('x', 'book', 1, '')"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "orders"), 2);
	(void)sqlite3_close(writer);
}

/* What cannot be read is no zero. */
#define ORDERS(columns) "DROP TABLE orders; CREATE TABLE orders (" columns ")"
#define ID "id INTEGER PRIMARY KEY AUTOINCREMENT, "
static const struct {
	const char *name, *sql;
} others[] = {
	{ "no table", "DROP TABLE orders" },
	{ "a view", "ALTER TABLE orders RENAME TO o; CREATE VIEW orders AS SELECT * FROM o" },
	{ "a column less", ORDERS(ID "reference TEXT, item TEXT, quantity INTEGER") },
	{ "a column more", ORDERS(ID "reference TEXT, item TEXT, quantity INTEGER, call TEXT, hidden TEXT") },
	{ "other columns", ORDERS(ID "item TEXT, reference TEXT, quantity INTEGER, call TEXT") },
	{ "numbers that may come again",
	  ORDERS("id INTEGER PRIMARY KEY, reference TEXT, item TEXT, quantity INTEGER, call TEXT") },
	{ "numbers that may come again, and a comment",
	  ORDERS("id INTEGER PRIMARY KEY /* AUTOINCREMENT */, reference TEXT, item TEXT, quantity INTEGER, call "
		 "TEXT") ";INSERT INTO sqlite_sequence VALUES ('orders', 0)" },
	{ "and a default of that name",
	  ORDERS("id INTEGER PRIMARY KEY, reference TEXT, item TEXT DEFAULT 'AUTOINCREMENT', quantity INTEGER, call "
		 "TEXT") },
	{ "a row of another form",
	  ORDERS(ID "reference, item TEXT, quantity INTEGER, call TEXT") ";INSERT INTO orders VALUES "
									 "(1, x'00', 'book', 1, '')" },
};

static void is_blind(struct watch *watch, enum wire_reason reason)
{
	CU_ASSERT(observing_report(&watch->observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(watch, "one")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(record(watch, "one")->reason, (uint32_t)reason);
	CU_ASSERT_EQUAL(record(watch, "orders")->reason, (uint32_t)reason);
}

static void other_schemas(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_watch struct watch watch = { .one = { .text = "" } };

		CU_ASSERT(start(&watch));
		CU_ASSERT(create(&watch, watch.observing.before.text));
		CU_ASSERT(change(&watch, others[i].sql));
		is_blind(&watch, WIRE_REASON_INPUT_INVALID);
	}
}

static void absent(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };

	CU_ASSERT(start(&watch));
	is_blind(&watch, WIRE_REASON_INPUT_MISSING);
}

static void no_database(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	cleanup_fd int fd = -1;

	CU_ASSERT(start(&watch));
	fd = open(watch.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_EQUAL(write(fd, "no database, but long enough to look at", 39), 39);
	is_blind(&watch, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(unlink(watch.path), 0);
	CU_ASSERT_EQUAL(mkfifo(watch.path, 0600), 0);
	is_blind(&watch, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(unlink(watch.path), 0);
	CU_ASSERT_EQUAL(mkdir(watch.path, 0700), 0);
	is_blind(&watch, WIRE_REASON_INPUT_INVALID);
}

static void locked(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	sqlite3 *holder;

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, "first"));
	holder = connect(&watch);
	CU_ASSERT(run(holder, "BEGIN EXCLUSIVE"));
	is_blind(&watch, WIRE_REASON_TIMEOUT);
	CU_ASSERT(run(holder, "ROLLBACK"));
	(void)sqlite3_close(holder);
	/* and then it can be read again */
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "orders"), 1);
}

/* Who takes orders away makes all that follows worthless: between two readings, also where as many come back... */
static void reset(void)
{
	static const char *const ways[] = {
		"DELETE FROM orders WHERE id = 1",
		("DELETE FROM orders; DELETE FROM sqlite_sequence; INSERT INTO orders (reference, item, quantity, "
		 "call) "
		 "VALUES ('y', 'book', 1, '')"),
		"UPDATE orders SET id = id + 10",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_watch struct watch watch = { .one = { .text = "" } };

		CU_ASSERT(start(&watch));
		CU_ASSERT(create(&watch, "first") && create(&watch, "second"));
		CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
		CU_ASSERT_EQUAL(value(&watch, "orders"), 2);
		CU_ASSERT(change(&watch, ways[i]));
		is_blind(&watch, WIRE_REASON_TRUNCATED);
	}
}

/* ...and before the first: the number of an order is given once. */
static void taken_away(void)
{
	static const char *const ways[] = {
		"DELETE FROM orders WHERE id = 1",       "DELETE FROM orders WHERE id = 2",
		"DELETE FROM orders WHERE id = 3",       "DELETE FROM orders",
		"UPDATE orders SET id = 4 WHERE id = 3", "UPDATE orders SET id = -1 WHERE id = 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_watch struct watch watch = { .one = { .text = "" } };

		CU_ASSERT(start(&watch));
		CU_ASSERT(create(&watch, "first") && create(&watch, watch.one.text) && create(&watch, "third"));
		CU_ASSERT(change(&watch, ways[i]));
		is_blind(&watch, WIRE_REASON_TRUNCATED);
	}
}

/* Another database in the place of the one that was read, and none in its place. */
static void replaced(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, watch.observing.before.text) && create(&watch, watch.one.text));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&watch, "one"), 1);
	CU_ASSERT_EQUAL(unlink(watch.path), 0);
	is_blind(&watch, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT(create(&watch, "another"));
	is_blind(&watch, WIRE_REASON_TRUNCATED);
}

/* One that was replaced before the first reading lacks the marker that came before. */
static void replaced_early(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, watch.observing.before.text) && create(&watch, watch.one.text));
	CU_ASSERT_EQUAL(unlink(watch.path), 0);
	CU_ASSERT(create(&watch, watch.observing.after.text));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_before, 0);
	CU_ASSERT_EQUAL(record(&watch, "one")->beacon_after, 1);
}

/* A writer that died within its commit: its journal takes back what it had begun to write. */
static void died_writing(void)
{
	static const char *const parts[] = { "", "-journal" };
	cleanup_watch struct watch watch = { .one = { .text = "" } }, source = { .one = { .text = "" } };
	char insert[512];
	sqlite3 *writer;

	CU_ASSERT(start(&watch) && start(&source));
	CU_ASSERT(create(&source, "first"));
	writer = connect(&source);
	snprintf(insert, sizeof(insert),
		 "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
		 "INSERT INTO orders (reference, item, quantity, call) SELECT '%s', 'book', i, '' FROM n",
		 watch.one.text);
	CU_ASSERT(run(writer, "PRAGMA cache_size=1") && run(writer, "PRAGMA cache_spill=1") && run(writer, insert));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char from[PATH_BYTES + 16], to[PATH_BYTES + 16];

		snprintf(from, sizeof(from), "%s%s", source.path, parts[i]);
		snprintf(to, sizeof(to), "%s%s", watch.path, parts[i]);
		CU_ASSERT(copy_file(from, to));
	}
	CU_ASSERT(run(writer, "ROLLBACK"));
	(void)sqlite3_close(writer);
	is_blind(&watch, WIRE_REASON_INPUT_INVALID);
	/* whoever opens it next to write takes it back */
	CU_ASSERT(create(&watch, "second"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT_EQUAL(value(&watch, "orders"), 2);
}

static bool date(const struct watch *watch, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	return utimensat(AT_FDCWD, watch->path, times, 0) == 0;
}

/* Whatever the wall clock says when a row is written, forwards or back: no time takes part. */
static void clock_steps(void)
{
	static const time_t steps[] = { 4102444800, 0, 2147483648, 1 };
	cleanup_watch struct watch watch = { .one = { .text = "" } };

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, watch.observing.before.text));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		CU_ASSERT(create(&watch, watch.one.text) && date(&watch, steps[i]));
		CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(value(&watch, "one"), (int64_t)i + 1);
		CU_ASSERT_EQUAL(value(&watch, "orders"), (int64_t)i + 1);
	}
}

/* The observer leaves nothing behind, and changes nothing. */
static void read_only(void)
{
	cleanup_watch struct watch watch = { .one = { .text = "" } };
	struct stat before, after;

	CU_ASSERT(start(&watch));
	CU_ASSERT(create(&watch, "first"));
	CU_ASSERT_EQUAL(chmod(watch.path, 0400), 0);
	CU_ASSERT_EQUAL(stat(watch.path, &before), 0);
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "orders"), 1);
	CU_ASSERT_EQUAL(stat(watch.path, &after), 0);
	CU_ASSERT_EQUAL(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	CU_ASSERT_EQUAL(rmdir(watch.folder), -1);
	CU_ASSERT_EQUAL(unlink(watch.path), 0);
	CU_ASSERT_EQUAL(rmdir(watch.folder), 0);
}

static CU_TestInfo tests[] = {
	{ "rows by canary", counts_rows },
	{ "only what is committed", only_what_is_committed },
	{ "the write-ahead log", reads_the_log },
	{ "other schemas", other_schemas },
	{ "absent", absent },
	{ "no database", no_database },
	{ "locked", locked },
	{ "reset", reset },
	{ "an order is taken away", taken_away },
	{ "replaced", replaced },
	{ "replaced before the first reading", replaced_early },
	{ "a writer died", died_writing },
	{ "a clock that steps", clock_steps },
	{ "read-only", read_only },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "observer-orders", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_observer_orders", suites);
}
