#include "reports/replay.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/schema.h"

#define FILE_NAME "replay.json"

struct document {
	int schema;
	struct replay replay;
};
static const struct schema_field document_fields[];

static enum replay_outcome outcome_of(int64_t differences, size_t facts)
{
	if (differences > 0)
		return REPLAY_DIVERGED;
	return facts > 0 ? REPLAY_ENVIRONMENT_DIFFERS : REPLAY_REPRODUCED;
}

/* Of the manifest, what is not said to be equal before, and is no part of how the run came about. */
bool replay_stands_on(const char *name)
{
	return strncmp(name, "program.", strlen("program.")) == 0 || strcmp(name, "producer.buildId") == 0 ||
	       strcmp(name, "image.imageStore") == 0 || strcmp(name, "gateway.version") == 0 ||
	       strcmp(name, "gateway.sha256") == 0;
}

void replay_conclude(const struct comparison *comparison, const struct manifest_source *of, bool part,
		     struct replay *out)
{
	out->of = *of;
	out->part = part;
	out->cells = (int64_t)comparison->cells;
	out->differences = (int64_t)comparison->weighing;
	for (size_t i = 0; i < comparison->count && out->diverged_count < REPLAY_DIVERGED_MAX; i++)
		if (comparison->differences[i].weighs)
			out->diverged[out->diverged_count++] = comparison->differences[i];
	for (size_t i = 0; i < comparison->environment_count; i++)
		out->environment[out->environment_count++] = comparison->environment[i];
	for (size_t i = 0; i < comparison->origin_count && out->environment_count < COMPARE_FACTS_MAX; i++)
		if (replay_stands_on(comparison->origin[i].name))
			out->environment[out->environment_count++] = comparison->origin[i];
	out->outcome = outcome_of(out->differences, out->environment_count);
}

