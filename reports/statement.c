#include "reports/statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/dsse.h"
#include "reports/members.h"
#include "reports/shape.h"

#define TEXT_MAX 160
#define NAME_BYTES (ID_MAX + 24)
#define IMAGE_SUBJECT "agent-image-config"
#define CONFIGURATION "confinement-conformance" /* what consumers know the suite by */

/* The results of the predicate, and its lists, by verdict. */
static const char *const results[], *const lists[];

/* The verdict of each arm of the plan, in its order: the worst of how it ended, its cells and its mutation. */
static void judge_arms(const struct verdicts *verdicts, enum verdict *out)
{
	size_t at = 0;

	for (size_t i = 0; i < verdicts->arms_count; i++)
		out[i] = verdicts->arms[i].status == ARM_OK ? VERDICT_PASS : VERDICT_NOT_ESTABLISHED;
	for (size_t i = 0; i < verdicts->cells_count + verdicts->mutations_count; i++) {
		bool cell = i < verdicts->cells_count;
		const struct verdict_cell *one = cell ? &verdicts->cells[i] : NULL;
		const struct verdict_mutation *mutation = cell ? NULL : &verdicts->mutations[i - verdicts->cells_count];
		const struct scenario *scenario = cell ? one->scenario : mutation->scenario;
		int64_t repetition = cell ? one->repetition : mutation->repetition;
		enum verdict verdict = cell ? one->verdict : mutation->verdict;

		/* Cells stand together by arm: the search goes on where the last one ended. */
		for (size_t tries = 0; tries < verdicts->arms_count; tries++, at++) {
			at = at < verdicts->arms_count ? at : 0;
			if (verdicts->arms[at].scenario == scenario && verdicts->arms[at].repetition == repetition)
				break;
		}
		at = at < verdicts->arms_count ? at : 0;
		if (verdict == VERDICT_FAIL || (verdict == VERDICT_NOT_ESTABLISHED && out[at] == VERDICT_PASS))
			out[at] = verdict;
	}
}

static void put_digest(struct json_writer *json, const char *sha256)
{
	json_put_key(json, "digest");
	json_object(json);
	json_member_string(json, "sha256", sha256);
	json_object_end(json);
}

static void put_resource(struct json_writer *json, const char *name, const char *sha256)
{
	json_object(json);
	json_member_string(json, "name", name);
	put_digest(json, sha256);
	json_object_end(json);
}

/* "" where the manifest does not list it, which no bundle does that verifies. */
static const char *file_digest(const struct manifest *manifest, int member)
{
	for (size_t i = 0; i < manifest->files_count; i++)
		if (strcmp(manifest->files[i].path, member_kinds[member].name) == 0)
			return manifest->files[i].sha256;
	return "";
}

static const char *program_digest(const struct manifest *manifest, const char *name)
{
	for (size_t i = 0; i < manifest->programs_count; i++)
		if (strcmp(manifest->programs[i].name, name) == 0)
			return manifest->programs[i].sha256;
	return NULL;
}

/* The engine may name the image by another object than its configuration. */
static const char *image_digest(const struct manifest *manifest)
{
	return manifest->origin.image_config[0] ? manifest->origin.image_config : manifest->image;
}

/* Without an archive: from inside it. Without an image: of the bundle alone. */
static void put_subjects(struct json_writer *json, const char *sums, const char *archive, const char *image)
{
	json_put_key(json, "subject");
	json_array(json);
	if (archive)
		put_resource(json, BUNDLE_ARCHIVE, archive);
	put_resource(json, BUNDLE_SUMS, sums);
	if (image)
		put_resource(json, IMAGE_SUBJECT, image);
	json_array_end(json);
}

static void put_harness(struct json_writer *json, const struct manifest *manifest, const char *sha256)
{
	const char *commit = manifest->origin.build.commit;

	json_object(json);
	json_member_string(json, "name", "harness");
	json_put_key(json, "digest");
	json_object(json);
	json_member_string(json, "sha256", sha256);
	if (commit[0] && !manifest->origin.build.dirty)
		json_member_string(json, "gitCommit", commit);
	json_object_end(json);
	json_object_end(json);
}

static void put_configuration(struct json_writer *json, const struct manifest *manifest)
{
	const char *harness = program_digest(manifest, "harness");

	json_put_key(json, "configuration");
	json_array(json);
	put_resource(json, CONFIGURATION, file_digest(manifest, MEMBER_PROFILE));
	put_resource(json, member_kinds[MEMBER_SCENARIOS].name, file_digest(manifest, MEMBER_SCENARIOS));
	if (harness)
		put_harness(json, manifest, harness);
	json_array_end(json);
}

static void put_list(struct json_writer *json, const struct verdicts *verdicts, const enum verdict *arms,
		     enum verdict wanted)
{
	json_put_key(json, lists[wanted]);
	json_array(json);
	for (size_t i = 0; i < verdicts->arms_count; i++) {
		const struct verdict_arm *arm = &verdicts->arms[i];
		char name[NAME_BYTES];

		if (arms[i] != wanted)
			continue;
		if (arm->repetition > 1)
			snprintf(name, sizeof(name), "%s #%" PRId64, arm->scenario->id, arm->repetition);
		else
			snprintf(name, sizeof(name), "%s", arm->scenario->id);
		json_put_string(json, name);
	}
	json_array_end(json);
}

