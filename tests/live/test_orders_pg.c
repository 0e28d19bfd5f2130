/* Orders in PostgreSQL on a real cluster (ci/postgres): who may write what, and what its observer makes of a database
 * that is locked, gone, reset, read-only or of another form: never a zero. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/postgres.h"
#include "observers/wire.h"
#include "runner/cluster.h"
#include "services/orders.h"
#include "tests/unit/child.h"
#include "tests/unit/observing.h"

#define OWNER "order_owner"
#define SERVICE "order_service"
#define WRITER "order_writer"
#define ASK_MS 3000

struct world {
	char name[CLUSTER_NAME_BYTES], url[POSTGRES_URL_BYTES];
	struct observing observing;
	struct canary one, other;
};

static void world_end(struct world *world)
{
	struct error *err = NULL;

	observing_end(&world->observing);
	CU_ASSERT_EQUAL(cluster_drop(POSTGRES_FOLDER, world->name, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define WORLD __attribute__((cleanup(world_end))) struct world

static bool give_folder(struct world *world, const char *path)
{
	cleanup_fd int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder >= 0 && observing_give(&world->observing, "folder", folder);
}

static bool observe(struct world *world, const char *folder)
{
	return observing_start(&world->observing, "orders-pg", world->name) &&
	       observing_expect(&world->observing, "order-http", "", &world->one) &&
	       observing_expect(&world->observing, "order-service", "", &world->other) &&
	       observing_ready(&world->observing) && give_folder(world, folder);
}

static bool begin(struct world *world)
{
	static unsigned made;
	struct error *err = NULL;

	*world = (struct world){ .url = "" };
	snprintf(world->name, sizeof(world->name), "harness_test_%d_%u", getpid(), made++);
	return cluster_create(POSTGRES_FOLDER, world->name, &err) == 0 && test_no_error(&err) &&
	       postgres_url(POSTGRES_FOLDER, world->name, world->url, &err) == 0 && observe(world, POSTGRES_FOLDER);
}

static struct postgres *connect_as(const struct world *world, const char *role)
{
	struct postgres *postgres = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(postgres_open(world->url, role, clock_deadline(ASK_MS), &postgres, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return postgres;
}

/* 0, or the error's code. */
static int say(struct postgres *postgres, const char *sql)
{
	cleanup_error struct error *err = NULL;

	if (!postgres)
		return ERROR_INTERNAL;
	return postgres_run(postgres, sql, NULL, 0, clock_deadline(ASK_MS), NULL, NULL, &err) == 0 ? 0
												   : error_code(err);
}

static int say_as(const struct world *world, const char *role, const char *sql)
{
	cleanup_postgres struct postgres *postgres = connect_as(world, role);

	return say(postgres, sql);
}

#define INSERT "INSERT INTO public.orders (reference, item, quantity, call) VALUES "

static bool create(const struct world *world, const char *reference)
{
	cleanup_orders struct orders *orders = NULL;
	struct order order = { .item = "book", .quantity = 1 };
	struct error *err = NULL;
	int64_t id = 0;

	snprintf(order.reference, sizeof(order.reference), "%s", reference);
	return orders_open(world->url, &orders, &err) == 0 && orders_create(orders, &order, "c1", &id, &err) == 0 &&
	       test_no_error(&err) && id > 0;
}

static bool write_row(const struct world *world, const char *role, const char *reference)
{
	char sql[256];

	snprintf(sql, sizeof(sql), INSERT "('%s', 'x', 1, '')", reference);
	return say_as(world, role, sql) == 0;
}

static const struct wire_record *record(const struct world *world, const char *subject)
{
	return observing_record(&world->observing, "orders-pg", subject);
}

static int64_t value(const struct world *world, const char *subject)
{
	return record(world, subject)->status == WIRE_OBSERVED ? record(world, subject)->value : -2;
}

static void check_unseen(struct world *world, enum wire_reason reason)
{
	static const char *const subjects[] = { "orders", "orders-other", "roles-other", "transactions", "order-http" };

	CU_ASSERT(observing_report(&world->observing, WIRE_AFTER));
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		CU_ASSERT_EQUAL(record(world, subjects[i])->status, WIRE_NOT_OBSERVABLE);
		CU_ASSERT_EQUAL(record(world, subjects[i])->reason, (uint32_t)reason);
	}
}

