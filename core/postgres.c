#include "core/postgres.h"

#include <poll.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"

#define STATE_DIGITS 5 /* of an SQLSTATE */
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)
/* No name is looked for but where a statement says, and rows that a policy would hide are an error. */
#define OPTIONS                                                                                                        \
	"-c statement_timeout=" NUMBER_TEXT(POSTGRES_STATEMENT_MS) " -c lock_timeout=" NUMBER_TEXT(                    \
		POSTGRES_STATEMENT_MS) " -c search_path=pg_catalog -c row_security=off"

struct postgres {
	PGconn *connection;
	bool lost;
};

/* What the classes of SQLSTATE mean to us, the longest first. */
static const struct meaning {
	const char *state;
	enum error_code code;
} meanings[];

static void forget_notice(void *context, const PGresult *result)
{
	(void)context;
	(void)result;
}

static int closed(struct postgres *postgres, struct error **err)
{
	postgres->lost = true;
	return error_set(err, ERROR_CLOSED, "no PostgreSQL server takes us there");
}

static int wait_for(struct postgres *postgres, short events, int64_t deadline, struct error **err)
{
	int status = fd_wait(PQsocket(postgres->connection), events, deadline, err);

	if (status > 0)
		return 0;
	postgres->lost = true;
	return status < 0 ? status : error_set(err, ERROR_TIMEOUT, "a PostgreSQL server that does not answer in time");
}

static int connect_by(struct postgres *postgres, int64_t deadline, struct error **err)
{
	PostgresPollingStatusType turn = PGRES_POLLING_WRITING;

	while (PQstatus(postgres->connection) != CONNECTION_BAD && turn != PGRES_POLLING_OK) {
		if (turn == PGRES_POLLING_FAILED)
			break;
		if (wait_for(postgres, turn == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, err) < 0)
			return -1;
		turn = PQconnectPoll(postgres->connection);
	}
	if (turn != PGRES_POLLING_OK || PQsetnonblocking(postgres->connection, 1) < 0)
		return closed(postgres, err);
	return 0;
}

int postgres_open(const char *where, const char *role, int64_t deadline, struct postgres **out, struct error **err)
{
	/* A password file is nobody's to hand us, and a server of another user none of ours. */
	const char *const keys[] = { "dbname",      "user",     "options",          "sslmode",         "gssencmode",
				     "requirepeer", "passfile", "application_name", "client_encoding", NULL };
	const char *const values[] = { where,     role,   OPTIONS, "disable", "disable", "postgres", "/dev/null/none",
				       "harness", "UTF8", NULL };
	cleanup_postgres struct postgres *postgres = NULL;
	int status;

	if (!postgres_is_url(where))
		return error_set(err, ERROR_INPUT, "no PostgreSQL database is named so");
	postgres = calloc(1, sizeof(*postgres));
	if (!postgres)
		return error_set(err, ERROR_MEMORY, "no memory for a connection");
	postgres->connection = PQconnectStartParams(keys, values, 1);
	if (!postgres->connection)
		return error_set(err, ERROR_MEMORY, "no memory for a connection");
	(void)PQsetNoticeReceiver(postgres->connection, forget_notice, NULL);
	status = connect_by(postgres, deadline, err);
	if (status < 0)
		return status;
	*out = steal_pointer(&postgres);
	return 0;
}

void postgres_close(struct postgres *postgres)
{
	if (!postgres)
		return;
	PQfinish(postgres->connection);
	free(postgres);
}

bool postgres_lost(const struct postgres *postgres)
{
	return postgres->lost;
}

static bool is_state(const char *state)
{
	return state && strlen(state) == STATE_DIGITS &&
	       strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == STATE_DIGITS;
}

