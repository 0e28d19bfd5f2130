/* What two runs stood on, fact by fact. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "reports/compare.h"
#include "reports/environment.h"

static void add(struct compare_fact *facts, size_t *count, const char *name, const char *was, const char *is)
{
	struct compare_fact *fact = &facts[*count];

	if (strcmp(was, is) == 0 || *count == COMPARE_FACTS_MAX)
		return;
	snprintf(fact->name, sizeof(fact->name), "%s", name);
	snprintf(fact->was, sizeof(fact->was), "%s", was);
	snprintf(fact->is, sizeof(fact->is), "%s", is);
	(*count)++;
}

/* A string without its quotes; what else it is, as it is written. */
static void text_of(const struct json_node *node, char out[COMPARE_TEXT])
{
	const char *text = json_string(node);
	struct json_span raw = { .bytes = "", .length = 0 };

	if (node && !json_is_null(node))
		raw = json_raw(node);
	if (text)
		snprintf(out, COMPARE_TEXT, "%s", text);
	else
		snprintf(out, COMPARE_TEXT, "%.*s", (int)(raw.length < COMPARE_TEXT ? raw.length : COMPARE_TEXT - 1),
			 raw.bytes);
}

int compare_environments(const struct compare_side *one, const struct compare_side *other, struct comparison *out,
			 struct error **err)
{
	cleanup_json struct json_document *first = NULL;
	cleanup_json struct json_document *second = NULL;

	if (json_parse(one->environment, one->environment_length, JSON_DEPTH, &first, err) < 0 ||
	    json_parse(other->environment, other->environment_length, JSON_DEPTH, &second, err) < 0)
		return error_wrap(err, "environment.json");
	for (size_t i = 0; environment_fact(i); i++) {
		const char *name = environment_fact(i);
		char was[COMPARE_TEXT], is[COMPARE_TEXT];

		/* What changes by itself is no difference. */
		if (environment_fact_varies(name))
			continue;
		text_of(json_member(json_member(json_root(first), "before"), name), was);
		text_of(json_member(json_member(json_root(second), "before"), name), is);
		add(out->environment, &out->environment_count, name, was, is);
	}
	return 0;
}

static void number(int64_t value, char out[COMPARE_TEXT])
{
	snprintf(out, COMPARE_TEXT, "%" PRId64, value);
}

static void words(const struct manifest_origin *origin, char out[COMPARE_TEXT])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < origin->selection_count && length < COMPARE_TEXT; i++)
		length += (size_t)snprintf(out + length, COMPARE_TEXT - length, "%s%s", i ? " " : "",
					   origin->selection[i]);
}

static const char *digest_of(const struct manifest *manifest, const char *program)
{
	for (size_t i = 0; i < manifest->programs_count; i++)
		if (strcmp(manifest->programs[i].name, program) == 0)
			return manifest->programs[i].sha256;
	return "";
}

static void compare_programs(const struct manifest *one, const struct manifest *other, struct comparison *out)
{
	char name[COMPARE_TEXT];

	for (size_t i = 0; i < one->programs_count; i++) {
		snprintf(name, sizeof(name), "program.%s", one->programs[i].name);
		add(out->origin, &out->origin_count, name, one->programs[i].sha256,
		    digest_of(other, one->programs[i].name));
	}
	for (size_t i = 0; i < other->programs_count; i++) {
		snprintf(name, sizeof(name), "program.%s", other->programs[i].name);
		if (!digest_of(one, other->programs[i].name)[0])
			add(out->origin, &out->origin_count, name, "", other->programs[i].sha256);
	}
}

static void compare_numbers(const struct manifest_origin *one, const struct manifest_origin *other,
			    struct comparison *out)
{
	const struct {
		const char *name;
		int64_t was, is;
	} rows[] = {
		{ "repeat", one->repeat, other->repeat },
		{ "seed", one->seed, other->seed },
		{ "shard.index", one->shard.index, other->shard.index },
		{ "shard.of", one->shard.of, other->shard.of },
		{ "mergedFrom", (int64_t)one->merged_count, (int64_t)other->merged_count },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char was[COMPARE_TEXT], is[COMPARE_TEXT];

		number(rows[i].was, was);
		number(rows[i].is, is);
		add(out->origin, &out->origin_count, rows[i].name, was, is);
	}
}

void compare_origins(const struct manifest *one, const struct manifest *other, struct comparison *out)
{
	const struct manifest_origin *ours = &one->origin, *theirs = &other->origin;
	char was[COMPARE_TEXT], is[COMPARE_TEXT];
	const struct {
		const char *name, *was, *is;
	} rows[] = {
		{ "producer.version", one->version, other->version },
		{ "producer.gitCommit", ours->build.commit, theirs->build.commit },
		{ "producer.gitTree", ours->build.tree, theirs->build.tree },
		{ "producer.buildId", ours->build.id, theirs->build.id },
		{ "producer.compiler", ours->build.compiler, theirs->build.compiler },
		{ "executor.id", ours->executor_id, theirs->executor_id },
		{ "image.id", one->image, other->image },
		{ "image.configSha256", ours->image_config, theirs->image_config },
		{ "image.imageStore", manifest_image_stores[ours->image_store],
		  manifest_image_stores[theirs->image_store] },
		{ "image.architecture", ours->architecture, theirs->architecture },
		{ "gateway.kind", gateway_kind_names[one->gateway.kind], gateway_kind_names[other->gateway.kind] },
		{ "gateway.version", one->gateway.version, other->gateway.version },
		{ "gateway.sha256", one->gateway.sha256, other->gateway.sha256 },
		{ "planSha256", ours->plan, theirs->plan },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add(out->origin, &out->origin_count, rows[i].name, rows[i].was, rows[i].is);
	words(ours, was);
	words(theirs, is);
	add(out->origin, &out->origin_count, "selection", was, is);
	compare_numbers(ours, theirs, out);
	compare_programs(one, other, out);
}
