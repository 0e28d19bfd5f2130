/* `harness verify`: a bundle, checked offline. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/verify.h"
#include "runner/assessing.h"
#include "runner/beside.h"
#include "runner/bundle_file.h"
#include "runner/declarations.h"
#include "runner/document.h"
#include "runner/paths.h"
#include "runner/store.h"
#include "runner/verb.h"

#define TEXT_BYTES (64 * KIB)

/* What is asked for besides the bundle; borrowed by the options of the verification. */
struct signers {
	struct public_key *key;
	struct private_key *attest;
	struct assessors assessors;
	struct buf beside, sigstore, sums_signature;
	struct verify_scenario *shipped;
	struct verify_declaration *declared;
};

static void signers_free(struct signers *signers)
{
	public_key_free(signers->key);
	private_key_free(signers->attest);
	assessors_free(&signers->assessors);
	buf_free(&signers->beside);
	buf_free(&signers->sigstore);
	buf_free(&signers->sums_signature);
	free(signers->shipped);
	free(signers->declared);
}

static int open_declared(const struct options *options, const struct scenario *scenarios, size_t scenarios_count,
			 struct signers *signers, struct verify_options *how, struct error **err)
{
	cleanup_free struct effect *effects = NULL;
	cleanup_error struct error *ignored = NULL;
	size_t count = 0;

	if (declarations_open(options, scenarios, scenarios_count, &effects, &count, &ignored) < 0)
		return 0;
	signers->declared = calloc(count + 1, sizeof(*signers->declared));
	if (!signers->declared)
		return error_set(err, ERROR_MEMORY, "no memory for the declarations");
	for (size_t i = 0; i < count; i++) {
		memcpy(signers->declared[i].id, effects[i].id, sizeof(effects[i].id));
		if (effect_digest(&effects[i], signers->declared[i].sha256, err) < 0)
			return -1;
	}
	how->declared = signers->declared;
	how->declared_count = count;
	return 0;
}

/* Where none are installed, or they are not fit to run, there is nothing to compare with. */
static int open_shipped(const struct options *options, struct signers *signers, struct verify_options *how,
			struct error **err)
{
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_error struct error *ignored = NULL;
	size_t count = 0;

	if (scenarios_open(options, &scenarios, &count, &ignored) < 0)
		return 0;
	signers->shipped = calloc(count + 1, sizeof(*signers->shipped));
	if (!signers->shipped)
		return error_set(err, ERROR_MEMORY, "no memory for the scenarios");
	for (size_t i = 0; i < count; i++)
		if (verify_scenario_of(&scenarios[i], &signers->shipped[i], err) < 0)
			return -1;
	how->shipped = signers->shipped;
	how->shipped_count = count;
	return open_declared(options, scenarios, count, signers, how, err);
}

static int open_signers(const struct options *options, struct signers *signers, struct verify_options *how,
			struct error **err)
{
	bool found = false;

	if (options->key && public_key_open(options->key, &signers->key, err) < 0)
		return -1;
	if (options->attest && private_key_open(options->attest, &signers->attest, err) < 0)
		return -1;
	if (beside_read(options->words[0], options->attestation, &signers->beside, &found, err) < 0)
		return error_wrap(err, "the statement beside the bundle");
	if (beside_others(options->words[0], &signers->sigstore, &signers->sums_signature, err) < 0)
		return error_wrap(err, "what is beside the bundle");
	if (assessing_keys(&options->assessors, &signers->assessors, err) < 0)
		return -1;
	how->key = signers->key;
	how->assessors = signers->assessors.count > 0 ? &signers->assessors : NULL;
	how->beside = found ? buf_string(&signers->beside) : NULL;
	how->beside_length = signers->beside.length;
	how->sigstore = signers->sigstore.length > 0 ? buf_string(&signers->sigstore) : NULL;
	how->sigstore_length = signers->sigstore.length;
	how->sums_signature = signers->sums_signature.length > 0 ? buf_string(&signers->sums_signature) : NULL;
	how->sums_signature_length = signers->sums_signature.length;
	return 0;
}

