/* Claims: what rules are applied to, how a status comes of what they took away, and the form in which it is kept. */
#include "oracle/claims.h"

#include <stdio.h>
#include <string.h>

#include "core/fd.h"

/* What each says, and what it does not. */
static const struct claim_text {
	const char *says, *says_not;
	bool by_row; /* it is about rows: what their observers cannot tell is said beside it */
} texts[];

static void copy_path(char out[NAME_MAX_SHORT], const char *path)
{
	snprintf(out, NAME_MAX_SHORT, "%s", path);
}

static void cut(struct claim *claim, enum claim_list list)
{
	for (size_t i = 0; i < claim->cut_count; i++)
		if (claim->cut[i] == (int)list)
			return;
	claim->cut[claim->cut_count++] = (int)list;
}

void claim_unmet(struct claim *claim, enum claim_obligation obligation, const char *path)
{
	for (size_t i = 0; i < claim->unmet_count; i++)
		if (claim->unmet[i].obligation == (int)obligation && strcmp(claim->unmet[i].path, path) == 0)
			return;
	if (claim->unmet_count == CLAIM_UNMET_MAX) {
		cut(claim, CLAIM_LIST_UNMET);
		return;
	}
	claim->unmet[claim->unmet_count].obligation = (int)obligation;
	copy_path(claim->unmet[claim->unmet_count++].path, path);
}

void claim_refute(struct claim *claim, enum claim_refutation by, const char *path)
{
	for (size_t i = 0; i < claim->refuted_count; i++)
		if (claim->refuted[i].by == (int)by && strcmp(claim->refuted[i].path, path) == 0)
			return;
	if (claim->refuted_count == CLAIM_UNMET_MAX) {
		cut(claim, CLAIM_LIST_REFUTED);
		return;
	}
	claim->refuted[claim->refuted_count].by = (int)by;
	copy_path(claim->refuted[claim->refuted_count++].path, path);
}

void claim_rest_on(struct claim *claim, const char *id)
{
	for (size_t i = 0; i < claim->rests_on_count; i++)
		if (strcmp(claim->rests_on[i], id) == 0)
			return;
	if (claim->rests_on_count == CLAIM_RESTS_MAX)
		claim->rests_on_cut = true;
	else
		snprintf(claim->rests_on[claim->rests_on_count++], HEX_SHA256, "%s", id);
}

enum claim_status claim_status(const struct claim *claim)
{
	if (claim->refuted_count > 0)
		return CLAIM_REFUTED;
	return claim->unmet_count > 0 || claim->rests_on_count == 0 ? CLAIM_NOT_ESTABLISHED : CLAIM_ESTABLISHED;
}

/* Obligations and refutations that are about completeness belong to that half alone. */
static enum claim_status declared_mediation(const struct claim *claim)
{
	size_t unmet = 0, refuted = 0;

	for (size_t i = 0; i < claim->unmet_count; i++)
		unmet += claim->unmet[i].obligation != OBLIGATION_COMPLETENESS;
	for (size_t i = 0; i < claim->refuted_count; i++)
		refuted += claim->refuted[i].by != REFUTED_BY_CLAIM || claim->refuted[i].path[0];
	if (refuted > 0)
		return CLAIM_REFUTED;
	return unmet > 0 || claim->rests_on_count == 0 ? CLAIM_NOT_ESTABLISHED : CLAIM_ESTABLISHED;
}

static void name_halves(struct claims *claims)
{
	struct claim_non_bypassability *both = &claims->non_bypassability;

	both->completeness = (int)claim_status(&claims->claims[CLAIM_COMPLETENESS]);
	both->mediation = (int)declared_mediation(&claims->claims[CLAIM_MEDIATION]);
	both->status = both->completeness > both->mediation ? both->completeness : both->mediation;
}

