#include "reports/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/canary.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/schema.h"
#include "oracle/observation.h"
#include "reports/members.h"

#define FILE_NAME "manifest.json"
#define TEXT_BYTES ((size_t)256 * KIB)
#define CANARY_BITS 128
#define ENCODINGS_MAX 64
#define PROFILE_FILE "profile.json"

/* The document. Its words that never vary are enums of one value. */
struct document {
	struct manifest manifest;
	int producer, profile_id, format, mediation, overall;
	char profile[HEX_SHA256];
	int64_t bits;
	bool value_included, complete;
	char encodings[ENCODINGS_MAX][NAME_MAX_SHORT];
	size_t encodings_count;
	int64_t scanned_files, scanned_bytes, hits;
	int64_t arms, arms_not_ok, cells, mutations, observations, pass, fail, not_established;
};
static const struct schema_field document_fields[];
static const struct manifest_origin unknown_origin;

static void set(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
}

static void fill_counts(struct document *document, const struct manifest_facts *facts)
{
	const struct verdicts *verdicts = facts->verdicts;

	document->arms = (int64_t)facts->arms;
	document->arms_not_ok = (int64_t)verdicts->arms_not_ok;
	document->cells = (int64_t)verdicts->cells_count;
	document->mutations = (int64_t)verdicts->mutations_count;
	document->observations = (int64_t)facts->observations;
	document->pass = (int64_t)verdicts->pass;
	document->fail = (int64_t)verdicts->fail;
	document->not_established = (int64_t)verdicts->not_established;
	document->overall = (int)verdicts->overall;
}

static void fill_files(struct document *document, const struct manifest_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		document->manifest.files[i] = files[i];
		document->scanned_bytes += files[i].bytes;
		if (strcmp(files[i].path, PROFILE_FILE) == 0)
			memcpy(document->profile, files[i].sha256, sizeof(document->profile));
	}
	document->manifest.files_count = count;
	document->scanned_files = (int64_t)count;
}

static void fill(struct document *document, const struct manifest_facts *facts)
{
	struct manifest *manifest = &document->manifest;

	manifest->minor = facts->minor;
	set(manifest->run, sizeof(manifest->run), facts->run);
	set(manifest->started, sizeof(manifest->started), facts->started);
	set(manifest->finished, sizeof(manifest->finished), facts->finished);
	set(manifest->version, sizeof(manifest->version), facts->version);
	set(manifest->image, sizeof(manifest->image), facts->image);
	manifest->gateway = facts->gateway;
	memcpy(manifest->programs, facts->programs, facts->programs_count * sizeof(manifest->programs[0]));
	manifest->programs_count = facts->programs_count;
	manifest->canaries = (int64_t)facts->canaries;
	document->bits = CANARY_BITS;
	document->complete = true;
	for (size_t i = 0; i < canary_encodings() && i < ENCODINGS_MAX; i++)
		set(document->encodings[document->encodings_count++], NAME_MAX_SHORT, canary_encoding_name(i));
	manifest->origin = facts->origin ? *facts->origin : unknown_origin;
	fill_counts(document, facts);
}

int manifest_write(const struct manifest_facts *facts, const struct manifest_file *files, size_t count, struct buf *out,
		   struct error **err)
{
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct json_writer json;
	int result;

	if (!document)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	if (count > MANIFEST_FILES_MAX || facts->programs_count > MANIFEST_PROGRAMS_MAX)
		return error_set(err, ERROR_INTERNAL, "%s: more files or programs than it lists", FILE_NAME);
	fill(document, facts);
	fill_files(document, files, count);
	json_begin(&json, &text);
	schema_encode(document_fields, document, &json);
	result = buf_check(&text, FILE_NAME, err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

static int measure(const struct bundle_member *member, struct manifest_file *out, struct error **err)
{
	struct stat status;

	set(out->path, sizeof(out->path), member->name);
	if (member->bytes) {
		out->bytes = (int64_t)member->length;
		hash_bytes(member->bytes, member->length, out->sha256);
		return 0;
	}
	if (fstat(member->fd, &status) < 0)
		return error_errno(err, errno, "%s", member->name);
	out->bytes = status.st_size;
	return hash_fd(member->fd, out->sha256, err);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct manifest_file *)a)->path, ((const struct manifest_file *)b)->path);
}

