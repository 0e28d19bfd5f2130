/*
 * libexec/gateway-mutant MUTANT: the gateway with one of its own protections taken away, for the arms that show that
 * the observers would notice. Made from the same pieces as harness-gateway, which holds nothing of this file: steps are
 * put together otherwise, and three functions are replaced when this program is linked. A fixture: no session of a
 * user's runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/spawn.h"
#include "gateway/call.h"
#include "gateway/program.h"
#include "gateway/serve.h"

#define TEXT_BYTES 512
#define EXTRA_FD 20
#define EXIT_ERROR 3
#define EXIT_USAGE 4

struct mutant {
	const char *id;
	const struct gateway_step *steps;
};
static const struct mutant mutants[];

/* The name that a program goes by is the one thing that its replaced functions can ask. */
static bool is(const char *mutant)
{
	return strcmp(program_invocation_name, mutant) == 0;
}

/* ---- steps ---- */

static const char *text_of(const struct gateway_call *call, char out[TEXT_BYTES])
{
	struct json_span raw = gateway_arguments(call);

	snprintf(out, TEXT_BYTES, "%.*s", (int)raw.length, raw.bytes);
	return out;
}

static enum step_result log_arguments(struct gateway_call *call)
{
	char text[TEXT_BYTES];

	fprintf(stderr, "call of %s with %s\n", call->name, text_of(call, text));
	return STEP_NEXT;
}

static enum step_result span_arguments(struct gateway_call *call)
{
	char text[TEXT_BYTES];
	const struct audit_entry entry = {
		.session_id = call->gateway->session.id,
		.call_id = call->id,
		.entry_type = "call_intent",
		.tool_name = text_of(call, text),
		.policy_decision = "n/a",
		.latency_us = -1,
		.evidence_class = "hash-only",
	};

	if (call->gateway->telemetry)
		telemetry_span(call->gateway->telemetry, &entry, call->started, clock_realtime());
	return STEP_NEXT;
}

static enum step_result row_arguments(struct gateway_call *call)
{
	cleanup_error struct error *lost = NULL;
	char text[TEXT_BYTES];
	struct audit_entry entry = {
		.session_id = call->gateway->session.id,
		.call_id = call->id,
		.entry_type = "tool_call",
		.policy_decision = "n/a",
		.detail = text_of(call, text),
		.latency_us = -1,
		.evidence_class = "hash-only",
	};

	if (call->gateway->audit && (audit_store_append(call->gateway->audit, &entry, &lost) < 0 ||
				     audit_store_commit(call->gateway->audit, false, &lost) < 0))
		return gateway_end_by(call, RULE_AUDIT);
	return STEP_NEXT;
}

/* The session is at what the last call brought, also where that is less. */
static enum step_result fall(struct gateway_call *call)
{
	struct gateway *gateway = call->gateway;

	gateway->session.label = gateway_config_label(gateway->config, call->tool->sensitivity);
	gateway->session.rank = gateway_config_rank(gateway->config, call->tool->sensitivity);
	return STEP_NEXT;
}

/* What cannot be written down goes out all the same. */
static enum step_result intent_or_not(struct gateway_call *call)
{
	enum step_result result = step_intent(call);

	if (result != STEP_END)
		return result;
	call->rule = RULE_NONE;
	return STEP_NEXT;
}

#define FIRST_STEPS                                                                                                    \
	{ .id = "enter", .run = step_enter }, { .id = "execution", .run = step_execution },                            \
		{ .id = "health", .run = step_health },                                                                \
	{                                                                                                              \
		.id = "catalog", .run = step_catalog                                                                   \
	}
#define FOUND_STEPS                                                                                                    \
	{ .id = "discover", .run = step_discover },                                                                    \
	{                                                                                                              \
		.id = "defined", .run = step_defined                                                                   \
	}
#define CHECK_STEPS                                                                                                    \
	{ .id = "allowed", .run = step_allowed }, { .id = "arguments", .run = step_arguments },                        \
	{                                                                                                              \
		.id = "budget", .run = step_budget                                                                     \
	}
#define CEILING_STEP                                                                                                   \
	{                                                                                                              \
		.id = "ceiling", .run = step_ceiling                                                                   \
	}
#define LAST_STEPS                                                                                                     \
	{ .id = "dispatch", .run = step_dispatch },                                                                    \
	{                                                                                                              \
		.id = "size", .run = step_size                                                                         \
	}
#define ANSWER_STEPS                                                                                                   \
	{ .id = "raise", .run = step_raise },                                                                          \
	{                                                                                                              \
		.id = "scan", .run = step_scan                                                                         \
	}
#define RESPONSE_STEP                                                                                                  \
	{                                                                                                              \
		.id = "ceiling-response", .run = step_response                                                         \
	}
#define INTENT_STEP                                                                                                    \
	{                                                                                                              \
		.id = "intent", .run = step_intent                                                                     \
	}
#define NO_STEP                                                                                                        \
	{                                                                                                              \
		.id = NULL                                                                                             \
	}
/* All steps, behind one more. */
#define STEPS_BEHIND(first)                                                                                            \
	{                                                                                                              \
		{ .id = "mutant", .run = (first) }, FIRST_STEPS, CEILING_STEP, FOUND_STEPS, CEILING_STEP, CHECK_STEPS, \
			INTENT_STEP, CEILING_STEP, LAST_STEPS, ANSWER_STEPS, RESPONSE_STEP, NO_STEP                    \
	}

