/* The first reading of a bundle: every member is hashed, scanned for a canary's shape, and held against the canonical
 * form and the grammar as it comes by. What is small is kept. */
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
	bundle->hash = hash_new();
	if (!bundle->hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	if (bundle->current < 0) {
		struct stranger *stranger = &bundle->strangers[bundle->strangers_count++];

		memcpy(stranger->name, name, strlen(name) + 1);
		return 0;
	}
	bundle->disordered |= bundle->current <= bundle->last;
	bundle->last = bundle->current;
	bundle->members[bundle->current].present = true;
	bundle->members[bundle->current].bytes = size;
	json_form_begin(&bundle->form, JSON_DEPTH);
	return 0;
}

static bool printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
			return false;
	return true;
}

static int keep(struct bundle *bundle, const void *bytes, size_t length, struct error **err)
{
	bundle->kept_bytes += length;
	if (!bundle->keep_all && bundle->kept_bytes > BUNDLE_KEPT_BYTES)
		return error_set(err, ERROR_LIMIT, "archive: more than %d bytes that are kept", BUNDLE_KEPT_BYTES);
	if (!bundle->keep_all && bundle_is_json(bundle->current) && bundle->form.values > BUNDLE_VALUES_MAX)
		return error_set(err, ERROR_LIMIT, "archive: more than %d values in %s", BUNDLE_VALUES_MAX,
				 member_kinds[bundle->current].name);
	if (buf_add(&bundle->members[bundle->current].text, bytes, length) < 0)
		return error_set(err, ERROR_MEMORY, "no memory for %s", member_kinds[bundle->current].name);
	return 0;
}

static int take_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct bundle *bundle = context;
	struct read_member *member;

	hash_add(bundle->hash, bytes, length);
	if (bundle->current < 0) {
		bundle->strange_shape |= shape_feed(&bundle->shape, bytes, length);
		return 0;
	}
	member = &bundle->members[bundle->current];
	member->shape_seen |= shape_feed(&bundle->shape, bytes, length);
	if (bundle_is_json(bundle->current))
		(void)json_form_feed(&bundle->form, bytes, length);
	else if (bundle->current != MEMBER_OBSERVATIONS)
		member->foreign |= !printable(bytes, length);
	if (streams_take(bundle->current)) {
		int result = streams_feed(bundle, bundle->current, bytes, length, err);

		if (result < 0)
			return result;
	}
	return bundle_keeps(bundle, bundle->current) ? keep(bundle, bytes, length, err) : 0;
}

static int end_member(void *context, struct error **err)
{
	struct bundle *bundle = context;
	struct read_member *member;

	(void)err;
	if (bundle->current < 0) {
		hash_end(bundle->hash, bundle->strangers[bundle->strangers_count - 1].sha256);
		bundle->hash = NULL;
		return 0;
	}
	member = &bundle->members[bundle->current];
	if (bundle_is_json(bundle->current) && !json_form_end(&bundle->form)) {
		member->why = bundle->form.why;
		member->at = bundle->form.at;
	}
	member->foreign |= bundle->form.foreign;
	hash_end(bundle->hash, bundle->members[bundle->current].sha256);
	bundle->hash = NULL;
	return 0;
}

bool bundle_is_json(int member)
{
	const char *suffix = strrchr(member_kinds[member].name, '.');

	return suffix && strcmp(suffix, ".json") == 0;
}

static bool is_small(int member)
{
	return member != MEMBER_OBSERVATIONS && member != MEMBER_ARMS && member != MEMBER_CLAIMS &&
	       member != MEMBER_VERDICTS && !generated_again(member);
}

bool bundle_keeps(const struct bundle *bundle, int member)
{
	if (member == MEMBER_OBSERVATIONS)
		return false;
	return bundle->keep_all || (is_small(member) && !streams_take(member));
}

static uint64_t member_limit(const char *name)
{
	int member = member_find(name);

	if (member == MEMBER_OBSERVATIONS)
		return (uint64_t)BUNDLE_TOTAL_BYTES;
	return member >= 0 && is_small(member) ? (uint64_t)BUNDLE_SMALL_BYTES : (uint64_t)BUNDLE_FILE_BYTES;
}

static bool has_all(const struct bundle *bundle)
{
	for (int i = 0; i < MEMBERS; i++)
		if (!bundle->members[i].present && member_needed(i, bundle->minor))
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
	limits.gzip = !bundle->plain;
	limits.packed_sha256 = bundle->packed_sha256;
	bundle->start = lseek(fd, 0, SEEK_CUR);
	result = streams_open(bundle, err);
	if (result >= 0)
		result = ustar_read(fd, &limits, &visitor, bundle, err);
	if (result >= 0)
		result = streams_end(bundle, err);
	streams_close(bundle);
	if (result >= 0)
		bundle_version(bundle);
	if (result >= 0 && bundle->other_major)
		return 0;
	if (result >= 0 && has_all(bundle))
		result = bundle_prepare(bundle, err);
	return result < 0 ? result : bundle_lines(fd, bundle, err);
}

int bundle_keep_first(struct error **kept, struct error **why, struct error **err)
{
	if (error_code(*why) == ERROR_MEMORY) {
		error_keep_first(err, why);
		return -ERROR_MEMORY;
	}
	error_keep_first(kept, why);
	return 0;
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
	buf_free(&bundle->sealed_words);
	streams_close(bundle);
	judgement_free(bundle->judgement);
	verdicts_free(bundle->verdicts);
	merge_free(bundle->merge);
	replay_free(bundle->replay);
	plan_free(bundle->plan);
	free(bundle->scenarios);
	free(bundle->effects);
	assessing_free(&bundle->assessing);
	free(bundle->arms);
	arm_pool_free(bundle->pool);
	error_free(bundle->unread);
	error_free(bundle->unread_arms);
	error_free(bundle->loose);
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
