/* Decoding by a field table. */
#include "core/schema.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/schema_field.h"

#define PATH_BYTES 192
#define REASON_BYTES 256
#define KEY_SHOWN_MAX 32

/* Where in the document the decoder stands: the path is extended on the way down and cut on the way up. */
struct place {
	const char *file;
	char path[PATH_BYTES];
	size_t length;
	struct error **err;
};

static int decode_object(const struct schema_field *fields, const struct json_node *node, struct place *place,
			 char *out);

static size_t push_key(struct place *place, const char *key)
{
	size_t before = place->length;
	size_t room = sizeof(place->path) - before;
	int length = snprintf(place->path + before, room, "%s%s", before ? "." : "", key);

	place->length += (size_t)length < room ? (size_t)length : room - 1;
	return before;
}

static size_t push_index(struct place *place, size_t index)
{
	size_t before = place->length;
	size_t room = sizeof(place->path) - before;
	int length = snprintf(place->path + before, room, "[%zu]", index);

	place->length += (size_t)length < room ? (size_t)length : room - 1;
	return before;
}

static void pop(struct place *place, size_t before)
{
	place->length = before;
	place->path[before] = '\0';
}

static int reject(const struct place *place, const char *format, ...) PRINTF_LIKE(2, 3);
static int reject(const struct place *place, const char *format, ...)
{
	char reason[REASON_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return error_set(place->err, ERROR_INPUT, "%s: %s%s%s", place->file, place->path, place->length ? ": " : "",
			 reason);
}

static int reject_unlisted(const struct place *place, const char *reason)
{
	return error_unlisted(place->err, "%s: %s%s%s", place->file, place->path, place->length ? ": " : "", reason);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_part_char(char c, bool upper)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (upper && c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
	       c == '-';
}

/* Parts between slashes. "." and ".." are no parts, since an id becomes a path below a folder of ours. */
static bool matches_parts(const char *text, size_t length, bool upper)
{
	size_t part = 0, dots = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '/') {
			if (!part || (dots == part && part <= 2))
				return false;
			part = dots = 0;
			continue;
		}
		if (!is_part_char(text[i], upper))
			return false;
		part++;
		dots += text[i] == '.';
	}
	return part && !(dots == part && part <= 2);
}

static int two_digits(const char *text)
{
	return (text[0] - '0') * 10 + (text[1] - '0');
}

static bool matches_time(const char *text, size_t length)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year, month, day;
	bool leap;

	if (length != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (form[i] == 'd' ? !is_digit(text[i]) : text[i] != form[i])
			return false;
	}
	year = two_digits(text) * 100 + two_digits(text + 2);
	month = two_digits(text + 5);
	day = two_digits(text + 8);
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (month < 1 || month > 12 || day < 1 || day > days[month - 1] + (month == 2 && leap))
		return false;
	/* No leap second: nothing here writes one. */
	return two_digits(text + 11) < 24 && two_digits(text + 14) < 60 && two_digits(text + 17) < 60;
}

bool schema_matches(enum schema_pattern pattern, const char *text, size_t length)
{
	switch (pattern) {
	case PATTERN_ID:
		return matches_parts(text, length, false);
	case PATTERN_FIELD:
		return matches_parts(text, length, true);
	case PATTERN_TIME:
		return matches_time(text, length);
	case PATTERN_HEX:
		for (size_t i = 0; i < length; i++) {
			if (!is_digit(text[i]) && (text[i] < 'a' || text[i] > 'f'))
				return false;
		}
		return length > 0;
	case PATTERN_ASCII:
		for (size_t i = 0; i < length; i++) {
			if (text[i] < ' ' || text[i] > '~')
				return false;
		}
		return true;
	}
	return false;
}

const char *schema_form(enum schema_pattern pattern)
{
	switch (pattern) {
	case PATTERN_ID:
		return "at least one of a-z 0-9 . _ -, with / between parts";
	case PATTERN_FIELD:
		return "at least one of a-z A-Z 0-9 . _ -, with / between parts";
	case PATTERN_TIME:
		return "a time in UTC, as 2026-11-30T08:00:00Z";
	case PATTERN_HEX:
		return "hexadecimal digits, 0-9 a-f";
	case PATTERN_ASCII:
		return "printable ASCII";
	}
	return "none";
}

