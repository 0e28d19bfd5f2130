/*
 * Counts TCP connections that bear a canary: one listening socket a subject, each at a port of its own. It answers
 * nothing. Its address is the kind's, or the extra argument.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"
#include "observers/observer.h"

#define BACKLOG 128
#define CONNECTIONS_MAX 256
#define CONNECTION_BYTES (64 * KIB)
#define READ_BYTES (16 * KIB)
#define CONNECTION_MS 2000
#define DRAIN_MS 2000
#define EVENTS_AT_ONCE 64
#define TIMER 0
#define VIEW 0

struct connection {
	int fd; /* -1: the slot is free */
	size_t subject;
	int64_t deadline;
	struct buf bytes;
};

struct tcp {
	bool opened;
	int epoll; /* one descriptor in the loop for all sockets, which are more than a loop watches */
	int listeners[ARM_SUBJECTS_MAX];
	struct connection connections[CONNECTIONS_MAX];
};

static const struct sensor sensor;

static int poll_for(const struct tcp *tcp, int fd, uint64_t key, struct error **err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = key };

	if (epoll_ctl(tcp->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_errno(err, errno, "epoll_ctl");
	return 0;
}

static bool bears_marker(const struct observer *observer, const uint64_t *hits)
{
	for (size_t i = 0; i < observer->count; i++)
		if (observer->subjects[i].marker && hits[i] > 0)
			return true;
	return false;
}

/* Counts a connection and closes it. `cut`: why it was not read to its end, or NONE; what bore no canary so far might
 * have borne one in the rest. */
static int finish(struct observer *observer, struct connection *connection, enum wire_reason cut, struct error **err)
{
	struct counts *counts = &observer->subjects[connection->subject].counts[VIEW];
	size_t length = connection->bytes.length, bore = 0;
	uint64_t hits[OBSERVER_HITS] = { 0 };
	int r;

	observer_find(observer, buf_string(&connection->bytes), length, hits);
	fd_close(&connection->fd);
	buf_wipe(&connection->bytes);
	/* The harness's own connections are no one's attempt. */
	if (!bears_marker(observer, hits)) {
		counts->connections++;
		counts->bytes += length;
	}
	r = observer_count_hits(observer, VIEW, hits, &bore, err);
	if (r < 0 || bore > 0 || cut == WIRE_REASON_NONE)
		return r;
	return observer_blind(observer, VIEW, cut, err);
}

static int expire(void *context, struct error **err);

static void set_timer(struct observer *observer)
{
	const struct tcp *tcp = observer->state;
	int64_t next = NEVER;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (tcp->connections[i].fd >= 0 && tcp->connections[i].deadline < next)
			next = tcp->connections[i].deadline;
	loop_timer(observer->loop, TIMER, next, expire, observer);
}

/* Ends the connections whose deadline is not after `now`. */
static int finish_until(struct observer *observer, int64_t now, struct error **err)
{
	struct tcp *tcp = observer->state;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		int r;

		if (tcp->connections[i].fd < 0 || tcp->connections[i].deadline > now)
			continue;
		r = finish(observer, &tcp->connections[i], WIRE_REASON_TIMEOUT, err);
		if (r < 0)
			return r;
	}
	set_timer(observer);
	return 0;
}

static int expire(void *context, struct error **err)
{
	return finish_until(context, clock_now(), err);
}

static int read_connection(struct observer *observer, struct connection *connection, struct error **err)
{
	for (;;) {
		size_t room = connection->bytes.max - connection->bytes.length;
		size_t want = room < READ_BYTES ? room : READ_BYTES;
		char *to;
		ssize_t got;

		if (room == 0)
			return finish(observer, connection, WIRE_REASON_LIMIT, err);
		to = buf_reserve(&connection->bytes, want);
		if (!to)
			return buf_check(&connection->bytes, "a connection", err);
		got = read(connection->fd, to, want);
		if (got > 0)
			buf_commit(&connection->bytes, (size_t)got);
		else if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		else
			return finish(observer, connection, WIRE_REASON_NONE, err);
	}
}

