/* merge.json: what the shards of a merged bundle were, and what the bundle must say because of them. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/environment.h"
#include "reports/merge.h"

#define FILE_NAME "merge.json"
#define SCHEMA "confinement-evidence/merge/1"
#define SCHEMA_BYTES ((size_t)64 * KIB)

static const struct schema_field shard_fields[];

static int encode_text(const struct merge *merge, struct buf *text, struct error **err)
{
	struct json_writer json;

	json_begin(&json, text);
	json_object(&json);
	json_member_string(&json, "schema", SCHEMA);
	json_put_key(&json, "shards");
	json_array(&json);
	for (size_t i = 0; i < merge->count; i++)
		schema_encode(shard_fields, &merge->shards[i], &json);
	json_array_end(&json);
	json_put_key(&json, "environments");
	json_array(&json);
	for (size_t i = 0; i < merge->count; i++)
		json_put_raw(&json, buf_string(&merge->environments[i]), merge->environments[i].length);
	json_array_end(&json);
	json_object_end(&json);
	return buf_check(text, FILE_NAME, err);
}

int merge_encode(const struct merge *merge, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);

	if (encode_text(merge, &text, err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

static int decode_lists(const struct json_node *shards, const struct json_node *environments, struct merge *out,
			struct error **err)
{
	const struct json_node *environment = json_first(environments);

	for (const struct json_node *shard = json_first(shards); shard; shard = json_next(shard)) {
		struct json_span raw = json_raw(environment);
		struct buf *text = &out->environments[out->count];

		if (schema_decode(shard_fields, shard, FILE_NAME, &out->shards[out->count], sizeof(out->shards[0]),
				  err) < 0)
			return -1;
		*text = (struct buf)BUF(BUNDLE_FILE_BYTES);
		out->count++;
		buf_add(text, raw.bytes, raw.length);
		if (buf_check(text, FILE_NAME, err) < 0 || environment_check(raw.bytes, raw.length, err) < 0)
			return error_wrap(err, FILE_NAME);
		environment = json_next(environment);
	}
	return 0;
}

static bool is_list(const struct json_node *node)
{
	return node && json_type(node) == JSON_ARRAY;
}

int merge_decode(const char *bytes, size_t length, struct merge **out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_merge struct merge *merge = calloc(1, sizeof(*merge));
	const struct json_node *root, *shards, *environments;

	if (!merge)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, FILE_NAME);
	root = json_root(document);
	shards = json_member(root, "shards");
	environments = json_member(root, "environments");
	if (!json_text_is(json_member(root, "schema"), SCHEMA) || !is_list(shards) || !is_list(environments) ||
	    json_count(root) != 3)
		return error_set(err, ERROR_INPUT,
				 "%s: must be an object of 'schema', 'shards' and 'environments' alone", FILE_NAME);
	if (json_count(shards) < 2 || json_count(shards) > PLAN_SHARDS_MAX ||
	    json_count(environments) != json_count(shards))
		return error_set(err, ERROR_INPUT, "%s: must have 2 to %d shards, each with its environment", FILE_NAME,
				 PLAN_SHARDS_MAX);
	if (decode_lists(shards, environments, merge, err) < 0)
		return -1;
	*out = steal_pointer(&merge);
	return 0;
}

/* environment.json's schema stands in it as a resource of its own, so that its references stay. */
int merge_schema(struct buf *out, struct error **err)
{
	cleanup_buf struct buf shard = BUF(SCHEMA_BYTES), environment = BUF(SCHEMA_BYTES);
	int most = PLAN_SHARDS_MAX;

	if (schema_print(shard_fields, "a shard", &shard, err) < 0 || environment_schema(&environment, err) < 0)
		return -1;
	buf_text(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"" FILE_NAME
		      " of a bundle, version 1\",\"type\":\"object\",\"additionalProperties\":false,"
		      "\"required\":[\"schema\",\"shards\",\"environments\"],\"properties\":{"
		      "\"schema\":{\"enum\":[\"" SCHEMA "\"]},");
	buf_printf(out, "\"shards\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":%d,\"items\":%s},", most,
		   buf_string(&shard));
	buf_printf(out,
		   "\"environments\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":%d,"
		   "\"items\":{\"$id\":\"environment.json\",%s}}}",
		   most, buf_string(&environment) + 1);
	return buf_check(out, "JSON Schema", err);
}

void merge_free(struct merge *merge)
{
	for (size_t i = 0; merge && i < merge->count; i++)
		buf_free(&merge->environments[i]);
	free(merge);
}

int merge_changed(const struct merge *merge, bool *out, struct error **err)
{
	*out = false;
	for (size_t i = 0; i < merge->count; i++) {
		const struct buf *text = &merge->environments[i];
		bool changed = false;

		if (environment_differs(buf_string(text), text->length, &changed, err) < 0)
			return -1;
		*out |= changed;
	}
	return 0;
}

