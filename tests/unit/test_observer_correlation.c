/* observer-correlation, the real program, on a chain that the gateway's code writes and a database of the service's. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "services/orders.h"
#include "tests/unit/audit_writer.h"
#include "tests/unit/observing.h"

#define CALLS_MAX 3

struct watch {
	struct audit_world world;
	char orders[PATH_MAX];
	struct observing observing;
	struct canary order, other;
};

static void end(struct watch *watch)
{
	observing_end(&watch->observing);
	(void)unlink(watch->orders);
	audit_world_close(&watch->world);
}
#define cleanup_watch __attribute__((cleanup(end)))

static bool start(struct watch *watch)
{
	cleanup_fd int folder = -1;

	if (!audit_world_open(&watch->world) || !observing_start(&watch->observing, "correlation", NULL) ||
	    !observing_expect(&watch->observing, "order-gateway", "order_create", &watch->order) ||
	    !observing_expect(&watch->observing, "order-http", "", &watch->other) ||
	    !observing_ready(&watch->observing))
		return false;
	snprintf(watch->orders, sizeof(watch->orders), "%s/orders.db", watch->world.folder);
	folder = open(watch->world.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder >= 0 && observing_give(&watch->observing, "audit", folder) &&
	       observing_give(&watch->observing, "orders", folder);
}

struct call {
	const char *id, *item; /* of the order that it asks for */
	const char *decision, *type;
};
struct row {
	const char *call, *item;
	bool other; /* bears another subject's canary */
	bool nobody; /* bears none */
};

static bool write_entry(struct audit_store *store, const char *id, const char *tool, const char *type,
			const char *decision, const char *request)
{
	struct audit_entry entry = audit_entry_of("s1", type, id);
	char hash[80], hex[HEX_SHA256];
	struct error *err = NULL;

	hash_bytes(request, strlen(request), hex);
	snprintf(hash, sizeof(hash), "sha256:%s", hex);
	entry.request_payload_hash = tool ? hash : NULL;
	entry.tool_name = tool;
	entry.policy_decision = decision;
	(void)!audit_store_append(store, &entry, &err);
	return test_no_error(&err);
}

static bool write_calls(struct watch *watch, const struct call *calls)
{
	struct audit_store *store = audit_open(watch->world.path);
	const struct canary *markers[] = { &watch->observing.before, &watch->observing.after };
	char request[256];
	bool done = store && write_entry(store, NULL, NULL, "session_start", "n/a", "");

	for (size_t i = 0; i < 2 && done; i++) {
		snprintf(request, sizeof(request), "{\"value\":\"%s\"}", markers[i]->text);
		done = write_entry(store, "b", "beacon.tool", "tool_call", "allow", request);
	}
	for (size_t i = 0; i < CALLS_MAX && calls[i].id && done; i++) {
		snprintf(request, sizeof(request), "{\"item\":\"%s\",\"quantity\":1,\"reference\":\"%s\"}",
			 calls[i].item, watch->order.text);
		done = write_entry(store, calls[i].id, "order_create", calls[i].type ? calls[i].type : "tool_call",
				   calls[i].decision ? calls[i].decision : "allow", request);
	}
	return done && audit_close(store);
}

static bool write_order(struct orders *orders, const char *reference, const char *item, const char *call)
{
	struct order order = { .quantity = 1 };
	struct error *err = NULL;
	int64_t id = 0;

	snprintf(order.reference, sizeof(order.reference), "%s", reference);
	snprintf(order.item, sizeof(order.item), "%s", item);
	(void)!orders_create(orders, &order, call, &id, &err);
	return test_no_error(&err);
}

static bool write_rows(struct watch *watch, const struct row *rows)
{
	cleanup_orders struct orders *orders = NULL;
	struct error *err = NULL;
	bool done = orders_open(watch->orders, &orders, &err) == 0 && test_no_error(&err) &&
		    write_order(orders, watch->observing.before.text, "m", "") &&
		    write_order(orders, watch->observing.after.text, "m", "");

	for (size_t i = 0; i < CALLS_MAX && rows[i].item && done; i++) {
		const struct canary *bears = rows[i].other ? &watch->other : &watch->order;

		done = write_order(orders, rows[i].nobody ? "nobody" : bears->text, rows[i].item, rows[i].call);
	}
	return done;
}

