#include "observers/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/control_internal.h"

#define SEND_MS 5000
#define STOP_MS 1000
/* Of a program that a declaration brings. */
#define OWN_FD 4
#define OWN_PATH "/proc/self/fd/4"

static int tell(struct observer_process *process, struct wire_message *message, enum wire_type type, int fd,
		struct error **err)
{
	int r;

	if (process->socket < 0)
		return observer_lost_error(process, err);
	r = wire_send(process->socket, message, type, fd, clock_deadline(SEND_MS), err);
	return r < 0 ? error_wrap(err, "observer %s", process->kind->id) : 0;
}

static int put_name(char out[NAME_MAX_SHORT], const char *name, struct error **err)
{
	if (strlen(name) >= NAME_MAX_SHORT)
		return error_set(err, ERROR_LIMIT, "a name on an observer's wire has at most %d bytes",
				 NAME_MAX_SHORT - 1);
	memcpy(out, name, strlen(name) + 1);
	return 0;
}

/* ---- start, subjects, inputs ------------------------------------------------------------------ */

void observer_lose(struct observer_process *process, enum error_code why)
{
	if (process->socket < 0)
		return;
	process->lost = steal_fd(&process->socket);
	process->why = why;
}

static void free_process(struct observer_process *process)
{
	fd_close(&process->socket);
	fd_close(&process->lost);
	fd_close(&process->says);
	child_end(&process->child);
	free(process->records);
	free(process);
}

static int start(struct observer_process *process, const char *extra, int netns, struct error **err)
{
	char path[4096], program[NAME_MAX_SHORT], id[NAME_MAX_SHORT], argument[ID_MAX];
	char *argv[] = { program, id, extra ? argument : NULL, NULL };
	cleanup_fd int theirs = -1;
	struct spawn_options options = { SPAWN_DEFAULTS };
	int r = spawn_helper_path(process->kind->program, path, sizeof(path), err);

	if (r < 0)
		return r;
	if (extra && strlen(extra) >= sizeof(argument))
		return error_set(err, ERROR_LIMIT, "an observer's argument has at most %zu bytes",
				 sizeof(argument) - 1);
	snprintf(program, sizeof(program), "%s", process->kind->program);
	snprintf(id, sizeof(id), "%s", process->kind->id);
	snprintf(argument, sizeof(argument), "%s", extra ? extra : "");
	r = fd_seqpacket(&process->socket, &theirs, err);
	if (r < 0)
		return r;
	options.path = path;
	options.argv = argv;
	options.netns = netns;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = STDERR_FILENO, .to = STDERR_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = theirs, .to = WIRE_FD };
	return spawn(&options, &process->child, err);
}

/* Bounded, and never a reason to wait: memory that does not grow. */
static int open_says(int *out, struct error **err)
{
	cleanup_fd int fd = memfd_create("said", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, OBSERVER_SAYS_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return error_errno(err, errno, "memory for what an observer says");
	*out = steal_fd(&fd);
	return 0;
}

/* A "#!" program is opened by its interpreter, by the name that the kernel gives it: the descriptor must be there. */
static int start_own(struct observer_process *process, int executable, struct error **err)
{
	char name[] = "observer", id[NAME_MAX_SHORT];
	char *argv[] = { name, id, NULL };
	cleanup_fd int theirs = -1;
	struct spawn_options options = { SPAWN_DEFAULTS, .path = OWN_PATH, .argv = argv };
	int r = fd_seqpacket(&process->socket, &theirs, err);

	if (r < 0 || (r = open_says(&process->says, err)) < 0)
		return r;
	snprintf(id, sizeof(id), "%s", process->kind->id);
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = process->says, .to = STDERR_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = theirs, .to = WIRE_FD };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = executable, .to = OWN_FD };
	return spawn(&options, &process->child, err);
}

static int new_process(const struct observer_kind *kind, struct observer_process **out, struct error **err)
{
	struct observer_process *process = calloc(1, sizeof(*process));

	if (!process)
		return error_set(err, ERROR_MEMORY, "no memory for an observer");
	process->kind = kind;
	process->socket = -1;
	process->lost = -1;
	process->says = -1;
	process->child = (struct child)CHILD_NONE;
	*out = process;
	return 0;
}

int observer_start_own(const struct observer_kind *kind, int executable, struct observer_process **out,
		       struct error **err)
{
	struct observer_process *process = NULL;
	int r = new_process(kind, &process, err);

