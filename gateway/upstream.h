/*
 * One upstream MCP server: measured, started, asked for its tools, called. What is measured is what runs: a program is
 * opened once, hashed, and executed by that descriptor; a script that an interpreter opens by its path is measured
 * before the start and once more before the first call. It gets the environment that its entry lists, which is empty
 * otherwise, and beside its stdio no descriptor but the one its entry names. A URL is reached through libexec/mcp-http.
 */
#ifndef HARNESS_GATEWAY_UPSTREAM_H
#define HARNESS_GATEWAY_UPSTREAM_H

#include <stdbool.h>
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

/* Of a catalogued tool, as the upstream lists it. */
enum upstream_definition {
	UPSTREAM_DEFINED, /* as it was approved */
	UPSTREAM_WITHDRAWN, /* not listed */
	UPSTREAM_CHANGED, /* otherwise than it was approved */
};

struct upstream;

/* Numbers as written; `total` may be empty. */
typedef void (*upstream_progress)(void *context, struct json_span progress, struct json_span total);

struct upstream_call {
	const struct gateway_tool *tool;
	struct json_span arguments; /* raw */
	const char *call_id; /* under which it is authorised; told to an upstream whose entry asks for it */
	int64_t deadline;
	mcp_done done; /* as in mcp/client.h */
	upstream_progress progress; /* or NULL: not asked for */
	void *context;
};

/* `config` must outlive it. Nothing is started yet. */
int upstream_new(const struct gateway_config *config, size_t index, struct upstream **out,
		 struct error **err) MUST_CHECK;
/* Closes its stdin, which is how it is asked to go. Calls are forgotten. NULL-safe. */
void upstream_dismiss(struct upstream *upstream);
/* Dismisses it, waits for its end until the deadline, then kills it. NULL-safe. */
void upstream_free(struct upstream *upstream, int64_t deadline);

enum upstream_state upstream_state(const struct upstream *upstream);
/* Why it is down: RULE_UPSTREAM_*, or RULE_NONE when it was never started. */
enum gateway_rule upstream_fault(const struct upstream *upstream);
/* Measures and starts one that is down. Its state tells what came of it. */
void upstream_start(struct upstream *upstream);
/* Its definition of a catalogued tool, as written, or an empty span. */
struct json_span upstream_definition(const struct upstream *upstream, const struct gateway_tool *tool);
enum upstream_definition upstream_defines(const struct upstream *upstream, const struct gateway_tool *tool);
/* How often it was started: what was seen of it holds for one life. */
uint64_t upstream_lives(const struct upstream *upstream);
/* It has as many calls under way as it may. */
bool upstream_full(const struct upstream *upstream);
/* Whether what a start would run is what was declared. What was found so is read again only when it changed: anybody
 * may ask for this, as often as they like. */
bool upstream_measured(struct upstream *upstream);
/* Sends tools/call to one that is not DOWN. RULE_ALLOW, or the fault. */
enum gateway_rule upstream_call(struct upstream *upstream, const struct upstream_call *call);
/* Ends it; the next call that may pass starts it anew. Calls under way are told that it is lost. */
void upstream_stop(struct upstream *upstream);
/* Whether that error of a call is the relay's to a URL, which did not get the endpoint's word. A new relay opens a
 * session of its own there. */
bool upstream_unreached(const struct upstream *upstream, const char *error_code);
/* From a callback of a call's: it said something. */
void upstream_heard(struct upstream *upstream);
/* Asks one that is READY for its tools anew, as for another session; calls under way go on. The caller sees to it that
 * upstream_dispatch() follows. */
void upstream_relist(struct upstream *upstream);
/* From a `done`: it is stuck, and is ended as soon as the callbacks are over; but not one that said something since
 * `since` (CLOCK_MONOTONIC ns; now: whatever it said): that one is only slow with this call. */
void upstream_condemn(struct upstream *upstream, int64_t since);

/* The nearest deadline of a call, or NEVER. */
int64_t upstream_deadline(const struct upstream *upstream);
/* Reads, writes and delivers without waiting; what failed is down afterwards. */
void upstream_dispatch(struct upstream *upstream);
int upstream_watch(struct upstream *upstream, struct loop *loop, loop_fd_callback callback, void *context,
		   struct error **err) MUST_CHECK;

#endif
