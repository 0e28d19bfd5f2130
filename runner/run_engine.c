/* An engine that the arms hurt: asked whether it may be, and waited for until it answers again. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "adapter/preflight.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/run.h"

#define AGAIN_MS 60000
#define LOOK_MS 250
#define EVENTS_BYTES 4096

int run_engine_own(const struct run *run, struct error **err)
{
	return plan_hurts_engine(run->plan)
		       ? preflight_own(run->options->socket, run->context.engine_pid, run->context.root, err)
		       : 0;
}

/* The one that listens now: it may be another process than before. */
static int reopen(struct run *run, struct error **err)
{
	cleanup_engine struct engine *engine = NULL;
	pid_t pid;
	uid_t uid;

	if (engine_open(run->options->socket, &engine, err) < 0 || engine_negotiate(engine, err) < 0)
		return -1;
	engine_peer(engine, &pid, &uid);
	if (preflight_peer((int)pid, uid, &run->context.engine_pid, err) < 0 || run_engine_own(run, err) < 0)
		return -1;
	engine_close(run->engine);
	run->engine = steal_pointer(&engine);
	return 0;
}

/* Tells of a socket that is made anew. */
static int watch_folder(const char *socket_path, int *out, struct error **err)
{
	cleanup_fd int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[PATH_MAX];
	char *slash;

	snprintf(path, sizeof(path), "%s", socket_path);
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	if (watch < 0 || inotify_add_watch(watch, slash ? path : ".", IN_CREATE | IN_MOVED_TO) < 0)
		return error_errno(err, errno, "watching the folder of the engine's socket");
	*out = steal_fd(&watch);
	return 0;
}

int run_engine_again(struct run *run, struct error **err)
{
	int64_t deadline = clock_deadline(AGAIN_MS);
	cleanup_fd int watch = -1;

	if (!plan_hurts_engine(run->plan))
		return 0;
	if (watch_folder(run->options->socket, &watch, err) < 0)
		return -1;
	for (;;) {
		struct error *away = NULL;
		char events[EVENTS_BYTES];
		int64_t look = clock_deadline(LOOK_MS);

		if (reopen(run, &away) == 0)
			return 0;
		if (clock_now() >= deadline) {
			error_wrap(&away, "the engine did not come back");
			error_keep_first(err, &away);
			return -1;
		}
		error_free(away);
		/* It listens some time after its socket is there. */
		if (fd_wait(watch, POLLIN, look < deadline ? look : deadline, NULL) == 1)
			(void)!read(watch, events, sizeof(events));
	}
}