static const struct {
	const char *name;
	struct call calls[CALLS_MAX];
	struct row rows[CALLS_MAX];
	const char *finds; /* the measures that are not 0 */
} cases[] = {
	{ "nothing", .finds = "" },
	{ "one call and its order, by what was asked for",
	  { { "c1", "book", NULL, NULL } },
	  { { "", "book", false, false } },
	  "joined=1 row-without-id=1 " },
	{ "by its id", { { "c1", "book", NULL, NULL } }, { { "c1", "book", false, false } }, "joined=1 " },
	{ "an intent is no call",
	  { { "c1", "book", NULL, "call_intent" }, { "c1", "book", NULL, NULL } },
	  { { "c1", "book", false, false } },
	  "joined=1 " },
	{ "a call that nobody knows the end of, and its row",
	  { { "c1", "book", "n/a", "call_intent" }, { "c1", "book", "fault", "fault" } },
	  { { "c1", "book", false, false } },
	  "joined=1 " },
	{ "and two of them",
	  { { "c1", "book", "n/a", "call_intent" }, { "c1", "book", "fault", "fault" } },
	  { { "c1", "book", false, false }, { "c1", "book", false, false } },
	  "joined=1 row-again=1 " },
	{ "and none", .calls = { { "c1", "book", "n/a", "call_intent" }, { "c1", "book", "fault", "fault" } },
	  .finds = "" },
	{ "a call that was never allowed, and a row under its id",
	  { { "c1", "book", "fault", "fault" } },
	  { { "c1", "book", false, false } },
	  "row-without-call=1 " },
	{ "a row without a call", .rows = { { "", "book", false, false } }, .finds = "row-without-call=1 " },
	{ "a row of nobody's", .rows = { { "", "book", false, true } }, .finds = "row-without-call=1 " },
	{ "a row of another path is no matter of a call", .rows = { { "", "book", true, false } }, .finds = "" },
	{ "a row of another path under the id of a call",
	  { { "c1", "book", NULL, NULL } },
	  { { "c1", "book", false, false }, { "c1", "book", true, false } },
	  "joined=1 copied-id=1 " },
	{ "and under an id that no call has", .rows = { { "c9", "book", true, false } },
	  .finds = "row-without-call=1 " },
	{ "a call without a row", .calls = { { "c1", "book", NULL, NULL } }, .finds = "call-without-row=1 " },
	{ "a denied call without a row", .calls = { { "c1", "book", "deny", NULL } }, .finds = "" },
	{ "a row of a denied call",
	  { { "c1", "book", "deny", NULL } },
	  { { "", "book", false, false } },
	  "row-of-denied=1 " },
	{ "two rows of one call",
	  { { "c1", "book", NULL, NULL } },
	  { { "", "book", false, false }, { "", "book", false, false } },
	  "joined=1 row-again=1 row-without-id=1 " },
	{ "two rows under one id",
	  { { "c1", "book", NULL, NULL } },
	  { { "c1", "book", false, false }, { "c1", "book", false, false } },
	  "joined=1 row-again=1 " },
	{ "two calls that ask for the same, each with its row",
	  { { "c1", "book", NULL, NULL }, { "c2", "book", NULL, NULL } },
	  { { "c2", "book", false, false }, { "c1", "book", false, false } },
	  "joined=2 " },
	{ "two calls that ask for the same, and two rows under one id",
	  { { "c1", "book", NULL, NULL }, { "c2", "book", NULL, NULL } },
	  { { "c1", "book", false, false }, { "c1", "book", false, false } },
	  "joined=1 call-without-row=1 row-again=1 " },
	{ "a call that was denied for its answer",
	  { { "c1", "book", "deny", "egress_denied" } },
	  { { "c1", "book", false, false } },
	  "row-of-denied=1 " },
	{ "a copied id",
	  { { "c1", "book", NULL, NULL } },
	  { { "c1", "book", false, false }, { "c1", "pen", false, false } },
	  "joined=1 copied-id=1 " },
	{ "another order than was asked for",
	  { { "c1", "book", NULL, NULL } },
	  { { "", "pen", false, false } },
	  "row-without-call=1 call-without-row=1 " },
	{ "two calls under one id",
	  { { "c1", "book", NULL, NULL }, { "c1", "book", NULL, NULL } },
	  { { "", "book", false, false }, { "", "book", false, false } },
	  "joined=2 call-again=1 row-without-id=2 " },
};

