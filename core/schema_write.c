/* Encoding by a field table, and the JSON Schema that the table amounts to. */
#include <inttypes.h>
#include <string.h>

#include "core/schema.h"
#include "core/schema_field.h"

struct pattern_text {
	const char *regex; /* ECMA 262, as JSON Schema wants it */
	int64_t least; /* length below which nothing matches */
};

static const struct pattern_text patterns[PATTERN_FIELD + 1];

static void encode_value(const struct schema_field *field, const char *value, struct json_writer *writer);

static size_t array_count(const struct schema_field *field, const char *in)
{
	size_t count;

	memcpy(&count, in + field->count_offset, sizeof(count));
	return count < field->array_max ? count : field->array_max;
}

/* Whether the member as it stands would be taken back by schema_decode(); only absence can make it otherwise. */
static bool has_form(const struct schema_field *field, const char *in)
{
	const char *value = in + field->offset;

	if (field->array_max)
		return array_count(field, in) >= field->array_min;
	if (field->type == SCHEMA_STRING)
		return value[0] || field->nullable || (field->min <= 0 && !patterns[field->pattern].least);
	if (field->type != SCHEMA_OBJECT)
		return true;
	for (const struct schema_field *inner = field->fields; inner->key; inner++) {
		if (inner->required && !has_form(inner, value))
			return false;
	}
	return true;
}

static void encode_string(const struct schema_field *field, const char *value, struct json_writer *writer)
{
	if (field->nullable && !value[0])
		json_put_null(writer);
	else
		json_put_bytes(writer, value, strnlen(value, field->size));
}

static void encode_enum(const struct schema_field *field, const char *value, struct json_writer *writer)
{
	int index, count = 0;

	memcpy(&index, value, sizeof(index));
	while (field->names[count])
		count++;
	json_put_string(writer, index >= 0 && index < count ? field->names[index] : NULL);
}

static void encode_array(const struct schema_field *field, const char *in, struct json_writer *writer)
{
	size_t count = array_count(field, in);

	json_array(writer);
	for (size_t i = 0; i < count; i++)
		encode_value(field, in + field->offset + i * schema_stride(field), writer);
	json_array_end(writer);
}

static void encode_value(const struct schema_field *field, const char *value, struct json_writer *writer)
{
	int64_t number;
	bool truth;

	switch (field->type) {
	case SCHEMA_INT:
		memcpy(&number, value, sizeof(number));
		json_put_int(writer, number);
		break;
	case SCHEMA_BOOL:
		memcpy(&truth, value, sizeof(truth));
		json_put_bool(writer, truth);
		break;
	case SCHEMA_ENUM:
		encode_enum(field, value, writer);
		break;
	case SCHEMA_STRING:
		encode_string(field, value, writer);
		break;
	case SCHEMA_OBJECT:
		schema_encode(field->fields, value, writer);
		break;
	}
}

void schema_encode(const struct schema_field *fields, const void *in, struct json_writer *writer)
{
	const char *base = in;

	json_object(writer);
	for (const struct schema_field *field = fields; field->key; field++) {
		if (!field->required && !has_form(field, base))
			continue;
		json_put_key(writer, field->key);
		if (field->array_max)
			encode_array(field, base, writer);
		else
			encode_value(field, base + field->offset, writer);
	}
	json_object_end(writer);
}

static void print_object(const struct schema_field *fields, struct json_writer *writer);

static void print_enum(const struct schema_field *field, struct json_writer *writer)
{
	json_put_key(writer, "enum");
	json_array(writer);
	for (size_t i = 0; field->names[i]; i++)
		json_put_string(writer, field->names[i]);
	json_array_end(writer);
}

static void print_type(const struct schema_field *field, const char *type, struct json_writer *writer)
{
	json_put_key(writer, "type");
	if (field->nullable) {
		json_array(writer);
		json_put_string(writer, type);
		json_put_string(writer, "null");
		json_array_end(writer);
	} else {
		json_put_string(writer, type);
	}
}

static void print_string(const struct schema_field *field, struct json_writer *writer)
{
	const struct pattern_text *pattern = &patterns[field->pattern];

	print_type(field, "string", writer);
	json_member_int(writer, "minLength", field->min > pattern->least ? field->min : pattern->least);
	json_member_int(writer, "maxLength", (int64_t)field->size - 1);
	json_member_string(writer, "pattern", pattern->regex);
}

/* The keywords of one value, inside an object that the caller opened. */
static void print_value(const struct schema_field *field, struct json_writer *writer)
{
	switch (field->type) {
	case SCHEMA_INT:
		print_type(field, "integer", writer);
		json_member_int(writer, "minimum", field->min);
		json_member_int(writer, "maximum", field->max);
		break;
	case SCHEMA_BOOL:
		json_member_string(writer, "type", "boolean");
		break;
	case SCHEMA_ENUM:
		print_enum(field, writer);
		break;
	case SCHEMA_STRING:
		print_string(field, writer);
		break;
	case SCHEMA_OBJECT:
		print_object(field->fields, writer);
		break;
	}
}

static void print_default(const struct schema_field *field, struct json_writer *writer)
{
	if (field->required || field->type == SCHEMA_STRING || field->type == SCHEMA_OBJECT)
		return;
	json_put_key(writer, "default");
	if (field->type == SCHEMA_INT)
		json_put_int(writer, field->value);
	else if (field->type == SCHEMA_BOOL)
		json_put_bool(writer, field->value != 0);
	else
		json_put_string(writer, field->names[field->value]);
}

static void print_field(const struct schema_field *field, struct json_writer *writer)
{
	json_put_key(writer, field->key);
	json_object(writer);
	if (field->array_max) {
		json_member_string(writer, "type", "array");
		json_member_int(writer, "minItems", (int64_t)field->array_min);
		json_member_int(writer, "maxItems", (int64_t)field->array_max);
		json_put_key(writer, "items");
		json_object(writer);
		print_value(field, writer);
		json_object_end(writer);
	} else {
		print_value(field, writer);
		print_default(field, writer);
	}
	json_object_end(writer);
}

static void print_object(const struct schema_field *fields, struct json_writer *writer)
{
	json_member_string(writer, "type", "object");
	json_member_bool(writer, "additionalProperties", false);
	json_put_key(writer, "required");
	json_array(writer);
	for (const struct schema_field *field = fields; field->key; field++) {
		if (field->required)
			json_put_string(writer, field->key);
	}
	json_array_end(writer);
	json_put_key(writer, "properties");
	json_object(writer);
	for (const struct schema_field *field = fields; field->key; field++)
		print_field(field, writer);
	json_object_end(writer);
}

int schema_print(const struct schema_field *fields, const char *title, struct buf *out, struct error **err)
{
	struct json_writer writer;

	json_begin(&writer, out);
	json_object(&writer);
	json_member_string(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_member_string(&writer, "title", title);
	print_object(fields, &writer);
	json_object_end(&writer);
	return buf_check(out, "JSON Schema", err);
}

#define PARTS(characters) "^(?!(.*/)?\\.\\.?(/|$))[" characters "]+(/[" characters "]+)*$"

static const struct pattern_text patterns[] = {
	[PATTERN_ID] = { .regex = PARTS("a-z0-9._-"), .least = 1 },
	[PATTERN_HEX] = { .regex = "^[0-9a-f]+$", .least = 1 },
	[PATTERN_TIME] = { .regex = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", .least = 20 },
	[PATTERN_ASCII] = { .regex = "^[ -~]*$", .least = 0 },
	[PATTERN_FIELD] = { .regex = PARTS("A-Za-z0-9._-"), .least = 1 },
};
