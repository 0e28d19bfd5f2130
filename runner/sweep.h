/* What a run can leave behind when it is killed, and how it is found: containers by label, helpers by their program. */
#ifndef HARNESS_RUNNER_SWEEP_H
#define HARNESS_RUNNER_SWEEP_H

#include "adapter/engine.h"

struct swept {
	unsigned containers, images, processes, kept;
};

/* Containers of ours whose run nobody holds: its lock is looked for below `out`, the folder of runs. */
int sweep_containers(struct engine *engine, const char *out, struct swept *swept, struct error **err) MUST_CHECK;
/* All containers of one run, under way or not. */
int sweep_run(struct engine *engine, const char *run, unsigned *count, struct error **err) MUST_CHECK;
/* The agent's images that no container uses. */
int sweep_images(struct engine *engine, struct swept *swept, struct error **err) MUST_CHECK;
/* Our helpers whose parent died: programs of our libexec folder that init or a subreaper adopted. */
int sweep_processes(unsigned *count, struct error **err) MUST_CHECK;

#endif
