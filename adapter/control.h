/*
 * The bridge's and the watchdog's private protocols. Fixed structs over SOCK_SEQPACKET (with the arm) and single bytes
 * over pipes (bridge and watchdog), host byte order. Neither carries payload, but for the initial frame's own pipe.
 */
#ifndef HARNESS_ADAPTER_CONTROL_H
#define HARNESS_ADAPTER_CONTROL_H

#include <stdint.h>

#include "core/canary.h"
#include "core/error.h"
#include "core/limits.h"

#define CONTROL_VERSION 1
#define CONTROL_POLICY_BYTES (4 * KIB) /* of an update */

/* Descriptors of libexec/bridge. */
enum bridge_fd {
	BRIDGE_FD_CONFIG = 3, /* pipe: the configuration (JSON), to its end */
	BRIDGE_FD_ATTACH = 4, /* the engine's attach stream, after its 101 */
	BRIDGE_FD_PAYLOAD = 5, /* pipe: the initial frame, to its end; read after GO */
	BRIDGE_FD_CONTROL = 6, /* SOCK_SEQPACKET with the arm */
	BRIDGE_FD_GATEWAY_IN = 7, /* we write: the gateway's stdin */
	BRIDGE_FD_GATEWAY_OUT = 8, /* we read: the gateway's stdout */
	BRIDGE_FD_LIFELINE = 9, /* end of file: the arm is gone */
};
/* The rest comes with CONTROL_GUARD, once the container's process exists: its pidfd and, when a watchdog is armed, the
 * pipe to the watchdog and the pipe from it. */

/* Descriptors of libexec/watchdog. */
enum watchdog_fd {
	WATCHDOG_FD_PULSE = 3, /* pipe from the bridge: end of file means now */
	WATCHDOG_FD_ACK = 4, /* pipe to the bridge */
	WATCHDOG_FD_PIDFD = 5, /* container's process; absent: only the engine can end it */
	WATCHDOG_FD_BRIDGE = 6, /* pidfd of the bridge: the attach holder, killed when it is stuck */
	WATCHDOG_FD_CGROUP = 7, /* folder of the container's cgroup (-1 allowed: absent) */
	WATCHDOG_FD_CONTROL = 8, /* SOCK_SEQPACKET with the arm; its end does not disarm */
	WATCHDOG_FD_FREEZER = 9, /* folder of the cgroup that can hold the process still; may be absent */
};

enum control_type {
	/* arm -> bridge */
	CONTROL_PULSE = 1, /* answered by PULSE_ACK; from GO on the bridge ends the session without one for a lease */
	CONTROL_GUARD, /* descriptors: pidfd[, pulse, acknowledgments]; answered by GUARDED */
	CONTROL_GO, /* admitted: send the initial frame */
	CONTROL_BEACON, /* from READY on: call the beacon tool through the gateway with `canary`; answered by
			   BEACON_DONE */
	CONTROL_RESUME, /* answers the checkpoint that the agent waits at */
	CONTROL_END, /* half-close the agent's stdin; then wait for the stream's end */
	CONTROL_POLICY, /* a descriptor: a pipe that holds a policy update and its end; from GUARDED on, one at a time;
			   answered by POLICY_DONE once the calls admitted before it have finished */
	/* bridge -> arm */
	CONTROL_READY = 32, /* configured, gateway initialised */
	CONTROL_GUARDED, /* the watchdog acknowledged a pulse (or none is armed) */
	CONTROL_PULSE_ACK,
	CONTROL_FIRST_FRAME, /* the initial frame was written */
	CONTROL_BEACON_DONE, /* value: 1 allowed, 0 not */
	CONTROL_DONE, /* the agent used the `done` operation */
	CONTROL_CHECKPOINT, /* the agent used the `checkpoint` operation, and waits */
	CONTROL_ENDED, /* the session is over; reason and counters; then the bridge exits */
	CONTROL_POLICY_DONE, /* value: the revision that holds; outcome, closed, revoked */
	/* watchdog -> arm */
	CONTROL_ARMED = 64,
	CONTROL_FIRED, /* reason; time */
	CONTROL_DEAD, /* death is proven; time */
	CONTROL_STOPPED, /* value: how many stop tries were made; reason NONE or STOP_FAILED */
	/* arm -> watchdog */
	CONTROL_DISARM = 96, /* the session ended in order: exit */
};

/* Why a session ended or a watchdog fired: fixed, and all that is ever said about it. */
enum control_reason {
	CONTROL_REASON_NONE,
	CONTROL_REASON_STREAM_END, /* the attach stream ended (the agent exited) */
	CONTROL_REASON_FRAME_INVALID,
	CONTROL_REASON_FRAME_LIMIT,
	CONTROL_REASON_OPERATION, /* not an alias */
	CONTROL_REASON_STDOUT_LIMIT,
	CONTROL_REASON_STDERR_LIMIT,
	CONTROL_REASON_CALL_LIMIT,
	CONTROL_REASON_DEADLINE,
	CONTROL_REASON_GATEWAY_LOST,
	CONTROL_REASON_GATEWAY_PROTOCOL,
	CONTROL_REASON_GATEWAY_TIMEOUT,
	CONTROL_REASON_GATEWAY_FAULT,
	CONTROL_REASON_WATCHDOG_LOST, /* no acknowledgment in time, or its pipe closed */
	CONTROL_REASON_PARENT_LOST,
	CONTROL_REASON_STREAM_PROTOCOL, /* the attach stream's framing is broken */
	CONTROL_REASON_PARTIAL_FRAME, /* the stream ended within a frame */
	CONTROL_REASON_AGENT_STUCK, /* does not read its replies */
	CONTROL_REASON_BRIDGE_LOST, /* watchdog: end of file */
	CONTROL_REASON_LEASE, /* watchdog: no pulse within the lease */
	CONTROL_REASON_STOP_FAILED,
	CONTROL_REASON_INTERNAL,
};
extern const char *const control_reason_names[]; /* NULL-terminated, kebab-case */

struct control_message {
	uint16_t version;
	uint16_t type;
	uint32_t reason;
	int64_t time; /* CLOCK_MONOTONIC, ns */
	int64_t value;
	int64_t frames, stdout_bytes, stderr_bytes, allowed, denied; /* ENDED */
	uint32_t outcome; /* POLICY_DONE: enum policy_outcome */
	uint32_t closed; /* 1: no call is admitted */
	uint32_t revoked; /* bit i: the i-th tool that the aliases name */
	char canary[CANARY_LENGTH + 1]; /* BEACON */
};

/* Fills the version (and the time, when it is 0) and sends, with up to FD_PASS_MAX descriptors. */
int control_send(int socket, struct control_message *message, const int *fds, size_t count, int64_t deadline,
		 struct error **err) MUST_CHECK;
/* Receives one message of our version, with a reason that has a name. *count is in: room, out: how many descriptors
 * came. ERROR_CLOSED at the end, ERROR_PROTOCOL for anything else; no descriptor is left open then. */
int control_receive(int socket, struct control_message *out, int *fds, size_t *count, int64_t deadline,
		    struct error **err) MUST_CHECK;

#endif
