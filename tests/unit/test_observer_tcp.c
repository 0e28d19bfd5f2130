/* observer-tcp, the real program, with real connections. */
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "observers/address.h"
#include "observers/beacon.h"
#include "tests/unit/observing.h"

#define LOOPBACK "127.0.0.1"

static int open_connection(const char *address, uint16_t port)
{
	struct error *err = NULL;
	union address to;
	socklen_t length = 0;
	int fd = -1;

	if (address_parse(address, port, &to, &length, &err) == 0)
		fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, &to.any, length) < 0)
		fd_close(&fd);
	error_free(err);
	return fd;
}

/* A connection that bears `one` and `two` (or NULL), closed at once. */
static bool connect_with(uint16_t port, const char *one, const char *two)
{
	cleanup_fd int fd = open_connection(LOOPBACK, port);
	bool sent = fd >= 0;

	if (one)
		sent = sent && send(fd, one, strlen(one), MSG_NOSIGNAL) == (ssize_t)strlen(one);
	if (two)
		sent = sent && send(fd, two, strlen(two), MSG_NOSIGNAL) == (ssize_t)strlen(two);
	return sent;
}

static bool mark(struct observing *observing, uint16_t port, enum wire_phase phase)
{
	struct error *err = NULL;
	int r = beacon_tcp(LOOPBACK, port, phase == WIRE_AFTER ? &observing->after : &observing->before,
			   clock_deadline(1000), &err);

	return test_no_error(&err) && r == 0 && observing_seen(observing, NULL, phase);
}

static void counts_what_bears_a_canary(void)
{
	cleanup_observing struct observing observing = { 0 };
	const struct wire_record *record;
	struct canary one, two;
	char part[8] = { 0 };
	uint16_t port;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4-child", NULL, &two));
	CU_ASSERT_TRUE(observing_ready(&observing));
	port = observer_port(observing.process, "tcp4");
	CU_ASSERT_TRUE(port != 0 && observer_port(observing.process, "tcp4-child") != 0);
	CU_ASSERT_TRUE(port != observer_port(observing.process, "tcp4-child"));
	CU_ASSERT_EQUAL(observer_port(observing.process, "marker-before"), 0);
	CU_ASSERT_TRUE(mark(&observing, port, WIRE_BEFORE));
	CU_ASSERT_FALSE(observer_seen(observing.process, "tcp4", WIRE_AFTER));
	memcpy(part, one.text, sizeof(part) - 1);
	CU_ASSERT_TRUE(connect_with(port, one.text, NULL));
	CU_ASSERT_TRUE(connect_with(port, part, one.text + sizeof(part) - 1));
	CU_ASSERT_TRUE(connect_with(port, one.text, one.text));
	CU_ASSERT_TRUE(connect_with(port, two.text, NULL));
	CU_ASSERT_TRUE(connect_with(port, part, NULL));
	CU_ASSERT_TRUE(connect_with(port, NULL, NULL));
	CU_ASSERT_TRUE(observing_hit(&observing, "tcp4"));
	CU_ASSERT_TRUE(mark(&observing, observer_port(observing.process, "tcp4-child"), WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing.count, 2);
	record = observing_record(&observing, "tcp4", "tcp4");
	CU_ASSERT_EQUAL(record->value, 3);
	CU_ASSERT_EQUAL(record->hits, 4);
	CU_ASSERT_EQUAL(record->connections, 6);
	CU_ASSERT_EQUAL(record->bytes, 5 * CANARY_LENGTH + 7);
	CU_ASSERT_EQUAL(record->beacon_before, 1);
	CU_ASSERT_EQUAL(record->beacon_after, 1);
	CU_ASSERT_EQUAL(record->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record->reason, WIRE_REASON_NONE);
	CU_ASSERT_EQUAL(record->kind, WIRE_COUNT);
	CU_ASSERT_STRING_EQUAL(record->unit, "records");
	CU_ASSERT_TRUE(record->start > 0 && record->duration > 0);
	record = observing_record(&observing, "tcp4", "tcp4-child");
	CU_ASSERT_EQUAL(record->value, 1);
	CU_ASSERT_EQUAL(record->connections, 0);
	CU_ASSERT_EQUAL(record->bytes, 0);
}

static void silence_is_zero_with_beacons(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary one;
	uint16_t port;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
	CU_ASSERT_TRUE(observing_ready(&observing));
	port = observer_port(observing.process, "tcp4");
	CU_ASSERT_TRUE(mark(&observing, port, WIRE_BEFORE));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->beacon_before, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->beacon_after, 0);
	CU_ASSERT_TRUE(mark(&observing, port, WIRE_AFTER));
	CU_ASSERT_TRUE(mark(&observing, port, WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->value, 0);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->connections, 0);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->beacon_after, 2);
	CU_ASSERT_FALSE(observer_hit(observing.process, "tcp4"));
}

