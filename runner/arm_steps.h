/* The arm's inner steps, shared between the files of the arm alone. */
#ifndef HARNESS_RUNNER_ARM_STEPS_H
#define HARNESS_RUNNER_ARM_STEPS_H

#include "runner/arm.h"

/* arm_io.c: reads arm->input into context, scenario and repetition. */
int arm_input_decode(struct arm *arm, struct error **err) MUST_CHECK;
/* arm_project.c: what engine, kernel, gateway and session were effectively configured with, into the record. */
int arm_project(struct arm *arm, struct error **err) MUST_CHECK;
/* arm_engine.c: a signal to the engine (FAULT_ENGINE) or to the parent that it gave the container's process
 * (FAULT_SHIM). Refused by an engine that was not started to be hurt. */
int arm_engine_signal(const struct arm *arm, int role, int number, struct error **err) MUST_CHECK;
/* arm_exchange.c: from the first frame to the evidence after the end. */
int arm_exchange(struct arm *arm, const struct buf *payload, struct error **err) MUST_CHECK;
/* arm_end.c. The process ends by itself, or (`orderly` is false, or that is what was planted) it is ended; then the
 * markers that come after everything it did. */
int arm_process_end(struct arm *arm, bool orderly, struct error **err) MUST_CHECK;
/* The exit that the engine notices, and its evidence. */
int arm_engine_end(struct arm *arm, struct error **err) MUST_CHECK;
/* Whether the session ended as it must. */
int arm_check_end(const struct arm *arm, struct error **err) MUST_CHECK;
/* The beacon through bridge and gateway. */
int arm_bridge_beacon(struct arm *arm, enum wire_phase phase, struct error **err) MUST_CHECK;

/* arm.c: what a second agent is ordered to do: to misbehave as the first one, and the probes behind that. */
int arm_orders_after(const struct arm *arm, struct buf *out, struct error **err) MUST_CHECK;

enum arm_timer { ARM_TIMER_PULSE, ARM_TIMER_WATCH };

/* arm_watch.c: around each turn of the loop. The descriptors of the engine's client come and go, so that they are not
 * kept beyond it. */
int arm_look_begin(struct arm *arm, struct error **err) MUST_CHECK;
void arm_look_end(struct arm *arm);
/* What ended the session: the bridge's reason, or the change that it was ended for. */
const char *arm_end_reason(const struct arm *arm);

#endif
