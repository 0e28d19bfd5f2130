#include "core/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

/* A copy instead of realloc(), so that no bytes stay in memory that buf_wipe() cannot reach. */
static int grow(struct buf *buf, size_t needed)
{
	size_t most = buf->max < SIZE_MAX ? buf->max + 1 : SIZE_MAX;
	size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
	char *data;

	while (capacity < needed)
		capacity = capacity > most / 2 ? most : capacity * 2;
	if (capacity > most)
		capacity = most;
	data = malloc(capacity);
	if (!data)
		return -1;
	if (buf->data) {
		memcpy(data, buf->data, buf->length);
		explicit_bzero(buf->data, buf->capacity);
		free(buf->data);
	}
	data[buf->length] = '\0';
	buf->data = data;
	buf->capacity = capacity;
	return 0;
}

char *buf_reserve(struct buf *buf, size_t length)
{
	if (buf->failed)
		return NULL;
	if (buf->drain && buf->length >= BUF_DRAIN_BYTES)
		buf_drain(buf);
	if (length > buf->max - buf->drained - buf->length || length >= SIZE_MAX - buf->length) {
		buf->failed = true;
		return NULL;
	}
	if (buf->length + length + 1 > buf->capacity && grow(buf, buf->length + length + 1) < 0) {
		buf->failed = buf->no_memory = true;
		return NULL;
	}
	return buf->data + buf->length;
}

void buf_drain(struct buf *buf)
{
	if (!buf->drain || buf->length == 0)
		return;
	buf->drain(buf->drain_context, buf->data, buf->length);
	buf->drained += buf->length;
	buf->length = 0;
	buf->data[0] = '\0';
}

void buf_commit(struct buf *buf, size_t length)
{
	buf->length += length;
	buf->data[buf->length] = '\0';
}

int buf_add(struct buf *buf, const void *bytes, size_t length)
{
	char *room = buf_reserve(buf, length);

	if (!room)
		return -(int)ERROR_LIMIT;
	if (length > 0)
		memcpy(room, bytes, length);
	buf_commit(buf, length);
	return 0;
}

int buf_text(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	va_list arguments;
	char *room;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) {
		buf->failed = true;
		return -(int)ERROR_LIMIT;
	}
	room = buf_reserve(buf, (size_t)length);
	if (!room)
		return -(int)ERROR_LIMIT;
	va_start(arguments, format);
	vsnprintf(room, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buf_commit(buf, (size_t)length);
	return 0;
}

void buf_consume(struct buf *buf, size_t length)
{
	if (length > buf->length)
		length = buf->length;
	if (length == 0)
		return;
	memmove(buf->data, buf->data + length, buf->length - length + 1);
	buf->length -= length;
}

const char *buf_string(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

int buf_check(const struct buf *buf, const char *what, struct error **err)
{
	if (!buf->failed)
		return 0;
	if (buf->no_memory)
		return error_set(err, ERROR_MEMORY, "%s: no memory", what);
	return error_set(err, ERROR_LIMIT, "%s: more than %zu bytes", what, buf->max);
}

void buf_wipe(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->capacity);
	buf_free(buf);
}

void buf_free(struct buf *buf)
{
	size_t max = buf->max;

	free(buf->data);
	*buf = (struct buf)BUF(max);
}
