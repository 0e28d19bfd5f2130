#include "core/schema_line.h"

#include <stdlib.h>
#include <string.h>

#define SAFE_INTEGER ((INT64_C(1) << 53) - 1)

struct cursor {
	const char *at;
	const char *end;
};

static bool is_flat(const struct schema_field *field)
{
	if (!field->required || field->nullable || field->array_max)
		return false;
	if (field->type == SCHEMA_INT)
		return field->min >= -SAFE_INTEGER && field->max <= SAFE_INTEGER;
	if (field->type == SCHEMA_STRING)
		return field->pattern == PATTERN_ID || field->pattern == PATTERN_HEX || field->pattern == PATTERN_FIELD;
	return field->type == SCHEMA_ENUM;
}

bool schema_line_arrange(struct schema_line *line, const struct schema_field *fields)
{
	*line = (struct schema_line){ .count = 0 };
	for (const struct schema_field *field = fields; field->key; field++) {
		size_t at = line->count;

		if (at == SCHEMA_LINE_FIELDS || !is_flat(field))
			return false;
		for (; at > 0 && strcmp(line->rows[at - 1].field->key, field->key) > 0; at--)
			line->rows[at] = line->rows[at - 1];
		line->rows[at].field = field;
		line->rows[at].key_length = strlen(field->key);
		line->count++;
	}
	return line->count > 0;
}

static bool take(struct cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

static bool take_key(struct cursor *cursor, const char *key, size_t length)
{
	/* Quotes and colon. */
	if ((size_t)(cursor->end - cursor->at) < length + 3 || cursor->at[0] != '"' ||
	    memcmp(cursor->at + 1, key, length) != 0 || cursor->at[length + 1] != '"' || cursor->at[length + 2] != ':')
		return false;
	cursor->at += length + 3;
	return true;
}

static bool take_int(struct cursor *cursor, const struct schema_field *field, char *out)
{
	bool negative = take(cursor, '-');
	const char *first = cursor->at;
	int64_t value = 0;

	/* Sixteen digits do not overflow, and no number of a canonical form has more. */
	while (cursor->at < cursor->end && cursor->at - first < 17 && *cursor->at >= '0' && *cursor->at <= '9')
		value = value * 10 + (*cursor->at++ - '0');
	if (cursor->at == first || cursor->at - first > 16 || (*first == '0' && (cursor->at - first > 1 || negative)))
		return false;
	value = negative ? -value : value;
	if (value < field->min || value > field->max)
		return false;
	memcpy(out + field->offset, &value, sizeof(value));
	return true;
}

static bool take_quoted(struct cursor *cursor, const char **text, size_t *length)
{
	const char *close;

	if (!take(cursor, '"'))
		return false;
	close = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
	if (!close)
		return false;
	*text = cursor->at;
	*length = (size_t)(close - cursor->at);
	cursor->at = close + 1;
	return true;
}

static bool take_string(struct cursor *cursor, const struct schema_field *field, char *out)
{
	const char *text = NULL;
	size_t length = 0;

	if (!take_quoted(cursor, &text, &length) || length >= field->size || (int64_t)length < field->min ||
	    !schema_matches(field->pattern, text, length))
		return false;
	memcpy(out + field->offset, text, length);
	return true;
}

static bool take_name(struct cursor *cursor, const struct schema_field *field, char *out)
{
	const char *text = NULL;
	size_t length = 0;

	if (!take_quoted(cursor, &text, &length))
		return false;
	for (int value = 0; field->names[value]; value++)
		if (strlen(field->names[value]) == length && memcmp(field->names[value], text, length) == 0) {
			memcpy(out + field->offset, &value, sizeof(value));
			return true;
		}
	return false;
}

static bool take_value(struct cursor *cursor, const struct schema_field *field, char *out)
{
	switch (field->type) {
	case SCHEMA_INT:
		return take_int(cursor, field, out);
	case SCHEMA_ENUM:
		return take_name(cursor, field, out);
	case SCHEMA_STRING:
		return take_string(cursor, field, out);
	case SCHEMA_BOOL:
	case SCHEMA_OBJECT:
		break;
	}
	return false;
}

bool schema_line_read(const struct schema_line *line, const char *text, size_t length, void *out, size_t out_size)
{
	struct cursor cursor = { .at = text, .end = text + length };

	memset(out, 0, out_size);
	for (size_t i = 0; i < line->count; i++)
		if (!take(&cursor, i ? ',' : '{') ||
		    !take_key(&cursor, line->rows[i].field->key, line->rows[i].key_length) ||
		    !take_value(&cursor, line->rows[i].field, out))
			return false;
	return take(&cursor, '}') && cursor.at == cursor.end;
}
