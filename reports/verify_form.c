/* The bundle as files: the exact set, hashes both ways, canonical bytes, and a grammar that has no room for a payload.
 */
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/schema.h"
#include "reports/coverage.h"
#include "reports/environment.h"
#include "reports/verify_parts.h"

#define SUMS_BYTES (8 * KIB)
#define TEXT_MAX 160
#define PROTECTIONS_MAX 256

int check_members(struct bundle *bundle, struct error **err)
{
	for (int i = 0; i < MEMBERS; i++) {
		if (!bundle->members[i].present && member_needed(i, bundle->minor))
			return error_set(err, ERROR_INPUT, "%s is missing", member_kinds[i].name);
		if (bundle->members[i].present && !member_known(i, bundle->minor))
			return error_set(err, ERROR_INPUT, "%s is no member of version %d.%d of the format",
					 member_kinds[i].name, bundle->major, bundle->minor);
	}
	if (bundle->strangers_count > 0 && !bundle->newer)
		return error_set(err, ERROR_INPUT, "there is a member that schema version 1 does not have");
	if (bundle->disordered)
		return error_set(err, ERROR_INPUT, "the members are not sorted by name");
	return 0;
}

static int check_sum(const struct buf *sums, size_t *at, const char *sha256, const char *name, struct error **err)
{
	cleanup_buf struct buf line = BUF(SUMS_BYTES);

	buf_printf(&line, "%s  %s\n", sha256, name);
	if (buf_check(&line, BUNDLE_SUMS, err) < 0)
		return -1;
	if (sums->length - *at < line.length || memcmp(sums->data + *at, line.data, line.length) != 0)
		return error_set(err, ERROR_INPUT, BUNDLE_SUMS " does not have the digest of %s", name);
	*at += line.length;
	return 0;
}

/* What a newer minor version has besides stands between the others; `before` NULL: all that are left. */
static int check_strangers(const struct bundle *bundle, size_t *next, const char *before, size_t *at,
			   struct error **err)
{
	int result = 0;

	for (; *next < bundle->strangers_count && result >= 0; (*next)++) {
		const struct stranger *stranger = &bundle->strangers[*next];

		if (before && strcmp(stranger->name, before) >= 0)
			return 0;
		result = check_sum(&bundle->members[MEMBER_SUMS].text, at, stranger->sha256, stranger->name, err);
		/* Its name is nobody's of ours. */
		if (result < 0) {
			error_free(*err);
			*err = NULL;
			return error_set(err, ERROR_INPUT, BUNDLE_SUMS " does not have the digest of a member");
		}
	}
	return result;
}

/* SHA256SUMS has one form only, so it is made again; the first line that differs is named. */
int check_sums(struct bundle *bundle, struct error **err)
{
	const struct buf *sums = &bundle->members[MEMBER_SUMS].text;
	size_t at = 0, next = 0;
	int result = 0;

	for (int i = 0; i < MEMBERS && result >= 0; i++) {
		result = check_strangers(bundle, &next, member_kinds[i].name, &at, err);
		if (result >= 0 && bundle->members[i].present && member_in_sums(i))
			result = check_sum(sums, &at, bundle->members[i].sha256, member_kinds[i].name, err);
	}
	if (result >= 0)
		result = check_strangers(bundle, &next, NULL, &at, err);
	if (result < 0)
		return result;
	return at == sums->length ? 0 : error_set(err, ERROR_INPUT, BUNDLE_SUMS " lists more than there is");
}

static int check_listed(const struct bundle *bundle, const struct manifest_file *file, int i, struct error **err)
{
	const struct read_member *member = &bundle->members[i];

	if (strcmp(file->path, member_kinds[i].name) != 0)
		return error_set(err, ERROR_INPUT, "manifest.json does not list %s in its place", member_kinds[i].name);
	if (file->bytes != (int64_t)member->bytes)
		return error_set(err, ERROR_INPUT, "manifest.json has another size of %s", member_kinds[i].name);
	if (strcmp(file->sha256, member->sha256) != 0)
		return error_set(err, ERROR_INPUT, "manifest.json has another digest of %s", member_kinds[i].name);
	return 0;
}

/* The minor version of the format that has declarations. */
#define DECLARED_SINCE 1

/* A gateway by URL is never composed by the run, and no other can lack a raised one. */
static int check_gateway(const struct manifest_gateway *gateway, struct error **err)
{
	bool foreign = gateway->kind == GATEWAY_URL;

	if (gateway->composed == foreign || (gateway->raised && !foreign) || (!gateway->sha256[0] != foreign))
		return error_set(err, ERROR_INPUT, "manifest.json: gateway: not as its kind has it");
	return 0;
}

/* A run measures them all, whatever it was of, and behind them what its declarations bring: check_effects() has that.
 * Another version of the program may have others. */
