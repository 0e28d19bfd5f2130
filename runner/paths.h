/* Where the files are that came with the program: found from /proc/self/exe, in a build tree and where installed. */
#ifndef HARNESS_RUNNER_PATHS_H
#define HARNESS_RUNNER_PATHS_H

#include <stddef.h>

#include "core/error.h"

struct options;
struct scenario;

/* Folder NAME of the data: beside the build folder of a tree, or ../share/harness/NAME. */
int path_data(const char *name, char *out, size_t size, struct error **err) MUST_CHECK;
/* The static agent: in the build folder, or libexec/harness/agent. */
int path_agent(char *out, size_t size, struct error **err) MUST_CHECK;

/* A program of cMCP's virtual environment, as ci/cmcp makes it: build/cmcp/bin/NAME. */
int path_cmcp(const char *name, char *out, size_t size, struct error **err) MUST_CHECK;

/* The scenarios of --scenarios, or those that came with the program; checked. *out is freed by the caller. */
int scenarios_open(const struct options *options, struct scenario **out, size_t *count, struct error **err) MUST_CHECK;

#endif
