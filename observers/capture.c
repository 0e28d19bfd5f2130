/*
 * libexec/observer-capture: packets on every interface of its network namespace. On the host it counts the packets that
 * bear each canary. In the container's namespace the loopback is the agent's own: a packet there is an attempt, and one
 * on any other interface is a leak.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/capture_netns.h"
#include "observers/observer.h"
#include "observers/packet.h"

/* The rows of the kind "capture-netns", in its order. */
enum { VIEW_PACKETS, VIEW_ATTEMPTS };

/* Packets of one dispatch, so that the wire is served during a flood. */
#define DISPATCH_PACKETS 4096
/* A packet may wait in the ring for the read timeout, and for the timer's slack. */
#define DRAIN_MS (3 * CAPTURE_READ_MS)

struct capture {
	struct observer *observer;
	pcap_t *pcap;
	int packets; /* pcap's descriptor, not owned; -1 once it failed */
	int beacon; /* bound, so that a marker draws no ICMP error */
	uint16_t beacon_port;
	bool in_netns;
	struct capture_netns netns;
	uint64_t other; /* packets on other interfaces than the loopback */
	uint64_t attempts[ARM_SUBJECTS_MAX]; /* to each subject's port, on the loopback */
	uint64_t away[ARM_SUBJECTS_MAX]; /* to each subject's port, on another interface */
	struct error *error; /* of a packet's callback */
};

/* Probes of the host's address on the engine's bridge network. */
static bool is_nic(const struct observed *observed)
{
	static const char suffix[] = "-nic";
	size_t length = strlen(observed->subject);

	return !observed->marker && length >= sizeof(suffix) &&
	       strcmp(observed->subject + length - (sizeof(suffix) - 1), suffix) == 0;
}

static bool is_beacon(const struct capture *capture, const struct packet *packet)
{
	return packet->protocol == PACKET_UDP && packet->destination == capture->beacon_port;
}

/* ---- packets
 * --------------------------------------------------------------------------------------------------------- */

/* An ICMP error quotes the datagram that caused it: its canary is a hit, not one more packet. */
static int count_packet(struct capture *capture, const struct packet *packet, size_t index, uint64_t hits,
			uint32_t length, struct error **err)
{
	struct observed *observed = &capture->observer->subjects[index];

	if (observed->marker && !is_beacon(capture, packet))
		return 0;
	if (packet->icmp_error) {
		observed->counts[VIEW_PACKETS].hits += hits;
		return 0;
	}
	observed->counts[VIEW_PACKETS].bytes += length;
	return observer_count(capture->observer, VIEW_PACKETS, index, hits, err);
}

/* On the container's own loopback: markers prove both views, an agent's canary is a hit among its attempts. */
static int count_loopback(struct capture *capture, const struct packet *packet, size_t index, uint64_t hits,
			  struct error **err)
{
	struct observed *observed = &capture->observer->subjects[index];
	int status = 0;

	if (!observed->marker) {
		if (!packet->icmp_error)
			observed->counts[VIEW_ATTEMPTS].hits += hits;
		return 0;
	}
	if (is_beacon(capture, packet)) {
		status = observer_count(capture->observer, VIEW_PACKETS, index, hits, err);
		if (!status)
			status = observer_count(capture->observer, VIEW_ATTEMPTS, index, hits, err);
	}
	return status;
}

static void count_attempts(struct capture *capture, const struct packet *packet, bool loopback)
{
	if (!packet->syn && packet->protocol != PACKET_UDP)
		return;
	for (size_t i = 0; i < capture->observer->count; i++) {
		const struct observed *observed = &capture->observer->subjects[i];

		if (!observed->marker && observed->port && observed->port == packet->destination)
			(loopback ? capture->attempts : capture->away)[i]++;
	}
}

static int take_packet(struct capture *capture, const struct pcap_pkthdr *header, const uint8_t *bytes,
		       struct error **err)
{
	uint64_t hits[OBSERVER_HITS];
	struct packet packet;
	bool loopback;
	int status = 0;

	if (!packet_parse(bytes, header->caplen, &packet))
		return 0;
	loopback = capture->in_netns && packet.interface == capture->netns.loopback;
	if (capture->in_netns) {
		count_attempts(capture, &packet, loopback);
		capture_netns_met(&capture->netns, packet.interface);
		capture->other += !loopback;
	}
	memset(hits, 0, (capture->observer->count + 1) * sizeof(hits[0]));
	observer_find(capture->observer, bytes, header->caplen, hits);
	for (size_t i = 0; i < capture->observer->count && !status; i++) {
		if (!hits[i])
			continue;
		status = loopback ? count_loopback(capture, &packet, i, hits[i], err)
				  : count_packet(capture, &packet, i, hits[i], header->len, err);
	}
	return status;
}

