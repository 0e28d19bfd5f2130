#include "runner/effects_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims_hints.h"
#include "reports/claims.h"
#include "runner/assessing.h"
#include "runner/bundle_file.h"
#include "runner/document.h"

static const char *const reason_texts[];

static int code_of(const struct claims *claims, size_t count)
{
	int worst = count > 0 ? CLAIM_ESTABLISHED : CLAIM_NOT_ESTABLISHED;

	for (size_t i = 0; i < count; i++)
		for (size_t id = 0; id < claims[i].claims_count; id++)
			if (claims[i].claims[id].status > worst)
				worst = claims[i].claims[id].status;
	if (worst == CLAIM_REFUTED)
		return EXIT_FAIL;
	return worst == CLAIM_ESTABLISHED ? EXIT_PASS : EXIT_NOT_ESTABLISHED;
}

static void print_reason(const char *word, const char *reason, const char *path)
{
	printf("      %-10s %s%s%s\n", word, reason, path[0] ? " of " : "", path);
}

static void print_claim(const struct claim *claim)
{
	printf("  %-22s %s\n", claim_names[claim->id], claim_status_names[claim->status]);
	printf("      %-10s %s\n", "says", claim->says);
	printf("      %-10s %s\n", "not", claim->says_not);
	for (size_t i = 0; i < claim->refuted_count; i++)
		print_reason("refuted by", claim_refutation_names[claim->refuted[i].by], claim->refuted[i].path);
	for (size_t i = 0; i < claim->unmet_count; i++)
		print_reason("unmet", claim_obligation_names[claim->unmet[i].obligation], claim->unmet[i].path);
	for (size_t i = 0; i < claim->cut_count; i++)
		printf("      %-10s of '%s' there are more than are listed\n", "cut", claim_list_names[claim->cut[i]]);
	for (size_t i = 0; i < claim->unseen_count; i++)
		print_reason("unseen", effect_sight_names[claim->unseen[i]], "");
	if (claim->rests_on_count)
		printf("      %-10s", "rests on");
	for (size_t i = 0; i < claim->rests_on_count; i++)
		printf(" %s", claim->rests_on[i]);
	if (claim->rests_on_count)
		printf("\n");
}

static void print_statement(const struct effect *effect, const struct claim_statement *statement)
{
	bool counts = statement->reason == ASSESSMENT_COUNTS;

	printf("  statement %s (%s%s%s) %s%s%s%s\n      %-10s %s\n", statement->id,
	       assessment_kind_names[statement->kind], statement->path[0] ? " of " : "", statement->path,
	       counts ? "counts" : "is ignored: ", counts ? "" : assessment_reason_names[statement->reason],
	       counts ? "" : ": ", reason_texts[statement->reason], "what", statement->what);
	if (statement->by[0])
		printf("      %-10s %s\n", "by", statement->by);
	if (claims_unmediated(effect, statement))
		printf("      %-10s %s is declared without a mediator; the assessor states a control\n", "note",
		       statement->path);
}

/* Whose declaration the claims are derived from. */
enum whose {
	WHOSE_BUNDLE, /* the bundle's own */
	WHOSE_SAME, /* the reader's, which is the same */
	WHOSE_OTHER, /* the reader's, which differs from the bundle's of that id */
	WHOSE_READER, /* the reader's alone: the bundle declares none of that id */
};
static const char *const whose_names[] = {
	[WHOSE_BUNDLE] = "sealed",
	[WHOSE_SAME] = "same",
	[WHOSE_OTHER] = "differs",
	[WHOSE_READER] = "not_sealed",
};

static int compare(const struct findings *findings, const struct effect *effect, enum whose *out, struct error **err)
{
	const struct effect *sealed = effect_find(findings->effects, findings->effects_count, effect->id);
	char ours[HEX_SHA256], theirs[HEX_SHA256];

	*out = WHOSE_READER;
	if (!sealed)
		return 0;
	if (effect_digest(sealed, ours, err) < 0 || effect_digest(effect, theirs, err) < 0)
		return -1;
	*out = strcmp(ours, theirs) == 0 ? WHOSE_SAME : WHOSE_OTHER;
	return 0;
}

static void print_whose(const char *id, enum whose whose)
{
	static const char *const words[] = {
		[WHOSE_BUNDLE] = "the declaration is the one that the run was made with",
		[WHOSE_SAME] = "your declaration is the one that the run was made with",
		[WHOSE_OTHER] = ("your declaration differs from the one that the run was made with, and the claims "
				 "follow from yours: without --effects they follow from the bundle's"),
		[WHOSE_READER] = "the run was made without a declaration of that id: the claims follow from yours",
	};

	printf("%s: %s\n", id, words[whose]);
}

