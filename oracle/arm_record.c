/* arms.json: what admission refused, what is effective, and how each arm ended. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge.h"

#define ARMS_FILE "arms.json"
#define ARM_RECORD_BYTES (512 * KIB)

static const struct schema_field document_fields[];

void arm_room_open(struct arm_room *room)
{
	for (size_t i = 0; i < ARM_EFFECTIVE_MAX; i++)
		room->effective_at[i] = &room->effective[i];
	room->record.must_fail = room->must_fail;
	room->record.failed = room->failed;
	room->record.may_differ = room->may_differ;
	room->record.effective = room->effective_at;
	room->record.events = room->events;
}

static void copy_list(void *to, const void *from, size_t count, size_t size)
{
	if (count > 0)
		memcpy(to, from, count * size);
}

static void fill_room(struct arm_room *room, const struct arm_record *record)
{
	room->record = *record;
	copy_list(room->must_fail, record->must_fail, record->must_fail_count, sizeof(room->must_fail[0]));
	copy_list(room->failed, record->failed, record->failed_count, sizeof(room->failed[0]));
	copy_list(room->may_differ, record->may_differ, record->may_differ_count, sizeof(room->may_differ[0]));
	copy_list(room->events, record->events, record->events_count, sizeof(room->events[0]));
	for (size_t i = 0; i < record->effective_count; i++)
		room->effective[i] = *record->effective[i];
	arm_room_open(room);
}

int arm_records_encode(const struct arm_record *arms, size_t count, struct buf *out, struct error **err)
{
	cleanup_free struct arm_room *room = calloc(1, sizeof(*room));
	int result = 0;

	if (!room)
		return error_set(err, ERROR_MEMORY, "no memory for an arm record");
	buf_text(out, "{\"arms\":[");
	for (size_t i = 0; i < count && result >= 0; i++) {
		cleanup_buf struct buf text = BUF(ARM_RECORD_BYTES);
		struct json_writer writer;

		fill_room(room, &arms[i]);
		json_begin(&writer, &text);
		schema_encode(arm_record_fields, room, &writer);
		result = buf_check(&text, ARMS_FILE, err);
		buf_text(out, i ? "," : "");
		if (result >= 0)
			result = json_canonical(text.data, text.length, out, err);
	}
	buf_text(out, "]}");
	if (result >= 0)
		result = buf_check(out, ARMS_FILE, err);
	return result < 0 ? error_wrap(err, ARMS_FILE) : 0;
}

/* A field, or a prefix of fields that ends with '*': no more of prose than that. */
static bool is_field_pattern(const char *text)
{
	size_t length = strlen(text);

	if (length > 1 && text[length - 1] == '*')
		length -= text[length - 2] == '.' || text[length - 2] == '/' ? 2 : 1;
	return schema_matches(PATTERN_FIELD, text, length);
}

static int decode_arm(const struct json_node *node, struct arm_room *room, struct error **err)
{
	int result = schema_decode(arm_record_fields, node, ARMS_FILE, room, sizeof(*room), err);

	arm_room_open(room);
	for (size_t i = 0; result >= 0 && i < room->record.may_differ_count; i++)
		if (!is_field_pattern(room->may_differ[i]))
			result = error_set(err, ERROR_INPUT, "%s: mayDiffer[%zu]: not of the form that it must have",
					   ARMS_FILE, i);
	return result;
}

int arm_record_read(const char *bytes, size_t length, struct arm_room *room, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf text = BUF(ARM_RECORD_BYTES), again = BUF(ARM_RECORD_BYTES);
	struct json_writer writer;
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, ARMS_FILE);
	result = decode_arm(json_root(document), room, err);
	if (result < 0)
		return result;
	json_begin(&writer, &text);
	schema_encode(arm_record_fields, room, &writer);
	result = buf_check(&text, ARMS_FILE, err);
	if (result >= 0)
		result = json_canonical(text.data, text.length, &again, err);
	if (result < 0)
		return error_wrap(err, ARMS_FILE);
	if (again.length != length || memcmp(again.data, bytes, length) != 0)
		return error_set(err, ERROR_INPUT, "%s is not in its canonical form", ARMS_FILE);
	return 0;
}

int arm_records_decode(const char *bytes, size_t length, struct arm_pool *pool, struct arm_record **out, size_t *count,
		       struct error **err)
{
	cleanup_free struct arm_room *room = calloc(1, sizeof(*room));
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct arm_record *arms = NULL;
	const struct json_node *root, *list;
	size_t total, i = 0;
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, ARMS_FILE);
	root = json_root(document);
	list = json_member(root, "arms");
	if (!list || json_type(list) != JSON_ARRAY || json_count(root) != 1)
		return error_set(err, ERROR_INPUT, "%s: must be an object with the array 'arms' alone", ARMS_FILE);
	total = json_count(list);
	if (total > PLAN_ARMS_MAX)
		return error_set(err, ERROR_LIMIT, "%s: more than %d arms", ARMS_FILE, PLAN_ARMS_MAX);
	arms = calloc(total ? total : 1, sizeof(*arms));
	if (!arms || !room)
		return error_set(err, ERROR_MEMORY, "no memory for %zu arm records", total);
	for (const struct json_node *node = json_first(list); node; node = json_next(node)) {
		result = decode_arm(node, room, err);
		if (result >= 0)
			result = arm_pool_keep(pool, &room->record, &arms[i], err);
		i++;
		if (result < 0)
			return error_wrap(err, "arm record %zu", i - 1);
	}
	*out = steal_pointer(&arms);
	*count = total;
	return 0;
}

