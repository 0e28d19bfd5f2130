/* Sense of one scenario, apart from its form; and between several; for scenario*.c alone. */
#ifndef HARNESS_ORACLE_SCENARIO_CHECK_H
#define HARNESS_ORACLE_SCENARIO_CHECK_H

#include "oracle/scenario.h"

/* What one scenario is checked against. */
struct check {
	const struct scenario *scenario;
	const struct scenario_names *names; /* or NULL */
	const char *file;
	struct error **err;
};

/* ERROR_INPUT "file: ..."; always -1. */
int check_refuse(const struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);
/* `names` NULL: names are not checked. ERROR_INPUT "file: field: reason". */
int scenario_check(const struct scenario *scenario, const struct scenario_names *names, const char *file,
		   struct error **err) MUST_CHECK;

/* Gives each scenario of a folder what it takes from its base (probes and cells) or, for a mutant without probes of its
 * own, from its control (all that is run). ERROR_INPUT: no such base, one that is an heir itself, or too much. */
int scenario_take_bases(struct scenario *scenarios, size_t count, struct error **err) MUST_CHECK;

#endif
