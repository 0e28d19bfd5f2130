#include "core/json_python.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/utf8.h"

#define INTEGER_DIGITS 4300 /* sys.int_info.default_max_str_digits */
#define DOUBLE_DIGITS 17 /* so many always suffice */
#define DOUBLE_BYTES 40
/* repr() writes an exponent where the decimal point would stand beyond these. */
#define POINT_MIN (-3)
#define POINT_MAX 16

/* ---- strings -------------------------------------------------------------------------------------------------------
 */

static uint32_t code_point(const char *sequence, size_t length)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t point = (unsigned char)sequence[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		point = point << 6 | ((unsigned char)sequence[i] & 0x3f);
	return point;
}

static void put_escape(uint32_t point, struct buf *out)
{
	static const char plain[] = "\b\t\n\f\r\"\\";
	static const char letters[] = "btnfr\"\\";
	const char *found = point < 0x80 ? memchr(plain, (int)point, sizeof(plain) - 1) : NULL;

	if (found) {
		(void)buf_printf(out, "\\%c", letters[found - plain]);
		return;
	}
	if (point < 0x10000) {
		(void)buf_printf(out, "\\u%04x", point);
		return;
	}
	point -= 0x10000;
	(void)buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
}

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void json_python_string(const char *text, size_t length, struct buf *out)
{
	size_t done = 0, at = 0;

	(void)buf_add(out, "\"", 1);
	while (at < length && !out->failed) {
		size_t sequence;

		if (is_plain(text[at])) {
			at++;
			continue;
		}
		sequence = utf8_sequence(text + at, length - at);
		if (!sequence) {
			out->failed = true;
			return;
		}
		(void)buf_add(out, text + done, at - done);
		put_escape(code_point(text + at, sequence), out);
		at += sequence;
		done = at;
	}
	(void)buf_add(out, text + done, at - done);
	(void)buf_add(out, "\"", 1);
}

/* ---- numbers -------------------------------------------------------------------------------------------------------
 */

/* The digits of a decimal, and where its point stands: 0.DIGITS times 10 to the power of `point`. */
struct decimal {
	char digits[DOUBLE_DIGITS + 1];
	int point;
};

/* Correctly rounded to `count` digits. */
static void round_to(double value, int count, struct decimal *out)
{
	char text[DOUBLE_BYTES];

	snprintf(text, sizeof(text), "%.*e", count - 1, value);
	out->point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
	out->digits[0] = text[0];
	if (count > 1)
		memcpy(&out->digits[1], &text[2], (size_t)count - 1);
	out->digits[count] = '\0';
}

/* The next decimal of as many digits, away from zero. */
static void increment(struct decimal *decimal)
{
	size_t at = strlen(decimal->digits);

	while (at > 0 && decimal->digits[at - 1] == '9')
		decimal->digits[--at] = '0';
	if (at > 0) {
		decimal->digits[at - 1]++;
		return;
	}
	decimal->digits[0] = '1';
	decimal->point++;
}

static bool reads_back(const struct decimal *decimal, double value)
{
	char text[DOUBLE_BYTES];

	snprintf(text, sizeof(text), "0.%se%d", decimal->digits, decimal->point);
	return strtod(text, NULL) == value;
}

/* The shortest decimal that reads back as `value` (above zero). At a power of two the doubles above stand twice as far
 * apart as those below, so that the decimal behind the nearest one may be the only one of its length that does. */
static void shortest(double value, struct decimal *out)
{
	for (int count = 1; count < DOUBLE_DIGITS; count++) {
		round_to(value, count, out);
		if (reads_back(out, value))
			return;
		increment(out);
		if (reads_back(out, value))
			return;
	}
	round_to(value, DOUBLE_DIGITS, out);
}

static size_t without_zeros(const struct decimal *decimal)
{
	size_t length = strlen(decimal->digits);

	while (length > 1 && decimal->digits[length - 1] == '0')
		length--;
	return length;
}

static void put_decimal(const struct decimal *decimal, struct buf *out)
{
	int length = (int)without_zeros(decimal), point = decimal->point;
	const char *digits = decimal->digits;

	if (point < POINT_MIN || point > POINT_MAX)
		(void)buf_printf(out, "%c%s%.*se%+03d", digits[0], length > 1 ? "." : "", length - 1, &digits[1],
				 point - 1);
	else if (point <= 0)
		(void)buf_printf(out, "0.%.*s%.*s", -point, "000", length, digits);
	else if (length <= point)
		(void)buf_printf(out, "%.*s%.*s.0", length, digits, point - length, "0000000000000000");
	else
		(void)buf_printf(out, "%.*s.%.*s", point, digits, length - point, &digits[point]);
}

static int put_double(struct json_span raw, struct buf *out, struct error **err)
{
	/* The document's text has a NUL at its end, and what follows a number continues none. */
	double value = strtod(raw.bytes, NULL);
	struct decimal decimal;

	if (isinf(value))
		return error_set(err, ERROR_INPUT, "JSON: a number beyond the doubles");
	if (raw.bytes[0] == '-')
		(void)buf_text(out, "-");
	if (value == 0) {
		(void)buf_text(out, "0.0");
		return 0;
	}
	shortest(fabs(value), &decimal);
	put_decimal(&decimal, out);
	return 0;
}

static bool is_integer(struct json_span raw)
{
	for (size_t i = 0; i < raw.length; i++) {
		if (raw.bytes[i] == '.' || raw.bytes[i] == 'e' || raw.bytes[i] == 'E')
			return false;
	}
	return true;
}

