#include "gateway/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/json.h"
#include "gateway/catalog.h"
#include "gateway/decision.h"

#define FILE_NAME "gateway"
#define CALL_MS_MAX 600000
#define PORT_MAX 65535
#define RANK_MAX 1000
#define BUDGET_MAX 1000000

static int check_ceilings(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->sink_policy.tools_count; i++) {
		const struct gateway_ceiling *row = &config->sink_policy.tools[i];

		if (gateway_config_ceiling(config, row->tool) != row->max)
			return error_set(err, ERROR_INPUT,
					 FILE_NAME ": sinkPolicy.toolMaxSensitivity[%zu].tool: listed twice", i);
	}
	return 0;
}

static int check_vocabulary(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->vocabulary_count; i++) {
		const char *label = config->vocabulary[i].label;

		if (gateway_label_rank(label) != LABEL_UNKNOWN)
			return error_set(err, ERROR_INPUT, FILE_NAME ": vocabulary[%zu].label: it is built in", i);
		if (gateway_config_label(config, label) != label)
			return error_set(err, ERROR_INPUT, FILE_NAME ": vocabulary[%zu].label: listed twice", i);
	}
	return 0;
}

static int check_allow(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->allow_count; i++)
		if (!gateway_config_tool(config, config->allow[i]))
			return error_set(err, ERROR_INPUT, FILE_NAME ": allow[%zu]: not in the catalog", i);
	return 0;
}

static int check_http(const struct gateway_config *config, struct error **err)
{
	const char *address = config->http.address;

	/* Anybody else's machine would be a way in that nobody watches. */
	if (address[0] && strcmp(address, "127.0.0.1") != 0 && strcmp(address, "::1") != 0)
		return error_set(err, ERROR_INPUT, FILE_NAME ": http.address: neither 127.0.0.1 nor ::1");
	if (address[0] && !config->http.token_file[0] && !config->http.open)
		return error_set(err, ERROR_INPUT,
				 FILE_NAME
				 ": http.tokenFile: missing; \"open\": true lets whoever is on this host call");
	return 0;
}

/* In place; negative when it becomes too long. */
static int below(const char *folder, char *path, struct error **err)
{
	char whole[GATEWAY_PATH_BYTES];

	if (!folder || !path[0] || path[0] == '/')
		return 0;
	if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", folder, path) >= sizeof(whole))
		return error_set(err, ERROR_INPUT, FILE_NAME ": a path is too long");
	memcpy(path, whole, sizeof(whole));
	return 0;
}

static int place(struct gateway_config *config, const char *folder, struct error **err)
{
	char *const paths[] = { config->catalog_file, config->http.token_file, config->http.operator_token_file,
				config->audit.path };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (below(folder, paths[i], err) < 0)
			return -1;
	return 0;
}

static int take_catalog(struct gateway_config *config, struct error **err)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	cleanup_buf struct buf bytes = BUF(CATALOG_BYTES);

	if (!catalog)
		return error_set(err, ERROR_MEMORY, "no memory for a catalog");
	if (config->catalog_count || config->servers_count)
		return error_set(err, ERROR_INPUT, FILE_NAME ": catalogFile: catalog or servers are given too");
	if (fd_read_file(AT_FDCWD, config->catalog_file, CATALOG_BYTES, &bytes, err) < 0)
		return error_wrap(err, "the catalog's file");
	if (catalog_read(buf_string(&bytes), bytes.length, catalog, err) < 0)
		return -1;
	memcpy(config->catalog, catalog->tools, sizeof(config->catalog));
	memcpy(config->servers, catalog->servers, sizeof(config->servers));
	config->catalog_count = catalog->tools_count;
	config->servers_count = catalog->servers_count;
	hash_bytes(bytes.data, bytes.length, config->catalog_sha256);
	return 0;
}

static int take(struct gateway_config *config, struct error **err)
{
	if (config->catalog_file[0])
		return take_catalog(config, err);
	memcpy(config->catalog_sha256, config->policy_sha256, sizeof(config->catalog_sha256));
	return catalog_check(config->catalog, config->catalog_count, config->servers, config->servers_count, FILE_NAME,
			     err);
}

int gateway_config_read(const char *bytes, size_t length, const char *folder, struct gateway_config *out,
			struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, FILE_NAME);
	if (schema_decode(gateway_config_fields, json_root(document), FILE_NAME, out, sizeof(*out), err) < 0)
		return -1;
	hash_bytes(bytes, length, out->policy_sha256);
	if (out->response_bytes == 0)
		out->response_bytes = GATEWAY_RESPONSE_BYTES;
	if (place(out, folder, err) < 0 || take(out, err) < 0 || check_ceilings(out, err) < 0 ||
	    check_vocabulary(out, err) < 0 || check_allow(out, err) < 0)
		return -1;
	return check_http(out, err);
}

const struct gateway_tool *gateway_config_tool(const struct gateway_config *config, const char *name)
{
	for (size_t i = 0; name && i < config->catalog_count; i++)
		if (strcmp(config->catalog[i].tool, name) == 0)
			return &config->catalog[i];
	return NULL;
}

const char *gateway_config_ceiling(const struct gateway_config *config, const char *tool)
{
	for (size_t i = 0; i < config->sink_policy.tools_count; i++)
		if (strcmp(config->sink_policy.tools[i].tool, tool) == 0)
			return config->sink_policy.tools[i].max;
	return NULL;
}

bool gateway_config_allows(const struct gateway_config *config, const char *tool)
{
	for (size_t i = 0; i < config->allow_count; i++)
		if (strcmp(config->allow[i], tool) == 0)
			return true;
	return config->allow_count == 0;
}

