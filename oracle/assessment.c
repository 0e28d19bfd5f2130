#include "oracle/assessment.h"

#include <string.h>

#define DEPTH 4 /* what is none is told by its keys, and not by its depth */
#define FIELDS_MAX 16
#define DECLARATION "declarationSha256"

static bool is_unsigned(const struct assessment *statement, const struct assessment_ground *ground)
{
	(void)ground;
	return statement->key[0] == '\0';
}

static bool is_one_of(const char (*keys)[HEX_SHA256], size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static bool is_self_signed(const struct assessment *statement, const struct assessment_ground *ground)
{
	return is_one_of(ground->run_keys, ground->run_keys_count, statement->key);
}

static bool is_of_unknown_key(const struct assessment *statement, const struct assessment_ground *ground)
{
	return !is_one_of(ground->keys, ground->keys_count, statement->key);
}

static bool is_of_other_effect(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(statement->effect, ground->effect->effect) != 0;
}

static bool is_of_other_revision(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(statement->revision, ground->effect->revision) != 0;
}

static bool is_of_other_boundary(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(statement->boundary, ground->effect->boundary.id) != 0;
}

static bool is_of_other_declaration(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(statement->declaration, ground->declaration) != 0;
}

static bool is_not_yet(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(ground->now, statement->from) < 0;
}

static bool is_expired(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(ground->now, statement->until) >= 0;
}

static bool is_of_other_path(const struct assessment *statement, const struct assessment_ground *ground)
{
	const struct effect *effect = ground->effect;

	if (statement->kind == ASSESSMENT_INVENTORY)
		return statement->path[0] != '\0';
	for (size_t i = 0; i < effect->paths_count; i++)
		if (effect->paths[i].side == EFFECT_DEPLOYMENT && strcmp(effect->paths[i].id, statement->path) == 0)
			return false;
	return true;
}

static bool (*const refusals[])(const struct assessment *statement, const struct assessment_ground *ground) = {
	[ASSESSMENT_UNSIGNED] = is_unsigned,
	[ASSESSMENT_SELF_SIGNED] = is_self_signed,
	[ASSESSMENT_UNKNOWN_KEY] = is_of_unknown_key,
	[ASSESSMENT_OTHER_EFFECT] = is_of_other_effect,
	[ASSESSMENT_OTHER_REVISION] = is_of_other_revision,
	[ASSESSMENT_OTHER_BOUNDARY] = is_of_other_boundary,
	[ASSESSMENT_OTHER_DECLARATION] = is_of_other_declaration,
	[ASSESSMENT_NOT_YET] = is_not_yet,
	[ASSESSMENT_EXPIRED] = is_expired,
	[ASSESSMENT_OTHER_PATH] = is_of_other_path,
};

enum assessment_reason assessment_judge(const struct assessment *statement, const struct assessment_ground *ground)
{
	for (size_t reason = 1; reason < sizeof(refusals) / sizeof(refusals[0]); reason++)
		if (refusals[reason](statement, ground))
			return (enum assessment_reason)reason;
	return ASSESSMENT_COUNTS;
}

static int decode(const struct schema_field *fields, const char *bytes, size_t length, const char *file,
		  struct assessment *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int result = json_parse(bytes, length, DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, "%s", file);
	return schema_decode(fields, json_root(document), file, out, sizeof(*out), err);
}

int assessment_decode(const char *bytes, size_t length, const char *file, struct assessment *out, struct error **err)
{
	return decode(assessment_fields, bytes, length, file, out, err);
}

int assessment_decode_draft(const char *bytes, size_t length, const char *file, struct assessment *out,
			    struct error **err)
{
	struct schema_field draft[FIELDS_MAX];
	size_t count = 0;

	do {
		draft[count] = assessment_fields[count];
		if (draft[count].key && strcmp(draft[count].key, DECLARATION) == 0)
			draft[count].required = false;
	} while (assessment_fields[count++].key);
	return decode(draft, bytes, length, file, out, err);
}

int assessment_encode(const struct assessment *statement, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(ASSESSMENT_BYTES);
	struct json_writer writer;
	int result;

	json_begin(&writer, &text);
	schema_encode(assessment_fields, statement, &writer);
	result = buf_check(&text, "a statement", err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

static bool is_declared(const struct effect *effect, const char *path, bool deployment)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (strcmp(effect->paths[i].id, path) == 0)
			return !deployment || effect->paths[i].side == EFFECT_DEPLOYMENT;
	return false;
}

/* An inventory is of the whole set; the others are each of one path. */
static int check_paths(const struct assessment *statement, const struct effect *effect, struct error **err)
{
	bool inventory = statement->kind == ASSESSMENT_INVENTORY;

	if (inventory && statement->path[0])
		return error_set(err, ERROR_INPUT, "path: an inventory is of all paths: null");
	if (!inventory && !statement->path[0])
		return error_set(err, ERROR_INPUT, "path: null, and it is of one path");
	if (!inventory && !is_declared(effect, statement->path, true))
		return error_set(err, ERROR_INPUT, "path: %s declares no path '%s' of the deployment's side",
				 effect->id, statement->path);
	if (inventory == (statement->paths_count == 0))
		return error_set(err, ERROR_INPUT, "paths: %s",
				 inventory ? "none, and an inventory lists those that were found"
					   : "only an inventory lists paths: []");
	for (size_t i = 0; i < statement->paths_count; i++)
		for (size_t other = 0; other < i; other++)
			if (strcmp(statement->paths[i], statement->paths[other]) == 0)
				return error_set(err, ERROR_INPUT, "paths[%zu]: '%s' twice", i, statement->paths[i]);
	return 0;
}

static int bind(struct assessment *statement, const struct effect *effect, struct error **err)
{
	char digest[HEX_SHA256];

	if (effect_digest(effect, digest, err) < 0)
		return -1;
	if (!statement->declaration[0])
		memcpy(statement->declaration, digest, sizeof(digest));
	if (strcmp(statement->declaration, digest) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, DECLARATION ": it must be %s, that of %s, or left out", digest, effect->id);
}

int assessment_check(struct assessment *statement, const struct effect *effects, size_t count, struct error **err)
{
	const struct effect *effect = NULL;
	bool known = false;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(effects[i].effect, statement->effect) != 0)
			continue;
		known = true;
		if (strcmp(effects[i].boundary.id, statement->boundary) == 0)
			effect = &effects[i];
	}
	if (!known)
		return error_set(err, ERROR_INPUT, "effect: nobody declares '%s': see `harness effects list`",
				 statement->effect);
	if (!effect)
		return error_set(err, ERROR_INPUT,
				 "boundary: '%s' is declared, and not for '%s': see `harness effects list`",
				 statement->effect, statement->boundary);
	if (strcmp(effect->revision, statement->revision) != 0)
		return error_set(err, ERROR_INPUT, "revision: '%s', and %s is declared for '%s'", statement->revision,
				 effect->id, effect->revision);
	if (strcmp(statement->from, statement->until) >= 0)
		return error_set(err, ERROR_INPUT, "until: it is not later than from");
	return check_paths(statement, effect, err) < 0 ? -1 : bind(statement, effect, err);
}

