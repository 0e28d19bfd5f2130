/* The capture observer as a process, on the host's loopback and in a network namespace of its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/spawn.h"
#include "observers/beacon.h"
#include "tests/unit/netns_world.h"

#define PORT_TCP 41001
#define PORT_DNS 41002
#define PORT_NIC 41003

enum { TCP, DNS, NIC, BEFORE, AFTER, SUBJECTS };

/* Subjects with their canaries, and a namespace that the test may enter. */
struct world {
	struct canary canaries[SUBJECTS];
	struct observer_subject subjects[SUBJECTS];
	int host, inner;
};

static void world_close(struct world *world)
{
	fd_close(&world->host);
	fd_close(&world->inner);
}
#define WORLD(name) __attribute__((cleanup(world_close))) struct world name = { .host = -1, .inner = -1 }

static void world_open(struct world *world)
{
	static const struct {
		const char *name;
		uint16_t port;
		bool marker;
		enum wire_phase phase;
	} rows[SUBJECTS] = {
		[TCP] = { .name = "tcp4", .port = PORT_TCP },
		[DNS] = { .name = "dns", .port = PORT_DNS },
		[NIC] = { .name = "tcp4-nic", .port = PORT_NIC },
		[BEFORE] = { .name = "beacon", .marker = true, .phase = WIRE_BEFORE },
		[AFTER] = { .name = "beacon", .marker = true, .phase = WIRE_AFTER },
	};

	for (size_t i = 0; i < SUBJECTS; i++) {
		watching_canary(&world->canaries[i]);
		world->subjects[i] = (struct observer_subject){ .subject = rows[i].name,
								.canary = &world->canaries[i],
								.marker = rows[i].marker,
								.phase = rows[i].phase,
								.port = rows[i].port };
	}
}

