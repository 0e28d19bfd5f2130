/* What a run can leave behind when it is killed, and how it is found: containers by label, helpers by their program. */
#ifndef HARNESS_RUNNER_SWEEP_H
#define HARNESS_RUNNER_SWEEP_H

#include "adapter/engine.h"

struct swept {
	unsigned containers, images, processes, kept;
};

/* Containers of ours whose run nobody holds. */
int sweep_containers(struct engine *engine, struct swept *swept, struct error **err) MUST_CHECK;
/* All containers of one run, under way or not. */
int sweep_run(struct engine *engine, const char *run, unsigned *count, struct error **err) MUST_CHECK;
/* The agent's images; none while any run is under way, which may be about to use one. */
int sweep_images(struct engine *engine, struct swept *swept, struct error **err) MUST_CHECK;
/* Our helpers whose parent died: programs of our libexec folder that init or a subreaper adopted. A watchdog that is
 * about to end its container is one: containers are looked for after it. */
int sweep_processes(unsigned *count, struct error **err) MUST_CHECK;

#endif