static void findings(const struct watch *watch, struct buf *out)
{
	for (const char *const *measure = observer_kind_find("correlation")->measures; *measure; measure++) {
		const struct wire_record *record = observing_record(&watch->observing, "correlation", *measure);

		CU_ASSERT_EQUAL(record->status, WIRE_OBSERVED);
		CU_ASSERT_EQUAL(record->beacon_before, 1);
		CU_ASSERT_EQUAL(record->beacon_after, 1);
		if (record->value)
			(void)buf_printf(out, "%s=%lld ", *measure, (long long)record->value);
	}
}

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_watch struct watch watch = { .orders = "" };
		cleanup_buf struct buf found = BUF(KIB);

		CU_ASSERT(start(&watch) && write_calls(&watch, cases[i].calls) && write_rows(&watch, cases[i].rows));
		CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
		findings(&watch, &found);
		if (strcmp(buf_string(&found), cases[i].finds) != 0)
			fprintf(stderr, "%s: %s\n", cases[i].name, buf_string(&found));
		CU_ASSERT_STRING_EQUAL(buf_string(&found), cases[i].finds);
	}
}

static void is_blind(struct watch *watch, enum wire_reason reason)
{
	CU_ASSERT(observing_report(&watch->observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&watch->observing, "correlation", "joined")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(observing_record(&watch->observing, "correlation", "joined")->reason, (uint32_t)reason);
}

/* One of both is not enough to join anything. */
static void test_one_alone(void)
{
	static const struct call calls[CALLS_MAX] = { { "c1", "book", NULL, NULL } };
	cleanup_watch struct watch watch = { .orders = "" };
	sqlite3 *connection = NULL;

	CU_ASSERT(start(&watch) && write_calls(&watch, calls));
	is_blind(&watch, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT(write_rows(&watch, (const struct row[CALLS_MAX]){ { "", "book", false, false } }));
	CU_ASSERT_EQUAL(sqlite3_open(watch.world.path, &connection), SQLITE_OK);
	CU_ASSERT_EQUAL(
		sqlite3_exec(connection, "UPDATE audit_entries SET payload = 'x' WHERE rowid = 1", NULL, NULL, NULL),
		SQLITE_OK);
	(void)sqlite3_close(connection);
	is_blind(&watch, WIRE_REASON_INPUT_INVALID);
}

/* A marker in one of both is no sight of both. */
static void test_markers(void)
{
	static const struct call none[CALLS_MAX] = { { NULL, NULL, NULL, NULL } };
	cleanup_watch struct watch watch = { .orders = "" };
	cleanup_orders struct orders *orders = NULL;
	struct error *err = NULL;

	CU_ASSERT(start(&watch) && write_calls(&watch, none));
	CU_ASSERT_EQUAL(orders_open(watch.orders, &orders, &err), 0);
	CU_ASSERT(test_no_error(&err) && write_order(orders, watch.observing.after.text, "m", ""));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "joined")->beacon_before, 0);
	CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "joined")->beacon_after, 1);
}

static sqlite3 *connect(const char *path)
{
	sqlite3 *connection = NULL;

	CU_ASSERT_EQUAL(sqlite3_open(path, &connection), SQLITE_OK);
	return connection;
}