static void on_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes)
{
	struct capture *capture = (struct capture *)(void *)user;

	if (!capture->error && take_packet(capture, header, bytes, &capture->error))
		pcap_breakloop(capture->pcap);
}

static int blind(struct capture *capture, enum wire_reason reason, struct error **err)
{
	int status = 0;

	for (size_t i = 0; i < capture->observer->views_count && !status; i++)
		status = observer_blind(capture->observer, i, reason, err);
	return status;
}

/* Takes what is in the ring; *got is how many packets. */
static int dispatch(struct capture *capture, int *got, struct error **err)
{
	*got = pcap_dispatch(capture->pcap, DISPATCH_PACKETS, on_packet, (u_char *)capture);
	if (capture->error) {
		error_keep_first(err, &capture->error);
		return error_wrap(err, "a packet");
	}
	if (*got >= 0)
		return 0;
	loop_remove(capture->observer->loop, capture->packets);
	capture->packets = -1;
	return blind(capture, WIRE_REASON_INPUT_INVALID, err);
}

/* ---- descriptors
 * ----------------------------------------------------------------------------------------------------- */

static int on_packets(void *context, int fd, short revents, struct error **err)
{
	int got;

	(void)fd;
	(void)revents;
	return dispatch(context, &got, err);
}

static int on_beacon(void *context, int fd, short revents, struct error **err)
{
	char datagram[CANARY_LENGTH];

	(void)context;
	(void)revents;
	(void)err;
	while (recv(fd, datagram, sizeof(datagram), MSG_DONTWAIT) >= 0)
		;
	explicit_bzero(datagram, sizeof(datagram));
	return 0;
}

static int on_link(void *context, int fd, short revents, struct error **err)
{
	struct capture *capture = context;

	(void)fd;
	(void)revents;
	return capture_netns_events(&capture->netns, err);
}

static int open_packets(struct capture *capture, struct error **err)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = pcap_create("any", text);

	if (!pcap)
		return error_set(err, ERROR_SYSTEM, "pcap_create failed");
	capture->pcap = pcap;
	/* Not in immediate mode: single packets would fill the ring's slots in a burst. */
	if (pcap_set_snaplen(pcap, CAPTURE_SNAPLEN) || pcap_set_timeout(pcap, CAPTURE_READ_MS) ||
	    pcap_set_buffer_size(pcap, capture->in_netns ? CAPTURE_NETNS_RING_BYTES : CAPTURE_HOST_RING_BYTES))
		return error_set(err, ERROR_INTERNAL, "pcap: an option was refused");
	if (pcap_activate(pcap) < 0)
		return error_set(err, ERROR_SYSTEM, "pcap_activate failed: a capture needs CAP_NET_RAW");
	if (pcap_set_datalink(pcap, DLT_LINUX_SLL2) < 0)
		return error_set(err, ERROR_SYSTEM, "libpcap has no LINUX_SLL2");
	if (pcap_setnonblock(pcap, 1, text) < 0)
		return error_set(err, ERROR_SYSTEM, "pcap_setnonblock failed");
	capture->packets = pcap_get_selectable_fd(pcap);
	if (capture->packets < 0)
		return error_set(err, ERROR_SYSTEM, "libpcap has no descriptor to poll");
	return loop_fd(capture->observer->loop, capture->packets, POLLIN, on_packets, capture, err);
}

/* A namespace that is being made may not have its loopback up yet, hence IP_FREEBIND. */
static int open_beacon(struct capture *capture, struct error **err)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	const int on = 1;

	capture->beacon = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (capture->beacon < 0 || setsockopt(capture->beacon, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) < 0 ||
	    bind(capture->beacon, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(capture->beacon, (struct sockaddr *)&address, &length) < 0)
		return error_errno(err, errno, "a socket for beacons");
	capture->beacon_port = ntohs(address.sin_port);
	return loop_fd(capture->observer->loop, capture->beacon, POLLIN, on_beacon, capture, err);
}

static int tell_beacon(struct capture *capture, struct error **err)
{
	for (size_t i = 0; i < capture->observer->count; i++) {
		int status;

		if (!capture->observer->subjects[i].marker)
			continue;
		status = observer_bound(capture->observer, i, capture->beacon_port, err);
		if (status)
			return status;
	}
	return 0;
}

static int open_netns(struct capture *capture, struct error **err)
{
	int status = capture_netns_open(&capture->netns, err);

	if (status)
		return status;
	return loop_fd(capture->observer->loop, capture->netns.events, POLLIN, on_link, capture, err);
}

