#include "reports/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/environment.h"
#include "reports/summary.h"
#include "reports/verify_parts.h"

/* A check runs only when those it rests on passed; else it is not_checked, which is never a pass. */
struct check {
	const char *id;
	const char *after[4]; /* ids of others */
	bundle_check run;
	int since; /* the minor version of the format that has what it checks */
	bool same_version; /* only a verifier of the producer's version can make the same bytes again */
};
static const struct check checks[];
static const size_t checks_count;

#define SIGNATURE "signature"
#define ARCHIVE_PREFIX "archive: "
#define MEMBERS_ID "members"
#define MANIFEST_ID "manifest"

static void add(struct verify_report *report, const char *id, enum check_result result, const char *reason)
{
	struct verify_check *check = &report->checks[report->count++];

	*check = (struct verify_check){ .id = id, .result = result };
	snprintf(check->reason, sizeof(check->reason), "%s", reason);
}

static const struct verify_check *find(const struct verify_report *report, const char *id)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->checks[i].id, id) == 0)
			return &report->checks[i];
	return NULL;
}

/* Of a bundle from before there was what it checks there is nothing to say. */
static bool is_asked(const struct bundle *bundle, const char *id)
{
	for (size_t i = 0; i < checks_count; i++)
		if (strcmp(checks[i].id, id) == 0)
			return checks[i].since <= bundle->minor;
	return true;
}

/* The first check that this one rests on and that did not pass, or NULL. */
static const char *lacks(const struct bundle *bundle, const struct verify_report *report, const struct check *check)
{
	for (size_t i = 0; i < ARRAY_SIZE(check->after) && check->after[i]; i++) {
		const struct verify_check *other = find(report, check->after[i]);

		if (!is_asked(bundle, check->after[i]))
			continue;
		/* Members that are not known are beside those that are, and take nothing from them. */
		if (other && other->result == CHECK_NOT_CHECKED && bundle->newer && strcmp(other->id, MEMBERS_ID) == 0)
			continue;
		if (!other || other->result != CHECK_PASS)
			return check->after[i];
	}
	return NULL;
}

/* Whether it says something of the bundle, and not of this machine. */
static bool about_bundle(const struct error *error)
{
	return error_code(error) != ERROR_MEMORY && error_code(error) != ERROR_SYSTEM;
}

/* Of another major version nothing is known. */
static void refuse_major(const struct check *check, const struct bundle *bundle, struct verify_report *report)
{
	char reason[sizeof(report->checks[0].reason)];

	snprintf(reason, sizeof(reason),
		 "manifest.json: schema: the bundle is of version %d.%d, and this program reads " MANIFEST_SCHEMA
		 ", and what is newer with the same number before the dot",
		 bundle->major, bundle->minor);
	if (strcmp(check->id, MANIFEST_ID) == 0)
		add(report, check->id, CHECK_FAIL, reason);
	else
		add(report, check->id, CHECK_NOT_CHECKED, "the bundle is of another major version of its format");
}

static void not_known(const struct check *check, const struct bundle *bundle, const char *what,
		      struct verify_report *report)
{
	char reason[sizeof(report->checks[0].reason)];

	snprintf(reason, sizeof(reason), "version %d.%d of the format may say what this program does not know: %s",
		 bundle->major, bundle->minor, what);
	add(report, check->id, CHECK_NOT_CHECKED, reason);
}

static int run_check(const struct check *check, struct bundle *bundle, struct verify_report *report, struct error **err)
{
	cleanup_error struct error *why = NULL;
	const char *lacking = lacks(bundle, report, check);
	char reason[sizeof(report->checks[0].reason)];

	if (!bundle->other_major && !is_asked(bundle, check->id))
		return 0;
	if (bundle->other_major) {
		refuse_major(check, bundle, report);
		return 0;
	}
	if (lacking) {
		snprintf(reason, sizeof(reason), "rests on '%s', which did not pass", lacking);
		add(report, check->id, CHECK_NOT_CHECKED, reason);
		return 0;
	}
	if (check->same_version && bundle->newer) {
		not_known(check, bundle, "what is made of the other members", report);
		return 0;
	}
	if (check->same_version && strcmp(bundle->manifest.version, HARNESS_VERSION) != 0) {
		add(report, check->id, CHECK_NOT_CHECKED, "the bundle was made by another version of harness");
		return 0;
	}
	if (check->run(bundle, &why) >= 0) {
		if (bundle->strangers_count > 0 && strcmp(check->id, MEMBERS_ID) == 0)
			not_known(check, bundle, "a member", report);
		else
			add(report, check->id, CHECK_PASS, "");
		return 0;
	}
	if (about_bundle(why) && bundle_unknown(bundle, why)) {
		not_known(check, bundle, error_text(why), report);
		return 0;
	}
	if (about_bundle(why)) {
		add(report, check->id, CHECK_FAIL, error_text(why));
		return 0;
	}
	error_keep_first(err, &why);
	return -1;
}

