/*
 * The bridge from inside: one struct, and the sides that share it. Everything runs in one loop, and nothing
 * blocks. A session ends by bridge_end() alone; whatever is called then sees that it is over and does nothing more. For
 * nobody but adapter/bridge*.c.
 */
#ifndef HARNESS_ADAPTER_BRIDGE_PARTS_H
#define HARNESS_ADAPTER_BRIDGE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/bridge_config.h"
#include "adapter/control.h"
#include "adapter/demux.h"
#include "adapter/frame.h"
#include "adapter/policy_gate.h"
#include "core/buf.h"
#include "core/loop.h"
#include "mcp/client.h"

#define BRIDGE_PAYLOAD_BYTES (64 * KIB)

enum bridge_timer { TIMER_SESSION, TIMER_HEARTBEAT, TIMER_ACKNOWLEDGE, TIMER_LEASE, TIMER_GATEWAY, TIMER_STUCK };

/* The agent's stream. */
struct bridge_agent {
	int attach;
	int payload; /* -1 once it was read */
	bool open; /* GO or END came: the stream is read */
	bool ended; /* its end was read */
	bool closed; /* the agent takes no more bytes */
	bool ending; /* half-close once the queue is empty */
	bool first_frame; /* was written and told */
	bool done; /* the agent used `done`: no frame may follow */
	bool waiting; /* at its checkpoint, for the arm */
	short watched; /* poll events that the loop knows; -1: none */
	struct demux demux;
	struct frame_reader reader;
	struct buf initial; /* the initial frame, until its end was read */
	struct buf queue; /* to the agent */
	int64_t stderr_bytes, frames, calls, allowed, denied;
};

struct bridge_gateway {
	struct mcp_client *client;
	bool ready;
	bool lost;
	bool calling; /* an agent's call is under way: there is one at a time */
	bool beaconing;
};

/* The container's process, and who else watches over it. */
struct bridge_guard {
	int pidfd, pulse, acknowledgments; /* -1: not there */
	bool given; /* CONTROL_GUARD came */
	bool guarded; /* and was answered */
	bool checked; /* a watchdog acknowledged, or none has to */
	bool outstanding; /* a pulse waits for its acknowledgment */
};

struct bridge {
	const struct bridge_config *config;
	struct loop *loop;
	int control;
	enum control_reason reason; /* NONE: it goes on */
	struct bridge_agent agent;
	struct bridge_gateway gateway;
	struct bridge_guard guard;
	struct policy_gate gate;
};

/* ---- bridge_session.c: the arm's side ---- */

/* Runs the session to its end, and tells the arm how it ended. NULL: there is no configuration, and it ends at once. */
void bridge_run(const struct bridge_config *config);
/* Kills the container's process at once. The first reason stays. Returns 1, which ends the loop. */
int bridge_end(struct bridge *bridge, enum control_reason reason);
/* Brings queues, watches and timers up to date: the last thing in each of the loop's callbacks. 1 when it is over. */
int bridge_settle(struct bridge *bridge);
/* Tells the arm; one that does not listen is lost. */
void bridge_tell(struct bridge *bridge, enum control_type type, int64_t value);
/* GUARDED, once both gateway and watchdog are there. */
void bridge_tell_guarded(struct bridge *bridge);

/* ---- bridge_agent.c ---- */

void bridge_agent_init(struct bridge *bridge);
void bridge_agent_free(struct bridge *bridge);
/* The initial frame may go. */
void bridge_agent_go(struct bridge *bridge);
/* No more goes to the agent. */
void bridge_agent_finish(struct bridge *bridge);
/* Handles the frames that wait, in order, until one of them waits for the gateway. */
void bridge_agent_pump(struct bridge *bridge);
/* The answer to the call under way; `result` is NULL for one that was denied. */
void bridge_agent_reply(struct bridge *bridge, const struct json_node *result);
/* Answers the checkpoint, when the agent is at one. */
void bridge_agent_resume(struct bridge *bridge);
void bridge_agent_settle(struct bridge *bridge);

/* ---- bridge_gateway.c ---- */

void bridge_gateway_init(struct bridge *bridge);
void bridge_gateway_free(struct bridge *bridge);
/* One at a time; answered by bridge_agent_reply(), or the session ends. */
void bridge_gateway_call(struct bridge *bridge, const char *tool, struct json_span arguments);
void bridge_gateway_beacon(struct bridge *bridge, const char *canary);
void bridge_gateway_settle(struct bridge *bridge);

/* ---- bridge_policy.c ---- */

void bridge_policy_init(struct bridge *bridge);
/* Takes the descriptor of an update. */
void bridge_policy_take(struct bridge *bridge, const int *fds, size_t count);
/* The call under way is over: an update that waited for it takes hold. */
void bridge_policy_finished(struct bridge *bridge);

/* ---- bridge_guard.c ---- */

void bridge_guard_init(struct bridge *bridge);
void bridge_guard_free(struct bridge *bridge);
/* Takes pidfd[, pulse, acknowledgments]; they are closed when they are none. */
void bridge_guard_take(struct bridge *bridge, const int *fds, size_t count);
/* The arm is alive. */
void bridge_guard_pulse(struct bridge *bridge);
/* From now on the arm must say so. */
void bridge_guard_lease(struct bridge *bridge);
void bridge_guard_kill(const struct bridge *bridge);
/* Whether the process is known to be dead: then there is nothing left to guard. */
bool bridge_guard_dead(const struct bridge *bridge);

#endif
