/* What the build put into the program: an object that ci/build-facts writes, linked into harness alone. */
#ifndef HARNESS_RUNNER_BUILD_H
#define HARNESS_RUNNER_BUILD_H

#include "reports/manifest.h"

/* Not there in a program that was linked without it, as tests are. */
__attribute__((weak)) extern const struct manifest_build build_facts;

#endif
