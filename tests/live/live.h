/* What the live tests in C share. */
#ifndef HARNESS_TESTS_LIVE_LIVE_H
#define HARNESS_TESTS_LIVE_LIVE_H

#include <limits.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/spawn.h"
#include "tests/unit/test.h"

#define LIVE_SOCKET "/var/run/docker.sock"

/* As test_main(); where there is no root or no engine, every test of the suites is skipped, with the reason. */
int live_main(const char *name, CU_SuiteInfo *suites);

/* A temporary folder that everybody may enter; removed with all below it. */
struct live_folder {
	char path[PATH_MAX];
};
void live_folder_make(struct live_folder *folder);
void live_folder_remove(struct live_folder *folder);
/* A file below the folder, and the folders that its name asks for. */
void live_file(const struct live_folder *folder, const char *name, const char *text);

/* Runs `/bin/sh -c script` with the words as $1, $2, ... (a NULL-terminated list), as root or as an ordinary user, with
 * both outputs in `out`, and returns its exit code; -1 when it could not be run or took longer. */
int live_shell(const char *script, const char *const *words, bool ordinary, int64_t milliseconds, struct buf *out);

#endif
