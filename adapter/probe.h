/*
 * The routes that the agent is told to try: what a probe needs to know (an address, a port, a path, an operation), and
 * which observer binds its port. The agent has its own table of the same ids; the two agree by the orders alone.
 */
#ifndef HARNESS_ADAPTER_PROBE_H
#define HARNESS_ADAPTER_PROBE_H

#include <stdbool.h>

enum probe_address {
	PROBE_LOOPBACK4,
	PROBE_LOOPBACK6,
	PROBE_NIC,
	PROBE_PATH,
	PROBE_OPERATION,
	PROBE_NOWHERE,
	PROBE_OUTSIDE,
	PROBE_SERVICE, /* loopback, at the port of the order service */
	PROBE_DEPLOYMENT, /* no agent does that: another service of the deployment, which the arm runs */
};

/* PROBE_OUTSIDE: no agent can do that through the bridge. The arm asks the gateway itself, all such at once. */
struct probe_route {
	const char *id;
	enum probe_address address;
	const char *target; /* the path or the operation; outside: the tool, or NULL: one that is called as the canary;
			       NULL for the others */
	const char *observer; /* kind of the observer that binds its port, or NULL */
	const char *tool; /* operations: the catalog's tool; NULL for the others */
	bool attribute; /* tried only where attributes of users are kept */
};

extern const struct probe_route probe_routes[]; /* ended by .id = NULL */
extern const char *const probe_ids[]; /* NULL-terminated */
/* The agent's own rows of what it does besides, which it is told by these words. */
extern const char *const misbehaviour_ids[]; /* NULL-terminated */
const struct probe_route *probe_find(const char *id);

#endif
