/* The rows of an order service's database in PostgreSQL, by a role that may only read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "observers/orders_rows.h"

#define ROLE "order_observer"
#define READ_MS 2500
#define TEXT_MAX 65536 /* characters of a column; a longer one is no order */
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)
#define BEGIN "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
/* A table and no view, whose rows nobody hides, rewrites or keeps elsewhere, and no writer may say who he is. */
#define FORM                                                                                                           \
	"SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), "                                          \
	"coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''), "                                                   \
	"c.relkind = 'r' AND NOT (c.relrowsecurity OR c.relhasrules OR c.relhastriggers OR c.relhassubclass OR "       \
	"c.relispartition) AND a.attnotnull, "                                                                         \
	"EXISTS (SELECT FROM (VALUES ('order_service'), ('order_writer')) w (role) WHERE "                             \
	"pg_catalog.has_column_privilege(w.role::name, c.oid, a.attnum, 'INSERT, UPDATE') OR "                         \
	"pg_catalog.has_table_privilege(w.role::name, c.oid, 'TRIGGER')) "                                             \
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "                             \
	"LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "                               \
	"WHERE c.relname = 'orders' AND c.relnamespace = 'public'::pg_catalog.regnamespace AND a.attnum > 0 AND "      \
	"NOT a.attisdropped ORDER BY a.attnum"
#define CUT(column) "pg_catalog.left(" column ", " NUMBER_TEXT(TEXT_MAX) " + 1)"
#define QUERY "SELECT id, quantity, role, transaction, " CUT("reference") ", " CUT("item") ", " CUT("call") SOURCE
#define SOURCE " FROM ONLY public.orders ORDER BY id"
enum { NUMBER, QUANTITY, ROLE_OF, TRANSACTION, REFERENCE, ITEM, CALL, COLUMNS };
#define DECIMAL 10

struct reading {
	struct orders_rows *rows;
	size_t column; /* of the form */
	int64_t last;
	uint64_t newest, still;
};

/* The columns there must be, in their order; what a writer may say of them, and what stands there if he may not. */
static const struct column {
	const char *name, *type, *means;
	bool written;
} columns[];
static const size_t columns_count;

static bool is(const struct postgres_column *column, const char *text)
{
	return column->text && strcmp(column->text, text) == 0;
}

static bool take_form(void *context, const struct postgres_row *row)
{
	struct reading *reading = context;
	const struct column *column = &columns[reading->column];

	if (reading->column++ >= columns_count)
		return false;
	return is(&row->columns[0], column->name) && is(&row->columns[1], column->type) &&
	       is(&row->columns[2], column->means) && is(&row->columns[3], "t") &&
	       is(&row->columns[4], column->written ? "t" : "f");
}

static bool number_of(const struct postgres_column *column, uint64_t max, uint64_t *out)
{
	char *end = NULL;

	if (!column->text || column->text[0] < '0' || column->text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(column->text, &end, DECIMAL);
	return errno == 0 && *end == '\0' && *out <= max;
}

static bool is_text(const struct postgres_column *column)
{
	size_t characters = 0;

	for (size_t i = 0; column->text && i < column->length; i++)
		characters += ((unsigned char)column->text[i] & 0xc0) != 0x80;
	return column->text && characters <= TEXT_MAX;
}

static bool take_row(void *context, const struct postgres_row *from)
{
	struct reading *reading = context;
	struct orders_rows *rows = reading->rows;
	const struct postgres_column *column = from->columns;
	uint64_t number = 0, quantity = 0;
	struct orders_row row = { .reference = column[REFERENCE].text,
				  .item = column[ITEM].text,
				  .call = column[CALL].text,
				  .role = column[ROLE_OF].text };

	if (from->count != COLUMNS || !number_of(&column[NUMBER], INT64_MAX, &number) ||
	    !number_of(&column[QUANTITY], INT64_MAX, &quantity) ||
	    !number_of(&column[TRANSACTION], UINT64_MAX, &row.transaction) || row.transaction == 0 || !row.role)
		return false;
	for (size_t i = REFERENCE; i < COLUMNS; i++)
		if (!is_text(&column[i]))
			return false;
	row.number = (int64_t)number;
	row.quantity = (int64_t)quantity;
	/* One that was there has the number and no later transaction than there was. */
	reading->still += row.number <= rows->last && row.transaction <= rows->newest;
	reading->last = row.number;
	reading->newest = row.transaction > reading->newest ? row.transaction : reading->newest;
	rows->rows++;
	if (rows->row)
		rows->row(rows->context, &row);
	for (size_t i = REFERENCE; i < COLUMNS; i++)
		rows->text(rows->context, column[i].text, column[i].length);
	rows->end(rows->context);
	return true;
}

static enum wire_reason reason_of(const struct error *err)
{
	switch (error_code(err)) {
	case ERROR_TIMEOUT:
		return WIRE_REASON_TIMEOUT;
	case ERROR_CLOSED:
		return WIRE_REASON_INPUT_MISSING;
	default:
		return WIRE_REASON_INPUT_INVALID;
	}
}

static int read_all(const char *url, struct reading *reading, struct error **err)
{
	cleanup_postgres struct postgres *connection = NULL;
	int64_t deadline = clock_deadline(READ_MS);

	if (postgres_open(url, ROLE, deadline, &connection, err) < 0 ||
	    postgres_run(connection, BEGIN, NULL, 0, deadline, NULL, NULL, err) < 0 ||
	    postgres_run(connection, FORM, NULL, 0, deadline, take_form, reading, err) < 0)
		return -1;
	if (reading->column != columns_count)
		return error_set(err, ERROR_INPUT, "a table of another form");
	reading->rows->begin(reading->rows->context);
	return postgres_run(connection, QUERY, NULL, 0, deadline, take_row, reading, err);
}

enum wire_reason orders_rows_read_pg(struct orders_rows *rows, int folder, const char *name)
{
	struct reading reading = { .rows = rows };
	cleanup_error struct error *err = NULL;
	char url[POSTGRES_URL_BYTES], path[64];

	rows->rows = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
	if (postgres_url(path, name, url, &err) < 0 || read_all(url, &reading, &err) < 0)
		return reason_of(err);
	if (reading.still < rows->known)
		return WIRE_REASON_TRUNCATED;
	rows->last = reading.last;
	rows->newest = reading.newest;
	rows->known = rows->rows;
	return WIRE_REASON_NONE;
}

static const struct column columns[] = {
	{ "id", "bigint", "", false },
	{ "reference", "text", "", true },
	{ "item", "text", "", true },
	{ "quantity", "bigint", "", true },
	{ "call", "text", "", true },
	{ "role", "name", "SESSION_USER", false },
	{ "transaction", "xid8", "pg_current_xact_id()", false },
};
static const size_t columns_count = ARRAY_SIZE(columns);
