/* The strict reader of JSON: every node lies in the text, and the canonical form is its own canonical form. */
#include <string.h>

#include "core/json.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

#define CANONICAL_MAX MIB

static void walk(const struct json_node *node, struct json_span around, size_t depth)
{
	struct json_span raw = json_raw(node);
	const char *string = json_string(node);
	size_t children = 0;
	int64_t number;
	bool yes;

	FUZZ_HOLDS(depth <= JSON_ENGINE_DEPTH + 1 && raw.length > 0);
	FUZZ_HOLDS(raw.bytes >= around.bytes && raw.bytes + raw.length <= around.bytes + around.length);
	FUZZ_HOLDS(!string || strlen(string) == json_string_length(node));
	FUZZ_HOLDS(!json_int64(node, &number) || json_type(node) == JSON_NUMBER);
	FUZZ_HOLDS(json_bool(node, &yes) == (json_type(node) == JSON_BOOL));
	for (const struct json_node *child = json_first(node); child; child = json_next(child)) {
		FUZZ_HOLDS((json_key(child) != NULL) == (json_type(node) == JSON_OBJECT));
		FUZZ_HOLDS(!json_key(child) || json_member(node, json_key(child)) == child);
		walk(child, raw, depth + 1);
		children++;
	}
	FUZZ_HOLDS(children == json_count(node));
}

static void check_canonical(const char *text, size_t length)
{
	cleanup_buf struct buf once = BUF(CANONICAL_MAX), twice = BUF(CANONICAL_MAX);
	cleanup_error struct error *err = NULL;

	if (json_canonical(text, length, &once, &err) < 0) {
		FUZZ_HOLDS(err && once.length == 0);
		return;
	}
	FUZZ_HOLDS(json_canonical(once.data, once.length, &twice, &err) == 0);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
}

FUZZ_TARGET(json)
{
	const char *text = (const char *)bytes;
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;

	if (json_parse(text, size, JSON_ENGINE_DEPTH, &document, &err) < 0) {
		FUZZ_HOLDS(!document && error_code(err) == ERROR_INPUT);
		return;
	}
	walk(json_root(document), json_raw(json_root(document)), 0);
	check_canonical(text, size);
}
