#include "reports/claims.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"

#define EFFECTS_FILE "effects.json"
#define EFFECTS_SCHEMA "confinement-evidence/effects/1"
#define EFFECTS_BEGIN "{\"effects\":["
#define EFFECTS_END "],\"schema\":\"" EFFECTS_SCHEMA "\"}"
/* What a reader keeps in all has to hold it beside the other small members. */
#define EFFECTS_BYTES ((size_t)1 * MIB)

int effects_encode(const struct effect *effects, size_t count, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(EFFECTS_BYTES);

	buf_text(&text, EFFECTS_BEGIN);
	for (size_t i = 0; i < count; i++) {
		buf_text(&text, i ? "," : "");
		if (effect_canonical(&effects[i], &text, err) < 0)
			return error_wrap(err, EFFECTS_FILE);
	}
	buf_text(&text, EFFECTS_END);
	if (buf_check(&text, EFFECTS_FILE, err) < 0)
		return -1;
	buf_add(out, buf_string(&text), text.length);
	return buf_check(out, EFFECTS_FILE, err);
}

static int decode_list(const struct json_node *list, struct effect *out, struct error **err)
{
	size_t i = 0;

	for (const struct json_node *node = json_first(list); node; node = json_next(node), i++) {
		int result = effect_decode_sealed(node, EFFECTS_FILE, &out[i], err);

		if (result < 0)
			return result;
		if (i > 0 && strcmp(out[i - 1].id, out[i].id) >= 0)
			return error_set(err, ERROR_INPUT, "%s: effects[%zu]: not sorted by id, or twice", EFFECTS_FILE,
					 i);
	}
	return effect_check_set(out, i, err);
}

int effects_decode(const char *bytes, size_t length, struct effect **out, size_t *count, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct effect *effects = NULL;
	const struct json_node *root, *list;
	size_t total;
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, EFFECTS_FILE);
	root = json_root(document);
	list = json_member(root, "effects");
	if (!json_text_is(json_member(root, "schema"), EFFECTS_SCHEMA) || !list || json_type(list) != JSON_ARRAY ||
	    json_count(root) != 2)
		return error_unlisted(err, "%s: must be an object of 'schema' and 'effects' alone", EFFECTS_FILE);
	total = json_count(list);
	if (total > EFFECTS_MAX)
		return error_set(err, ERROR_INPUT, "%s: more than %d effects", EFFECTS_FILE, EFFECTS_MAX);
	effects = calloc(total + 1, sizeof(*effects));
	if (!effects)
		return error_set(err, ERROR_MEMORY, "no memory for %zu declarations", total);
	result = decode_list(list, effects, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&effects);
	*count = total;
	return 0;
}

int claims_of(const struct findings *findings, const struct effect *effect, struct claims *out, struct error **err)
{
	const struct assessing *assessing = findings->assessing;
	const struct assessors *named;
	cleanup_free struct assessment *statements = NULL;
	struct claims_run run = {
		.verdicts = findings->verdicts,
		.ended = findings->manifest->finished,
	};
	struct assessment_ground ground = { .effect = effect, .now = run.ended };

	if (!assessing)
		return claims_of_run(effect, &run, out, err);
	named = assessing->named ? assessing->named : &assessing->assessors;
	ground.keys = run.keys = (const char(*)[HEX_SHA256])named->names;
	ground.keys_count = run.keys_count = named->count;
	ground.run_keys = run.run_keys = (const char(*)[HEX_SHA256])assessing->run_keys;
	ground.run_keys_count = run.run_keys_count = assessing->run_keys_count;
	if (assessments_judged(&assessing->statements, &assessing->assessors, &ground, &statements, err) < 0)
		return -1;
	run.statements = statements;
	run.statements_count = assessing->statements.count;
	return claims_of_run(effect, &run, out, err);
}

int claims_member(const struct findings *findings, struct buf *out, struct error **err)
{
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));

	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	buf_text(out, CLAIMS_BEGIN);
	for (size_t i = 0; i < findings->effects_count; i++) {
		buf_text(out, i ? "," : "");
		if (claims_of(findings, &findings->effects[i], claims, err) < 0 ||
		    claims_encode_one(claims, out, err) < 0)
			return -1;
	}
	buf_text(out, CLAIMS_END);
	return buf_check(out, "claims.json", err);
}

static void put_status(const struct claims *claims, enum claim_status status, const char *word, struct buf *out)
{
	bool any = false;

	for (size_t id = 0; id < claims->claims_count; id++) {
		if (claims->claims[id].status != (int)status)
			continue;
		buf_printf(out, "%s%s", any ? ", " : word, claim_names[claims->claims[id].id]);
		any = true;
	}
}

/* Whether an arm took a path of it. */
static bool is_exercised(const struct verdicts *verdicts, const struct effect *effect)
{
	for (size_t path = 0; path < effect->paths_count; path++)
		for (size_t i = 0; i < effect->paths[path].scenarios_count; i++)
			for (size_t arm = 0; arm < verdicts->arms_count; arm++)
				if (strcmp(verdicts->arms[arm].scenario->id, effect->paths[path].scenarios[i]) == 0)
					return true;
	return false;
}

