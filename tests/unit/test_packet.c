#include <stdint.h>
#include <string.h>

#include "core/fd.h"
#include "observers/capture_netns.h"
#include "observers/packet.h"
#include "tests/unit/test.h"

#define PACKET_MAX 256

/* Bytes of one packet, put together part by part. */
struct bytes {
	uint8_t data[PACKET_MAX];
	size_t length;
};

static uint8_t *part(struct bytes *bytes, size_t length)
{
	uint8_t *at = bytes->data + bytes->length;

	memset(at, 0, length);
	bytes->length += length;
	return at;
}

static void put_word(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void cooked(struct bytes *bytes, unsigned protocol, unsigned interface, uint8_t type)
{
	uint8_t *at = part(bytes, PACKET_COOKED_BYTES);

	put_word(at, protocol);
	put_word(at + 4, interface >> 16);
	put_word(at + 6, interface & 0xffff);
	at[10] = type;
}

static void ipv4(struct bytes *bytes, uint8_t protocol, unsigned header, unsigned fragment)
{
	uint8_t *at = part(bytes, header);

	at[0] = (uint8_t)(0x40 | header / 4);
	put_word(at + 6, fragment);
	at[9] = protocol;
}

static void ipv6(struct bytes *bytes, uint8_t next)
{
	uint8_t *at = part(bytes, 40);

	at[0] = 0x60;
	at[6] = next;
}

static void extension(struct bytes *bytes, uint8_t next, uint8_t length, size_t size)
{
	uint8_t *at = part(bytes, size);

	at[0] = next;
	at[1] = length;
}

static void tcp(struct bytes *bytes, unsigned source, unsigned destination, uint8_t flags, unsigned header)
{
	uint8_t *at = part(bytes, header);

	put_word(at, source);
	put_word(at + 2, destination);
	at[12] = (uint8_t)(header / 4 << 4);
	at[13] = flags;
}

static void udp(struct bytes *bytes, unsigned source, unsigned destination)
{
	uint8_t *at = part(bytes, 8);

	put_word(at, source);
	put_word(at + 2, destination);
}

static void icmp(struct bytes *bytes, uint8_t type)
{
	*part(bytes, 8) = type;
}

static void build_udp4(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 0x10002, 0);
	ipv4(bytes, 17, 20, 0);
	udp(bytes, 40000, 53);
}

static void build_syn(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 4);
	ipv4(bytes, 6, 24, 0x4000);
	tcp(bytes, 1, 65535, 0x02, 40);
}

static void build_syn_ack(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv4(bytes, 6, 20, 0);
	tcp(bytes, 80, 2, 0x12, 20);
}

static void build_syn_with_ecn(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv4(bytes, 6, 20, 0);
	tcp(bytes, 80, 2, 0xc2, 20);
}

static void build_tcp6(struct bytes *bytes)
{
	cooked(bytes, 0x86dd, 1, 0);
	ipv6(bytes, 6);
	tcp(bytes, 7, 8, 0x18, 20);
}

static void build_udp6_behind_extensions(struct bytes *bytes)
{
	cooked(bytes, 0x86dd, 1, 0);
	ipv6(bytes, 0);
	extension(bytes, 51, 1, 16);
	extension(bytes, 60, 1, 12);
	extension(bytes, 44, 0, 16);
	extension(bytes, 17, 0, 8);
	udp(bytes, 3, 4);
}

static void build_unreachable4(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv4(bytes, 1, 20, 0);
	icmp(bytes, 3);
}

static void build_echo4(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv4(bytes, 1, 20, 0);
	icmp(bytes, 8);
}

static void build_unreachable6(struct bytes *bytes)
{
	cooked(bytes, 0x86dd, 1, 0);
	ipv6(bytes, 58);
	icmp(bytes, 1);
}

static void build_neighbour6(struct bytes *bytes)
{
	cooked(bytes, 0x86dd, 1, 0);
	ipv6(bytes, 58);
	icmp(bytes, 135);
}

static void build_later_fragment(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv4(bytes, 17, 20, 0x2001);
	udp(bytes, 9, 9);
}

