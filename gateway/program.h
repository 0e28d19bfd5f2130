/*
 * What an upstream runs: opened, measured, started on two pipes. A program is executed by the descriptor that was
 * hashed, and so is one that starts with "#!". A script that is an interpreter's argument is opened by the interpreter,
 * by its path: it is held open here, and compared again.
 */
#ifndef HARNESS_GATEWAY_PROGRAM_H
#define HARNESS_GATEWAY_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/spawn.h"
#include "gateway/config.h"

struct program {
	int executable; /* or -1 */
	int script; /* or -1 */
	bool interpreted; /* the executable starts with "#!" */
	const struct gateway_server *server; /* whose script it is, or NULL */
};
#define PROGRAM_NONE                                                                                                   \
	{                                                                                                              \
		.executable = -1, .script = -1                                                                         \
	}

/* Opens and measures; negative when it is not what was declared, or no regular file. A URL has nothing to measure. */
int program_measure(const struct gateway_server *server, struct program *out) MUST_CHECK;
/* What tells without reading it that a server's files are those that were measured: which they are, and when they were
 * changed last. Zeros where there is none. */
struct program_stamp {
	int64_t files[2][5];
};
struct program_stamp program_stamp(const struct gateway_server *server);
bool program_same_stamp(const struct program_stamp *one, const struct program_stamp *other);
/* Starts it, or the relay to its URL, and closes the executable: our ends of the pipes go to *in (we read) and *out (we
 * write). */
int program_start(struct program *program, const struct gateway_server *server, int64_t call_ms, struct child *child,
		  int *in, int *out, struct error **err) MUST_CHECK;
/* Whether the script's path still leads to the file that was measured, with the same bytes. True without a script. */
bool program_unchanged(const struct program *program);
void program_close(struct program *program); /* idempotent */
#define cleanup_program __attribute__((cleanup(program_close)))

#endif
