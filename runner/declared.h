/*
 * Observers that declarations bring: programs beside them that speak the wire of docs/observer-protocol.md. Each is
 * read once, measured, and kept in memory that nobody can write any more: what an arm runs is what the bundle has the
 * digest of.
 */
#ifndef HARNESS_RUNNER_DECLARED_H
#define HARNESS_RUNNER_DECLARED_H

#include "core/hash.h"
#include "oracle/effect.h"

#define DECLARED_MAX 8

struct declared_observer {
	char id[NAME_MAX_SHORT]; /* of its records, and of its kind */
	char program[NAME_MAX_SHORT]; /* the file's name */
	char sha256[HEX_SHA256];
	char inputs[EFFECT_INPUTS_MAX][NAME_MAX_SHORT];
	size_t inputs_count;
	char measures[EFFECT_MEASURES_MAX][NAME_MAX_SHORT];
	size_t measures_count;
};

struct declared {
	struct declared_observer observers[DECLARED_MAX];
	int programs[DECLARED_MAX]; /* to be run by descriptor */
	size_t count;
};
#define DECLARED_NONE                                                                                                  \
	{                                                                                                              \
		.count = 0                                                                                             \
	}

/* Of the declarations of a folder, each observer once; the programs are found in it. A file that cannot be run, that
 * others than its owner could change, or that takes a name of the harness: ERROR_INPUT with the declaration's file and
 * field. declared_close() afterwards, on error too. */
int declared_open(int folder, const struct effect *effects, size_t count, struct declared *out,
		  struct error **err) MUST_CHECK;
void declared_close(struct declared *declared);
/* What a run does with one, in a line for whoever is about to run it. */
#define DECLARED_TEXT 128
void declared_says(const struct declared_observer *observer, char out[DECLARED_TEXT]);
#define cleanup_declared __attribute__((cleanup(declared_close)))

struct options;
/* The same of the folder that --effects names; without the flag nothing declares a program. */
int declared_of(const struct options *options, const struct effect *effects, size_t count, struct declared *out,
		struct error **err) MUST_CHECK;

/* What scenarios and declarations may name: the lists of the harness and what the declarations add. */
struct declared_names {
	struct effect *effects; /* what they point into */
	size_t effects_count;
	const char **observers, **measures; /* NULL-terminated */
};
/* With what the folder of --effects brings, whose declarations are checked by themselves alone. */
int declared_names(const struct options *options, struct declared_names *out, struct error **err) MUST_CHECK;
void declared_names_free(struct declared_names *names);
#define cleanup_declared_names __attribute__((cleanup(declared_names_free)))

/* The member "declared" of an arm's plan; and back, with the programs from descriptor `first` on. */
struct json_writer;
void declared_encode(const struct declared *declared, struct json_writer *json);
int declared_decode(const struct json_node *node, int first, struct declared *out, struct error **err) MUST_CHECK;

#endif
