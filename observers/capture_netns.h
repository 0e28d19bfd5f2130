/* What a network namespace tells besides its packets: which interfaces it ever had, and its count of missing routes. */
#ifndef HARNESS_OBSERVERS_CAPTURE_NETNS_H
#define HARNESS_OBSERVERS_CAPTURE_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"

struct capture_netns {
	int events; /* rtnetlink, link changes; -1: none */
	uint32_t loopback; /* its index */
	uint32_t others[CAPTURE_INTERFACES]; /* indices of what is not the loopback and was ever seen */
	size_t count;
	bool full; /* there were more */
	bool lost; /* link changes were lost */
	uint64_t no_routes; /* Ip OutNoRoutes when it was opened */
};

/* Of the namespace that the program runs in. Link changes are watched from before the first list on. */
int capture_netns_open(struct capture_netns *netns, struct error **err) MUST_CHECK;
/* An interface was met, by a packet or otherwise. */
void capture_netns_met(struct capture_netns *netns, uint32_t interface);
/* Takes the link changes that are there, without waiting. */
int capture_netns_events(struct capture_netns *netns, struct error **err) MUST_CHECK;
/* Lists what is there now. */
int capture_netns_list(struct capture_netns *netns, struct error **err) MUST_CHECK;
/* How often a packet found no route since the namespace was opened here. */
int capture_netns_no_routes(const struct capture_netns *netns, int64_t *out, struct error **err) MUST_CHECK;
void capture_netns_close(struct capture_netns *netns);

/* The column OutNoRoutes of the Ip lines in the text of /proc/net/snmp. Pure. */
int capture_netns_parse(const char *text, size_t length, uint64_t *out, struct error **err) MUST_CHECK;

#endif
