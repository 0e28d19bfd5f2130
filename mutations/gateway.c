/* The gateway's own protections: each mutant is another program, made from the gateway's own pieces. */
#include "mutations/mutation.h"

#define PROGRAM "gateway-mutant"
#define GATEWAY_MUTATION(name, word, text)                                                                             \
	static void apply_##name(struct session_options *options)                                                      \
	{                                                                                                              \
		options->gateway_program = PROGRAM;                                                                    \
		options->gateway_mode = (word);                                                                        \
	}                                                                                                              \
	const struct mutation mutation_gateway_##name = {                                                              \
		.id = "mutant-" word,                                                                                  \
		.title = (text),                                                                                       \
		.apply = apply_##name,                                                                                 \
		.must_fail = must_fail,                                                                                \
		.may_differ = may_differ,                                                                              \
	}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "gateway.program", NULL };

GATEWAY_MUTATION(log, "log", "the gateway logs the arguments of calls");
GATEWAY_MUTATION(span, "span", "the gateway puts the arguments of calls into a span");
GATEWAY_MUTATION(row, "row", "the gateway puts the arguments of calls into a row of its audit chain");
GATEWAY_MUTATION(error_text, "error-text", "the gateway says again what it refuses");
GATEWAY_MUTATION(ceiling_once, "ceiling-once",
		 "the gateway checks ceilings before it knows its upstream, and not again");
GATEWAY_MUTATION(no_response_ceiling, "no-response-ceiling", "no ceiling stands before an answer");
GATEWAY_MUTATION(falls, "falls", "the session's label falls to that of the last call");
GATEWAY_MUTATION(unscanned, "unscanned", "arguments are not scanned");
GATEWAY_MUTATION(audit_open, "audit-open", "a call goes out though its audit row was refused");
GATEWAY_MUTATION(unmeasured, "unmeasured", "the upstream may be another program than the declared one");
GATEWAY_MUTATION(environment, "environment", "an upstream inherits the gateway's environment");
GATEWAY_MUTATION(descriptors, "descriptors", "an upstream gets a descriptor of the gateway's");
