#include "core/lines.h"

#include <string.h>

int lines_feed(struct lines *lines, const void *bytes, size_t length, struct error **err)
{
	const char *at = bytes, *end = at + length;

	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		size_t part = (size_t)((feed ? feed : end) - at);
		const char *line = at;
		size_t whole = part;
		int result;

		if (lines->part.length > 0 || !feed) {
			if (buf_add(&lines->part, at, part) < 0)
				return buf_check(&lines->part, "a line", err);
			line = buf_string(&lines->part);
			whole = lines->part.length;
		}
		if (!feed)
			return 0;
		if (whole > lines->part.max)
			return error_set(err, ERROR_LIMIT, "a line is longer than %zu bytes", lines->part.max);
		result = lines->take(lines->context, line, whole, err);
		if (result < 0)
			return result;
		lines->part.length = 0;
		at = feed + 1;
	}
	return 0;
}
