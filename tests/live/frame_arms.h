/* What `run all` must bring out of the arms whose agent writes what it should not, or more than it may. */
#ifndef HARNESS_TESTS_LIVE_FRAME_ARMS_H
#define HARNESS_TESTS_LIVE_FRAME_ARMS_H

#include "tests/live/peer_rows.h"

#define FRAME_MIB (INT64_C(1) << 20)

/* Dead soon, with all that the probes did before it. */
#define FRAME_END(calls)                                                                                               \
	{ "loss_to_dead", "state", '<', PEER_S, false }, { "loss_to_dead", "state", '>', 1, false },                   \
		{ "permitted", "deliveries", '=', 1, false }, { "permitted", "decisions", '=', (calls), false },       \
		{ "denied", "deliveries", '=', 0, false }, { "tcp4", "tcp4", '=', 0, false },                          \
		{ "file", "files-upper", '=', 0, false }, { "stderr", "logs-disk", '=', 0, false },                    \
	{                                                                                                              \
		"alive", "state", '=', 0, false                                                                        \
	}
#define FRAME_AFTER(delivered)                                                                                         \
	{                                                                                                              \
		"after", "deliveries", '=', (delivered), false                                                         \
	}

static const struct row frame_refused[] = {
	FRAME_END(1),
	FRAME_AFTER(0),
	{ "attempted", "state", '>', 16384, false },
	{ "written", "state", '<', 262144, false },
	{ .subject = NULL },
};

static const struct row frame_passed[] = {
	FRAME_AFTER(1),
	{ "attempted", "state", '>', 16384, false },
	{ "permitted", "decisions", '=', 2, false },
	{ .subject = NULL },
};

static const struct row frame_nested[] = {
	FRAME_END(1),
	FRAME_AFTER(0),
	{ "attempted", "state", '>', 20000, false },
	{ .subject = NULL },
};

static const struct row frame_nested_passed[] = {
	FRAME_AFTER(1),
	{ "attempted", "state", '>', 20000, false },
	{ .subject = NULL },
};

static const struct row frame_cut[] = {
	FRAME_END(1),
	{ "attempted", "state", '>', 65536, false },
	{ .subject = NULL },
};

static const struct row frame_cut_taken[] = {
	{ "permitted", "decisions", '=', 2, false },
	{ "attempted", "state", '>', 65536, false },
	{ .subject = NULL },
};

static const struct row frame_oversized[] = {
	FRAME_END(1),
	FRAME_AFTER(0),
	{ "attempted", "state", '>', 2 * 65537, false },
	{ .subject = NULL },
};

static const struct row frame_oversized_taken[] = {
	FRAME_AFTER(1),
	{ "permitted", "decisions", '=', 3, false },
	{ .subject = NULL },
};

static const struct row frame_flood[] = {
	FRAME_END(1),
	FRAME_AFTER(0),
	{ "attempted", "state", '>', 2 * FRAME_MIB + 2, false },
	{ "written", "state", '<', 8 * FRAME_MIB, false },
	{ .subject = NULL },
};

static const struct row frame_flood_taken[] = {
	FRAME_AFTER(1),
	{ "attempted", "state", '>', 32 * FRAME_MIB, false },
	{ "written", "state", '>', 32 * FRAME_MIB, false },
	{ .subject = NULL },
};

static const struct row frame_split[] = {
	FRAME_AFTER(1),
	{ "permitted", "decisions", '=', 3, false },
	{ .subject = NULL },
};

static const struct row frame_calls[] = {
	FRAME_AFTER(0),
	{ "permitted", "deliveries", '=', 16, false },
	{ "permitted", "decisions", '=', 16, false },
	{ "loss_to_dead", "state", '<', PEER_S, false },
	{ .subject = NULL },
};

static const struct row frame_calls_delivered[] = {
	FRAME_AFTER(16),
	{ "permitted", "deliveries", '=', 16, false },
	{ .subject = NULL },
};

static const struct row frame_unread[] = {
	{ "loss_to_dead", "state", '<', 5 * PEER_S / 2, false },
	{ "loss_to_dead", "state", '>', PEER_S, false },
	{ "peer-acted", "deliveries", '=', 1, false },
	{ "permitted", "decisions", '=', 2, false },
	{ .subject = NULL },
};

