#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 512

struct error {
	enum error_code code;
	int number;
	bool unlisted;
	char text[TEXT_MAX];
};

/* Never written to, though not const: it leaves this file as a struct error like any other. */
static struct error out_of_memory = { .code = ERROR_MEMORY, .number = ENOMEM, .text = "out of memory" };

const char *error_safe(const char *text, char *out, size_t size)
{
	size_t i = 0;

	if (size == 0)
		return out;
	for (; text && text[i] != '\0' && i < size - 1; i++)
		out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	out[i] = '\0';
	return out;
}

static void append(char text[TEXT_MAX], const char *more)
{
	size_t length = strlen(text);

	error_safe(more, text + length, TEXT_MAX - length);
}

static int store(struct error **err, enum error_code code, int number, const char *text)
{
	struct error *error;

	if (!err)
		return -(int)code;
	error = malloc(sizeof(*error));
	if (!error) {
		*err = &out_of_memory;
		return -(int)out_of_memory.code;
	}
	error->code = code;
	error->number = number;
	error->unlisted = false;
	error_safe(text, error->text, sizeof(error->text));
	*err = error;
	return -(int)code;
}

int error_set(struct error **err, enum error_code code, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return store(err, code, 0, text);
}

int error_unlisted(struct error **err, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;
	int result;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	result = store(err, ERROR_INPUT, 0, text);
	if (err && *err != &out_of_memory)
		(*err)->unlisted = true;
	return result;
}

bool error_is_unlisted(const struct error *error)
{
	return error && error->unlisted;
}

int error_errno(struct error **err, int number, const char *format, ...)
{
	const char *description = strerrordesc_np(number);
	char text[TEXT_MAX], unknown[32];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(unknown, sizeof(unknown), "error %d", number);
	append(text, ": ");
	append(text, description ? description : unknown);
	return store(err, ERROR_SYSTEM, number, text);
}

int error_wrap(struct error **err, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	if (!err || !*err)
		return 0;
	if (*err == &out_of_memory)
		return -(int)out_of_memory.code;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	append(text, ": ");
	append(text, (*err)->text);
	error_safe(text, (*err)->text, sizeof((*err)->text));
	return -(int)(*err)->code;
}

enum error_code error_code(const struct error *error)
{
	return error ? error->code : (enum error_code)0;
}

const char *error_text(const struct error *error)
{
	return error ? error->text : "";
}

int error_number(const struct error *error)
{
	return error ? error->number : 0;
}

void error_free(struct error *error)
{
	if (error != &out_of_memory)
		free(error);
}

void error_keep_first(struct error **to, struct error **from)
{
	if (to && !*to)
		*to = *from;
	else
		error_free(*from);
	*from = NULL;
}
