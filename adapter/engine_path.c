/* The words of callers are checked, then become a path of the API. */
#include <stdio.h>
#include <string.h>

#include "adapter/engine_internal.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ID_MIN 12
#define REFERENCE_MAX 255

bool engine_consists_of(const char *text, size_t min, size_t max, const char *set)
{
	size_t length = strnlen(text, max + 1);

	return length >= min && length <= max && strspn(text, set) == length;
}

static bool begins_plain(const char *text)
{
	return *text && strchr(LOWER UPPER DIGITS, *text);
}

int engine_check_id(const char *id, struct error **err)
{
	if (!engine_consists_of(id, ID_MIN, CONTAINER_ID_MAX - 1, DIGITS "abcdef"))
		return error_set(err, ERROR_USAGE, "a container's id has %d to %d lower-case hexadecimal digits",
				 ID_MIN, CONTAINER_ID_MAX - 1);
	return 0;
}

int engine_check_name(const char *name, struct error **err)
{
	if (!begins_plain(name) || !engine_consists_of(name, 1, ID_MAX - 1, LOWER UPPER DIGITS "_.-"))
		return error_set(err, ERROR_USAGE,
				 "a name has 1 to %d letters, digits, '_', '.', '-', the first a letter or digit",
				 ID_MAX - 1);
	return 0;
}

int engine_check_reference(const char *reference, struct error **err)
{
	if (!begins_plain(reference) || !engine_consists_of(reference, 1, REFERENCE_MAX, LOWER UPPER DIGITS "_.-/:@") ||
	    strstr(reference, "..") || strstr(reference, "//"))
		return error_set(err, ERROR_USAGE, "an image is named by sha256: and its digits, or by name:tag");
	return 0;
}

bool engine_printable(const char *text, size_t max)
{
	size_t length = strnlen(text, max + 1);

	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return length >= 1 && length <= max;
}

void engine_put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr(LOWER UPPER DIGITS "_.-~", *text))
			buf_add(out, text, 1);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
	}
}

int engine_container_path(char path[ENGINE_CONTAINER_PATH], const char *id, const char *end, struct error **err)
{
	int code = engine_check_id(id, err);

	if (code == 0)
		snprintf(path, ENGINE_CONTAINER_PATH, "/containers/%s%s", id, end);
	return code;
}