static int refuse(struct postgres *postgres, const PGresult *result, struct error **err)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (!is_state(state))
		return PQstatus(postgres->connection) == CONNECTION_BAD
			       ? closed(postgres, err)
			       : error_set(err, ERROR_SYSTEM, "a statement failed");
	for (const struct meaning *row = meanings; row->state; row++)
		if (strncmp(state, row->state, strlen(row->state)) == 0) {
			postgres->lost = postgres->lost || row->code == ERROR_CLOSED;
			return error_set(err, row->code, "a statement failed with state %s", state);
		}
	return error_set(err, ERROR_SYSTEM, "a statement failed with state %s", state);
}

static int send_by(struct postgres *postgres, int64_t deadline, struct error **err)
{
	int left;

	while ((left = PQflush(postgres->connection)) > 0) {
		if (wait_for(postgres, POLLIN | POLLOUT, deadline, err) < 0)
			return -1;
		if (!PQconsumeInput(postgres->connection))
			return closed(postgres, err);
	}
	return left < 0 ? closed(postgres, err) : 0;
}

/* The next result, which is NULL behind the last one. */
static int next_by(struct postgres *postgres, int64_t deadline, PGresult **out, struct error **err)
{
	while (PQisBusy(postgres->connection)) {
		if (wait_for(postgres, POLLIN, deadline, err) < 0)
			return -1;
		if (!PQconsumeInput(postgres->connection))
			return closed(postgres, err);
	}
	*out = PQgetResult(postgres->connection);
	return 0;
}

static bool hand_over(const PGresult *result, postgres_take take, void *context)
{
	struct postgres_row row = { .count = (size_t)PQnfields(result) };

	if (row.count > POSTGRES_COLUMNS_MAX)
		return false;
	for (int at = 0; take && at < PQntuples(result); at++) {
		for (int i = 0; i < (int)row.count; i++)
			row.columns[i] = PQgetisnull(result, at, i)
						 ? (struct postgres_column){ .text = NULL }
						 : (struct postgres_column){ PQgetvalue(result, at, i),
									     (size_t)PQgetlength(result, at, i) };
		if (!take(context, &row))
			return false;
	}
	return true;
}

/* One result; what goes wrong first is kept. */
static void take_result(struct postgres *postgres, const PGresult *result, postgres_take take, void *context,
			struct error **err)
{
	ExecStatusType status = PQresultStatus(result);

	if (*err)
		return;
	if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		(void)refuse(postgres, result, err);
	else if (!hand_over(result, take, context))
		(void)error_set(err, ERROR_INPUT, "a row of another form");
}

int postgres_run(struct postgres *postgres, const char *sql, const char *const *values, size_t count, int64_t deadline,
		 postgres_take take, void *context, struct error **err)
{
	struct error *first = NULL;
	PGresult *result = NULL;
	int status;

	if (postgres->lost || count > POSTGRES_VALUES_MAX)
		return closed(postgres, err);
	if (!PQsendQueryParams(postgres->connection, sql, (int)count, NULL, values, NULL, NULL, 0) ||
	    !PQsetSingleRowMode(postgres->connection))
		return closed(postgres, err);
	status = send_by(postgres, deadline, &first);
	while (status == 0 && (status = next_by(postgres, deadline, &result, &first)) == 0 && result) {
		take_result(postgres, result, take, context, &first);
		PQclear(result);
	}
	if (!first)
		return 0;
	status = -(int)error_code(first);
	error_keep_first(err, &first);
	return status;
}

static const struct meaning meanings[] = {
	{ "55P03", ERROR_TIMEOUT }, /* a lock */
	{ "57014", ERROR_TIMEOUT }, /* canceled, by its time */
	{ "40", ERROR_TIMEOUT }, /* rolled back for somebody else's sake */
	{ "25006", ERROR_REFUSED }, /* a read-only transaction */
	{ "42501", ERROR_REFUSED }, /* no privilege */
	{ "22", ERROR_INPUT },      { "23", ERROR_INPUT },   { "42", ERROR_INPUT },
	{ "08", ERROR_CLOSED },     { "57P", ERROR_CLOSED }, { .state = NULL },
};
