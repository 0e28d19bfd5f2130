#include "observers/state_outlived.h"

#include <fcntl.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"

#define FINISH_MS 2000
#define PATTERN_BYTES 4096
#define PATTERN "/proc/sys/kernel/core_pattern"

/* A member of the answer, and the one below it if any: changed when its bytes are others. */
struct place {
	enum outlived_change change;
	const char *member, *below;
};
static const struct place places[];

void outlived_init(struct outlived *outlived)
{
	*outlived = (struct outlived){ .closed = false };
	document_init(&outlived->before);
	document_init(&outlived->after);
}

static const struct json_node *at(const struct json_document *document, const struct place *place)
{
	const struct json_node *node = json_member(json_root(document), place->member);

	return place->below ? json_member(node, place->below) : node;
}

static enum wire_reason compare(struct outlived *outlived)
{
	cleanup_json struct json_document *before = NULL, *after = NULL;

	if (!document_parse(&outlived->before, &before) || !document_parse(&outlived->after, &after))
		return WIRE_REASON_INPUT_INVALID;
	for (const struct place *place = places; place->member; place++) {
		const struct json_node *one = at(before, place), *other = at(after, place);
		struct json_span first, second;

		if (!one || !other)
			return WIRE_REASON_INPUT_INVALID;
		first = json_raw(one);
		second = json_raw(other);
		outlived->changed[place->change] =
			first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0;
	}
	return WIRE_REASON_NONE;
}

/* A pattern that is no file's: core(5). */
static enum wire_reason look_at_pattern(struct outlived *outlived)
{
	cleanup_buf struct buf text = BUF(PATTERN_BYTES);
	cleanup_error struct error *unread = NULL;

	if (fd_read_file(AT_FDCWD, PATTERN, PATTERN_BYTES, &text, &unread) < 0)
		return WIRE_REASON_INPUT_MISSING;
	outlived->changed[OUTLIVED_PATTERN] = strchr("|@\n", buf_string(&text)[0]) != NULL;
	return WIRE_REASON_NONE;
}

int outlived_close_window(struct outlived *outlived, bool alive, struct error **err)
{
	int64_t deadline = clock_deadline(FINISH_MS);
	int status;

	if (outlived->closed || !outlived->before.stream.came)
		return 0;
	outlived->closed = true;
	outlived->alive = alive;
	if (!alive)
		return 0;
	status = stream_finish(&outlived->before.stream, deadline, err);
	if (status == 0)
		status = stream_finish(&outlived->after.stream, deadline, err);
	outlived->reason = stream_reason(&outlived->before.stream);
	if (outlived->reason == WIRE_REASON_NONE)
		outlived->reason = stream_reason(&outlived->after.stream);
	if (outlived->reason == WIRE_REASON_NONE)
		outlived->reason = compare(outlived);
	if (outlived->reason == WIRE_REASON_NONE)
		outlived->reason = look_at_pattern(outlived);
	return status;
}

bool outlived_asked(const struct outlived *outlived)
{
	return outlived->before.stream.came;
}

enum wire_reason outlived_read(const struct outlived *outlived, enum outlived_change change, int64_t *value)
{
	*value = outlived->alive && outlived->changed[change];
	return outlived->closed ? outlived->reason : WIRE_REASON_INPUT_MISSING;
}

void outlived_free(struct outlived *outlived)
{
	document_close(&outlived->before);
	document_close(&outlived->after);
}

static const struct place places[] = {
	{ .change = OUTLIVED_NAME, .member = "Name" },
	{ .change = OUTLIVED_LIMITS, .member = "HostConfig" },
	{ .change = OUTLIVED_NETWORKS, .member = "NetworkSettings", .below = "Networks" },
	{ .member = NULL },
};
