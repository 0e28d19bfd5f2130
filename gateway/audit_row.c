#include "gateway/audit_row.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/json_python.h"

#define HASH_KEY "\"entry_hash\":"

/* ---- reading -------------------------------------------------------------------------------------------------------
 */

static const char *text_at(sqlite3_stmt *statement, int column, size_t *length)
{
	const char *text;

	if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
		return NULL;
	text = (const char *)sqlite3_column_text(statement, column);
	*length = (size_t)sqlite3_column_bytes(statement, column);
	return text && strlen(text) == *length ? text : NULL;
}

bool audit_row_read(struct sqlite3_stmt *statement, struct audit_row *out)
{
	size_t length;

	*out = (struct audit_row){ .sequence_number = sqlite3_column_int64(statement, 0) };
	out->session_id = text_at(statement, 1, &length);
	out->entry_id = text_at(statement, 2, &length);
	out->entry_type = text_at(statement, 3, &length);
	out->entry_hash = text_at(statement, 4, &length);
	out->prev_entry_hash = text_at(statement, 5, &length);
	out->payload = text_at(statement, 6, &out->payload_length);
	return sqlite3_column_type(statement, 0) == SQLITE_INTEGER && out->session_id && out->entry_id &&
	       out->entry_type && out->entry_hash && out->prev_entry_hash && out->payload;
}

/* ---- checking ------------------------------------------------------------------------------------------------------
 */

/* Of what was parsed, in which the escapes of json_python_parse() are mended; what they were is in the hash. */
static bool is_canonical(const struct audit_row *row, const struct json_node *root)
{
	struct json_span text = json_raw(root);
	cleanup_buf struct buf form = BUF(row->payload_length);
	cleanup_error struct error *err = NULL;

	return json_python_node(root, &form, &err) == 0 && form.length == row->payload_length &&
	       text.length == form.length && memcmp(form.data, text.bytes, form.length) == 0;
}

static bool columns_agree(const struct audit_row *row, const struct json_node *root)
{
	int64_t number;

	return json_int64(json_member(root, "sequence_number"), &number) && number == row->sequence_number &&
	       json_text_is(json_member(root, "session_id"), row->session_id) &&
	       json_text_is(json_member(root, "entry_id"), row->entry_id) &&
	       json_text_is(json_member(root, "entry_type"), row->entry_type) &&
	       json_text_is(json_member(root, "entry_hash"), row->entry_hash) &&
	       json_text_is(json_member(root, "prev_entry_hash"), row->prev_entry_hash);
}

/* The form without entry_hash is the payload without that member and its comma, which stands before it or, where the
 * key is the first one, behind it. */
static bool hash_agrees(const struct audit_row *row, const struct json_node *root)
{
	const struct json_node *member = json_member(root, "entry_hash");
	struct json_span value = json_raw(member);
	struct hash *hash = member ? hash_new() : NULL;
	char hex[HEX_SHA256];
	size_t begin, end;

	if (!hash)
		return false;
	begin = (size_t)(value.bytes - json_raw(root).bytes) - strlen(HASH_KEY);
	end = begin + strlen(HASH_KEY) + value.length;
	if (row->payload[begin - 1] == ',')
		begin--;
	else if (row->payload[end] == ',')
		end++;
	hash_add(hash, row->payload, begin);
	hash_add(hash, &row->payload[end], row->payload_length - end);
	hash_end(hash, hex);
	return strcmp(hex, row->entry_hash) == 0;
}

static void keep_time(const struct json_node *root, char time[AUDIT_TIME_BYTES])
{
	const char *text = json_string(json_member(root, "timestamp_utc"));

	snprintf(time, AUDIT_TIME_BYTES, "%s", text ? text : "");
}

const char *audit_row_check(const struct audit_row *row, char time[AUDIT_TIME_BYTES])
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;
	const struct json_node *root;

	if (json_python_parse(row->payload, row->payload_length, JSON_DEPTH, &document, &err) < 0)
		return "the payload is not JSON";
	root = json_root(document);
	if (!is_canonical(row, root))
		return "the payload is not in canonical form";
	if (!columns_agree(row, root))
		return "a column and the payload differ";
	if (!hash_agrees(row, root))
		return "the entry is not what its hash was made over";
	if (time)
		keep_time(root, time);
	return NULL;
}