	if (r < 0)
		return r;
	r = start_own(process, executable, err);
	if (r < 0) {
		free_process(process);
		return error_wrap(err, "starting observer %s", kind->id);
	}
	*out = process;
	return 0;
}

int observer_start(const struct observer_kind *kind, const char *extra, int netns, struct observer_process **out,
		   struct error **err)
{
	struct observer_process *process = NULL;
	int r = new_process(kind, &process, err);

	if (r < 0)
		return r;
	r = start(process, extra, netns, err);
	if (r < 0) {
		free_process(process);
		return error_wrap(err, "starting observer %s", kind->id);
	}
	*out = process;
	return 0;
}

int observer_expect(struct observer_process *process, const struct observer_subject *subject, struct error **err)
{
	struct wire_message message = { .marker = subject->marker, .phase = subject->phase, .port = subject->port };
	struct known_subject *known;
	int r = put_name(message.subject, subject->subject, err);

	if (r < 0)
		return r;
	r = put_name(message.text, subject->text ? subject->text : "", err);
	if (r < 0)
		return r;
	if (process->count == ARM_SUBJECTS_MAX)
		return error_set(err, ERROR_LIMIT, "an observer takes at most %d subjects", ARM_SUBJECTS_MAX);
	if (subject->canary)
		memcpy(message.canary, subject->canary->text, sizeof(message.canary));
	r = tell(process, &message, WIRE_EXPECT, -1, err);
	explicit_bzero(message.canary, sizeof(message.canary));
	if (r < 0)
		return r;
	known = &process->subjects[process->count++];
	memcpy(known->name, message.subject, sizeof(known->name));
	return 0;
}

int observer_begin(struct observer_process *process, struct error **err)
{
	struct wire_message message = { 0 };

	return tell(process, &message, WIRE_BEGIN, -1, err);
}

int observer_give(struct observer_process *process, const char *input, int fd, struct error **err)
{
	struct wire_message message = { 0 };
	int r = put_name(message.text, input, err);

	if (r < 0)
		return r;
	if (fd < 0)
		return error_set(err, ERROR_INTERNAL, "observer %s: an input without a descriptor", process->kind->id);
	return tell(process, &message, WIRE_INPUT, fd, err);
}

int observer_loss(struct observer_process *process, int64_t time, struct error **err)
{
	struct wire_message message = { .time = time };

	return tell(process, &message, WIRE_LOSS, -1, err);
}

int observer_policy(struct observer_process *process, const char *tool, bool revoked, struct error **err)
{
	struct wire_message message = { .marker = revoked };

	snprintf(message.text, sizeof(message.text), "%s", tool);
	return tell(process, &message, WIRE_POLICY, -1, err);
}

int observer_ask(struct observer_process *process, enum wire_phase phase, struct error **err)
{
	struct wire_message message = { .phase = phase };
	/* What came before is no answer. */
	int r = observer_dispatch(process, err);

	if (r < 0)
		return r;
	process->asked[phase] = true;
	return tell(process, &message, WIRE_REPORT, -1, err);
}

size_t observer_says(const struct observer_process *process, char *out, size_t size)
{
	off_t end = process->says >= 0 ? lseek(process->says, 0, SEEK_CUR) : 0;
	off_t from = end > (off_t)size ? end - (off_t)size : 0;
	ssize_t got = end > 0 && end <= OBSERVER_SAYS_BYTES ? pread(process->says, out, (size_t)(end - from), from) : 0;

	return got > 0 ? (size_t)got : 0;
}

/* ---- stop ------------------------------------------------------------------------------------- */

void observer_halt(struct observer_process *process)
{
	cleanup_error struct error *ignored = NULL;
	struct wire_message message = { 0 };

	if (!process || process->socket < 0)
		return;
	if (wire_send(process->socket, &message, WIRE_STOP, -1, clock_now(), &ignored) < 0)
		observer_lose(process, ERROR_CLOSED);
}

void observer_stop(struct observer_process *process)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	if (!process)
		return;
	observer_halt(process);
	/* A closed wire is an end as well; one that is stopped or stuck is killed by free_process(). */
	fd_close(&process->socket);
	fd_close(&process->lost);
	if (process->child.pid > 0)
		(void)!child_wait(&process->child, clock_deadline(STOP_MS), &status, &ignored);
	free_process(process);
}
