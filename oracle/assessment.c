#include "oracle/assessment.h"

#include <string.h>

/* The last instant of the year 9999. */
#define SECONDS_MAX INT64_C(253402300799)

static bool is_unsigned(const struct assessment *statement, const struct assessment_ground *ground)
{
	(void)ground;
	return statement->key[0] == '\0';
}

static bool is_self_signed(const struct assessment *statement, const struct assessment_ground *ground)
{
	return strcmp(statement->key, ground->run_key) == 0;
}

static bool is_of_unknown_key(const struct assessment *statement, const struct assessment_ground *ground)
{
	for (size_t i = 0; i < ground->keys_count; i++)
		if (strcmp(ground->keys[i], statement->key) == 0)
			return false;
	return true;
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

static bool is_not_yet(const struct assessment *statement, const struct assessment_ground *ground)
{
	return ground->now_s < statement->from_s;
}

static bool is_expired(const struct assessment *statement, const struct assessment_ground *ground)
{
	return ground->now_s >= statement->until_s;
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
						[ASSESSMENT_NOT_YET] = "not_yet",
						[ASSESSMENT_EXPIRED] = "expired",
						[ASSESSMENT_OTHER_PATH] = "other_path",
						NULL };

#define SIZE(member) sizeof(((struct assessment *)0)->member)
#define TEXT(member, form)                                                                                             \
	.required = true, .type = SCHEMA_STRING, .pattern = (form), .size = SIZE(member),                              \
	.offset = offsetof(struct assessment, member)
#define SECONDS(member)                                                                                                \
	.required = true, .type = SCHEMA_INT, .min = 0, .max = SECONDS_MAX,                                            \
	.offset = offsetof(struct assessment, member)

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
	{ .key = "path", .nullable = true, TEXT(path, PATTERN_FIELD) },
	{ .key = "paths",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_FIELD,
	  .size = SIZE(paths[0]),
	  .array_max = EFFECT_PATHS_MAX,
	  .offset = offsetof(struct assessment, paths),
	  .count_offset = offsetof(struct assessment, paths_count) },
	{ .key = "from", SECONDS(from_s) },
	{ .key = "until", SECONDS(until_s) },
	{ .key = NULL },
};
