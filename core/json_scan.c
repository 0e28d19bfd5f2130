/* The strict scanner: RFC 8259 and the further refusals that json.h lists. Recursion is bounded by the depth given. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json_node.h"
#include "core/utf8.h"

#define FEW_KEYS 16 /* up to here comparing each with each is cheaper than sorting */

struct scanner {
	struct json_document *document;
	const char *at;
	const char *end;
	char *decoded; /* the next free byte of document->strings */
	size_t max_depth;
	struct error **err;
};

static int scan_value(struct scanner *scanner, size_t depth, const char *key);

static int refuse(const struct scanner *scanner, const char *reason)
{
	return error_set(scanner->err, ERROR_INPUT, "JSON: %s at byte %zu", reason,
			 (size_t)(scanner->at - scanner->document->text));
}

static void skip_space(struct scanner *scanner)
{
	while (scanner->at < scanner->end &&
	       (*scanner->at == ' ' || *scanner->at == '\t' || *scanner->at == '\n' || *scanner->at == '\r'))
		scanner->at++;
}

static bool take(struct scanner *scanner, char expected)
{
	if (scanner->at == scanner->end || *scanner->at != expected)
		return false;
	scanner->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_digits(struct scanner *scanner)
{
	const char *start = scanner->at;

	while (scanner->at < scanner->end && is_digit(*scanner->at))
		scanner->at++;
	return scanner->at > start;
}

/* Four hexadecimal digits at `at`, or -1. */
static int hex_unit(const char *at, const char *end)
{
	int unit = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = at[i];

		if (is_digit(c))
			unit = unit * 16 + (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			unit = unit * 16 + ((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* At the 'u' of an escape. */
static int scan_unicode_escape(struct scanner *scanner)
{
	int unit = hex_unit(scanner->at + 1, scanner->end);
	int low;

	if (unit < 0)
		return refuse(scanner, "escape without four digits");
	if (unit == 0)
		return refuse(scanner, "escaped NUL");
	if (unit >= 0xdc00 && unit <= 0xdfff)
		return refuse(scanner, "lone surrogate");
	scanner->at += 5;
	if (unit < 0xd800 || unit > 0xdfff)
		return 0;
	if (scanner->end - scanner->at < 6 || scanner->at[0] != '\\' || scanner->at[1] != 'u')
		return refuse(scanner, "lone surrogate");
	low = hex_unit(scanner->at + 2, scanner->end);
	if (low < 0xdc00 || low > 0xdfff)
		return refuse(scanner, "lone surrogate");
	scanner->at += 6;
	return 0;
}

/* Checks the string at '"' and leaves `at` behind its closing quote. */
static int check_string(struct scanner *scanner, bool *escaped)
{
	*escaped = false;
	scanner->at++;
	while (scanner->at < scanner->end && *scanner->at != '"') {
		unsigned char c = (unsigned char)*scanner->at;
		size_t sequence;

		if (c < 0x20)
			return refuse(scanner, "control character in a string");
		if (c == '\\') {
			*escaped = true;
			if (++scanner->at == scanner->end)
				break;
			if (*scanner->at == 'u') {
				int result = scan_unicode_escape(scanner);

				if (result < 0)
					return result;
				continue;
			}
			if (!memchr("\"\\/bfnrt", *scanner->at, 8))
				return refuse(scanner, "unknown escape");
			scanner->at++;
			continue;
		}
		sequence = utf8_sequence(scanner->at, (size_t)(scanner->end - scanner->at));
		if (!sequence)
			return refuse(scanner, "invalid UTF-8");
		scanner->at += sequence;
	}
	if (!take(scanner, '"'))
		return refuse(scanner, "string without an end");
	return 0;
}

static int scan_string(struct scanner *scanner, const char **out, size_t *out_length)
{
	const char *quoted = scanner->at;
	size_t length;
	bool escaped = false;
	int result = check_string(scanner, &escaped);

	if (result < 0)
		return result;
	length = (size_t)(scanner->at - quoted);
	if (escaped) {
		result = json_decode_escaped(quoted, length, scanner->decoded, out_length, scanner->err);
		if (result < 0)
			return result;
	} else {
		*out_length = length - 2;
		memcpy(scanner->decoded, quoted + 1, *out_length);
	}
	*out = scanner->decoded;
	scanner->decoded[*out_length] = '\0';
	scanner->decoded += *out_length + 1;
	return 0;
}

static int scan_number(struct scanner *scanner)
{
	take(scanner, '-');
	if (!take(scanner, '0') && !take_digits(scanner))
		return refuse(scanner, "expected a digit");
	if (take(scanner, '.') && !take_digits(scanner))
		return refuse(scanner, "expected a digit");
	if (take(scanner, 'e') || take(scanner, 'E')) {
		if (!take(scanner, '+'))
			take(scanner, '-');
		if (!take_digits(scanner))
			return refuse(scanner, "expected a digit");
	}
	return 0;
}

static int scan_literal(struct scanner *scanner, const char *literal)
{
	size_t length = strlen(literal);

	if ((size_t)(scanner->end - scanner->at) < length || memcmp(scanner->at, literal, length) != 0)
		return refuse(scanner, "expected a value");
	scanner->at += length;
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_keys_sorted(const struct scanner *scanner, const struct json_node *object)
{
	cleanup_free const char **keys = calloc(object->size, sizeof(*keys));
	size_t count = 0;

	if (!keys)
		return error_set(scanner->err, ERROR_MEMORY, "JSON: no memory for an object's keys");
	for (const struct json_node *member = json_first(object); member; member = json_next(member))
		keys[count++] = member->key;
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return refuse(scanner, "duplicate key in the object that ends");
	}
	return 0;
}

static int check_keys(const struct scanner *scanner, const struct json_node *object)
{
	if (object->size > FEW_KEYS)
		return check_keys_sorted(scanner, object);
	for (const struct json_node *one = json_first(object); one; one = json_next(one)) {
		for (const struct json_node *other = json_next(one); other; other = json_next(other)) {
			if (strcmp(one->key, other->key) == 0)
				return refuse(scanner, "duplicate key in the object that ends");
		}
	}
	return 0;
}

static int scan_key(struct scanner *scanner, const char **key)
{
	size_t length;
	int result;

	skip_space(scanner);
	if (scanner->at == scanner->end || *scanner->at != '"')
		return refuse(scanner, "expected a key");
	result = scan_string(scanner, key, &length);
	if (result < 0)
		return result;
	skip_space(scanner);
	return take(scanner, ':') ? 0 : refuse(scanner, "expected ':'");
}

/* At the opening bracket of nodes[index]. Indices, because the array moves while it grows. */
static int scan_container(struct scanner *scanner, size_t index, size_t depth)
{
	struct json_document *document = scanner->document;
	bool object = document->nodes[index].type == JSON_OBJECT;
	char close = object ? '}' : ']';
	size_t last = 0;
	uint32_t count = 0;

	if (depth >= scanner->max_depth)
		return refuse(scanner, "nested too deeply");
	scanner->at++;
	skip_space(scanner);
	if (take(scanner, close))
		return 0;
	do {
		const char *key = NULL;
		size_t child = document->count;
		int result = object ? scan_key(scanner, &key) : 0;

		if (result == 0)
			result = scan_value(scanner, depth + 1, key);
		if (result < 0)
			return result;
		if (count++)
			document->nodes[last].next = (uint32_t)(child - last);
		last = child;
		skip_space(scanner);
	} while (take(scanner, ','));
	if (!take(scanner, close))
		return refuse(scanner, object ? "expected ',' or '}'" : "expected ',' or ']'");
	document->nodes[index].size = count;
	return object ? check_keys(scanner, &document->nodes[index]) : 0;
}

static int add_node(struct scanner *scanner, const char *key, enum json_type type)
{
	struct json_document *document = scanner->document;

	if (document->count == document->capacity) {
		size_t capacity = document->capacity ? document->capacity * 2 : 16;
		struct json_node *nodes = reallocarray(document->nodes, capacity, sizeof(*nodes));

		if (!nodes)
			return error_set(scanner->err, ERROR_MEMORY, "JSON: no memory for %zu values", capacity);
		document->nodes = nodes;
		document->capacity = capacity;
	}
	document->nodes[document->count++] = (struct json_node){ .bytes = scanner->at, .key = key, .type = type };
	return 0;
}

static bool type_of(char first, enum json_type *type)
{
	switch (first) {
	case '{':
		*type = JSON_OBJECT;
		return true;
	case '[':
		*type = JSON_ARRAY;
		return true;
	case '"':
		*type = JSON_STRING;
		return true;
	case 't':
	case 'f':
		*type = JSON_BOOL;
		return true;
	case 'n':
		*type = JSON_NULL;
		return true;
	default:
		*type = JSON_NUMBER;
		return first == '-' || is_digit(first);
	}
}

static int scan_by_type(struct scanner *scanner, size_t index, size_t depth)
{
	struct json_node *node = &scanner->document->nodes[index];
	size_t length = 0;
	int result;

	switch (node->type) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return scan_container(scanner, index, depth);
	case JSON_STRING:
		result = scan_string(scanner, &node->string, &length);
		node->size = (uint32_t)length;
		return result;
	case JSON_NUMBER:
		return scan_number(scanner);
	case JSON_BOOL:
		return scan_literal(scanner, *scanner->at == 't' ? "true" : "false");
	case JSON_NULL:
		break;
	}
	return scan_literal(scanner, "null");
}

static int scan_value(struct scanner *scanner, size_t depth, const char *key)
{
	struct json_document *document = scanner->document;
	size_t index = document->count;
	enum json_type type;
	int result;

	skip_space(scanner);
	if (scanner->at == scanner->end || !type_of(*scanner->at, &type))
		return refuse(scanner, "expected a value");
	result = add_node(scanner, key, type);
	if (result == 0)
		result = scan_by_type(scanner, index, depth);
	if (result < 0)
		return result;
	document->nodes[index].length = (uint32_t)(scanner->at - document->nodes[index].bytes);
	return 0;
}

static int scan_document(struct scanner *scanner)
{
	const struct json_document *document = scanner->document;
	const char *nul = memchr(document->text, '\0', document->length);
	int result;

	if (nul) {
		scanner->at = nul;
		return refuse(scanner, "NUL byte");
	}
	if (document->length >= 3 && memcmp(document->text, "\xef\xbb\xbf", 3) == 0)
		return refuse(scanner, "byte order mark");
	result = scan_value(scanner, 0, NULL);
	if (result < 0)
		return result;
	skip_space(scanner);
	return scanner->at == scanner->end ? 0 : refuse(scanner, "bytes after the value");
}

int json_scan(struct json_document *document, size_t max_depth, struct error **err)
{
	struct scanner scanner = {
		.document = document,
		.at = document->text,
		.end = document->text + document->length,
		.decoded = document->strings,
		.max_depth = max_depth,
		.err = err,
	};

	return scan_document(&scanner);
}
