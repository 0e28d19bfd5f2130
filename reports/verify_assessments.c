/*
 * The statements that the run was given, and whose they are. A bundle brings the keys of its assessors along, so that
 * what counts can be derived again; that they are anybody else's than whose run it was, is its own word.
 */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/assessments_member.h"
#include "reports/signers.h"
#include "reports/verify_parts.h"

static bool is_run_key(const struct assessing *assessing, const char *name)
{
	for (size_t i = 0; i < assessing->run_keys_count; i++)
		if (strcmp(assessing->run_keys[i], name) == 0)
			return true;
	return false;
}

static int find_inside(const struct bundle *bundle, bool signs[ASSESSORS_MAX], struct error **err)
{
	const struct read_member *member = &bundle->members[MEMBER_STATEMENT];

	const struct shipped shipped = { .envelope = member->present ? buf_string(&member->text) : NULL,
					 .envelope_length = member->text.length };

	return signers_find(&bundle->assessing.assessors, &shipped, signs, err);
}

int check_assessments(struct bundle *bundle, struct error **err)
{
	const struct read_member *member = &bundle->members[MEMBER_ASSESSMENTS];
	struct assessing *assessing = &bundle->assessing;
	bool signs[ASSESSORS_MAX] = { false };
	int result;

	if (!member->present)
		return 0;
	result = assessing_decode(buf_string(&member->text), member->text.length, assessing, err);
	if (result == 0)
		result = find_inside(bundle, signs, err);
	for (size_t i = 0; i < assessing->assessors.count && result == 0; i++)
		if (signs[i] && !is_run_key(assessing, assessing->assessors.names[i]))
			result =
				error_set(err, ERROR_INPUT,
					  "assessments.json: assessors[%zu] signs the bundle, and runKeys lacks it", i);
	if (result < 0)
		assessing_free(assessing);
	return result;
}

static bool has_passed(const struct verify_report *report, const char *id)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->checks[i].id, id) == 0)
			return report->checks[i].result == CHECK_PASS;
	return false;
}

static void say(struct verify_report *report, enum check_result result, const char *reason)
{
	struct verify_check *check = &report->checks[report->count++];

	*check = (struct verify_check){ .id = VERIFY_ASSESSORS, .result = result };
	snprintf(check->reason, sizeof(check->reason), "%s", reason);
}

/* Who of them is known, and who signs the bundle: also later than its run, and beside it. */
static int look_at_keys(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report,
			struct error **err)
{
	const struct assessing *assessing = &bundle->assessing;
	bool signs[ASSESSORS_MAX] = { false };
	const struct buf *sums = &bundle->members[MEMBER_SUMS].text;
	const struct shipped beside = { .envelope = options->beside,
					.envelope_length = options->beside_length,
					.sigstore = options->sigstore,
					.sigstore_length = options->sigstore_length,
					.sums_signature = options->sums_signature,
					.sums_signature_length = options->sums_signature_length,
					.sums = buf_string(sums),
					.sums_length = sums->length };
	char key[HEX_SHA256] = "";

	if (options->key && public_key_fingerprint(options->key, key, err) < 0)
		return -1;
	if (find_inside(bundle, signs, err) < 0 || signers_find(&assessing->assessors, &beside, signs, err) < 0)
		return -1;
	report->assessors_count = assessing->assessors.count;
	for (size_t i = 0; i < assessing->assessors.count; i++) {
		const char *name = assessing->assessors.names[i];
		struct verify_assessor *one = &report->assessors[i];

		memcpy(one->key, name, sizeof(one->key));
		one->signs = signs[i] || strcmp(key, name) == 0 || is_run_key(assessing, name);
		for (size_t other = 0; options->assessors && other < options->assessors->count; other++)
			one->named |= strcmp(options->assessors->names[other], name) == 0;
	}
	return 0;
}

