/* Sense of one scenario, apart from its form; for scenario.c alone. */
#ifndef HARNESS_ORACLE_SCENARIO_CHECK_H
#define HARNESS_ORACLE_SCENARIO_CHECK_H

#include "oracle/scenario.h"

/* `names` NULL: names are not checked. ERROR_INPUT "file: field: reason". */
int scenario_check(const struct scenario *scenario, const struct scenario_names *names, const char *file,
		   struct error **err) MUST_CHECK;

#endif
