/* The declarations that the run was made with, and the claims, derived again from them and from the verdicts. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/verify_parts.h"

/* What is read is written again: nothing can stand in a member that its reader passes over. */
static int read_effects(struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_EFFECTS].text;
	cleanup_buf struct buf again = BUF(BUNDLE_FILE_BYTES);

	if (effects_decode(buf_string(text), text->length, &bundle->effects, &bundle->effects_count, err) < 0 ||
	    effects_encode(bundle->effects, bundle->effects_count, &again, err) < 0)
		return -1;
	if (text->length == again.length && memcmp(buf_string(text), buf_string(&again), again.length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is not in its canonical form", member_kinds[MEMBER_EFFECTS].name);
}

static int check_ran(const struct bundle *bundle, struct error **err)
{
	for (size_t i = 0; i < bundle->effects_count; i++)
		if (effect_check_ran(&bundle->effects[i], bundle->scenarios, bundle->scenarios_count,
				     member_kinds[MEMBER_EFFECTS].name, err) < 0)
			return error_wrap(err, "effects[%zu]", i);
	return 0;
}

static bool is_listed(const struct manifest *manifest, const char *program)
{
	for (size_t i = 0; i < manifest->programs_count; i++)
		if (strcmp(manifest->programs[i].name, program) == 0)
			return true;
	return false;
}

/* Whether an observer before this one is the same program. */
static bool is_again(const struct bundle *bundle, size_t effect, size_t at)
{
	const char *program = bundle->effects[effect].observers[at].program;

	for (size_t i = 0; i <= effect; i++)
		for (size_t n = 0; n < (i < effect ? bundle->effects[i].observers_count : at); n++)
			if (strcmp(bundle->effects[i].observers[n].program, program) == 0)
				return true;
	return false;
}

static size_t own_programs(void)
{
	size_t count = 0;

	while (manifest_program_names[count])
		count++;
	return count;
}

/* Of each program that a declaration brings the manifest has the digest; a run of this version lists nothing more. */
static int check_observers(const struct bundle *bundle, struct error **err)
{
	const struct manifest *manifest = &bundle->manifest;
	size_t declared = 0;

	for (size_t i = 0; i < bundle->effects_count; i++)
		for (size_t at = 0; at < bundle->effects[i].observers_count; at++) {
			const char *program = bundle->effects[i].observers[at].program;

			if (program[0] && !is_listed(manifest, program))
				return error_set(err, ERROR_INPUT,
						 "effects[%zu].observers[%zu]: manifest.json does not list its program",
						 i, at);
			declared += program[0] && !is_again(bundle, i, at);
		}
	if (bundle->newer || strcmp(manifest->version, HARNESS_VERSION) != 0 ||
	    manifest->programs_count == own_programs() + declared)
		return 0;
	return error_set(err, ERROR_INPUT, "manifest.json: producer.programs: %zu behind those of a run, %zu declared",
			 manifest->programs_count - own_programs(), declared);
}

int check_effects(struct bundle *bundle, struct error **err)
{
	if (read_effects(bundle, err) >= 0 && check_ran(bundle, err) >= 0 && check_observers(bundle, err) >= 0 &&
	    check_assessments(bundle, err) >= 0)
		return 0;
	bundle->effects_count = 0;
	return -(int)error_code(*err);
}

/* The first effect, and of it the first claim, of which something else is sealed than follows. */
static int blame_effect(const struct bundle *bundle, size_t at, struct claims *claims, struct error **err)
{
	const struct sealed_claims *sealed = &bundle->sealed_claims[at];
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	char sha256[HEX_SHA256];

	if (claims_of(&bundle->findings, &bundle->effects[at], claims, err) < 0 ||
	    claims_encode_one(claims, &text, err) < 0)
		return -1;
	hash_bytes(buf_string(&text), text.length, sha256);
	if (strcmp(sha256, sealed->sha256) == 0)
		return 0;
	for (size_t id = 0; id < CLAIMS; id++)
		if (sealed->words[id] != claims->claims[id].status)
			return error_set(err, ERROR_INPUT,
					 "claims.json: effects[%zu]: %s is sealed as %s, derived again it is %s", at,
					 claim_names[id],
					 sealed->words[id] < 0 ? "no status" : claim_status_names[sealed->words[id]],
					 claim_status_names[claims->claims[id].status]);
	return error_unlisted(err, "claims.json: effects[%zu] is not what its declaration and the verdicts say", at);
}

static int blame(const struct bundle *bundle, struct error **err)
{
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));

	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	if (bundle->sealed_claims_count != bundle->effects_count)
		return error_set(err, ERROR_INPUT, "claims.json: %zu effects, %zu are declared",
				 bundle->sealed_claims_count, bundle->effects_count);
	for (size_t i = 0; i < bundle->effects_count; i++) {
		int result = blame_effect(bundle, i, claims, err);

		if (result < 0)
			return result;
	}
	return error_unlisted(err, "claims.json is not what declarations and verdicts say");
}

int check_claims(struct bundle *bundle, struct error **err)
{
	bool alike = false;
	int result = bundle_made_alike(bundle, MEMBER_CLAIMS, bundle_make, &alike, err);

	if (result < 0)
		return result;
	return alike ? 0 : blame(bundle, err);
}
