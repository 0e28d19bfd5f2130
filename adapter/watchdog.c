/*
 * `watchdog LEASE_MS TRY_MS ID STOP_PROGRAM SOCKET`: the last in the chain of life, in a process session of its own. It
 * is told by pulses that the bridge lives. When they end, or stay away for a lease, it kills the container's process by
 * its pidfd, proves that it is dead, ends a stuck holder of the attach stream, and has the engine stop the container.
 * Only the arm can disarm it, and in every case it ends in bounded time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "adapter/control.h"
#include "adapter/freezer.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"

#define EXIT_ERROR 3
#define EXIT_USAGE 4
#define MS_MAX (24LL * 60 * 60 * 1000)
#define PULSES_AT_ONCE 64
#define PROOF_MS 1000
#define LOOK_MS 5
#define LAST_WORD_MS 200
/* How long a process that is dead waits for the arm, which lives, to say that all is in order. */
#define PATIENCE_MS 60000

struct watchdog {
	int64_t lease_ms, try_ms;
	char *id, *stop, *socket;
	int pulse, control; /* -1: ended */
	int acknowledgments, pidfd, bridge, cgroup, freezer;
	bool armed;
	int64_t lease; /* when the pulses are overdue */
	int64_t arm_lease; /* when an arm that is gone is overdue; NEVER while it is there */
};

enum verdict { VERDICT_NONE, VERDICT_DISARMED, VERDICT_FIRE, VERDICT_DEAD };

/* An arm that does not listen, or is gone, changes nothing. */
static void tell(const struct watchdog *watchdog, enum control_type type, enum control_reason reason, int64_t value)
{
	struct control_message message = { .type = type, .reason = reason, .value = value };
	cleanup_error struct error *ignored = NULL;

	if (watchdog->control >= 0)
		(void)!control_send(watchdog->control, &message, NULL, 0, clock_deadline(LAST_WORD_MS), &ignored);
}

/* Whether the arm disarmed. Its end does not, nor does anything else that it could say. */
static bool disarmed(struct watchdog *watchdog)
{
	cleanup_error struct error *reason = NULL;
	struct control_message message;
	size_t none = 0;

	if (control_receive(watchdog->control, &message, NULL, &none, clock_now(), &reason) == 0)
		return message.type == CONTROL_DISARM;
	if (error_code(reason) == ERROR_CLOSED || error_code(reason) == ERROR_SYSTEM) {
		fd_close(&watchdog->control);
		watchdog->arm_lease = clock_deadline(watchdog->lease_ms);
	}
	return false;
}

/* Acknowledges what came. False at the end of the pulses. */
static bool take_pulses(struct watchdog *watchdog)
{
	char pulses[PULSES_AT_ONCE];
	ssize_t got = read(watchdog->pulse, pulses, sizeof(pulses));

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0) {
		fd_close(&watchdog->pulse);
		return false;
	}
	watchdog->lease = clock_deadline(watchdog->lease_ms);
	/* A bridge that does not read its acknowledgments is not waited for. */
	if (write(watchdog->acknowledgments, pulses, (size_t)got) < 0 && errno == EPIPE)
		fd_close(&watchdog->acknowledgments);
	if (!watchdog->armed) {
		watchdog->armed = true;
		tell(watchdog, CONTROL_ARMED, CONTROL_REASON_NONE, 0);
	}
	return true;
}

static enum verdict overdue(const struct watchdog *watchdog, enum control_reason *reason)
{
	int64_t now = clock_now();

	if (now < watchdog->lease && now < watchdog->arm_lease)
		return VERDICT_NONE;
	*reason = now >= watchdog->lease ? CONTROL_REASON_LEASE : CONTROL_REASON_PARENT_LOST;
	return VERDICT_FIRE;
}