/* Our own part of the predicate. */
static void put_evidence(struct json_writer *json, const struct manifest *manifest, const struct verdicts *verdicts)
{
	json_put_key(json, "confinementEvidence");
	json_object(json);
	json_member_string(json, "runId", manifest->run);
	json_member_string(json, "startedAt", manifest->started);
	json_member_string(json, "finishedAt", manifest->finished);
	json_member_string(json, "version", manifest->version);
	json_member_bool(json, "gatewayComposed", manifest->gateway.kind != GATEWAY_URL);
	json_member_int(json, "pass", (int64_t)verdicts->pass);
	json_member_int(json, "fail", (int64_t)verdicts->fail);
	json_member_int(json, "notEstablished", (int64_t)verdicts->not_established);
	json_member_string(json, "coverageSha256", file_digest(manifest, MEMBER_COVERAGE));
	json_member_string(json, "observationsSha256", file_digest(manifest, MEMBER_OBSERVATIONS));
	json_object_end(json);
}

static int finish(const struct buf *text, struct buf *out, struct error **err)
{
	int result = buf_check(text, "a statement", err);

	return result < 0 ? result : json_canonical(buf_string(text), text->length, out, err);
}

int statement_encode(const struct statement_facts *facts, struct buf *out, struct error **err)
{
	const struct verdicts *verdicts = facts->verdicts;
	cleanup_free enum verdict *arms = calloc(verdicts->arms_count + 1, sizeof(*arms));
	cleanup_buf struct buf text = BUF(DSSE_PAYLOAD_BYTES);
	struct json_writer json;

	if (!arms)
		return error_set(err, ERROR_MEMORY, "no memory for a statement");
	judge_arms(verdicts, arms);
	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "_type", STATEMENT_TYPE);
	put_subjects(&json, facts->sums_sha256, facts->archive_sha256, image_digest(facts->manifest));
	json_member_string(&json, "predicateType", STATEMENT_RESULT);
	json_put_key(&json, "predicate");
	json_object(&json);
	json_member_string(&json, "result", results[verdicts->overall]);
	put_configuration(&json, facts->manifest);
	put_list(&json, verdicts, arms, VERDICT_PASS);
	put_list(&json, verdicts, arms, VERDICT_NOT_ESTABLISHED);
	put_list(&json, verdicts, arms, VERDICT_FAIL);
	put_evidence(&json, facts->manifest, verdicts);
	json_object_end(&json);
	json_object_end(&json);
	return finish(&text, out, err);
}

static bool same(const struct json_node *one, const struct json_node *other)
{
	struct json_span a, b;

	if (!one || !other)
		return false;
	a = json_raw(one);
	b = json_raw(other);
	return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static const struct json_node *named(const struct json_node *list, const char *name)
{
	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		if (json_text_is(json_member(one, "name"), name))
			return one;
	return NULL;
}

/* Every resource of the list that we would write stands in theirs, with the same digest. */
static const char *lacks(const struct json_node *ours, const struct json_node *theirs)
{
	for (const struct json_node *one = json_first(ours); one; one = json_next(one)) {
		const char *name = json_string(json_member(one, "name"));
		const struct json_node *digest = json_member(json_member(one, "digest"), "sha256");
		const struct json_node *found = json_member(named(theirs, name), "digest");

		if (!json_text_is(json_member(found, "sha256"), json_string(digest)))
			return name;
	}
	return NULL;
}

/* A text of a bundle's grammar, and nothing of a canary's shape. */
static bool closed(const struct json_node *node)
{
	const char *texts[] = { json_key(node), json_string(node) };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i] && strlen(texts[i]) > TEXT_MAX)
			return false;
		for (const char *at = texts[i]; at && *at; at++)
			if (*at < ' ' || *at > '~')
				return false;
	}
	for (const struct json_node *one = json_first(node); one; one = json_next(one))
		if (!closed(one))
			return false;
	return true;
}

static int compare_predicate(const struct json_node *ours, const struct json_node *theirs, struct error **err)
{
	const char *name;

	if (!same(json_member(ours, "result"), json_member(theirs, "result")))
		return error_set(err, ERROR_INPUT, "the statement has another result than the verdicts made again");
	for (size_t i = 0; lists[i]; i++)
		if (!same(json_member(ours, lists[i]), json_member(theirs, lists[i])))
			return error_set(err, ERROR_INPUT, "the statement has other %s than the verdicts made again",
					 lists[i]);
	name = lacks(json_member(ours, "configuration"), json_member(theirs, "configuration"));
	if (name)
		return error_set(err, ERROR_INPUT, "the statement's configuration has another %s", name);
	return 0;
}