/* ---- what is there ---- */

static void test_counts(void)
{
	WORLD world;

	CU_ASSERT(begin(&world));
	CU_ASSERT(write_row(&world, WRITER, world.observing.before.text));
	CU_ASSERT(create(&world, world.one.text) && create(&world, "nobody") && create(&world, "it's, a \\ \"text\""));
	CU_ASSERT(write_row(&world, WRITER, world.other.text));
	CU_ASSERT(write_row(&world, WRITER, world.observing.after.text));
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 4);
	CU_ASSERT_EQUAL(value(&world, "orders-other"), 2);
	CU_ASSERT_EQUAL(value(&world, "order-http"), 1);
	CU_ASSERT_EQUAL(value(&world, "order-service"), 1);
	CU_ASSERT_EQUAL(value(&world, "roles-other"), 0);
	CU_ASSERT_EQUAL(value(&world, "transactions"), 4);
	CU_ASSERT_EQUAL(record(&world, "orders")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&world, "orders")->beacon_after, 1);
}

/* The programs of the deployment: each says what it made, and is another role. */
static void test_programs(void)
{
	static const char *const names[] = { "order-import", "order-writer" };
	WORLD world;

	CU_ASSERT(begin(&world));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[1024], name[32], url[POSTGRES_URL_BYTES], says[256];
		char *argv[] = { name, url, NULL };
		struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_buf struct buf heard = BUF(KIB);
		cleanup_fd int in = memfd_create("in", MFD_CLOEXEC);
		struct error *err = NULL;

		snprintf(name, sizeof(name), "%s", names[i]);
		snprintf(url, sizeof(url), "%s", world.url);
		snprintf(says, sizeof(says), i == 0 ? "{\"reference\":\"%s\",\"item\":\"m\",\"quantity\":1}" : "%s",
			 i == 0 ? world.one.text : world.other.text);
		CU_ASSERT_EQUAL(spawn_helper_path(name, path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(write(in, says, strlen(says)), (ssize_t)strlen(says));
		CU_ASSERT_EQUAL(lseek(in, 0, SEEK_SET), 0);
		map(&options, in, STDIN_FILENO);
		CU_ASSERT_EQUAL(run(&options, &heard), 0);
		CU_ASSERT(test_no_error(&err));
	}
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "order-http"), 1);
	CU_ASSERT_EQUAL(value(&world, "order-service"), 1);
	CU_ASSERT_EQUAL(value(&world, "roles-other"), 0);
}

/* A row of a path, written by who has no part in it; and a marker that is none. */
static void test_roles(void)
{
	WORLD world;

	CU_ASSERT(begin(&world));
	CU_ASSERT(write_row(&world, WRITER, world.one.text));
	CU_ASSERT(write_row(&world, SERVICE, world.other.text));
	CU_ASSERT(write_row(&world, SERVICE, world.observing.before.text));
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "roles-other"), 3);
	CU_ASSERT_EQUAL(value(&world, "orders"), 3);
	CU_ASSERT_EQUAL(record(&world, "orders")->beacon_before, 0);
}

static void test_transactions(void)
{
	WORLD world;

	CU_ASSERT(begin(&world));
	CU_ASSERT_EQUAL(say_as(&world, SERVICE, INSERT "('a', 'x', 1, ''), ('b', 'x', 1, '')"), 0);
	CU_ASSERT(create(&world, "c"));
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 3);
	CU_ASSERT_EQUAL(value(&world, "transactions"), 2);
}

/* What is not committed is no order, and what was rolled back never was one. */
static void test_uncommitted(void)
{
	WORLD world;
	cleanup_postgres struct postgres *writer = NULL;

	CU_ASSERT(begin(&world));
	writer = connect_as(&world, SERVICE);
	CU_ASSERT(say(writer, "BEGIN") == 0 && say(writer, INSERT "('a', 'x', 1, '')") == 0);
	CU_ASSERT(observing_report(&world.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&world, "orders"), 0);
	CU_ASSERT(say(writer, "ROLLBACK") == 0 && say(writer, "BEGIN") == 0);
	CU_ASSERT(say(writer, INSERT "('b', 'x', 1, '')") == 0 && say(writer, "COMMIT") == 0);
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 1);
}

