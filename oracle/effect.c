/* Declarations of effects: the field table, reading, writing, finding. */
#include "oracle/effect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/json_form.h"

#define SUFFIX ".json"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)
#define FILE_NAME_MAX (ID_MAX + SUFFIX_LENGTH)

_Static_assert(EFFECT_TEXT_MAX - 1 <= JSON_FORM_TEXT, "a bundle takes the texts");

static void file_name(const char *id, char out[FILE_NAME_MAX + 1])
{
	snprintf(out, FILE_NAME_MAX + 1, "%s" SUFFIX, id);
}

int effect_decode(const char *id, const struct json_node *node, const struct effect_names *names, struct effect *out,
		  struct error **err)
{
	char file[FILE_NAME_MAX + 1];
	int result;

	file_name(id, file);
	result = schema_decode(effect_fields, node, file, out, sizeof(*out), err);
	if (result < 0)
		return result;
	snprintf(out->id, sizeof(out->id), "%s", id);
	return effect_check(out, names, file, err);
}

int effect_decode_sealed(const struct json_node *node, const char *file, struct effect *out, struct error **err)
{
	int result = schema_decode(effect_sealed_fields, node, file, out, sizeof(*out), err);

	return result < 0 ? result : effect_check(out, NULL, file, err);
}

void effect_encode(const struct effect *effect, struct json_writer *writer)
{
	schema_encode(effect_sealed_fields, effect, writer);
}

int effect_canonical(const struct effect *effect, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	struct json_writer writer;
	int result;

	json_begin(&writer, &text);
	effect_encode(effect, &writer);
	result = buf_check(&text, "a declaration", err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

int effect_digest(const struct effect *effect, char out[HEX_SHA256], struct error **err)
{
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	int result = effect_canonical(effect, &text, err);

	if (result >= 0)
		hash_bytes(buf_string(&text), text.length, out);
	return result;
}

/* One file of the folder, if it is a declaration: 1 it is, 0 it is passed over. */
static int load_one(int directory, const char *file, const struct effect_names *names, struct effect *out,
		    struct error **err)
{
	size_t length = strlen(file);
	cleanup_buf struct buf bytes = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	char id[ID_MAX], shown[ID_MAX];

	if (file[0] == '.' || length <= SUFFIX_LENGTH || strcmp(file + length - SUFFIX_LENGTH, SUFFIX) != 0 ||
	    strcmp(file, "schema.json") == 0)
		return 0;
	length -= SUFFIX_LENGTH;
	if (length >= ID_MAX || !schema_matches(PATTERN_ID, file, length))
		return error_set(err, ERROR_INPUT, "%s: a declaration's name has at most %d of a-z 0-9 . _ -",
				 error_safe(file, shown, sizeof(shown)), ID_MAX - 1);
	snprintf(id, sizeof(id), "%.*s", (int)length, file);
	if (fd_read_file(directory, file, SCENARIO_BYTES, &bytes, err) < 0)
		return error_wrap(err, "%s" SUFFIX, id);
	if (json_parse(buf_string(&bytes), bytes.length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, "%s" SUFFIX, id);
	return effect_decode(id, json_root(document), names, out, err) < 0 ? -1 : 1;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct effect *)a)->id, ((const struct effect *)b)->id);
}

static int load(DIR *dir, const struct effect_names *names, struct effect *out, size_t *count, struct error **err)
{
	cleanup_free struct effect *one = calloc(1, sizeof(*one));

	*count = 0;
	if (!one)
		return error_set(err, ERROR_MEMORY, "no memory for a declaration");
	for (;;) {
		const struct dirent *entry;
		int result;

		errno = 0;
		entry = readdir(dir);
		if (!entry && errno)
			return error_errno(err, errno, "the folder of declarations");
		if (!entry)
			break;
		result = load_one(dirfd(dir), entry->d_name, names, one, err);
		if (result < 0)
			return result;
		if (result == 0)
			continue;
		if (*count == EFFECTS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d declarations", EFFECTS_MAX);
		out[(*count)++] = *one;
	}
	qsort(out, *count, sizeof(*out), by_id);
	return effect_check_set(out, *count, err);
}

int effect_load_all(int directory, const struct effect_names *names, struct effect **out, size_t *count,
		    struct error **err)
{
	cleanup_free struct effect *effects = calloc(EFFECTS_MAX, sizeof(*effects));
	cleanup_fd int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *dir = NULL;
	size_t found = 0;
	int result;

	if (!effects)
		return error_set(err, ERROR_MEMORY, "no memory for %d declarations", EFFECTS_MAX);
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir)
		return error_errno(err, errno, "the folder of declarations");
	steal_fd(&fd);
	result = load(dir, names, effects, &found, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&effects);
	*count = found;
	return 0;
}

