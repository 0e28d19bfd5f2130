/*
 * The operator's channel: a Unix socket in the arm's own folder, mode 0600, for uid 0 and the arm's own uid alone. One
 * packet asks, one packet answers. What is asked is POLICY_SHOW, or an update as adapter/policy_gate.h says; whatever
 * is neither is handed on as an update too, and closes admission as an invalid one does: an operator who cannot be
 * understood wants less, not more.
 */
#ifndef HARNESS_RUNNER_POLICY_CHANNEL_H
#define HARNESS_RUNNER_POLICY_CHANNEL_H

#include "adapter/session.h"
#include "core/loop.h"
#include "core/schema.h"

#define POLICY_SOCKET "policy" /* in the arm's folder */
#define POLICY_SHOW "{\"request\":\"show\"}"
#define POLICY_REQUEST_BYTES (CONTROL_POLICY_BYTES + 1) /* one that is cut there is too long for a gate */

enum policy_said {
	POLICY_SAID_STATE, /* SHOW: how it stands */
	POLICY_SAID_APPLIED,
	POLICY_SAID_STALE,
	POLICY_SAID_INVALID,
	POLICY_SAID_BUSY, /* another update is under way: nothing was done */
	POLICY_SAID_NOT_OPEN, /* the session has not begun or is over: nothing was done */
	POLICY_SAID_LOST, /* the session ended meanwhile: it is not known whether the update took hold */
};

struct policy_tool_state {
	char tool[NAME_MAX_SHORT];
	bool revoked;
};

struct policy_answer {
	int said; /* enum policy_said */
	char scenario[ID_MAX];
	bool open; /* calls can be made */
	bool closed; /* admission is */
	int64_t revision; /* that holds */
	struct policy_tool_state tools[SESSION_TOOLS_MAX];
	size_t tools_count;
};
extern const struct schema_field policy_answer_fields[];

struct policy_channel;

/* A request of `client`, which waits for policy_channel_answer(). */
typedef void (*policy_asked)(void *context, unsigned client, const char *bytes, size_t length);

/* Listens in `folder` (a path) and serves from the loop, which it leaves when it is closed. */
int policy_channel_open(struct loop *loop, const char *folder, policy_asked asked, void *context,
			struct policy_channel **out, struct error **err) MUST_CHECK;
/* NULL-safe; who still waits is hung up on. */
void policy_channel_close(struct policy_channel *channel);
/* One that left meanwhile, or was never there, hears nothing. */
void policy_channel_answer(struct policy_channel *channel, unsigned client, const struct policy_answer *answer);

/* The other end: asks the channel in `folder` and waits for its answer until the deadline. A folder without one, or one
 * whose process is another user's, is ERROR_CLOSED. */
int policy_ask(const char *folder, const char *bytes, size_t length, int64_t deadline, struct policy_answer *out,
	       struct error **err) MUST_CHECK;

#endif
