/* What the bundle says: environment, verdicts made again, mutations, and all that is generated. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/environment.h"
#include "reports/verify_parts.h"

#define GENERATED_BYTES ((size_t)BUNDLE_FILE_BYTES)

int check_environment(struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;
	int result = check_boots(bundle, err);

	for (size_t i = 0; i < bundle->arms_count && result >= 0; i++) {
		const struct arm_record *arm = &bundle->arms[i];

		if (arm->image[0] && strcmp(arm->image, bundle->manifest.image) != 0)
			return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] ran another image than the manifest's",
					 i);
	}
	return result < 0 ? result : environment_refused(buf_string(text), text->length, err);
}

/* Where the sealed verdicts part from those made again: the first cell, by number. */
static int blame_cell(const struct bundle *bundle, struct error **err)
{
	const unsigned char *words = (const unsigned char *)buf_string(&bundle->sealed_words);
	const struct verdicts *verdicts = bundle->verdicts;

	for (size_t i = 0; i < bundle->sealed_words.length && i < verdicts->cells_count; i++) {
		const struct verdict_cell *again = &verdicts->cells[i];

		if (words[i] != (unsigned)again->verdict)
			return error_set(err, ERROR_INPUT,
					 "verdicts.json: cells[%zu] is sealed as %s, made again it is %s (%s)", i,
					 words[i] == UINT8_MAX ? "no verdict" : verdict_names[words[i]],
					 verdict_names[again->verdict], because_names[again->because]);
	}
	return error_unlisted(err, "verdicts.json is not what scenarios, arms and observations say%s",
			      bundle->newer ? ", or has an unknown key" : "");
}

static int make_verdicts(const struct bundle *bundle, int member, struct buf *out, struct error **err)
{
	(void)member;
	return verdicts_encode(bundle->verdicts, out, err);
}

int bundle_make(const struct bundle *bundle, int member, struct buf *out, struct error **err)
{
	return generate(member, &bundle->findings, out, err);
}

static void take_made(void *context, const void *bytes, size_t length)
{
	hash_add(context, bytes, length);
}

int bundle_made_alike(const struct bundle *bundle, int member, bundle_maker make, bool *alike, struct error **err)
{
	cleanup_buf struct buf again = BUF(GENERATED_BYTES);
	struct hash *hash = hash_new();
	char sha256[HEX_SHA256];
	int result;

	if (!hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	again.drain = take_made;
	again.drain_context = hash;
	result = make(bundle, member, &again, err);
	buf_drain(&again);
	hash_end(hash, sha256);
	*alike = again.drained == bundle->members[member].bytes && strcmp(sha256, bundle->members[member].sha256) == 0;
	return result;
}

/* What it says of this run, by the verdicts that were made again. */
static int check_replay(const struct bundle *bundle, struct error **err)
{
	const struct buf *environment = &bundle->members[MEMBER_ENVIRONMENT].text;
	const struct compare_side here = { .manifest = &bundle->manifest,
					   .verdicts = bundle->verdicts,
					   .arms = bundle->arms,
					   .arms_count = bundle->arms_count,
					   .environment = buf_string(environment),
					   .environment_length = environment->length };

	return bundle->replay ? replay_check(bundle->replay, &here, err) : 0;
}

int check_verdicts(struct bundle *bundle, struct error **err)
{
	bool changed = false, alike = false;
	int result = bundle_changed(bundle, &changed, err);

	if (result >= 0)
		result = judgement_end(bundle->judgement, changed, &bundle->verdicts, err);
	judgement_free(bundle->judgement);
	bundle->judgement = NULL;
	if (result >= 0)
		result = bundle_made_alike(bundle, MEMBER_VERDICTS, make_verdicts, &alike, err);
	if (result < 0)
		return result;
	bundle_findings(bundle);
	return alike ? check_replay(bundle, err) : blame_cell(bundle, err);
}

/* The scenarios as this host could make them: cells that are absent earn nothing and need no mutant. */
static size_t without_absent(const struct bundle *bundle, struct scenario *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < bundle->scenarios_count; i++) {
		const struct scenario *all = &bundle->scenarios[i];
		struct scenario *made = &out[kept];

		bundle_copy_scenario(made, all);
		made->expect_count = 0;
		for (size_t c = 0; c < all->expect_count; c++)
			if (plan_has(bundle->plan, all, &all->expect[c]))
				made->expect[made->expect_count++] = all->expect[c];
		kept += made->expect_count > 0;
	}
	return kept;
}