int manifest_encode(const struct manifest_facts *facts, const struct bundle_member *members, size_t count,
		    struct buf *out, struct error **err)
{
	struct manifest_file files[MANIFEST_FILES_MAX];
	size_t listed = 0;
	int result = 0;

	if (count > MANIFEST_FILES_MAX)
		return error_set(err, ERROR_INTERNAL, "%s: more than %d files", FILE_NAME, MANIFEST_FILES_MAX);
	for (size_t i = 0; i < count && result >= 0; i++)
		if (member_in_manifest(member_find(members[i].name)))
			result = measure(&members[i], &files[listed++], err);
	if (result < 0)
		return result;
	qsort(files, listed, sizeof(files[0]), by_path);
	return manifest_write(facts, files, listed, out, err);
}

int manifest_decode(const char *bytes, size_t length, struct manifest *out, struct error **err)
{
	cleanup_json struct json_document *text = NULL;
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	int result;

	if (!document)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	result = json_parse(bytes, length, JSON_DEPTH, &text, err);
	if (result < 0)
		return error_wrap(err, FILE_NAME);
	result = schema_decode(document_fields, json_root(text), FILE_NAME, document, sizeof(*document), err);
	if (result >= 0)
		*out = document->manifest;
	return result;
}

int manifest_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

/* By the minor version. */
static const char *const schema_names[] = {
	"confinement-evidence/1.0",
	[MANIFEST_MINOR] = MANIFEST_SCHEMA,
	NULL,
};
static const char *const producer_names[] = { "harness", NULL };
static const char *const format_names[] = { "canary-[a-p]{32}", NULL };
static const char *const executor_names[] = { [EXECUTOR_LOCAL] = "local", [EXECUTOR_CI] = "ci", NULL };
const char *const manifest_image_stores[] = { "unknown", "graphdriver", "containerd", NULL };
static const char *const profile_names[] = { "reference", NULL };
static const char *const mediation_names[] = { "NOT_CLAIMED", NULL };

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define TEXT(owner, member, form)                                                                                      \
	.required = true, .type = SCHEMA_STRING, .pattern = (form), .size = SIZE(owner, member),                       \
	.offset = offsetof(struct owner, member)
#define DIGEST(owner, member) .min = HEX_SHA256 - 1, TEXT(owner, member, PATTERN_HEX)
#define COUNT(owner, member)                                                                                           \
	.required = true, .type = SCHEMA_INT, .max = EVIDENCE_INT_MAX, .offset = offsetof(struct owner, member)
#define FLAG(member) .required = true, .type = SCHEMA_BOOL, .offset = offsetof(struct document, member)
#define NAMED(list, member)                                                                                            \
	.required = true, .type = SCHEMA_ENUM, .names = (list), .offset = offsetof(struct document, member)
#define REPEAT(member)                                                                                                 \
	.required = true, .type = SCHEMA_INT, .max = PLAN_REPEAT_MAX, .offset = offsetof(struct document, member)
#define GIT(member) .nullable = true, .min = GIT_DIGITS - 1, TEXT(document, manifest.origin.member, PATTERN_HEX)
#define PART(member)                                                                                                   \
	.required = true, .type = SCHEMA_INT, .max = PLAN_SHARDS_MAX,                                                  \
	.offset = offsetof(struct document, manifest.origin.shard.member)
/* A group of the document's own members. */
#define GROUP(table) .required = true, .type = SCHEMA_OBJECT, .fields = (table), .size = sizeof(struct document)

static const struct schema_field program_fields[] = {
	{ .key = "name", TEXT(manifest_program, name, PATTERN_ID) },
	{ .key = "sha256", DIGEST(manifest_program, sha256) },
	{ .key = NULL },
};