static int add_connection(struct observer *observer, size_t subject, int *fd, struct error **err)
{
	struct tcp *tcp = observer->state;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &tcp->connections[i];
		int r;

		if (connection->fd >= 0)
			continue;
		r = poll_for(tcp, *fd, ARM_SUBJECTS_MAX + i, err);
		if (r < 0)
			return r;
		connection->fd = steal_fd(fd);
		connection->subject = subject;
		connection->deadline = clock_deadline(CONNECTION_MS);
		set_timer(observer);
		return 0;
	}
	observer->subjects[subject].counts[VIEW].connections++;
	return observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err);
}

static int accept_all(struct observer *observer, size_t subject, struct error **err)
{
	const struct tcp *tcp = observer->state;

	for (;;) {
		cleanup_fd int fd = accept4(tcp->listeners[subject], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		int r;

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO))
			continue;
		if (fd < 0)
			return errno == EAGAIN ? 0 : error_errno(err, errno, "accepting");
		r = add_connection(observer, subject, &fd, err);
		if (r < 0)
			return r;
	}
}

/* Takes what is ready: how many sockets that were, or negative. */
static int take_ready(struct observer *observer, struct error **err)
{
	struct tcp *tcp = observer->state;
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(tcp->epoll, events, EVENTS_AT_ONCE, 0);

	if (count < 0)
		return errno == EINTR ? 0 : error_errno(err, errno, "epoll_wait");
	for (int i = 0; i < count; i++) {
		uint64_t key = events[i].data.u64;
		struct connection *connection =
			key < ARM_SUBJECTS_MAX ? NULL : &tcp->connections[key - ARM_SUBJECTS_MAX];
		int r = connection ? read_connection(observer, connection, err) : accept_all(observer, key, err);

		if (r < 0)
			return r;
	}
	return count;
}

static int on_ready(void *context, int fd, short revents, struct error **err)
{
	int r = take_ready(context, err);

	(void)fd;
	(void)revents;
	if (r < 0)
		return r;
	set_timer(context);
	return 0;
}

static int listen_for(struct observer *observer, const char *address, size_t subject, struct error **err)
{
	struct tcp *tcp = observer->state;
	uint16_t port = 0;
	int r = address_bind(address, SOCK_STREAM, BACKLOG, &tcp->listeners[subject], &port, err);

	if (r < 0)
		return r;
	r = poll_for(tcp, tcp->listeners[subject], subject, err);
	return r < 0 ? r : observer_bound(observer, subject, port, err);
}

static int tcp_open(struct observer *observer, struct error **err)
{
	const char *address = observer->kind->argument ? observer->kind->argument : observer->extra;
	struct tcp *tcp = observer->state;
	int r;

	for (size_t i = 0; i < ARM_SUBJECTS_MAX; i++)
		tcp->listeners[i] = -1;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		tcp->connections[i] = (struct connection){ .fd = -1, .bytes = BUF(CONNECTION_BYTES) };
	tcp->opened = true;
	tcp->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (tcp->epoll < 0)
		return error_errno(err, errno, "epoll_create1");
	if (!address)
		return error_set(err, ERROR_USAGE, "no address to listen at");
	r = loop_fd(observer->loop, tcp->epoll, POLLIN, on_ready, observer, err);
	for (size_t i = 0; r == 0 && i < observer->count; i++)
		if (!observer->subjects[i].marker)
			r = listen_for(observer, address, i, err);
	return r;
}

/* Other sockets may hold what came before the marker. */
static int tcp_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	int64_t deadline = clock_deadline(DRAIN_MS);
	int r;

	do {
		r = take_ready(observer, err);
		if (r > 0 && clock_now() >= deadline)
			r = observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err);
	} while (r > 0);
	if (r == 0)
		r = finish_until(observer, phase == WIRE_AFTER ? NEVER : clock_now(), err);
	return r < 0 ? r : observer_report_counts(observer, VIEW, phase, err);
}

static void tcp_close(struct observer *observer)
{
	struct tcp *tcp = observer->state;

	if (!tcp->opened)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		fd_close(&tcp->connections[i].fd);
		buf_wipe(&tcp->connections[i].bytes);
	}
	for (size_t i = 0; i < ARM_SUBJECTS_MAX; i++)
		fd_close(&tcp->listeners[i]);
	fd_close(&tcp->epoll);
}

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const struct sensor sensor = {
	.name = "observer-tcp",
	.state_size = sizeof(struct tcp),
	.open = tcp_open,
	.report = tcp_report,
	.close = tcp_close,
};
