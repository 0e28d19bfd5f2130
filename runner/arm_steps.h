/* The arm's inner steps, shared between the files of the arm alone. */
#ifndef HARNESS_RUNNER_ARM_STEPS_H
#define HARNESS_RUNNER_ARM_STEPS_H

#include "runner/arm.h"

/* arm_io.c: reads arm->input into context, scenario and repetition. */
int arm_input_decode(struct arm *arm, struct error **err) MUST_CHECK;
/* arm_project.c: what engine, kernel, gateway and session were effectively configured with, into the record. */
int arm_project(struct arm *arm, struct error **err) MUST_CHECK;
/* arm_exchange.c: from the first frame to the evidence after the end. */
int arm_exchange(struct arm *arm, const struct buf *payload, struct error **err) MUST_CHECK;
/* The beacon through bridge and gateway. */
int arm_bridge_beacon(struct arm *arm, enum wire_phase phase, struct error **err) MUST_CHECK;

#endif