/* ---- who may do what ---- */

static void test_least_privilege(void)
{
	static const struct {
		const char *role, *sql;
	} rows[] = {
		{ SERVICE, "INSERT INTO public.orders (reference, item, quantity, call, role) VALUES ('a', 'b', 1, '', "
			   "'order_writer')" },
		{ WRITER, "INSERT INTO public.orders (reference, item, quantity, call, role) VALUES ('a', 'b', 1, '', "
			  "'order_service')" },
		{ SERVICE, "INSERT INTO public.orders (reference, item, quantity, call, transaction) VALUES ('a', 'b', "
			   "1, '', '7')" },
		{ SERVICE, "INSERT INTO public.orders (id, reference, item, quantity, call) OVERRIDING SYSTEM VALUE "
			   "VALUES (1, 'a', 'b', 1, '')" },
		{ SERVICE, "UPDATE public.orders SET item = 'c'" },
		{ SERVICE, "DELETE FROM public.orders" },
		{ WRITER, "TRUNCATE public.orders" },
		{ WRITER, "SELECT id FROM public.orders" },
		{ SERVICE, "SELECT reference FROM public.orders" },
		{ SERVICE, "SET SESSION AUTHORIZATION order_writer" },
		{ SERVICE, "SET ROLE order_writer" },
		{ SERVICE, "CREATE TABLE public.other (a text)" },
		{ "order_observer", INSERT "('a', 'b', 1, '')" },
		{ "order_observer", "DELETE FROM public.orders" },
	};
	WORLD world;

	CU_ASSERT(begin(&world));
	CU_ASSERT(create(&world, world.one.text));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int code = say_as(&world, rows[i].role, rows[i].sql);

		if (code != ERROR_REFUSED)
			fprintf(stderr, "%s: %s\n", rows[i].role, rows[i].sql);
		CU_ASSERT_EQUAL(code, ERROR_REFUSED);
	}
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 1);
	CU_ASSERT_EQUAL(value(&world, "roles-other"), 0);
}

/* A service whose connection was ended makes no order, says so, and makes the next one. */
static void test_comes_back(void)
{
	WORLD world;
	cleanup_orders struct orders *orders = NULL;
	struct order order = { .reference = "r", .item = "book", .quantity = 1 };
	struct error *err = NULL;
	int64_t id = 0;

	CU_ASSERT(begin(&world));
	CU_ASSERT_EQUAL(orders_open(world.url, &orders, &err), 0);
	CU_ASSERT_EQUAL(say_as(&world, OWNER,
			       "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'order_service' "
			       "AND datname = current_database()"),
			0);
	CU_ASSERT(orders && orders_create(orders, &order, "", &id, &err) < 0);
	CU_ASSERT_EQUAL(error_code(err), ERROR_CLOSED);
	error_free(steal_pointer(&err));
	CU_ASSERT(orders && orders_create(orders, &order, "", &id, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 1);
}

static void test_read_only(void)
{
	WORLD world;
	cleanup_orders struct orders *orders = NULL;
	struct order order = { .reference = "r", .item = "book", .quantity = 1 };
	cleanup_error struct error *err = NULL;
	char sql[128];
	int64_t id = 0;

	CU_ASSERT(begin(&world));
	CU_ASSERT(create(&world, world.one.text));
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s SET default_transaction_read_only = on", world.name);
	CU_ASSERT_EQUAL(say_as(&world, OWNER, sql), 0);
	/* Already the look at what an order would do is refused. */
	CU_ASSERT(orders_open(world.url, &orders, &err) < 0 || orders_create(orders, &order, "", &id, &err) < 0);
	CU_ASSERT_EQUAL(error_code(err), ERROR_REFUSED);
	CU_ASSERT_FALSE(write_row(&world, WRITER, world.observing.after.text));
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 1);
	CU_ASSERT_EQUAL(record(&world, "orders")->beacon_after, 0);
}

