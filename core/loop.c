#include "core/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include "core/clock.h"
#include "core/fd.h"

#define WATCHES_MAX 64
#define TIMERS 16

struct watch {
	int fd;
	short events;
	uint64_t serial; /* tells a watch from a later one of the same descriptor number */
	loop_fd_callback callback;
	void *context;
};

struct timer {
	int64_t when;
	loop_timer_callback callback;
	void *context;
};

struct loop {
	struct watch watches[WATCHES_MAX];
	size_t count;
	uint64_t serial;
	struct timer timers[TIMERS];
	int signals; /* a signalfd, or -1 */
	loop_signal_callback signal_callback;
	void *signal_context;
};

int loop_new(struct loop **out, struct error **err)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return error_set(err, ERROR_MEMORY, "no memory for a loop");
	for (size_t i = 0; i < TIMERS; i++)
		loop->timers[i].when = NEVER;
	loop->signals = -1;
	*out = loop;
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	fd_close(&loop->signals);
	free(loop);
}

static struct watch *find(struct loop *loop, int fd)
{
	for (size_t i = 0; i < loop->count; i++)
		if (loop->watches[i].fd == fd)
			return &loop->watches[i];
	return NULL;
}

int loop_fd(struct loop *loop, int fd, short events, loop_fd_callback callback, void *context, struct error **err)
{
	struct watch *watch = find(loop, fd);

	if (!watch) {
		if (loop->count == WATCHES_MAX)
			return error_set(err, ERROR_LIMIT, "a loop watches at most %d descriptors", WATCHES_MAX);
		watch = &loop->watches[loop->count++];
	}
	*watch = (struct watch){
		.fd = fd, .events = events, .serial = ++loop->serial, .callback = callback, .context = context
	};
	return 0;
}

void loop_remove(struct loop *loop, int fd)
{
	struct watch *watch = find(loop, fd);

	if (watch)
		*watch = loop->watches[--loop->count];
}

void loop_timer(struct loop *loop, unsigned slot, int64_t when, loop_timer_callback callback, void *context)
{
	if (slot < TIMERS)
		loop->timers[slot] = (struct timer){ .when = when, .callback = callback, .context = context };
}

static int read_signals(void *context, int fd, short revents, struct error **err)
{
	struct loop *loop = context;
	struct signalfd_siginfo info;
	int result = 0;

	(void)revents;
	while (result == 0) {
		ssize_t got = read(fd, &info, sizeof(info));

		if (got == (ssize_t)sizeof(info))
			result = loop->signal_callback(loop->signal_context, (int)info.ssi_signo, err);
		else if (got < 0 && errno == EINTR)
			continue;
		else if (got < 0 && errno == EAGAIN)
			break;
		else
			return error_errno(err, errno, "reading signals");
	}
	return result;
}

int loop_signals(struct loop *loop, loop_signal_callback callback, void *context, struct error **err)
{
	cleanup_fd int fd = -1;
	sigset_t set;
	int r;

	if (loop->signals >= 0)
		return error_set(err, ERROR_INTERNAL, "a loop takes signals once");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_errno(err, errno, "signalfd");
	r = loop_fd(loop, fd, POLLIN, read_signals, loop, err);
	if (r < 0)
		return r;
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) {
		loop_remove(loop, fd);
		return error_errno(err, errno, "blocking signals");
	}
	loop->signals = steal_fd(&fd);
	loop->signal_callback = callback;
	loop->signal_context = context;
	return 0;
}

static int run_watches(struct loop *loop, const struct pollfd *polled, const uint64_t *serials, size_t count,
		       struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		const struct watch *watch;
		int result;

		if (polled[i].revents == 0)
			continue;
		/* A callback before this one may have removed or replaced the watch. */
		watch = find(loop, polled[i].fd);
		if (!watch || watch->serial != serials[i])
			continue;
		if (polled[i].revents & POLLNVAL)
			return error_set(err, ERROR_INTERNAL, "a watched descriptor is not open");
		result = watch->callback(watch->context, watch->fd, polled[i].revents, err);
		if (result != 0)
			return result;
	}
	return 0;
}

static int run_timers(struct loop *loop, struct error **err)
{
	int64_t now = clock_now();

	for (size_t i = 0; i < TIMERS; i++) {
		struct timer due = loop->timers[i];
		int result;

		if (due.when > now || due.when == NEVER)
			continue;
		loop->timers[i].when = NEVER;
		result = due.callback(due.context, err);
		if (result != 0)
			return result;
	}
	return 0;
}

int loop_run(struct loop *loop, int64_t deadline, struct error **err)
{
	do {
		struct pollfd polled[WATCHES_MAX];
		uint64_t serials[WATCHES_MAX];
		size_t count = loop->count;
		int64_t next = deadline;
		int result;

		for (size_t i = 0; i < count; i++) {
			polled[i] = (struct pollfd){ .fd = loop->watches[i].fd, .events = loop->watches[i].events };
			serials[i] = loop->watches[i].serial;
		}
		for (size_t i = 0; i < TIMERS; i++)
			if (loop->timers[i].when < next)
				next = loop->timers[i].when;
		result = poll(polled, count, clock_poll_timeout(next));
		if (result < 0 && errno != EINTR)
			return error_errno(err, errno, "poll");
		if (result > 0) {
			result = run_watches(loop, polled, serials, count, err);
			if (result != 0)
				return result;
		}
		result = run_timers(loop, err);
		if (result != 0)
			return result;
	} while (deadline == NEVER || clock_now() < deadline);
	return 0;
}

int loop_end_by_fd(void *context, int fd, short revents, struct error **err)
{
	(void)context;
	(void)fd;
	(void)revents;
	(void)err;
	return 1;
}

int loop_end_by_signal(void *context, int signal, struct error **err)
{
	(void)context;
	(void)signal;
	(void)err;
	return 1;
}
