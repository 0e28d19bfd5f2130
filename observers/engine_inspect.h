/* What the engine's last answer says of a container's life: how often it was restarted, and how it ended. */
#ifndef HARNESS_OBSERVERS_ENGINE_INSPECT_H
#define HARNESS_OBSERVERS_ENGINE_INSPECT_H

#include "observers/document.h"

struct engine_inspect {
	struct document document;
	bool parsed, exited;
	int64_t restarts, exit_code;
};

/* `inspect` must not move afterwards. */
void engine_inspect_init(struct engine_inspect *inspect);
/* Reads what came, once it has ended. Idempotent. */
void engine_inspect_parse(struct engine_inspect *inspect);
/* Why there is no value, or WIRE_REASON_NONE. */
enum wire_reason engine_inspect_restarts(const struct engine_inspect *inspect, int64_t *value);
enum wire_reason engine_inspect_exit_code(const struct engine_inspect *inspect, int64_t *value);
void engine_inspect_free(struct engine_inspect *inspect);

#endif
