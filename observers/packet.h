/*
 * One captured packet, from the cooked header of a capture on every interface (LINUX_SLL2) to its transport: pure, over
 * bytes that nobody vouches for, every read inside the captured length.
 */
#ifndef HARNESS_OBSERVERS_PACKET_H
#define HARNESS_OBSERVERS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the cooked header in front of the network header. */
#define PACKET_COOKED_BYTES 20

enum packet_protocol {
	PACKET_UNKNOWN, /* no IP, a later fragment, cut short, or a transport that is not read */
	PACKET_TCP,
	PACKET_UDP,
	PACKET_ICMP, /* of IPv4 or IPv6 */
};

struct packet {
	uint32_t interface; /* index in the namespace of the capture */
	bool outgoing;
	enum packet_protocol protocol;
	uint16_t source, destination; /* ports; 0 unless TCP or UDP */
	bool syn; /* TCP: SYN without ACK, an attempt to connect */
	bool icmp_error; /* ICMP: quotes the packet that caused it */
	size_t payload; /* offset behind the last header that was read, at most the captured length */
};

/* False when not even the cooked header is whole: *out is zero then. What cannot be read further is PACKET_UNKNOWN. */
bool packet_parse(const uint8_t *bytes, size_t length, struct packet *out);

#endif