static void put_checks(struct json_writer *json, const struct verify_report *report)
{
	json_put_key(json, "checks");
	json_array(json);
	for (size_t i = 0; i < report->count; i++) {
		const struct verify_check *check = &report->checks[i];

		json_object(json);
		json_member_string(json, "id", check->id);
		json_member_string(json, "result", check_result_names[check->result]);
		document_optional(json, "reason", check->reason);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_replay(struct json_writer *json, const struct verify_remarks *remarks)
{
	json_put_key(json, "replay");
	if (!remarks->replay) {
		json_put_null(json);
		return;
	}
	json_object(json);
	json_member_string(json, "runId", remarks->replay_of);
	json_member_bool(json, "part", remarks->replay_part);
	json_member_string(json, "outcome", remarks->replay_outcome);
	json_object_end(json);
}

static void put_scenarios(struct json_writer *json, const struct verify_remarks *remarks)
{
	json_put_key(json, "scenarios");
	if (!remarks->compared) {
		json_put_null(json);
		return;
	}
	json_object(json);
	json_member_int(json, "count", (int64_t)remarks->scenarios);
	json_member_int(json, "same", (int64_t)remarks->same);
	json_member_int(json, "differ", (int64_t)remarks->differ);
	json_member_int(json, "own", (int64_t)remarks->own);
	json_member_int(json, "lacking", (int64_t)remarks->lacking);
	json_object_end(json);
}

static void put_declarations(struct json_writer *json, const struct verify_declared *declared)
{
	json_put_key(json, "declarations");
	if (!declared->compared) {
		json_put_null(json);
		return;
	}
	json_object(json);
	json_member_int(json, "count", (int64_t)declared->count);
	json_member_int(json, "same", (int64_t)declared->same);
	json_put_key(json, "differ");
	json_array(json);
	for (size_t i = 0; i < declared->differ_count; i++)
		json_put_string(json, declared->differ[i]);
	json_array_end(json);
	json_member_int(json, "own", (int64_t)declared->own);
	json_object_end(json);
}

static void put_assessors(struct json_writer *json, const struct verify_report *report)
{
	json_put_key(json, "assessors");
	json_array(json);
	for (size_t i = 0; i < report->assessors_count; i++) {
		const struct verify_assessor *one = &report->assessors[i];

		json_object(json);
		json_member_string(json, "fingerprint", one->key);
		json_member_bool(json, "named", one->named);
		json_member_bool(json, "signsTheBundle", one->signs);
		json_member_int(json, "statements", (int64_t)one->statements);
		json_object_end(json);
	}
	json_array_end(json);
}

/* Of what it is a part, and whose the scenarios and the declarations are. */
static void put_remarks(struct json_writer *json, const struct verify_remarks *remarks)
{
	json_put_key(json, "shard");
	if (remarks->shard.of > 1) {
		json_object(json);
		json_member_int(json, "index", remarks->shard.index);
		json_member_int(json, "of", remarks->shard.of);
		json_object_end(json);
	} else {
		json_put_null(json);
	}
	json_member_int(json, "merged", (int64_t)remarks->merged);
	put_replay(json, remarks);
	put_scenarios(json, remarks);
	put_declarations(json, &remarks->declared);
}

/* A bundle that is not intact has no verdict, whatever was made again of it. */
static int print_document(const struct verify_report *report, const char *attested, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);
	struct json_writer json;
	bool intact = report->recomputed && !bundle_file_failed(report);

	document_begin(&json, &document, "verify", report->exit_code);
	json_member_bool(&json, "intact", intact);
	put_checks(&json, report);
	document_optional(&json, "verdict", intact ? verdict_names[report->verdict] : "");
	json_put_key(&json, "cells");
	json_object(&json);
	json_member_int(&json, "pass", (int64_t)report->pass);
	json_member_int(&json, "fail", (int64_t)report->fail);
	json_member_int(&json, "notEstablished", (int64_t)report->not_established);
	json_object_end(&json);
	json_member_int(&json, "arms", (int64_t)report->arms);
	json_member_int(&json, "mutations", (int64_t)report->mutations);
	json_member_int(&json, "notPlanned", (int64_t)report->absent);
	json_member_bool(&json, "unvouched", report->unvouched);
	put_remarks(&json, &report->remarks);
	put_assessors(&json, report);
	document_optional(&json, "sumsSha256", report->sums_sha256);
	document_optional(&json, "archiveSha256", report->archive_sha256);
	if (*attested)
		document_path(&json, "attested", attested);
	else
		document_optional(&json, "attested", "");
	document_end(&json);
	return document_print(&document, err);
}

static int print(const struct verify_report *report, const struct options *options, const char *attested,
		 struct error **err)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	char safe[PATH_MAX];

	if (options->json)
		return print_document(report, attested, err);
	verify_text(report, options->quiet, &text);
	fputs(buf_string(&text), stdout);
	if (*attested && !options->quiet)
		printf("attested: %s\n", error_safe(attested, safe, sizeof(safe)));
	return 0;
}

static int run(const struct options *options, struct error **err)
{
	struct verify_options how = { .require_signature = options->require_signature };
	__attribute__((cleanup(signers_free))) struct signers signers = { .beside = BUF(DSSE_LINE_BYTES),
									  .sigstore = BUF(DSSE_LINE_BYTES),
									  .sums_signature = BUF(DSSE_LINE_BYTES) };
	cleanup_buf struct buf attested = BUF(PATH_MAX);
	struct verify_report report;
	cleanup_fd int fd = -1;

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE,
				 "verify takes one bundle: harness verify runs/latest/confinement-evidence.tar.gz");
	if (bundle_file(options->words[0], "verify", &fd, err) < 0)
		return -1;
	if (open_signers(options, &signers, &how, err) < 0 || open_shipped(options, &signers, &how, err) < 0 ||
	    verify_bundle(fd, &how, &report, err) < 0)
		return -1;
	/* Before anything is printed: --json is one document, and that of an error has another form. */
	if (signers.attest && report.exit_code == EXIT_PASS &&
	    beside_attest(options->words[0], &how, signers.attest, &attested, err) < 0)
		return -1;
	if (print(&report, options, buf_string(&attested), err) < 0)
		return -1;
	if (signers.attest && report.exit_code != EXIT_PASS)
		fprintf(stderr, "harness: nothing was attested: verification did not pass\n");
	return report.exit_code;
}

const struct verb verb_verify = {
	.name = "verify",
	.words = "BUNDLE",
	.title = "check a bundle offline: every hash and every verdict again",
	.text = "Read-only; needs neither root, engine nor network.\n"
		"Exit code 0: intact, and the verdict made again is pass. 1: a check failed, or the verdict is fail. "
		"2: the\n"
		"verdict is not established (an arm that broke counts so), or a check is not_checked; the signature's "
		"counts only\n"
		"with --key or --require-signature. 3: the bundle or a key cannot be opened or read.\n"
		"Nobody vouches for an unsigned bundle, and that is said. --key asks whether the key's owner signed "
		"it, "
		"in the\n"
		"bundle or beside it: by another is a fail, by nobody is not_checked. --attest signs what passed.\n"
		"Where statements of assessors count, whose keys those are is the bundle's own word: that is said, and "
		"changes\n"
		"no exit code. --assessor names a key that you know: then it is 2 where a statement counts by another.",
	.run = run,
};