int replay_encode(const struct replay *replay, struct buf *out, struct error **err)
{
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	struct json_writer json;

	if (!document)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	document->replay = *replay;
	json_begin(&json, &text);
	schema_encode(document_fields, document, &json);
	if (buf_check(&text, FILE_NAME, err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

int replay_decode(const char *bytes, size_t length, struct replay **out, struct error **err)
{
	cleanup_json struct json_document *text = NULL;
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	cleanup_free struct replay *replay = calloc(1, sizeof(*replay));

	if (!document || !replay)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	if (json_parse(bytes, length, JSON_DEPTH, &text, err) < 0)
		return error_wrap(err, FILE_NAME);
	if (schema_decode(document_fields, json_root(text), FILE_NAME, document, sizeof(*document), err) < 0)
		return -1;
	*replay = document->replay;
	if (replay->outcome != (int)outcome_of(replay->differences, replay->environment_count) ||
	    (replay->differences < REPLAY_DIVERGED_MAX ? replay->differences : REPLAY_DIVERGED_MAX) !=
		    (int64_t)replay->diverged_count)
		return error_set(err, ERROR_INPUT, "%s: outcome: not what the differences make it", FILE_NAME);
	*out = steal_pointer(&replay);
	return 0;
}

void replay_free(struct replay *replay)
{
	free(replay);
}

int replay_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

/* One tree makes one program, whoever compiles it; what was never committed is known by its build alone. */
static bool same_harness(const struct manifest_build *one, const struct manifest_build *other)
{
	if (one->id[0] && strcmp(one->id, other->id) == 0)
		return true;
	return one->tree[0] && !one->dirty && !other->dirty && strcmp(one->tree, other->tree) == 0;
}

enum replay_reason replay_ready(const struct manifest *of, const struct manifest_origin *here, const char *version)
{
	if (of->origin.merged_count > 0)
		return REPLAY_MERGED;
	if (strcmp(of->version, version) != 0 || !same_harness(&of->origin.build, &here->build))
		return REPLAY_VERSION;
	if (strcmp(of->origin.architecture, here->architecture) != 0)
		return REPLAY_ARCHITECTURE;
	if (strcmp(of->origin.image_config, here->image_config) != 0)
		return REPLAY_IMAGE;
	return REPLAY_READY;
}

const char *const replay_outcome_names[] = {
	[REPLAY_REPRODUCED] = "REPRODUCED",
	[REPLAY_ENVIRONMENT_DIFFERS] = "REPRODUCED_ENV_DIFFERS",
	[REPLAY_DIVERGED] = "DIVERGED",
	[REPLAY_NOT_ATTEMPTED] = "NOT_ATTEMPTED",
	NULL,
};

const char *const replay_reason_names[] = {
	[REPLAY_READY] = "ready",
	[REPLAY_NOT_INTACT] = "bundle-not-intact",
	[REPLAY_MERGED] = "bundle-is-merged",
	[REPLAY_VERSION] = "harness-differs",
	[REPLAY_SCENARIOS] = "scenarios-differ",
	[REPLAY_PROFILE] = "profile-differs",
	[REPLAY_IMAGE] = "image-differs",
	[REPLAY_ARCHITECTURE] = "architecture-differs",
	[REPLAY_GATEWAY] = "gateway-unavailable",
	[REPLAY_PLAN] = "plan-differs",
	[REPLAY_HOST] = "host-unsupported",
	NULL,
};

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define TEXT(owner, member, form)                                                                                      \
	.required = true, .type = SCHEMA_STRING, .pattern = (form), .size = SIZE(owner, member),                       \
	.offset = offsetof(struct owner, member)
#define COUNT(owner, member)                                                                                           \
	.required = true, .type = SCHEMA_INT, .max = EVIDENCE_INT_MAX, .offset = offsetof(struct owner, member)
#define NAMED(owner, list, member)                                                                                     \
	.required = true, .type = SCHEMA_ENUM, .names = (list), .offset = offsetof(struct owner, member)
#define ROWS(member, table, most)                                                                                      \
	.required = true, .type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(document, replay.member[0]),          \
	.array_max = (most), .offset = offsetof(struct document, replay.member),                                       \
	.count_offset = offsetof(struct document, replay.member##_count)

static const char *const schema_names[] = { "confinement-evidence/replay/1", NULL };

static const struct schema_field source_fields[] = {
	{ .key = "runId", .min = 32, TEXT(manifest_source, run, PATTERN_HEX) },
	{ .key = "sumsSha256", .min = HEX_SHA256 - 1, TEXT(manifest_source, sums, PATTERN_HEX) },
	{ .key = NULL },
};

static const struct schema_field difference_fields[] = {
	{ .key = "aspect", NAMED(compare_difference, compare_aspect_names, aspect) },
	{ .key = "arm", TEXT(compare_difference, arm, PATTERN_ID) },
	{ .key = "repetition", .min = 1, COUNT(compare_difference, repetition) },
	{ .key = "subject", .nullable = true, TEXT(compare_difference, subject, PATTERN_ID) },
	{ .key = "observer", .nullable = true, TEXT(compare_difference, observer, PATTERN_ID) },
	{ .key = "was", .nullable = true, TEXT(compare_difference, was, PATTERN_ID) },
	{ .key = "is", .nullable = true, TEXT(compare_difference, is, PATTERN_ID) },
	{ .key = "weighs",
	  .required = true,
	  .type = SCHEMA_BOOL,
	  .offset = offsetof(struct compare_difference, weighs) },
	{ .key = NULL },
};

static const struct schema_field fact_fields[] = {
	{ .key = "name", TEXT(compare_fact, name, PATTERN_FIELD) },
	{ .key = "was", .nullable = true, TEXT(compare_fact, was, PATTERN_ASCII) },
	{ .key = "is", .nullable = true, TEXT(compare_fact, is, PATTERN_ASCII) },
	{ .key = NULL },
};

static const struct schema_field document_fields[] = {
	{ .key = "schema", NAMED(document, schema_names, schema) },
	{ .key = "replayOf",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = source_fields,
	  .size = sizeof(struct manifest_source),
	  .offset = offsetof(struct document, replay.of) },
	{ .key = "outcome", NAMED(document, replay_outcome_names, replay.outcome) },
	{ .key = "part", .required = true, .type = SCHEMA_BOOL, .offset = offsetof(struct document, replay.part) },
	{ .key = "cells", COUNT(document, replay.cells) },
	{ .key = "differences", COUNT(document, replay.differences) },
	{ .key = "diverged", ROWS(diverged, difference_fields, REPLAY_DIVERGED_MAX) },
	{ .key = "environment", ROWS(environment, fact_fields, COMPARE_FACTS_MAX) },
	{ .key = NULL },
};