static int read_archive(int fd, struct bundle *bundle, struct verify_report *report, struct error **err)
{
	cleanup_error struct error *why = NULL;

	if (bundle_read(fd, bundle, &why) >= 0) {
		memcpy(report->archive_sha256, bundle->packed_sha256, sizeof(report->archive_sha256));
		add(report, "archive", CHECK_PASS, "");
		return 0;
	}
	if (about_bundle(why)) {
		const char *text = error_text(why);

		/* The check has that name already. */
		add(report, "archive", CHECK_FAIL,
		    strncmp(text, ARCHIVE_PREFIX, strlen(ARCHIVE_PREFIX)) == 0 ? text + strlen(ARCHIVE_PREFIX) : text);
		return 0;
	}
	error_keep_first(err, &why);
	return -1;
}

static void remark_environment(const struct bundle *bundle, struct verify_report *report)
{
	cleanup_error struct error *ignored = NULL;
	bool changed = false;

	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->checks[i].id, "environment") == 0 && report->checks[i].result == CHECK_PASS &&
		    bundle_changed(bundle, &changed, &ignored) >= 0 && changed)
			snprintf(report->checks[i].reason, sizeof(report->checks[i].reason),
				 "it changed during the run, so nothing passes");
}

/* Whether something was asked for, or belongs to the bundle, and could not be checked. */
static bool is_left_out(const struct verify_report *report, const struct verify_check *check)
{
	if (check->result != CHECK_NOT_CHECKED)
		return false;
	if (strcmp(check->id, SIGNATURE) == 0)
		return report->signature_asked;
	return strcmp(check->id, VERIFY_ASSESSORS) != 0 || report->unassessed;
}

static void conclude(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report)
{
	const struct verdicts *verdicts = bundle->verdicts;
	bool failed = false, left_out = false;

	report->signature_asked = options->require_signature || options->key;
	for (size_t i = 0; i < report->count; i++) {
		const struct verify_check *check = &report->checks[i];

		failed |= check->result == CHECK_FAIL;
		left_out |= is_left_out(report, check);
	}
	if (verdicts) {
		report->recomputed = true;
		report->verdict = verdicts->overall;
		report->pass = verdicts->pass;
		report->fail = verdicts->fail;
		report->not_established = verdicts->not_established;
		report->arms = verdicts->arms_count;
		report->mutations = verdicts->mutations_count;
		report->absent = bundle->plan->absent_count;
		report->unclaimed = !member_known(MEMBER_CLAIMS, bundle->minor);
		report->unvouched = bundle->manifest.gateway.kind == GATEWAY_URL;
	}
	memcpy(report->sums_sha256, bundle->members[MEMBER_SUMS].sha256, sizeof(report->sums_sha256));
	/* 3 is for a bundle that cannot be opened: that an arm broke is the run's error, and leaves its cells open. */
	report->newer = bundle->newer && !failed;
	if (failed || !verdicts)
		report->exit_code = report->newer ? 2 : 1;
	else
		report->exit_code = verdicts->exit_code == 3 ? 2 : verdicts->exit_code;
	if (report->exit_code == 0 && left_out)
		report->exit_code = 2;
}

int bundle_verify(int fd, const struct verify_options *options, struct bundle *bundle, struct verify_report *out,
		  struct error **err)
{
	int result;

	*out = (struct verify_report){ .exit_code = 3 };
	result = read_archive(fd, bundle, out, err);
	for (size_t i = 0; i < checks_count && result >= 0; i++)
		result = run_check(&checks[i], bundle, out, err);
	if (result >= 0 && bundle->other_major)
		add(out, SIGNATURE, CHECK_NOT_CHECKED, "the bundle is of another major version of its format");
	else if (result >= 0)
		result = verify_signature(bundle, options, out, err);
	if (result >= 0 && !bundle->other_major)
		result = verify_assessors(bundle, options, out, err);
	if (result < 0)
		return result;
	remark_environment(bundle, out);
	conclude(bundle, options, out);
	return out->recomputed ? verify_remark(bundle, options, &out->remarks, err) : 0;
}

int verify_bundle(int fd, const struct verify_options *options, struct verify_report *out, struct error **err)
{
	cleanup_free struct bundle *bundle = calloc(1, sizeof(*bundle));
	int result;

	if (!bundle)
		return error_set(err, ERROR_MEMORY, "no memory for a bundle");
	result = bundle_verify(fd, options, bundle, out, err);
	bundle_close(bundle);
	return result;
}

