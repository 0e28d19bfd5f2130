/* What makes orders in the example, each as the real program on one real database, and the observer that counts them.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "services/orders.h"
#include "tests/unit/child.h"
#include "tests/unit/observing.h"

#define PATH_BYTES 64
#define HEARD_BYTES (64 * KIB)

struct world {
	char folder[PATH_BYTES], path[PATH_BYTES];
};

static void world_end(struct world *world)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define cleanup_world __attribute__((cleanup(world_end)))

static bool world_begin(struct world *world)
{
	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-orders-XXXXXX");
	if (!mkdtemp(world->folder))
		return false;
	snprintf(world->path, sizeof(world->path), "%.40s/orders.db", world->folder);
	return true;
}

/* Runs a helper on the database, with `says` as its standard input. Returns its exit code. */
static int helper(const struct world *world, const char *name, const char *says, struct buf *heard)
{
	char program[1024], path[PATH_BYTES], word[32];
	char *argv[] = { word, path, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv };
	cleanup_fd int in = memfd_create("in", MFD_CLOEXEC);
	struct error *err = NULL;

	snprintf(path, sizeof(path), "%s", world->path);
	snprintf(word, sizeof(word), "%s", name);
	CU_ASSERT_EQUAL(spawn_helper_path(name, program, sizeof(program), &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(write(in, says, strlen(says)), (ssize_t)strlen(says));
	CU_ASSERT_EQUAL(lseek(in, 0, SEEK_SET), 0);
	map(&options, in, STDIN_FILENO);
	return run(&options, heard);
}

static bool service_makes(const struct world *world, const char *reference)
{
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);
	char says[1024];

	snprintf(says, sizeof(says),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"order_create\","
		 "\"arguments\":{\"reference\":\"%s\",\"item\":\"book\",\"quantity\":1},\"_meta\":{\"call_id\":\"c1\"}}"
		 "}\n",
		 reference);
	return helper(world, "order-service", says, &heard) == 0 && strstr(buf_string(&heard), "\"text\":\"order ");
}

static bool import_makes(const struct world *world, const char *reference)
{
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);
	char says[1024];

	snprintf(says, sizeof(says), "no order\n{\"reference\":\"%s\",\"item\":\"book\",\"quantity\":1}", reference);
	return helper(world, "order-import", says, &heard) == 0 && strcmp(buf_string(&heard), "imported 1 of 2\n") == 0;
}

static bool writer_makes(const struct world *world, const char *reference)
{
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);

	return helper(world, "order-writer", reference, &heard) == 0;
}

/* ---- the endpoint --------------------------------------------------------------------------------------------------
 */

struct endpoint {
	struct child child;
	struct pipe in, out;
	int port;
};
#define ENDPOINT                                                                                                       \
	{                                                                                                              \
		.child = CHILD_NONE, .in = { -1, -1 }, .out = { -1, -1 }                                               \
	}

static void endpoint_end(struct endpoint *endpoint)
{
	child_end(&endpoint->child);
	pipe_close(&endpoint->in);
	pipe_close(&endpoint->out);
}
#define cleanup_endpoint __attribute__((cleanup(endpoint_end)))

static bool endpoint_start(struct endpoint *endpoint, const struct world *world)
{
	char program[1024], path[PATH_BYTES], name[] = "order-service", http[] = "http", said[80] = "",
					      revision[ID_MAX];
	char *argv[] = { name, path, http, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv };
	struct error *err = NULL;

	snprintf(path, sizeof(path), "%s", world->path);
	pipe_open(&endpoint->in);
	pipe_open(&endpoint->out);
	map(&options, endpoint->in.reader, STDIN_FILENO);
	map(&options, endpoint->out.writer, STDOUT_FILENO);
	if (spawn_helper_path(name, program, sizeof(program), &err) < 0 || spawn(&options, &endpoint->child, &err) < 0)
		return test_no_error(&err);
	for (size_t at = 0; at < sizeof(said) - 1 && (at == 0 || said[at - 1] != '\n'); at++)
		if (fd_read_exact(endpoint->out.reader, said + at, 1, guard(), &err) < 0)
			return test_no_error(&err);
	return sscanf(said, "ready %d %63s\n", &endpoint->port, revision) == 2 && strcmp(revision, ORDER_REVISION) == 0;
}

