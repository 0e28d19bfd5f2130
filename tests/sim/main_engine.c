/*
 * `sim-main_engine SOCKET AGENT [SCRIPT]`: a simulated engine until SIGTERM. Its requests go to stdout, one a line. It
 * lives in namespaces of its own, and so do its containers; but for a PID namespace, which an engine's own process
 * cannot share with them.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/spawn.h"
#include "tests/sim/engine.h"

#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int run(const struct sim_options *options, struct error **err)
{
	cleanup_loop struct loop *loop = NULL;
	cleanup_sim struct sim *sim = NULL;

	if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS) < 0)
		return error_errno(err, errno, "namespaces, for which it must be root");
	if (process_harden(false, 0, err) < 0 || loop_new(&loop, err) < 0 ||
	    loop_signals(loop, loop_end_by_signal, NULL, err) < 0 || sim_open(loop, options, &sim, err) < 0)
		return -1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return error_set(err, ERROR_CLOSED, "nobody reads the log");
	return loop_run(loop, NEVER, err) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	struct sim_options options = { .data = SIM_DATA, .log = STDOUT_FILENO };

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: sim-main_engine SOCKET AGENT [SCRIPT]\n");
		return EXIT_USAGE;
	}
	options.socket = argv[1];
	options.agent = argv[2];
	options.script = argc == 4 ? argv[3] : NULL;
	if (run(&options, &err) == 0)
		return 0;
	fprintf(stderr, "sim-engine: %s\n", error_text(err));
	return EXIT_ERROR;
}
