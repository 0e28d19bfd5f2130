/* Scenarios: the field table, reading from files and from a bundle, writing, finding. */
#include "oracle/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "oracle/observation.h"
#include "oracle/scenario_check.h"

#define TEXT_BYTES ((size_t)4 * MIB) /* of one scenario, as its bundle has it */
#define SUFFIX ".json"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)
#define FILE_NAME_MAX (ID_MAX + SUFFIX_LENGTH)
#define WINDOW_MS_MAX 600000
#define COUNT_MAX (1LL << 40)
#define LIMIT_MAX (1LL << 40)
#define PROFILE_DEFAULT "reference"
#define GROUP_ENGINE "engine/"

struct found {
	char (*ids)[ID_MAX];
	size_t count;
	size_t capacity;
};

static void found_free(struct found *found)
{
	free(found->ids);
}

static int found_add(struct found *found, const char *id, struct error **err)
{
	if (found->count == PLAN_ARMS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d scenarios", PLAN_ARMS_MAX);
	if (found->count == found->capacity) {
		size_t capacity = found->capacity ? found->capacity * 2 : 32;
		char(*ids)[ID_MAX] = reallocarray(found->ids, capacity, sizeof(*ids));

		if (!ids)
			return error_set(err, ERROR_MEMORY, "no memory for the names of scenarios");
		found->ids = ids;
		found->capacity = capacity;
	}
	snprintf(found->ids[found->count++], ID_MAX, "%s", id);
	return 0;
}

static int open_dir(int directory, const char *path, DIR **out, struct error **err)
{
	cleanup_fd int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		*out = fdopendir(fd);
	if (!*out)
		return error_errno(err, errno, "the folder of scenarios");
	steal_fd(&fd);
	return 0;
}

static int collect(int directory, const char *group, struct found *found, struct error **err);

/* `path` is the entry's path below the folder of scenarios. */
static int collect_entry(int directory, const char *path, size_t length, struct found *found, struct error **err)
{
	bool json = length > SUFFIX_LENGTH && strcmp(path + length - SUFFIX_LENGTH, SUFFIX) == 0;
	char id[ID_MAX], shown[ID_MAX];
	struct stat status;

	if (strcmp(path, "schema.json") == 0)
		return 0;
	if (fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return error_errno(err, errno, "%s", error_safe(path, shown, sizeof(shown)));
	if (S_ISDIR(status.st_mode))
		return collect(directory, path, found, err);
	if (!json)
		return 0;
	length -= SUFFIX_LENGTH;
	if (length >= ID_MAX || !schema_matches(PATTERN_ID, path, length))
		return error_set(err, ERROR_INPUT, "%s: a scenario's name has at most %d of a-z 0-9 . _ -",
				 error_safe(path, shown, sizeof(shown)), ID_MAX - 1);
	snprintf(id, sizeof(id), "%.*s", (int)length, path);
	return found_add(found, id, err);
}

static int collect(int directory, const char *group, struct found *found, struct error **err)
{
	cleanup_dir DIR *dir = NULL;
	int result = open_dir(directory, group[0] ? group : ".", &dir, err);

	while (result >= 0) {
		char path[FILE_NAME_MAX + 1], shown[ID_MAX];
		const struct dirent *entry;
		int length;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return errno ? error_errno(err, errno, "the folder of scenarios") : 0;
		if (entry->d_name[0] == '.')
			continue;
		length = snprintf(path, sizeof(path), "%s%s%s", group, group[0] ? "/" : "", entry->d_name);
		if ((size_t)length >= sizeof(path))
			return error_set(err, ERROR_INPUT, "%s: a scenario's name has at most %d of a-z 0-9 . _ -",
					 error_safe(entry->d_name, shown, sizeof(shown)), ID_MAX - 1);
		result = collect_entry(directory, path, (size_t)length, found, err);
	}
	return result;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void file_name(const char *id, char out[FILE_NAME_MAX + 1])
{
	snprintf(out, FILE_NAME_MAX + 1, "%s" SUFFIX, id);
}

/* The form alone, and what an absent field means. */
static int decode_form(const char *id, const struct json_node *node, struct scenario *out, struct error **err)
{
	char file[FILE_NAME_MAX + 1];
	int result;

	file_name(id, file);
	result = schema_decode(scenario_fields, node, file, out, sizeof(*out), err);
	if (result < 0)
		return result;
	snprintf(out->id, sizeof(out->id), "%s", id);
	if (!out->profile[0])
		snprintf(out->profile, sizeof(out->profile), PROFILE_DEFAULT);
	return 0;
}

static int load_one(int directory, const char *id, struct scenario *out, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	char file[FILE_NAME_MAX + 1];
	int result;

	file_name(id, file);
	result = fd_read_file(directory, file, SCENARIO_BYTES, &bytes, err);
	if (result < 0)
		return result;
	result = json_parse(buf_string(&bytes), bytes.length, JSON_DEPTH, &document, err);
	if (result < 0)
		return error_wrap(err, "%s", file);
	return decode_form(id, json_root(document), out, err);
}

/* Sense is checked once each scenario has what it takes from others. */
static int check_all(struct scenario *scenarios, size_t count, const struct scenario_names *names, struct error **err)
{
	int result = scenario_take_bases(scenarios, count, err);

	for (size_t i = 0; i < count && result >= 0; i++) {
		char file[FILE_NAME_MAX + 1];

		file_name(scenarios[i].id, file);
		result = scenario_check(&scenarios[i], names, file, err);
	}
	return result < 0 ? result : scenario_check_set(scenarios, count, err);
}

int scenario_load_all(int directory, const struct scenario_names *names, struct scenario **out, size_t *count,
		      struct error **err)
{
	__attribute__((cleanup(found_free))) struct found found = { .ids = NULL };
	cleanup_free struct scenario *scenarios = NULL;
	int result = collect(directory, "", &found, err);

	if (result < 0)
		return result;
	if (found.count == 0)
		return error_set(err, ERROR_INPUT, "the folder of scenarios holds none");
	qsort(found.ids, found.count, sizeof(*found.ids), by_id);
	scenarios = calloc(found.count, sizeof(*scenarios));
	if (!scenarios)
		return error_set(err, ERROR_MEMORY, "no memory for %zu scenarios", found.count);
	for (size_t i = 0; i < found.count; i++) {
		result = load_one(directory, found.ids[i], &scenarios[i], err);
		if (result < 0)
			return result;
	}
	result = check_all(scenarios, found.count, names, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&scenarios);
	*count = found.count;
	return 0;
}

int scenario_decode(const char *id, const struct json_node *node, const struct scenario_names *names,
		    struct scenario *out, struct error **err)
{
	char file[FILE_NAME_MAX + 1];
	int result = decode_form(id, node, out, err);

	file_name(id, file);
	return result < 0 ? result : scenario_check(out, names, file, err);
}

int scenario_decode_sealed(const struct json_node *node, const char *file, struct scenario *out, struct error **err)
{
	int result = schema_decode(scenario_sealed_fields, node, file, out, sizeof(*out), err);

	return result < 0 ? result : scenario_check(out, NULL, file, err);
}

bool scenario_stops(const struct scenario *scenario, const char *probe)
{
	for (size_t i = 0; i < scenario->updates_count; i++)
		if (scenario->updates[i].pause && strcmp(scenario->updates[i].trigger, probe) == 0)
			return true;
	return false;
}

bool scenario_pauses(const struct scenario *scenario)
{
	return scenario->misbehaviour.id[0] != '\0';
}

void scenario_encode(const struct scenario *scenario, struct json_writer *writer)
{
	schema_encode(scenario_sealed_fields, scenario, writer);
}

int scenario_text(const struct scenario *scenario, struct buf *out, struct error **err)
{
	struct json_writer json;

	json_begin(&json, out);
	scenario_encode(scenario, &json);
	return buf_check(out, "a scenario", err);
}

int scenario_same(const struct scenario *one, const struct scenario *other, bool *out, struct error **err)
{
	cleanup_buf struct buf ours = BUF(TEXT_BYTES), theirs = BUF(TEXT_BYTES);

	if (scenario_text(one, &ours, err) < 0 || scenario_text(other, &theirs, err) < 0)
		return -1;
	*out = ours.length == theirs.length && memcmp(buf_string(&ours), buf_string(&theirs), ours.length) == 0;
	return 0;
}

const struct scenario *scenario_find(const struct scenario *scenarios, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(scenarios[i].id, id) == 0)
			return &scenarios[i];
	return NULL;
}

const struct expectation *scenario_cell(const struct scenario *scenario, const char *subject, const char *observer)
{
	for (size_t i = 0; i < scenario->expect_count; i++) {
		const struct expectation *cell = &scenario->expect[i];

		if (strcmp(cell->subject, subject) == 0 && strcmp(cell->observer, observer) == 0)
			return cell;
	}
	return NULL;
}

bool scenario_hurts_engine(const struct scenario *scenario)
{
	return strncmp(scenario->id, GROUP_ENGINE, sizeof(GROUP_ENGINE) - 1) == 0;
}

bool scenario_selected(const struct scenario *scenario, const char *selector)
{
	size_t length = strlen(selector);

	if (strcmp(selector, "all") == 0)
		return !scenario_hurts_engine(scenario);
	if (strcmp(selector, scenario->id) == 0)
		return true;
	return length > 0 && strncmp(scenario->id, selector, length) == 0 && scenario->id[length] == '/';
}

static const char *const fault_role_names[] = {
	[FAULT_BRIDGE] = "bridge",
	[FAULT_WATCHDOG] = "watchdog",
	[FAULT_GATEWAY] = "gateway",
	[FAULT_CONTAINER] = "container",
	[FAULT_RECORDER] = "recorder",
	[FAULT_OPERATOR] = "operator",
	[FAULT_NAMESPACE] = "namespace",
	[FAULT_HOST] = "host",
	[FAULT_ENGINE] = "engine",
	[FAULT_SHIM] = "shim",
	NULL,
};

static const char *const peer_place_names[] = {
	[PEER_NONE] = "none",
	[PEER_GATEWAY] = "gateway",
	[PEER_UPSTREAM] = "upstream",
	[PEER_AUDIT] = "audit",
	[PEER_COLLECTOR] = "collector",
	[PEER_ORDERS] = "orders",
	NULL,
};

static const char *const fault_action_names[] = {
	[FAULT_KILL] = "kill",
	[FAULT_PAUSE] = "pause",
	[FAULT_TERMINATE] = "terminate",
	[FAULT_FILL] = "fill",
	[FAULT_CONNECT] = "connect",
	[FAULT_DISCONNECT] = "disconnect",
	[FAULT_UPDATE] = "update",
	[FAULT_EXEC] = "exec",
	[FAULT_ATTACH] = "attach",
	[FAULT_RENAME] = "rename",
	[FAULT_INTERFACE] = "interface",
	[FAULT_CORE_PATTERN] = "core-pattern",
	NULL,
};

const char *const expectation_op_names[] = { [OP_EQ] = "eq", [OP_GE] = "ge", [OP_LE] = "le", NULL };

const char *const cell_class_names[] = { [CELL_PROTECTED] = "protected", [CELL_CONTROL] = "control", NULL };

static const char *const update_outcome_names[] = {
	[UPDATE_APPLIED] = "applied", [UPDATE_STALE] = "stale", [UPDATE_INVALID] = "invalid", NULL
};

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define ID_STRING(owner, member)                                                                                       \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(owner, member),                                     \
	.offset = offsetof(struct owner, member)
#define INTEGER(owner, member, low, high)                                                                              \
	.type = SCHEMA_INT, .min = (low), .max = (high), .offset = offsetof(struct owner, member)
#define NAMED(owner, member, list) .type = SCHEMA_ENUM, .names = (list), .offset = offsetof(struct owner, member)
#define FLAG(owner, member) .type = SCHEMA_BOOL, .offset = offsetof(struct owner, member)
#define ID_ARRAY(member, least, most)                                                                                  \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = NAME_MAX_SHORT, .array_min = (least),                    \
	.array_max = (most), .offset = offsetof(struct scenario, member),                                              \
	.count_offset = offsetof(struct scenario, member##_count)
#define OBJECT(member, table)                                                                                          \
	.type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(scenario, member),                                      \
	.offset = offsetof(struct scenario, member)
#define OBJECT_ARRAY(member, table, least, most)                                                                       \
	.type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(scenario, member[0]), .array_min = (least),             \
	.array_max = (most), .offset = offsetof(struct scenario, member),                                              \
	.count_offset = offsetof(struct scenario, member##_count)

static const struct schema_field fault_fields[] = {
	{ .key = "role", .required = true, NAMED(fault, role, fault_role_names) },
	{ .key = "action", .required = true, NAMED(fault, action, fault_action_names) },
	{ .key = "trigger", .required = true, ID_STRING(fault, trigger) },
	{ .key = "delayMs", INTEGER(fault, delay_ms, 0, WINDOW_MS_MAX) },
	{ .key = "delaySpanMs", INTEGER(fault, delay_span_ms, 0, WINDOW_MS_MAX) },
	{ .key = "undo", FLAG(fault, undo) },
	{ .key = NULL },
};

static const struct schema_field misbehaviour_fields[] = {
	{ .key = "id", .required = true, ID_STRING(misbehaviour, id) },
	{ .key = "count", INTEGER(misbehaviour, count, 0, COUNT_MAX) },
	{ .key = "bytes",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_HEX,
	  .nullable = true,
	  .size = MISBEHAVIOUR_HEX,
	  .offset = offsetof(struct misbehaviour, bytes) },
	{ .key = NULL },
};

static const struct schema_field limits_fields[] = {
	{ .key = "frameBytes", INTEGER(scenario_limits, frame_bytes, 0, LIMIT_MAX) },
	{ .key = "stdoutBytes", INTEGER(scenario_limits, stdout_bytes, 0, LIMIT_MAX) },
	{ .key = "stderrBytes", INTEGER(scenario_limits, stderr_bytes, 0, LIMIT_MAX) },
	{ .key = "calls", INTEGER(scenario_limits, calls, 0, LIMIT_MAX) },
	{ .key = "sessionMs", INTEGER(scenario_limits, session_ms, 0, WINDOW_MS_MAX) },
	{ .key = "heartbeatMs", INTEGER(scenario_limits, heartbeat_ms, 0, WINDOW_MS_MAX) },
	{ .key = "acknowledgeMs", INTEGER(scenario_limits, acknowledge_ms, 0, WINDOW_MS_MAX) },
	{ .key = "leaseMs", INTEGER(scenario_limits, lease_ms, 0, WINDOW_MS_MAX) },
	{ .key = "gatewayCallMs", INTEGER(scenario_limits, gateway_call_ms, 0, WINDOW_MS_MAX) },
	{ .key = NULL },
};

static const struct schema_field peer_fields[] = {
	{ .key = "at", .required = true, NAMED(peer, at, peer_place_names) },
	{ .key = "does", .nullable = true, ID_STRING(peer, does) },
	{ .key = NULL },
};

static const struct schema_field labels_fields[] = {
	{ .key = "session", .nullable = true, ID_STRING(scenario_labels, session) },
	{ .key = "permitted", .nullable = true, ID_STRING(scenario_labels, permitted) },
	{ .key = "response", .nullable = true, ID_STRING(scenario_labels, response) },
	{ .key = NULL },
};

static const struct schema_field update_fields[] = {
	{ .key = "trigger", .required = true, ID_STRING(policy_update, trigger) },
	{ .key = "pause", FLAG(policy_update, pause) },
	{ .key = "revision", INTEGER(policy_update, revision, 0, EVIDENCE_INT_MAX) },
	{ .key = "revoke", .nullable = true, ID_STRING(policy_update, revoke) },
	{ .key = "restore", .nullable = true, ID_STRING(policy_update, restore) },
	{ .key = "document",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_ASCII,
	  .size = POLICY_DOCUMENT_MAX,
	  .offset = offsetof(struct policy_update, document) },
	{ .key = "outcome", NAMED(policy_update, outcome, update_outcome_names) },
	{ .key = NULL },
};

static const struct schema_field expectation_fields[] = {
	{ .key = "subject", .required = true, ID_STRING(expectation, subject) },
	{ .key = "observer", .required = true, ID_STRING(expectation, observer) },
	{ .key = "op", .required = true, NAMED(expectation, op, expectation_op_names) },
	{ .key = "value", .required = true, INTEGER(expectation, value, 0, EVIDENCE_INT_MAX) },
	{ .key = "class", .required = true, NAMED(expectation, class, cell_class_names) },
	{ .key = "flips", FLAG(expectation, flips) },
	{ .key = "needs", .nullable = true, ID_STRING(expectation, needs) },
	{ .key = NULL },
};

/* Rows that a file and a bundle share; the bundle's form has the id before them. */
#define SCENARIO_ROWS                                                                                                  \
	{ .key = "title",                                                                                              \
	  .required = true,                                                                                            \
	  .type = SCHEMA_STRING,                                                                                       \
	  .pattern = PATTERN_ASCII,                                                                                    \
	  .min = 1,                                                                                                    \
	  .size = TITLE_MAX,                                                                                           \
	  .offset = offsetof(struct scenario, title) },                                                                \
		{ .key = "base", .nullable = true, ID_STRING(scenario, base) },                                        \
		{ .key = "control", .nullable = true, ID_STRING(scenario, control) },                                  \
		{ .key = "profile", .nullable = true, ID_STRING(scenario, profile) },                                  \
		{ .key = "removes", ID_ARRAY(removes, 0, ARM_REMOVED_MAX) },                                           \
		{ .key = "probes", ID_ARRAY(probes, 0, ARM_PROBES_MAX) },                                              \
		{ .key = "tries", .value = 1, INTEGER(scenario, tries, 1, 1000) },                                     \
		{ .key = "misbehaviour", OBJECT(misbehaviour, misbehaviour_fields) },                                  \
		{ .key = "after", ID_ARRAY(after, 0, ARM_AFTER_MAX) },                                                 \
		{ .key = "ending", .nullable = true, ID_STRING(scenario, ending) },                                    \
		{ .key = "ends", .nullable = true, ID_STRING(scenario, ends) },                                        \
		{ .key = "limits", OBJECT(limits, limits_fields) }, { .key = "peer", OBJECT(peer, peer_fields) },      \
		{ .key = "labels", OBJECT(labels, labels_fields) },                                                    \
		{ .key = "windowMs", INTEGER(scenario, window_ms, 0, WINDOW_MS_MAX) },                                 \
		{ .key = "faults", OBJECT_ARRAY(faults, fault_fields, 0, ARM_FAULTS_MAX) },                            \
		{ .key = "updates", OBJECT_ARRAY(updates, update_fields, 0, ARM_POLICY_MAX) },                         \
	{                                                                                                              \
		.key = "expect", .required = true, OBJECT_ARRAY(expect, expectation_fields, 1, ARM_CELLS_MAX)          \
	}

const struct schema_field scenario_fields[] = {
	SCENARIO_ROWS,
	{ .key = NULL },
};

const struct schema_field scenario_sealed_fields[] = {
	{ .key = "id", .required = true, ID_STRING(scenario, id) },
	SCENARIO_ROWS,
	{ .key = NULL },
};
