/*
 * The way of a call through the gateway: an ordered table of steps. A step looks whether its condition holds and says
 * next, wait (it is asked again when something moved), or ends the call by a rule. All that a call knows is in its own
 * struct, so that any number may be under way.
 */
#ifndef HARNESS_GATEWAY_PIPELINE_H
#define HARNESS_GATEWAY_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "gateway/audit_store.h"
#include "gateway/config.h"
#include "gateway/decisions.h"
#include "gateway/session.h"
#include "gateway/telemetry.h"
#include "gateway/upstream.h"
#include "mcp/request.h"

struct gateway_call;
struct gateway_step;

/* Told when the session was closed or reset, or that it could not be. */
typedef void (*gateway_ended)(void *context, bool ok);

struct gateway {
	const struct gateway_config *config;
	const struct gateway_step *call_steps; /* gateway_call_steps but in a program that takes some away */
	struct decisions decisions; /* fd -1: not kept */
	struct audit_store *audit; /* or NULL */
	struct telemetry *telemetry; /* or NULL */
	struct upstream *upstreams[GATEWAY_SERVERS_MAX]; /* as many as config->servers_count */
	struct gateway_state session;
	struct gateway_call *calls; /* under way */
	bool stirred; /* a waiting call may go on */
	bool intents; /* entries wait for their commit */
	bool refusing; /* the chain takes no more: every call is refused */
	void (*wake)(void *context); /* gateway_resume() is wanted soon */
	void *wake_context;
	gateway_ended closing; /* whom to tell when the session's calls have ended, or NULL */
	void *closing_context;
};

struct gateway_options {
	const struct gateway_config *config; /* must outlive the gateway */
	const struct gateway_step *call_steps; /* NULL: gateway_call_steps */
	int decisions; /* the decisions file, not owned, or -1 */
	void (*wake)(void *context); /* called when a call waits for gateway_resume(); never NULL */
	void *wake_context;
};

/* Opens the decisions file, the audit chain and the spans as the configuration says, and begins a session. Call it
 * after the last exec: the chain is a database. */
int gateway_open(struct gateway *gateway, const struct gateway_options *options, struct error **err) MUST_CHECK;
/* Calls under way are recorded as faults (their caller is gone), upstreams are ended, the chain is closed and spans are
 * flushed within a bound. Their requests stay with the server, which is freed after. */
void gateway_close(struct gateway *gateway);
/* After a server or an upstream moved: commits what waits, and lets every call go on as far as it can. */
void gateway_resume(struct gateway *gateway);
/* The nearest time at which gateway_resume() is due, or NEVER. */
int64_t gateway_due(const struct gateway *gateway);
/* The client no longer waits for the request: what was not dispatched is not. */
void gateway_cancelled(void *context, struct mcp_request *request);

/* What a call would find: drift, a chain that takes no more, an upstream that is not the measured one. */
bool gateway_ready(struct gateway *gateway);
/* A new session at the label where sessions start; the chain goes on. Calls under way keep what they entered with;
 * upstreams stay, and are asked for their tools anew. ERROR_REFUSED: it is being closed. */
int gateway_reset(struct gateway *gateway, struct error **err) MUST_CHECK;
/* Lets the session's calls end (new ones wait), ends its upstreams and begins another session; `ended` is told from
 * gateway_resume(), which the caller has to call. Negative: it is being closed already. */
int gateway_close_session(struct gateway *gateway, gateway_ended ended, void *context, struct error **err) MUST_CHECK;

/* Handlers for an MCP server whose context is the gateway; ended by .method = NULL. */
extern const struct mcp_handler gateway_handlers[];

#endif