/* All open at once, all borne; then one above the maximum. */
static void many_at_once(void)
{
	cleanup_observing struct observing observing = { 0 };
	enum wire_reason reason = WIRE_REASON_NONE;
	struct canary one;
	int fds[300];
	size_t open = 0;
	uint16_t port;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
	CU_ASSERT_TRUE(observing_ready(&observing));
	port = observer_port(observing.process, "tcp4");
	for (; open < 200; open++) {
		fds[open] = open_connection(LOOPBACK, port);
		CU_ASSERT_EQUAL(send(fds[open], one.text, CANARY_LENGTH, MSG_NOSIGNAL), CANARY_LENGTH);
	}
	CU_ASSERT_TRUE(mark(&observing, port, WIRE_BEFORE));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->connections, 0);
	for (; open < 300; open++)
		fds[open] = open_connection(LOOPBACK, port);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->value, 200);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->connections, 300);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->reason, WIRE_REASON_LIMIT);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_TRUE(observer_blinded(observing.process, "tcp4", &reason));
	CU_ASSERT_EQUAL(reason, WIRE_REASON_LIMIT);
	for (size_t i = 0; i < open; i++)
		fd_close(&fds[i]);
}

/* What is cut with a canary in it counts; what is cut without one makes the observer blind. */
static void cut_connections(void)
{
	static const struct {
		bool canary;
		size_t filler;
		enum wire_reason reason;
		int64_t value;
	} cases[] = {
		{ true, 0, WIRE_REASON_NONE, 1 },
		{ true, 128 * KIB, WIRE_REASON_NONE, 1 },
		{ false, 0, WIRE_REASON_TIMEOUT, 0 },
		{ false, 128 * KIB, WIRE_REASON_LIMIT, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error *err = NULL;
		cleanup_observing struct observing observing = { 0 };
		cleanup_free char *filler = calloc(1, cases[i].filler + 1);
		cleanup_fd int fd = -1;
		struct canary one;
		uint16_t port;

		CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
		CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
		CU_ASSERT_TRUE(observing_ready(&observing));
		port = observer_port(observing.process, "tcp4");
		fd = open_connection(LOOPBACK, port);
		if (cases[i].canary)
			CU_ASSERT_EQUAL(send(fd, one.text, CANARY_LENGTH, MSG_NOSIGNAL), CANARY_LENGTH);
		/* The observer closes when it has enough: an error here is fine. */
		(void)!fd_write_all(fd, filler, cases[i].filler, clock_deadline(500), &err);
		error_free(err);
		CU_ASSERT_TRUE(mark(&observing, port, WIRE_AFTER));
		CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->value, cases[i].value);
		CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->reason, cases[i].reason);
		CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->connections, 1);
	}
}

/* A connection that says nothing is given up after its deadline, without any question. */
static void silent_connection_expires(void)
{
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };
	enum wire_reason reason = WIRE_REASON_NONE;
	struct canary one;
	cleanup_fd int fd = -1;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
	CU_ASSERT_TRUE(observing_ready(&observing));
	fd = open_connection(LOOPBACK, observer_port(observing.process, "tcp4"));
	CU_ASSERT_TRUE(fd >= 0);
	CU_ASSERT_EQUAL(fd_wait(observer_fd(observing.process), POLLIN, clock_deadline(OBSERVING_MS), &err), 1);
	CU_ASSERT_EQUAL(observer_dispatch(observing.process, &err), 0);
	CU_ASSERT_TRUE(observer_blinded(observing.process, "tcp4", &reason));
	CU_ASSERT_EQUAL(reason, WIRE_REASON_TIMEOUT);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* What came while it stood still is counted when it goes on: other sockets are drained before a report. */