static int check_programs(const struct manifest *manifest, struct error **err)
{
	const struct manifest_gateway *gateway = &manifest->gateway;
	size_t count = 0;

	for (; manifest_program_names[count]; count++)
		if (count == manifest->programs_count ||
		    strcmp(manifest->programs[count].name, manifest_program_names[count]) != 0)
			return error_set(err, ERROR_INPUT, "manifest.json: producer.programs: no '%s' in its place",
					 manifest_program_names[count]);
	if (count != manifest->programs_count && manifest->minor < DECLARED_SINCE)
		return error_set(err, ERROR_INPUT, "manifest.json: producer.programs: more than a run has");
	for (size_t i = 0; i < count && gateway->kind == GATEWAY_EMBEDDED; i++)
		if (strcmp(manifest->programs[i].name, "harness-gateway") == 0 &&
		    strcmp(manifest->programs[i].sha256, gateway->sha256) != 0)
			return error_set(err, ERROR_INPUT, "manifest.json: gateway: not the program that is listed");
	return 0;
}

/* Passes over what a newer minor version lists besides: SHA256SUMS has its digest. */
static size_t skip_strangers(const struct bundle *bundle, size_t listed)
{
	const struct manifest *manifest = &bundle->manifest;

	while (bundle->newer && listed < manifest->files_count && member_find(manifest->files[listed].path) < 0)
		listed++;
	return listed;
}

int check_manifest(struct bundle *bundle, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	struct manifest *manifest = &bundle->manifest;
	size_t listed = 0;
	int result = bundle_own_manifest(bundle, &text, err);

	if (result >= 0)
		result = manifest_decode(buf_string(&text), text.length, manifest, err);
	for (int i = 0; i < MEMBERS && result >= 0; i++) {
		if (!bundle->members[i].present || !member_in_manifest(i))
			continue;
		listed = skip_strangers(bundle, listed);
		if (listed == manifest->files_count)
			return error_set(err, ERROR_INPUT, "manifest.json does not list %s", member_kinds[i].name);
		result = check_listed(bundle, &manifest->files[listed++], i, err);
	}
	if (result < 0)
		return result;
	if (skip_strangers(bundle, listed) != manifest->files_count)
		return error_set(err, ERROR_INPUT, "manifest.json lists more than there is");
	if (strcmp(manifest->started, manifest->finished) > 0)
		return error_set(err, ERROR_INPUT, "manifest.json: the run ended before it started");
	result = check_gateway(&manifest->gateway, err);
	if (result < 0 || bundle->newer || strcmp(manifest->version, HARNESS_VERSION) != 0)
		return result;
	return check_programs(manifest, err);
}

static int same_bytes(const struct bundle *bundle, int member, const struct buf *again, struct error **err)
{
	const struct buf *text = &bundle->members[member].text;

	if (text->length == again->length && memcmp(buf_string(text), buf_string(again), again->length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is not in its canonical form", member_kinds[member].name);
}

static int check_text(const struct bundle *bundle, int i, struct error **err)
{
	const struct read_member *member = &bundle->members[i];

	if (!member->why)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is not in its canonical form: %s, at byte %llu", member_kinds[i].name,
			 member->why, (unsigned long long)member->at);
}

static bool in_plan(const struct plan *plan, const struct scenario *scenario)
{
	for (size_t i = 0; i < plan->arms_count; i++)
		if (plan->arms[i].scenario == scenario)
			return true;
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i].scenario == scenario)
			return true;
	return false;
}

/* What is read is written again: nothing can stand in a member that its reader passes over. */
static int read_plan(struct bundle *bundle, struct error **err)
{
	const struct buf *coverage = &bundle->members[MEMBER_COVERAGE].text;
	cleanup_buf struct buf plan = BUF(BUNDLE_FILE_BYTES);
	int result;

	if (bundle->scenarios_count == 0)
		return error_set(err, ERROR_INPUT, "scenarios.json: must have 1 to %d scenarios", PLAN_SCENARIOS_MAX);
	result = coverage_decode(buf_string(coverage), coverage->length, bundle->scenarios, bundle->scenarios_count,
				 &bundle->plan, err);
	if (result >= 0)
		result = coverage_encode(bundle->plan, &plan, err);
	if (result >= 0)
		result = same_bytes(bundle, MEMBER_COVERAGE, &plan, err);
	for (size_t i = 0; i < bundle->scenarios_count && result >= 0; i++)
		if (!in_plan(bundle->plan, &bundle->scenarios[i]))
			return error_set(err, ERROR_INPUT, "scenarios.json: scenarios[%zu] is not in the plan", i);
	return result;
}

int bundle_prepare(struct bundle *bundle, struct error **err)
{
	cleanup_error struct error *why = NULL;

	if (bundle->unread || bundle->unread_arms)
		return 0;
	if (read_plan(bundle, &why) < 0)
		return bundle_keep_first(&bundle->unread, &why, err);
	/* Before the judge needs memory too. */
	if (check_set(bundle, &why) < 0 && bundle_keep_first(&bundle->loose, &why, err) < 0)
		return -ERROR_MEMORY;
	if (check_records(bundle, &why) < 0)
		return bundle_keep_first(&bundle->unfit, &why, err);
	if (judgement_new(bundle->plan, bundle->arms, bundle->arms_count, BUNDLE_CELLS_MAX, &bundle->judgement, &why) <
	    0)
		return bundle_keep_first(&bundle->unfit, &why, err);
	return 0;
}