static int take_statements(const struct claim_input *input, struct claims *claims, struct error **err)
{
	if (input->statements_count > CLAIM_STATEMENTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d statements", CLAIM_STATEMENTS_MAX);
	for (size_t i = 0; i < input->statements_count; i++) {
		const struct assessment *statement = &input->statements[i];
		struct claim_statement *one = &claims->statements[claims->statements_count++];

		snprintf(one->id, sizeof(one->id), "%s", statement->id);
		one->kind = statement->kind;
		copy_path(one->path, statement->path);
		snprintf(one->what, sizeof(one->what), "%s", statement->what);
		snprintf(one->by, sizeof(one->by), "%s", statement->key);
		one->reason = (int)assessment_judge(statement, &input->ground);
	}
	return 0;
}

static void say_unseen(const struct effect *effect, struct claim *claim)
{
	static const enum effect_sight sights[] = { EFFECT_SEES_TRANSACTION, EFFECT_SEES_ROLE };

	for (size_t i = 0; i < ARRAY_SIZE(sights); i++)
		if (!effect_sees(effect, sights[i]))
			claim->unseen[claim->unseen_count++] = (int)sights[i];
}

static void begin(const struct claim_input *input, struct claims *out)
{
	const struct effect *effect = input->effect;

	memset(out, 0, sizeof(*out));
	snprintf(out->id, sizeof(out->id), "%s", effect->id);
	snprintf(out->effect, sizeof(out->effect), "%s", effect->effect);
	snprintf(out->boundary, sizeof(out->boundary), "%s", effect->boundary.id);
	snprintf(out->revision, sizeof(out->revision), "%s", effect->revision);
	out->claims_count = CLAIMS;
	for (int id = 0; id < CLAIMS; id++) {
		struct claim *claim = &out->claims[id];

		claim->id = id;
		snprintf(claim->says, sizeof(claim->says), "%s", texts[id].says);
		snprintf(claim->says_not, sizeof(claim->says_not), "%s", texts[id].says_not);
		if (texts[id].by_row)
			say_unseen(effect, claim);
	}
}

int claims_derive_by(const struct claim_rule *rules, size_t count, const struct claim_input *given, struct claims *out,
		     struct error **err)
{
	struct claim_input bound = *given;
	const struct claim_input *input = &bound;

	begin(input, out);
	if (effect_digest(input->effect, out->declaration, err) < 0)
		return -1;
	memcpy(bound.ground.declaration, out->declaration, sizeof(out->declaration));
	if (take_statements(input, out, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		rules[i].apply(input, out, &out->claims[rules[i].claim]);
	for (int id = 0; id < CLAIMS; id++) {
		struct claim *claim = &out->claims[id];

		if (claim->rests_on_count == 0)
			claim_unmet(claim, OBLIGATION_EVIDENCE, "");
		claim->status = (int)claim_status(claim);
	}
	name_halves(out);
	return 0;
}

int claims_derive(const struct claim_input *input, struct claims *out, struct error **err)
{
	return claims_derive_by(claim_rules, claim_rules_count, input, out, err);
}

int claims_encode_one(const struct claims *claims, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	struct json_writer writer;
	int result;

	json_begin(&writer, &text);
	schema_encode(claims_fields, claims, &writer);
	result = buf_check(&text, "claims.json", err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

int claims_encode(const struct claims *claims, size_t count, struct buf *out, struct error **err)
{
	buf_text(out, CLAIMS_BEGIN);
	for (size_t i = 0; i < count; i++) {
		buf_text(out, i ? "," : "");
		if (claims_encode_one(&claims[i], out, err) < 0)
			return -1;
	}
	buf_text(out, CLAIMS_END);
	return buf_check(out, "claims.json", err);
}

const char *const claim_names[] = {
	[CLAIM_AUTHORIZATION] = "authorization",  [CLAIM_CORRELATION] = "correlation",
	[CLAIM_OBSERVATION] = "observation",      [CLAIM_COMPLETENESS] = "path_set_completeness",
	[CLAIM_MEDIATION] = "complete_mediation", NULL,
};

const char *const claim_status_names[] = {
	[CLAIM_ESTABLISHED] = "established",
	[CLAIM_NOT_ESTABLISHED] = "not_established",
	[CLAIM_REFUTED] = "refuted",
	NULL,
};

const char *const claim_obligation_names[] = {
	[OBLIGATION_EVIDENCE] = "evidence",
	[OBLIGATION_REVISION] = "revision",
	[OBLIGATION_EXERCISE] = "exercise",
	[OBLIGATION_DECISION] = "decision_record",
	[OBLIGATION_CORRELATION] = "correlation",
	[OBLIGATION_READ_BACK] = "read_back",
	[OBLIGATION_UNIQUE_CALL] = "unique_call",
	[OBLIGATION_OBSERVER] = "observer_sight",
	[OBLIGATION_EFFECT] = "effect_as_made",
	[OBLIGATION_COVERAGE] = "observation_coverage",
	[OBLIGATION_MEDIATOR] = "mediator",
	[OBLIGATION_AUTHORIZATION] = "authorization",
	[OBLIGATION_COMPLETENESS] = "path_set_completeness",
	[OBLIGATION_INVENTORY] = "inventory",
	[OBLIGATION_CONTROL] = "control_evidence",
	[OBLIGATION_INDEPENDENT] = "independent_observation",
	NULL,
};

const char *const claim_list_names[] = {
	[CLAIM_LIST_REFUTED] = "refutedBy",
	[CLAIM_LIST_UNMET] = "unmet",
	NULL,
};

const char *const claim_refutation_names[] = {
	[REFUTED_BY_BYPASS] = "bypass",
	[REFUTED_BY_DENIED] = "effect_of_denied_call",
	[REFUTED_BY_ROW_WITHOUT_CALL] = "effect_without_call",
	[REFUTED_BY_ROW_AGAIN] = "second_effect_of_call",
	[REFUTED_BY_COPIED_ID] = "copied_id",
	[REFUTED_BY_UNDECLARED_PATH] = "undeclared_path",
	[REFUTED_BY_UNEXPLAINED_ROW] = "unexplained_effect",
	[REFUTED_BY_CLAIM] = "refuted_claim",
	NULL,
};

static const struct claim_text texts[] = {
	[CLAIM_AUTHORIZATION] = {
		.says = "each call of this run on an authorised path has an entry of the audit chain that allows it",
		.says_not = "that the policy which allowed it is right, or that nothing else could call the tool",
	},
	[CLAIM_CORRELATION] = {
		.says = "each effect on an authorised path belongs to one allowed call, and each allowed call has one",
		.says_not = "that no other effect exists, or who is behind the caller",
		.by_row = true,
	},
	[CLAIM_OBSERVATION] = {
		.says = "the effect itself was looked at on each exercised path, by an observer that proved its sight",
		.says_not = "anything of a path that was not exercised, or of a time outside the arms",
		.by_row = true,
	},
	[CLAIM_COMPLETENESS] = {
		.says = "an assessor outside this run found exactly the declared paths in this revision of the boundary",
		.says_not = "that no path exists which nobody looked for; listing paths does not show it",
	},
	[CLAIM_MEDIATION] = {
		.says = "every path of a complete set is mediated: the agent's by exercise, the deployment's by assessment",
		.says_not = "anything of another revision, another boundary, or encodings and channels that were not tried",
	},
};

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define TEXT(owner, member, form)                                                                                      \
	.required = true, .type = SCHEMA_STRING, .pattern = (form), .size = SIZE(owner, member),                       \
	.offset = offsetof(struct owner, member)
#define PATH(owner) .nullable = true, TEXT(owner, path, PATTERN_FIELD)
#define NAMED(owner, member, list)                                                                                     \
	.required = true, .type = SCHEMA_ENUM, .names = (list), .offset = offsetof(struct owner, member)
#define MANY(owner, member, most)                                                                                      \
	.required = true, .array_max = (most), .offset = offsetof(struct owner, member),                               \
	.count_offset = offsetof(struct owner, member##_count)
#define OBJECTS(owner, member, table, most)                                                                            \
	.type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(owner, member[0]), MANY(owner, member, most)

static const struct schema_field unmet_fields[] = {
	{ .key = "obligation", NAMED(claim_unmet, obligation, claim_obligation_names) },
	{ .key = "path", PATH(claim_unmet) },
	{ .key = NULL },
};

static const struct schema_field refuted_fields[] = {
	{ .key = "by", NAMED(claim_refuted, by, claim_refutation_names) },
	{ .key = "path", PATH(claim_refuted) },
	{ .key = NULL },
};

static const struct schema_field claim_fields[] = {
	{ .key = "claim", NAMED(claim, id, claim_names) },
	{ .key = "status", NAMED(claim, status, claim_status_names) },
	{ .key = "says", TEXT(claim, says, PATTERN_ASCII) },
	{ .key = "saysNot", TEXT(claim, says_not, PATTERN_ASCII) },
	{ .key = "unmet", OBJECTS(claim, unmet, unmet_fields, CLAIM_UNMET_MAX) },
	{ .key = "refutedBy", OBJECTS(claim, refuted, refuted_fields, CLAIM_UNMET_MAX) },
	{ .key = "restsOn",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_ID,
	  .size = HEX_SHA256,
	  MANY(claim, rests_on, CLAIM_RESTS_MAX) },
	{ .key = "restsOnCut", .required = true, .type = SCHEMA_BOOL, .offset = offsetof(struct claim, rests_on_cut) },
	{ .key = "cut",
	  .type = SCHEMA_ENUM,
	  .names = claim_list_names,
	  .array_min = 1,
	  .array_max = CLAIM_LISTS,
	  .offset = offsetof(struct claim, cut),
	  .count_offset = offsetof(struct claim, cut_count) },
	{ .key = "unseen", .type = SCHEMA_ENUM, .names = effect_sight_names, MANY(claim, unseen, EFFECT_SIGHTS_MAX) },
	{ .key = NULL },
};

static const struct schema_field non_bypassability_fields[] = {
	{ .key = "status", NAMED(claim_non_bypassability, status, claim_status_names) },
	{ .key = "completeness", NAMED(claim_non_bypassability, completeness, claim_status_names) },
	{ .key = "mediation", NAMED(claim_non_bypassability, mediation, claim_status_names) },
	{ .key = NULL },
};

static const struct schema_field statements_fields[] = {
	{ .key = "id", TEXT(claim_statement, id, PATTERN_ID) },
	{ .key = "kind", NAMED(claim_statement, kind, assessment_kind_names) },
	{ .key = "path", PATH(claim_statement) },
	{ .key = "what", .min = 1, TEXT(claim_statement, what, PATTERN_ASCII) },
	{ .key = "by", .nullable = true, TEXT(claim_statement, by, PATTERN_HEX) },
	{ .key = "reason", NAMED(claim_statement, reason, assessment_reason_names) },
	{ .key = NULL },
};

const struct schema_field claims_fields[] = {
	{ .key = "id", TEXT(claims, id, PATTERN_ID) },
	{ .key = "effect", TEXT(claims, effect, PATTERN_ID) },
	{ .key = "boundary", TEXT(claims, boundary, PATTERN_ID) },
	{ .key = "revision", TEXT(claims, revision, PATTERN_ID) },
	{ .key = "declarationSha256", .min = HEX_SHA256 - 1, TEXT(claims, declaration, PATTERN_HEX) },
	{ .key = "claims", .array_min = CLAIMS, OBJECTS(claims, claims, claim_fields, CLAIMS) },
	{ .key = "nonBypassability",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = non_bypassability_fields,
	  .size = SIZE(claims, non_bypassability),
	  .offset = offsetof(struct claims, non_bypassability) },
	{ .key = "statements", OBJECTS(claims, statements, statements_fields, CLAIM_STATEMENTS_MAX) },
	{ .key = NULL },
};
