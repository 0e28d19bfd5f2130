/* What somebody else does to a session from outside, by kind; for arm_faults.c alone. */
#ifndef HARNESS_RUNNER_ARM_FAULT_H
#define HARNESS_RUNNER_ARM_FAULT_H

#include "runner/arm_steps.h"

/* arm_fault_operator.c: the engine is asked for a change, in one step after the other while the arm goes on. */
int arm_fault_ask(struct arm *arm, size_t index, struct error **err) MUST_CHECK;
/* Takes the engine's answer when it is there, and begins the next step. */
int arm_fault_go_on(struct arm *arm, size_t index, struct error **err) MUST_CHECK;

/* Hands a stream that was opened to its observer, once. `none`: the engine opened none, so that nothing is heard. */
void arm_fault_give_stream(struct arm *arm, struct arm_fault_state *state, bool none);

/* arm_fault_link.c: an interface appears in the container's network namespace, with a route to the host's address. It
 * goes with the namespace, or by unlinking. */
int arm_fault_link(struct arm *arm, struct arm_fault_state *state, struct error **err) MUST_CHECK;
void arm_fault_unlink(struct arm_fault_state *state);

/* arm_fault_pattern.c: the host's core pattern becomes a program's, in a mount namespace of this process's own, in
 * which arm_fault_apart() put it: the host's never changes. */
int arm_fault_apart(struct error **err) MUST_CHECK;
int arm_fault_pattern(struct arm *arm, struct arm_fault_state *state, struct error **err) MUST_CHECK;
void arm_fault_uncover(struct arm_fault_state *state);

#endif