static int capture_open(struct observer *observer, struct error **err)
{
	struct capture *capture = observer->state;
	int status;

	capture->observer = observer;
	capture->packets = -1;
	capture->beacon = -1;
	capture->netns.events = -1;
	capture->in_netns = observer->kind->argument && strcmp(observer->kind->argument, "netns") == 0;
	status = open_beacon(capture, err);
	if (!status)
		status = open_packets(capture, err);
	if (!status && capture->in_netns)
		status = open_netns(capture, err);
	return status ? status : tell_beacon(capture, err);
}

/* ---- report
 * ---------------------------------------------------------------------------------------------------------- */

/* What was sent before now is in the ring within DRAIN_MS; a flood does not make it longer. */
static int drain(struct capture *capture, struct error **err)
{
	int64_t deadline = clock_deadline(DRAIN_MS);
	int ready = 1, got, status;

	while (capture->packets >= 0 && ready > 0 && clock_now() < deadline) {
		status = dispatch(capture, &got, err);
		if (status)
			return status;
		ready = capture->packets >= 0 ? fd_wait(capture->packets, POLLIN, deadline, err) : 0;
	}
	if (ready < 0)
		return ready;
	return capture->packets >= 0 ? dispatch(capture, &got, err) : 0;
}

static int read_drops(struct capture *capture, struct error **err)
{
	struct pcap_stat counts = { 0 };

	if (pcap_stats(capture->pcap, &counts) < 0)
		return blind(capture, WIRE_REASON_INPUT_INVALID, err);
	for (size_t i = 0; i < capture->observer->views_count; i++)
		capture->observer->views[i].dropped = (int64_t)counts.ps_drop + counts.ps_ifdrop;
	return 0;
}

static int report_attempts(struct capture *capture, enum wire_phase phase, struct error **err)
{
	const struct observer *observer = capture->observer;
	int64_t no_routes = 0;
	size_t nics = 0;
	int status = capture_netns_no_routes(&capture->netns, &no_routes, err);

	for (size_t i = 0; i < observer->count; i++)
		nics += is_nic(&observer->subjects[i]);
	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.value = (int64_t)capture->attempts[i],
			.hits = (int64_t)observed->counts[VIEW_ATTEMPTS].hits,
		};

		if (observed->marker || !observed->port)
			continue;
		if (is_nic(observed)) {
			record.value += (int64_t)capture->away[i];
			/* The kernel's counter knows no port: with several such probes it belongs to none. */
			if (nics == 1)
				record.value += no_routes;
			else if (no_routes)
				record.reason = WIRE_REASON_CENSORED;
		}
		record.attempts = record.value;
		status = observer_record(capture->observer, VIEW_ATTEMPTS, observed->subject, phase, &record, err);
	}
	return status;
}

static int report_measures(struct capture *capture, enum wire_phase phase, struct error **err)
{
	struct wire_record interfaces = { .kind = WIRE_COUNT };
	struct wire_record packets = { .kind = WIRE_COUNT, .value = (int64_t)capture->other };
	int status = capture_netns_events(&capture->netns, err);

	if (!status)
		status = capture_netns_list(&capture->netns, err);
	if (status)
		return status;
	interfaces.value = (int64_t)capture->netns.count;
	if (capture->netns.full)
		interfaces.reason = WIRE_REASON_LIMIT;
	else if (capture->netns.lost)
		interfaces.reason = WIRE_REASON_DROPPED;
	status = observer_record(capture->observer, VIEW_PACKETS, "interfaces", phase, &interfaces, err);
	if (status)
		return status;
	return observer_record(capture->observer, VIEW_PACKETS, "packets-other", phase, &packets, err);
}

static int capture_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct capture *capture = observer->state;
	int status = drain(capture, err);

	if (!status)
		status = read_drops(capture, err);
	if (!status)
		status = observer_report_counts(observer, VIEW_PACKETS, phase, err);
	if (!status && capture->in_netns)
		status = report_attempts(capture, phase, err);
	if (!status && capture->in_netns)
		status = report_measures(capture, phase, err);
	return status;
}

static void capture_close(struct observer *observer)
{
	struct capture *capture = observer->state;

	/* Without an observer it was never opened, and the descriptors of zero are not its own. */
	if (!capture->observer)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
	fd_close(&capture->beacon);
	capture_netns_close(&capture->netns);
	error_free(capture->error);
}

static const struct sensor sensor = {
	.name = "observer-capture",
	.state_size = sizeof(struct capture),
	.open = capture_open,
	.report = capture_report,
	.close = capture_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
