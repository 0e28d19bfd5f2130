/* The documents of --json: one JSON object on stdout, whose members docs/command-line.md lists. */
#ifndef HARNESS_RUNNER_DOCUMENT_H
#define HARNESS_RUNNER_DOCUMENT_H

#include "core/json.h"

/* Raised when a member goes or changes its meaning; members may come without it. */
#define DOCUMENT_VERSION 1
#define DOCUMENT_BYTES ((size_t)16 * 1024 * 1024)

/* Opens the object with what every document has: its version, the verb, the exit code. */
void document_begin(struct json_writer *json, struct buf *out, const char *verb, int exit_code);
/* Closes the object, and its line. */
void document_end(struct json_writer *json);
/* A document that did not fit, or a stdout that does not take it, is an error. */
int document_print(const struct buf *document, struct error **err) MUST_CHECK;
/* The document of a verb that failed: the three members and "error". Negative when stdout does not take it. */
int document_error(const char *verb, int exit_code, const char *text);

/* A member that is null when `text` is empty. */
void document_optional(struct json_writer *json, const char *key, const char *text);
/* A path that the operator chose: its bytes need not be UTF-8. */
void document_path(struct json_writer *json, const char *key, const char *path);

#endif
