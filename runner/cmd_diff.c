/* `harness diff`: two bundles side by side. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/compare.h"
#include "runner/bundle_file.h"
#include "runner/diff_print.h"
#include "runner/document.h"
#include "runner/verb.h"

void diff_side(const struct opened *opened, struct compare_side *out)
{
	const struct findings *findings = opened_findings(opened);

	*out = (struct compare_side){
		.manifest = opened_manifest(opened),
		.verdicts = findings->verdicts,
		.arms = findings->arms,
		.arms_count = findings->arms_count,
		.environment = findings->environment,
		.environment_length = findings->environment_length,
		.findings = member_known(MEMBER_CLAIMS, findings->manifest->minor) ? findings : NULL,
	};
}

/* Behind a difference that weighs nothing. */
#define MAY_DIFFER " (which weighs nothing)"

static const char *or_nothing(const char *text)
{
	return text[0] ? text : "(nothing)";
}

void diff_print_differences(const struct compare_difference *differences, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct compare_difference *one = &differences[i];

		fprintf(out, "  %s", one->arm);
		if (one->repetition > 1)
			fprintf(out, "#%" PRId64, one->repetition);
		if (one->subject[0])
			fprintf(out, " %s@%s", one->subject, one->observer);
		fprintf(out, ": %s: %s -> %s%s\n", compare_aspect_names[one->aspect], or_nothing(one->was),
			or_nothing(one->is), one->weighs ? "" : MAY_DIFFER);
	}
}

void diff_print_facts(const struct compare_fact *facts, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %s: %s -> %s\n", facts[i].name, or_nothing(facts[i].was), or_nothing(facts[i].is));
}

void diff_put_differences(const struct compare_difference *differences, size_t count, struct json_writer *json)
{
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		const struct compare_difference *one = &differences[i];

		json_object(json);
		json_member_string(json, "aspect", compare_aspect_names[one->aspect]);
		json_member_string(json, "arm", one->arm);
		json_member_int(json, "repetition", one->repetition);
		document_optional(json, "subject", one->subject);
		document_optional(json, "observer", one->observer);
		document_optional(json, "was", one->was);
		document_optional(json, "is", one->is);
		json_member_bool(json, "weighs", one->weighs);
		json_object_end(json);
	}
	json_array_end(json);
}

