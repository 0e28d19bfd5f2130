/* merge.json: what is read is the same when it is written and read again, and what follows from it holds of itself. */
#include "reports/merge.h"

#include <string.h>

#include "core/fd.h"
#include "tests/fuzz/fuzz.h"

/* A manifest that says what merge.json makes it say. */
static void check_said(const struct merge *merge)
{
	cleanup_free struct merged *says = calloc(1, sizeof(*says));
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	struct error *err = NULL;

	if (!says || !manifest)
		return;
	merge_say(merge, says);
	manifest->origin = says->origin;
	manifest->canaries = (int64_t)says->canaries;
	memcpy(manifest->run, says->run, sizeof(manifest->run));
	memcpy(manifest->started, says->started, sizeof(manifest->started));
	memcpy(manifest->finished, says->finished, sizeof(manifest->finished));
	FUZZ_HOLDS(merge_check(merge, manifest, &err) == 0);
	manifest->origin.merged[0].sums[0] ^= 1;
	FUZZ_HOLDS(merge_check(merge, manifest, &err) < 0);
	error_free(err);
}

FUZZ_TARGET(merge)
{
	cleanup_merge struct merge *merge = NULL;
	cleanup_merge struct merge *again = NULL;
	cleanup_buf struct buf once = BUF(BUNDLE_FILE_BYTES), twice = BUF(BUNDLE_FILE_BYTES);
	struct error *err = NULL;
	bool changed;

	if (merge_decode((const char *)bytes, size, &merge, &err) < 0) {
		error_free(err);
		return;
	}
	FUZZ_HOLDS(merge->count >= 2 && merge->count <= PLAN_SHARDS_MAX);
	FUZZ_HOLDS(merge_encode(merge, &once, &err) == 0);
	FUZZ_HOLDS(merge_decode(buf_string(&once), once.length, &again, &err) == 0);
	FUZZ_HOLDS(merge_encode(again, &twice, &err) == 0);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
	FUZZ_HOLDS(merge_changed(merge, &changed, &err) == 0);
	check_said(merge);
}