/* By the bundle's own word, for any effect. */
static int find_counted(const struct bundle *bundle, bool counted[CLAIM_STATEMENTS_MAX], struct error **err)
{
	const struct assessing *assessing = &bundle->assessing;

	for (size_t i = 0; i < bundle->effects_count; i++) {
		struct assessment_ground ground = {
			.effect = &bundle->effects[i],
			.keys = (const char(*)[HEX_SHA256])assessing->assessors.names,
			.keys_count = assessing->assessors.count,
			.run_keys = (const char(*)[HEX_SHA256])assessing->run_keys,
			.run_keys_count = assessing->run_keys_count,
			.now = bundle->manifest.finished,
		};
		cleanup_free struct assessment *judged = NULL;

		if (effect_digest(ground.effect, ground.declaration, err) < 0 ||
		    assessments_judged(&assessing->statements, &assessing->assessors, &ground, &judged, err) < 0)
			return -1;
		for (size_t at = 0; at < assessing->statements.count; at++)
			counted[at] |= assessment_judge(&judged[at], &ground) == ASSESSMENT_COUNTS;
	}
	return 0;
}

struct tally {
	size_t counted, named, signs_alone;
};

static void tally_one(const struct assessed *one, struct verify_report *report, struct tally *tally)
{
	const struct assessment *statement = &one->statement;
	struct verify_statement *said = &report->statements[report->statements_count++];
	bool named = false, other = false;

	said->kind = statement->kind;
	snprintf(said->id, sizeof(said->id), "%s", statement->id);
	snprintf(said->path, sizeof(said->path), "%s", statement->path);
	snprintf(said->what, sizeof(said->what), "%s", statement->what);

	for (size_t i = 0; i < report->assessors_count; i++) {
		struct verify_assessor *assessor = &report->assessors[i];

		assessor->statements += one->holds[i];
		other |= one->holds[i] && !assessor->signs;
		named |= one->holds[i] && !assessor->signs && assessor->named;
	}
	tally->counted++;
	tally->named += named;
	tally->signs_alone += !other;
}

int verify_assessors(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report,
		     struct error **err)
{
	const struct assessments *statements = &bundle->assessing.statements;
	bool counted[CLAIM_STATEMENTS_MAX] = { false };
	struct tally tally = { .counted = 0 };
	char reason[sizeof(report->checks[0].reason)] = "no statement counts";

	if (!bundle->members[MEMBER_ASSESSMENTS].present) {
		if (options->assessors)
			say(report, CHECK_PASS, "no statements: the bundle brings none, and no claim rests on any");
		return 0;
	}
	if (!has_passed(report, "claims")) {
		say(report, CHECK_NOT_CHECKED, "rests on 'claims', which did not pass");
		return 0;
	}
	if (look_at_keys(bundle, options, report, err) < 0 || find_counted(bundle, counted, err) < 0)
		return -1;
	for (size_t i = 0; i < statements->count; i++)
		if (counted[i])
			tally_one(&statements->list[i], report, &tally);
	if (tally.signs_alone > 0)
		snprintf(reason, sizeof(reason),
			 "of %zu statements that count, %zu are by a key that signs the bundle itself: the claims that "
			 "rest on them are not established",
			 tally.counted, tally.signs_alone);
	else if (options->assessors && tally.named < tally.counted)
		snprintf(reason, sizeof(reason),
			 "of %zu statements that count, %zu are by keys that you do not name: the claims that rest on "
			 "them are not established for you",
			 tally.counted, tally.counted - tally.named);
	else if (!options->assessors && tally.counted > 0)
		snprintf(
			reason, sizeof(reason),
			"%zu statements count, and whose keys made them is the bundle's own word: --assessor KEY names "
			"one that you know",
			tally.counted);
	else if (tally.counted > 0)
		snprintf(reason, sizeof(reason), "%zu statements count, each by a key that you name", tally.counted);
	report->unassessed = tally.signs_alone > 0 || (options->assessors && tally.named < tally.counted);
	say(report, tally.counted > 0 && (report->unassessed || !options->assessors) ? CHECK_NOT_CHECKED : CHECK_PASS,
	    reason);
	return 0;
}
