/* What the bundle says: references, environment, verdicts made again, mutations, and all that is generated. */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/environment.h"
#include "reports/junit.h"
#include "reports/verify_parts.h"

#define GENERATED_BYTES ((size_t)BUNDLE_FILE_BYTES)
#define SHORT_TEXT_BYTES (64 * KIB)

/* What observers report beside the probes, and who they are: a run of few scenarios names neither in its cells. */
static const char *const measure_names[], *const observer_names[];

static const struct plan_arm *find_arm(const struct plan *plan, const char *id, int64_t repetition)
{
	for (size_t i = 0; i < plan->arms_count; i++)
		if (plan->arms[i].repetition == repetition && strcmp(plan->arms[i].scenario->id, id) == 0)
			return &plan->arms[i];
	return NULL;
}

static bool known_subject(const struct scenario *scenario, const char *subject)
{
	for (size_t i = 0; i < scenario->probes_count; i++)
		if (strcmp(scenario->probes[i], subject) == 0)
			return true;
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (strcmp(scenario->expect[i].subject, subject) == 0)
			return true;
	return schema_enum(measure_names, subject) >= 0;
}

static bool known_observer(const struct scenario *scenario, const char *observer)
{
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (strcmp(scenario->expect[i].observer, observer) == 0)
			return true;
	return schema_enum(observer_names, observer) >= 0;
}

static int check_observation(const struct bundle *bundle, size_t index, const struct plan_arm **last,
			     struct error **err)
{
	const struct observation *one = &bundle->observations[index];
	char id[sizeof(one->id) + 16];

	snprintf(id, sizeof(id), "o-%06zu", index + 1);
	if (strcmp(one->id, id) != 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu does not have the id %s", index + 1,
				 id);
	/* Observations of an arm stand together, so the last one found is nearly always the one. */
	if (!*last || (*last)->repetition != one->repetition || strcmp((*last)->scenario->id, one->arm) != 0)
		*last = find_arm(bundle->plan, one->arm, one->repetition);
	if (!*last)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of an arm that is not planned",
				 index + 1);
	if (!known_subject((*last)->scenario, one->subject))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu names an unknown subject", index + 1);
	if (!known_observer((*last)->scenario, one->observer))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu names an unknown observer", index + 1);
	return 0;
}

/* The records are in the order of the plan, one an arm. */
static int check_records(const struct bundle *bundle, struct error **err)
{
	if (bundle->arms_count != bundle->plan->arms_count)
		return error_set(err, ERROR_INPUT, "arms.json has %zu arms, %zu are planned", bundle->arms_count,
				 bundle->plan->arms_count);
	for (size_t i = 0; i < bundle->arms_count; i++)
		if (strcmp(bundle->arms[i].arm, bundle->plan->arms[i].scenario->id) != 0 ||
		    bundle->arms[i].repetition != bundle->plan->arms[i].repetition)
			return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] is not the planned one", i);
	return 0;
}

int check_references(struct bundle *bundle, struct error **err)
{
	const struct plan_arm *last = NULL;
	int result = check_records(bundle, err);

	for (size_t i = 0; i < bundle->observations_count && result >= 0; i++)
		result = check_observation(bundle, i, &last, err);
	return result;
}

int check_environment(struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;
	char boot[HEX_SHA256];
	int result = environment_boot_of(buf_string(text), text->length, boot, sizeof(boot), err);

	for (size_t i = 0; i < bundle->arms_count && result >= 0; i++) {
		const struct arm_record *arm = &bundle->arms[i];

		if (arm->image[0] && strcmp(arm->image, bundle->manifest.image) != 0)
			return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] ran another image than the manifest's",
					 i);
		if (arm->boot[0] && strcmp(arm->boot, boot) != 0)
			return error_set(err, ERROR_INPUT,
					 "arms.json: arms[%zu] ran in another boot than the environment's", i);
	}
	return result;
}

/* Where the sealed verdicts part from those made again: the first cell, by number. */
static int blame_cell(const struct bundle *bundle, struct error **err)
{
	const struct buf *sealed = &bundle->members[MEMBER_VERDICTS].text;
	cleanup_json struct json_document *document = NULL;
	const struct verdicts *verdicts = bundle->verdicts;
	const struct json_node *cell;
	size_t i = 0;

	if (json_parse(buf_string(sealed), sealed->length, JSON_DEPTH, &document, err) < 0)
		return -1;
	cell = json_first(json_member(json_root(document), "cells"));
	for (; cell && i < verdicts->cells_count; cell = json_next(cell), i++) {
		const struct verdict_cell *again = &verdicts->cells[i];
		const char *word = json_string(json_member(cell, "verdict"));
		int was = word ? schema_enum(verdict_names, word) : -1;

		if (was != (int)again->verdict)
			return error_set(err, ERROR_INPUT,
					 "verdicts.json: cells[%zu] is sealed as %s, made again it is %s (%s)", i,
					 was < 0 ? "no verdict" : verdict_names[was], verdict_names[again->verdict],
					 because_names[again->because]);
	}
	return error_set(err, ERROR_INPUT, "verdicts.json is not what scenarios, arms and observations say");
}

