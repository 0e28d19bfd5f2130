/*
 * Where runs are kept: OUT/STAMP-ID/ with a lock that its runner holds, observations.jsonl while it runs, and at the
 * end confinement-evidence.tar.gz; OUT/latest is a relative link to the last sealed one. Arms keep their own folders,
 * mode 0700 and under a lock, outside of it.
 */
#ifndef HARNESS_RUNNER_STORE_H
#define HARNESS_RUNNER_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/clock.h"
#include "core/error.h"

#define BUNDLE_NAME "confinement-evidence.tar.gz"
#define STORE_TEMPORARY "/tmp"
#define STORE_OBSERVATIONS "observations.jsonl"
#define RUN_ID_MAX 33

struct store {
	int out; /* folder of the runs */
	int folder; /* of this run */
	int lock; /* held: clean leaves this run's folder alone */
	int sign; /* an abstract socket of the run's name: clean leaves its containers alone, whatever its --out */
	char name[64]; /* STAMP-ID8 */
	char run[RUN_ID_MAX]; /* 32 hexadecimal digits */
	char path[PATH_MAX]; /* of the folder, as the user would write it */
	char started[CLOCK_TEXT];
};

/* Makes the folders (owned by the user behind sudo) and takes the lock. */
int store_open(const char *out, struct store *store, struct error **err) MUST_CHECK;
/* Points OUT/latest at this run. */
int store_latest(const struct store *store, struct error **err) MUST_CHECK;
/* The user behind sudo gets the file; nobody else needs it. No effect without sudo. */
void store_give(int directory, const char *path);
/* Whether that is the user behind sudo. */
bool store_is_user(uid_t user);
/* Closes; an unsealed run's folder is removed. */
void store_close(struct store *store, bool sealed);

/* Whether this run is under way on this host; with NULL: whether any is. */
bool store_run_held(const char *run);

/* An arm's own folder below the temporary folder, named after its run, mode 0700, locked: *folder and *lock are its
 * descriptors. */
int store_arm_folder(const char *run, int *folder, int *lock, char path[PATH_MAX], struct error **err) MUST_CHECK;
void store_arm_remove(int *folder, int *lock, const char *path);
/* Calls `each` with the path of every arm's folder that is ours, and with what its name ends in: the arm's id. */
typedef int (*store_arm)(void *context, const char *id, const char *path, struct error **err);
int store_each_arm(store_arm each, void *context, struct error **err) MUST_CHECK;

/* Removes the folders of arms below `temporary`: with `run` those of this run, which has ended all its arms, and with
 * NULL (for clean) those of any run that is not under way. *count of them is set on error too. */
int store_sweep_arms(const char *temporary, const char *run, unsigned *count, struct error **err) MUST_CHECK;
/* For clean: removes the unsealed runs in `out` that nobody holds, and what a run that was killed over its last steps
 * left beside a sealed bundle, which stays. */
int store_sweep_runs(const char *out, unsigned *count, struct error **err) MUST_CHECK;

#endif