void diff_put_facts(const struct compare_fact *facts, size_t count, struct json_writer *json)
{
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_member_string(json, "name", facts[i].name);
		document_optional(json, "was", facts[i].was);
		document_optional(json, "is", facts[i].is);
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_claims(const struct comparison *comparison)
{
	if (!comparison->claims) {
		printf("claims: not compared: one of the two is of a version of the format that has none\n");
		return;
	}
	printf("claims: %zu effects in both; differences, which weigh: %zu\n", comparison->effects,
	       comparison->claims_count);
	for (size_t i = 0; i < comparison->claims_count; i++) {
		const struct compare_claim *one = &comparison->claims[i];

		printf("  %s: %s: %s -> %s\n", one->effect, one->about, or_nothing(one->was), or_nothing(one->is));
	}
}

/* Null where they were not compared. */
static void put_claims(const struct comparison *comparison, struct json_writer *json)
{
	if (!comparison->claims) {
		json_put_null(json);
		return;
	}
	json_array(json);
	for (size_t i = 0; i < comparison->claims_count; i++) {
		const struct compare_claim *one = &comparison->claims[i];

		json_object(json);
		json_member_string(json, "effect", one->effect);
		json_member_string(json, "about", one->about);
		document_optional(json, "was", one->was);
		document_optional(json, "is", one->is);
		json_object_end(json);
	}
	json_array_end(json);
}

/* As a decimal with two digits behind the point. */
static void print_ratio(int64_t was_ns, int64_t is_ns)
{
	int64_t hundredths = was_ns < 100 ? 100 : is_ns / (was_ns / 100);

	printf("%" PRId64 ".%02" PRId64 " times", hundredths / 100, hundredths % 100);
}

/* Whether the arm became longer than the other did, in proportion. */
static bool grew_more(const struct compare_duration *one, const struct compare_duration *other)
{
	return one->is_ns / (one->was_ns / 1000 + 1) > other->is_ns / (other->was_ns / 1000 + 1);
}

static void print_durations(const struct comparison *comparison)
{
	const struct compare_duration *most = comparison->durations;
	int64_t was = 0, is = 0;

	for (size_t i = 0; i < comparison->durations_count; i++) {
		const struct compare_duration *one = &comparison->durations[i];

		was += one->was_ns;
		is += one->is_ns;
		most = grew_more(one, most) ? one : most;
	}
	if (comparison->durations_count == 0)
		return;
	printf("durations of %zu arms: %" PRId64 " ms -> %" PRId64 " ms, ", comparison->durations_count,
	       was / NS_PER_MS, is / NS_PER_MS);
	print_ratio(was, is);
	printf("; most of all %s, ", most->arm);
	print_ratio(most->was_ns, most->is_ns);
	printf("\n");
}

static void print_text(const struct comparison *comparison, bool same_run, int code)
{
	if (same_run)
		printf("both say that they are of one run\n");
	printf("cells in both: %zu; differences of cells, arms and mutations that weigh: %zu, others: %zu\n",
	       comparison->cells, comparison->weighing, comparison->count - comparison->weighing);
	diff_print_differences(comparison->differences, comparison->count, stdout);
	print_claims(comparison);
	printf("environment: %zu facts differ\n", comparison->environment_count);
	diff_print_facts(comparison->environment, comparison->environment_count, stdout);
	printf("manifest: %zu facts differ\n", comparison->origin_count);
	diff_print_facts(comparison->origin, comparison->origin_count, stdout);
	print_durations(comparison);
	printf("diff: %s\n", code == EXIT_PASS   ? "both came out the same"
			     : code == EXIT_FAIL ? "they did not come out the same"
						 : "what was compared came out the same, and that is not all of it");
}

static void put_durations(const struct comparison *comparison, struct json_writer *json)
{
	json_put_key(json, "durations");
	json_array(json);
	for (size_t i = 0; i < comparison->durations_count; i++) {
		const struct compare_duration *one = &comparison->durations[i];

		json_object(json);
		json_member_string(json, "arm", one->arm);
		json_member_int(json, "repetition", one->repetition);
		json_member_int(json, "wasNs", one->was_ns);
		json_member_int(json, "isNs", one->is_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static int print_document(const struct comparison *comparison, bool same_run, int code, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &document, "diff", code);
	json_member_bool(&json, "sameRun", same_run);
	json_member_int(&json, "cells", (int64_t)comparison->cells);
	json_member_int(&json, "weighing", (int64_t)(comparison->weighing + comparison->claims_count));
	json_put_key(&json, "differences");
	diff_put_differences(comparison->differences, comparison->count, &json);
	json_put_key(&json, "claims");
	put_claims(comparison, &json);
	json_put_key(&json, "environment");
	diff_put_facts(comparison->environment, comparison->environment_count, &json);
	json_put_key(&json, "manifest");
	diff_put_facts(comparison->origin, comparison->origin_count, &json);
	put_durations(comparison, &json);
	document_end(&json);
	return document_print(&document, err);
}

/* A bundle that is not intact says nothing that could be compared. */
static int open_side(const char *path, struct opened **opened, struct compare_side *side, bool *newer,
		     struct error **err)
{
	cleanup_fd int fd = -1;
	struct verify_report report;
	char safe[128], why[BUNDLE_FILE_WHY];

	if (bundle_file_open(path, "diff", &fd, &report, opened, err) < 0)
		return -1;
	bundle_file_why(&report, why);
	if (!*opened && !report.newer)
		return error_set(err, ERROR_INPUT, "the bundle '%s' is not intact: %s",
				 error_safe(path, safe, sizeof(safe)), why);
	if (!*opened)
		return error_set(err, ERROR_INPUT, "the bundle '%s' cannot be compared: %s",
				 error_safe(path, safe, sizeof(safe)), why);
	if (report.newer)
		fprintf(stderr, "harness: not all of the bundle '%s' is compared: %s\n",
			error_safe(path, safe, sizeof(safe)), why);
	*newer |= report.newer;
	diff_side(*opened, side);
	return 0;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_opened struct opened *first = NULL;
	cleanup_opened struct opened *second = NULL;
	cleanup_comparison struct comparison *comparison = NULL;
	struct compare_side one, other;
	bool same_run, newer = false;
	int code;

	if (options->words_count != 2)
		return error_set(err, ERROR_USAGE, "diff takes two bundles: harness diff ONE OTHER");
	if (open_side(options->words[0], &first, &one, &newer, err) < 0 ||
	    open_side(options->words[1], &second, &other, &newer, err) < 0 ||
	    compare_bundles(&one, &other, false, &comparison, err) < 0)
		return -1;
	code = newer ? EXIT_NOT_ESTABLISHED : EXIT_PASS;
	if (comparison->weighing + comparison->claims_count > 0)
		code = EXIT_FAIL;
	same_run = strcmp(one.manifest->run, other.manifest->run) == 0;
	if (!options->json)
		print_text(comparison, same_run, code);
	else if (print_document(comparison, same_run, code, err) < 0)
		return -1;
	return code;
}

const struct verb verb_diff = {
	.name = "diff",
	.words = "BUNDLE BUNDLE",
	.title = "two bundles side by side: cells, claims, environment, numbers",
	.text = "Verifies both and compares each cell (verdict, observation, zero or not, value), each mutation and "
		"arm, the "
		"facts of\n"
		"the environment and of the manifest, and how long the arms took. A value weighs where exactly one was "
		"expected.\n"
		"What they claim of the declared effects is compared by status, and each declaration by its text: both "
		"weigh, since\n"
		"claims of another declaration are about something else.\n"
		"Exit codes: 0 the same cells, arms, mutations and claims came out the same; 1 they did not; 2 they "
		"did, and a newer\n"
		"version of the format says more than was compared; 3 a bundle cannot be read or is not intact, 4 "
		"usage.",
	.run = run,
};
