/* What `run all` must bring out of the arms whose gateway or upstream misbehaves, and what the rows of such a table
 * are. */
#ifndef HARNESS_TESTS_LIVE_PEER_ROWS_H
#define HARNESS_TESTS_LIVE_PEER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_S INT64_C(1000000000)

/* A row of the table that a run must bring out. */
struct row {
	const char *subject, *observer;
	char op; /* '=', '>' (at least), '<' (at most) */
	int64_t value;
	bool ipv6; /* only where the host has ::1 */
};
struct arm_rows {
	const char *arm;
	const struct row *rows;
};

/* The fields of the effective configuration in which a mutant may differ from its control: these, and all of these. */
struct difference {
	const char *mutant, *control;
	const char *fields;
};

/* The honest call and, where it was dispatched, the one that the peer acted at. */
#define PEER(dispatched, noted)                                                                                        \
	{ "permitted", "deliveries", '=', 1, false }, { "after", "deliveries", '=', (dispatched), false },             \
		{ "peer-acted", "deliveries", '=', (noted), false },                                                   \
	{                                                                                                              \
		"denied", "deliveries", '=', 0, false                                                                  \
	}

static const struct row peer_unavailable[] = {
	PEER(0, 1),
	{ "loss_to_dead", "state", '<', PEER_S, false },
	{ "permitted", "decisions", '=', 1, false },
	{ .subject = NULL },
};

static const struct row peer_soon[] = {
	PEER(1, 1),
	{ "loss_to_dead", "state", '<', PEER_S, false },
	{ .subject = NULL },
};

static const struct row peer_flood[] = {
	PEER(1, 9),
	{ "loss_to_dead", "state", '<', PEER_S, false },
	{ .subject = NULL },
};

static const struct row peer_late[] = {
	PEER(1, 1),
	{ "loss_to_dead", "state", '<', 2 * PEER_S, false },
	{ "loss_to_dead", "state", '>', PEER_S / 2, false },
	{ .subject = NULL },
};

static const struct row peer_lives_on[] = {
	PEER(1, 1),
	{ "loss_to_dead", "state", '>', 2 * PEER_S, false },
	{ .subject = NULL },
};

static const struct row peer_answered[] = {
	PEER(1, 2),
	{ "loss_to_dead", "state", '>', 5 * PEER_S / 2, false },
	{ .subject = NULL },
};

static const struct row peer_goes_on[] = {
	{ "loss_to_dead", "state", '>', 2 * PEER_S, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};

#define PEER_ARMS                                                                                                      \
	{ "failure/gateway-unavailable", peer_unavailable }, { "failure/gateway-dies", peer_soon },                    \
		{ "failure/gateway-garbage", peer_soon }, { "failure/gateway-late", peer_late },                       \
		{ "failure/upstream-dies", peer_soon }, { "failure/upstream-hangs", peer_late },                       \
		{ "failure/upstream-floods", peer_flood }, { "failure/upstream-other-id", peer_soon },                 \
		{ "failure/gateway-dies-open", peer_lives_on }, { "failure/gateway-garbage-open", peer_lives_on },     \
		{ "failure/gateway-late-waits", peer_answered }, { "failure/upstream-dies-open", peer_lives_on },      \
		{ "failure/upstream-hangs-waits", peer_lives_on },                                                     \
		{ "failure/gateway-unavailable-open", peer_goes_on },                                                  \
		{ "failure/upstream-floods-open", peer_goes_on },                                                      \
	{                                                                                                              \
		"failure/upstream-other-id-open", peer_lives_on                                                        \
	}

#define PEER_DIFFERENCES                                                                                               \
	{ "failure/gateway-unavailable-open", "failure/gateway-unavailable", "session.fail-closed " },                 \
		{ "failure/gateway-dies-open", "failure/gateway-dies", "session.fail-closed " },                       \
		{ "failure/gateway-garbage-open", "failure/gateway-garbage", "session.fail-closed " },                 \
		{ "failure/gateway-late-waits", "failure/gateway-late", "session.limits.gateway-call-ms " },           \
		{ "failure/upstream-dies-open", "failure/upstream-dies", "session.fail-closed " },                     \
		{ "failure/upstream-hangs-waits", "failure/upstream-hangs", "session.limits.gateway-call-ms " },       \
		{ "failure/upstream-floods-open", "failure/upstream-floods", "session.fail-closed " },                 \
	{                                                                                                              \
		"failure/upstream-other-id-open", "failure/upstream-other-id", "session.fail-closed "                  \
	}

#endif