int check_verdicts(struct bundle *bundle, struct error **err)
{
	const struct buf *environment = &bundle->members[MEMBER_ENVIRONMENT].text;
	const struct buf *sealed = &bundle->members[MEMBER_VERDICTS].text;
	cleanup_buf struct buf again = BUF(GENERATED_BYTES);
	bool changed = false;
	int result = environment_differs(buf_string(environment), environment->length, &changed, err);

	if (result >= 0)
		result = judge(bundle->plan, bundle->arms, bundle->arms_count, bundle->observations,
			       bundle->observations_count, changed, &bundle->verdicts, err);
	if (result >= 0)
		result = verdicts_encode(bundle->verdicts, &again, err);
	if (result < 0)
		return result;
	if (again.length == sealed->length && memcmp(buf_string(&again), buf_string(sealed), again.length) == 0)
		return 0;
	return blame_cell(bundle, err);
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
		if (verdicts->mutations_count == 0)
			return error_set(err, ERROR_INPUT, "cells[%zu] is protected, and no mutant was run: vacuous",
					 i);
		if (cell->verdict == VERDICT_PASS && !cell->mutant[0])
			return error_set(err, ERROR_INPUT, "cells[%zu] passed, and no mutant earned it: vacuous", i);
	}
	return 0;
}

static int compare(const struct bundle *bundle, int member, const struct buf *again, struct error **err)
{
	const struct buf *text = &bundle->members[member].text;

	if (text->length == again->length && memcmp(buf_string(text), buf_string(again), again->length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is not what the other members make", bundle_members[member]);
}

static int check_manifest_again(const struct bundle *bundle, struct error **err)
{
	const struct manifest *manifest = &bundle->manifest;
	const struct manifest_facts facts = {
		.run = manifest->run,
		.started = manifest->started,
		.finished = manifest->finished,
		.version = manifest->version,
		.image = manifest->image,
		.programs = manifest->programs,
		.programs_count = manifest->programs_count,
		.canaries = (size_t)manifest->canaries,
		.verdicts = bundle->verdicts,
		.arms = bundle->plan->arms_count,
		.observations = bundle->observations_count,
	};
	cleanup_buf struct buf again = BUF(GENERATED_BYTES);
	int result = manifest_write(&facts, manifest->files, manifest->files_count, &again, err);

	return result < 0 ? result : compare(bundle, MEMBER_MANIFEST, &again, err);
}

int check_generated(struct bundle *bundle, struct error **err)
{
	const struct buf *environment = &bundle->members[MEMBER_ENVIRONMENT].text;
	cleanup_buf struct buf junit = BUF(GENERATED_BYTES);
	cleanup_buf struct buf kernel = BUF(SHORT_TEXT_BYTES), engine = BUF(SHORT_TEXT_BYTES);
	int result = junit_encode(bundle->verdicts, &junit, err);

	if (result >= 0)
		result = compare(bundle, MEMBER_JUNIT, &junit, err);
	if (result >= 0)
		result = environment_kernel_text(buf_string(environment), environment->length, &kernel, err);
	if (result >= 0)
		result = compare(bundle, MEMBER_KERNEL_TEXT, &kernel, err);
	if (result >= 0)
		result = environment_engine_text(buf_string(environment), environment->length, &engine, err);
	if (result >= 0)
		result = compare(bundle, MEMBER_ENGINE_TEXT, &engine, err);
	return result < 0 ? result : check_manifest_again(bundle, err);
}

static const char *const measure_names[] = {
	"interfaces",      "packets-other", "core-limit-soft",
	"core-limit-hard", "restarts",      "starts",
	"alive",           "loss_to_dead",  NULL,
};

static const char *const observer_names[] = {
	"tcp4",      "tcp6",          "dns",           "tcp4-nic",    "capture-host", "capture-netns",
	"attempts",  "files-archive", "files-changes", "files-upper", "files-root",   "logs-api",
	"logs-disk", "deliveries",    "decisions",     "state",       NULL,
};