static bool has_key_before(const struct claims *claims, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (claims->statements[i].reason == ASSESSMENT_COUNTS &&
		    strcmp(claims->statements[i].by, claims->statements[at].by) == 0)
			return true;
	return false;
}

void claims_keys(const struct claims *claims, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < claims->statements_count; i++) {
		if (claims->statements[i].reason != ASSESSMENT_COUNTS || has_key_before(claims, i))
			continue;
		buf_printf(out, "%s%s", any ? ", " : "", claims->statements[i].by);
		any = true;
	}
}

bool claims_shows(const struct findings *findings, const struct effect *effects, size_t count, size_t effect, size_t at)
{
	const struct assessment *statement = &findings->assessing->statements.list[at].statement;

	for (size_t i = 0; i < count; i++)
		if (strcmp(effects[i].effect, statement->effect) == 0 &&
		    strcmp(effects[i].boundary.id, statement->boundary) == 0)
			return i == effect;
	return effect == 0;
}

bool claims_unmediated(const struct effect *effect, const struct claim_statement *statement)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (strcmp(effect->paths[i].id, statement->path) == 0)
			return statement->kind == ASSESSMENT_CONTROL && statement->reason == ASSESSMENT_COUNTS &&
			       strcmp(effect->paths[i].mediator, "none") == 0;
	return false;
}

static void put_keys(const struct claims *claims, struct buf *out)
{
	cleanup_buf struct buf keys = BUF(CLAIMS_KEYS_BYTES);

	claims_keys(claims, &keys);
	if (keys.length > 0)
		buf_printf(out, "; by statements of %s (the bundle's own word)", buf_string(&keys));
}

/* Whether all of them are as they are of a run that had nothing to do with the effect. */
static bool says_nothing(const struct claims *claims)
{
	for (size_t id = 0; id < claims->claims_count; id++)
		if (claims->claims[id].status != CLAIM_NOT_ESTABLISHED)
			return false;
	return true;
}

static void put_line(const struct claims *claims, struct buf *out)
{
	buf_printf(out, "claims: %s: %zu of %zu established", claims->id, claims_established(claims),
		   claims->claims_count);
	put_status(claims, CLAIM_REFUTED, "; refuted: ", out);
	put_status(claims, CLAIM_NOT_ESTABLISHED, "; not established: ", out);
	put_keys(claims, out);
	buf_text(out, "\n");
}

int claims_lines(const struct findings *findings, const char *bundle, struct buf *out, struct error **err)
{
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
	cleanup_buf struct buf idle = BUF(EFFECTS_BYTES);
	bool why = false;

	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	for (size_t i = 0; i < findings->effects_count; i++) {
		const struct effect *effect = &findings->effects[i];

		if (claims_of(findings, effect, claims, err) < 0)
			return -1;
		if (says_nothing(claims) && !is_exercised(findings->verdicts, effect)) {
			buf_printf(&idle, "%s%s", idle.length ? ", " : "claims: ", effect->id);
			continue;
		}
		put_line(claims, out);
		why |= claims_established(claims) < claims->claims_count;
	}
	if (findings->effects_count == 0)
		buf_text(out, "claims: none: no effect is declared for these scenarios\n");
	if (idle.length)
		buf_printf(out, "%s: not exercised by these scenarios\n", buf_string(&idle));
	if (why)
		buf_printf(out, "claims: `harness effects claims %s` says why\n", bundle);
	return buf_check(&idle, "the claims", err) < 0 ? -1 : buf_check(out, "the claims", err);
}

int claims_put(const struct findings *findings, struct json_writer *json, struct error **err)
{
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));

	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	json_array(json);
	for (size_t i = 0; i < findings->effects_count; i++) {
		if (claims_of(findings, &findings->effects[i], claims, err) < 0)
			return -1;
		schema_encode(claims_fields, claims, json);
	}
	json_array_end(json);
	return 0;
}

static const struct schema_field effects_document[];
static const struct schema_field claims_document[];

int effects_schema(struct buf *out, struct error **err)
{
	return schema_print(effects_document, EFFECTS_FILE " of a bundle, version 1", out, err);
}

int claims_schema(struct buf *out, struct error **err)
{
	return schema_print(claims_document, "claims.json of a bundle, version 1", out, err);
}

static const char *const effects_names[] = { EFFECTS_SCHEMA, NULL };
static const char *const claims_names[] = { CLAIMS_SCHEMA, NULL };

/* For the schemas alone: the lists are read and written an element at a time. */
static const struct schema_field effects_document[] = {
	{ .key = "schema", .required = true, .type = SCHEMA_ENUM, .names = effects_names },
	{ .key = "effects",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = effect_sealed_fields,
	  .array_max = EFFECTS_MAX },
	{ .key = NULL },
};

static const struct schema_field claims_document[] = {
	{ .key = "schema", .required = true, .type = SCHEMA_ENUM, .names = claims_names },
	{ .key = "effects",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = claims_fields,
	  .array_max = EFFECTS_MAX },
	{ .key = NULL },
};