const struct effect *effect_find(const struct effect *effects, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(effects[i].id, id) == 0)
			return &effects[i];
	return NULL;
}

const struct effect_path *effect_path_of(const struct effect *effect, const char *subject)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (strcmp(effect->paths[i].subject, subject) == 0)
			return &effect->paths[i];
	return NULL;
}

bool effect_path_observer(const struct effect_path *path, const char *observer)
{
	for (size_t i = 0; i < path->observers_count; i++)
		if (strcmp(path->observers[i], observer) == 0)
			return true;
	return false;
}

bool effect_path_scenario(const struct effect_path *path, const char *scenario)
{
	for (size_t i = 0; i < path->scenarios_count; i++)
		if (strcmp(path->scenarios[i], scenario) == 0)
			return true;
	return false;
}

static bool observer_sees(const struct effect_observer *observer, enum effect_sight sight)
{
	for (size_t i = 0; i < observer->sees_count; i++)
		if (observer->sees[i] == (int)sight)
			return true;
	return false;
}

bool effect_sees(const struct effect *effect, enum effect_sight sight)
{
	for (size_t i = 0; i < effect->observers_count; i++)
		if (!observer_sees(&effect->observers[i], sight))
			return false;
	return effect->observers_count > 0;
}

const char *const effect_side_names[] = { [EFFECT_AGENT] = "agent", [EFFECT_DEPLOYMENT] = "deployment", NULL };

const char *const effect_admits_names[] = { [EFFECT_ADMITS_NOTHING] = "nothing",
					    [EFFECT_ADMITS_AUTHORISED] = "authorised",
					    [EFFECT_ADMITS_ANYTHING] = "anything",
					    NULL };

const char *const effect_claims_names[] = { [EFFECT_CLAIMS_NONE] = "none",
					    [EFFECT_CLAIMS_OBSERVED] = "observed",
					    [EFFECT_CLAIMS_MEDIATED] = "mediated",
					    NULL };

const char *const effect_basis_names[] = { [EFFECT_BASIS_NONE] = "none",
					   [EFFECT_BASIS_SCENARIOS] = "scenarios",
					   [EFFECT_BASIS_STATEMENTS] = "statements",
					   NULL };

const char *const effect_method_names[] = { [EFFECT_ILLUSTRATION] = "illustration",
					    [EFFECT_SOURCE_REVIEW] = "source-review",
					    [EFFECT_CONFIGURATION] = "configuration",
					    [EFFECT_TRACING] = "tracing",
					    NULL };

const char *const effect_sight_names[] = {
	[EFFECT_SEES_EFFECT] = "effect", [EFFECT_SEES_TRANSACTION] = "transaction", [EFFECT_SEES_ROLE] = "role", NULL
};

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define ID_STRING(owner, member)                                                                                       \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(owner, member),                   \
	.offset = offsetof(struct owner, member)
#define TEXT(owner, member)                                                                                            \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ASCII, .min = 1, .size = SIZE(owner, member),      \
	.offset = offsetof(struct owner, member)
#define NAMED(owner, member, list)                                                                                     \
	.required = true, .type = SCHEMA_ENUM, .names = (list), .offset = offsetof(struct owner, member)
#define OBJECT(owner, member, table)                                                                                   \
	.required = true, .type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(owner, member),                       \
	.offset = offsetof(struct owner, member)
