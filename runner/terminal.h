/*
 * The stream that a person reads. On a terminal, lines may stand at its lower end that are taken back before anything
 * else is printed, so that what stays is the text that a file would hold.
 */
#ifndef HARNESS_RUNNER_TERMINAL_H
#define HARNESS_RUNNER_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	FILE *out; /* not owned */
	bool moves; /* lines can be taken back */
	bool colours;
	unsigned columns, rows; /* of a stream that does not tell */
	unsigned drawn; /* lines that the next terminal_clear() takes back */
};

/* `term` and `no_color` are those variables of the environment, or NULL. Lines are taken back only on a terminal that
 * is not "dumb"; colours, there too, unless NO_COLOR holds anything (no-color.org). */
void terminal_open(struct terminal *terminal, FILE *out, const char *term, const char *no_color);
void terminal_clear(struct terminal *terminal);
/* One line of printable ASCII, cut to the width; nothing where lines cannot be taken back, or no row is left. */
void terminal_draw(struct terminal *terminal, const char *line);

#endif