static const struct schema_field producer_fields[] = {
	{ .key = "name", NAMED(producer_names, producer) },
	{ .key = "version", .min = 1, TEXT(document, manifest.version, PATTERN_ASCII) },
	{ .key = "gitCommit", GIT(build.commit) },
	{ .key = "gitTree", GIT(build.tree) },
	{ .key = "dirty", FLAG(manifest.origin.build.dirty) },
	{ .key = "buildId", .nullable = true, DIGEST(document, manifest.origin.build.id) },
	{ .key = "compiler", .nullable = true, TEXT(document, manifest.origin.build.compiler, PATTERN_ASCII) },
	{ .key = "programs",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = program_fields,
	  .size = sizeof(struct manifest_program),
	  .array_max = MANIFEST_PROGRAMS_MAX,
	  .offset = offsetof(struct document, manifest.programs),
	  .count_offset = offsetof(struct document, manifest.programs_count) },
	{ .key = NULL },
};

static const struct schema_field image_fields[] = {
	{ .key = "id", DIGEST(document, manifest.image) },
	{ .key = "configSha256", .nullable = true, DIGEST(document, manifest.origin.image_config) },
	{ .key = "imageStore", NAMED(manifest_image_stores, manifest.origin.image_store) },
	{ .key = "architecture", .nullable = true, TEXT(document, manifest.origin.architecture, PATTERN_ID) },
	{ .key = NULL },
};

static const struct schema_field gateway_fields[] = {
	{ .key = "kind",
	  .required = true,
	  .type = SCHEMA_ENUM,
	  .names = gateway_kind_names,
	  .offset = offsetof(struct manifest_gateway, kind) },
	{ .key = "version", .min = 1, TEXT(manifest_gateway, version, PATTERN_ASCII) },
	{ .key = "sha256", .nullable = true, DIGEST(manifest_gateway, sha256) },
	{ .key = "composed",
	  .required = true,
	  .type = SCHEMA_BOOL,
	  .offset = offsetof(struct manifest_gateway, composed) },
	{ .key = "raised", .required = true, .type = SCHEMA_BOOL, .offset = offsetof(struct manifest_gateway, raised) },
	{ .key = NULL },
};

static const struct schema_field executor_fields[] = {
	{ .key = "kind", NAMED(executor_names, manifest.origin.executor) },
	{ .key = "id", .nullable = true, TEXT(document, manifest.origin.executor_id, PATTERN_ID) },
	{ .key = NULL },
};

static const struct schema_field shard_fields[] = {
	{ .key = "index", .min = 1, PART(index) },
	{ .key = "of", .min = 1, PART(of) },
	{ .key = NULL },
};

static const struct schema_field source_fields[] = {
	{ .key = "runId", .min = 32, TEXT(manifest_source, run, PATTERN_HEX) },
	{ .key = "sumsSha256", DIGEST(manifest_source, sums) },
	{ .key = NULL },
};

static const struct schema_field profile_fields[] = {
	{ .key = "id", NAMED(profile_names, profile_id) },
	{ .key = "sha256", DIGEST(document, profile) },
	{ .key = NULL },
};

static const struct schema_field file_fields[] = {
	{ .key = "path", TEXT(manifest_file, path, PATTERN_ID) },
	{ .key = "bytes", COUNT(manifest_file, bytes) },
	{ .key = "sha256", DIGEST(manifest_file, sha256) },
	{ .key = NULL },
};

static const struct schema_field canary_fields[] = {
	{ .key = "format", NAMED(format_names, format) },
	{ .key = "bits", COUNT(document, bits) },
	{ .key = "count", COUNT(document, manifest.canaries) },
	{ .key = "valueIncluded", FLAG(value_included) },
	{ .key = NULL },
};

static const struct schema_field scan_fields[] = {
	{ .key = "encodings",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_ID,
	  .size = NAME_MAX_SHORT,
	  .array_max = ENCODINGS_MAX,
	  .offset = offsetof(struct document, encodings),
	  .count_offset = offsetof(struct document, encodings_count) },
	{ .key = "files", COUNT(document, scanned_files) },
	{ .key = "bytes", COUNT(document, scanned_bytes) },
	{ .key = "hits", COUNT(document, hits) },
	{ .key = NULL },
};

