#include "runner/effects_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/claims.h"
#include "runner/bundle_file.h"
#include "runner/document.h"

static int code_of(const struct claims *claims, size_t count)
{
	int worst = CLAIM_ESTABLISHED;

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
	for (size_t i = 0; i < claim->unseen_count; i++)
		print_reason("unseen", effect_sight_names[claim->unseen[i]], "");
	if (claim->rests_on_count)
		printf("      %-10s", "rests on");
	for (size_t i = 0; i < claim->rests_on_count; i++)
		printf(" %s", claim->rests_on[i]);
	if (claim->rests_on_count)
		printf("\n");
}

static void print_text(const struct claims *claims)
{
	const struct claim_non_bypassability *both = &claims->non_bypassability;

	printf("%s (%s), boundary %s, declared for revision %s\n", claims->effect, claims->id, claims->boundary,
	       claims->revision);
	for (size_t id = 0; id < claims->claims_count; id++)
		print_claim(&claims->claims[id]);
	printf("  NON_BYPASSABILITY(%s,%s) %s: the set is complete: %s; what is in it is mediated: %s\n",
	       claims->boundary, claims->effect, claim_status_names[both->status],
	       claim_status_names[both->completeness], claim_status_names[both->mediation]);
}

static int print_document(const struct claims *claims, size_t count, int code, struct error **err)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &out, "effects", code);
	json_put_key(&json, "claims");
	json_array(&json);
	for (size_t i = 0; i < count; i++)
		schema_encode(claims_fields, &claims[i], &json);
	json_array_end(&json);
	document_end(&json);
	return document_print(&out, err);
}

static int derive(const struct findings *findings, const struct effect *effects, size_t count, struct claims *out,
		  struct error **err)
{
	for (size_t i = 0; i < count; i++)
		if (claims_of(findings, &effects[i], &out[i], err) < 0)
			return -1;
	return 0;
}

int effects_claims(const struct options *options, const struct effect *effects, size_t count, struct error **err)
{
	cleanup_free struct claims *claims = calloc(count + 1, sizeof(*claims));
	cleanup_opened struct opened *opened = NULL;
	const struct verify_check *failed;
	struct verify_report report;
	cleanup_fd int fd = -1;
	int code;

	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	if (bundle_file_open(options->words[1], "effects claims", &fd, &report, &opened, err) < 0)
		return -1;
	failed = bundle_file_failed(&report);
	if (!opened) {
		fprintf(stderr, "harness: the bundle is not intact: %s: %s\n", failed ? failed->id : "?",
			failed ? failed->reason : "?");
		return options->json && print_document(claims, 0, EXIT_FAIL, err) < 0 ? -1 : EXIT_FAIL;
	}
	if (derive(opened_findings(opened), effects, count, claims, err) < 0)
		return -1;
	code = code_of(claims, count);
	if (options->json)
		return print_document(claims, count, code, err) < 0 ? -1 : code;
	for (size_t i = 0; i < count; i++)
		print_text(&claims[i]);
	return code;
}
