/* Beacons, received by sockets of this test. */
#include "observers/beacon.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"
#include "observers/dns.h"
#include "tests/unit/test.h"

static void tcp_bears_the_marker(void)
{
	struct error *err = NULL;
	cleanup_fd int listener = -1, connection = -1;
	cleanup_buf struct buf got = BUF(256);
	struct canary marker;
	uint16_t port = 0;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_EQUAL(address_bind("127.0.0.1", SOCK_STREAM, 4, &listener, &port, &err), 0);
	CU_ASSERT_EQUAL(beacon_tcp("127.0.0.1", port, &marker, clock_deadline(1000), &err), 0);
	connection = accept(listener, NULL, NULL);
	CU_ASSERT_EQUAL(fd_read_all(connection, &got, clock_deadline(1000), &err), 0);
	CU_ASSERT_EQUAL(got.length, CANARY_LENGTH + 1);
	CU_ASSERT_EQUAL(memcmp(buf_string(&got), marker.text, CANARY_LENGTH), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static void datagrams_bear_the_marker(void)
{
	struct error *err = NULL;
	cleanup_fd int fd = -1;
	cleanup_buf struct buf labels = BUF(1024);
	char got[512], expected[128];
	struct canary marker;
	uint16_t port = 0;
	ssize_t length;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_EQUAL(address_bind("127.0.0.1", SOCK_DGRAM, 0, &fd, &port, &err), 0);
	CU_ASSERT_EQUAL(beacon_udp("127.0.0.1", port, &marker, &err), 0);
	CU_ASSERT_EQUAL(beacon_dns("127.0.0.1", port, &marker, &err), 0);
	CU_ASSERT_EQUAL(fd_wait(fd, POLLIN, clock_deadline(1000), &err), 1);
	CU_ASSERT_EQUAL(recv(fd, got, sizeof(got), 0), CANARY_LENGTH);
	CU_ASSERT_EQUAL(memcmp(got, marker.text, CANARY_LENGTH), 0);
	CU_ASSERT_EQUAL(fd_wait(fd, POLLIN, clock_deadline(1000), &err), 1);
	length = recv(fd, got, sizeof(got), 0);
	CU_ASSERT_TRUE(length > CANARY_LENGTH);
	CU_ASSERT_EQUAL(dns_labels(got, length > 0 ? (size_t)length : 0, &labels, &err), 0);
	snprintf(expected, sizeof(expected), "%sbeaconinvalid\n", marker.text);
	CU_ASSERT_STRING_EQUAL(buf_string(&labels), expected);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static void nobody_listens(void)
{
	struct error *err = NULL;
	cleanup_fd int fd = -1;
	struct canary marker;
	uint16_t port = 0;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_EQUAL(address_bind("127.0.0.1", SOCK_STREAM, 4, &fd, &port, &err), 0);
	fd_close(&fd);
	CU_ASSERT_TRUE(beacon_tcp("127.0.0.1", port, &marker, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_SYSTEM, "a beacon to port"));
	CU_ASSERT_TRUE(beacon_spans("127.0.0.1", port, &marker, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_SYSTEM, "a beacon to port"));
}

/* A listener whose backlog is full never answers. */
static void deadline_passes(void)
{
	struct error *err = NULL;
	cleanup_fd int fd = -1;
	struct canary marker;
	uint16_t port = 0;
	int64_t start;
	int r = 0;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_EQUAL(address_bind("127.0.0.1", SOCK_STREAM, 0, &fd, &port, &err), 0);
	start = clock_now();
	for (int i = 0; i < 8 && r == 0; i++)
		r = beacon_tcp("127.0.0.1", port, &marker, clock_deadline(50), &err);
	CU_ASSERT_TRUE(test_error(&err, ERROR_TIMEOUT, "deadline"));
	CU_ASSERT_TRUE(clock_now() - start < NS_PER_S);
}

/* A collector that takes the connection and does not say that it took the span. */
static void span_is_answered(void)
{
	struct error *err = NULL;
	cleanup_fd int fd = -1;
	struct canary marker;
	uint16_t port = 0;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_EQUAL(address_bind("127.0.0.1", SOCK_STREAM, 4, &fd, &port, &err), 0);
	CU_ASSERT_TRUE(beacon_spans("127.0.0.1", port, &marker, clock_deadline(50), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_TIMEOUT, ""));
}

static void names_are_refused(void)
{
	struct error *err = NULL;
	struct canary marker;

	CU_ASSERT_EQUAL(canary_new(&marker, &err), 0);
	CU_ASSERT_TRUE(beacon_tcp("localhost", 80, &marker, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_USAGE, "numeric"));
	CU_ASSERT_TRUE(beacon_udp("localhost", 80, &marker, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_USAGE, "numeric"));
	CU_ASSERT_TRUE(beacon_dns("localhost", 53, &marker, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_USAGE, "numeric"));
	CU_ASSERT_TRUE(beacon_spans("localhost", 80, &marker, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_USAGE, "numeric"));
}

static CU_TestInfo tests[] = {
	{ "a connection bears the marker", tcp_bears_the_marker },
	{ "datagrams bear the marker", datagrams_bear_the_marker },
	{ "nobody listens", nobody_listens },
	{ "the deadline passes", deadline_passes },
	{ "a span is answered", span_is_answered },
	{ "names are refused", names_are_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "beacon", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("beacon", suites);
}