/* The status of the answer, or -1. */
static int post(const struct endpoint *endpoint, const char *body)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)endpoint->port),
				  .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_buf struct buf request = BUF(HEARD_BYTES), heard = BUF(HEARD_BYTES);
	struct error *err = NULL;
	int status = -1;

	(void)buf_printf(
		&request,
		"POST /orders HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
		endpoint->port, strlen(body), body);
	CU_ASSERT_EQUAL(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	CU_ASSERT_EQUAL(fd_write_all(fd, request.data, request.length, guard(), &err), 0);
	CU_ASSERT_EQUAL(fd_read_all(fd, &heard, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
	return sscanf(buf_string(&heard), "HTTP/1.1 %d", &status) == 1 ? status : -1;
}

static bool endpoint_makes(const struct world *world, const char *reference)
{
	cleanup_endpoint struct endpoint endpoint = ENDPOINT;
	char body[512];

	snprintf(body, sizeof(body), "{\"reference\":\"%s\",\"item\":\"book\",\"quantity\":1}", reference);
	return endpoint_start(&endpoint, world) && post(&endpoint, body) == 201;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------
 */

static const struct {
	const char *subject;
	bool (*makes)(const struct world *world, const char *reference);
} ways[] = {
	{ "gateway", service_makes },
	{ "http", endpoint_makes },
	{ "file", import_makes },
	{ "service", writer_makes },
};

/* Each way makes exactly one order, which is seen as its own, and nothing else is. */
static void each_way(void)
{
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_world struct world world = { .folder = "" };
	struct canary canaries[ARRAY_SIZE(ways)];
	cleanup_fd int folder = -1;

	CU_ASSERT(world_begin(&world) && observing_start(&observing, "orders", NULL));
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		CU_ASSERT(observing_expect(&observing, ways[i].subject, "", &canaries[i]));
	folder = open(world.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(observing_ready(&observing) && observing_give(&observing, "folder", folder));
	/* The table is the service's to make. */
	CU_ASSERT(service_makes(&world, observing.before.text));
	for (size_t made = 0; made <= ARRAY_SIZE(ways); made++) {
		CU_ASSERT(observing_report(&observing, made < ARRAY_SIZE(ways) ? WIRE_BEFORE : WIRE_AFTER));
		CU_ASSERT_EQUAL(observing_record(&observing, "orders", "orders")->value, (int64_t)made);
		CU_ASSERT_EQUAL(observing_record(&observing, "orders", "orders-other")->value, 0);
		for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
			CU_ASSERT_EQUAL(observing_record(&observing, "orders", ways[i].subject)->value, i < made);
		if (made < ARRAY_SIZE(ways))
			CU_ASSERT(ways[made].makes(&world, canaries[made].text));
	}
}

static int64_t rows(const struct world *world, const char *sql)
{
	sqlite3 *connection = NULL;
	sqlite3_stmt *row = NULL;
	int64_t value = -1;

	if (sqlite3_open(world->path, &connection) == SQLITE_OK &&
	    sqlite3_prepare_v2(connection, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
		value = sqlite3_column_int64(row, 0);
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(connection);
	return value;
}

/* The id that a caller gives is kept in the row; one that is none is not. */
static void keeps_the_call(void)
{
	cleanup_world struct world world = { .folder = "" };
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);

	CU_ASSERT(world_begin(&world) && service_makes(&world, "r"));
	CU_ASSERT_EQUAL(rows(&world, "SELECT count(*) FROM orders WHERE call = 'c1' AND reference = 'r'"), 1);
	CU_ASSERT_EQUAL(
		helper(&world, "order-service",
		       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"order_create\","
		       "\"arguments\":{\"reference\":\"q\",\"item\":\"book\",\"quantity\":1},\"_meta\":{\"call_id\":\"."
		       "./c\"}}}\n",
		       &heard),
		0);
	CU_ASSERT_EQUAL(rows(&world, "SELECT count(*) FROM orders WHERE call = '' AND reference = 'q'"), 1);
}

/* An MCP client is told the revision too. */
static void says_its_revision(void)
{
	cleanup_world struct world world = { .folder = "" };
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);

	CU_ASSERT(world_begin(&world));
	CU_ASSERT_EQUAL(helper(&world, "order-service",
			       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
			       "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
			       "\"version\":\"1\"}}}\n",
			       &heard),
			0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&heard), "\"version\":\"" ORDER_REVISION "\""));
}

/* What is no order makes none, at any of them. */
static void refused(void)
{
	static const char *const arguments[] = {
		"{}",
		"[]",
		"{\"reference\":\"r\",\"item\":\"book\"}",
		"{\"reference\":\"\",\"item\":\"book\",\"quantity\":1}",
		"{\"reference\":\"r\",\"item\":\"book\",\"quantity\":0}",
		"{\"reference\":\"r\",\"item\":\"book\",\"quantity\":1,\"price\":1}",
		"{\"reference\":\"r\",\"item\":\"a book of more than thirty letters\",\"quantity\":1}",
	};
	cleanup_world struct world world = { .folder = "" };
	cleanup_endpoint struct endpoint endpoint = ENDPOINT;

	CU_ASSERT(world_begin(&world) && endpoint_start(&endpoint, &world));
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		cleanup_buf struct buf heard = BUF(HEARD_BYTES), imported = BUF(HEARD_BYTES);
		char says[1024];

		snprintf(
			says, sizeof(says),
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"order_create\","
			"\"arguments\":%s}}\n",
			arguments[i]);
		CU_ASSERT_EQUAL(helper(&world, "order-service", says, &heard), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&heard), "\"code\":-32602"));
		CU_ASSERT_EQUAL(post(&endpoint, arguments[i]), 400);
		CU_ASSERT_EQUAL(helper(&world, "order-import", arguments[i], &imported), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&imported), "imported 0 of 1\n");
	}
	CU_ASSERT_EQUAL(rows(&world, "SELECT count(*) FROM orders"), 0);
}