static const struct schema_field count_fields[] = {
	{ .key = "arms", COUNT(document, arms) },
	{ .key = "armsNotOk", COUNT(document, arms_not_ok) },
	{ .key = "cells", COUNT(document, cells) },
	{ .key = "mutations", COUNT(document, mutations) },
	{ .key = "observations", COUNT(document, observations) },
	{ .key = "pass", COUNT(document, pass) },
	{ .key = "fail", COUNT(document, fail) },
	{ .key = "notEstablished", COUNT(document, not_established) },
	{ .key = NULL },
};

static const struct schema_field claim_fields[] = {
	{ .key = "confinement_in_declared_path_set", NAMED(verdict_names, overall) },
	{ .key = "universal_effect_mediation", NAMED(mediation_names, mediation) },
	{ .key = NULL },
};

static const struct schema_field document_fields[] = {
	{ .key = "schema", NAMED(schema_names, manifest.minor) },
	{ .key = "runId", .min = 32, TEXT(document, manifest.run, PATTERN_HEX) },
	{ .key = "startedAt", TEXT(document, manifest.started, PATTERN_TIME) },
	{ .key = "finishedAt", TEXT(document, manifest.finished, PATTERN_TIME) },
	{ .key = "producer", GROUP(producer_fields) },
	{ .key = "image", GROUP(image_fields) },
	{ .key = "gateway",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = gateway_fields,
	  .size = sizeof(struct manifest_gateway),
	  .offset = offsetof(struct document, manifest.gateway) },
	{ .key = "profile", GROUP(profile_fields) },
	{ .key = "executor", GROUP(executor_fields) },
	{ .key = "selection",
	  .required = true,
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_ID,
	  .size = ID_MAX,
	  .array_max = PLAN_SELECTORS_MAX,
	  .offset = offsetof(struct document, manifest.origin.selection),
	  .count_offset = offsetof(struct document, manifest.origin.selection_count) },
	{ .key = "planSha256", .nullable = true, DIGEST(document, manifest.origin.plan) },
	{ .key = "seed", COUNT(document, manifest.origin.seed) },
	{ .key = "repeat", .min = 1, REPEAT(manifest.origin.repeat) },
	{ .key = "shard", GROUP(shard_fields) },
	{ .key = "mergedFrom",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = source_fields,
	  .size = sizeof(struct manifest_source),
	  .array_max = PLAN_SHARDS_MAX,
	  .offset = offsetof(struct document, manifest.origin.merged),
	  .count_offset = offsetof(struct document, manifest.origin.merged_count) },
	/* Absent where it is no replay. */
	{ .key = "replayOf",
	  .type = SCHEMA_OBJECT,
	  .fields = source_fields,
	  .size = sizeof(struct manifest_source),
	  .offset = offsetof(struct document, manifest.origin.replay_of) },
	{ .key = "files",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = file_fields,
	  .size = sizeof(struct manifest_file),
	  .array_max = MANIFEST_FILES_MAX,
	  .offset = offsetof(struct document, manifest.files),
	  .count_offset = offsetof(struct document, manifest.files_count) },
	{ .key = "canary", GROUP(canary_fields) },
	{ .key = "leakScan", GROUP(scan_fields) },
	{ .key = "counts", GROUP(count_fields) },
	{ .key = "complete", FLAG(complete) },
	{ .key = "claims", GROUP(claim_fields) },
	{ .key = NULL },
};

const char *const manifest_program_names[] = {
	"agent",
	"audit-trap",
	"bridge",
	"gateway-mutant",
	"harness-gateway",
	"hostile-collector",
	"hostile-gateway",
	"hostile-orders",
	"hostile-upstream",
	"mcp-http",
	"netns-beacon",
	"observer-audit",
	"observer-bytes",
	"observer-capture",
	"observer-children",
	"observer-client",
	"observer-correlation",
	"observer-correlation-pg",
	"observer-deliveries",
	"observer-files",
	"observer-logs",
	"observer-orders",
	"observer-orders-pg",
	"observer-spans",
	"observer-state",
	"observer-tcp",
	"observer-udp",
	"order-database",
	"order-import",
	"order-service",
	"order-writer",
	"otlp-export",
	"recorder",
	"refusals",
	"stop",
	"watchdog",
	"harness",
	NULL,
};

static const struct manifest_origin unknown_origin = { .repeat = 1, .shard = { .index = 1, .of = 1 } };