#define MANY(owner, member, least, most)                                                                               \
	.required = true, .array_min = (least), .array_max = (most), .offset = offsetof(struct owner, member),         \
	.count_offset = offsetof(struct owner, member##_count)
#define ID_ARRAY(owner, member, least, most)                                                                           \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(owner, member[0]), MANY(owner, member, least, most)
#define OPTIONAL_IDS(owner, member, most)                                                                              \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(owner, member[0]), .array_max = (most),             \
	.offset = offsetof(struct owner, member), .count_offset = offsetof(struct owner, member##_count)
#define OBJECT_ARRAY(owner, member, table, least, most)                                                                \
	.type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(owner, member[0]), MANY(owner, member, least, most)

static const struct schema_field boundary_fields[] = {
	{ .key = "id", ID_STRING(effect_boundary, id) },
	{ .key = "what", TEXT(effect_boundary, what) },
	{ .key = NULL },
};

static const struct schema_field inventory_fields[] = {
	{ .key = "method", NAMED(effect_inventory, method, effect_method_names) },
	{ .key = "date",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_TIME,
	  .size = SIZE(effect_inventory, date),
	  .offset = offsetof(struct effect_inventory, date) },
	{ .key = "what", TEXT(effect_inventory, what) },
	{ .key = NULL },
};

static const struct schema_field observer_fields[] = {
	{ .key = "id", ID_STRING(effect_observer, id) },
	{ .key = "program", .nullable = true, ID_STRING(effect_observer, program) },
	{ .key = "inputs", OPTIONAL_IDS(effect_observer, inputs, EFFECT_INPUTS_MAX) },
	{ .key = "measures", OPTIONAL_IDS(effect_observer, measures, EFFECT_MEASURES_MAX) },
	{ .key = "sees",
	  .type = SCHEMA_ENUM,
	  .names = effect_sight_names,
	  MANY(effect_observer, sees, 1, EFFECT_SIGHTS_MAX) },
	{ .key = NULL },
};

static const struct schema_field coverage_fields[] = {
	{ .key = "claims", NAMED(effect_coverage, claims, effect_claims_names) },
	{ .key = "basis", NAMED(effect_coverage, basis, effect_basis_names) },
	{ .key = "why", TEXT(effect_coverage, why) },
	{ .key = NULL },
};

static const struct schema_field path_fields[] = {
	{ .key = "id",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_FIELD,
	  .size = SIZE(effect_path, id),
	  .offset = offsetof(struct effect_path, id) },
	{ .key = "side", NAMED(effect_path, side, effect_side_names) },
	{ .key = "what", TEXT(effect_path, what) },
	{ .key = "mediator", ID_STRING(effect_path, mediator) },
	{ .key = "admits", NAMED(effect_path, admits, effect_admits_names) },
	{ .key = "subject", ID_STRING(effect_path, subject) },
	{ .key = "observers", ID_ARRAY(effect_path, observers, 0, EFFECT_OBSERVERS_MAX) },
	{ .key = "scenarios", ID_ARRAY(effect_path, scenarios, 0, EFFECT_SCENARIOS_MAX) },
	{ .key = "coverage", OBJECT(effect_path, coverage, coverage_fields) },
	{ .key = NULL },
};

static const struct schema_field excluded_fields[] = {
	{ .key = "what", TEXT(effect_excluded, what) },
	{ .key = "reason", TEXT(effect_excluded, reason) },
	{ .key = NULL },
};

/* Rows that a file and a bundle share; the bundle's form has the id before them. */
#define EFFECT_ROWS                                                                                                    \
	{ .key = "effect", ID_STRING(effect, effect) }, { .key = "title", TEXT(effect, title) },                       \
		{ .key = "boundary", OBJECT(effect, boundary, boundary_fields) },                                      \
		{ .key = "revision", ID_STRING(effect, revision) },                                                    \
		{ .key = "inventory", OBJECT(effect, inventory, inventory_fields) },                                   \
		{ .key = "observers", OBJECT_ARRAY(effect, observers, observer_fields, 0, EFFECT_OBSERVERS_MAX) },     \
		{ .key = "paths", OBJECT_ARRAY(effect, paths, path_fields, 1, EFFECT_PATHS_MAX) },                     \
	{                                                                                                              \
		.key = "excluded", OBJECT_ARRAY(effect, excluded, excluded_fields, 0, EFFECT_EXCLUDED_MAX)             \
	}

const struct schema_field effect_fields[] = {
	EFFECT_ROWS,
	{ .key = NULL },
};

const struct schema_field effect_sealed_fields[] = {
	{ .key = "id", ID_STRING(effect, id) },
	EFFECT_ROWS,
	{ .key = NULL },
};