int check_canonical(struct bundle *bundle, struct error **err)
{
	int result = 0;

	for (int i = 0; i < MEMBERS && result >= 0; i++)
		if (bundle->members[i].present && bundle_is_json(i))
			result = check_text(bundle, i, err);
	if (result >= 0 && bundle->bad_line && bundle->bad_form)
		return error_unlisted(err, "observations.jsonl: line %zu is no observation", bundle->bad_line);
	if (result >= 0 && bundle->bad_line)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is not in its canonical form",
				 bundle->bad_line);
	if (result >= 0)
		result = bundle_give(&bundle->unread, err);
	if (result >= 0)
		result = bundle_give(&bundle->unread_arms, err);
	return result < 0 ? result : check_optional(bundle, err);
}

/* profile.json: what the adapter wrote, as a closed form. */
struct protection {
	char id[NAME_MAX_SHORT];
	char setting[TEXT_MAX];
	bool required;
	char rule[NAME_MAX_SHORT];
};
struct profile_document {
	int schema;
	char id[NAME_MAX_SHORT];
	struct protection protections[PROTECTIONS_MAX];
	size_t protections_count;
	int64_t pids, memory, swap, shm, core_soft, core_hard;
};
static const struct schema_field profile_fields[];

static int check_profile(const struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_PROFILE].text;
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct profile_document *profile = calloc(1, sizeof(*profile));
	int result;

	if (!profile)
		return error_set(err, ERROR_MEMORY, "no memory for profile.json");
	result = json_parse(buf_string(text), text->length, JSON_DEPTH, &document, err);
	if (result < 0)
		return error_wrap(err, "profile.json");
	return schema_decode(profile_fields, json_root(document), "profile.json", profile, sizeof(*profile), err);
}

int check_grammar(struct bundle *bundle, struct error **err)
{
	const struct buf *environment = &bundle->members[MEMBER_ENVIRONMENT].text;
	int result = 0;

	if (bundle->strange_shape)
		return error_set(err, ERROR_INPUT, "a member that is not known holds what has a canary's shape");
	for (int i = 0; i < MEMBERS; i++)
		if (bundle->members[i].shape_seen)
			return error_set(err, ERROR_INPUT, "%s holds what has a canary's shape", member_kinds[i].name);
	for (int i = 0; i < MEMBERS && result >= 0; i++)
		if (bundle->members[i].foreign)
			result = error_set(err, ERROR_INPUT, "%s: a text outside the grammar", member_kinds[i].name);
	if (result >= 0 && bundle->bad_line && bundle->bad_form)
		return error_unlisted(err, "observations.jsonl: line %zu is no observation", bundle->bad_line);
	if (result >= 0)
		result = check_profile(bundle, err);
	return result < 0 ? result : environment_check(buf_string(environment), environment->length, err);
}

int profile_schema(struct buf *out, struct error **err)
{
	return schema_print(profile_fields, "profile.json of a bundle, version 1", out, err);
}

static const char *const profile_schema_names[] = { "confinement-evidence/profile/1", NULL };

#define AT(owner, member) .required = true, .offset = offsetof(struct owner, member)
#define TEXT(owner, member, form)                                                                                      \
	.type = SCHEMA_STRING, .pattern = (form), .size = sizeof(((struct owner *)0)->member), AT(owner, member)
#define COUNT(member) .type = SCHEMA_INT, .max = EVIDENCE_INT_MAX, AT(profile_document, member)

static const struct schema_field protection_fields[] = {
	{ .key = "id", TEXT(protection, id, PATTERN_ID) },
	{ .key = "setting", TEXT(protection, setting, PATTERN_ASCII) },
	{ .key = "required", .type = SCHEMA_BOOL, AT(protection, required) },
	{ .key = "admissionRule", TEXT(protection, rule, PATTERN_ID) },
	{ .key = NULL },
};

static const struct schema_field limit_fields[] = {
	{ .key = "pids", COUNT(pids) },
	{ .key = "memoryBytes", COUNT(memory) },
	{ .key = "memorySwapBytes", COUNT(swap) },
	{ .key = "shmBytes", COUNT(shm) },
	{ .key = "coreSoft", COUNT(core_soft) },
	{ .key = "coreHard", COUNT(core_hard) },
	{ .key = NULL },
};

static const struct schema_field profile_fields[] = {
	{ .key = "schema", .type = SCHEMA_ENUM, .names = profile_schema_names, AT(profile_document, schema) },
	{ .key = "id", TEXT(profile_document, id, PATTERN_ID) },
	{ .key = "protections",
	  .type = SCHEMA_OBJECT,
	  .fields = protection_fields,
	  .size = sizeof(struct protection),
	  .array_max = PROTECTIONS_MAX,
	  .array_min = 1,
	  .count_offset = offsetof(struct profile_document, protections_count),
	  AT(profile_document, protections) },
	{ .key = "limits",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = limit_fields,
	  .size = sizeof(struct profile_document) },
	{ .key = NULL },
};
