/* Writing JSON, and the canonical form. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "core/utf8.h"

#define SAFE_INTEGER ((INT64_C(1) << 53) - 1)

void json_begin(struct json_writer *writer, struct buf *out)
{
	*writer = (struct json_writer){ .out = out };
}

static void add(struct json_writer *writer, const char *bytes, size_t length)
{
	if (!writer->out->failed)
		(void)buf_add(writer->out, bytes, length);
}

static void fail(struct json_writer *writer)
{
	writer->out->failed = true;
}

/* Before each value and each key: the comma, unless this is the first one at its depth or follows its key. */
static void separate(struct json_writer *writer)
{
	uint64_t bit = UINT64_C(1) << writer->depth;

	if (writer->after_key) {
		writer->after_key = false;
		return;
	}
	if (!(writer->used & bit)) {
		writer->used |= bit;
		return;
	}
	if (writer->depth == 0)
		fail(writer);
	add(writer, ",", 1);
}

static void open_container(struct json_writer *writer, const char *bracket)
{
	separate(writer);
	if (writer->depth >= JSON_ENGINE_DEPTH) {
		fail(writer);
		return;
	}
	writer->depth++;
	writer->used &= ~(UINT64_C(1) << writer->depth);
	add(writer, bracket, 1);
}

static void close_container(struct json_writer *writer, const char *bracket)
{
	if (writer->depth == 0 || writer->after_key) {
		fail(writer);
		return;
	}
	writer->depth--;
	add(writer, bracket, 1);
}

void json_object(struct json_writer *writer)
{
	open_container(writer, "{");
}

void json_object_end(struct json_writer *writer)
{
	close_container(writer, "}");
}

void json_array(struct json_writer *writer)
{
	open_container(writer, "[");
}

void json_array_end(struct json_writer *writer)
{
	close_container(writer, "]");
}

static void put_escape(struct json_writer *writer, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char plain[] = "\b\t\n\f\r\"\\";
	static const char letters[] = "btnfr\"\\";
	const char *found = memchr(plain, c, sizeof(plain) - 1);
	char escape[6] = "\\u00";

	if (found) {
		escape[1] = letters[found - plain];
		add(writer, escape, 2);
		return;
	}
	escape[4] = digits[c >> 4];
	escape[5] = digits[c & 15];
	add(writer, escape, sizeof(escape));
}

static void put_quoted(struct json_writer *writer, const char *text, size_t length)
{
	size_t done = 0, at = 0;

	add(writer, "\"", 1);
	while (at < length && !writer->out->failed) {
		unsigned char c = (unsigned char)text[at];
		size_t sequence = utf8_sequence(text + at, length - at);

		/* A NUL could be escaped, but no reader of ours would take it back. */
		if (!sequence || !c) {
			fail(writer);
			return;
		}
		if (c >= 0x20 && c != '"' && c != '\\') {
			at += sequence;
			continue;
		}
		add(writer, text + done, at - done);
		put_escape(writer, c);
		done = ++at;
	}
	add(writer, text + done, at - done);
	add(writer, "\"", 1);
}

void json_put_bytes(struct json_writer *writer, const char *text, size_t length)
{
	separate(writer);
	put_quoted(writer, text, length);
}

void json_put_string(struct json_writer *writer, const char *text)
{
	if (text)
		json_put_bytes(writer, text, strlen(text));
	else
		fail(writer);
}

void json_put_key(struct json_writer *writer, const char *key)
{
	if (writer->depth == 0 || writer->after_key)
		fail(writer);
	json_put_string(writer, key);
	add(writer, ":", 1);
	writer->after_key = true;
}

void json_put_int(struct json_writer *writer, int64_t value)
{
	separate(writer);
	if (!writer->out->failed)
		(void)buf_printf(writer->out, "%" PRId64, value);
}

void json_put_bool(struct json_writer *writer, bool value)
{
	json_put_raw(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_put_null(struct json_writer *writer)
{
	json_put_raw(writer, "null", 4);
}

void json_put_raw(struct json_writer *writer, const char *bytes, size_t length)
{
	separate(writer);
	add(writer, bytes, length);
}

void json_member_string(struct json_writer *writer, const char *key, const char *text)
{
	json_put_key(writer, key);
	json_put_string(writer, text);
}

void json_member_int(struct json_writer *writer, const char *key, int64_t value)
{
	json_put_key(writer, key);
	json_put_int(writer, value);
}

void json_member_bool(struct json_writer *writer, const char *key, bool value)
{
	json_put_key(writer, key);
	json_put_bool(writer, value);
}

/* In UTF-16, U+10000 and above begin with a surrogate and so stand before U+E000 to U+FFFF; in UTF-8 behind them. */
static unsigned utf16_rank(unsigned char byte)
{
	return byte == 0xee || byte == 0xef ? byte + 0x10u : byte;
}

static int compare_members(const void *a, const void *b)
{
	const char *one = json_key(*(const struct json_node *const *)a);
	const char *other = json_key(*(const struct json_node *const *)b);

	while (*one && *one == *other) {
		one++;
		other++;
	}
	return (int)utf16_rank((unsigned char)*one) - (int)utf16_rank((unsigned char)*other);
}

static int put_canonical(struct json_writer *writer, const struct json_node *node, struct error **err);

static int put_sorted(struct json_writer *writer, const struct json_node *object, struct error **err)
{
	size_t count = json_count(object), filled = 0;
	cleanup_free const struct json_node **members = calloc(count + 1, sizeof(*members));

	if (!members)
		return error_set(err, ERROR_MEMORY, "JSON: no memory for an object's keys");
	for (const struct json_node *member = json_first(object); member; member = json_next(member))
		members[filled++] = member;
	qsort(members, filled, sizeof(*members), compare_members);
	json_object(writer);
	for (size_t i = 0; i < filled; i++) {
		int result;

		json_put_key(writer, json_key(members[i]));
		result = put_canonical(writer, members[i], err);
		if (result < 0)
			return result;
	}
	json_object_end(writer);
	return 0;
}

static int put_canonical(struct json_writer *writer, const struct json_node *node, struct error **err)
{
	struct json_span raw = json_raw(node);
	int64_t number;

	switch (json_type(node)) {
	case JSON_OBJECT:
		return put_sorted(writer, node, err);
	case JSON_ARRAY:
		json_array(writer);
		for (const struct json_node *child = json_first(node); child; child = json_next(child)) {
			int result = put_canonical(writer, child, err);

			if (result < 0)
				return result;
		}
		json_array_end(writer);
		return 0;
	case JSON_STRING:
		json_put_bytes(writer, json_string(node), json_string_length(node));
		return 0;
	case JSON_NUMBER:
		if (!json_int64(node, &number) || number > SAFE_INTEGER || number < -SAFE_INTEGER)
			return error_set(err, ERROR_INPUT, "JSON: a number without a canonical form");
		json_put_int(writer, number);
		return 0;
	case JSON_BOOL:
	case JSON_NULL:
		break;
	}
	json_put_raw(writer, raw.bytes, raw.length);
	return 0;
}

int json_canonical(const char *bytes, size_t length, struct buf *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	struct json_writer writer;
	size_t before = out->length;
	int result = json_parse(bytes, length, JSON_ENGINE_DEPTH, &document, err);

	if (result < 0)
		return result;
	json_begin(&writer, out);
	result = put_canonical(&writer, json_root(document), err);
	if (result == 0)
		result = buf_check(out, "canonical JSON", err);
	if (result < 0 && out->length > before) {
		out->length = before;
		out->data[before] = '\0';
	}
	return result;
}