/* Of the bundle, and not of the reader. */
static void print_left_out(const struct findings *findings, const struct effect *effects, size_t count)
{
	for (size_t i = 0; i < findings->effects_count; i++)
		if (!effect_find(effects, count, findings->effects[i].id))
			printf("%s: declared in the bundle, and not by you: left out\n", findings->effects[i].id);
}

struct derived {
	const struct effect *effects;
	size_t count;
	struct claims *claims; /* of each */
	enum whose *whose; /* of each */
};

static void derived_free(struct derived *derived)
{
	free(derived->claims);
	free(derived->whose);
}

static int derive(const struct findings *findings, bool own, struct derived *out, struct error **err)
{
	out->claims = calloc(out->count + 1, sizeof(*out->claims));
	out->whose = calloc(out->count + 1, sizeof(*out->whose));
	if (!out->claims || !out->whose)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	for (size_t i = 0; i < out->count; i++) {
		if (claims_of(findings, &out->effects[i], &out->claims[i], err) < 0)
			return -1;
		if (own && compare(findings, &out->effects[i], &out->whose[i], err) < 0)
			return -1;
	}
	return 0;
}

static bool is_unmet(const struct claims *claims, int obligation)
{
	for (size_t id = 0; id < claims->claims_count; id++)
		for (size_t i = 0; i < claims->claims[id].unmet_count; i++)
			if (claims->claims[id].unmet[i].obligation == obligation)
				return true;
	return false;
}

/* Each kind of obligation once. */
static void print_hints(const struct claims *claims)
{
	for (int i = 0; claim_obligation_names[i]; i++) {
		const struct claim_hint *hint = is_unmet(claims, i) ? claim_hint(i) : NULL;

		if (hint)
			printf("  to meet %s (%s): %s\n", claim_obligation_names[i], hint->means, hint->meets);
	}
}

static void print_text(const struct findings *findings, const struct derived *derived, size_t at)
{
	const struct claims *claims = &derived->claims[at];
	const struct claim_non_bypassability *both = &claims->non_bypassability;
	cleanup_buf struct buf keys = BUF(CLAIMS_KEYS_BYTES);

	printf("%s (%s), boundary %s, declared for revision %s\n", claims->effect, claims->id, claims->boundary,
	       claims->revision);
	for (size_t id = 0; id < claims->claims_count; id++)
		print_claim(&claims->claims[id]);
	printf("  NON_BYPASSABILITY(%s,%s) %s: the set is complete: %s; what is in it is mediated: %s\n",
	       claims->boundary, claims->effect, claim_status_names[both->status],
	       claim_status_names[both->completeness], claim_status_names[both->mediation]);
	claims_keys(claims, &keys);
	if (keys.length > 0)
		printf("      %-10s %s: what they state nobody looked behind\n", "by word of", buf_string(&keys));
	print_hints(claims);
	for (size_t i = 0; i < claims->statements_count; i++)
		if (claims_shows(findings, derived->effects, derived->count, at, i))
			print_statement(&derived->effects[at], &claims->statements[i]);
}

static int print_document(const struct derived *derived, int code, struct error **err)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &out, "effects", code);
	json_put_key(&json, "declarations");
	json_array(&json);
	for (size_t i = 0; i < derived->count; i++) {
		json_object(&json);
		json_member_string(&json, "id", derived->effects[i].id);
		json_member_string(&json, "is", whose_names[derived->whose[i]]);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_put_key(&json, "claims");
	json_array(&json);
	for (size_t i = 0; i < derived->count; i++)
		schema_encode(claims_fields, &derived->claims[i], &json);
	json_array_end(&json);
	document_end(&json);
	return document_print(&out, err);
}

static int print_all(const struct findings *findings, const struct derived *derived, bool own, bool json,
		     struct error **err)
{
	int code = code_of(derived->claims, derived->count);

	if (json)
		return print_document(derived, code, err) < 0 ? -1 : code;
	for (size_t i = 0; i < derived->count; i++) {
		print_whose(derived->effects[i].id, derived->whose[i]);
		print_text(findings, derived, i);
	}
	print_left_out(findings, derived->effects, derived->count);
	if (derived->count == 0)
		printf("%s\n", own ? "you declare no effect: nothing is claimed"
				   : "the bundle declares no effect, and claims nothing; --effects FOLDER derives "
				     "claims of your own declarations");
	return code;
}

static int refuse(const struct verify_report *report, bool json, struct error **err)
{
	const struct derived none = { .count = 0 };
	char why[BUNDLE_FILE_WHY];

	bundle_file_why(report, why);
	fprintf(stderr, "harness: the bundle is not intact: %s\n", why);
	return json && print_document(&none, EXIT_FAIL, err) < 0 ? -1 : EXIT_FAIL;
}