static int64_t nearest(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

/* What the arm says comes first, since it disarms before it ends the bridge; then the process, which may have ended by
 * itself before the bridge did. */
static enum verdict look(struct watchdog *watchdog, enum control_reason *reason)
{
	struct pollfd polled[] = {
		{ .fd = watchdog->control, .events = POLLIN },
		{ .fd = watchdog->pidfd, .events = POLLIN },
		{ .fd = watchdog->pulse, .events = POLLIN },
	};
	int ready = poll(polled, ARRAY_SIZE(polled), clock_poll_timeout(nearest(watchdog->lease, watchdog->arm_lease)));

	if (ready < 0 && errno != EINTR) {
		*reason = CONTROL_REASON_INTERNAL;
		return VERDICT_FIRE;
	}
	if (ready <= 0)
		return overdue(watchdog, reason);
	if (polled[0].revents && disarmed(watchdog))
		return VERDICT_DISARMED;
	if (polled[1].revents)
		return VERDICT_DEAD;
	if (polled[2].revents && !take_pulses(watchdog)) {
		*reason = CONTROL_REASON_BRIDGE_LOST;
		return VERDICT_FIRE;
	}
	return overdue(watchdog, reason);
}

static enum verdict watch(struct watchdog *watchdog, enum control_reason *reason)
{
	enum verdict verdict;

	watchdog->lease = clock_deadline(watchdog->lease_ms);
	watchdog->arm_lease = NEVER;
	do
		verdict = look(watchdog, reason);
	while (verdict == VERDICT_NONE);
	return verdict;
}

/* The process ended by itself: the pulses no longer matter, but they are acknowledged while the bridge reads the rest
 * of the stream. Returns whether the arm said that all is in order. */
static bool await_arm(struct watchdog *watchdog)
{
	int64_t deadline = clock_deadline(PATIENCE_MS);

	while (watchdog->control >= 0 && clock_now() < deadline) {
		struct pollfd polled[] = {
			{ .fd = watchdog->control, .events = POLLIN },
			{ .fd = watchdog->pulse, .events = POLLIN },
		};

		if (poll(polled, ARRAY_SIZE(polled), clock_poll_timeout(deadline)) <= 0)
			continue;
		if (polled[0].revents && disarmed(watchdog))
			return true;
		if (polled[1].revents)
			(void)take_pulses(watchdog);
	}
	return false;
}

/* No process is left in the cgroup. The file is opened anew each time, since a held one goes stale; the folder was held
 * while the process lived, so that one that is gone was emptied first. */
static bool cgroup_empty(const struct watchdog *watchdog)
{
	cleanup_fd int procs = -1;
	char byte;

	if (watchdog->cgroup < 0)
		return true;
	procs = openat(watchdog->cgroup, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (procs < 0)
		return errno == ENOENT || errno == ENODEV;
	return read(procs, &byte, 1) == 0;
}

/* Version 2 tells of a change by POLLPRI on cgroup.events. Version 1 tells nothing, and is looked at again and again.
 */
static bool prove_death(const struct watchdog *watchdog, int64_t milliseconds)
{
	int64_t deadline = clock_deadline(milliseconds);
	cleanup_fd int events = -1;

	if (watchdog->pidfd < 0 || fd_wait(watchdog->pidfd, POLLIN, deadline, NULL) != 1)
		return false;
	if (watchdog->cgroup >= 0)
		events = openat(watchdog->cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC);
	while (!cgroup_empty(watchdog)) {
		struct pollfd polled = { .fd = events, .events = POLLPRI };

		if (clock_now() >= deadline)
			return false;
		(void)poll(&polled, 1, LOOK_MS);
	}
	tell(watchdog, CONTROL_DEAD, CONTROL_REASON_NONE, 0);
	return true;
}

enum attempt { ATTEMPT_FAILED, ATTEMPT_DONE, ATTEMPT_DISARMED };

/* Waits for the stop program's end or the arm's word, whichever comes first, and no longer than one try takes. */
static enum attempt await_stop(struct watchdog *watchdog, struct child *child)
{
	int64_t deadline = clock_deadline(watchdog->try_ms);
	cleanup_error struct error *ignored = NULL;
	int status;

	for (;;) {
		struct pollfd polled[] = {
			{ .fd = child->pidfd, .events = POLLIN },
			{ .fd = watchdog->control, .events = POLLIN },
		};
		int ready = poll(polled, ARRAY_SIZE(polled), clock_poll_timeout(deadline));

		if (ready > 0 && polled[1].revents && disarmed(watchdog))
			return ATTEMPT_DISARMED;
		if (ready > 0 && polled[0].revents)
			break;
		if (clock_now() >= deadline)
			return ATTEMPT_FAILED;
	}
	return child_wait(child, deadline, &status, &ignored) == 0 && status == 0 ? ATTEMPT_DONE : ATTEMPT_FAILED;
}

static enum attempt try_stop(struct watchdog *watchdog)
{
	char name[] = "stop";
	char *argv[] = { name, watchdog->socket, watchdog->id, NULL };
	const struct spawn_options options = { SPAWN_DEFAULTS, .path = watchdog->stop, .argv = argv };
	cleanup_child struct child child = CHILD_NONE;
	cleanup_error struct error *ignored = NULL;

	return spawn(&options, &child, &ignored) < 0 ? ATTEMPT_FAILED : await_stop(watchdog, &child);
}

static void stop(struct watchdog *watchdog)
{
	enum attempt attempt = ATTEMPT_FAILED;
	int tries = 0;

	while (attempt == ATTEMPT_FAILED && tries < STOP_TRIES) {
		attempt = try_stop(watchdog);
		tries++;
	}
	if (attempt != ATTEMPT_DISARMED)
		tell(watchdog, CONTROL_STOPPED,
		     attempt == ATTEMPT_DONE ? CONTROL_REASON_NONE : CONTROL_REASON_STOP_FAILED, tries);
}

static void finish(struct watchdog *watchdog)
{
	bool proven = prove_death(watchdog, PROOF_MS);

	/* While a stuck bridge holds the attach stream, the engine does not answer about the container. */
	(void)pidfd_send_signal(watchdog->bridge, SIGKILL, NULL, 0);
	stop(watchdog);
	if (!proven)
		(void)prove_death(watchdog, 0);
}

/* The signal first: what was frozen does nothing any more. */
static void end_process(const struct watchdog *watchdog)
{
	(void)pidfd_send_signal(watchdog->pidfd, SIGKILL, NULL, 0);
	(void)freezer_set(watchdog->freezer, false);
}

static void run(struct watchdog *watchdog)
{
	enum control_reason reason = CONTROL_REASON_NONE;

	switch (watch(watchdog, &reason)) {
	case VERDICT_FIRE:
		end_process(watchdog);
		tell(watchdog, CONTROL_FIRED, reason, 0);
		finish(watchdog);
		break;
	case VERDICT_DEAD:
		if (!await_arm(watchdog))
			finish(watchdog);
		break;
	case VERDICT_DISARMED:
	case VERDICT_NONE:
		break;
	}
}

static bool parse_ms(const char *text, int64_t *out)
{
	char *end = NULL;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	*out = value;
	return errno == 0 && end != text && *end == '\0' && value > 0 && value <= MS_MAX;
}

/* Nothing that is sent to a terminal's processes, and no polite request, ends it. */
static int prepare(struct watchdog *watchdog, struct error **err)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT };
	const struct sigaction action = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		if (sigaction(ignored[i], &action, NULL) < 0)
			return error_errno(err, errno, "ignoring a signal");
	if (fcntl(watchdog->cgroup, F_GETFD) < 0)
		watchdog->cgroup = -1;
	/* Without it the engine alone can end the process. */
	if (fcntl(watchdog->pidfd, F_GETFD) < 0)
		watchdog->pidfd = -1;
	if (fcntl(watchdog->freezer, F_GETFD) < 0)
		watchdog->freezer = -1;
	if (process_harden(false, 0, err) < 0 || fd_nonblocking(watchdog->pulse, true, err) < 0)
		return -1;
	return fd_nonblocking(watchdog->acknowledgments, true, err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	struct watchdog watchdog = {
		.pulse = WATCHDOG_FD_PULSE,
		.acknowledgments = WATCHDOG_FD_ACK,
		.pidfd = WATCHDOG_FD_PIDFD,
		.bridge = WATCHDOG_FD_BRIDGE,
		.cgroup = WATCHDOG_FD_CGROUP,
		.freezer = WATCHDOG_FD_FREEZER,
		.control = WATCHDOG_FD_CONTROL,
	};

	if (argc != 6 || !parse_ms(argv[1], &watchdog.lease_ms) || !parse_ms(argv[2], &watchdog.try_ms)) {
		fprintf(stderr, "usage: watchdog LEASE_MS TRY_MS ID STOP_PROGRAM SOCKET\n");
		return EXIT_USAGE;
	}
	watchdog.id = argv[3];
	watchdog.stop = argv[4];
	watchdog.socket = argv[5];
	if (prepare(&watchdog, &err) < 0) {
		fprintf(stderr, "watchdog: %s\n", error_text(err));
		return EXIT_ERROR;
	}
	run(&watchdog);
	return 0;
}
