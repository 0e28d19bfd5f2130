/* Lines out of a stream of bytes, each handed on once, in bounded memory. */
#ifndef HARNESS_CORE_LINES_H
#define HARNESS_CORE_LINES_H

#include <stddef.h>

#include "core/buf.h"
#include "core/error.h"

/* A line without its line feed; not NUL-terminated. It lives until the call returns. */
typedef int (*lines_take)(void *context, const char *line, size_t length, struct error **err);

struct lines {
	struct buf part; /* of a line whose end did not come yet; its maximum is that of a line */
	lines_take take;
	void *context;
};
#define LINES(maximum, taker, taken)                                                                                   \
	{                                                                                                              \
		.part = BUF(maximum), .take = (taker), .context = (taken)                                              \
	}

/* ERROR_LIMIT, without a name, when a line is longer than the maximum; else what `take` returns. */
int lines_feed(struct lines *lines, const void *bytes, size_t length, struct error **err) MUST_CHECK;
/* Whether bytes stand behind the last line feed. */
static inline int lines_cut(const struct lines *lines)
{
	return lines->part.length > 0;
}
static inline void lines_free(struct lines *lines)
{
	buf_free(&lines->part);
}
#define cleanup_lines __attribute__((cleanup(lines_free)))

#endif
