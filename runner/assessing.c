#include "runner/assessing.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/members.h"
#include "reports/signers.h"
#include "runner/beside.h"

#define FILE_BYTES (ASSESSMENT_LINE_BYTES * CLAIM_STATEMENTS_MAX)

static int add_assessor(const char *path, struct assessors *out, struct error **err)
{
	struct public_key *key = NULL;

	return public_key_open(path, &key, err) < 0 ? -1 : assessors_add(out, key, err);
}

static int add_statements(const char *path, const struct assessors *assessors, struct assessments *out,
			  struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	char safe[PATH_MAX];

	if (fd_read_file(AT_FDCWD, path, FILE_BYTES, &text, err) < 0)
		return -1;
	if (assessments_read(buf_string(&text), text.length, assessors, out, err) < 0)
		return error_wrap(err, "the assessment '%s'", error_safe(path, safe, sizeof(safe)));
	return 0;
}

int assessing_keys(const struct option_words *paths, struct assessors *out, struct error **err)
{
	for (size_t i = 0; i < paths->count; i++)
		if (add_assessor(paths->words[i], out, err) < 0)
			return -1;
	return 0;
}

int assessing_open(const struct options *options, struct assessing *out, struct error **err)
{
	const struct option_words *files = &options->assessments, *keys = &options->assessors;

	if (files->count > 0 && keys->count == 0)
		return error_set(err, ERROR_USAGE,
				 "--assessment needs --assessor, the public key of one whose statements count");
	if (assessing_keys(keys, &out->assessors, err) < 0)
		return -1;
	for (size_t i = 0; i < files->count; i++)
		if (add_statements(files->words[i], &out->assessors, &out->statements, err) < 0)
			return -1;
	return 0;
}

static bool has_run_key(const struct assessing *assessing, const char *name)
{
	for (size_t i = 0; i < assessing->run_keys_count; i++)
		if (strcmp(assessing->run_keys[i], name) == 0)
			return true;
	return false;
}

static int find_signers(struct assessing *assessing, const struct shipped *shipped, struct error **err)
{
	bool signs[ASSESSORS_MAX] = { false };

	if (signers_find(&assessing->assessors, shipped, signs, err) < 0)
		return -1;
	for (size_t i = 0; i < assessing->assessors.count; i++) {
		const char *name = assessing->assessors.names[i];

		if (signs[i] && !has_run_key(assessing, name))
			memcpy(assessing->run_keys[assessing->run_keys_count++], name, HEX_SHA256);
	}
	return 0;
}

static const char *text_of(const struct buf *text)
{
	return text->length > 0 ? buf_string(text) : NULL;
}

int assessing_signers(struct assessing *assessing, const struct opened *opened, const char *path, struct error **err)
{
	cleanup_buf struct buf beside = BUF(DSSE_LINE_BYTES), sigstore = BUF(DSSE_LINE_BYTES);
	cleanup_buf struct buf signature = BUF(DSSE_LINE_BYTES);
	struct shipped inside = { .envelope = NULL }, shipped = { .envelope = NULL };
	bool found = false;

	if (assessing->assessors.count == 0)
		return 0;
	inside.envelope = opened_text(opened, MEMBER_STATEMENT, &inside.envelope_length);
	if (beside_read(path, NULL, &beside, &found, err) < 0 || beside_others(path, &sigstore, &signature, err) < 0)
		return error_wrap(err, "what is beside the bundle");
	shipped = (struct shipped){ .envelope = text_of(&beside),
				    .envelope_length = beside.length,
				    .sigstore = text_of(&sigstore),
				    .sigstore_length = sigstore.length,
				    .sums_signature = text_of(&signature),
				    .sums_signature_length = signature.length };
	shipped.sums = opened_text(opened, MEMBER_SUMS, &shipped.sums_length);
	return find_signers(assessing, &inside, err) < 0 ? -1 : find_signers(assessing, &shipped, err);
}

/* What `effects assess` signs, and what it signed so far. */
struct signing {
	const struct private_key *key;
	const struct effect *effects;
	size_t count;
	struct assessments signed_so_far; /* whose envelope has to be one that assessments_read() takes */
	struct buf out;
};

static void signing_free(struct signing *signing)
{
	assessments_free(&signing->signed_so_far);
	buf_free(&signing->out);
}

static int sign_one(const char *path, struct signing *signing, struct error **err)
{
	cleanup_free struct assessed *one = calloc(1, sizeof(*one));
	cleanup_buf struct buf text = BUF(ASSESSMENT_LINE_BYTES);
	char safe[PATH_MAX];

	if (!one)
		return error_set(err, ERROR_MEMORY, "no memory for a statement");
	if (fd_read_file(AT_FDCWD, path, ASSESSMENT_LINE_BYTES, &text, err) < 0)
		return -1;
	error_safe(path, safe, sizeof(safe));
	if (assessment_decode_draft(buf_string(&text), text.length, safe, &one->statement, err) < 0)
		return -1;
	if (assessment_check(&one->statement, signing->effects, signing->count, err) < 0 ||
	    assessments_add(&signing->signed_so_far, one, err) < 0)
		return error_wrap(err, "%s", safe);
	return assessment_sign(signing->key, &one->statement, &signing->out, err);
}

int effects_assess(const struct options *options, const struct effect *effects, size_t count, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;
	__attribute__((cleanup(signing_free))) struct signing signing = { .effects = effects,
									  .count = count,
									  .out = BUF(FILE_BYTES) };

	if (options->json)
		return error_set(err, ERROR_USAGE, "assess prints envelopes, a line each: it takes no --json");
	if (private_key_open(options->words[1], &key, err) < 0)
		return -1;
	signing.key = key;
	for (size_t i = 2; i < options->words_count; i++)
		if (sign_one(options->words[i], &signing, err) < 0)
			return -1;
	if (fwrite(signing.out.data, 1, signing.out.length, stdout) != signing.out.length || fflush(stdout) != 0)
		return error_set(err, ERROR_SYSTEM, "standard output does not take the envelopes");
	return EXIT_PASS;
}