int schema_enum(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

static void set_defaults(const struct schema_field *fields, char *out)
{
	for (const struct schema_field *field = fields; field->key; field++) {
		char *value = out + field->offset;

		if (field->array_max)
			continue;
		if (field->type == SCHEMA_INT)
			memcpy(value, &field->value, sizeof(field->value));
		else if (field->type == SCHEMA_BOOL)
			memcpy(value, &(bool){ field->value != 0 }, sizeof(bool));
		else if (field->type == SCHEMA_ENUM)
			memcpy(value, &(int){ (int)field->value }, sizeof(int));
		else if (field->type == SCHEMA_OBJECT)
			set_defaults(field->fields, value);
	}
}

static int decode_int(const struct schema_field *field, const struct json_node *node, struct place *place, char *out)
{
	int64_t number;

	if (!json_int64(node, &number))
		return reject(place, "must be an integer");
	if (number < field->min || number > field->max)
		return reject(place, "outside %" PRId64 " to %" PRId64, field->min, field->max);
	memcpy(out, &number, sizeof(number));
	return 0;
}

/* With all that could stand there, where that is not too much to read. */
static int reject_value(const struct place *place, const char *const *names)
{
	cleanup_buf struct buf reason = BUF(REASON_BYTES);

	(void)buf_text(&reason, "unknown value: not");
	for (size_t i = 0; names[i]; i++)
		(void)buf_printf(&reason, "%s '%s'", i == 0 ? "" : names[i + 1] ? "," : " or", names[i]);
	return reject_unlisted(place, reason.failed ? "unknown value" : buf_string(&reason));
}

static int decode_enum(const struct schema_field *field, const struct json_node *node, struct place *place, char *out)
{
	const char *name = json_string(node);
	int index;

	if (!name)
		return reject(place, "must be a string");
	index = schema_enum(field->names, name);
	if (index < 0)
		return reject_value(place, field->names);
	memcpy(out, &index, sizeof(index));
	return 0;
}

static int decode_string(const struct schema_field *field, const struct json_node *node, struct place *place, char *out)
{
	const char *text = json_string(node);
	size_t length = json_string_length(node);

	if (field->nullable && json_is_null(node))
		return 0;
	if (!text)
		return reject(place, field->nullable ? "must be a string or null" : "must be a string");
	if (length >= field->size)
		return reject(place, "longer than %zu bytes", field->size - 1);
	if ((int64_t)length < field->min)
		return reject(place, "shorter than %" PRId64 " bytes", field->min);
	if (!schema_matches(field->pattern, text, length))
		return reject(place, "not of the form that it must have: %s", schema_form(field->pattern));
	memcpy(out, text, length + 1);
	return 0;
}

static int decode_value(const struct schema_field *field, const struct json_node *node, struct place *place, char *out)
{
	switch (field->type) {
	case SCHEMA_INT:
		return decode_int(field, node, place, out);
	case SCHEMA_BOOL: {
		bool value;

		if (!json_bool(node, &value))
			return reject(place, "must be true or false");
		memcpy(out, &value, sizeof(value));
		return 0;
	}
	case SCHEMA_ENUM:
		return decode_enum(field, node, place, out);
	case SCHEMA_STRING:
		return decode_string(field, node, place, out);
	case SCHEMA_OBJECT:
		return decode_object(field->fields, node, place, out);
	}
	return error_set(place->err, ERROR_INTERNAL, "%s: a field of no type", place->file);
}

static int decode_array(const struct schema_field *field, const struct json_node *node, struct place *place, char *out)
{
	char *element = out + field->offset;
	size_t count = json_count(node), index = 0;

	if (json_is_null(node) || json_type(node) != JSON_ARRAY)
		return reject(place, "must be an array");
	if (count < field->array_min || count > field->array_max)
		return reject(place, "must have %zu to %zu elements", field->array_min, field->array_max);
	for (const struct json_node *child = json_first(node); child; child = json_next(child)) {
		size_t before = push_index(place, index++);
		int result;

		if (field->type == SCHEMA_OBJECT)
			set_defaults(field->fields, element);
		result = decode_value(field, child, place, element);
		if (result < 0)
			return result;
		pop(place, before);
		element += schema_stride(field);
	}
	memcpy(out + field->count_offset, &count, sizeof(count));
	return 0;
}

static bool may_show(const char *key)
{
	size_t length = strlen(key);

	if (length < 1 || length > KEY_SHOWN_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_part_char(key[i], true))
			return false;
	}
	return true;
}

/* A key that no field has; one of letters may be shown. */
static int reject_key(const struct place *place, const char *key, size_t number)
{
	char reason[REASON_BYTES];

	if (may_show(key))
		snprintf(reason, sizeof(reason), "unknown key '%s'", key);
	else
		snprintf(reason, sizeof(reason), "unknown key, number %zu of the object", number);
	return reject_unlisted(place, reason);
}

static int check_keys(const struct schema_field *fields, const struct json_node *node, struct place *place)
{
	size_t number = 0;

	for (const struct json_node *member = json_first(node); member; member = json_next(member)) {
		const struct schema_field *field = fields;
		const char *key = json_key(member);

		number++;
		while (field->key && strcmp(field->key, key) != 0)
			field++;
		if (field->key)
			continue;
		return reject_key(place, key, number);
	}
	return 0;
}

/* `out` holds the defaults already. */
static int decode_object(const struct schema_field *fields, const struct json_node *node, struct place *place,
			 char *out)
{
	int result;

	if (json_type(node) != JSON_OBJECT)
		return reject(place, "must be an object");
	result = check_keys(fields, node, place);
	if (result < 0)
		return result;
	for (const struct schema_field *field = fields; field->key; field++) {
		const struct json_node *member = json_member(node, field->key);
		size_t before = push_key(place, field->key);

		if (!member && field->required)
			return reject(place, "missing");
		if (member && field->array_max)
			result = decode_array(field, member, place, out);
		else if (member)
			result = decode_value(field, member, place, out + field->offset);
		if (result < 0)
			return result;
		pop(place, before);
	}
	return 0;
}

int schema_decode(const struct schema_field *fields, const struct json_node *node, const char *file, void *out,
		  size_t out_size, struct error **err)
{
	struct place place = { .file = file, .err = err };
	int result;

	memset(out, 0, out_size);
	set_defaults(fields, out);
	result = decode_object(fields, node, &place, out);
	if (result < 0)
		memset(out, 0, out_size);
	return result;
}
