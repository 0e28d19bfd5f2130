/* What a run that repeats another one asks before it begins, and says once it was judged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/image.h"
#include "core/fd.h"
#include "core/hash.h"
#include "runner/build.h"
#include "runner/diff_print.h"
#include "runner/run.h"
#include "runner/run_replay.h"

#define TEXT_BYTES ((size_t)4 * MIB)

/* Each scenario of the bundle is installed, word for word. */
static int check_scenarios(const struct run *run, enum replay_reason *out, struct error **err)
{
	size_t count = 0;
	const struct scenario *sealed = opened_scenarios(run->replayed, &count);

	for (size_t i = 0; i < count; i++) {
		const struct scenario *installed = scenario_find(run->scenarios, run->scenarios_count, sealed[i].id);
		bool same = false;

		if (installed && scenario_same(installed, &sealed[i], &same, err) < 0)
			return -1;
		if (!same)
			*out = REPLAY_SCENARIOS;
	}
	return 0;
}

static int check_profile(const struct run *run, enum replay_reason *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	size_t length = 0;
	const char *sealed = opened_text(run->replayed, MEMBER_PROFILE, &length);

	if (profile_encode(&profile_reference, &text, err) < 0)
		return -1;
	if (text.length != length || memcmp(buf_string(&text), sealed, length) != 0)
		*out = REPLAY_PROFILE;
	return 0;
}

/* Of a part: each of its arms was in the first run, and no cell of them is absent that was not. */
static bool has_part(const struct plan *whole, const struct plan *part)
{
	size_t found = 0;

	for (size_t i = 0; i < part->arms_count; i++)
		for (size_t other = 0; other < whole->arms_count; other++)
			found += whole->arms[other].repetition == part->arms[i].repetition &&
				 strcmp(whole->arms[other].scenario->id, part->arms[i].scenario->id) == 0;
	return found == part->arms_count;
}

enum replay_reason run_replay_plan(const struct run *run)
{
	const struct manifest *manifest = opened_manifest(run->replayed);

	if (run->replay_part)
		return has_part(opened_findings(run->replayed)->plan, run->plan) ? REPLAY_READY : REPLAY_PLAN;
	return strcmp(run->plan_sha256, manifest->origin.plan) == 0 ? REPLAY_READY : REPLAY_PLAN;
}

int run_replay_ready(struct run *run, enum replay_reason *out, struct error **err)
{
	cleanup_free struct manifest_origin *here = calloc(1, sizeof(*here));
	const struct manifest *manifest = opened_manifest(run->replayed);
	struct image image;

	if (!here)
		return error_set(err, ERROR_MEMORY, "no memory for a manifest");
	*out = REPLAY_READY;
	if (run_image_build(run, &image, err) < 0)
		return -1;
	image_free(&image);
	run_origin(run, here);
	*out = replay_ready(manifest, here, HARNESS_VERSION);
	if (*out == REPLAY_READY && (int)run->context.gateway.kind != manifest->gateway.kind)
		*out = REPLAY_GATEWAY;
	if (*out == REPLAY_READY && check_profile(run, out, err) < 0)
		return -1;
	if (*out == REPLAY_READY && check_scenarios(run, out, err) < 0)
		return -1;
	if (*out == REPLAY_READY)
		*out = run_replay_plan(run);
	return 0;
}

/* As much of a manifest as is compared. */
static void say(const struct manifest_facts *facts, struct manifest *out)
{
	snprintf(out->run, sizeof(out->run), "%s", facts->run);
	snprintf(out->version, sizeof(out->version), "%s", facts->version);
	snprintf(out->image, sizeof(out->image), "%s", facts->image);
	out->gateway = facts->gateway;
	out->origin = *facts->origin;
	memcpy(out->programs, facts->programs, facts->programs_count * sizeof(out->programs[0]));
	out->programs_count = facts->programs_count;
}

int run_replay_conclude(struct run *run, const struct findings *findings, struct error **err)
{
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	cleanup_comparison struct comparison *comparison = NULL;
	const struct manifest_source of = run_replay_source(run);
	struct compare_side one, other = {
		.manifest = manifest,
		.verdicts = findings->verdicts,
		.arms = findings->arms,
		.arms_count = findings->arms_count,
		.environment = findings->environment,
		.environment_length = findings->environment_length,
	};

	run->replay = calloc(1, sizeof(*run->replay));
	if (!manifest || !run->replay)
		return error_set(err, ERROR_MEMORY, "no memory to compare runs");
	say(findings->manifest, manifest);
	diff_side(run->replayed, &one);
	if (compare_bundles(&one, &other, run->replay_part, &comparison, err) < 0)
		return -1;
	replay_conclude(comparison, &of, run->replay_part, run->replay);
	return 0;
}

struct manifest_source run_replay_source(const struct run *run)
{
	struct manifest_source of = { .run = "" };

	if (!run->replayed)
		return of;
	memcpy(of.run, opened_manifest(run->replayed)->run, sizeof(of.run));
	memcpy(of.sums, run->replayed_sums, sizeof(of.sums));
	return of;
}