/* Sends `length` bytes by UDP from a socket of its own. Returns what sendto() left in errno, or 0. */
static int datagram(const char *address, uint16_t port, const void *bytes, size_t length)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	CU_ASSERT_EQUAL(inet_pton(AF_INET, address, &to.sin_addr), 1);
	CU_ASSERT_EQUAL(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)), 0);
	return sendto(fd, bytes, length, 0, (const struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}

static int connect_to(const char *address, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL(inet_pton(AF_INET, address, &to.sin_addr), 1);
	return connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}

static void wait_seen(struct observing *observing, const char *observer, enum wire_phase phase)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(observer_wait_seen(observing->process, observer, phase, watching_deadline(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void host_beacon(struct observing *observing, const struct world *world, enum wire_phase phase)
{
	const struct canary *marker = &world->canaries[phase == WIRE_BEFORE ? BEFORE : AFTER];
	uint16_t port = observer_port(observing->process, "beacon");
	struct error *err = NULL;

	CU_ASSERT_NOT_EQUAL(port, 0);
	CU_ASSERT_EQUAL(beacon_udp("127.0.0.1", port, marker, &err), 0);
	CU_ASSERT(test_no_error(&err));
	wait_seen(observing, "capture-host", phase);
}

static void test_host(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	const struct canary *dns = &world.canaries[DNS];
	struct wire_record record;
	char question[64];

	world_open(&world);
	if (!watching_start(&observing, "capture-host", -1, world.subjects, SUBJECTS))
		return;
	host_beacon(&observing, &world, WIRE_BEFORE);
	watching_report(&observing, WIRE_BEFORE);
	record = *observing_record(&observing, "capture-host", "dns");
	CU_ASSERT_EQUAL(record.value, 0);
	CU_ASSERT_EQUAL(record.beacon_before, 1);
	CU_ASSERT_EQUAL(record.beacon_after, 0);
	/* To a port without a socket: the ICMP error quotes the canary, which is a hit and no packet. */
	CU_ASSERT_EQUAL(datagram("127.0.0.1", PORT_DNS, dns->text, CANARY_LENGTH), 0);
	snprintf(question, sizeof(question), "%c%s%c", CANARY_LENGTH, world.canaries[TCP].text, 0);
	CU_ASSERT_EQUAL(datagram("127.0.0.1", PORT_DNS, question, CANARY_LENGTH + 2), 0);
	CU_ASSERT_EQUAL(datagram("127.0.0.1", PORT_DNS, question, CANARY_LENGTH + 2), 0);
	host_beacon(&observing, &world, WIRE_AFTER);
	watching_report(&observing, WIRE_AFTER);
	record = *observing_record(&observing, "capture-host", "dns");
	CU_ASSERT_EQUAL(record.value, 1);
	CU_ASSERT_EQUAL(record.hits, 2);
	CU_ASSERT_EQUAL(record.status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record.dropped, 0);
	CU_ASSERT_EQUAL(record.beacon_before, 1);
	CU_ASSERT_EQUAL(record.beacon_after, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "capture-host", "tcp4")->value, 2);
	CU_ASSERT_EQUAL(observing_record(&observing, "capture-host", "tcp4-nic")->value, 0);
}

/* A marker that comes anywhere but to the beacon's socket proves nothing. */
static void test_marker_elsewhere(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	struct wire_record record;

	world_open(&world);
	if (!watching_start(&observing, "capture-host", -1, world.subjects, SUBJECTS))
		return;
	CU_ASSERT_EQUAL(datagram("127.0.0.1", PORT_DNS, world.canaries[BEFORE].text, CANARY_LENGTH), 0);
	host_beacon(&observing, &world, WIRE_AFTER);
	watching_report(&observing, WIRE_AFTER);
	record = *observing_record(&observing, "capture-host", "dns");
	CU_ASSERT_EQUAL(record.beacon_before, 0);
	CU_ASSERT_EQUAL(record.beacon_after, 1);
}

/* 2,000 packets at once fit the ring: the defaults of libpcap would lose most of them. */
static void test_burst(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct wire_record record;

	world_open(&world);
	if (!watching_start(&observing, "capture-host", -1, world.subjects, SUBJECTS))
		return;
	to.sin_port = htons(observer_port(observing.process, "beacon"));
	for (int i = 0; i < 2000; i++)
		CU_ASSERT_EQUAL(
			sendto(fd, world.canaries[DNS].text, CANARY_LENGTH, 0, (struct sockaddr *)&to, sizeof(to)),
			CANARY_LENGTH);
	host_beacon(&observing, &world, WIRE_AFTER);
	watching_report(&observing, WIRE_AFTER);
	record = *observing_record(&observing, "capture-host", "dns");
	CU_ASSERT_EQUAL(record.value, 2000);
	CU_ASSERT_EQUAL(record.dropped, 0);
}

/* A stopped observer overruns the ring; what it counted then is not observable. */
static void test_dropped(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct wire_record record;

	world_open(&world);
	if (!watching_start(&observing, "capture-host", -1, world.subjects, SUBJECTS))
		return;
	to.sin_port = htons(observer_port(observing.process, "beacon"));
	CU_ASSERT_EQUAL(child_signal(observer_child(observing.process), SIGSTOP), 0);
	for (int i = 0; i < 30000; i++)
		CU_ASSERT(sendto(fd, world.canaries[DNS].text, CANARY_LENGTH, 0, (struct sockaddr *)&to, sizeof(to)) >
			  0);
	CU_ASSERT_EQUAL(child_signal(observer_child(observing.process), SIGCONT), 0);
	watching_report(&observing, WIRE_AFTER);
	record = *observing_record(&observing, "capture-host", "dns");
	CU_ASSERT(record.value > 0 && record.value < 30000);
	CU_ASSERT(record.dropped > 0);
	CU_ASSERT_EQUAL(record.reason, WIRE_REASON_DROPPED);
	CU_ASSERT_EQUAL(record.status, WIRE_NOT_OBSERVABLE);
}

static void netns_beacon(struct observing *observing, const struct world *world, enum wire_phase phase)
{
	const struct canary *marker = &world->canaries[phase == WIRE_BEFORE ? BEFORE : AFTER];
	char path[4096], port[8];
	char *argv[] = { (char[]){ "netns-beacon" }, port, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int reader = -1;
	cleanup_fd int writer = -1;
	struct error *err = NULL;
	int status = -1;

	snprintf(port, sizeof(port), "%u", observer_port(observing->process, "beacon"));
	CU_ASSERT_EQUAL(spawn_helper_path("netns-beacon", path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&reader, &writer, &err), 0);
	options.netns = world->inner;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = reader, .to = 0 };
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	CU_ASSERT_EQUAL(fd_write_all(writer, marker->text, CANARY_LENGTH, watching_deadline(), &err), 0);
	CU_ASSERT_EQUAL(child_wait(&child, watching_deadline(), &status, &err), 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(test_no_error(&err));
	wait_seen(observing, "capture-netns", phase);
	wait_seen(observing, "attempts", phase);
}

static void check_live(struct wire_record record, int64_t value)
{
	if (record.value != value)
		fprintf(stderr, "%s at %s: %lld\n", record.subject, record.observer, (long long)record.value);
	CU_ASSERT_EQUAL(record.value, value);
	CU_ASSERT_EQUAL(record.status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record.dropped, 0);
	CU_ASSERT_EQUAL(record.beacon_before, 1);
	CU_ASSERT_EQUAL(record.beacon_after, 1);
}

/* As in a container without a network: what the agent sends stays on its loopback, or finds no route. */
static void test_netns_confined(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	make_namespace(&world.host, &world.inner);
	if (!watching_start(&observing, "capture-netns", world.inner, world.subjects, SUBJECTS))
		return;
	netns_beacon(&observing, &world, WIRE_BEFORE);
	watching_report(&observing, WIRE_BEFORE);
	enter(world.inner);
	CU_ASSERT_EQUAL(connect_to("127.0.0.1", PORT_TCP), ECONNREFUSED);
	CU_ASSERT_EQUAL(connect_to("127.0.0.1", PORT_TCP), ECONNREFUSED);
	CU_ASSERT_EQUAL(datagram("127.0.0.1", PORT_DNS, world.canaries[DNS].text, CANARY_LENGTH), 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(connect_to("172.17.0.1", PORT_NIC), ENETUNREACH);
	enter(world.host);
	netns_beacon(&observing, &world, WIRE_AFTER);
	watching_report(&observing, WIRE_AFTER);
	check_live(*observing_record(&observing, "attempts", "tcp4"), 2);
	check_live(*observing_record(&observing, "attempts", "dns"), 1);
	check_live(*observing_record(&observing, "attempts", "tcp4-nic"), 3);
	CU_ASSERT_EQUAL(observing_record(&observing, "attempts", "dns")->hits, 1);
	check_live(*observing_record(&observing, "capture-netns", "tcp4"), 0);
	check_live(*observing_record(&observing, "capture-netns", "dns"), 0);
	check_live(*observing_record(&observing, "capture-netns", "tcp4-nic"), 0);
	check_live(*observing_record(&observing, "capture-netns", "interfaces"), 0);
	check_live(*observing_record(&observing, "capture-netns", "packets-other"), 0);
}

/* An interface that appears is seen, and so is what leaves by it: once for each interface that the packet passes. */
static void test_netns_leak(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	make_namespace(&world.host, &world.inner);
	if (!watching_start(&observing, "capture-netns", world.inner, world.subjects, SUBJECTS))
		return;
	netns_beacon(&observing, &world, WIRE_BEFORE);
	watching_report(&observing, WIRE_BEFORE);

	CU_ASSERT_EQUAL(observing_record(&observing, "capture-netns", "interfaces")->value, 0);
	enter(world.inner);
	add_interfaces();
	CU_ASSERT_EQUAL(datagram("10.255.255.255", PORT_DNS, world.canaries[DNS].text, CANARY_LENGTH), 0);
	enter(world.host);
	netns_beacon(&observing, &world, WIRE_AFTER);
	watching_report(&observing, WIRE_AFTER);
	check_live(*observing_record(&observing, "capture-netns", "dns"), 2);
	check_live(*observing_record(&observing, "attempts", "dns"), 0);
	check_live(*observing_record(&observing, "capture-netns", "interfaces"), 2);
	CU_ASSERT(observing_record(&observing, "capture-netns", "packets-other")->value >= 2);
	CU_ASSERT(observer_hit(observing.process, "dns"));
}

/* Where several probes share the kernel's count of missing routes, the value of each is a lower bound. */
static void test_netns_two_nics(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	struct wire_record record;

	world_open(&world);
	make_namespace(&world.host, &world.inner);
	world.subjects[DNS].subject = "dns-nic";
	if (!watching_start(&observing, "capture-netns", world.inner, world.subjects, SUBJECTS))
		return;
	enter(world.inner);
	CU_ASSERT_EQUAL(connect_to("172.17.0.1", PORT_NIC), ENETUNREACH);
	enter(world.host);
	watching_report(&observing, WIRE_AFTER);
	record = *observing_record(&observing, "attempts", "tcp4-nic");
	CU_ASSERT_EQUAL(record.value, 0);
	CU_ASSERT_EQUAL(record.reason, WIRE_REASON_CENSORED);
	CU_ASSERT_EQUAL(observing_record(&observing, "attempts", "tcp4")->reason, WIRE_REASON_NONE);
}

/* The helper in the namespace takes a port and a marker, and nothing else. */
static void test_beacon_usage(void)
{
	static const struct {
		const char *port, *bytes;
	} rows[] = {
		{ "0", "" },  { "65536", "" }, { "1x", "" },     { "-1", "" },
		{ " 1", "" }, { "", "" },      { "9", "short" }, { "9", "canary-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaZ" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char path[4096], port[8];
		char *argv[] = { (char[]){ "netns-beacon" }, port, NULL };
		struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_child struct child child = CHILD_NONE;
		cleanup_fd int reader = -1;
		cleanup_fd int writer = -1;
		struct error *err = NULL;
		int status = -1;

		snprintf(port, sizeof(port), "%s", rows[i].port);
		CU_ASSERT_EQUAL(spawn_helper_path("netns-beacon", path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(fd_pipe(&reader, &writer, &err), 0);
		CU_ASSERT_EQUAL(write(writer, rows[i].bytes, strlen(rows[i].bytes)), (ssize_t)strlen(rows[i].bytes));
		fd_close(&writer);
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = reader, .to = 0 };
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		CU_ASSERT_EQUAL(child_wait(&child, watching_deadline(), &status, &err), 0);
		CU_ASSERT_EQUAL(status, 3);
		CU_ASSERT(test_no_error(&err));
	}
}

static CU_TestInfo host_tests[] = {
	{ "a datagram over the loopback counts once", test_host },
	{ "a marker elsewhere", test_marker_elsewhere },
	{ "a burst", test_burst },
	{ "dropped packets", test_dropped },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo netns_tests[] = {
	{ "confined", test_netns_confined },
	{ "a leak", test_netns_leak },
	{ "two probes without a route", test_netns_two_nics },
	{ "the beacon's usage", test_beacon_usage },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "host", NULL, NULL, NULL, NULL, host_tests },
	{ "netns", NULL, NULL, NULL, NULL, netns_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	if (geteuid() == 0)
		return test_main("observer_capture", suites);
	puts("observer_capture: skipped, a capture needs root");
	puts("observer_capture: 0 passed, 0 failed, 8 skipped");
	return 0;
}