static void drains_before_the_report(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary one, two;
	struct error *err = NULL;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4", NULL, &one));
	CU_ASSERT_TRUE(observing_expect(&observing, "tcp4-child", NULL, &two));
	CU_ASSERT_TRUE(observing_ready(&observing));
	child_signal(observer_child(observing.process), SIGSTOP);
	for (int i = 0; i < 100; i++)
		CU_ASSERT_TRUE(connect_with(observer_port(observing.process, "tcp4"), one.text, NULL));
	CU_ASSERT_EQUAL(observer_ask(observing.process, WIRE_AFTER, &err), 0);
	child_signal(observer_child(observing.process), SIGCONT);
	CU_ASSERT_EQUAL(observer_collect(observing.process, WIRE_AFTER, observing_take, &observing,
					 clock_deadline(OBSERVING_MS), &err),
			0);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->value, 100);
	CU_ASSERT_EQUAL(observing_record(&observing, "tcp4", "tcp4")->beacon_after, 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static void other_addresses(void)
{
	cleanup_fd int probe = -1;
	uint16_t unused = 0;
	const struct {
		const char *kind, *extra, *address;
	} cases[] = { { "tcp4-nic", "127.0.0.2", "127.0.0.2" }, { "tcp6", NULL, "::1" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error *err = NULL;
		cleanup_error struct error *absent = NULL;
		cleanup_observing struct observing observing = { 0 };
		cleanup_fd int fd = -1;
		struct canary one;
		uint16_t port;

		if (address_bind(cases[i].address, SOCK_STREAM, 1, &probe, &unused, &absent) < 0) {
			printf("no %s here: left out\n", cases[i].address);
			continue;
		}
		fd_close(&probe);
		CU_ASSERT_TRUE(observing_start(&observing, cases[i].kind, cases[i].extra));
		CU_ASSERT_TRUE(observing_expect(&observing, "probe", NULL, &one));
		CU_ASSERT_TRUE(observing_ready(&observing));
		port = observer_port(observing.process, "probe");
		fd = open_connection(cases[i].address, port);
		CU_ASSERT_EQUAL(send(fd, one.text, CANARY_LENGTH, MSG_NOSIGNAL), CANARY_LENGTH);
		fd_close(&fd);
		CU_ASSERT_EQUAL(beacon_tcp(cases[i].address, port, &observing.after, clock_deadline(1000), &err), 0);
		CU_ASSERT_TRUE(observing_seen(&observing, cases[i].kind, WIRE_AFTER));
		CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(observing_record(&observing, cases[i].kind, "probe")->value, 1);
		CU_ASSERT_EQUAL(observing_record(&observing, cases[i].kind, "probe")->beacon_after, 1);
		CU_ASSERT_TRUE(test_no_error(&err));
	}
}

static void address_that_is_not_ours(void)
{
	static const char *const extras[] = { NULL, "localhost", "192.0.2.1" };

	for (size_t i = 0; i < ARRAY_SIZE(extras); i++) {
		struct error *err = NULL;
		cleanup_observing struct observing observing = { 0 };
		struct canary one;

		CU_ASSERT_TRUE(observing_start(&observing, "tcp4-nic", extras[i]));
		CU_ASSERT_TRUE(observing_expect(&observing, "probe", NULL, &one));
		CU_ASSERT_EQUAL(observer_begin(observing.process, &err), 0);
		CU_ASSERT_TRUE(observer_wait_ready(observing.process, clock_deadline(OBSERVING_MS), &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer tcp4-nic"));
	}
}

static CU_TestInfo tests[] = {
	{ "what bears a canary is counted", counts_what_bears_a_canary },
	{ "silence is zero, with beacons", silence_is_zero_with_beacons },
	{ "many at once, and too many", many_at_once },
	{ "connections that are cut", cut_connections },
	{ "a silent connection expires", silent_connection_expires },
	{ "sockets are drained before the report", drains_before_the_report },
	{ "other addresses", other_addresses },
	{ "an address that is not ours", address_that_is_not_ours },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "observer-tcp", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_tcp", suites);
}
