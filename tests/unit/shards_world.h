/* The shards of one plan in which everything went well, made up in memory, as merge_sources() takes them. */
#ifndef HARNESS_TESTS_UNIT_SHARDS_WORLD_H
#define HARNESS_TESTS_UNIT_SHARDS_WORLD_H

#include "reports/coverage.h"
#include "reports/merge.h"
#include "tests/unit/bundle_fixture.h"

#define SHARDS 3

struct shards {
	struct world worlds[SHARDS];
	struct manifest *manifests; /* SHARDS of them */
	char environments[SHARDS][sizeof(fixture_snapshot) * 2 + 256];
	struct merge_source sources[SHARDS];
	struct merged *merged;
};

static inline void shards_free(struct shards *shards)
{
	for (size_t i = 0; i < SHARDS; i++)
		world_free(&shards->worlds[i]);
	merged_free(shards->merged);
	free(shards->manifests);
}
#define cleanup_shards __attribute__((cleanup(shards_free)))

static inline void shards_environment(char *out, size_t size, char boot)
{
	char snapshot[sizeof(fixture_snapshot)];
	char *at;

	memcpy(snapshot, fixture_snapshot, sizeof(snapshot));
	at = strstr(snapshot, "bbbbbbbb");
	memset(at, boot, 32);
	snprintf(out, size,
		 "{\"after\":%s,\"before\":%s,\"schema\":\"confinement-evidence/environment/1\",\"unavailable\":"
		 "[{\"field\":\"engine.gitCommit\",\"reason\":\"absent\"}]}",
		 snapshot, snapshot);
}

static inline void shards_manifest(struct shards *shards, size_t i, int64_t repeat)
{
	struct manifest *manifest = &shards->manifests[i];

	memset(manifest->run, 'a' + (int)i, 32);
	snprintf(manifest->started, sizeof(manifest->started), "2026-01-02T03:04:0%zuZ", 5 - i);
	snprintf(manifest->finished, sizeof(manifest->finished), "2026-01-02T03:05:0%zuZ", i);
	set(manifest->version, sizeof(manifest->version), HARNESS_VERSION);
	memcpy(manifest->image, shards->worlds[i].arms[0].image, sizeof(manifest->image));
	manifest->programs_count = 1;
	set(manifest->programs[0].name, sizeof(manifest->programs[0].name), "harness");
	memset(manifest->programs[0].sha256, 'c', HEX_SHA256 - 1);
	manifest->minor = MANIFEST_MINOR;
	manifest->files_count = 2;
	set(manifest->files[0].path, sizeof(manifest->files[0].path), "effects.json");
	memset(manifest->files[0].sha256, 'e', HEX_SHA256 - 1);
	set(manifest->files[1].path, sizeof(manifest->files[1].path), "profile.json");
	memset(manifest->files[1].sha256, 'd', HEX_SHA256 - 1);
	manifest->canaries = 10 + (int64_t)i;
	manifest->origin.selection_count = 1;
	set(manifest->origin.selection[0], ID_MAX, "all");
	manifest->origin.seed = 100 + (int64_t)i;
	manifest->origin.repeat = repeat;
	manifest->origin.shard = (struct plan_shard){ .index = (int64_t)i + 1, .of = SHARDS };
}

static inline int shards_plan(struct shards *shards, size_t i, int64_t repeat, struct error **err)
{
	struct world *world = &shards->worlds[i];
	const struct plan_shard part = { .index = (int64_t)i + 1, .of = SHARDS };
	const char *all = "all";
	struct plan *whole = NULL;
	int result = world_load(&world->scenarios, &world->scenarios_count, err);

	if (result == 0)
		result = plan_make_shard(world->scenarios, world->scenarios_count, &all, 1, repeat, part, NULL,
					 &world->plan, err);
	if (result == 0)
		result = plan_make(world->scenarios, world->scenarios_count, &all, 1, repeat, NULL, &whole, err);
	if (result == 0)
		result = coverage_digest(whole, shards->manifests[i].origin.plan, err);
	plan_free(whole);
	return result;
}

/* Each in a boot of its own. */
static inline int shards_make(struct shards *shards, int64_t repeat)
{
	struct error *err = NULL;

	shards->manifests = calloc(SHARDS, sizeof(*shards->manifests));
	for (size_t i = 0; shards->manifests && i < SHARDS; i++) {
		struct world *world = &shards->worlds[i];
		struct merge_source *source = &shards->sources[i];

		if (shards_plan(shards, i, repeat, &err) < 0 || !fill(world))
			return test_no_error(&err) && false;
		for (size_t a = 0; a < world->arms_count; a++)
			memset(world->arms[a].boot, 'b' + (int)i, 32);
		shards_environment(shards->environments[i], sizeof(shards->environments[i]), (char)('b' + i));
		shards_manifest(shards, i, repeat);
		*source = (struct merge_source){
			.manifest = &shards->manifests[i],
			.scenarios = world->scenarios,
			.scenarios_count = world->scenarios_count,
			.plan = world->plan,
			.arms = world->arms,
			.arms_count = world->arms_count,
			.environment = shards->environments[i],
			.environment_length = strlen(shards->environments[i]),
			.place = i,
		};
		memset(source->sums, '1' + (int)i, HEX_SHA256 - 1);
	}
	return shards->manifests != NULL;
}

#endif
