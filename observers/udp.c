/*
 * Counts datagrams that bear a canary, as DNS questions or in any other form: one socket a subject, each at a port of
 * its own. It never answers and never forwards.
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"
#include "observers/dns.h"
#include "observers/observer.h"

#define DATAGRAM_BYTES (64 * KIB)
#define LABELS_BYTES (256 * KIB)
#define DATAGRAMS_AT_ONCE 256
#define EVENTS_AT_ONCE 64
#define DRAIN_MS 2000
#define VIEW 0

struct udp {
	bool opened;
	int epoll;
	int sockets[ARM_SUBJECTS_MAX];
	char datagram[DATAGRAM_BYTES];
};

static const struct sensor sensor;

/* A canary may stand in the labels, split over several, or anywhere else; found both ways it is still one record. A
 * marker counts by its labels alone: that proves the way which a question takes. */
static int count_datagram(struct observer *observer, size_t subject, const char *bytes, size_t length,
			  struct error **err)
{
	uint64_t raw[OBSERVER_HITS] = { 0 }, asked[OBSERVER_HITS] = { 0 };
	struct counts *counts = &observer->subjects[subject].counts[VIEW];
	cleanup_error struct error *problem = NULL;
	struct buf labels = BUF(LABELS_BYTES);
	bool marker = false;
	int r;

	observer_find(observer, bytes, length, raw);
	r = dns_labels(bytes, length, &labels, &problem);
	observer_find(observer, buf_string(&labels), labels.length, asked);
	buf_wipe(&labels);
	if (r < 0 && error_code(problem) != ERROR_INPUT) {
		/* What did not fit may have borne anything. */
		r = observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < observer->count; i++) {
		if (observer->subjects[i].marker)
			marker |= raw[i] > 0 || asked[i] > 0;
		else if (raw[i] > asked[i])
			asked[i] = raw[i];
	}
	if (!marker) {
		counts->connections++;
		counts->bytes += length;
	}
	return observer_count_hits(observer, VIEW, asked, NULL, err);
}

static int receive(struct observer *observer, size_t subject, struct error **err)
{
	struct udp *udp = observer->state;

	for (unsigned i = 0; i < DATAGRAMS_AT_ONCE; i++) {
		ssize_t got = recv(udp->sockets[subject], udp->datagram, sizeof(udp->datagram), 0);
		int r;

		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < 0 && errno != EINTR && errno != ECONNREFUSED)
			return error_errno(err, errno, "receiving datagrams");
		if (got < 0)
			continue;
		r = count_datagram(observer, subject, udp->datagram, (size_t)got, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Takes what is ready: how many sockets that were, or negative. */
static int take_ready(struct observer *observer, struct error **err)
{
	const struct udp *udp = observer->state;
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(udp->epoll, events, EVENTS_AT_ONCE, 0);

	if (count < 0)
		return errno == EINTR ? 0 : error_errno(err, errno, "epoll_wait");
	for (int i = 0; i < count; i++) {
		int r = receive(observer, events[i].data.u64, err);

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
	return r < 0 ? r : 0;
}

static int bind_for(struct observer *observer, size_t subject, struct error **err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = subject };
	struct udp *udp = observer->state;
	uint16_t port = 0;
	int r = address_bind(observer->kind->argument, SOCK_DGRAM, 0, &udp->sockets[subject], &port, err);

	if (r < 0)
		return r;
	if (epoll_ctl(udp->epoll, EPOLL_CTL_ADD, udp->sockets[subject], &event) < 0)
		return error_errno(err, errno, "epoll_ctl");
	return observer_bound(observer, subject, port, err);
}

static int udp_open(struct observer *observer, struct error **err)
{
	struct udp *udp = observer->state;
	int r;

	for (size_t i = 0; i < ARM_SUBJECTS_MAX; i++)
		udp->sockets[i] = -1;
	udp->opened = true;
	udp->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (udp->epoll < 0)
		return error_errno(err, errno, "epoll_create1");
	r = loop_fd(observer->loop, udp->epoll, POLLIN, on_ready, observer, err);
	for (size_t i = 0; r == 0 && i < observer->count; i++)
		if (!observer->subjects[i].marker)
			r = bind_for(observer, i, err);
	return r;
}

/* SO_MEMINFO and not SO_RXQ_OVFL: the latter tells of a loss only with the next datagram of the same socket. */
static int read_drops(struct observer *observer, struct error **err)
{
	const struct udp *udp = observer->state;
	int64_t dropped = 0;

	for (size_t i = 0; i < observer->count; i++) {
		uint32_t memory[SK_MEMINFO_VARS] = { 0 };
		socklen_t size = sizeof(memory);

		if (udp->sockets[i] < 0)
			continue;
		if (getsockopt(udp->sockets[i], SOL_SOCKET, SO_MEMINFO, memory, &size) < 0)
			return error_errno(err, errno, "SO_MEMINFO");
		dropped += memory[SK_MEMINFO_DROPS];
	}
	observer->views[VIEW].dropped = dropped;
	return 0;
}

/* Other sockets may hold what came before the marker. */
static int udp_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	int64_t deadline = clock_deadline(DRAIN_MS);
	int r;

	do {
		r = take_ready(observer, err);
		if (r > 0 && clock_now() >= deadline)
			r = observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err);
	} while (r > 0);
	if (r == 0)
		r = read_drops(observer, err);
	return r < 0 ? r : observer_report_counts(observer, VIEW, phase, err);
}

static void udp_close(struct observer *observer)
{
	struct udp *udp = observer->state;

	if (!udp->opened)
		return;
	for (size_t i = 0; i < ARM_SUBJECTS_MAX; i++)
		fd_close(&udp->sockets[i]);
	fd_close(&udp->epoll);
	explicit_bzero(udp->datagram, sizeof(udp->datagram));
}

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const struct sensor sensor = {
	.name = "observer-udp",
	.state_size = sizeof(struct udp),
	.open = udp_open,
	.report = udp_report,
	.close = udp_close,
};