static bool same_source(const struct manifest_source *one, const struct manifest_source *other)
{
	return strcmp(one->run, other->run) == 0 && strcmp(one->sums, other->sums) == 0;
}

int merge_check(const struct merge *merge, const struct manifest *manifest, struct error **err)
{
	cleanup_free struct merged *says = calloc(1, sizeof(*says));
	const struct manifest_origin *origin = &manifest->origin;
	const char *wrong = NULL;

	if (!says)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	merge_say(merge, says);
	if (origin->merged_count != merge->count)
		wrong = "mergedFrom";
	for (size_t i = 0; !wrong && i < merge->count; i++)
		if (!same_source(&origin->merged[i], &merge->shards[i].source))
			wrong = "mergedFrom";
	if (!wrong && strcmp(manifest->run, says->run) != 0)
		wrong = "runId";
	if (!wrong &&
	    (strcmp(manifest->started, says->started) != 0 || strcmp(manifest->finished, says->finished) != 0))
		wrong = "startedAt or finishedAt";
	if (!wrong && manifest->canaries != (int64_t)says->canaries)
		wrong = "canary.count";
	if (!wrong && (origin->executor != says->origin.executor ||
		       strcmp(origin->executor_id, says->origin.executor_id) != 0 || origin->seed != says->origin.seed))
		wrong = "executor or seed";
	return wrong ? error_set(err, ERROR_INPUT, "manifest.json: %s: not what %s makes it", wrong, FILE_NAME) : 0;
}

static int check_environment(const struct buf *text, const char *const *lacks, struct error **err)
{
	const char *missing[ENVIRONMENT_NEEDS + 1] = { NULL };

	if (environment_refused(buf_string(text), text->length, err) < 0 ||
	    environment_lacks(buf_string(text), text->length, missing, err) < 0)
		return -1;
	for (size_t i = 0; lacks[i] || missing[i]; i++)
		if (lacks[i] != missing[i])
			return error_set(err, ERROR_INPUT, "%s: the hosts of the shards do not lack the same",
					 FILE_NAME);
	return 0;
}

int merge_check_environments(const struct merge *merge, const struct arm_record *arms, size_t arms_count,
			     const char *environment, size_t length, struct error **err)
{
	const char *lacks[ENVIRONMENT_NEEDS + 1] = { NULL };
	char boots[PLAN_SHARDS_MAX][HEX_SHA256];

	if (merge->environments[0].length != length ||
	    memcmp(buf_string(&merge->environments[0]), environment, length) != 0)
		return error_set(err, ERROR_INPUT, "environment.json: not that of the first shard in %s", FILE_NAME);
	if (environment_lacks(environment, length, lacks, err) < 0)
		return -1;
	for (size_t i = 0; i < merge->count; i++) {
		const struct buf *text = &merge->environments[i];

		if (check_environment(text, lacks, err) < 0 ||
		    environment_boot_of(buf_string(text), text->length, boots[i], sizeof(boots[i]), err) < 0)
			return -1;
	}
	for (size_t i = 0; i < arms_count; i++)
		if (arms[i].shard < 1 || arms[i].shard > (int64_t)merge->count ||
		    (arms[i].boot[0] && strcmp(arms[i].boot, boots[arms[i].shard - 1]) != 0))
			return error_set(err, ERROR_INPUT,
					 "arms.json: arms[%zu] ran in another boot than its shard's environment", i);
	return 0;
}

#define AT(member) .required = true, .offset = offsetof(struct merge_shard, member)
#define TEXT(member, form)                                                                                             \
	.type = SCHEMA_STRING, .pattern = (form), .size = sizeof(((struct merge_shard *)0)->member), AT(member)
#define COUNT(member) .type = SCHEMA_INT, .max = EVIDENCE_INT_MAX, AT(member)

static const char *const executor_names[] = { [EXECUTOR_LOCAL] = "local", [EXECUTOR_CI] = "ci", NULL };

static const struct schema_field shard_fields[] = {
	{ .key = "runId", .min = 32, TEXT(source.run, PATTERN_HEX) },
	{ .key = "sumsSha256", .min = HEX_SHA256 - 1, TEXT(source.sums, PATTERN_HEX) },
	{ .key = "startedAt", TEXT(started, PATTERN_TIME) },
	{ .key = "finishedAt", TEXT(finished, PATTERN_TIME) },
	{ .key = "seed", COUNT(seed) },
	{ .key = "canaries", COUNT(canaries) },
	{ .key = "executor", .type = SCHEMA_ENUM, .names = executor_names, AT(executor) },
	{ .key = "executorId", .nullable = true, TEXT(executor_id, PATTERN_ID) },
	{ .key = NULL },
};
