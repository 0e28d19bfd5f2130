/*
 * A real bridge with a test around it: the test is the arm (control, payload, lifeline), the engine (attach stream)
 * and, where it says so, gateway and watchdog. The container's process is a plain child.
 */
#ifndef HARNESS_TESTS_UNIT_BRIDGE_WORLD_H
#define HARNESS_TESTS_UNIT_BRIDGE_WORLD_H

#include "adapter/control.h"
#include "adapter/demux.h"
#include "adapter/session.h"
#include "core/buf.h"
#include "core/spawn.h"
#include "tests/unit/gateway_rig.h"

#define WORLD_GUARD_MS 4000
#define WORLD_HEARD_BYTES (4 * MIB)
/* Shrunk, so that what is waited for comes soon; but far above what a busy machine takes for a step. */
#define WORLD_HEARTBEAT_MS 20
#define WORLD_ACKNOWLEDGE_MS 150
#define WORLD_LEASE_MS 250

enum world_gateway { GATEWAY_REAL, GATEWAY_PLAYED };

struct world {
	struct session_limits limits; /* set before world_start() */
	bool acknowledge, fail_closed, policy, policy_lock, strict;
	const char *config; /* instead of the true one, or NULL */
	/* Helpers with the one argument of each, instead of gateway and recorder; or NULL. */
	const char *gateway_program, *gateway_mode, *upstream_program, *upstream_mode;
	int send_buffer; /* of the attach stream towards the agent; 0: the kernel's */
	struct rig rig; /* the real gateway */
	int to_bridge, from_bridge; /* as a played gateway */
	struct child container, bridge, watchdog, holder;
	int attach, payload, lifeline, control;
	int pulse, acknowledge_fd; /* as a played watchdog: we read pulses, we write acknowledgments */
	int watchdog_control;
	bool unheld; /* the watchdog is given no process */
	int freezer; /* nor, where it is -1, a freezer */
	int complaints; /* the programs' stderr */
	struct buf heard; /* all that came out of the bridge, whichever way */
};

void world_init(struct world *world);
void world_end(struct world *world);
#define cleanup_world __attribute__((cleanup(world_end)))

/* Starts container, gateway and bridge. */
void world_start(struct world *world, enum world_gateway gateway);
/* The pidfd alone, or with the pipes of a watchdog that the test plays; waits for nothing. */
void world_guard(struct world *world, bool watchdog);
/* Starts the real watchdog for the bridge, and waits until it is armed and the bridge guarded. */
void world_guard_real(struct world *world, const char *lease_ms, const char *try_ms, const char *stop);
/* The real watchdog alone: the test plays the bridge, a child of its own is the holder of the attach stream. */
void world_watchdog(struct world *world, const char *lease_ms, const char *try_ms, const char *stop, int cgroup);
/* GUARD without a watchdog, then the initial frame, and GO. */
void world_go(struct world *world, const char *payload);
void world_payload(struct world *world, const char *payload, size_t length);

void world_order(struct world *world, enum control_type type);
void world_order_with(struct world *world, struct control_message *order);
/* POLICY with a document of these bytes. */
void world_policy(struct world *world, const char *document, size_t length);
/* The next message of `type` from the bridge, or from the watchdog; others that come before it are passed over. A
 * message of type 0 when none came in time or the socket ended. */
struct control_message world_told(struct world *world, enum control_type type);
struct control_message world_watchdog_told(struct world *world, enum control_type type);
/* Whether the session ended for this reason, with the bridge gone and the process dead. */
bool world_ended(struct world *world, enum control_reason reason);

/* The agent writes: one frame of the attach stream. */
void world_agent(struct world *world, enum demux_stream stream, const void *bytes, size_t length);
void world_agent_says(struct world *world, const char *text);
void world_raw(struct world *world, const void *bytes, size_t length);
/* The next line that the agent reads, with its newline; "" when none came. */
const char *world_agent_hears(struct world *world, char *out, size_t size);
/* As a played gateway: the next line from the bridge, and an answer. */
const char *world_gateway_hears(struct world *world, char *out, size_t size);
void world_gateway_says(struct world *world, const char *text);
/* Plays the handshake. */
void world_gateway_greets(struct world *world);

bool world_dead(const struct child *child, int64_t milliseconds);
/* Reads all that is left to read from the bridge, then looks in everything for `bytes`. */
bool world_holds(struct world *world, const char *bytes);

#endif