/* What an id stands for is what ran, and that is in the bundle. */
static int check_ran(const struct opened *opened, const struct effect *effects, size_t count, struct error **err)
{
	size_t scenarios_count = 0;
	const struct scenario *scenarios = opened_scenarios(opened, &scenarios_count);
	char file[ID_MAX + sizeof(".json")];

	for (size_t i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s.json", effects[i].id);
		if (effect_check_ran(&effects[i], scenarios, scenarios_count, file, err) < 0)
			return error_wrap(err, "your declaration does not fit the scenarios of the bundle");
	}
	return 0;
}

/* A key of the run stays one, whoever names it. Those that the reader does not name hold nothing of his. */
static void take_run_keys(const struct assessing *sealed, struct assessing *held)
{
	for (size_t i = 0; sealed && i < sealed->run_keys_count; i++)
		if (assessors_find(&held->assessors, sealed->run_keys[i]) >= 0)
			memcpy(held->run_keys[held->run_keys_count++], sealed->run_keys[i], HEX_SHA256);
}

/* The reader's statements, by those of the reader's keys that are none of the run's; without those the bundle's, by the
 * reader's keys; without these by those that the bundle brings. *held borrows from both. */
static int take_statements(const struct options *options, const struct opened *opened, const struct assessing *reader,
			   struct assessing *held, struct findings *out, struct error **err)
{
	*out = *opened_findings(opened);
	if (reader->statements.count > 0) {
		*held = *reader;
		take_run_keys(out->assessing, held);
	} else if (out->assessing) {
		*held = *out->assessing;
		held->named = reader->assessors.count > 0 ? &reader->assessors : NULL;
	} else if (reader->assessors.count > 0) {
		return error_set(err, ERROR_USAGE,
				 "--assessor needs --assessment: the bundle brings no statements of its own");
	} else {
		return 0;
	}
	out->assessing = held;
	return assessing_signers(held, opened, options->words[1], err);
}

int effects_claims(const struct options *options, const struct effect *effects, size_t count, struct error **err)
{
	cleanup_opened struct opened *opened = NULL;
	__attribute__((cleanup(derived_free))) struct derived derived = { .effects = effects, .count = count };
	cleanup_assessing struct assessing assessing = { .run_keys_count = 0 };
	struct assessing held;
	struct verify_report report;
	struct findings findings;
	cleanup_fd int fd = -1;

	if (assessing_open(options, &assessing, err) < 0 ||
	    bundle_file_open(options->words[1], "effects claims", &fd, &report, &opened, err) < 0)
		return -1;
	if (!opened)
		return refuse(&report, options->json, err);
	if (effects && check_ran(opened, effects, count, err) < 0)
		return -1;
	if (take_statements(options, opened, &assessing, &held, &findings, err) < 0)
		return -1;
	if (!effects) {
		derived.effects = findings.effects;
		derived.count = findings.effects_count;
	}
	if (derive(&findings, effects != NULL, &derived, err) < 0)
		return -1;
	if (!options->json && report.verdict != VERDICT_PASS)
		printf("the run itself came out %s: `harness verify` says why, and the claims are about these effects "
		       "alone\n",
		       verdict_names[report.verdict]);
	if (!options->json && findings.assessing && assessing.assessors.count == 0)
		printf("whose keys made the statements is the bundle's own word: --assessor KEY names one that you "
		       "know\n");
	return print_all(&findings, &derived, effects != NULL, options->json, err);
}

static const char *const reason_texts[] = {
	[ASSESSMENT_COUNTS] = "",
	[ASSESSMENT_UNSIGNED] = "no signature on it is by a key that --assessor names, or it was changed since",
	[ASSESSMENT_SELF_SIGNED] = "the key that signed it signs the run itself",
	[ASSESSMENT_UNKNOWN_KEY] = "the key that signed it is none that --assessor names",
	[ASSESSMENT_OTHER_EFFECT] = "it is about another effect",
	[ASSESSMENT_OTHER_REVISION] = "it is about another revision than the declared one",
	[ASSESSMENT_OTHER_BOUNDARY] = "it is about another boundary",
	[ASSESSMENT_OTHER_DECLARATION] = "it was made of another declaration of that revision and boundary",
	[ASSESSMENT_NOT_YET] = "the run ended before it holds",
	[ASSESSMENT_EXPIRED] = "it held no more when the run ended",
	[ASSESSMENT_OTHER_PATH] = "it is not about a path of the deployment's side",
};
