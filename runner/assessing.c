#include "runner/assessing.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/members.h"
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

static int find_signers(struct assessing *assessing, const char *bytes, size_t length, struct error **err)
{
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	int result = dsse_read(bytes, length, &envelope, err);

	for (size_t i = 0; i < assessing->assessors.count && result == 0; i++) {
		const char *name = assessing->assessors.names[i];
		bool good = false;

		result = dsse_check(&envelope, assessing->assessors.keys[i], &good, err);
		if (result == 0 && good && !has_run_key(assessing, name))
			memcpy(assessing->run_keys[assessing->run_keys_count++], name, HEX_SHA256);
	}
	return result;
}

int assessing_signers(struct assessing *assessing, const struct opened *opened, const char *path, struct error **err)
{
	cleanup_buf struct buf beside = BUF(DSSE_LINE_BYTES);
	bool found = false;
	size_t length = 0;
	const char *inside = opened_text(opened, MEMBER_STATEMENT, &length);

	if (assessing->assessors.count == 0)
		return 0;
	if (inside && find_signers(assessing, inside, length, err) < 0)
		return error_wrap(err, "the statement in the bundle");
	if (beside_read(path, NULL, &beside, &found, err) < 0 ||
	    (found && find_signers(assessing, buf_string(&beside), beside.length, err) < 0))
		return error_wrap(err, "the statement beside the bundle");
	return 0;
}

static int sign_one(const char *path, const struct private_key *key, const struct effect *effects, size_t count,
		    struct buf *out, struct error **err)
{
	cleanup_free struct assessment *statement = calloc(1, sizeof(*statement));
	cleanup_buf struct buf text = BUF(ASSESSMENT_LINE_BYTES);
	char safe[PATH_MAX];

	if (!statement)
		return error_set(err, ERROR_MEMORY, "no memory for a statement");
	if (fd_read_file(AT_FDCWD, path, ASSESSMENT_LINE_BYTES, &text, err) < 0)
		return -1;
	error_safe(path, safe, sizeof(safe));
	if (assessment_decode_draft(buf_string(&text), text.length, safe, statement, err) < 0)
		return -1;
	if (assessment_check(statement, effects, count, err) < 0)
		return error_wrap(err, "%s", safe);
	return assessment_sign(key, statement, out, err);
}

int effects_assess(const struct options *options, const struct effect *effects, size_t count, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;
	cleanup_buf struct buf out = BUF(FILE_BYTES);

	if (options->json)
		return error_set(err, ERROR_USAGE, "assess prints envelopes, a line each: it takes no --json");
	if (private_key_open(options->words[1], &key, err) < 0)
		return -1;
	for (size_t i = 2; i < options->words_count; i++)
		if (sign_one(options->words[i], key, effects, count, &out, err) < 0)
			return -1;
	if (fwrite(out.data, 1, out.length, stdout) != out.length || fflush(stdout) != 0)
		return error_set(err, ERROR_SYSTEM, "standard output does not take the envelopes");
	return EXIT_PASS;
}