int arm_records_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, ARMS_FILE " of a bundle, version 1", out, err);
}

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define TEXT(owner, member, form)                                                                                      \
	.type = SCHEMA_STRING, .pattern = (form), .size = SIZE(owner, member), .offset = offsetof(struct owner, member)
#define COUNT(owner, member, low)                                                                                      \
	.type = SCHEMA_INT, .min = (low), .max = EVIDENCE_INT_MAX, .offset = offsetof(struct owner, member)
#define LIST(member, most, form)                                                                                       \
	.type = SCHEMA_STRING, .pattern = (form), .size = SIZE(arm_room, member[0]), .array_max = (most),              \
	.offset = offsetof(struct arm_room, member), .count_offset = offsetof(struct arm_room, record.member##_count)
#define OBJECTS(member, most, table)                                                                                   \
	.type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(arm_room, member[0]), .array_max = (most),              \
	.offset = offsetof(struct arm_room, member), .count_offset = offsetof(struct arm_room, record.member##_count)

static const struct schema_field effective_fields[] = {
	{ .key = "field", .required = true, TEXT(effective_value, field, PATTERN_FIELD) },
	{ .key = "sha256", .required = true, .min = HEX_SHA256 - 1, TEXT(effective_value, sha256, PATTERN_HEX) },
	{ .key = NULL },
};

static const struct schema_field event_fields[] = {
	{ .key = "name", .required = true, TEXT(arm_event, name, PATTERN_ID) },
	{ .key = "subject", .required = true, .nullable = true, TEXT(arm_event, subject, PATTERN_ID) },
	{ .key = "atNs", .required = true, COUNT(arm_event, at_ns, 0) },
	{ .key = NULL },
};

const struct schema_field arm_record_fields[] = {
	{ .key = "arm", .required = true, TEXT(arm_room, record.arm, PATTERN_ID) },
	{ .key = "repetition", .required = true, COUNT(arm_room, record.repetition, 1) },
	{ .key = "shard",
	  .type = SCHEMA_INT,
	  .max = PLAN_SHARDS_MAX,
	  .offset = offsetof(struct arm_room, record.shard) },
	{ .key = "status",
	  .required = true,
	  .type = SCHEMA_ENUM,
	  .names = arm_status_names,
	  .offset = offsetof(struct arm_room, record.status) },
	{ .key = "reason", .required = true, .nullable = true, TEXT(arm_room, record.reason, PATTERN_ID) },
	{ .key = "image",
	  .required = true,
	  .nullable = true,
	  .min = HEX_SHA256 - 1,
	  TEXT(arm_room, record.image, PATTERN_HEX) },
	{ .key = "boot", .required = true, .nullable = true, .min = 32, TEXT(arm_room, record.boot, PATTERN_HEX) },
	{ .key = "deploymentRevision", TEXT(arm_room, record.deployment_revision, PATTERN_ID) },
	{ .key = "mustFail", .required = true, LIST(must_fail, ADMISSION_RULES_MAX, PATTERN_ID) },
	{ .key = "failed", .required = true, LIST(failed, ADMISSION_RULES_MAX, PATTERN_ID) },
	{ .key = "mayDiffer", .required = true, LIST(may_differ, ARM_DIFFERENCE_MAX, PATTERN_ASCII) },
	{ .key = "effective", .required = true, OBJECTS(effective, ARM_EFFECTIVE_MAX, effective_fields) },
	{ .key = "events", .required = true, OBJECTS(events, ARM_EVENTS_MAX, event_fields) },
	{ .key = "agentAttempts", .required = true, COUNT(arm_room, record.agent_attempts, -1) },
	{ .key = "callsAllowed", .value = -1, COUNT(arm_room, record.calls_allowed, -1) },
	{ .key = "callsDenied", .value = -1, COUNT(arm_room, record.calls_denied, -1) },
	{ .key = "durationNs", .required = true, COUNT(arm_room, record.duration_ns, 0) },
	{ .key = NULL },
};

/* For the schema alone: the list is read one arm at a time. */
static const struct schema_field document_fields[] = {
	{ .key = "arms",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = arm_record_fields,
	  .array_max = PLAN_ARMS_MAX },
	{ .key = NULL },
};