/* The planner adds each mutant that a cell needs and each mutant's control, so the sealed scenarios are a whole set. */
int check_set(const struct bundle *bundle, struct error **err)
{
	cleanup_free struct scenario *made = calloc(bundle->scenarios_count + 1, sizeof(*made));

	if (!made)
		return error_set(err, ERROR_MEMORY, "no memory for the scenarios");
	if (scenario_check_set(made, without_absent(bundle, made), err) < 0)
		return error_wrap(err, "scenarios.json");
	return 0;
}

/* A zero without a mutant is vacuous, whatever the verdicts say. */
int check_mutations(struct bundle *bundle, struct error **err)
{
	const struct verdicts *verdicts = bundle->verdicts;

	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		const struct verdict_mutation *mutation = &verdicts->mutations[i];

		if (mutation->verdict == VERDICT_PASS && !(mutation->installed && mutation->detected))
			return error_set(err, ERROR_INPUT, "mutations[%zu] passed without being installed and detected",
					 i);
	}
	for (size_t i = 0; i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];

		if (cell->expectation->class != CELL_PROTECTED || cell->expectation->flips)
			continue;
		/* What failed claims nothing: with a gateway of which no mutant can be made, a leak is seen all the
		 * same. */
		if (verdicts->mutations_count == 0 && cell->verdict != VERDICT_FAIL)
			return error_set(err, ERROR_INPUT, "cells[%zu] is protected, and no mutant was run: vacuous",
					 i);
		if (cell->verdict == VERDICT_PASS && !cell->mutant[0])
			return error_set(err, ERROR_INPUT, "cells[%zu] passed, and no mutant earned it: vacuous", i);
	}
	return bundle_give(&bundle->loose, err);
}

static int other_bytes(int member, struct error **err)
{
	return error_set(err, ERROR_INPUT, "%s is not what the other members make", member_kinds[member].name);
}

void bundle_findings(struct bundle *bundle)
{
	const struct manifest *manifest = &bundle->manifest;

	bundle->facts = (struct manifest_facts){
		.minor = manifest->minor,
		.run = manifest->run,
		.started = manifest->started,
		.finished = manifest->finished,
		.version = manifest->version,
		.image = manifest->image,
		.gateway = manifest->gateway,
		.programs = manifest->programs,
		.programs_count = manifest->programs_count,
		.canaries = (size_t)manifest->canaries,
		.verdicts = bundle->verdicts,
		.arms = bundle->plan->arms_count,
		.observations = bundle->observations_count,
		.origin = &manifest->origin,
	};
	bundle->findings = (struct findings){
		.manifest = &bundle->facts,
		.plan = bundle->plan,
		.arms = bundle->arms,
		.arms_count = bundle->arms_count,
		.verdicts = bundle->verdicts,
		.effects = bundle->effects,
		.effects_count = bundle->effects_count,
		.assessing = bundle->members[MEMBER_ASSESSMENTS].present ? &bundle->assessing : NULL,
		.environment = buf_string(&bundle->members[MEMBER_ENVIRONMENT].text),
		.environment_length = bundle->members[MEMBER_ENVIRONMENT].text.length,
		.merge = bundle->merge,
		.replay = bundle->replay,
	};
}

int check_generated(struct bundle *bundle, struct error **err)
{
	const struct manifest *manifest = &bundle->manifest;
	const struct buf *text = &bundle->members[MEMBER_MANIFEST].text;
	cleanup_buf struct buf again = BUF(GENERATED_BYTES);
	int result = 0;

	for (int i = 0; i < MEMBERS && result >= 0; i++) {
		bool alike = true;

		if (bundle->members[i].present && generated_again(i))
			result = bundle_made_alike(bundle, i, bundle_make, &alike, err);
		if (result >= 0 && !alike)
			return other_bytes(i, err);
	}
	if (result < 0)
		return result;
	result = manifest_write(&bundle->facts, manifest->files, manifest->files_count, &again, err);
	if (result < 0)
		return result;
	return text->length == again.length && memcmp(buf_string(text), buf_string(&again), again.length) == 0
		       ? 0
		       : other_bytes(MEMBER_MANIFEST, err);
}