static const struct gateway_step log_steps[] = STEPS_BEHIND(log_arguments);
static const struct gateway_step span_steps[] = STEPS_BEHIND(span_arguments);
static const struct gateway_step row_steps[] = STEPS_BEHIND(row_arguments);

static const struct gateway_step once_steps[] = {
	FIRST_STEPS, CEILING_STEP, FOUND_STEPS,   CHECK_STEPS, INTENT_STEP,
	LAST_STEPS,  ANSWER_STEPS, RESPONSE_STEP, NO_STEP,
};
static const struct gateway_step no_response_steps[] = {
	FIRST_STEPS, CEILING_STEP, FOUND_STEPS, CEILING_STEP, CHECK_STEPS,
	INTENT_STEP, CEILING_STEP, LAST_STEPS,  ANSWER_STEPS, NO_STEP,
};
static const struct gateway_step fall_steps[] = {
	FIRST_STEPS,
	CEILING_STEP,
	FOUND_STEPS,
	CEILING_STEP,
	CHECK_STEPS,
	INTENT_STEP,
	CEILING_STEP,
	LAST_STEPS,
	{ .id = "fall", .run = fall },
	{ .id = "scan", .run = step_scan },
	RESPONSE_STEP,
	NO_STEP,
};
static const struct gateway_step unscanned_steps[] = {
	FIRST_STEPS,
	CEILING_STEP,
	FOUND_STEPS,
	CEILING_STEP,
	{ .id = "allowed", .run = step_allowed },
	{ .id = "budget", .run = step_budget },
	INTENT_STEP,
	CEILING_STEP,
	LAST_STEPS,
	ANSWER_STEPS,
	RESPONSE_STEP,
	NO_STEP,
};
static const struct gateway_step open_steps[] = {
	FIRST_STEPS,  CEILING_STEP, FOUND_STEPS,  CEILING_STEP,  CHECK_STEPS, { .id = "intent", .run = intent_or_not },
	CEILING_STEP, LAST_STEPS,   ANSWER_STEPS, RESPONSE_STEP, NO_STEP,
};

/* ---- functions that are replaced ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for what it wraps. */
int __real_program_measure(const struct gateway_server *server, struct program *out);
int __wrap_program_measure(const struct gateway_server *server, struct program *out);
int __real_spawn(const struct spawn_options *options, struct child *out, struct error **err);
int __wrap_spawn(const struct spawn_options *options, struct child *out, struct error **err);
void __real_answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id);
void __wrap_answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id);

/* Whatever it is, it was declared so. */
int __wrap_program_measure(const struct gateway_server *server, struct program *out)
{
	struct gateway_server own = *server;
	cleanup_error struct error *unread = NULL;
	cleanup_fd int fd = -1;

	if (is("unmeasured")) {
		fd = open(own.command, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || hash_fd(fd, own.sha256, &unread) < 0)
			return -1;
	}
	return __real_program_measure(is("unmeasured") ? &own : server, out);
}

int __wrap_spawn(const struct spawn_options *options, struct child *out, struct error **err)
{
	struct spawn_options own = *options;

	if (is("environment"))
		own.envp = environ;
	if (is("descriptors") && own.fds_count < SPAWN_FDS_MAX)
		own.fds[own.fds_count++] = (struct spawn_fd){ .from = STDERR_FILENO, .to = EXTRA_FD };
	return __real_spawn(&own, out, err);
}

void __wrap_answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id)
{
	struct json_span params = json_raw(mcp_request_params(request));
	char text[TEXT_BYTES], data[TEXT_BYTES];
	int length = snprintf(data, sizeof(data), "{\"error_code\":\"%s\"}", gateway_outcome(rule)->error_code);

	if (!is("error-text")) {
		__real_answer_refuse(request, rule, call_id);
		return;
	}
	snprintf(text, sizeof(text), "refused: %.*s", (int)params.length, params.bytes);
	mcp_request_error(request, RPC_SERVER_ERROR, text,
			  (struct json_span){ .bytes = data, .length = (size_t)length });
}
/* NOLINTEND(bugprone-reserved-identifier) */

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	struct serve_options options = { .stdio = true };
	const struct mutant *mutant = mutants;

	while (mutant->id && (argc != 2 || strcmp(mutant->id, argv[1]) != 0))
		mutant++;
	if (!mutant->id) {
		fprintf(stderr, "gateway-mutant: its argument is a mutant that it knows\n");
		return EXIT_USAGE;
	}
	program_invocation_name = argv[1];
	options.call_steps = mutant->steps;
	if (serve(&options, &err) >= 0)
		return 0;
	fprintf(stderr, "gateway-mutant: %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct mutant mutants[] = {
	{ .id = "log", .steps = log_steps },
	{ .id = "span", .steps = span_steps },
	{ .id = "row", .steps = row_steps },
	{ .id = "error-text" },
	{ .id = "ceiling-once", .steps = once_steps },
	{ .id = "no-response-ceiling", .steps = no_response_steps },
	{ .id = "falls", .steps = fall_steps },
	{ .id = "unscanned", .steps = unscanned_steps },
	{ .id = "audit-open", .steps = open_steps },
	{ .id = "unmeasured" },
	{ .id = "environment" },
	{ .id = "descriptors" },
	{ .id = NULL },
};
