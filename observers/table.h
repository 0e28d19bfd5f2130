/*
 * The registry: which observer ids exist, which program makes each, what it looks at, and which measures it reports
 * beside the agent's probes. The arm starts observers from these rows, a program finds its own row by the kind's id,
 * and the scenario loader takes its names from them.
 */
#ifndef HARNESS_OBSERVERS_TABLE_H
#define HARNESS_OBSERVERS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum observer_need {
	OBSERVER_HOST = 1, /* runs in the host's namespaces from before the start */
	OBSERVER_NETNS = 2, /* needs the container's network namespace apart from the host's */
	OBSERVER_NIC = 4, /* needs the host's address on the engine's bridge network */
	OBSERVER_IPV6 = 8, /* needs ::1 */
	OBSERVER_POSTGRES = 16, /* needs the arm's database in PostgreSQL, whose name is its argument */
};

/* A program with the ids that it reports under. */
struct observer_kind {
	const char *id; /* the instance, and its name in messages */
	const char *program; /* libexec/PROGRAM */
	const char *argument; /* what it looks at: an address, "host", "netns"; NULL: given at start, or nothing */
	const char *const *observers; /* observer ids of its records, NULL-terminated; at most OBSERVER_VIEWS */
	const char *const *measures; /* subjects beside probes, NULL-terminated */
	unsigned needs;
	const char *title; /* one line for `harness list` */
};

extern const struct observer_kind observer_kinds[]; /* ended by .id = NULL */
const struct observer_kind *observer_kind_of(const char *observer); /* by a record's observer id, or NULL */
const struct observer_kind *observer_kind_find(const char *id); /* by the kind's id, or NULL */

/* NULL-terminated lists of every observer id and of every measure. */
extern const char *const observer_ids[];
extern const char *const measure_ids[];

/* What an arm can give to an observer that a declaration brings, NULL-terminated: docs/observer-protocol.md. */
extern const char *const observer_inputs[];

#endif