static void build_later_fragment6(struct bytes *bytes)
{
	cooked(bytes, 0x86dd, 1, 0);
	ipv6(bytes, 44);
	extension(bytes, 17, 0, 8);
	put_word(bytes->data + bytes->length - 6, 8);
	udp(bytes, 9, 9);
}

static void build_arp(struct bytes *bytes)
{
	cooked(bytes, 0x0806, 3, 1);
	part(bytes, 28);
}

static void build_short_ihl(struct bytes *bytes)
{
	build_udp4(bytes);
	bytes->data[PACKET_COOKED_BYTES] = 0x44;
}

static void build_short_data_offset(struct bytes *bytes)
{
	build_syn_ack(bytes);
	bytes->data[PACKET_COOKED_BYTES + 20 + 12] = 0x40;
}

static void build_ipv6_as_ipv4(struct bytes *bytes)
{
	cooked(bytes, 0x0800, 1, 0);
	ipv6(bytes, 17);
	udp(bytes, 1, 2);
}

struct row {
	const char *name;
	void (*build)(struct bytes *bytes);
	struct packet expected;
};
static const struct row rows[];

static void check_row(const struct row *row)
{
	struct bytes bytes = { .length = 0 };
	struct packet packet;
	int same;

	row->build(&bytes);
	CU_ASSERT_TRUE(packet_parse(bytes.data, bytes.length, &packet));
	same = packet.interface == row->expected.interface && packet.outgoing == row->expected.outgoing &&
	       packet.protocol == row->expected.protocol && packet.source == row->expected.source &&
	       packet.destination == row->expected.destination && packet.syn == row->expected.syn &&
	       packet.icmp_error == row->expected.icmp_error && packet.payload == row->expected.payload;
	if (!same)
		fprintf(stderr, "%s: protocol %d, payload at %zu\n", row->name, (int)packet.protocol, packet.payload);
	CU_ASSERT(same);
}

static void test_rows(void)
{
	for (const struct row *row = rows; row->name; row++)
		check_row(row);
}

/* Each packet cut at each length, on the heap, so that a sanitizer sees a read behind its end. */
static void test_cut(void)
{
	for (const struct row *row = rows; row->name; row++) {
		struct bytes bytes = { .length = 0 };

		row->build(&bytes);
		for (size_t length = 0; length <= bytes.length; length++) {
			cleanup_free uint8_t *copy = malloc(length ? length : 1);
			struct packet packet;
			bool parsed;

			memcpy(copy, bytes.data, length);
			parsed = packet_parse(copy, length, &packet);
			CU_ASSERT_EQUAL(parsed, length >= PACKET_COOKED_BYTES);
			CU_ASSERT(packet.payload <= length);
			if (length < row->expected.payload)
				CU_ASSERT(packet.protocol == PACKET_UNKNOWN || packet.payload == length);
		}
	}
}

/* Every byte at every value: no read outside, and the offset stays inside. */
static void test_changed(void)
{
	for (const struct row *row = rows; row->name; row++) {
		struct bytes bytes = { .length = 0 };

		row->build(&bytes);
		for (size_t at = 0; at < bytes.length * 256; at++) {
			uint8_t kept = bytes.data[at / 256];
			cleanup_free uint8_t *copy = malloc(bytes.length);
			struct packet packet;

			bytes.data[at / 256] = (uint8_t)at;
			memcpy(copy, bytes.data, bytes.length);
			CU_ASSERT(packet_parse(copy, bytes.length, &packet) && packet.payload <= bytes.length);
			bytes.data[at / 256] = kept;
		}
	}
}