static const struct row frame_unread_waited[] = {
	{ "loss_to_dead", "state", '>', 4 * PEER_S, false },
	{ "peer-acted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};

#define FRAME_PAIR(name)                                                                                               \
	{ "failure/" name, frame_refused },                                                                            \
	{                                                                                                              \
		"failure/" name "-passed", frame_passed                                                                \
	}
#define FRAME_ARMS                                                                                                     \
	FRAME_PAIR("extra-call-id"), FRAME_PAIR("extra-policy"), FRAME_PAIR("extra-sensitivity"),                      \
		FRAME_PAIR("extra-session"), FRAME_PAIR("extra-tool"), FRAME_PAIR("hostile-1e999"),                    \
		FRAME_PAIR("hostile-alias-case"), FRAME_PAIR("hostile-arguments-array"), FRAME_PAIR("hostile-array"),  \
		FRAME_PAIR("hostile-bom"), FRAME_PAIR("hostile-case"), FRAME_PAIR("hostile-crlf"),                     \
		FRAME_PAIR("hostile-duplicate-key"), FRAME_PAIR("hostile-escaped-key"),                                \
		FRAME_PAIR("hostile-extra-key"), FRAME_PAIR("hostile-homoglyph"), FRAME_PAIR("hostile-infinity"),      \
		FRAME_PAIR("hostile-lone-surrogate"), FRAME_PAIR("hostile-missing-key"), FRAME_PAIR("hostile-nan"),    \
		FRAME_PAIR("hostile-nested-duplicate"), FRAME_PAIR("hostile-nul"), FRAME_PAIR("hostile-null"),         \
		FRAME_PAIR("hostile-operation"), FRAME_PAIR("hostile-overlong"), FRAME_PAIR("hostile-trailing"),       \
		FRAME_PAIR("hostile-utf-16"), FRAME_PAIR("raw-text"), { "failure/hostile-nested", frame_nested },      \
		{ "failure/hostile-nested-passed", frame_nested_passed }, { "failure/hostile-no-end", frame_cut },     \
		{ "failure/hostile-no-end-passed", frame_cut_taken }, { "failure/oversized-frame", frame_oversized },  \
		{ "failure/oversized-frame-taken", frame_oversized_taken },                                            \
		{ "failure/oversized-stdout", frame_flood }, { "failure/oversized-stdout-taken", frame_flood_taken },  \
		{ "failure/flood-stderr", frame_flood }, { "failure/flood-stderr-taken", frame_flood_taken },          \
		{ "failure/seventeen-calls", frame_calls },                                                            \
		{ "failure/seventeen-calls-delivered", frame_calls_delivered },                                        \
		{ "failure/never-reads", frame_unread }, { "failure/never-reads-waited", frame_unread_waited },        \
	{                                                                                                              \
		"failure/split-frame", frame_split                                                                     \
	}

#define FRAME_STRICT(name)                                                                                             \
	{                                                                                                              \
		"failure/" name "-passed", "failure/" name, "session.strict "                                          \
	}
#define FRAME_DIFFERENCES                                                                                              \
	FRAME_STRICT("extra-call-id"), FRAME_STRICT("extra-policy"), FRAME_STRICT("extra-sensitivity"),                \
		FRAME_STRICT("extra-session"), FRAME_STRICT("extra-tool"), FRAME_STRICT("hostile-1e999"),              \
		FRAME_STRICT("hostile-alias-case"), FRAME_STRICT("hostile-arguments-array"),                           \
		FRAME_STRICT("hostile-array"), FRAME_STRICT("hostile-bom"), FRAME_STRICT("hostile-case"),              \
		FRAME_STRICT("hostile-crlf"), FRAME_STRICT("hostile-duplicate-key"),                                   \
		FRAME_STRICT("hostile-escaped-key"), FRAME_STRICT("hostile-extra-key"),                                \
		FRAME_STRICT("hostile-homoglyph"), FRAME_STRICT("hostile-infinity"),                                   \
		FRAME_STRICT("hostile-lone-surrogate"), FRAME_STRICT("hostile-missing-key"),                           \
		FRAME_STRICT("hostile-nan"), FRAME_STRICT("hostile-nested-duplicate"), FRAME_STRICT("hostile-nul"),    \
		FRAME_STRICT("hostile-null"), FRAME_STRICT("hostile-operation"), FRAME_STRICT("hostile-overlong"),     \
		FRAME_STRICT("hostile-trailing"), FRAME_STRICT("hostile-utf-16"), FRAME_STRICT("raw-text"),            \
		{ "failure/hostile-nested-passed", "failure/hostile-nested", "session.strict " },                      \
		{ "failure/hostile-no-end-passed", "failure/hostile-no-end", "session.strict " },                      \
		{ "failure/oversized-frame-taken", "failure/oversized-frame", "session.limits.frame-bytes " },         \
		{ "failure/oversized-stdout-taken", "failure/oversized-stdout", "session.limits.stdout-bytes " },      \
		{ "failure/flood-stderr-taken", "failure/flood-stderr", "session.limits.stderr-bytes " },              \
		{ "failure/seventeen-calls-delivered", "failure/seventeen-calls", "session.limits.calls " },           \
	{                                                                                                              \
		"failure/never-reads-waited", "failure/never-reads", "session.limits.gateway-call-ms "                 \
	}

#endif
