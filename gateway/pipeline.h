/*
 * The way of a call through the gateway: an ordered table of steps. A step looks whether its condition holds and says
 * next, wait (it is asked again when an upstream moved), or ends the call by a rule. All that a call knows is in its
 * own struct, so that any number may be under way.
 */
#ifndef HARNESS_GATEWAY_PIPELINE_H
#define HARNESS_GATEWAY_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "gateway/answer.h"
#include "gateway/config.h"
#include "gateway/decisions.h"
#include "gateway/upstream.h"
#include "mcp/server.h"

struct gateway_call;

struct gateway {
	const struct gateway_config *config;
	struct decisions decisions;
	struct upstream *upstreams[GATEWAY_SERVERS_MAX]; /* as many as config->servers_count */
	char session_id[ANSWER_ID_BYTES];
	int session; /* rank of its label; only rises */
	struct gateway_call *calls; /* under way */
	bool stirred; /* a waiting call may go on */
};

/* Continues the decisions file `decisions` (not owned). `config` must outlive it. */
int gateway_open(struct gateway *gateway, const struct gateway_config *config, int decisions,
		 struct error **err) MUST_CHECK;
/* Calls under way are recorded as faults (their caller is gone), upstreams are ended. Their requests stay with the
 * server, which is freed after. */
void gateway_close(struct gateway *gateway);
/* After an upstream moved: lets every waiting call go on as far as it can. */
void gateway_resume(struct gateway *gateway);

/* Handlers for an MCP server whose context is the gateway; ended by .method = NULL. */
extern const struct mcp_handler gateway_handlers[];

#endif
