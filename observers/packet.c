#include "observers/packet.h"

#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

/* Offsets in the LINUX_SLL2 header. */
enum { COOKED_PROTOCOL = 0, COOKED_INTERFACE = 4, COOKED_TYPE = 10 };

#define COOKED_OUTGOING 4
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define TCP_BYTES 20
#define UDP_BYTES 8
#define ICMP_BYTES 8
/* More extension headers than any sender of ours, or a sane one, puts into one packet. */
#define EXTENSIONS_MAX 8

/* What is left of the packet: `at` never passes `length`. */
struct cursor {
	const uint8_t *bytes;
	size_t length;
	size_t at;
};

static size_t left(const struct cursor *cursor)
{
	return cursor->length - cursor->at;
}

static uint16_t word(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static bool icmp4_error(uint8_t type)
{
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

/* ICMPv6 keeps the types below 128 for errors. */
static bool icmp6_error(uint8_t type)
{
	return type < 128;
}

static void parse_transport(struct cursor *cursor, uint8_t protocol, struct packet *out)
{
	const uint8_t *head = cursor->bytes + cursor->at;
	size_t header;

	switch (protocol) {
	case IPPROTO_TCP:
		if (left(cursor) < TCP_BYTES)
			return;
		header = (size_t)(head[12] >> 4) * 4;
		if (header < TCP_BYTES)
			return;
		out->protocol = PACKET_TCP;
		out->syn = (head[13] & 0x12) == 0x02;
		break;
	case IPPROTO_UDP:
		if (left(cursor) < UDP_BYTES)
			return;
		header = UDP_BYTES;
		out->protocol = PACKET_UDP;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (left(cursor) < ICMP_BYTES)
			return;
		header = ICMP_BYTES;
		out->protocol = PACKET_ICMP;
		out->icmp_error = protocol == IPPROTO_ICMP ? icmp4_error(head[0]) : icmp6_error(head[0]);
		break;
	default:
		return;
	}
	if (out->protocol != PACKET_ICMP) {
		out->source = word(head);
		out->destination = word(head + 2);
	}
	cursor->at += header < left(cursor) ? header : left(cursor);
}

static void parse_ipv4(struct cursor *cursor, struct packet *out)
{
	const uint8_t *head = cursor->bytes + cursor->at;
	size_t header;

	if (left(cursor) < IPV4_BYTES || head[0] >> 4 != 4)
		return;
	header = (size_t)(head[0] & 0x0f) * 4;
	if (header < IPV4_BYTES || header > left(cursor))
		return;
	cursor->at += header;
	/* A later fragment holds no transport header: its bytes are payload. */
	if (word(head + 6) & 0x1fff)
		return;
	parse_transport(cursor, head[9], out);
}

/* Whether an IPv6 header chain goes on behind `next`; *size is then the length of that extension header. */
static bool extension(const struct cursor *cursor, uint8_t next, size_t *size, bool *later_fragment)
{
	const uint8_t *head = cursor->bytes + cursor->at;

	*later_fragment = false;
	if (left(cursor) < 8)
		return false;
	switch (next) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		*size = ((size_t)head[1] + 1) * 8;
		return true;
	case IPPROTO_FRAGMENT:
		*size = 8;
		*later_fragment = (word(head + 2) & 0xfff8) != 0;
		return true;
	case IPPROTO_AH:
		*size = ((size_t)head[1] + 2) * 4;
		return true;
	default:
		return false;
	}
}

static void parse_ipv6(struct cursor *cursor, struct packet *out)
{
	const uint8_t *head = cursor->bytes + cursor->at;
	bool later_fragment;
	uint8_t next;
	size_t size;

	if (left(cursor) < IPV6_BYTES || head[0] >> 4 != 6)
		return;
	next = head[6];
	cursor->at += IPV6_BYTES;
	for (unsigned i = 0; i < EXTENSIONS_MAX && extension(cursor, next, &size, &later_fragment); i++) {
		if (size > left(cursor))
			return;
		next = cursor->bytes[cursor->at];
		cursor->at += size;
		if (later_fragment)
			return;
	}
	parse_transport(cursor, next, out);
}

bool packet_parse(const uint8_t *bytes, size_t length, struct packet *out)
{
	struct cursor cursor = { .bytes = bytes, .length = length, .at = PACKET_COOKED_BYTES };

	memset(out, 0, sizeof(*out));
	if (length < PACKET_COOKED_BYTES)
		return false;
	out->interface = (uint32_t)word(bytes + COOKED_INTERFACE) << 16 | word(bytes + COOKED_INTERFACE + 2);
	out->outgoing = bytes[COOKED_TYPE] == COOKED_OUTGOING;
	switch (word(bytes + COOKED_PROTOCOL)) {
	case ETHERTYPE_IP:
		parse_ipv4(&cursor, out);
		break;
	case ETHERTYPE_IPV6:
		parse_ipv6(&cursor, out);
		break;
	default:
		break;
	}
	out->payload = cursor.at;
	return true;
}
