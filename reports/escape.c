#include "reports/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/fd.h"

struct reference {
	char byte;
	const char *text;
};
static const struct reference references[];
static const size_t references_count;

static const char *replacement(char byte)
{
	for (size_t i = 0; i < references_count; i++)
		if (references[i].byte == byte)
			return references[i].text;
	return byte < ' ' || byte > '~' ? "?" : NULL;
}

void escape_text(struct buf *out, const char *text)
{
	const char *from = text ? text : "", *at = from;

	for (; *at; at++) {
		const char *other = replacement(*at);

		if (!other)
			continue;
		buf_add(out, from, (size_t)(at - from));
		buf_text(out, other);
		from = at + 1;
	}
	buf_add(out, from, (size_t)(at - from));
}

/* One conversion, behind its per cent sign. Returns how long it is; 0: it is none of ours. */
static size_t convert(struct buf *out, const char *format, va_list *arguments)
{
	char byte;

	if (strncmp(format, "lld", 3) == 0) {
		buf_printf(out, "%lld", va_arg(*arguments, long long));
		return 3;
	}
	if (strncmp(format, "ld", 2) == 0) {
		buf_printf(out, "%ld", va_arg(*arguments, long));
		return 2;
	}
	if (strncmp(format, "zu", 2) == 0) {
		buf_printf(out, "%zu", va_arg(*arguments, size_t));
		return 2;
	}
	switch (format[0]) {
	case 's':
		escape_text(out, va_arg(*arguments, const char *));
		return 1;
	case 'd':
		buf_printf(out, "%d", va_arg(*arguments, int));
		return 1;
	case 'c':
		byte = (char)va_arg(*arguments, int);
		escape_text(out, (char[]){ byte, '\0' });
		return 1;
	case '%':
		buf_text(out, "%");
		return 1;
	default:
		return 0;
	}
}

void escape_printf(struct buf *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	while (*format && !out->failed) {
		size_t plain = strcspn(format, "%"), length;

		buf_add(out, format, plain);
		format += plain;
		if (!*format)
			break;
		length = convert(out, format + 1, &arguments);
		out->failed |= length == 0;
		format += 1 + length;
	}
	va_end(arguments);
}

static const struct reference references[] = {
	{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" },
};
static const size_t references_count = ARRAY_SIZE(references);
