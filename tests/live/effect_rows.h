/* What `run all` must bring out of the arms in which orders are made: rows of the order service's database. */
#ifndef HARNESS_TESTS_LIVE_EFFECT_ROWS_H
#define HARNESS_TESTS_LIVE_EFFECT_ROWS_H

#include <string.h>
#include <unistd.h>

#include "tests/live/peer_rows.h"

/* By the agent itself and its child, and by a file it left; another service makes one whatever the agent can do. */
#define ORDERS(own, left, all)                                                                                         \
	{ "order-http", "orders", '=', (own), false }, { "order-child", "orders", '=', (own), false },                 \
		{ "order-file", "orders", '=', (left), false }, { "order-service", "orders", '=', 1, false },          \
		{ "orders", "orders", '=', (all), false }, { "orders-other", "orders", '=', 0, false },                \
		{ "permitted", "deliveries", '=', 1, false },                                                          \
	{                                                                                                              \
		.subject = NULL                                                                                        \
	}

static const struct row effects_create[] = { ORDERS(0, 0, 1) };
static const struct row effects_network[] = { ORDERS(1, 0, 3) };
static const struct row effects_read_only[] = { ORDERS(0, 1, 2) };
static const struct row effects_gateway[] = {
	{ "order-gateway", "orders", '=', 1, false },
	{ "order-http", "orders", '=', 0, false },
	{ "orders", "orders", '=', 1, false },
	{ "orders-other", "orders", '=', 0, false },
	{ "joined", "correlation", '=', 1, false },
	{ "row-without-call", "correlation", '=', 0, false },
	{ "call-without-row", "correlation", '=', 0, false },
	{ "row-again", "correlation", '=', 0, false },
	{ "copied-id", "correlation", '=', 0, false },
	{ "row-without-id", "correlation", '=', 0, false },
	{ "audit-allow", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

/* Two subjects' orders, those of nobody, and all; then what was joined, and each other finding. */
#define FORGED(first, second, other, row_without_call, call_without_row, row_again, copied_id, row_of_denied)          \
	{ "order-gateway", "orders", '=', (first), false }, { "order-again", "orders", '=', (second), false },         \
		{ "orders-other", "orders", '=', (other), false },                                                     \
		{ "orders", "orders", '=', (first) + (second) + (other), false },                                      \
		{ "row-without-call", "correlation", '=', (row_without_call), false },                                 \
		{ "call-without-row", "correlation", '=', (call_without_row), false },                                 \
		{ "row-again", "correlation", '=', (row_again), false },                                               \
		{ "copied-id", "correlation", '=', (copied_id), false },                                               \
		{ "row-of-denied", "correlation", '=', (row_of_denied), false },                                       \
		{ "call-again", "correlation", '=', 0, false }, { "row-without-id", "correlation", '=', 0, false },    \
	{                                                                                                              \
		"audit-chain", "audit", '=', 0, false                                                                  \
	}
#define JOINED(joined, allowed, denied)                                                                                \
	{ "joined", "correlation", '=', (joined), false }, { "audit-allow", "audit", '=', (allowed), false },          \
		{ "audit-deny", "audit", '=', (denied), false },                                                       \
	{                                                                                                              \
		.subject = NULL                                                                                        \
	}

static const struct row effects_twice[] = { FORGED(2, 2, 0, 0, 0, 0, 0, 0), JOINED(4, 4, 0) };
static const struct row effects_again[] = { FORGED(1, 2, 0, 0, 0, 1, 0, 0), JOINED(2, 2, 0) };
static const struct row effects_no_row[] = { FORGED(1, 0, 0, 0, 1, 0, 0, 0), JOINED(1, 2, 0) };
static const struct row effects_own[] = { FORGED(1, 1, 1, 1, 0, 0, 0, 0), JOINED(2, 2, 0) };
static const struct row effects_id[] = { FORGED(1, 1, 0, 0, 1, 0, 1, 0), JOINED(1, 2, 0) };
static const struct row effects_denied[] = { FORGED(1, 1, 0, 0, 0, 0, 0, 1), JOINED(1, 1, 1) };
static const struct row effects_failure[] = { FORGED(1, 1, 0, 0, 0, 0, 0, 0),
					      { "audit-fault", "audit", '=', 1, false },
					      { "permitted", "deliveries", '=', 1, false },
					      JOINED(2, 2, 0) };
/* One subject, which asks twice for the same. */
static const struct row effects_alike[] = {
	{ "order-gateway", "orders", '=', 2, false },
	{ "orders", "orders", '=', 2, false },
	{ "row-again", "correlation", '=', 1, false },
	{ "call-without-row", "correlation", '=', 1, false },
	JOINED(1, 2, 0),
};

/* The same in PostgreSQL, where each order is a transaction, of the role that its path has. */
#define EFFECT_PG "effects/pg/"

/* Without a cluster these arms are not. */
static inline bool effect_planned(const char *arm)
{
	return strncmp(arm, EFFECT_PG, strlen(EFFECT_PG)) != 0 ||
	       access("/run/harness-postgres/.s.PGSQL.5432", F_OK) == 0;
}

#define ORDERS_PG(own, left, all)                                                                                      \
	{ "order-http", "orders-pg", '=', (own), false }, { "order-child", "orders-pg", '=', (own), false },           \
		{ "order-file", "orders-pg", '=', (left), false }, { "order-service", "orders-pg", '=', 1, false },    \
		{ "orders", "orders-pg", '=', (all), false }, { "transactions", "orders-pg", '=', (all), false },      \
		{ "orders-other", "orders-pg", '=', 0, false }, { "roles-other", "orders-pg", '=', 0, false },         \
		{ "permitted", "deliveries", '=', 1, false },                                                          \
	{                                                                                                              \
		.subject = NULL                                                                                        \
	}

static const struct row effects_pg_create[] = { ORDERS_PG(0, 0, 1) };
static const struct row effects_pg_network[] = { ORDERS_PG(1, 0, 3) };
static const struct row effects_pg_read_only[] = { ORDERS_PG(0, 1, 2) };
static const struct row effects_pg_gateway[] = {
	{ "order-gateway", "orders-pg", '=', 1, false },
	{ "order-http", "orders-pg", '=', 0, false },
	{ "orders", "orders-pg", '=', 1, false },
	{ "orders-other", "orders-pg", '=', 0, false },
	{ "roles-other", "orders-pg", '=', 0, false },
	{ "transactions", "orders-pg", '=', 1, false },
	{ "joined", "correlation-pg", '=', 1, false },
	{ "row-without-call", "correlation-pg", '=', 0, false },
	{ "call-without-row", "correlation-pg", '=', 0, false },
	{ "row-again", "correlation-pg", '=', 0, false },
	{ "copied-id", "correlation-pg", '=', 0, false },
	{ "row-without-id", "correlation-pg", '=', 0, false },
	{ "audit-allow", "audit", '=', 2, false },
	{ .subject = NULL },
};

#define EFFECT_ARMS                                                                                                    \
	{ "effects/order-create", effects_create }, { "effects/order-gateway", effects_gateway },                      \
		{ "effects/order-network", effects_network }, { "effects/order-twice", effects_twice },                \
		{ "effects/forged-again", effects_again }, { "effects/forged-answer", effects_no_row },                \
		{ "effects/forged-rollback", effects_no_row }, { "effects/forged-own", effects_own },                  \
		{ "effects/forged-id", effects_id }, { "effects/forged-id-alike", effects_alike },                     \
		{ "effects/forged-denied", effects_denied }, { "effects/forged-failure", effects_failure },            \
		{ EFFECT_PG "order-create", effects_pg_create }, { EFFECT_PG "order-gateway", effects_pg_gateway },    \
		{ EFFECT_PG "order-network", effects_pg_network },                                                     \
		{ EFFECT_PG "order-read-only", effects_pg_read_only },                                                 \
	{                                                                                                              \
		"effects/order-read-only", effects_read_only                                                           \
	}

#define EFFECT_DIFFERENCES                                                                                             \
	{ "effects/order-network", "effects/order-create",                                                             \
	  "inspect.HostConfig.NetworkMode inspect.NetworkSettings.Networks kernel.ns.net kernel.interfaces " },        \
		{ EFFECT_PG "order-network", EFFECT_PG "order-create",                                                 \
		  "inspect.HostConfig.NetworkMode inspect.NetworkSettings.Networks kernel.ns.net "                     \
		  "kernel.interfaces " },                                                                              \
		{ EFFECT_PG "order-read-only", EFFECT_PG "order-create",                                               \
		  "inspect.HostConfig.ReadonlyRootfs kernel.mounts " },                                                \
	{                                                                                                              \
		"effects/order-read-only", "effects/order-create", "inspect.HostConfig.ReadonlyRootfs kernel.mounts "  \
	}

#endif
