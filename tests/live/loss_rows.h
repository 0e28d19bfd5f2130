/* What `run all` must bring out of the arms that lose a part: dead within the bound, or alive where the protection is
 * taken away. */
#ifndef HARNESS_TESTS_LIVE_LOSS_ROWS_H
#define HARNESS_TESTS_LIVE_LOSS_ROWS_H

#include "tests/live/peer_rows.h"

#define LOSS_MS INT64_C(1000000)

#define LOSS(op, milliseconds)                                                                                         \
	{ "loss_to_dead", "state", (op), (milliseconds)*LOSS_MS, false },                                              \
		{ "permitted", "deliveries", '=', 1, false }, { "alive", "state", '=', 0, false },                     \
	{                                                                                                              \
		.subject = NULL                                                                                        \
	}

static const struct row loss_eof[] = { LOSS('<', 1000) };
static const struct row loss_unread[] = { LOSS('<', 1500) };
static const struct row loss_lease[] = { LOSS('<', 3000) };
static const struct row loss_acknowledgment[] = { LOSS('<', 2500) };
static const struct row loss_call[] = { LOSS('<', 2000) };
static const struct row loss_session[] = { LOSS('<', 3000) };
static const struct row loss_lives_two[] = { LOSS('>', 2000) };
static const struct row loss_lives_long[] = { LOSS('>', 3500) };

#define LOSS_ARMS                                                                                                      \
	{ "lifecycle/bridge-killed-flood", loss_eof }, { "lifecycle/bridge-unread-killed", loss_unread },              \
		{ "lifecycle/bridge-unread-killed-unwatched", loss_lives_two },                                        \
		{ "lifecycle/bridge-paused", loss_lease }, { "lifecycle/bridge-paused-flood", loss_lease },            \
		{ "lifecycle/watchdog-killed", loss_eof }, { "lifecycle/watchdog-paused-flood", loss_acknowledgment }, \
		{ "lifecycle/watchdog-pipe-full", loss_acknowledgment }, { "lifecycle/gateway-paused", loss_call },    \
		{ "lifecycle/container-paused", loss_session }, { "lifecycle/both-killed", loss_lives_two },           \
		{ "lifecycle/bridge-killed-flood-unwatched", loss_lives_two },                                         \
		{ "lifecycle/bridge-paused-unwatched", loss_lives_long },                                              \
		{ "lifecycle/bridge-paused-flood-unwatched", loss_lives_long },                                        \
		{ "lifecycle/watchdog-paused-flood-unchecked", loss_lives_long },                                      \
	{                                                                                                              \
		"lifecycle/watchdog-pipe-full-unchecked", loss_lives_long                                              \
	}

#define LOSS_DIFFERENCES                                                                                               \
	{ "lifecycle/bridge-killed-flood-unwatched", "lifecycle/bridge-killed-flood", "session.watchdog " },           \
		{ "lifecycle/bridge-unread-killed-unwatched", "lifecycle/bridge-unread-killed", "session.watchdog " }, \
		{ "lifecycle/bridge-paused-unwatched", "lifecycle/bridge-paused", "session.watchdog " },               \
		{ "lifecycle/bridge-paused-flood-unwatched", "lifecycle/bridge-paused-flood", "session.watchdog " },   \
		{ "lifecycle/watchdog-paused-flood-unchecked", "lifecycle/watchdog-paused-flood",                      \
		  "session.acknowledge " },                                                                            \
	{                                                                                                              \
		"lifecycle/watchdog-pipe-full-unchecked", "lifecycle/watchdog-pipe-full", "session.acknowledge "       \
	}

#endif