/* ---- what must not be a zero ---- */

static const char *const forms[] = {
	"DROP TABLE public.orders",
	"ALTER TABLE public.orders RENAME TO old",
	"ALTER TABLE public.orders ADD COLUMN more text",
	"ALTER TABLE public.orders DROP COLUMN role",
	"ALTER TABLE public.orders RENAME COLUMN reference TO name",
	"ALTER TABLE public.orders ALTER COLUMN quantity TYPE text",
	"ALTER TABLE public.orders ALTER COLUMN call DROP NOT NULL",
	"ALTER TABLE public.orders ALTER COLUMN role SET DEFAULT 'order_service'",
	"ALTER TABLE public.orders ALTER COLUMN role SET DEFAULT current_user",
	"ALTER TABLE public.orders ALTER COLUMN transaction DROP DEFAULT",
	"ALTER TABLE public.orders ENABLE ROW LEVEL SECURITY",
	"CREATE RULE nothing AS ON INSERT TO public.orders WHERE NEW.quantity > 9 DO INSTEAD NOTHING",
	"CREATE TABLE public.more () INHERITS (public.orders)",
	("CREATE TRIGGER later AFTER INSERT ON public.orders EXECUTE FUNCTION "
	 "pg_catalog.suppress_redundant_updates_trigger()"),
	"GRANT INSERT (role) ON public.orders TO order_writer",
	"GRANT UPDATE ON public.orders TO order_service",
	"GRANT INSERT ON public.orders TO PUBLIC",
	"GRANT TRIGGER ON public.orders TO order_service",
	"REVOKE SELECT ON public.orders FROM order_observer",
};

static void test_forms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		WORLD world;
		int code;

		CU_ASSERT(begin(&world));
		CU_ASSERT(observing_report(&world.observing, WIRE_BEFORE));
		CU_ASSERT_EQUAL(value(&world, "orders"), 0);
		code = say_as(&world, OWNER, forms[i]);
		if (code)
			fprintf(stderr, "%s\n", forms[i]);
		CU_ASSERT_EQUAL(code, 0);
		check_unseen(&world, WIRE_REASON_INPUT_INVALID);
	}
}

static void test_view(void)
{
	WORLD world;

	CU_ASSERT(begin(&world));
	CU_ASSERT_EQUAL(say_as(&world, OWNER, "ALTER TABLE public.orders RENAME TO old"), 0);
	CU_ASSERT_EQUAL(say_as(&world, OWNER, "CREATE VIEW public.orders AS SELECT * FROM public.old"), 0);
	CU_ASSERT_EQUAL(say_as(&world, OWNER, "GRANT SELECT ON public.orders TO order_observer"), 0);
	check_unseen(&world, WIRE_REASON_INPUT_INVALID);
}

static void test_locked(void)
{
	WORLD world;
	cleanup_postgres struct postgres *holder = NULL;

	CU_ASSERT(begin(&world));
	holder = connect_as(&world, OWNER);
	CU_ASSERT(say(holder, "BEGIN") == 0 && say(holder, "LOCK TABLE public.orders IN ACCESS EXCLUSIVE MODE") == 0);
	check_unseen(&world, WIRE_REASON_TIMEOUT);
	CU_ASSERT_EQUAL(say_as(&world, SERVICE, INSERT "('a', 'x', 1, '')"), ERROR_TIMEOUT);
	CU_ASSERT_EQUAL(say(holder, "COMMIT"), 0);
	CU_ASSERT(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&world, "orders"), 0);
}

