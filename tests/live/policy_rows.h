/* What `run all` must bring out of the arms whose policy changes while their session lives. */
#ifndef HARNESS_TESTS_LIVE_POLICY_ROWS_H
#define HARNESS_TESTS_LIVE_POLICY_ROWS_H

#include "tests/live/peer_rows.h"

/* How the bridge says that it answered: never a verdict's matter, and yet it must fit what the observers saw. */
struct answers {
	const char *arm;
	int64_t allowed, denied;
};

/* What a call behind the update brought, and the one behind the next. */
#define POLICY(again, rows)                                                                                            \
	{ "permitted", "deliveries", '=', 1, false }, { "permitted-again", "deliveries", '=', (again), false },        \
		{ "denied", "deliveries", '=', 0, false }, { "permitted", "decisions", '=', (rows), false },           \
	{                                                                                                              \
		"denied", "decisions", '=', 1, false                                                                   \
	}

static const struct row policy_revoked[] = { POLICY(0, 1), { .subject = NULL } };
static const struct row policy_ignored[] = { POLICY(1, 2), { .subject = NULL } };
static const struct row policy_restored[] = {
	POLICY(0, 2),
	{ "permitted-third", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row policy_never_shut[] = {
	POLICY(1, 3),
	{ "permitted-third", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row policy_in_flight[] = {
	{ "late", "deliveries", '=', 0, false },
	{ "slow", "deliveries", '=', 2, false },
	{ .subject = NULL },
};
static const struct row policy_late[] = {
	{ "late", "deliveries", '=', 1, false },
	{ "slow", "deliveries", '=', 2, false },
	{ .subject = NULL },
};
static const struct row policy_queued[] = {
	{ "slow-ahead", "deliveries", '=', 2, false },
	{ "permitted-again", "deliveries", '=', 0, false },
	{ "slow", "deliveries", '=', 2, false },
	{ .subject = NULL },
};
static const struct row policy_passed[] = {
	{ "slow-ahead", "deliveries", '=', 2, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "slow", "deliveries", '=', 2, false },
	{ .subject = NULL },
};

static const struct answers policy_answers[] = {
	{ "policy/revoked", 1, 2 },
	{ "policy/revoked-ignored", 2, 1 },
	{ "policy/restored", 2, 2 },
	{ "policy/invalid-then-valid", 2, 2 },
	{ "policy/stale", 2, 2 },
	{ "policy/in-flight", 2, 0 },
	{ "policy/queued", 2, 1 },
	{ "policy/queued-ignored", 3, 0 },
	{ "policy/restored-ignored", 3, 1 },
	{ "policy/invalid-ignored", 3, 1 },
	{ "policy/stale-ignored", 3, 1 },
	{ "baseline", 1, 1 },
	{ .arm = NULL },
};

#define POLICY_ARMS                                                                                                    \
	{ "policy/revoked", policy_revoked }, { "policy/revoked-ignored", policy_ignored },                            \
		{ "policy/restored", policy_restored }, { "policy/invalid-then-valid", policy_restored },              \
		{ "policy/stale", policy_restored }, { "policy/in-flight", policy_in_flight },                         \
		{ "policy/restored-ignored", policy_never_shut }, { "policy/invalid-ignored", policy_never_shut },     \
		{ "policy/stale-ignored", policy_never_shut }, { "policy/in-flight-unlocked", policy_late },           \
		{ "policy/queued", policy_queued },                                                                    \
	{                                                                                                              \
		"policy/queued-ignored", policy_passed                                                                 \
	}

#define POLICY_DIFFERENCES                                                                                             \
	{ "policy/revoked-ignored", "policy/revoked", "session.policy " },                                             \
		{ "policy/queued-ignored", "policy/queued", "session.policy " },                                       \
		{ "policy/restored-ignored", "policy/restored", "session.policy " },                                   \
		{ "policy/invalid-ignored", "policy/invalid-then-valid", "session.policy " },                          \
		{ "policy/stale-ignored", "policy/stale", "session.policy " },                                         \
	{                                                                                                              \
		"policy/in-flight-unlocked", "policy/in-flight", "session.policy-lock "                                \
	}

#endif