static bool only_signature_failed(const struct verify_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_FAIL && strcmp(report->checks[i].id, SIGNATURE) != 0)
			return false;
	return report->recomputed;
}

/* Whose statements count in claims.json. */
static void put_assessors(const struct verify_report *report, bool quiet, struct buf *out)
{
	for (size_t i = 0; i < report->assessors_count && !quiet; i++) {
		const struct verify_assessor *one = &report->assessors[i];

		buf_printf(out, "assessor %s: %zu statements, %s\n", one->key, one->statements,
			   one->signs   ? "and it signs the bundle itself: none of them counts"
			   : one->named ? "and you name it"
					: "and whose key it is, is the bundle's own word: you do not name it");
	}
	for (size_t i = 0; i < report->statements_count && !quiet; i++) {
		const struct verify_statement *one = &report->statements[i];

		buf_printf(out, "statement %s (%s%s%s): %s\n", one->id, assessment_kind_names[one->kind],
			   one->path[0] ? " of " : "", one->path, one->what);
	}
}

/* Where the verdict alone would be 0. */
static void put_left_out(const struct verify_report *report, struct buf *out)
{
	bool any = false;

	buf_text(out, "exit code 2: not checked:");
	for (size_t i = 0; i < report->count; i++) {
		if (!is_left_out(report, &report->checks[i]))
			continue;
		buf_printf(out, "%s %s", any ? "," : "", report->checks[i].id);
		any = true;
	}
	buf_text(out, "\n");
}

static void put_verdict(const struct verify_report *report, bool intact, bool quiet, struct buf *out)
{
	if (!intact && report->newer) {
		buf_text(out, "verdict: none: " VERIFY_NEWER "\n");
		return;
	}
	if (!intact && only_signature_failed(report)) {
		buf_text(out,
			 "verdict: none: the bytes agree with each other, and the signature does not vouch for them\n");
		return;
	}
	if (!intact) {
		buf_text(out, "verdict: none: the bundle is not intact\n");
		return;
	}
	verify_remarks_text(&report->remarks, quiet, out);
	put_assessors(report, quiet, out);
	buf_printf(out, "verdict, made again: %s\n", verdict_words(report->verdict));
	summary_cells(report->pass, report->fail, report->not_established, report->arms, report->mutations, out);
	if (report->absent)
		buf_printf(out, "not planned: %zu cells that host or gateway could not make (coverage.json)\n",
			   report->absent);
	if (report->unclaimed && !quiet)
		buf_text(out, "claims: none: this version of the format has no declarations of effects\n");
	if (report->unvouched)
		buf_text(out, SUMMARY_UNVOUCHED);
	if (report->exit_code == 2 && report->verdict == VERDICT_PASS)
		put_left_out(report, out);
}

void verify_text(const struct verify_report *report, bool quiet, struct buf *out)
{
	bool intact = report->recomputed;

	for (size_t i = 0; i < report->count; i++) {
		const struct verify_check *check = &report->checks[i];
		bool failed = check->result == CHECK_FAIL;

		intact &= !failed;
		if (quiet && !failed)
			continue;
		buf_printf(out, "%-11s %s%s%s\n", check_result_names[check->result], check->id,
			   check->reason[0] ? ": " : "", check->reason);
	}
	put_verdict(report, intact, quiet, out);
	if (!quiet && intact)
		buf_printf(out, "bundle: sums %s\n        archive %s\n", report->sums_sha256, report->archive_sha256);
}

const char *const check_result_names[] = {
	[CHECK_PASS] = "pass",
	[CHECK_FAIL] = "fail",
	[CHECK_NOT_CHECKED] = "not_checked",
};

static const struct check checks[] = {
	{ .id = "members", .after = { "archive" }, .run = check_members },
	{ .id = "sums", .after = { "members" }, .run = check_sums },
	{ .id = "manifest", .after = { "members" }, .run = check_manifest },
	{ .id = "canonical", .after = { "members" }, .run = check_canonical },
	{ .id = "grammar", .after = { "members" }, .run = check_grammar },
	{ .id = "references", .after = { "manifest", "canonical" }, .run = check_references },
	{ .id = "environment", .after = { "grammar", "manifest", "canonical" }, .run = check_environment },
	{ .id = "effects", .after = { "canonical", "manifest" }, .since = 1, .run = check_effects },
	{ .id = "verdicts", .after = { "references", "grammar" }, .run = check_verdicts },
	{ .id = "claims", .after = { "verdicts", "effects" }, .since = 1, .run = check_claims },
	{ .id = "mutations", .after = { "verdicts" }, .run = check_mutations },
	{ .id = "generated",
	  .after = { "verdicts", "manifest", "environment", "claims" },
	  .run = check_generated,
	  .same_version = true },
};
static const size_t checks_count = ARRAY_SIZE(checks);
