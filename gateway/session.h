/*
 * The session that all callers of one gateway share: its label only rises, until an operator resets it or somebody
 * closes it, which begins another.
 */
#ifndef HARNESS_GATEWAY_SESSION_H
#define HARNESS_GATEWAY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "gateway/answer.h"
#include "gateway/config.h"

struct gateway_state {
	char id[ANSWER_ID_BYTES];
	const char *label; /* kept by the configuration; NULL when it has no rank */
	int rank; /* of the label, or LABEL_UNKNOWN */
	uint64_t epoch; /* rises with each new session */
	int64_t calls; /* that the budget counts */
	bool drifted; /* a definition was not the approved one */
};

/* A new session at the label where sessions start. */
int session_begin(struct gateway_state *session, const struct gateway_config *config, struct error **err) MUST_CHECK;
/* Data of this label came in. On a tie the first label stays; one without a rank is nothing that rises. */
void session_raise(struct gateway_state *session, const struct gateway_config *config, const char *label);

#endif
