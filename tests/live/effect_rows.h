/* What `run all` must bring out of the arms in which orders are made: rows of the order service's database. */
#ifndef HARNESS_TESTS_LIVE_EFFECT_ROWS_H
#define HARNESS_TESTS_LIVE_EFFECT_ROWS_H

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
	{ "audit-allow", "audit", '=', 2, false },
	{ "audit-chain", "audit", '=', 0, false },
	{ .subject = NULL },
};

#define EFFECT_ARMS                                                                                                    \
	{ "effects/order-create", effects_create }, { "effects/order-gateway", effects_gateway },                      \
		{ "effects/order-network", effects_network },                                                          \
	{                                                                                                              \
		"effects/order-read-only", effects_read_only                                                           \
	}

#define EFFECT_DIFFERENCES                                                                                             \
	{ "effects/order-network", "effects/order-create",                                                             \
	  "inspect.HostConfig.NetworkMode inspect.NetworkSettings.Networks kernel.ns.net kernel.interfaces " },        \
	{                                                                                                              \
		"effects/order-read-only", "effects/order-create", "inspect.HostConfig.ReadonlyRootfs kernel.mounts "  \
	}

#endif
