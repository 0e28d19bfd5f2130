/* What `run all` must bring out of the arms whose container somebody changes while their session lives. */
#ifndef HARNESS_TESTS_LIVE_WATCH_ROWS_H
#define HARNESS_TESTS_LIVE_WATCH_ROWS_H

#include "tests/live/policy_rows.h"

#define WATCH_MS INT64_C(1000000)
#define ENDED                                                                                                          \
	{ "loss_to_dead", "state", '<', 250 * WATCH_MS, false },                                                       \
	{                                                                                                              \
		"permitted", "deliveries", '=', 1, false                                                               \
	}
#define WENT_ON                                                                                                        \
	{ "loss_to_dead", "state", '>', 1500 * WATCH_MS, false },                                                      \
	{                                                                                                              \
		"permitted", "deliveries", '=', 1, false                                                               \
	}
#define WATCH_PAIR(name, what, where)                                                                                  \
	static const struct row name##_ended[] = { ENDED, { what, where, '=', 0, false }, { .subject = NULL } };       \
	static const struct row name##_went_on[] = { WENT_ON, { what, where, '=', 1, false }, { .subject = NULL } }

WATCH_PAIR(watch_reached, "tcp4-nic", "tcp4-nic");
WATCH_PAIR(watch_heard, "stderr", "client");
WATCH_PAIR(watch_renamed, "renamed", "state");
WATCH_PAIR(watch_updated, "limits-changed", "state");
WATCH_PAIR(watch_disconnected, "networks-changed", "state");
WATCH_PAIR(watch_pattern, "core-pattern", "state");

#define WATCH_ARMS                                                                                                     \
	{ "watch/connect", watch_reached_ended }, { "watch/connect-off", watch_reached_went_on },                      \
		{ "watch/interface", watch_reached_ended }, { "watch/interface-off", watch_reached_went_on },          \
		{ "watch/exec", watch_heard_ended }, { "watch/exec-off", watch_heard_went_on },                        \
		{ "watch/attach", watch_heard_ended }, { "watch/attach-off", watch_heard_went_on },                    \
		{ "watch/rename", watch_renamed_ended }, { "watch/rename-off", watch_renamed_went_on },                \
		{ "watch/update", watch_updated_ended }, { "watch/update-off", watch_updated_went_on },                \
		{ "watch/disconnect", watch_disconnected_ended },                                                      \
		{ "watch/disconnect-off", watch_disconnected_went_on }, { "watch/core-pattern", watch_pattern_ended }, \
	{                                                                                                              \
		"watch/core-pattern-off", watch_pattern_went_on                                                        \
	}

#define WATCH_DIFFERENCES                                                                                              \
	{ "watch/connect-off", "watch/connect", "session.watch.network session.watch.interface " },                    \
		{ "watch/disconnect-off", "watch/disconnect", "session.watch.network " },                              \
		{ "watch/interface-off", "watch/interface", "session.watch.interface " },                              \
		{ "watch/exec-off", "watch/exec", "session.watch.exec " },                                             \
		{ "watch/attach-off", "watch/attach", "session.watch.attach " },                                       \
		{ "watch/rename-off", "watch/rename", "session.watch.rename " },                                       \
		{ "watch/update-off", "watch/update", "session.watch.update " },                                       \
	{                                                                                                              \
		"watch/core-pattern-off", "watch/core-pattern", "session.watch.core-pattern "                          \
	}

#endif