static int put_number(struct json_span raw, struct buf *out, struct error **err)
{
	bool negative = raw.bytes[0] == '-';

	if (!is_integer(raw))
		return put_double(raw, out, err);
	if (raw.length - negative > INTEGER_DIGITS)
		return error_set(err, ERROR_INPUT, "JSON: an integer of more than %d digits", INTEGER_DIGITS);
	if (negative && raw.bytes[1] == '0')
		(void)buf_text(out, "0");
	else
		(void)buf_add(out, raw.bytes, raw.length);
	return 0;
}

/* ---- values --------------------------------------------------------------------------------------------------------
 */

static int put_value(const struct json_node *node, struct buf *out, struct error **err);

/* UTF-8 sorts as its code points do. */
static int compare_members(const void *a, const void *b)
{
	return strcmp(json_key(*(const struct json_node *const *)a), json_key(*(const struct json_node *const *)b));
}

static int put_object(const struct json_node *object, struct buf *out, struct error **err)
{
	size_t count = json_count(object), filled = 0;
	cleanup_free const struct json_node **members = calloc(count + 1, sizeof(*members));
	int status = 0;

	if (!members)
		return error_set(err, ERROR_MEMORY, "JSON: no memory for an object's keys");
	for (const struct json_node *member = json_first(object); member; member = json_next(member))
		members[filled++] = member;
	qsort(members, filled, sizeof(*members), compare_members);
	(void)buf_text(out, "{");
	for (size_t i = 0; i < filled && !status; i++) {
		const char *key = json_key(members[i]);

		if (i > 0)
			(void)buf_text(out, ",");
		json_python_string(key, strlen(key), out);
		(void)buf_text(out, ":");
		status = put_value(members[i], out, err);
	}
	(void)buf_text(out, "}");
	return status;
}

static int put_array(const struct json_node *array, struct buf *out, struct error **err)
{
	const struct json_node *first = json_first(array);
	int status = 0;

	(void)buf_text(out, "[");
	for (const struct json_node *child = first; child && !status; child = json_next(child)) {
		if (child != first)
			(void)buf_text(out, ",");
		status = put_value(child, out, err);
	}
	(void)buf_text(out, "]");
	return status;
}

/* Recursion is bounded by the depth that the parser allowed. */
static int put_value(const struct json_node *node, struct buf *out, struct error **err)
{
	struct json_span raw = json_raw(node);

	if (out->failed)
		return buf_check(out, "canonical JSON", err);
	switch (json_type(node)) {
	case JSON_OBJECT:
		return put_object(node, out, err);
	case JSON_ARRAY:
		return put_array(node, out, err);
	case JSON_STRING:
		json_python_string(json_string(node), json_string_length(node), out);
		return 0;
	case JSON_NUMBER:
		return put_number(raw, out, err);
	case JSON_BOOL:
	case JSON_NULL:
		break;
	}
	(void)buf_add(out, raw.bytes, raw.length);
	return 0;
}

int json_python_node(const struct json_node *node, struct buf *out, struct error **err)
{
	size_t before = out->length;
	int status = buf_check(out, "canonical JSON", err);

	if (status)
		return status;
	status = put_value(node, out, err);
	if (!status)
		status = buf_check(out, "canonical JSON", err);
	if (status && out->length > before) {
		explicit_bzero(&out->data[before], out->length - before);
		out->length = before;
		out->data[before] = '\0';
	}
	return status;
}

int json_python(const char *bytes, size_t length, size_t max_depth, struct buf *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int status = json_parse(bytes, length, max_depth, &document, err);

	return status ? status : json_python_node(json_root(document), out, err);
}

/* ---- reading what Python wrote -------------------------------------------------------------------------------------
 */

#define ESCAPE_BYTES 6

/* The code unit of an escape, or -1. */
static long escaped_unit(const char *at, size_t length)
{
	char digits[5] = "";

	if (length < ESCAPE_BYTES || at[0] != '\\' || at[1] != 'u')
		return -1;
	memcpy(digits, at + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static bool is_between(long unit, long low, long high)
{
	return unit >= low && unit <= high;
}

/* How many bytes the escape at `at` has; one that our reader refuses is replaced. */
static size_t mend_escape(char *at, size_t length)
{
	long unit = escaped_unit(at, length);

	if (unit < 0)
		return length < 2 ? length : 2;
	if (is_between(unit, 0xd800, 0xdbff) &&
	    is_between(escaped_unit(at + ESCAPE_BYTES, length - ESCAPE_BYTES), 0xdc00, 0xdfff))
		return (size_t)2 * ESCAPE_BYTES;
	if (unit == 0 || is_between(unit, 0xd800, 0xdfff))
		memcpy(at, "\\ufffd", ESCAPE_BYTES);
	return ESCAPE_BYTES;
}

int json_python_parse(const char *bytes, size_t length, size_t max_depth, struct json_document **out,
		      struct error **err)
{
	cleanup_free char *mended = malloc(length + 1);
	size_t at = 0;

	if (!mended)
		return error_set(err, ERROR_MEMORY, "JSON: no memory for %zu bytes", length);
	if (length)
		memcpy(mended, bytes, length);
	while (at < length)
		at += mended[at] == '\\' ? mend_escape(&mended[at], length - at) : 1;
	return json_parse(mended, length, max_depth, out, err);
}

int json_python_hash(const struct json_node *node, size_t max, char hex[HEX_SHA256], struct error **err)
{
	struct buf form = BUF(max);
	int status = json_python_node(node, &form, err);

	if (!status)
		hash_bytes(buf_string(&form), form.length, hex);
	buf_wipe(&form);
	return status;
}
