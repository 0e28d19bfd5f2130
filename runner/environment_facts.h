/* The parts of a snapshot of the environment: a list of facts, each a value or null with the reason. Of
 * runner/environment*.c and its test. */
#ifndef HARNESS_RUNNER_ENVIRONMENT_FACTS_H
#define HARNESS_RUNNER_ENVIRONMENT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"

#define FACT_TEXT_MAX 128
#define FACTS_BYTES (64 * KIB)

/* Why a fact is null. */
enum fact_reason {
	FACT_ABSENT, /* there is no such thing here */
	FACT_PERMISSION, /* it may not be read */
	FACT_UNSUPPORTED, /* it was read, and is not of a form that the bundle has for it */
	FACT_ERROR, /* reading failed otherwise */
};
extern const char *const fact_reason_names[];

struct facts {
	struct buf values_text, reasons_text;
	struct json_writer values, reasons;
};

/* Begins two objects; facts_free() ends their life. */
void facts_begin(struct facts *facts);
void facts_free(struct facts *facts);
#define cleanup_facts __attribute__((cleanup(facts_free)))

/* Why a call failed, by its errno. */
enum fact_reason fact_reason_of(const struct error *error);
enum fact_reason fact_reason_of_errno(int number);
void fact_none(struct facts *facts, const char *field, enum fact_reason reason);
/* NULL and "" are absent, what is not short and printable is unsupported. */
void fact_text(struct facts *facts, const char *field, const char *text);
void fact_count(struct facts *facts, const char *field, int64_t value);
void fact_flag(struct facts *facts, const char *field, bool value);
/* The words of `text` between bytes of `separators`; a word that is not short and printable makes it unsupported. */
void fact_words(struct facts *facts, const char *field, const char *text, const char *separators);
/* As an engine's answer has it: a number, a boolean, a text or a list of texts. */
void fact_answer(struct facts *facts, const char *field, const struct json_node *node);
/* The keys of an object of an engine's answer. */
void fact_keys(struct facts *facts, const char *field, const struct json_node *node);

/* A file below `root`, without the blanks at its end. False: the field is null already. An empty one is absent. */
bool fact_read(struct facts *facts, const char *field, int root, const char *path, struct buf *out);

/* The facts of one subject each. `root` is the host's root folder. */
void facts_kernel(struct facts *facts, int root);
void facts_machine(struct facts *facts, int root);
void facts_engine(struct facts *facts, const struct json_node *version, const struct json_node *info, const char *api);
/* Of this process: how it was built, who started it, as `get` (getenv) says of names that are listed. */
void facts_process(struct facts *facts, char *(*get)(const char *name));

#endif
