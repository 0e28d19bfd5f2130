/*
 * JSON (RFC 8259), strictly: valid UTF-8, no NUL, no duplicate keys at any depth, no lone surrogates, no trailing
 * bytes, bounded depth. The scanner keeps the span of every value; cJSON decodes behind it. Numbers are integers of 64
 * bits or are kept as their span: they never pass through double.
 */
#ifndef HARNESS_CORE_JSON_H
#define HARNESS_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_document;
struct json_node;
struct json_span {
	const char *bytes;
	size_t length;
};

/* `bytes` is copied. `max_depth` counts nested arrays and objects: 0 allows none. Errors are ERROR_INPUT with a fixed
 * reason and an offset, never a byte of the input. */
int json_parse(const char *bytes, size_t length, size_t max_depth, struct json_document **out,
	       struct error **err) MUST_CHECK;
/* Overwrites text and strings (they may hold a canary). Accepts NULL. */
void json_free(struct json_document *document);
static inline void json_cleanup(struct json_document **document)
{
	json_free(*document);
}
#define cleanup_json __attribute__((cleanup(json_cleanup)))

const struct json_node *json_root(const struct json_document *document);
enum json_type json_type(const struct json_node *node);
/* Member by exact key, or NULL; NULL also when node is NULL or no object, so that lookups chain. */
const struct json_node *json_member(const struct json_node *object, const char *key);
/* Children of an array or object in order. NULL-safe. */
const struct json_node *json_first(const struct json_node *node);
const struct json_node *json_next(const struct json_node *node);
size_t json_count(const struct json_node *node);
/* A member's decoded key (NUL-terminated; no NUL inside), or NULL for an array's element. */
const char *json_key(const struct json_node *node);
/* The decoded string (NUL-terminated), or NULL when node is NULL or no string. Owned by the document. */
const char *json_string(const struct json_node *node);
size_t json_string_length(const struct json_node *node);
/* Whether it is a string, and this one. NULL-safe on both sides: then it is not. */
bool json_text_is(const struct json_node *node, const char *text);
/* True and *out set when the node is an integer (no fraction, no exponent) within int64_t. "-0" is not. */
bool json_int64(const struct json_node *node, int64_t *out);
bool json_bool(const struct json_node *node, bool *out);
bool json_is_null(const struct json_node *node); /* NULL pointer, or JSON null */
/* The value's bytes as written. */
struct json_span json_raw(const struct json_node *node);

/* Canonical form (RFC 8785 restricted: ASCII or UTF-8 text, integers |n| <= 2^53 - 1, keys sorted by UTF-16 code unit):
 * parses `bytes` and appends them so. Fractions and larger numbers are ERROR_INPUT. An error appends nothing. */
int json_canonical(const char *bytes, size_t length, struct buf *out, struct error **err) MUST_CHECK;

/* Writing, in any order of keys (json_canonical() sorts later). Commas are the writer's business. The buffer's sticky
 * failure is the only error: it is also set by text that is not UTF-8 or holds a NUL, by NULL, by nesting beyond
 * JSON_ENGINE_DEPTH, by unbalanced ends, and by a second value behind the first. */
struct json_writer {
	struct buf *out;
	uint32_t depth;
	uint64_t used; /* bit per depth: something was written there */
	bool after_key;
};
void json_begin(struct json_writer *writer, struct buf *out);
void json_object(struct json_writer *writer);
void json_object_end(struct json_writer *writer);
void json_array(struct json_writer *writer);
void json_array_end(struct json_writer *writer);
void json_put_key(struct json_writer *writer, const char *key);
void json_put_string(struct json_writer *writer, const char *text);
void json_put_bytes(struct json_writer *writer, const char *text, size_t length);
void json_put_int(struct json_writer *writer, int64_t value);
void json_put_bool(struct json_writer *writer, bool value);
void json_put_null(struct json_writer *writer);
void json_put_raw(struct json_writer *writer, const char *bytes, size_t length); /* one whole value */
/* key and value together */
void json_member_string(struct json_writer *writer, const char *key, const char *text);
void json_member_int(struct json_writer *writer, const char *key, int64_t value);
void json_member_bool(struct json_writer *writer, const char *key, bool value);

#endif
