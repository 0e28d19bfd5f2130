/* The bridge's whole configuration: one JSON document on a pipe, read before anything else and never changed. */
#ifndef HARNESS_ADAPTER_BRIDGE_CONFIG_H
#define HARNESS_ADAPTER_BRIDGE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "adapter/session.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/schema.h"

#define BRIDGE_CONFIG_BYTES (16 * KIB)
#define BRIDGE_ALIASES_MAX 32

/* What the agent may ask for, and the tool behind it; no tool: the session's own operation `done`. */
struct bridge_alias {
	char operation[NAME_MAX_SHORT];
	char tool[NAME_MAX_SHORT]; /* "": the session's own operation, which is no call */
	bool waits; /* the session's own: the agent is answered when the arm lets it go on; else it is done */
};

struct bridge_config {
	struct bridge_alias aliases[BRIDGE_ALIASES_MAX];
	size_t aliases_count;
	char beacon_tool[NAME_MAX_SHORT];
	bool acknowledge; /* the watchdog's acknowledgments are checked */
	bool strict; /* what is no frame, or asks for no operation, ends the session */
	bool fail_closed; /* a call that the gateway fails ends the session; else it is only denied */
	bool policy; /* policy updates are enforced */
	bool policy_lock; /* and wait for the calls that were admitted before them */
	struct session_limits limits; /* but for stop_try_ms, which is the watchdog's */
};

/* Ended by .key = NULL. */
extern const struct schema_field bridge_config_fields[];

/* Reads the document from `fd` to its end. ERROR_INPUT names the field. */
int bridge_config_read(int fd, int64_t deadline, struct bridge_config *out, struct error **err) MUST_CHECK;
/* By the bytes of a decoded operation, or NULL. */
const struct bridge_alias *bridge_config_alias(const struct bridge_config *config, const char *operation,
					       size_t length);

#endif