static const struct gateway_label *own_label(const struct gateway_config *config, const char *label)
{
	for (size_t i = 0; label && i < config->vocabulary_count; i++)
		if (strcmp(config->vocabulary[i].label, label) == 0)
			return &config->vocabulary[i];
	return NULL;
}

int gateway_config_rank(const struct gateway_config *config, const char *label)
{
	const struct gateway_label *own = own_label(config, label);

	return own ? (int)own->rank : gateway_label_rank(label);
}

const char *gateway_config_label(const struct gateway_config *config, const char *label)
{
	const struct gateway_label *own = own_label(config, label);

	return own ? own->label : gateway_label_name(label);
}

#define NAME_FIELD(name, owner, member)                                                                                \
	.key = name, .type = SCHEMA_STRING, .required = true, .pattern = PATTERN_ID,                                   \
	.offset = offsetof(struct owner, member), .size = sizeof(((struct owner *)0)->member)
#define TEXT_FIELD(name, owner, member)                                                                                \
	.key = name, .type = SCHEMA_STRING, .pattern = PATTERN_ASCII, .min = 1,                                        \
	.offset = offsetof(struct owner, member), .size = sizeof(((struct owner *)0)->member)
#define PART_FIELD(name, member, table)                                                                                \
	.key = name, .type = SCHEMA_OBJECT, .offset = offsetof(struct gateway_config, member),                         \
	.size = sizeof(((struct gateway_config *)0)->member), .fields = (table)
#define LIST_FIELD(name, owner, member, type_, table)                                                                  \
	.key = name, .type = SCHEMA_OBJECT, .offset = offsetof(struct owner, member), .size = sizeof(struct type_),    \
	.fields = (table), .array_max = ARRAY_SIZE(((struct owner *)0)->member),                                       \
	.count_offset = offsetof(struct owner, member##_count)

static const struct schema_field session_fields[] = {
	{ NAME_FIELD("sensitivity", gateway_session, sensitivity) },
	{ .key = NULL },
};

static const struct schema_field ceiling_fields[] = {
	{ .key = "tool",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .pattern = PATTERN_FIELD,
	  .offset = offsetof(struct gateway_ceiling, tool),
	  .size = GATEWAY_TOOL_BYTES },
	{ NAME_FIELD("max", gateway_ceiling, max) },
	{ .key = NULL },
};

static const struct schema_field sink_policy_fields[] = {
	{ LIST_FIELD("toolMaxSensitivity", gateway_sink_policy, tools, gateway_ceiling, ceiling_fields),
	  .required = true },
	{ NAME_FIELD("responseMaxSensitivity", gateway_sink_policy, response) },
	{ .key = NULL },
};

static const struct schema_field label_fields[] = {
	{ NAME_FIELD("label", gateway_label, label) },
	{ .key = "rank",
	  .type = SCHEMA_INT,
	  .required = true,
	  .offset = offsetof(struct gateway_label, rank),
	  .min = 0,
	  .max = RANK_MAX },
	{ .key = NULL },
};

static const struct schema_field http_fields[] = {
	{ TEXT_FIELD("address", gateway_http, address), .required = true },
	{ .key = "port", .type = SCHEMA_INT, .offset = offsetof(struct gateway_http, port), .min = 0, .max = PORT_MAX },
	{ TEXT_FIELD("tokenFile", gateway_http, token_file) },
	{ TEXT_FIELD("operatorTokenFile", gateway_http, operator_token_file) },
	{ .key = "open", .type = SCHEMA_BOOL, .offset = offsetof(struct gateway_http, open) },
	{ .key = NULL },
};

static const struct schema_field audit_fields[] = {
	{ TEXT_FIELD("path", gateway_audit, path), .required = true },
	{ .key = NULL },
};

static const struct schema_field telemetry_fields[] = {
	{ TEXT_FIELD("endpoint", gateway_telemetry, endpoint), .required = true },
	{ TEXT_FIELD("service", gateway_telemetry, service) },
	{ .key = NULL },
};

const struct schema_field gateway_config_fields[] = {
	{ PART_FIELD("session", session, session_fields), .required = true },
	{ PART_FIELD("sinkPolicy", sink_policy, sink_policy_fields), .required = true },
	{ LIST_FIELD("vocabulary", gateway_config, vocabulary, gateway_label, label_fields) },
	{ .key = "allow",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_FIELD,
	  .offset = offsetof(struct gateway_config, allow),
	  .size = GATEWAY_TOOL_BYTES,
	  .array_max = GATEWAY_TOOLS_MAX,
	  .array_min = 1,
	  .count_offset = offsetof(struct gateway_config, allow_count) },
	{ .key = "scanArguments",
	  .type = SCHEMA_BOOL,
	  .offset = offsetof(struct gateway_config, scan_arguments),
	  .value = true },
	{ .key = "scanResponses",
	  .type = SCHEMA_BOOL,
	  .offset = offsetof(struct gateway_config, scan_responses),
	  .value = true },
	{ .key = "budget",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_config, budget),
	  .min = 0,
	  .max = BUDGET_MAX },
	{ .key = "responseBytes",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_config, response_bytes),
	  .min = 0,
	  .max = GATEWAY_RESPONSE_BYTES },
	{ TEXT_FIELD("catalogFile", gateway_config, catalog_file) },
	{ LIST_FIELD("catalog", gateway_config, catalog, gateway_tool, catalog_tool_fields) },
	{ LIST_FIELD("servers", gateway_config, servers, gateway_server, catalog_server_fields) },
	{ .key = "callMs",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_config, call_ms),
	  .min = 1,
	  .max = CALL_MS_MAX,
	  .value = GATEWAY_CALL_MS },
	{ PART_FIELD("http", http, http_fields) },
	{ PART_FIELD("audit", audit, audit_fields) },
	{ PART_FIELD("telemetry", telemetry, telemetry_fields) },
	{ .key = NULL },
};
