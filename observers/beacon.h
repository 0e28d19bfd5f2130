/* Senders of beacons: the harness's own marker, sent from outside the container to an observer's socket. */
#ifndef HARNESS_OBSERVERS_BEACON_H
#define HARNESS_OBSERVERS_BEACON_H

#include <stdint.h>

#include "core/canary.h"
#include "core/error.h"

/* Connects to a numeric address ("127.0.0.1", "::1"), writes the marker and a line feed, closes. */
int beacon_tcp(const char *address, uint16_t port, const struct canary *marker, int64_t deadline,
	       struct error **err) MUST_CHECK;
/* One datagram that is the marker. */
int beacon_udp(const char *address, uint16_t port, const struct canary *marker, struct error **err) MUST_CHECK;
/* One DNS question (type A, class IN) whose labels are the marker, "." and "beacon.invalid". */
int beacon_dns(const char *address, uint16_t port, const struct canary *marker, struct error **err) MUST_CHECK;
/* One span with the marker in an attribute, posted as OTLP/HTTP with a JSON body; waits until it was taken. */
int beacon_spans(const char *address, uint16_t port, const struct canary *marker, int64_t deadline,
		 struct error **err) MUST_CHECK;

#endif
