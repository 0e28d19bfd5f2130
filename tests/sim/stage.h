/*
 * What the tests on a simulated engine share: the engine as a process, and on it a session with its real bridge,
 * watchdog, gateway and recorder, brought as far as an arm brings it. The test is the arm.
 */
#ifndef HARNESS_TESTS_SIM_STAGE_H
#define HARNESS_TESTS_SIM_STAGE_H

#include <stdbool.h>

#include "adapter/engine.h"
#include "adapter/session.h"
#include "core/canary.h"
#include "core/spawn.h"

#define STAGE_RUN "5151515151515151"
#define STAGE_GUARD_MS 8000
/* Shrunk, so that what is waited for comes soon; but far above what a busy machine takes for a step. */
#define STAGE_HEARTBEAT_MS 50
#define STAGE_ACKNOWLEDGE_MS 500
#define STAGE_LEASE_MS 1200
#define STAGE_TRY_MS 1500

/* Puts this process into a mount namespace in which the core pattern is a file's, whatever the host's is. False, with
 * the reason on stderr, where that is not possible: then no test can run. */
bool stage_isolate(void);

/* ---- the engine ---- */

struct stage_engine {
	struct child child;
	char folder[32], socket[64], script[64];
	int log;
	struct buf seen;
};
#define STAGE_ENGINE                                                                                                   \
	{                                                                                                              \
		.child = CHILD_NONE, .log = -1, .seen = BUF(1 * MIB),                                                  \
	}

/* `script`: JSON, or NULL. Waits until it listens. */
bool stage_engine_start(struct stage_engine *engine, const char *script);
void stage_engine_stop(struct stage_engine *engine);
/* How many requests that begin with `method` and hold `part` were logged by now. */
size_t stage_engine_requests(struct stage_engine *engine, const char *method, const char *part);
/* Whether a container's process is alive. */
bool stage_engine_has_child(const struct stage_engine *engine);

/* ---- a session on it ---- */

struct stage {
	struct stage_engine process;
	struct engine *engine;
	struct json_document *info, *image;
	struct session_target target;
	struct session_options options; /* set before stage_session() */
	struct session session;
	struct child gateway;
	int gateway_in, gateway_out, gateway_life;
	int decisions, sink;
	struct canary permitted, denied;
	size_t descriptors; /* of this process, before */
};

/* Starts the engine, agrees on a version, asks for what a run asks once. The options are the reference session's,
 * shrunk, with what a plain child fails in must_fail. */
bool stage_open(struct stage *stage, const char *script);
/* From creation to the second admission, in the order of an arm. */
int stage_session(struct stage *stage, struct error **err) MUST_CHECK;
/* The initial frame: both operations `tries` times, stderr `noise` times, and the ending. */
int stage_go(struct stage *stage, unsigned tries, bool noise, const char *ending, struct error **err) MUST_CHECK;
/* The next message of `type` on this control socket, with pulses for the bridge meanwhile. One of type 0 when none came
 * in time, or the socket ended. */
struct control_message stage_told(struct stage *stage, int control, enum control_type type);
/* Tells the bridge that the arm is alive. */
void stage_pulse(struct stage *stage);
void stage_order(struct stage *stage, enum control_type type);
/* From the first frame, with both operations, to the engine's word about the exit, awaited for `exit_ms`. *end is what
 * the bridge said at its end. */
int stage_finish(struct stage *stage, unsigned tries, int64_t exit_ms, struct control_message *end, int64_t *exit_code,
		 struct error **err) MUST_CHECK;
/* Milliseconds until the container's process was dead, or -1. */
int64_t stage_dead(const struct stage *stage, int64_t deadline_ms);
/* How often the canary stands in the recorder's file; waits until it does at all, for at most `wait_ms`, with pulses
 * for the bridge. */
size_t stage_delivered(struct stage *stage, const struct canary *canary, int64_t wait_ms);
/* Whether all processes but the engine are gone, and no container of this run is left. */
bool stage_clean(struct stage *stage);
/* Ends all; checks that no child and no descriptor is left. */
void stage_close(struct stage *stage);
#define cleanup_stage __attribute__((cleanup(stage_close)))

#endif
