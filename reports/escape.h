/* Text into markup: what is printed is escaped, so that only a format's own words are markup. Pure. */
#ifndef HARNESS_REPORTS_ESCAPE_H
#define HARNESS_REPORTS_ESCAPE_H

#include "core/buf.h"

/* Appends `text` so that it stands for itself between tags and between quotes of HTML and XML alike: & < > " ' become
 * references, and a byte that is not printable ASCII a question mark. NULL is "". Failures stay in the buffer. */
void escape_text(struct buf *out, const char *text);
/* Appends the format as it stands: %s escaped as above; %c, %d, %ld, %lld, %zu and %% as printf() has them, without
 * flags or widths. A conversion that is none of these fails the buffer. */
void escape_printf(struct buf *out, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
