/*
 * The confined session. Its options are one struct, data only, and a mutation is a function over a copy of it: nothing
 * reads an option from the environment, and no flag sets the waived rules or the peer. Its steps are called in order by
 * the arm, which puts its observers between them:
 *
 *   create (admit declared) - watch opened - attach - start begun - bridge - start finished - kernel (admit effective)
 * - guard - readmit - watch armed - go - end of input - gone - remove
 */
#ifndef HARNESS_ADAPTER_SESSION_H
#define HARNESS_ADAPTER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/admission.h"
#include "adapter/control.h"
#include "adapter/profile.h"
#include "adapter/session_watch.h"
#include "core/buf.h"
#include "core/json.h"
#include "core/limits.h"
#include "core/spawn.h"

struct session_ceiling {
	char tool[NAME_MAX_SHORT];
	char max[NAME_MAX_SHORT]; /* a label: public, pii, confidential, ... */
};
#define SESSION_CEILINGS_MAX 16
#define SESSION_TOOLS_MAX 32

/* The agent's limits and the liveness protocol's times; tests shrink them. */
struct session_limits {
	int64_t frame_bytes;
	int64_t stdout_bytes;
	int64_t stderr_bytes;
	int64_t calls;
	int64_t session_ms;
	int64_t heartbeat_ms;
	int64_t acknowledge_ms;
	int64_t lease_ms;
	int64_t stop_try_ms;
	int64_t gateway_call_ms;
};
extern const struct session_limits session_limits_reference;

struct session_options {
	struct profile profile; /* what is created; admission always demands profile_reference */
	struct session_ceiling ceilings[SESSION_CEILINGS_MAX];
	size_t ceilings_count;
	char response_ceiling[NAME_MAX_SHORT];
	char sensitivity[NAME_MAX_SHORT]; /* of the classified payload: where the gateway's session starts */
	/* The gateway's label of what permitted.tool brings into the session, "": it brings nothing. */
	char permitted_label[NAME_MAX_SHORT];
	bool watchdog; /* armed */
	bool watchdog_pidfd; /* the watchdog holds the process itself, and needs no engine to end it */
	bool acknowledge; /* the bridge checks the watchdog's acknowledgments */
	bool fail_closed; /* the bridge ends the session when the gateway fails a call */
	bool strict; /* what is no frame, or asks for no operation, ends the session; else it is passed over */
	bool checkpoint; /* the agent may stop and wait for the arm */
	bool policy; /* the bridge enforces what live policy updates say */
	bool policy_lock; /* it applies one only behind the calls that were admitted before it */
	unsigned watch_off; /* kinds of change (1 << enum watch_kind) that nobody watches for */
	struct rule_set must_fail; /* admission must refuse on exactly these, which are then waived */
	struct session_limits limits;
	/* Helpers' names, and the one argument of each, or NULL. */
	const char *gateway_program, *gateway_mode;
	const char *upstream_program, *upstream_mode;
	/* A tool that the second upstream alone serves, while the first one is the recorder; or NULL: one serves all.
	 */
	const char *apart;
	const char *orders_program, *orders_mode;
	bool orders; /* the operation "order" is offered: the order service is one upstream more */
	bool undeclared; /* what the second upstream runs is not what was declared */
};

/* The reference session: permitted.tool, slow.tool and beacon.tool up to confidential, public.tool up to public. */
void session_options_reference(struct session_options *out);

/* The operation of the example's order service, and its tool: last of all where it is offered, and never the operator's
 * to revoke. */
#define SESSION_ORDER "order"
#define SESSION_ORDER_TOOL "order_create"

/* The tools that the operator approved for the agent, in the order that the bridge numbers them in: at most
 * SESSION_TOOLS_MAX. Returns how many. */
size_t session_tools(const char *out[SESSION_TOOLS_MAX]);

/* ---- the session itself ---- */

struct engine;
struct engine_request;

/* What a session runs on; found once a run. */
struct session_target {
	const char *socket; /* the engine's, for the stop program */
	const char *run; /* the run's id: a label */
	const char *image; /* immutable id */
	const struct json_node *image_inspect; /* the engine's answer about it */
	const struct json_node *info; /* the engine's /info */
};

