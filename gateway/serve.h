/*
 * A gateway that runs: configuration, records, and the transports that it is reached by, in one loop.
 */
#ifndef HARNESS_GATEWAY_SERVE_H
#define HARNESS_GATEWAY_SERVE_H

#include <stdbool.h>

#include "core/error.h"
#include "gateway/call.h"

struct serve_options {
	const char *config; /* the file, or NULL: it comes on GATEWAY_FD_CONFIG, with the other descriptors */
	bool stdio; /* MCP on stdin and stdout */
	const struct gateway_step *call_steps; /* NULL: the gateway's own */
};

/* Reads and checks a configuration file. */
int serve_read_config(const char *path, struct gateway_config *config, struct error **err) MUST_CHECK;

/* The same, and the tokens that it names. */
int serve_check(const char *path, struct gateway_config *config, struct error **err) MUST_CHECK;

/* Serves until its caller is gone, its parent is, or a signal asks it to end. */
int serve(const struct serve_options *options, struct error **err) MUST_CHECK;

#endif
