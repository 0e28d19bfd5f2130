/* Reading a bundle: hashed, scanned for a canary's shape, and the observations decoded line by line. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/ustar.h"
#include "reports/verify_parts.h"

#define RATIO_MAX 400
#define ROOM_FIRST 1024

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

static void blame_line(struct bundle *bundle, bool form)
{
	if (bundle->bad_line)
		return;
	bundle->bad_line = bundle->lines;
	bundle->bad_form = form;
}

static int more_room(struct bundle *bundle, struct error **err)
{
	size_t room = bundle->observations_room ? 2 * bundle->observations_room : ROOM_FIRST;
	struct observation *grown = reallocarray(bundle->observations, room, sizeof(*grown));

	if (!grown)
		return error_set(err, ERROR_MEMORY, "no memory for %zu observations", room);
	bundle->observations = grown;
	bundle->observations_room = room;
	return 0;
}

/* The line stands in bundle->line, without its line feed. */
static int take_line(struct bundle *bundle, struct error **err)
{
	cleanup_buf struct buf again = BUF(OBSERVATION_LINE_BYTES + 1);
	cleanup_error struct error *why = NULL;
	struct observation *one;

	if (++bundle->lines > OBSERVATION_LINES)
		return error_set(err, ERROR_LIMIT, "observations.jsonl: more than %d lines", OBSERVATION_LINES);
	if (bundle->observations_count == bundle->observations_room) {
		int result = more_room(bundle, err);

		if (result < 0)
			return result;
	}
	one = &bundle->observations[bundle->observations_count];
	if (observation_read(buf_string(&bundle->line), bundle->line.length, one, &why) < 0) {
		blame_line(bundle, true);
		return 0;
	}
	bundle->observations_count++;
	if (observation_write(one, &again, &why) < 0 || again.length != bundle->line.length + 1 ||
	    memcmp(again.data, bundle->line.data, bundle->line.length) != 0)
		blame_line(bundle, false);
	return 0;
}

static int take_lines(struct bundle *bundle, const char *bytes, size_t length, struct error **err)
{
	while (length > 0) {
		const char *end = memchr(bytes, '\n', length);
		size_t part = end ? (size_t)(end - bytes) : length;
		int result;

		if (buf_add(&bundle->line, bytes, part) < 0)
			return error_set(err, ERROR_LIMIT, "observations.jsonl: a line of more than %d bytes",
					 OBSERVATION_LINE_BYTES);
		if (!end)
			return 0;
		result = take_line(bundle, err);
		if (result < 0)
			return result;
		bundle->line.length = 0;
		bytes += part + 1;
		length -= part + 1;
	}
	return 0;
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
		return take_lines(bundle, bytes, length, err);
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
	if (bundle->current == MEMBER_OBSERVATIONS && bundle->line.length > 0) {
		bundle->lines++;
		blame_line(bundle, true);
	}
	return 0;
}

static uint64_t member_limit(const char *name)
{
	return strcmp(name, member_kinds[MEMBER_OBSERVATIONS].name) == 0 ? (uint64_t)BUNDLE_TOTAL_BYTES
									 : (uint64_t)BUNDLE_FILE_BYTES;
}

int bundle_read(int fd, struct bundle *bundle, struct error **err)
{
	static const struct ustar_visitor visitor = { .member = begin_member, .data = take_data, .end = end_member };

	bundle->current = bundle->last = -1;
	bundle->line = (struct buf)BUF(OBSERVATION_LINE_BYTES);
	for (size_t i = 0; i < MEMBERS; i++)
		bundle->members[i].text = (struct buf)BUF(BUNDLE_FILE_BYTES);
	return ustar_read(fd, &bundle_limits, &visitor, bundle, err);
}

void bundle_close(struct bundle *bundle)
{
	char unused[HEX_SHA256];

	if (bundle->hash)
		hash_end(bundle->hash, unused);
	for (size_t i = 0; i < MEMBERS; i++)
		buf_free(&bundle->members[i].text);
	buf_free(&bundle->line);
	free(bundle->observations);
	verdicts_free(bundle->verdicts);
	plan_free(bundle->plan);
	free(bundle->scenarios);
	free(bundle->arms);
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