const char *const assessment_kind_names[] = { [ASSESSMENT_INVENTORY] = "inventory",
					      [ASSESSMENT_CONTROL] = "control",
					      [ASSESSMENT_OBSERVATION] = "observation",
					      NULL };

const char *const assessment_reason_names[] = { [ASSESSMENT_COUNTS] = "counts",
						[ASSESSMENT_UNSIGNED] = "unsigned",
						[ASSESSMENT_SELF_SIGNED] = "self_signed",
						[ASSESSMENT_UNKNOWN_KEY] = "unknown_key",
						[ASSESSMENT_OTHER_EFFECT] = "other_effect",
						[ASSESSMENT_OTHER_REVISION] = "other_revision",
						[ASSESSMENT_OTHER_BOUNDARY] = "other_boundary",
						[ASSESSMENT_OTHER_DECLARATION] = "other_declaration",
						[ASSESSMENT_NOT_YET] = "not_yet",
						[ASSESSMENT_EXPIRED] = "expired",
						[ASSESSMENT_OTHER_PATH] = "other_path",
						NULL };

#define SIZE(member) sizeof(((struct assessment *)0)->member)
#define TEXT(member, form)                                                                                             \
	.required = true, .type = SCHEMA_STRING, .pattern = (form), .size = SIZE(member),                              \
	.offset = offsetof(struct assessment, member)

/* At most FIELDS_MAX, with the end. */
const struct schema_field assessment_fields[] = {
	{ .key = "id", TEXT(id, PATTERN_ID) },
	{ .key = "kind",
	  .required = true,
	  .type = SCHEMA_ENUM,
	  .names = assessment_kind_names,
	  .offset = offsetof(struct assessment, kind) },
	{ .key = "effect", TEXT(effect, PATTERN_ID) },
	{ .key = "revision", TEXT(revision, PATTERN_ID) },
	{ .key = "boundary", TEXT(boundary, PATTERN_ID) },
	{ .key = DECLARATION, .min = HEX_SHA256 - 1, TEXT(declaration, PATTERN_HEX) },
	{ .key = "what", .min = 1, TEXT(what, PATTERN_ASCII) },
	{ .key = "path", .nullable = true, TEXT(path, PATTERN_FIELD) },
	{ .key = "paths",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_FIELD,
	  .size = SIZE(paths[0]),
	  .array_max = EFFECT_PATHS_MAX,
	  .offset = offsetof(struct assessment, paths),
	  .count_offset = offsetof(struct assessment, paths_count) },
	{ .key = "from", TEXT(from, PATTERN_TIME) },
	{ .key = "until", TEXT(until, PATTERN_TIME) },
	{ .key = NULL },
};