static void change(const char *path, const char *sql)
{
	sqlite3 *connection = connect(path);

	CU_ASSERT_EQUAL(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(connection);
}

/* One call and its order, joined in the first report. */
static bool join(struct watch *watch)
{
	static const struct call calls[CALLS_MAX] = { { "c1", "book", NULL, NULL } };
	static const struct row rows[CALLS_MAX] = { { "c1", "book", false, false } };

	if (!start(watch) || !write_calls(watch, calls) || !write_rows(watch, rows) ||
	    !observing_report(&watch->observing, WIRE_BEFORE))
		return false;
	return observing_record(&watch->observing, "correlation", "joined")->value == 1;
}

/* Either database goes away, or is another one. */
static void test_down(void)
{
	cleanup_watch struct watch chain = { .orders = "" }, orders = { .orders = "" };

	CU_ASSERT(join(&chain) && join(&orders));
	CU_ASSERT_EQUAL(unlink(chain.world.path), 0);
	is_blind(&chain, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(unlink(orders.orders), 0);
	is_blind(&orders, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT(write_rows(&orders, (const struct row[CALLS_MAX]){ { "c1", "book", false, false } }));
	CU_ASSERT(observing_report(&orders.observing, WIRE_AFTER));
	/* a database made anew, with the same in it, cannot be told from the first */
	CU_ASSERT_EQUAL(observing_record(&orders.observing, "correlation", "joined")->value, 1);
}

/* Somebody holds either of them while the observer is asked. */
static void test_locked(void)
{
	cleanup_watch struct watch watch = { .orders = "" };

	CU_ASSERT(join(&watch));
	for (size_t i = 0; i < 2; i++) {
		sqlite3 *holder = connect(i ? watch.orders : watch.world.path);

		CU_ASSERT_EQUAL(
			sqlite3_exec(holder, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
			SQLITE_OK);
		is_blind(&watch, WIRE_REASON_TIMEOUT);
		(void)sqlite3_close(holder);
	}
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "joined")->value, 1);
}

static void test_read_only(void)
{
	cleanup_watch struct watch watch = { .orders = "" };

	CU_ASSERT(join(&watch));
	CU_ASSERT_EQUAL(chmod(watch.orders, 0400), 0);
	CU_ASSERT_EQUAL(chmod(watch.world.path, 0400), 0);
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "joined")->value, 1);
}

/* What is gone, or of another form, joins nothing, and leaves no call without its row. */
static void test_changed(void)
{
	static const struct {
		bool chain;
		const char *sql;
		enum wire_reason reason;
	} rows[] = {
		{ false, "DELETE FROM orders WHERE reference LIKE '%'", WIRE_REASON_TRUNCATED },
		{ false, "DELETE FROM orders WHERE call = 'c1'", WIRE_REASON_TRUNCATED },
		{ false, "DROP TABLE orders", WIRE_REASON_INPUT_INVALID },
		{ false, "ALTER TABLE orders ADD COLUMN price TEXT", WIRE_REASON_INPUT_INVALID },
		{ true, "DELETE FROM audit_entries WHERE rowid = 4", WIRE_REASON_TRUNCATED },
		{ true, "DELETE FROM audit_entries", WIRE_REASON_TRUNCATED },
		{ true, "DROP TABLE audit_entries", WIRE_REASON_INPUT_INVALID },
		{ true, "ALTER TABLE audit_entries RENAME COLUMN payload TO row", WIRE_REASON_INPUT_INVALID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_watch struct watch watch = { .orders = "" };

		CU_ASSERT(join(&watch));
		change(rows[i].chain ? watch.world.path : watch.orders, rows[i].sql);
		is_blind(&watch, rows[i].reason);
	}
}

/* What was rolled back is no order of any call. */
static void test_rolled_back(void)
{
	static const struct call calls[CALLS_MAX] = { { "c1", "book", NULL, NULL } };
	cleanup_watch struct watch watch = { .orders = "" };
	sqlite3 *writer;
	char sql[256];

	CU_ASSERT(start(&watch) && write_calls(&watch, calls) &&
		  write_rows(&watch, (const struct row[CALLS_MAX]){ { NULL, NULL, false, false } }));
	writer = connect(watch.orders);
	snprintf(sql, sizeof(sql),
		 "BEGIN; INSERT INTO orders (reference, item, quantity, call) VALUES ('%s', 'book', 1, 'c1')",
		 watch.order.text);
	CU_ASSERT_EQUAL(sqlite3_exec(writer, sql, NULL, NULL, NULL), SQLITE_OK);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "joined")->value, 0);
		CU_ASSERT_EQUAL(observing_record(&watch.observing, "correlation", "call-without-row")->value, 1);
		CU_ASSERT_EQUAL(sqlite3_exec(writer, i ? "SELECT 1" : "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	}
	(void)sqlite3_close(writer);
}

static CU_TestInfo tests[] = {
	{ "each case", test_cases },
	{ "one database alone", test_one_alone },
	{ "markers", test_markers },
	{ "down", test_down },
	{ "locked", test_locked },
	{ "read-only", test_read_only },
	{ "reset, or of another form", test_changed },
	{ "rolled back", test_rolled_back },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "observer-correlation", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_observer_correlation", suites);
}
