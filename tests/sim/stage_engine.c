/* The simulated engine as a process of a test's. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define LIST_BYTES (4 * KIB)
#define READ_BYTES 4096

bool stage_isolate(void)
{
	char path[] = "/tmp/harness-pattern-XXXXXX";
	cleanup_fd int fd = -1;
	bool done;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0) {
		fprintf(stderr, "skipped: a session's programs change their user, which needs root\n");
		return false;
	}
	fd = mkostemp(path, O_CLOEXEC);
	done = fd >= 0 && write(fd, "core\n", 5) == 5 &&
	       mount(path, "/proc/sys/kernel/core_pattern", "none", MS_BIND, NULL) == 0;
	if (!done)
		fprintf(stderr, "skipped: the core pattern cannot be covered: %s\n", strerror(errno));
	unlink(path);
	return done;
}

static bool write_script(const struct stage_engine *engine, const char *script)
{
	cleanup_fd int fd = open(engine->script, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, script, strlen(script)) == (ssize_t)strlen(script);
}

/* Takes what is logged by now, or waits for more. False at its end. */
static bool read_log(struct stage_engine *engine, int64_t deadline)
{
	cleanup_error struct error *ignored = NULL;
	char *room;
	ssize_t got;

	if (fd_wait(engine->log, POLLIN, deadline, &ignored) != 1)
		return false;
	room = buf_reserve(&engine->seen, READ_BYTES);
	got = room ? read(engine->log, room, READ_BYTES) : -1;
	if (got <= 0)
		return false;
	buf_commit(&engine->seen, (size_t)got);
	return true;
}

static bool listens(struct stage_engine *engine)
{
	int64_t deadline = clock_deadline(STAGE_GUARD_MS);

	while (!strchr(buf_string(&engine->seen), '\n'))
		if (!read_log(engine, deadline))
			return false;
	return strncmp(buf_string(&engine->seen), "ready\n", 6) == 0;
}

/* Program and agent stand in the folder of the build: ours is build/tests. */
static bool find_programs(char program[PATH_MAX], char agent[PATH_MAX])
{
	char folder[PATH_MAX - 32];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;

	if (length < 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	*slash = '\0';
	snprintf(program, PATH_MAX, "%s/sim-main_engine", folder);
	snprintf(agent, PATH_MAX, "%s/../agent", folder);
	return access(program, X_OK) == 0 && access(agent, X_OK) == 0;
}

bool stage_engine_start(struct stage_engine *engine, const char *script)
{
	char program[PATH_MAX] = "", agent[PATH_MAX] = "";
	char *argv[] = { program, engine->socket, agent, script ? engine->script : NULL, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv };
	struct error *err = NULL;
	cleanup_fd int log = -1;
	bool up;

	snprintf(engine->folder, sizeof(engine->folder), "/tmp/harness-sim-XXXXXX");
	up = mkdtemp(engine->folder) && find_programs(program, agent);
	snprintf(engine->socket, sizeof(engine->socket), "%s/engine", engine->folder);
	snprintf(engine->script, sizeof(engine->script), "%s/script", engine->folder);
	up = up && (!script || write_script(engine, script)) && fd_pipe(&engine->log, &log, &err) == 0;
	options.fds[0] = (struct spawn_fd){ .from = log, .to = STDOUT_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = STDERR_FILENO, .to = STDERR_FILENO };
	options.fds_count = 2;
	up = up && spawn(&options, &engine->child, &err) == 0;
	fd_close(&log);
	up = up && listens(engine);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(up);
	return up;
}

void stage_engine_stop(struct stage_engine *engine)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	child_signal(&engine->child, SIGTERM);
	if (engine->child.pid && child_wait(&engine->child, clock_deadline(STAGE_GUARD_MS), &status, &ignored) == 0)
		CU_ASSERT(status == 0 || status == 128 + SIGKILL);
	child_end(&engine->child);
	fd_close(&engine->log);
	buf_free(&engine->seen);
	unlink(engine->script);
	unlink(engine->socket);
	rmdir(engine->folder);
}

size_t stage_engine_requests(struct stage_engine *engine, const char *method, const char *part)
{
	size_t count = 0;

	while (read_log(engine, clock_now()))
		;
	for (const char *line = buf_string(&engine->seen); *line;) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, method, strlen(method)) == 0 && memmem(line, length, part, strlen(part)))
			count++;
		line += length + (line[length] == '\n');
	}
	return count;
}

bool stage_engine_has_child(const struct stage_engine *engine)
{
	cleanup_buf struct buf list = BUF(LIST_BYTES);
	cleanup_error struct error *ignored = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)engine->child.pid, (int)engine->child.pid);
	return engine->child.pid > 0 && fd_read_file(AT_FDCWD, path, LIST_BYTES, &list, &ignored) == 0 &&
	       list.length > 0;
}
