/*
 * The bridge's program: the one process that parses what the agent says. It holds descriptors (enum bridge_fd) and
 * nothing else: no path to the engine, no file, no privilege but to signal a process of its own uid. It never logs.
 */
#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"

#define CONFIG_MS 5000
#define EXIT_ERROR 3

static int prepare(struct bridge_config *config, struct error **err)
{
	cleanup_fd int fd = BRIDGE_FD_CONFIG;

	if (process_harden(true, 0, err) < 0)
		return -1;
	return bridge_config_read(fd, clock_deadline(CONFIG_MS), config, err);
}

int main(void)
{
	cleanup_error struct error *reason = NULL;
	struct bridge_config config;
	bool ready = prepare(&config, &reason) == 0;

	bridge_run(ready ? &config : NULL);
	return ready ? 0 : EXIT_ERROR;
}
