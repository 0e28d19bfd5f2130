#include "observers/limits_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char row[] = "Max core file size";

/* One column, "unlimited" or a number; returns what stands behind it, or NULL. */
static const char *parse_limit(const char *text, int64_t *out)
{
	uint64_t value = 0;

	text += strspn(text, " ");
	if (strncmp(text, "unlimited", strlen("unlimited")) == 0) {
		*out = INT64_MAX;
		return text + strlen("unlimited");
	}
	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return NULL;
	*out = value > INT64_MAX ? INT64_MAX : (int64_t)value;
	return text;
}

bool core_limit_parse(const char *text, struct core_limit *out)
{
	struct core_limit limit = { 0 };

	while (text && strncmp(text, row, sizeof(row) - 1) != 0) {
		text = strchr(text, '\n');
		text += text ? 1 : 0;
	}
	if (!text)
		return false;
	text = parse_limit(text + sizeof(row) - 1, &limit.soft);
	text = text && *text == ' ' ? parse_limit(text, &limit.hard) : NULL;
	if (!text)
		return false;
	text += strspn(text, " ");
	if (strncmp(text, "bytes", strlen("bytes")) != 0)
		return false;
	*out = limit;
	return true;
}
