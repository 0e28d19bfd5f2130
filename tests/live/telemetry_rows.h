/* What `run all` must bring out of the arms in which the gateway's records are looked at. */
#ifndef HARNESS_TESTS_LIVE_TELEMETRY_ROWS_H
#define HARNESS_TESTS_LIVE_TELEMETRY_ROWS_H

#include "tests/live/peer_rows.h"

#define TELEMETRY_ABSENT(subject)                                                                                      \
	{ subject, "output", '=', 0, false }, { subject, "spans", '=', 0, false },                                     \
		{ subject, "audit-bytes", '=', 0, false },                                                             \
	{                                                                                                              \
		subject, "audit", '=', 0, false                                                                        \
	}

static const struct row telemetry_arguments_in_error[] = {
	{ "in-blocked", "output", '>', 1, false },    { "tool-name", "output", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false }, { "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },    { "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },    { .subject = NULL },
};

static const struct row telemetry_audit_fails_told[] = {
	{ "permitted", "output", '>', 1, false },
	{ "permitted", "deliveries", '=', 0, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_upstream_refuses_told[] = {
	{ "permitted-again", "output", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_arguments_in_row[] = {
	{ "permitted", "audit", '>', 1, false },       { "permitted", "audit-bytes", '>', 1, false },
	{ "permitted-again", "audit", '>', 1, false }, { "permitted-again", "audit-bytes", '>', 1, false },
	{ "in-key", "audit", '>', 1, false },          { "in-key", "audit-bytes", '>', 1, false },
	{ "in-url", "audit", '>', 1, false },          { "in-url", "audit-bytes", '>', 1, false },
	{ "in-blocked", "audit", '>', 1, false },      { "in-blocked", "audit-bytes", '>', 1, false },
	{ "tool-name", "audit", '>', 1, false },       { "tool-name", "audit-bytes", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },  { "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },     { "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },     { .subject = NULL },
};

static const struct row telemetry_arguments_in_span[] = {
	{ "permitted", "spans", '>', 1, false },      { "permitted-again", "spans", '>', 1, false },
	{ "in-key", "spans", '>', 1, false },         { "in-url", "spans", '>', 1, false },
	{ "in-blocked", "spans", '>', 1, false },     { "tool-name", "spans", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false }, { "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },    { "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },    { .subject = NULL },
};

static const struct row telemetry_arguments_logged[] = {
	{ "permitted", "output", '>', 1, false },     { "permitted-again", "output", '>', 1, false },
	{ "in-key", "output", '>', 1, false },        { "in-url", "output", '>', 1, false },
	{ "in-blocked", "output", '>', 1, false },    { "tool-name", "output", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false }, { "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },    { "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },    { .subject = NULL },
};

static const struct row telemetry_arguments_unscanned[] = {
	{ "in-blocked", "deliveries", '>', 1, false }, { "audit-allow", "audit", '=', 5, false },
	{ "audit-deny", "audit", '=', 1, false },      { "audit-intent", "audit", '=', 5, false },
	{ "permitted", "deliveries", '=', 1, false },  { "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },     { "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },     { .subject = NULL },
};

static const struct row telemetry_arguments[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },
	{ "in-url", "deliveries", '=', 1, false },
	{ "in-blocked", "deliveries", '=', 0, false },
	{ "audit-allow", "audit", '=', 4, false },
	{ "audit-deny", "audit", '=', 2, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 4, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 8, false },
	{ "spans-error", "spans", '=', 2, false },
	{ "upstream-environment", "children", '=', 0, false },
	{ "upstream-descriptors", "children", '=', 0, false },
	{ "upstream-children", "children", '>', 1, false },
	{ "permitted", "children", '=', 0, false },
	TELEMETRY_ABSENT("permitted"),
	TELEMETRY_ABSENT("permitted-again"),
	TELEMETRY_ABSENT("in-key"),
	TELEMETRY_ABSENT("in-url"),
	TELEMETRY_ABSENT("in-blocked"),
	TELEMETRY_ABSENT("tool-name"),
	{ .subject = NULL },
};

static const struct row telemetry_audit_fails_open[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_audit_fails[] = {
	{ "permitted", "deliveries", '=', 0, false },
	{ "audit-allow", "audit", '=', 0, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 0, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 1, false },
	TELEMETRY_ABSENT("permitted"),
	{ .subject = NULL },
};

static const struct row telemetry_collector_fails[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '>', 1, false },
	{ "audit-allow", "audit", '=', 2, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "permitted", "output", '=', 0, false },
	{ "permitted", "audit-bytes", '=', 0, false },
	{ "permitted", "audit", '=', 0, false },
	{ "permitted-again", "output", '=', 0, false },
	{ "permitted-again", "audit-bytes", '=', 0, false },
	{ "permitted-again", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_descriptors_inherited[] = {
	{ "upstream-descriptors", "children", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },
	{ "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_environment_inherited[] = {
	{ "upstream-environment", "children", '>', 1, false },
	{ "permitted", "children", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "in-key", "deliveries", '=', 1, false },
	{ "in-url", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_raised_meanwhile_passed[] = {
	{ "raised", "deliveries", '=', 1, false },
	{ "raising", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_raised_meanwhile[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "raising", "deliveries", '=', 1, false },
	{ "raised", "deliveries", '=', 0, false },
	{ "audit-allow", "audit", '=', 2, false },
	{ "audit-deny", "audit", '=', 1, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 5, false },
	{ "spans-error", "spans", '=', 1, false },
	TELEMETRY_ABSENT("permitted"),
	{ .subject = NULL },
};

static const struct row telemetry_response_ceiling_passed[] = {
	{ "audit-allow", "audit", '=', 1, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_response_ceiling[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "audit-allow", "audit", '=', 0, false },
	{ "audit-deny", "audit", '=', 1, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 3, false },
	{ "spans-error", "spans", '=', 2, false },
	TELEMETRY_ABSENT("permitted"),
	{ .subject = NULL },
};

static const struct row telemetry_stays_raised_fallen[] = {
	{ "denied-then", "deliveries", '=', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ "slow", "deliveries", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_stays_raised[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "slow", "deliveries", '=', 2, false },
	{ "denied-then", "deliveries", '=', 0, false },
	{ "audit-allow", "audit", '=', 2, false },
	{ "audit-deny", "audit", '=', 1, false },
	{ "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 5, false },
	{ "spans-error", "spans", '=', 1, false },
	TELEMETRY_ABSENT("permitted"),
	{ .subject = NULL },
};

static const struct row telemetry_undeclared_started[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

static const struct row telemetry_undeclared[] = {
	{ "permitted", "deliveries", '=', 0, false },
	{ "audit-allow", "audit", '=', 0, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "audit-fault", "audit", '=', 1, false },
	{ "audit-intent", "audit", '=', 0, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 2, false },
	{ "spans-error", "spans", '=', 1, false },
	TELEMETRY_ABSENT("permitted"),
	{ .subject = NULL },
};

static const struct row telemetry_upstream_breaks_off[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '=', 1, false },
	{ "audit-allow", "audit", '=', 1, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "audit-fault", "audit", '=', 1, false },
	{ "audit-intent", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 4, false },
	{ "spans-error", "spans", '=', 1, false },
	TELEMETRY_ABSENT("permitted"),
	TELEMETRY_ABSENT("permitted-again"),
	{ .subject = NULL },
};

static const struct row telemetry_upstream_complains[] = {
	{ "permitted", "deliveries", '=', 1, false },  { "permitted-again", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '=', 1, false }, { "audit-allow", "audit", '=', 2, false },
	{ "audit-deny", "audit", '=', 0, false },      { "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 2, false },    { "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 4, false },           TELEMETRY_ABSENT("permitted"),
	TELEMETRY_ABSENT("permitted-again"),           { .subject = NULL },
};

static const struct row telemetry_upstream_echoes[] = {
	{ "permitted", "deliveries", '=', 1, false },  { "permitted-again", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '=', 1, false }, { "audit-allow", "audit", '=', 2, false },
	{ "audit-deny", "audit", '=', 0, false },      { "audit-fault", "audit", '=', 0, false },
	{ "audit-intent", "audit", '=', 2, false },    { "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 4, false },           TELEMETRY_ABSENT("permitted"),
	TELEMETRY_ABSENT("permitted-again"),           { .subject = NULL },
};

static const struct row telemetry_upstream_refuses[] = {
	{ "permitted", "deliveries", '=', 1, false },
	{ "permitted-again", "deliveries", '=', 1, false },
	{ "peer-acted", "deliveries", '=', 1, false },
	{ "audit-allow", "audit", '=', 1, false },
	{ "audit-deny", "audit", '=', 0, false },
	{ "audit-fault", "audit", '=', 1, false },
	{ "audit-intent", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ "spans", "spans", '>', 4, false },
	{ "spans-error", "spans", '=', 1, false },
	TELEMETRY_ABSENT("permitted"),
	TELEMETRY_ABSENT("permitted-again"),
	{ .subject = NULL },
};

#define TELEMETRY_ARMS                                                                                                 \
	{ "telemetry/upstream-refuses-told", telemetry_upstream_refuses_told },                                        \
		{ "telemetry/arguments-in-error", telemetry_arguments_in_error },                                      \
		{ "telemetry/arguments-in-row", telemetry_arguments_in_row },                                          \
		{ "telemetry/arguments-in-span", telemetry_arguments_in_span },                                        \
		{ "telemetry/arguments-logged", telemetry_arguments_logged },                                          \
		{ "telemetry/arguments-unscanned", telemetry_arguments_unscanned },                                    \
		{ "telemetry/arguments", telemetry_arguments },                                                        \
		{ "telemetry/audit-fails-told", telemetry_audit_fails_told },                                          \
		{ "telemetry/audit-fails-open", telemetry_audit_fails_open },                                          \
		{ "telemetry/audit-fails", telemetry_audit_fails },                                                    \
		{ "telemetry/collector-fails", telemetry_collector_fails },                                            \
		{ "telemetry/descriptors-inherited", telemetry_descriptors_inherited },                                \
		{ "telemetry/environment-inherited", telemetry_environment_inherited },                                \
		{ "telemetry/raised-meanwhile-passed", telemetry_raised_meanwhile_passed },                            \
		{ "telemetry/raised-meanwhile", telemetry_raised_meanwhile },                                          \
		{ "telemetry/response-ceiling-passed", telemetry_response_ceiling_passed },                            \
		{ "telemetry/response-ceiling", telemetry_response_ceiling },                                          \
		{ "telemetry/stays-raised-fallen", telemetry_stays_raised_fallen },                                    \
		{ "telemetry/stays-raised", telemetry_stays_raised },                                                  \
		{ "telemetry/undeclared-started", telemetry_undeclared_started },                                      \
		{ "telemetry/undeclared", telemetry_undeclared },                                                      \
		{ "telemetry/upstream-breaks-off", telemetry_upstream_breaks_off },                                    \
		{ "telemetry/upstream-complains", telemetry_upstream_complains },                                      \
		{ "telemetry/upstream-echoes", telemetry_upstream_echoes },                                            \
	{                                                                                                              \
		"telemetry/upstream-refuses", telemetry_upstream_refuses                                               \
	}

#define TELEMETRY_DIFFERENCES                                                                                          \
	{ "telemetry/upstream-refuses-told", "telemetry/upstream-refuses", "gateway.program " },                       \
		{ "telemetry/audit-fails-told", "telemetry/audit-fails", "gateway.program " },                         \
		{ "telemetry/arguments-in-error", "telemetry/arguments", "gateway.program " },                         \
		{ "telemetry/arguments-in-row", "telemetry/arguments", "gateway.program " },                           \
		{ "telemetry/arguments-in-span", "telemetry/arguments", "gateway.program " },                          \
		{ "telemetry/arguments-logged", "telemetry/arguments", "gateway.program " },                           \
		{ "telemetry/arguments-unscanned", "telemetry/arguments", "gateway.program " },                        \
		{ "telemetry/audit-fails-open", "telemetry/audit-fails", "gateway.program " },                         \
		{ "telemetry/descriptors-inherited", "telemetry/arguments", "gateway.program " },                      \
		{ "telemetry/environment-inherited", "telemetry/arguments", "gateway.program " },                      \
		{ "telemetry/raised-meanwhile-passed", "telemetry/raised-meanwhile", "gateway.program " },             \
		{ "telemetry/response-ceiling-passed", "telemetry/response-ceiling", "gateway.program " },             \
		{ "telemetry/stays-raised-fallen", "telemetry/stays-raised", "gateway.program " },                     \
	{                                                                                                              \
		"telemetry/undeclared-started", "telemetry/undeclared", "gateway.program "                             \
	}

#endif