static void test_snmp(void)
{
	static const struct {
		const char *text;
		uint64_t value;
		const char *error;
	} tables[] = {
		{ .text = "Ip: Forwarding OutNoRoutes ReasmTimeout\nIp: 1 42 0\nIcmp: InMsgs\nIcmp: 7\n", .value = 42 },
		{ .text = "Tcp: A\nTcp: 1\nIp: OutNoRoutes\nIp: 18446744073709551600", .value = 18446744073709551600u },
		{ .text = "IpExt: OutNoRoutes\nIpExt: 3\nIp: A OutNoRoutes\nIp: 1 2\n", .value = 2 },
		{ .text = "", .error = "no Ip line" },
		{ .text = "Ip: OutNoRoutes\n", .error = "no second Ip line" },
		{ .text = "Ip: OutRequests\nIp: 1\n", .error = "no column" },
		{ .text = "Ip: A OutNoRoutes\nIp: 1\n", .error = "no number" },
		{ .text = "Ip: A OutNoRoutes\nIp: 1 -1\n", .error = "no number" },
		{ .text = "Ip: OutNoRoutes\nIp: 99999999999999999999999\n", .error = "no number" },
		{ .text = "Ip:\nIp:\n", .error = "no column" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct error *err = NULL;
		uint64_t value = 0;
		int status = capture_netns_parse(tables[i].text, strlen(tables[i].text), &value, &err);

		if (tables[i].error) {
			CU_ASSERT_EQUAL(status, -ERROR_INPUT);
			CU_ASSERT(test_error(&err, ERROR_INPUT, tables[i].error));
		} else {
			CU_ASSERT_EQUAL(status, 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_EQUAL(value, tables[i].value);
		}
	}
}

static const struct row rows[] = {
	{ "udp4",
	  build_udp4,
	  { .interface = 0x10002, .protocol = PACKET_UDP, .source = 40000, .destination = 53, .payload = 48 } },
	{ "syn",
	  build_syn,
	  { .interface = 1,
	    .outgoing = true,
	    .protocol = PACKET_TCP,
	    .source = 1,
	    .destination = 65535,
	    .syn = true,
	    .payload = 84 } },
	{ "syn-ack",
	  build_syn_ack,
	  { .interface = 1, .protocol = PACKET_TCP, .source = 80, .destination = 2, .payload = 60 } },
	{ "syn with ecn",
	  build_syn_with_ecn,
	  { .interface = 1, .protocol = PACKET_TCP, .source = 80, .destination = 2, .syn = true, .payload = 60 } },
	{ "tcp6",
	  build_tcp6,
	  { .interface = 1, .protocol = PACKET_TCP, .source = 7, .destination = 8, .payload = 80 } },
	{ "udp6 behind extensions",
	  build_udp6_behind_extensions,
	  { .interface = 1, .protocol = PACKET_UDP, .source = 3, .destination = 4, .payload = 120 } },
	{ "unreachable4",
	  build_unreachable4,
	  { .interface = 1, .protocol = PACKET_ICMP, .icmp_error = true, .payload = 48 } },
	{ "echo4", build_echo4, { .interface = 1, .protocol = PACKET_ICMP, .payload = 48 } },
	{ "unreachable6",
	  build_unreachable6,
	  { .interface = 1, .protocol = PACKET_ICMP, .icmp_error = true, .payload = 68 } },
	{ "neighbour6", build_neighbour6, { .interface = 1, .protocol = PACKET_ICMP, .payload = 68 } },
	{ "later fragment", build_later_fragment, { .interface = 1, .payload = 40 } },
	{ "later fragment6", build_later_fragment6, { .interface = 1, .payload = 68 } },
	{ "arp", build_arp, { .interface = 3, .payload = 20 } },
	{ "ihl below 20", build_short_ihl, { .interface = 0x10002, .payload = 20 } },
	{ "data offset below 20", build_short_data_offset, { .interface = 1, .payload = 40 } },
	{ "version mismatch", build_ipv6_as_ipv4, { .interface = 1, .payload = 20 } },
	{ .name = NULL },
};

static CU_TestInfo packet_tests[] = {
	{ "rows", test_rows },
	{ "cut at every length", test_cut },
	{ "every byte changed", test_changed },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo snmp_tests[] = {
	{ "OutNoRoutes", test_snmp },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "packet", NULL, NULL, NULL, NULL, packet_tests },
	{ "snmp", NULL, NULL, NULL, NULL, snmp_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("packet", suites);
}
