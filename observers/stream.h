/*
 * An input that is a pipe: read from the loop as it comes, so that the arm may fill several at once, and to its end
 * when a report is due.
 */
#ifndef HARNESS_OBSERVERS_STREAM_H
#define HARNESS_OBSERVERS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/loop.h"
#include "observers/wire.h"

struct stream {
	int fd; /* -1: never came, or ended */
	bool came;
	bool ended; /* its writer closed it */
	enum wire_reason reason; /* LIMIT when there was more than the maximum */
	uint64_t bytes;
	uint64_t max; /* bytes; what comes behind is read and dropped */
	struct loop *loop;
	/* Takes the next bytes; negative with *err set ends the program. */
	int (*sink)(void *context, const void *bytes, size_t length, struct error **err);
	void *context;
};

#define STREAM(maximum, function)                                                                                      \
	{                                                                                                              \
		.fd = -1, .max = (maximum), .sink = (function)                                                         \
	}

/* Takes `fd` over and watches it. A second input of the same name is ERROR_PROTOCOL. */
int stream_open(struct stream *stream, struct loop *loop, int fd, struct error **err) MUST_CHECK;
/* Reads what is left until the end or the absolute deadline, which is no error. */
int stream_finish(struct stream *stream, int64_t deadline, struct error **err) MUST_CHECK;
/* NONE when it came, ended and fitted; INPUT_MISSING, TIMEOUT or LIMIT otherwise. */
enum wire_reason stream_reason(const struct stream *stream);
void stream_close(struct stream *stream);

/* A program's inputs: of each either the stream or the folder's descriptor is set. */
struct input {
	const char *name;
	struct stream *stream;
	int *folder; /* a folder that comes again replaces the one before */
};
/* Takes `fd` over as the input of that name. An unknown name is ERROR_PROTOCOL. */
int input_take(const struct input *inputs, size_t count, const char *name, int fd, struct loop *loop,
	       struct error **err) MUST_CHECK;

#endif