static void test_gone(void)
{
	WORLD world;
	struct error *err = NULL;

	CU_ASSERT(begin(&world));
	CU_ASSERT(create(&world, world.one.text) && observing_report(&world.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(value(&world, "orders"), 1);
	CU_ASSERT_EQUAL(cluster_drop(POSTGRES_FOLDER, world.name, &err), 0);
	CU_ASSERT(test_no_error(&err));
	check_unseen(&world, WIRE_REASON_INPUT_MISSING);
}

/* A folder in which no server listens: it is away. */
static void test_no_server(void)
{
	WORLD world;
	char folder[] = "/tmp/harness-pg-XXXXXX";

	CU_ASSERT(begin(&world) && mkdtemp(folder));
	observing_end(&world.observing);
	world.observing = (struct observing){ .process = NULL };
	CU_ASSERT(observe(&world, folder));
	check_unseen(&world, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* Also where as many come back, with the same numbers. */
static void test_reset(void)
{
	static const char *const rows[][2] = {
		{ "DELETE FROM public.orders WHERE id = 1", NULL },
		{ "TRUNCATE public.orders RESTART IDENTITY", NULL },
		{ "TRUNCATE public.orders RESTART IDENTITY",
		  INSERT "('a', 'x', 1, ''), ('b', 'x', 1, ''), ('c', 'x', 1, '')" },
		{ "UPDATE public.orders SET transaction = pg_catalog.pg_current_xact_id()", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD world;

		CU_ASSERT(begin(&world));
		CU_ASSERT(create(&world, "a") && create(&world, "b"));
		CU_ASSERT(observing_report(&world.observing, WIRE_BEFORE));
		CU_ASSERT_EQUAL(value(&world, "orders"), 2);
		CU_ASSERT_EQUAL(say_as(&world, OWNER, rows[i][0]), 0);
		CU_ASSERT(!rows[i][1] || say_as(&world, SERVICE, rows[i][1]) == 0);
		check_unseen(&world, WIRE_REASON_TRUNCATED);
		/* And stays so. */
		CU_ASSERT(create(&world, "d"));
		check_unseen(&world, WIRE_REASON_TRUNCATED);
	}
}

/* ---- databases of arms ---- */

static void test_sweep(void)
{
	static const char run[] = "0123456789abcdef0123456789abcdef";
	static const char *const paths[] = { "/tmp/harness-arm-01234567-aB3dE6", "/tmp/harness-arm-01234567-zzzzzz" };
	char names[2][CLUSTER_NAME_BYTES];
	struct error *err = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cluster_name(run, paths[i], names[i]);
		CU_ASSERT_EQUAL(cluster_create(POSTGRES_FOLDER, names[i], &err), 0);
	}
	CU_ASSERT_STRING_EQUAL(names[0], "harness_0123456789abcdef0123456789abcdef_aB3dE6");
	CU_ASSERT_EQUAL(cluster_sweep(POSTGRES_FOLDER, "00000000000000000000000000000000", &count, &err), 0);
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(cluster_sweep(POSTGRES_FOLDER, run, &count, &err), 0);
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(cluster_sweep("/nowhere", NULL, &count, &err), 0);
	CU_ASSERT_EQUAL(cluster_create("/nowhere", names[0], &err), -ERROR_REFUSED);
	error_free(err);
}

static CU_TestInfo tests[] = {
	{ "rows by canary, role and transaction", test_counts },
	{ "the programs of the deployment", test_programs },
	{ "rows of another role", test_roles },
	{ "rows of one transaction", test_transactions },
	{ "what is not committed", test_uncommitted },
	{ "what the roles may not", test_least_privilege },
	{ "a connection that was ended", test_comes_back },
	{ "a read-only database", test_read_only },
	{ "tables of another form", test_forms },
	{ "a view", test_view },
	{ "a locked table", test_locked },
	{ "a database that is gone", test_gone },
	{ "no server", test_no_server },
	{ "a table that was reset", test_reset },
	{ "databases that arms left", test_sweep },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "orders in PostgreSQL", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	char version[CLUSTER_VERSION_BYTES] = "";
	unsigned count = 0;

	if (geteuid() == 0)
		cluster_version(POSTGRES_FOLDER, version);
	if (version[0])
		return test_main("test_orders_pg", suites);
	for (const CU_TestInfo *test = tests; test->pName; test++, count++)
		printf("test_orders_pg: skipped: %s: needs root, and a cluster (ci/postgres start)\n", test->pName);
	printf("test_orders_pg: 0 passed, 0 failed, %u skipped\n", count);
	return 0;
}
