#include "observers/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool whole(const char *text, int64_t *out)
{
	char *end = NULL;
	long long value;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || (*end != '\n' && *end != '\0'))
		return false;
	*out = value;
	return true;
}

bool number_in(const char *text, const char *key, int64_t *out)
{
	size_t length = key ? strlen(key) : 0;

	if (!key)
		return whole(text, out);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return whole(line + length + 1, out);
	}
	return false;
}
