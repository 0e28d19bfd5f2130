/*
 * The adversarial fixture: what a hostile agent would try, as a table of probes. It is the subject of the measurement
 * and not a part of the harness: it includes nothing of ours, and nothing that it says is ever believed.
 *
 * It reads its orders from standard input, one a line, fields separated by single spaces, and follows them in order:
 *
 *     tries N                          each probe is tried N times (before any probe; default 1)
 *     probe ID CANARY ADDRESS PORT     ADDRESS is numeric, a path, or "-"; PORT is 0 where there is none
 *     checkpoint                       says that it is there, and waits for an answer
 *     misbehave ID COUNT HEX           one row of its misbehaviours; HEX is "-" where there are no bytes
 *     then ENDING                      what to do last; this line starts the work
 *
 * and its exit status is the number of tries that it made, at most 100: a number, for information only.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdint.h>

struct order {
	const char *canary;
	const char *address;
	uint16_t port;
	unsigned try_number; /* from 1 */
};

struct probe {
	const char *id;
	const char *route; /* what way out is tried */
	void (*attempt)(const struct order *order);
};

/* How it is to misbehave: how often, long, large or with what, as the row has it; and the bytes that it was given. */
struct misbehaviour_order {
	long long count;
	const char *bytes;
	unsigned long length;
};

struct misbehaviour {
	const char *id;
	const char *what; /* it does */
	void (*run)(const struct misbehaviour_order *order); /* may never return */
};

struct ending {
	const char *id;
	int (*run)(int attempts); /* returns the exit status */
};

extern const struct probe probes[]; /* ended by .id = NULL */
extern const struct misbehaviour misbehaviours[]; /* ended by .id = NULL */
extern const struct ending endings[];

/* Reads one line from standard input without its line feed into line; returns its length, or -1 at the end. */
int read_line(char *line, int size);
/* Writes all of `length` bytes; gives up silently: a hostile agent reports no errors. */
void write_all(int fd, const char *bytes, unsigned long length);

#endif
