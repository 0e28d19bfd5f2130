/*
 * One error: a code and one line of fixed text. Bytes that came from outside (an agent's frame, an engine's answer, a
 * bundle's member) never enter a message; what may enter are numbers, names from our own tables, and operator-chosen
 * paths passed through error_safe().
 */
#ifndef HARNESS_CORE_ERROR_H
#define HARNESS_CORE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum error_code {
	ERROR_SYSTEM = 1, /* a system call failed; errno's name is in the text */
	ERROR_MEMORY, /* an allocation failed */
	ERROR_USAGE, /* the caller's words are off: exit 4 */
	ERROR_INPUT, /* a document does not have the form that it must have */
	ERROR_LIMIT, /* a named maximum was reached */
	ERROR_TIMEOUT, /* a deadline passed */
	ERROR_CLOSED, /* the peer went away */
	ERROR_REFUSED, /* policy: host, engine, image or profile is not acceptable */
	ERROR_ENGINE, /* the engine answered with an error status */
	ERROR_PROTOCOL, /* a peer broke the protocol */
	ERROR_INTERRUPTED, /* SIGINT or SIGTERM */
	ERROR_INTERNAL, /* a promise of our own was broken */
};

struct error;

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define MUST_CHECK __attribute__((warn_unused_result))

/* Sets *err (when err is not NULL) to a new error and returns -code, so that `return error_set(...)` reads well.
 * *err must be NULL before. When memory is short a static error stands in: error_free() knows it. */
int error_set(struct error **err, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* As error_set() with ERROR_INPUT: a document has a key, a name or a value that no list of ours has. A newer form of it
 * can be why; whoever reads documents of several versions asks. */
int error_unlisted(struct error **err, const char *format, ...) PRINTF_LIKE(2, 3);
bool error_is_unlisted(const struct error *error);

/* As error_set() with ERROR_SYSTEM, appending ": " and the description of `number` (an errno value). */
int error_errno(struct error **err, int number, const char *format, ...) PRINTF_LIKE(3, 4);

/* Puts "context: " before *err's text. No effect when *err is NULL. Returns -code of *err. */
int error_wrap(struct error **err, const char *format, ...) PRINTF_LIKE(2, 3);

enum error_code error_code(const struct error *error);
const char *error_text(const struct error *error); /* one line, no newline, never NULL */
int error_number(const struct error *error); /* the errno value behind ERROR_SYSTEM, or 0 */

/* Accepts NULL. */
void error_free(struct error *error);
/* Moves *from to *to when *to is NULL, else frees *from: the first error wins. Clears *from. */
void error_keep_first(struct error **to, struct error **from);

/* Copies `text` to `out`, every byte outside printable ASCII replaced by '?', cut to size - 1. Returns out. */
const char *error_safe(const char *text, char *out, size_t size);

static inline void error_cleanup(struct error **error)
{
	error_free(*error);
}
#define cleanup_error __attribute__((cleanup(error_cleanup)))

#endif
