#include "reports/signers.h"

#include "reports/dsse.h"
#include "reports/sigstore.h"
#include "reports/sshsig.h"

static int find_envelope(const struct assessors *assessors, const struct dsse *envelope, bool signs[ASSESSORS_MAX],
			 struct error **err)
{
	for (size_t i = 0; i < assessors->count; i++) {
		bool good = false;
		int result = dsse_check(envelope, assessors->keys[i], &good, err);

		if (result < 0)
			return result;
		signs[i] |= good;
	}
	return 0;
}

static int find_sums(const struct assessors *assessors, const struct shipped *shipped, bool signs[ASSESSORS_MAX],
		     struct error **err)
{
	for (size_t i = 0; i < assessors->count; i++) {
		bool good = false;
		int result = sshsig_check(assessors->keys[i], shipped->sums, shipped->sums_length,
					  shipped->sums_signature, shipped->sums_signature_length, &good, err);

		if (result < 0)
			return result;
		signs[i] |= good;
	}
	return 0;
}

int signers_find(const struct assessors *assessors, const struct shipped *shipped, bool signs[ASSESSORS_MAX],
		 struct error **err)
{
	cleanup_dsse struct dsse envelope = DSSE_EMPTY, wrapped = DSSE_EMPTY;
	cleanup_error struct error *ignored = NULL, *passed_over = NULL;
	int result = 0;

	if (shipped->envelope && dsse_read(shipped->envelope, shipped->envelope_length, &envelope, &ignored) == 0)
		result = find_envelope(assessors, &envelope, signs, err);
	if (result == 0 && shipped->sigstore &&
	    sigstore_read(shipped->sigstore, shipped->sigstore_length, &wrapped, &passed_over) == 0)
		result = find_envelope(assessors, &wrapped, signs, err);
	if (result == 0 && shipped->sums_signature && shipped->sums)
		result = find_sums(assessors, shipped, signs, err);
	return result;
}
