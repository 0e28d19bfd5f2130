/* manifest.json: every text that is read ends, and every count is within its list. */
#include "reports/manifest.h"

#include <string.h>

#include "core/fd.h"
#include "tests/fuzz/fuzz.h"

#define ENDS(text) FUZZ_HOLDS(memchr((text), '\0', sizeof(text)) != NULL)

static void check_origin(const struct manifest_origin *origin)
{
	FUZZ_HOLDS(origin->selection_count <= PLAN_SELECTORS_MAX && origin->merged_count <= PLAN_SHARDS_MAX);
	FUZZ_HOLDS(origin->repeat >= 1 && origin->repeat <= PLAN_REPEAT_MAX);
	FUZZ_HOLDS(origin->shard.index >= 1 && origin->shard.of >= 1 && origin->shard.of <= PLAN_SHARDS_MAX);
	FUZZ_HOLDS(origin->seed >= 0 && origin->seed <= EVIDENCE_INT_MAX);
	ENDS(origin->build.commit);
	ENDS(origin->build.compiler);
	ENDS(origin->executor_id);
	ENDS(origin->plan);
	for (size_t i = 0; i < origin->selection_count; i++)
		ENDS(origin->selection[i]);
	for (size_t i = 0; i < origin->merged_count; i++)
		FUZZ_HOLDS(strlen(origin->merged[i].run) == 32 && strlen(origin->merged[i].sums) == HEX_SHA256 - 1);
	FUZZ_HOLDS(!origin->replay_of.run[0] == !origin->replay_of.sums[0]);
}

FUZZ_TARGET(manifest)
{
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	struct error *err = NULL;

	if (!manifest || manifest_decode((const char *)bytes, size, manifest, &err) < 0) {
		error_free(err);
		return;
	}
	FUZZ_HOLDS(manifest->files_count <= MANIFEST_FILES_MAX && manifest->programs_count <= MANIFEST_PROGRAMS_MAX);
	FUZZ_HOLDS(strlen(manifest->run) == 32 && strlen(manifest->image) == HEX_SHA256 - 1);
	FUZZ_HOLDS(manifest->canaries >= 0);
	ENDS(manifest->version);
	ENDS(manifest->started);
	check_origin(&manifest->origin);
}