/* Somebody holds the database: the order is not made, and nobody says that it was. */
static void locked(void)
{
	cleanup_world struct world world = { .folder = "" };
	cleanup_endpoint struct endpoint endpoint = ENDPOINT;
	cleanup_buf struct buf heard = BUF(HEARD_BYTES);
	sqlite3 *holder = NULL;

	CU_ASSERT(world_begin(&world) && endpoint_start(&endpoint, &world));
	CU_ASSERT_EQUAL(sqlite3_open(world.path, &holder), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(holder, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	CU_ASSERT_EQUAL(post(&endpoint, "{\"reference\":\"r\",\"item\":\"book\",\"quantity\":1}"), 503);
	CU_ASSERT_EQUAL(helper(&world, "order-writer", "r", &heard), 3);
	CU_ASSERT_EQUAL(sqlite3_exec(holder, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(holder);
	CU_ASSERT_EQUAL(rows(&world, "SELECT count(*) FROM orders"), 0);
	CU_ASSERT_EQUAL(post(&endpoint, "{\"reference\":\"r\",\"item\":\"book\",\"quantity\":1}"), 201);
	CU_ASSERT_EQUAL(rows(&world, "SELECT count(*) FROM orders"), 1);
}

/* A database of another form, or none, is refused as it stands. */
static void other_databases(void)
{
	static const char *const forms[] = {
		"CREATE TABLE orders (id INTEGER PRIMARY KEY)",
		"CREATE TABLE o (id INTEGER); CREATE VIEW orders AS SELECT * FROM o",
		"CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT, item TEXT, quantity "
		"INTEGER, "
		"call TEXT)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup_world struct world world = { .folder = "" };
		cleanup_buf struct buf heard = BUF(HEARD_BYTES);
		sqlite3 *connection = NULL;

		CU_ASSERT(world_begin(&world));
		CU_ASSERT_EQUAL(sqlite3_open(world.path, &connection), SQLITE_OK);
		CU_ASSERT_EQUAL(sqlite3_exec(connection, forms[i], NULL, NULL, NULL), SQLITE_OK);
		(void)sqlite3_close(connection);
		CU_ASSERT_EQUAL(helper(&world, "order-service", "", &heard), 3);
	}
}

static void no_file(void)
{
	cleanup_world struct world world = { .folder = "" };
	struct orders *orders = NULL;
	struct error *err = NULL;
	cleanup_fd int fd = -1;

	CU_ASSERT(world_begin(&world));
	CU_ASSERT_EQUAL(symlink("elsewhere", world.path), 0);
	CU_ASSERT(orders_open(world.path, &orders, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the database of orders"));
	CU_ASSERT_EQUAL(unlink(world.path), 0);
	fd = open(world.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_EQUAL(write(fd, "no database, but long enough to look at", 39), 39);
	CU_ASSERT(orders_open(world.path, &orders, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "it is damaged, or no database"));
	CU_ASSERT_PTR_NULL(orders);
}

static CU_TestInfo tests[] = {
	{ "each way makes one order", each_way },
	{ "keeps the call's id", keeps_the_call },
	{ "says its revision", says_its_revision },
	{ "what is no order", refused },
	{ "a locked database", locked },
	{ "other databases", other_databases },
	{ "no database", no_file },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "orders", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_orders", suites);
}
