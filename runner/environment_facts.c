#include "runner/environment_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/schema.h"

/* A canonical number of JSON is no larger. */
#define COUNT_MAX ((INT64_C(1) << 53) - 1)

void facts_begin(struct facts *facts)
{
	facts->values_text = (struct buf)BUF(FACTS_BYTES);
	facts->reasons_text = (struct buf)BUF(FACTS_BYTES);
	json_begin(&facts->values, &facts->values_text);
	json_begin(&facts->reasons, &facts->reasons_text);
	json_object(&facts->values);
	json_object(&facts->reasons);
}

void facts_free(struct facts *facts)
{
	buf_free(&facts->values_text);
	buf_free(&facts->reasons_text);
}

enum fact_reason fact_reason_of_errno(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
		return FACT_ABSENT;
	case EACCES:
	case EPERM:
		return FACT_PERMISSION;
	case ENOSYS:
	case EOPNOTSUPP:
	case EINVAL:
		return FACT_UNSUPPORTED;
	default:
		return FACT_ERROR;
	}
}

enum fact_reason fact_reason_of(const struct error *error)
{
	return fact_reason_of_errno(error_number(error));
}

void fact_none(struct facts *facts, const char *field, enum fact_reason reason)
{
	json_put_key(&facts->values, field);
	json_put_null(&facts->values);
	json_member_string(&facts->reasons, field, fact_reason_names[reason]);
}

static bool fits(const char *text, size_t length)
{
	return length <= FACT_TEXT_MAX && schema_matches(PATTERN_ASCII, text, length);
}

void fact_text(struct facts *facts, const char *field, const char *text)
{
	if (!text || !*text)
		fact_none(facts, field, FACT_ABSENT);
	else if (!fits(text, strlen(text)))
		fact_none(facts, field, FACT_UNSUPPORTED);
	else
		json_member_string(&facts->values, field, text);
}

void fact_count(struct facts *facts, const char *field, int64_t value)
{
	if (value < 0 || value > COUNT_MAX)
		fact_none(facts, field, FACT_UNSUPPORTED);
	else
		json_member_int(&facts->values, field, value);
}

void fact_flag(struct facts *facts, const char *field, bool value)
{
	json_member_bool(&facts->values, field, value);
}

void fact_words(struct facts *facts, const char *field, const char *text, const char *separators)
{
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, separators);

		if (!fits(at, length)) {
			fact_none(facts, field, FACT_UNSUPPORTED);
			return;
		}
		at += length;
		at += strspn(at, separators);
	}
	json_put_key(&facts->values, field);
	json_array(&facts->values);
	for (const char *at = text + strspn(text, separators); *at;) {
		size_t length = strcspn(at, separators);

		json_put_bytes(&facts->values, at, length);
		at += length;
		at += strspn(at, separators);
	}
	json_array_end(&facts->values);
}

/* Each element's text, or each member's key. */
static void put_list(struct facts *facts, const char *field, const struct json_node *list,
		     const char *(*text_of)(const struct json_node *node))
{
	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		if (!text_of(one) || !fits(text_of(one), strlen(text_of(one)))) {
			fact_none(facts, field, FACT_UNSUPPORTED);
			return;
		}
	json_put_key(&facts->values, field);
	json_array(&facts->values);
	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		json_put_string(&facts->values, text_of(one));
	json_array_end(&facts->values);
}

void fact_keys(struct facts *facts, const char *field, const struct json_node *node)
{
	if (json_is_null(node))
		fact_none(facts, field, FACT_ABSENT);
	else if (json_type(node) != JSON_OBJECT)
		fact_none(facts, field, FACT_UNSUPPORTED);
	else
		put_list(facts, field, node, json_key);
}

void fact_answer(struct facts *facts, const char *field, const struct json_node *node)
{
	int64_t number;
	bool flag;

	if (json_is_null(node))
		fact_none(facts, field, FACT_ABSENT);
	else if (json_int64(node, &number))
		fact_count(facts, field, number);
	else if (json_bool(node, &flag))
		fact_flag(facts, field, flag);
	else if (json_string(node))
		fact_text(facts, field, json_string(node));
	else if (json_type(node) == JSON_ARRAY)
		put_list(facts, field, node, json_string);
	else
		fact_none(facts, field, FACT_UNSUPPORTED);
}

bool fact_read(struct facts *facts, const char *field, int root, const char *path, struct buf *out)
{
	cleanup_error struct error *why = NULL;

	if (fd_read_file(root, path, out->max, out, &why) < 0) {
		fact_none(facts, field, fact_reason_of(why));
		return false;
	}
	while (out->length > 0 && strchr(" \t\n", out->data[out->length - 1]))
		out->data[--out->length] = '\0';
	if (out->length == 0)
		fact_none(facts, field, FACT_ABSENT);
	return out->length > 0;
}

const char *const fact_reason_names[] = {
	[FACT_ABSENT] = "absent",
	[FACT_PERMISSION] = "permission",
	[FACT_UNSUPPORTED] = "unsupported",
	[FACT_ERROR] = "error",
	NULL,
};