/* The arm reads these; only the steps below write them. */
struct session {
	struct engine *engine;
	const struct session_target *target;
	const struct session_options *options;
	struct profile_identity identity;
	char container[CONTAINER_ID_MAX];
	bool create_warnings;
	struct rule_set failed; /* rules that admission refused on, over both halves */
	bool refused; /* admission refused, on other rules than it must */
	struct json_document *inspect; /* the latest read-back */
	struct admission_effective_files *kernel;
	int attach; /* the stream, until the bridge has it */
	struct engine_request *starting, *waiting, *removing;
	struct child bridge, watchdog;
	int bridge_control, watchdog_control; /* SOCK_SEQPACKET; -1 when there is none */
	int payload; /* write end of the initial frame's pipe */
	int lifeline; /* write end: its close ends the bridge */
	pid_t pid; /* the container's first process, as our /proc knows it */
	int pidfd, proc, netns, cgroup, memory; /* descriptors of it, opened while it lived */
	int freezer; /* the folder of its cgroup that holds it still, or -1 */
	bool removed;
	struct session_watch *watch; /* while it is watched */
	bool changed; /* by somebody else: the process was killed for it */
	enum watch_kind change; /* the first */
	int64_t changed_at;
	int cpu; /* bridge, gateway and recorder share this processor, or -1: a call wakes each of them in turn */
};

void session_init(struct session *session, struct engine *engine, const struct session_target *target,
		  const struct session_options *options);

/* Creates the container and admits it by what the engine says. Rules refused other than options->must_fail of that
 * half: ERROR_REFUSED naming them, with session->failed filled. */
int session_create(struct session *session, const char *role, struct error **err) MUST_CHECK;
int session_attach(struct session *session, struct error **err) MUST_CHECK;
/* Begins to wait for the exit, and the start itself; the caller does other things meanwhile. */
int session_start(struct session *session, struct error **err) MUST_CHECK;
/* Starts the bridge as the container's uid:gid with the attach stream and the gateway's pipes, and gives up our own
 * copy. */
int session_bridge(struct session *session, int gateway_in, int gateway_out, struct error **err) MUST_CHECK;
int session_started(struct session *session, struct error **err) MUST_CHECK;
/* Takes hold of the process (pidfd, /proc, namespace, cgroup), watches its links from then on, and admits it by what
 * the kernel says. */
int session_kernel(struct session *session, struct error **err) MUST_CHECK;
/* Arms the watchdog (when the options say so) and gives the bridge its pidfd and pipes. The answers ARMED, READY and
 * GUARDED come on the control sockets. */
int session_guard(struct session *session, struct error **err) MUST_CHECK;
/* Admission by the engine once more, and the core pattern: right before plaintext. */
int session_readmit(struct session *session, struct error **err) MUST_CHECK;
/* Whether everything that had to be refused was, and nothing else: the waived rules are then exactly these. */
bool session_refused_as_declared(const struct session *session);
/* Gives the initial frame to the bridge's pipe and sends GO. */
int session_go(struct session *session, const struct buf *payload, struct error **err) MUST_CHECK;
/* The effective configuration (admission_project over the latest documents). */
int session_project(const struct session *session, effective_take take, void *context, struct error **err) MUST_CHECK;
/* Waits for the exit that the engine reports, at most until `deadline`. */
int session_exited(struct session *session, int64_t deadline, int64_t *exit_code, struct error **err) MUST_CHECK;
/* Lets the agent go on from its checkpoint. */
int session_resume(struct session *session, struct error **err) MUST_CHECK;
/* SIGKILL by pidfd, and no freezer that keeps it from its end; no effect when there is no process. */
void session_kill(const struct session *session);
/* The first half of session_end(): watchdog, bridge and process end, and the engine is asked to remove the container.
 * The caller ends its own parts meanwhile. An error here ends nothing of what follows; session_end() is still due. */
int session_end_begin(struct session *session, struct error **err) MUST_CHECK;
/* Disarms and ends watchdog and bridge, kills the process, removes the container. Idempotent, bounded, and it goes on
 * after an error, of which the first is reported: a container that stayed is named by the run's label. */
int session_end(struct session *session, struct error **err) MUST_CHECK;

/* The folder of the process's cgroup in which this controller ("pids", "memory") counts, with its cgroup.procs: in
 * version 2 the same for all. -1 with *err when /proc/PID/cgroup names none that is ours. */
int session_cgroup_open(int proc, const char *container, const char *controller, int *out,
			struct error **err) MUST_CHECK;

#endif
