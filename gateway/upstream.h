/*
 * One upstream MCP server: measured, started, asked for its tools, called. Its program is opened once; that descriptor
 * is hashed, compared with the declared SHA-256 and executed, so that what runs is what was measured. It gets an empty
 * environment and, beside its stdio, no descriptor but the one its entry names.
 */
#ifndef HARNESS_GATEWAY_UPSTREAM_H
#define HARNESS_GATEWAY_UPSTREAM_H

#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/loop.h"
#include "gateway/config.h"
#include "gateway/decision.h"
#include "mcp/client.h"

enum upstream_state {
	UPSTREAM_DOWN, /* never started, or gone: may be started (anew) */
	UPSTREAM_STARTING, /* measured and running; the handshake or the list of tools is under way */
	UPSTREAM_READY,
};

struct upstream;

/* `config` must outlive it. Nothing is started yet. */
int upstream_new(const struct gateway_config *config, size_t index, struct upstream **out,
		 struct error **err) MUST_CHECK;
/* Closes its stdin, waits for its end for a bounded time, then kills it. Calls are forgotten. NULL-safe. */
void upstream_free(struct upstream *upstream);

enum upstream_state upstream_state(const struct upstream *upstream);
/* Why it is down: RULE_UPSTREAM_*, or RULE_NONE when it was never started. */
enum gateway_rule upstream_fault(const struct upstream *upstream);
/* Measures and starts one that is down. Its state tells what came of it. */
void upstream_start(struct upstream *upstream);
/* Its definition of a catalogued tool, as written, or an empty span. */
struct json_span upstream_definition(const struct upstream *upstream, const struct gateway_tool *tool);
/* Sends tools/call with these raw arguments; `done` as in mcp/client.h. RULE_ALLOW, or the fault. */
enum gateway_rule upstream_call(struct upstream *upstream, const struct gateway_tool *tool, struct json_span arguments,
				int64_t deadline, mcp_done done, void *context);
/* From a `done`: it is stuck, and is ended as soon as the callbacks are over. */
void upstream_condemn(struct upstream *upstream);

/* The nearest deadline of a call, or NEVER. */
int64_t upstream_deadline(const struct upstream *upstream);
/* Reads, writes and delivers without waiting; what failed is down afterwards. */
void upstream_dispatch(struct upstream *upstream);
int upstream_watch(struct upstream *upstream, struct loop *loop, loop_fd_callback callback, void *context,
		   struct error **err) MUST_CHECK;

#endif
