/*
 * libexec/order-database FOLDER version|list|create|drop [NAME]: who runs the PostgreSQL cluster of the example, and
 * neither orders nor looks. FOLDER is that of the server's socket.
 *
 *   version        says the server's version, once each role of the orders can come in
 *   list           names the databases of ours, one a line
 *   create NAME    makes a database with the table of orders: the writers may add to it and do nothing else
 *   drop NAME      removes it, whoever is connected; one that is not there is success
 *
 * The database itself writes down which role made a row, and in which transaction: a writer has no say in either.
 */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/postgres.h"
#include "core/spawn.h"

#define OWNER "order_owner"
#define PREFIX "harness_"
#define WORK_MS 10000
#define PATIENCE "SET statement_timeout = 9000"
#define SQL_BYTES 512
#define EXIT_ERROR 3
#define EXIT_USAGE 4

static const char *const roles[] = { "order_service", "order_writer", "order_observer", OWNER };

/* "$1" is the database's name; each is a transaction of its own. */
struct statement {
	const char *sql;
};
static const struct statement before[], table[], removal[];

static bool say(void *context, const struct postgres_row *row)
{
	(void)context;
	if (row->count != 1 || !row->columns[0].text)
		return false;
	printf("%s\n", row->columns[0].text);
	return true;
}

/* Names stand in statements as they are. */
static bool is_ours(const char *name)
{
	char url[POSTGRES_URL_BYTES];
	cleanup_error struct error *unfit = NULL;

	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && postgres_url("/", name, url, &unfit) == 0;
}

static int open_as(const char *folder, const char *name, const char *role, struct postgres **out, struct error **err)
{
	char url[POSTGRES_URL_BYTES];

	if (postgres_url(folder, name, url, err) < 0)
		return -1;
	return postgres_open(url, role, clock_deadline(WORK_MS), out, err);
}

static int run_all(const char *folder, const char *in, const struct statement *statements, const char *name,
		   struct error **err)
{
	cleanup_postgres struct postgres *connection = NULL;

	/* To make or to remove a database takes longer than to write to one. */
	if (open_as(folder, in, OWNER, &connection, err) < 0 ||
	    postgres_run(connection, PATIENCE, NULL, 0, clock_deadline(WORK_MS), NULL, NULL, err) < 0)
		return -1;
	for (const struct statement *one = statements; one->sql; one++) {
		char sql[SQL_BYTES];
		const char *at = strstr(one->sql, "$1");
		int before_name = at ? (int)(at - one->sql) : (int)strlen(one->sql);

		snprintf(sql, sizeof(sql), "%.*s%s%s%s%s", before_name, one->sql, at ? "\"" : "", at ? name : "",
			 at ? "\"" : "", at ? at + 2 : "");
		if (postgres_run(connection, sql, NULL, 0, clock_deadline(WORK_MS), NULL, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int run_version(const char *folder, const char *name, struct error **err)
{
	(void)name;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		cleanup_postgres struct postgres *connection = NULL;

		if (open_as(folder, "postgres", roles[i], &connection, err) < 0)
			return error_wrap(err, "role %s", roles[i]);
		if (strcmp(roles[i], OWNER) == 0)
			return postgres_run(connection, "SHOW server_version", NULL, 0, clock_deadline(WORK_MS), say,
					    NULL, err);
	}
	return 0;
}

static int run_list(const char *folder, const char *name, struct error **err)
{
	static const char sql[] =
		"SELECT datname FROM pg_catalog.pg_database WHERE starts_with(datname, '" PREFIX "') ORDER BY 1";
	cleanup_postgres struct postgres *connection = NULL;

	(void)name;
	if (open_as(folder, "postgres", OWNER, &connection, err) < 0)
		return -1;
	return postgres_run(connection, sql, NULL, 0, clock_deadline(WORK_MS), say, NULL, err);
}

static int run_create(const char *folder, const char *name, struct error **err)
{
	if (run_all(folder, "postgres", before, name, err) < 0)
		return -1;
	return run_all(folder, name, table, name, err);
}

static int run_drop(const char *folder, const char *name, struct error **err)
{
	return run_all(folder, "postgres", removal, name, err);
}

static const struct verb {
	const char *name;
	bool named;
	int (*run)(const char *folder, const char *name, struct error **err);
} verbs[];

static int run(int argc, char **argv, struct error **err)
{
	for (const struct verb *verb = verbs; argc >= 3 && verb->name; verb++)
		if (strcmp(verb->name, argv[2]) == 0 && argc == (verb->named ? 4 : 3)) {
			if (verb->named && !is_ours(argv[3]))
				return error_set(err, ERROR_USAGE, "a database of ours is named " PREFIX "...");
			return process_harden(true, 0, err) < 0 ? -1 : verb->run(argv[1], argv[3], err);
		}
	return error_set(err, ERROR_USAGE, "usage: order-database FOLDER version|list|create NAME|drop NAME");
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (run(argc, argv, &err) == 0)
		return fflush(stdout) == 0 ? 0 : EXIT_ERROR;
	fprintf(stderr, "order-database: %s\n", error_text(err));
	return error_code(err) == ERROR_USAGE ? EXIT_USAGE : EXIT_ERROR;
}

static const struct statement before[] = {
	{ "CREATE DATABASE $1 TEMPLATE template0" },
	{ "REVOKE ALL ON DATABASE $1 FROM PUBLIC" },
	{ "GRANT CONNECT ON DATABASE $1 TO order_service, order_writer, order_observer" },
	{ .sql = NULL },
};

/* What a row says of itself is written by who owns the table: the writers have the right to four columns. */
static const struct statement table[] = {
	{ "CREATE TABLE public.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, reference text NOT NULL, "
	  "item text NOT NULL, quantity bigint NOT NULL, call text NOT NULL, role name NOT NULL DEFAULT session_user, "
	  "transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id())" },
	{ "REVOKE ALL ON public.orders FROM PUBLIC" },
	{ "GRANT INSERT (reference, item, quantity, call) ON public.orders TO order_service, order_writer" },
	{ "GRANT SELECT (id) ON public.orders TO order_service" },
	{ "GRANT SELECT ON public.orders TO order_observer" },
	{ .sql = NULL },
};

static const struct statement removal[] = {
	{ "DROP DATABASE IF EXISTS $1 WITH (FORCE)" },
	{ .sql = NULL },
};

static const struct verb verbs[] = {
	{ .name = "version", .run = run_version },
	{ .name = "list", .run = run_list },
	{ .name = "create", .named = true, .run = run_create },
	{ .name = "drop", .named = true, .run = run_drop },
	{ .name = NULL },
};
