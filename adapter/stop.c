/*
 * `stop SOCKET ID`: asks the engine to kill a container. It ends with 0 when the engine says that the container does
 * not run any more. The watchdog gives it so long and no longer.
 */
#include <stdio.h>

#include "adapter/engine.h"
#include "core/spawn.h"

#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int stop(const char *socket_path, const char *id, struct error **err)
{
	cleanup_engine struct engine *engine = NULL;

	if (process_harden(true, 0, err) < 0 || engine_open(socket_path, &engine, err) < 0 ||
	    engine_negotiate(engine, err) < 0)
		return -1;
	return engine_kill(engine, id, "KILL", err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: stop SOCKET ID\n");
		return EXIT_USAGE;
	}
	if (stop(argv[1], argv[2], &err) == 0)
		return 0;
	fprintf(stderr, "stop: %s\n", error_text(err));
	return EXIT_ERROR;
}
