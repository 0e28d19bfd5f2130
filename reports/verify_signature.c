/*
 * Who vouches for the bundle: the statement inside the archive, and the one beside it. Both must be of this bundle,
 * whoever signed them; one of them must be signed by the key that the caller trusts.
 */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/statement.h"
#include "reports/verify_parts.h"

#define UNSIGNED "the bundle is not signed: its bytes agree with each other, and nobody vouches for who made them"
#define KEYLESS "the bundle is signed, and no key was given to check it with: nobody known vouches for who made it"
#define ANOTHER_KEY "the bundle is not signed by the key that was given"
/* Where a signature was asked for: a bundle with another name has lost what lies beside it. */
#define UNSIGNED_ASKED                                                                                                 \
	"the bundle is not signed, in it or beside it as BUNDLE.intoto.jsonl: --attestation takes another name"
#define ANOTHER_KEY_ALONE                                                                                              \
	ANOTHER_KEY ", and nothing lies beside it as BUNDLE.intoto.jsonl: --attestation takes another name"

enum place { INSIDE, BESIDE, PLACES };
static const char *const place_names[PLACES];

struct signing {
	const struct bundle *bundle;
	const struct verify_options *options;
	const struct verify_report *report;
	bool present[PLACES], good[PLACES];
};

/* The first of the checks without which nobody knows what the statement has to say, or NULL. */
static const char *lacking(const struct verify_report *report)
{
	static const char *const needed[] = { "members", "sums", "manifest", "verdicts" };

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		bool passed = false;

		for (size_t c = 0; c < report->count; c++)
			passed |=
				strcmp(report->checks[c].id, needed[i]) == 0 && report->checks[c].result == CHECK_PASS;
		if (!passed)
			return needed[i];
	}
	return NULL;
}

/* The first that failed, or NULL: then the bytes do not even agree with each other. */
static const char *broken(const struct verify_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_FAIL)
			return report->checks[i].id;
	return NULL;
}

static int check_statement(const struct signing *signing, enum place place, const struct buf *payload,
			   struct error **err)
{
	const struct bundle *bundle = signing->bundle;
	const struct statement_facts facts = {
		.manifest = &bundle->manifest,
		.verdicts = bundle->verdicts,
		.sums_sha256 = bundle->members[MEMBER_SUMS].sha256,
		.archive_sha256 = place == BESIDE ? signing->report->archive_sha256 : NULL,
	};

	return statement_check(&facts, buf_string(payload), payload->length, err);
}

static int check_place(struct signing *signing, enum place place, struct error **err)
{
	const struct read_member *member = &signing->bundle->members[MEMBER_STATEMENT];
	const struct verify_options *options = signing->options;
	const char *bytes = place == BESIDE ? options->beside : member->present ? buf_string(&member->text) : NULL;
	size_t length = place == BESIDE ? options->beside_length : member->text.length;
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	int result;

	if (!bytes)
		return 0;
	signing->present[place] = true;
	result = dsse_read(bytes, length, &envelope, err);
	if (result == 0 && options->key)
		result = dsse_check(&envelope, options->key, &signing->good[place], err);
	if (result == 0 && !lacking(signing->report))
		result = check_statement(signing, place, &envelope.payload, err);
	return result < 0 ? error_wrap(err, "%s the archive", place_names[place]) : 0;
}

static void say(struct verify_report *report, enum check_result result, const char *reason)
{
	struct verify_check *check = &report->checks[report->count++];

	*check = (struct verify_check){ .id = "signature", .result = result };
	snprintf(check->reason, sizeof(check->reason), "%s", reason);
}

static void rests_on(struct verify_report *report, const char *id)
{
	char reason[sizeof(report->checks[0].reason)];

	snprintf(reason, sizeof(reason), "rests on '%s', which did not pass", id);
	say(report, CHECK_NOT_CHECKED, reason);
}

static void conclude(const struct signing *signing, struct verify_report *report)
{
	bool unsigned_one = !signing->present[INSIDE] && !signing->present[BESIDE];
	const char *missing = unsigned_one ? broken(report) : lacking(report);
	char reason[sizeof(report->checks[0].reason)] = "";

	if (unsigned_one && !missing)
		return say(report, CHECK_NOT_CHECKED,
			   signing->options->key || signing->options->require_signature ? UNSIGNED_ASKED : UNSIGNED);
	if (unsigned_one)
		return rests_on(report, missing);
	if (!signing->options->key)
		return say(report, CHECK_NOT_CHECKED, KEYLESS);
	if (!signing->good[INSIDE] && !signing->good[BESIDE])
		return say(report, CHECK_FAIL, signing->present[BESIDE] ? ANOTHER_KEY : ANOTHER_KEY_ALONE);
	if (missing)
		return rests_on(report, missing);
	for (int i = 0; i < PLACES; i++)
		if (signing->present[i] && !signing->good[i])
			snprintf(reason, sizeof(reason), "the statement %s the archive is signed by another key",
				 place_names[i]);
	return say(report, CHECK_PASS, reason);
}

int verify_signature(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report,
		     struct error **err)
{
	struct signing signing = { .bundle = bundle, .options = options, .report = report };
	cleanup_error struct error *why = NULL;
	int result = 0;

	for (int i = 0; i < PLACES && result == 0; i++)
		result = check_place(&signing, (enum place)i, &why);
	if (result == 0) {
		conclude(&signing, report);
		return 0;
	}
	if (error_code(why) == ERROR_MEMORY || error_code(why) == ERROR_SYSTEM) {
		error_keep_first(err, &why);
		return -1;
	}
	say(report, CHECK_FAIL, error_text(why));
	return 0;
}

static const char *const place_names[PLACES] = { [INSIDE] = "inside", [BESIDE] = "beside" };
