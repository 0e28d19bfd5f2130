/* One observation as a line of observations.jsonl, and whether its observer was live. */
#include "oracle/observation.h"

int observation_write(const struct observation *observation, struct buf *out, struct error **err)
{
	cleanup_buf struct buf line = BUF(OBSERVATION_LINE_BYTES);
	struct json_writer writer;
	int result;

	json_begin(&writer, &line);
	schema_encode(observation_fields, observation, &writer);
	result = buf_check(&line, "an observation", err);
	if (result < 0)
		return result;
	result = json_canonical(line.data, line.length, out, err);
	if (result < 0)
		return error_wrap(err, "an observation");
	buf_text(out, "\n");
	return buf_check(out, "observations", err);
}

int observation_read(const char *line, size_t length, struct observation *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int result;

	if (length > OBSERVATION_LINE_BYTES)
		return error_set(err, ERROR_LIMIT, "an observation has more than %d bytes", OBSERVATION_LINE_BYTES);
	result = json_parse(line, length, JSON_DEPTH, &document, err);
	if (result < 0)
		return error_wrap(err, "an observation");
	return schema_decode(observation_fields, json_root(document), "an observation", out, sizeof(*out), err);
}

bool observation_live(const struct observation *observation)
{
	return observation->status == OBSERVATION_OBSERVED && observation->value >= 0 && observation->dropped == 0 &&
	       observation->beacon_before > 0 && observation->beacon_after > 0 &&
	       (observation->reason == OBSERVATION_REASON_NONE || observation->reason == OBSERVATION_REASON_CENSORED);
}

const char *const observation_kind_names[] = {
	[OBSERVATION_COUNT] = "count",
	[OBSERVATION_DURATION] = "duration",
	[OBSERVATION_STATE] = "state",
	NULL,
};

const char *const observation_status_names[] = {
	[OBSERVATION_OBSERVED] = "observed",
	[OBSERVATION_NOT_OBSERVABLE] = "not_observable",
	[OBSERVATION_OBSERVER_ERROR] = "observer_error",
	NULL,
};

const char *const observation_reason_names[] = {
	[OBSERVATION_REASON_NONE] = "none",
	[OBSERVATION_REASON_DROPPED] = "dropped",
	[OBSERVATION_REASON_TRUNCATED] = "truncated",
	[OBSERVATION_REASON_INPUT_MISSING] = "input_missing",
	[OBSERVATION_REASON_INPUT_INVALID] = "input_invalid",
	[OBSERVATION_REASON_LIMIT] = "limit",
	[OBSERVATION_REASON_CENSORED] = "censored",
	[OBSERVATION_REASON_KNOWN_ANSWER] = "known_answer",
	[OBSERVATION_REASON_TIMEOUT] = "timeout",
	[OBSERVATION_REASON_LOST] = "lost",
	NULL,
};

#define AT(member) .offset = offsetof(struct observation, member), .required = true
#define TEXT(member)                                                                                                   \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = sizeof(((struct observation *)0)->member), AT(member)
#define COUNT(member) .type = SCHEMA_INT, .max = EVIDENCE_INT_MAX, AT(member)
#define NAMED(list, member) .type = SCHEMA_ENUM, .names = list, AT(member)

const struct schema_field observation_fields[] = {
	{ .key = "id", TEXT(id) },
	{ .key = "arm", TEXT(arm) },
	{ .key = "repetition", COUNT(repetition) },
	{ .key = "subject", TEXT(subject) },
	{ .key = "observer", TEXT(observer) },
	{ .key = "kind", NAMED(observation_kind_names, kind) },
	{ .key = "status", NAMED(observation_status_names, status) },
	{ .key = "reason", NAMED(observation_reason_names, reason) },
	{ .key = "unit", TEXT(unit) },
	/* A negative value can be read, so that the judge sees it, and is never live. */
	{ .key = "value", .type = SCHEMA_INT, .min = -EVIDENCE_INT_MAX, .max = EVIDENCE_INT_MAX, AT(value) },
	{ .key = "attempts", COUNT(attempts) },
	{ .key = "connections", COUNT(connections) },
	{ .key = "bytes", COUNT(bytes) },
	{ .key = "canaryHits", COUNT(canary_hits) },
	{ .key = "dropped", COUNT(dropped) },
	{ .key = "beaconBefore", COUNT(beacon_before) },
	{ .key = "beaconAfter", COUNT(beacon_after) },
	{ .key = "startNs", COUNT(start_ns) },
	{ .key = "durationNs", COUNT(duration_ns) },
	{ .key = NULL },
};
