/*
 * libexec/audit-trap DATABASE: makes the audit database of a gateway refuse the rows of permitted.tool, with a message
 * that bears the text on standard input. A row of any other call is taken as before. Without a text it takes the trap
 * away. A fixture: the gateway under test knows nothing of it, and no session of a user's runs it.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/canary.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"

#define BUSY_MS 1000
#define READ_MS 2000
#define SQL_BYTES 512
#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int set(const char *path, const char *text, struct error **err)
{
	sqlite3 *connection = NULL;
	char sql[SQL_BYTES];
	int half = (int)strlen(text) / 2;
	int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL);

	if (!half)
		snprintf(sql, sizeof(sql), "DROP TRIGGER trap");
	/* The text is whole in the message alone ("bad JSON path: ..."), and nowhere in the file. */
	else
		snprintf(
			sql, sizeof(sql),
			"CREATE TRIGGER trap BEFORE INSERT ON audit_entries WHEN NEW.payload LIKE '%%permitted.tool%%' "
			"BEGIN SELECT json_extract('{}', '%.*s' || '%s'); END",
			half, text, text + half);
	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(connection, BUSY_MS);
	if (code == SQLITE_OK)
		code = sqlite3_exec(connection, sql, NULL, NULL, NULL);
	(void)sqlite3_close(connection);
	explicit_bzero(sql, sizeof(sql));
	return code == SQLITE_OK ? 0 : error_set(err, ERROR_INTERNAL, "SQLite: code %d", code);
}

static int run(const char *path, struct error **err)
{
	cleanup_buf struct buf text = BUF(CANARY_LENGTH);
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = fd_read_all(STDIN_FILENO, &text, clock_deadline(READ_MS), err);
	/* A quote would end the statement's text. */
	if (r == 0 && text.length && !canary_valid(buf_string(&text), text.length))
		r = error_set(err, ERROR_INPUT, "its input is no canary");
	if (r == 0)
		r = set(path, buf_string(&text), err);
	buf_wipe(&text);
	return r;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (argc != 2)
		return EXIT_USAGE;
	if (run(argv[1], &err) == 0)
		return 0;
	fprintf(stderr, "audit-trap: %s\n", error_text(err));
	return EXIT_ERROR;
}
