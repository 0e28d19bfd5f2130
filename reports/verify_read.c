/* The first reading of a bundle: every member hashed and scanned for a canary's shape, and all but the observations
 * kept.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/ustar.h"
#include "reports/verify_parts.h"

#define RATIO_MAX 400

static int begin_member(void *context, const char *name, uint64_t size, struct error **err)
{
	struct bundle *bundle = context;

	bundle->current = member_find(name);
	bundle->shape = (struct shape){ 0 };
	if (bundle->current < 0) {
		bundle->strange = true;
		return 0;
	}
	bundle->disordered |= bundle->current <= bundle->last;
	bundle->last = bundle->current;
	bundle->members[bundle->current].present = true;
	bundle->members[bundle->current].bytes = size;
	bundle->hash = hash_new();
	return bundle->hash ? 0 : error_set(err, ERROR_MEMORY, "no memory for a digest");
}

static int take_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct bundle *bundle = context;
	struct read_member *member;

	if (bundle->current < 0)
		return 0;
	member = &bundle->members[bundle->current];
	hash_add(bundle->hash, bytes, length);
	member->shape_seen |= shape_feed(&bundle->shape, bytes, length);
	if (bundle->current == MEMBER_OBSERVATIONS)
		return 0;
	if (buf_add(&member->text, bytes, length) < 0)
		return error_set(err, ERROR_MEMORY, "no memory for %s", member_kinds[bundle->current].name);
	return 0;
}

static int end_member(void *context, struct error **err)
{
	struct bundle *bundle = context;

	(void)err;
	if (bundle->current < 0)
		return 0;
	hash_end(bundle->hash, bundle->members[bundle->current].sha256);
	bundle->hash = NULL;
	return 0;
}

static uint64_t member_limit(const char *name)
{
	return strcmp(name, member_kinds[MEMBER_OBSERVATIONS].name) == 0 ? (uint64_t)BUNDLE_TOTAL_BYTES
									 : (uint64_t)BUNDLE_FILE_BYTES;
}

static bool has_all(const struct bundle *bundle)
{
	for (int i = 0; i < MEMBERS; i++)
		if (!bundle->members[i].present && !member_kinds[i].optional)
			return false;
	return true;
}

int bundle_read(int fd, struct bundle *bundle, struct error **err)
{
	static const struct ustar_visitor visitor = { .member = begin_member, .data = take_data, .end = end_member };
	struct ustar_limits limits = bundle_limits;
	int result;

	bundle->current = bundle->last = -1;
	for (size_t i = 0; i < MEMBERS; i++)
		bundle->members[i].text = (struct buf)BUF(BUNDLE_FILE_BYTES);
	limits.packed_sha256 = bundle->packed_sha256;
	bundle->start = lseek(fd, 0, SEEK_CUR);
	result = ustar_read(fd, &limits, &visitor, bundle, err);
	if (result >= 0 && has_all(bundle))
		result = bundle_prepare(bundle, err);
	return result < 0 ? result : bundle_lines(fd, bundle, err);
}

int bundle_give(struct error **kept, struct error **err)
{
	int code = *kept ? -(int)error_code(*kept) : 0;

	if (code < 0)
		error_keep_first(err, kept);
	return code;
}

void bundle_close(struct bundle *bundle)
{
	char unused[HEX_SHA256];

	if (bundle->hash)
		hash_end(bundle->hash, unused);
	for (size_t i = 0; i < MEMBERS; i++)
		buf_free(&bundle->members[i].text);
	judgement_free(bundle->judgement);
	verdicts_free(bundle->verdicts);
	merge_free(bundle->merge);
	replay_free(bundle->replay);
	plan_free(bundle->plan);
	free(bundle->scenarios);
	free(bundle->arms);
	arm_pool_free(bundle->pool);
	error_free(bundle->unread);
	error_free(bundle->unfit);
	error_free(bundle->late);
}

const struct ustar_limits bundle_limits = {
	.gzip = true,
	.top = BUNDLE_TOP,
	.members = BUNDLE_MEMBERS,
	.member_bytes = BUNDLE_TOTAL_BYTES,
	.total_bytes = BUNDLE_TOTAL_BYTES,
	.packed_bytes = BUNDLE_PACKED_BYTES,
	.ratio = RATIO_MAX,
	.member_limit = member_limit,
};