static int compare(const struct json_node *ours, const struct json_node *theirs, struct error **err)
{
	const char *name;

	if (!json_text_is(json_member(theirs, "_type"), STATEMENT_TYPE))
		return error_set(err, ERROR_INPUT, "the payload is no in-toto statement of version 1");
	if (!json_text_is(json_member(theirs, "predicateType"), STATEMENT_RESULT))
		return error_set(err, ERROR_INPUT, "the statement is no test result of version 0.1");
	name = lacks(json_member(ours, "subject"), json_member(theirs, "subject"));
	if (name)
		return error_set(err, ERROR_INPUT, "the statement is of another bundle: another %s", name);
	return compare_predicate(json_member(ours, "predicate"), json_member(theirs, "predicate"), err);
}

static int blame(const struct statement_facts *facts, const struct buf *ours, const char *payload, size_t length,
		 struct error **err)
{
	cleanup_json struct json_document *made = NULL, *read = NULL;
	struct shape shape = { 0 };
	int result = json_parse(buf_string(ours), ours->length, JSON_DEPTH, &made, err);

	if (result == 0 && json_parse(payload, length, JSON_DEPTH, &read, err) < 0)
		return error_wrap(err, "the statement");
	if (result == 0)
		result = compare(json_root(made), json_root(read), err);
	if (result < 0)
		return result;
	if (strcmp(facts->manifest->version, HARNESS_VERSION) == 0)
		return error_set(err, ERROR_INPUT, "the statement says more or other than harness says of this bundle");
	if (!closed(json_root(read)) || shape_feed(&shape, payload, length))
		return error_set(err, ERROR_INPUT, "the statement: a text outside the grammar");
	return 0;
}

int statement_check(const struct statement_facts *facts, const char *payload, size_t length, struct error **err)
{
	cleanup_buf struct buf ours = BUF(DSSE_PAYLOAD_BYTES);
	int result = statement_encode(facts, &ours, err);

	if (result < 0 || (ours.length == length && memcmp(ours.data, payload, length) == 0))
		return result;
	return blame(facts, &ours, payload, length, err);
}

/* A property and the checks that must all have passed. */
struct property {
	const char *name;
	const char *checks[5];
	bool verdict; /* it speaks of the run and not of the bundle: only of one that passed */
};
static const struct property properties[];
static const size_t properties_count;

static bool passed(const struct verify_report *report, const char *id)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->checks[i].id, id) == 0)
			return report->checks[i].result == CHECK_PASS;
	return false;
}

static bool holds(const struct verify_report *report, const struct property *property)
{
	if (property->verdict && !(report->recomputed && report->verdict == VERDICT_PASS))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(property->checks) && property->checks[i]; i++)
		if (!passed(report, property->checks[i]))
			return false;
	return true;
}

static void put_verifier(struct json_writer *json, const struct manifest *manifest)
{
	json_put_key(json, "verifier");
	json_object(json);
	json_member_string(json, "id", STATEMENT_VERIFIER);
	json_put_key(json, "policies");
	json_array(json);
	put_resource(json, member_kinds[MEMBER_PROFILE].name, file_digest(manifest, MEMBER_PROFILE));
	put_resource(json, member_kinds[MEMBER_SCENARIOS].name, file_digest(manifest, MEMBER_SCENARIOS));
	json_array_end(json);
	json_object_end(json);
}

int statement_summary(const struct verify_report *report, const struct manifest *manifest, const char *time,
		      struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(DSSE_PAYLOAD_BYTES);
	struct json_writer json;

	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "_type", STATEMENT_TYPE);
	put_subjects(&json, report->sums_sha256, report->archive_sha256, NULL);
	json_member_string(&json, "predicateType", STATEMENT_SUMMARY);
	json_put_key(&json, "predicate");
	json_object(&json);
	put_verifier(&json, manifest);
	json_member_string(&json, "timeCreated", time);
	json_put_key(&json, "properties");
	json_array(&json);
	for (size_t i = 0; i < properties_count; i++)
		if (holds(report, &properties[i]))
			json_put_string(&json, properties[i].name);
	json_array_end(&json);
	json_object_end(&json);
	json_object_end(&json);
	return finish(&text, out, err);
}

static const char *const results[] = {
	[VERDICT_PASS] = "PASSED",
	[VERDICT_FAIL] = "FAILED",
	[VERDICT_NOT_ESTABLISHED] = "WARNED",
};

static const char *const lists[] = {
	[VERDICT_PASS] = "passedTests",
	[VERDICT_FAIL] = "failedTests",
	[VERDICT_NOT_ESTABLISHED] = "warnedTests",
	NULL,
};

static const struct property properties[] = {
	{ "CONFINE_BUNDLE_INTEGRITY", { "archive", "members", "sums", "manifest" }, false },
	{ "CONFINE_NO_PAYLOAD_GRAMMAR", { "canonical", "grammar" }, false },
	{ "CONFINE_VERDICTS_RECOMPUTED", { "references", "environment", "verdicts" }, false },
	{ "CONFINE_REPORTS_REGENERATED", { "generated" }, false },
	{ "CONFINE_SIGNATURE_VERIFIED", { "signature" }, false },
	{ "CONFINE_MUTATIONS_ALL_DETECTED", { "mutations", "verdicts" }, true },
	{ "CONFINE_VERDICT_PASS", { "verdicts" }, true },
};
static const size_t properties_count = ARRAY_SIZE(properties);
