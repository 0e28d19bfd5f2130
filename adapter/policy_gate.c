#include "adapter/policy_gate.h"

#include <string.h>

#include "core/fd.h"
#include "core/json.h"

#define REVISION_MAX INT64_C(9007199254740991) /* 2^53 - 1: exact, whoever reads it */
#define UPDATE_DEPTH 1

static const char file[] = "a policy update";

int policy_change_decode(const char *bytes, size_t length, struct policy_change *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	memset(out, 0, sizeof(*out));
	if (json_parse(bytes, length, UPDATE_DEPTH, &document, err) < 0)
		return error_wrap(err, "%s", file);
	if (schema_decode(policy_change_fields, json_root(document), file, out, sizeof(*out), err) < 0)
		return -1;
	if ((out->revoke[0] != '\0') != (out->restore[0] != '\0'))
		return 0;
	memset(out, 0, sizeof(*out));
	return error_set(err, ERROR_INPUT, "%s: either revoke or restore", file);
}

void policy_gate_init(struct policy_gate *gate, bool enforced, bool lock)
{
	*gate = (struct policy_gate){ .enforced = enforced, .lock = lock };
}

static struct policy_tool *find(struct policy_gate *gate, const char *tool)
{
	for (size_t i = 0; i < gate->tools_count; i++)
		if (strcmp(gate->tools[i].name, tool) == 0)
			return &gate->tools[i];
	return NULL;
}

void policy_gate_approve(struct policy_gate *gate, const char *tool)
{
	size_t length = strlen(tool);

	if (length == 0 || length >= NAME_MAX_SHORT || gate->tools_count == POLICY_TOOLS_MAX || find(gate, tool))
		return;
	memcpy(gate->tools[gate->tools_count++].name, tool, length + 1);
}

bool policy_gate_admit(struct policy_gate *gate, const char *tool)
{
	const struct policy_tool *row = find(gate, tool);

	if (gate->enforced && (!row || row->revoked || gate->closed))
		return false;
	gate->calls++;
	return true;
}

void policy_gate_finish(struct policy_gate *gate)
{
	gate->calls--;
}

void policy_gate_submit(struct policy_gate *gate, const char *bytes, size_t length)
{
	cleanup_error struct error *reason = NULL;
	struct policy_change *change = &gate->change;

	gate->pending = true;
	gate->outcome = POLICY_APPLIED;
	if (policy_change_decode(bytes, length, change, &reason) < 0 ||
	    !find(gate, change->revoke[0] ? change->revoke : change->restore))
		gate->outcome = POLICY_INVALID;
	else if (change->revision <= gate->revision)
		gate->outcome = POLICY_STALE;
	if (gate->outcome != POLICY_APPLIED)
		gate->closed = true;
}

bool policy_gate_pending(const struct policy_gate *gate)
{
	return gate->pending;
}

static void apply(struct policy_gate *gate)
{
	const struct policy_change *change = &gate->change;

	find(gate, change->revoke[0] ? change->revoke : change->restore)->revoked = change->revoke[0] != '\0';
	gate->revision = change->revision;
	gate->closed = false;
}

bool policy_gate_settle(struct policy_gate *gate, struct policy_acknowledgment *out)
{
	if (!gate->pending || (gate->lock && gate->calls > 0))
		return false;
	gate->pending = false;
	if (gate->outcome == POLICY_APPLIED)
		apply(gate);
	*out = (struct policy_acknowledgment){
		.outcome = gate->outcome,
		.revision = gate->revision,
		.closed = gate->closed,
	};
	for (size_t i = 0; i < gate->tools_count; i++)
		out->revoked |= gate->tools[i].revoked ? UINT32_C(1) << i : 0;
	return true;
}

uint32_t policy_update_opens(const struct policy_acknowledgment *now, const char *const *tools, size_t count,
			     const char *bytes, size_t length)
{
	cleanup_error struct error *reason = NULL;
	struct policy_change change;
	uint32_t all = 0, named = 0, revoked;

	if (policy_change_decode(bytes, length, &change, &reason) < 0 || change.revision <= now->revision)
		return 0;
	for (size_t i = 0; i < count; i++) {
		all |= UINT32_C(1) << i;
		if (strcmp(tools[i], change.revoke[0] ? change.revoke : change.restore) == 0)
			named |= UINT32_C(1) << i;
	}
	if (!named)
		return 0;
	revoked = change.revoke[0] ? now->revoked | named : now->revoked & ~named;
	return (now->closed ? all : now->revoked) & ~revoked;
}

const char *const policy_outcome_names[] = {
	[POLICY_APPLIED] = "applied",
	[POLICY_STALE] = "stale",
	[POLICY_INVALID] = "invalid",
	NULL,
};

#define TOOL(name)                                                                                                     \
	{                                                                                                              \
		.key = #name, .type = SCHEMA_STRING, .min = 1, .pattern = PATTERN_ID, .size = NAME_MAX_SHORT,          \
		.offset = offsetof(struct policy_change, name)                                                         \
	}

const struct schema_field policy_change_fields[] = {
	{ .key = "revision",
	  .type = SCHEMA_INT,
	  .required = true,
	  .min = 1,
	  .max = REVISION_MAX,
	  .offset = offsetof(struct policy_change, revision) },
	TOOL(revoke),
	TOOL(restore),
	{ .key = NULL },
};
