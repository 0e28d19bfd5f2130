/* A run of two small scenarios whose arms may be given other documents than the plan says. The test is its own runner:
 * started with the word "arm" it is the hidden verb, with the mutations that it was linked with. */
#ifndef HARNESS_TESTS_LIVE_OWN_RUN_H
#define HARNESS_TESTS_LIVE_OWN_RUN_H

#include "runner/run.h"
#include "tests/live/live.h"

#define OWN_OBSERVATIONS_MAX 256

struct own_run {
	struct live_folder folder;
	struct options options;
	struct run run;
	struct observation observations[OWN_OBSERVATIONS_MAX];
	size_t observations_count;
	struct verdicts *verdicts;
};

/* Calls of the test around the arms; NULL for none. */
struct own_run_edit {
	void (*before)(struct run *run, void *context);
	void (*after)(struct run *run, void *context);
	void *context;
};

/* Runs `baseline` and its mutant `id` and judges them. NULL, with failed checks, where that was not possible. */
struct own_run *own_run_open(const char *baseline, const char *id, const char *mutant, const struct own_run_edit *edit);
/* Removes what the run left. Accepts NULL. */
void own_run_close(struct own_run *own);
/* That the run ends so: the exit code, the verdict of the only mutation, and of each protected cell of the baseline. */
void own_run_check(const struct own_run *own, int exit_code, enum verdict mutation, enum because because,
		   enum verdict cell, enum because cell_because);
/* main() of such a test. */
int own_run_main(const char *name, CU_SuiteInfo *suites, int argc, char **argv);

#endif
