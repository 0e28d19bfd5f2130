#include "runner/run_document.h"

#include "core/fd.h"
#include "reports/claims.h"
#include "runner/document.h"
#include "runner/progress.h"

static void put_absent(struct json_writer *json, const struct plan *plan)
{
	json_put_key(json, "notPlanned");
	json_array(json);
	for (size_t i = 0; i < plan->absent_count; i++) {
		const struct plan_absent *absent = &plan->absent[i];

		json_object(json);
		json_member_string(json, "arm", absent->scenario->id);
		json_member_string(json, "subject", absent->expectation->subject);
		json_member_string(json, "observer", absent->expectation->observer);
		json_member_string(json, "needs", absent->reason);
		json_object_end(json);
	}
	json_array_end(json);
}

void run_document_plan(const struct plan *plan, const struct options *options, const struct declared *declared,
		       int64_t seed, struct buf *out)
{
	struct json_writer json;

	document_begin(&json, out, "run", EXIT_PASS);
	json_member_bool(&json, "dryRun", true);
	json_member_int(&json, "jobs", plan_jobs(plan, options->jobs));
	json_member_int(&json, "aboutSeconds", progress_seconds(plan, plan_jobs(plan, options->jobs)));
	json_member_int(&json, "repeat", options->repeat);
	json_put_key(&json, "shard");
	json_object(&json);
	json_member_int(&json, "index", options->shard);
	json_member_int(&json, "of", options->shards);
	json_object_end(&json);
	json_member_int(&json, "seed", seed);
	json_put_key(&json, "arms");
	json_array(&json);
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct plan_arm *arm = &plan->arms[i];

		json_object(&json);
		json_member_string(&json, "id", arm->scenario->id);
		json_member_int(&json, "repetition", arm->repetition);
		json_member_string(&json, "title", arm->scenario->title);
		json_member_bool(&json, "added", arm->added);
		json_object_end(&json);
	}
	json_array_end(&json);
	put_absent(&json, plan);
	document_path(&json, "out", options->out);
	json_put_key(&json, "touches");
	json_array(&json);
	for (size_t i = 0; progress_touches[i]; i++)
		json_put_string(&json, progress_touches[i]);
	for (size_t i = 0; i < declared->count; i++) {
		char text[DECLARED_TEXT];

		declared_says(&declared->observers[i], text);
		json_put_string(&json, text);
	}
	if (plan_observes(plan, PROGRESS_DATABASE))
		json_put_string(&json, progress_database);
	if (plan_hurts_engine(plan))
		json_put_string(&json, progress_hurts);
	json_array_end(&json);
	document_end(&json);
}

static void put_arms(struct json_writer *json, const struct verdicts *verdicts, const struct arm_record *records)
{
	json_put_key(json, "arms");
	json_array(json);
	for (size_t i = 0; i < verdicts->arms_count; i++) {
		const struct verdict_arm *arm = &verdicts->arms[i];

		json_object(json);
		json_member_string(json, "id", arm->scenario->id);
		json_member_int(json, "repetition", arm->repetition);
		json_member_string(json, "status", arm_status_names[arm->status]);
		document_optional(json, "reason", arm->reason);
		json_member_int(json, "durationNs", records[i].duration_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_cell(struct json_writer *json, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *observation = cell->observation;

	json_object(json);
	json_member_string(json, "arm", cell->scenario->id);
	json_member_int(json, "repetition", cell->repetition);
	json_member_string(json, "subject", expectation->subject);
	json_member_string(json, "observer", expectation->observer);
	json_member_string(json, "op", expectation_op_names[expectation->op]);
	json_member_int(json, "expected", expectation->value);
	json_put_key(json, "value");
	if (observation && observation->status == OBSERVATION_OBSERVED)
		json_put_int(json, observation->value);
	else
		json_put_null(json);
	json_member_string(json, "reason", because_names[cell->because]);
	json_object_end(json);
}

static void put_cells(struct json_writer *json, const char *key, const struct verdicts *verdicts, enum verdict verdict)
{
	json_put_key(json, key);
	json_array(json);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (verdicts->cells[i].verdict == verdict)
			put_cell(json, &verdicts->cells[i]);
	json_array_end(json);
}

static void put_mutations(struct json_writer *json, const struct verdicts *verdicts)
{
	json_put_key(json, "mutations");
	json_array(json);
	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		const struct verdict_mutation *mutation = &verdicts->mutations[i];

		json_object(json);
		json_member_string(json, "id", mutation->scenario->id);
		json_member_int(json, "repetition", mutation->repetition);
		json_member_string(json, "verdict", verdict_names[mutation->verdict]);
		json_member_bool(json, "installed", mutation->installed);
		json_member_bool(json, "detected", mutation->detected);
		json_member_string(json, "reason", because_names[mutation->because]);
		json_object_end(json);
	}
	json_array_end(json);
}

int run_document_verdict(const struct findings *findings, const struct summary_facts *facts, struct buf *out,
			 struct error **err)
{
	const struct verdicts *verdicts = findings->verdicts;
	struct json_writer json;

	document_begin(&json, out, "run", verdicts->exit_code);
	json_member_bool(&json, "dryRun", false);
	json_member_string(&json, "verdict", verdict_names[verdicts->overall]);
	json_put_key(&json, "cells");
	json_object(&json);
	json_member_int(&json, "pass", (int64_t)verdicts->pass);
	json_member_int(&json, "fail", (int64_t)verdicts->fail);
	json_member_int(&json, "notEstablished", (int64_t)verdicts->not_established);
	json_object_end(&json);
	put_cells(&json, "failed", verdicts, VERDICT_FAIL);
	put_cells(&json, "notEstablished", verdicts, VERDICT_NOT_ESTABLISHED);
	put_arms(&json, verdicts, findings->arms);
	put_mutations(&json, verdicts);
	put_absent(&json, findings->plan);
	json_put_key(&json, "claims");
	if (claims_put(findings, &json, err) < 0)
		return -1;
	document_path(&json, "bundle", facts->bundle);
	json_member_string(&json, "sha256", facts->sha256);
	json_member_int(&json, "seed", facts->seed);
	json_member_int(&json, "wallNs", facts->wall_ns);
	document_end(&json);
	return 0;
}
