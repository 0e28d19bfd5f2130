/* The effective configuration of an arm, for its record: each value by its hash. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "runner/arm_steps.h"

static int take_effective(void *context, const char *field, const char *sha256, struct error **err)
{
	struct arm_record *record = &((struct arm *)context)->result->record;
	struct effective_value *value;

	if (record->effective_count == ARM_EFFECTIVE_MAX)
		return error_set(err, ERROR_LIMIT, "the effective configuration has more than %d fields",
				 ARM_EFFECTIVE_MAX);
	value = &record->effective[record->effective_count++];
	snprintf(value->field, sizeof(value->field), "%s", field);
	snprintf(value->sha256, sizeof(value->sha256), "%s", sha256);
	return 0;
}

static int take_text(struct arm *arm, const char *field, const char *text, struct error **err)
{
	char sha256[HEX_SHA256];

	hash_bytes(text, strlen(text), sha256);
	return take_effective(arm, field, sha256, err);
}

/* The engine's and the kernel's view, then the gateway's and the session's own configuration. */
int arm_project(struct arm *arm, struct error **err)
{
	if (session_project(&arm->session, take_effective, arm, err) < 0 ||
	    take_text(arm, "gateway.sensitivity", arm->options.sensitivity, err) < 0 ||
	    take_text(arm, "gateway.ceiling.response", arm->options.response_ceiling, err) < 0 ||
	    take_text(arm, "session.watchdog", arm->options.watchdog ? "armed" : "none", err) < 0 ||
	    take_text(arm, "session.acknowledge", arm->options.acknowledge ? "checked" : "unchecked", err) < 0)
		return -1;
	for (size_t i = 0; i < arm->options.ceilings_count; i++) {
		char field[64];

		snprintf(field, sizeof(field), "gateway.ceiling.%s", arm->options.ceilings[i].tool);
		if (take_text(arm, field, arm->options.ceilings[i].max, err) < 0)
			return -1;
	}
	return 0;
}
