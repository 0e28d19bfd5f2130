/* What the manifest says of how the run came about. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/image.h"
#include "core/fd.h"
#include "runner/build.h"
#include "runner/run.h"
#include "runner/run_replay.h"

/* A job of a CI names itself so; what is not of an id's letters is left out. */
static const char *const job_variables[] = { "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "CI_JOB_ID", NULL };

static void add_id(char out[ID_MAX], const char *text)
{
	size_t length = strlen(out);

	if (length > 0 && length < ID_MAX - 1)
		out[length++] = '.';
	for (; *text && length < ID_MAX - 1; text++)
		if (isalnum((unsigned char)*text) || *text == '-' || *text == '_')
			out[length++] = (char)tolower((unsigned char)*text);
	out[length] = '\0';
}

static void fill_executor(struct manifest_origin *origin)
{
	const char *ci = getenv("CI");

	if (!ci || strcmp(ci, "true") != 0)
		return;
	origin->executor = EXECUTOR_CI;
	for (const char *const *name = job_variables; *name; name++) {
		const char *text = getenv(*name);

		if (text && isalnum((unsigned char)*text))
			add_id(origin->executor_id, text);
	}
}

/* The containerd store says so among what its driver reports; any other is the engine's own. */
static const char *store_of(const struct json_node *info)
{
	const struct json_node *pairs = json_member(info, "DriverStatus");

	if (!pairs || json_type(pairs) != JSON_ARRAY)
		return manifest_image_stores[0];
	for (const struct json_node *pair = json_first(pairs); pair; pair = json_next(pair)) {
		const struct json_node *key = json_first(pair);
		const char *name = key ? json_string(key) : NULL, *value = key ? json_string(json_next(key)) : NULL;

		if (name && value && strcmp(name, "driver-type") == 0 && strncmp(value, "io.containerd.", 14) == 0)
			return "containerd";
	}
	return "graphdriver";
}

static void fill_words(const struct options *options, struct manifest_origin *origin)
{
	for (size_t i = 0; i < options->words_count && i < PLAN_SELECTORS_MAX; i++)
		snprintf(origin->selection[origin->selection_count++], ID_MAX, "%s", options->words[i]);
	if (options->words_count == 0)
		snprintf(origin->selection[origin->selection_count++], ID_MAX, "all");
}

void run_origin(const struct run *run, struct manifest_origin *out)
{
	const struct options *options = run->options;

	*out = (struct manifest_origin){
		.seed = run->seed,
		.repeat = options->repeat,
		.shard = { .index = options->shard, .of = options->shards },
		.image_store = schema_enum(manifest_image_stores, store_of(json_root(run->info))),
	};
	if (&build_facts)
		out->build = build_facts;
	fill_executor(out);
	fill_words(options, out);
	out->replay_of = run_replay_source(run);
	memcpy(out->image_config, run->image_config, sizeof(out->image_config));
	memcpy(out->plan, run->plan_sha256, sizeof(out->plan));
	snprintf(out->architecture, sizeof(out->architecture), "%s", image_architecture());
}
