#include "gateway/config.h"

#include <string.h>

#include "core/json.h"

#define FILE_NAME "gateway"
#define CALL_MS_MAX 600000

static int check_tools(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->catalog_count; i++) {
		const struct gateway_tool *row = &config->catalog[i];

		if (gateway_config_tool(config, row->tool) != row)
			return error_set(err, ERROR_INPUT, FILE_NAME ": catalog[%zu].tool: listed twice", i);
		if ((size_t)row->server >= config->servers_count)
			return error_set(err, ERROR_INPUT, FILE_NAME ": catalog[%zu].server: no such server", i);
	}
	for (size_t i = 0; i < config->sink_policy.tools_count; i++) {
		const struct gateway_ceiling *row = &config->sink_policy.tools[i];

		if (gateway_config_ceiling(config, row->tool) != row->max)
			return error_set(err, ERROR_INPUT,
					 FILE_NAME ": sinkPolicy.toolMaxSensitivity[%zu].tool: listed twice", i);
	}
	return 0;
}

static int check_servers(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->servers_count; i++) {
		const struct gateway_server *row = &config->servers[i];

		if (row->command[0] != '/')
			return error_set(err, ERROR_INPUT, FILE_NAME ": servers[%zu].command: not absolute", i);
		if (row->pass_fd >= 0 && row->pass_fd < GATEWAY_FD_PASS)
			return error_set(err, ERROR_INPUT, FILE_NAME ": servers[%zu].passFd: one of the gateway's own",
					 i);
	}
	return 0;
}

int gateway_config_read(const char *bytes, size_t length, struct gateway_config *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int r = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (r < 0)
		return error_wrap(err, FILE_NAME);
	r = schema_decode(gateway_config_fields, json_root(document), FILE_NAME, out, sizeof(*out), err);
	if (r == 0)
		r = check_tools(out, err);
	return r < 0 ? r : check_servers(out, err);
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

#define NAME_FIELD(name, owner, member)                                                                                \
	.key = name, .type = SCHEMA_STRING, .required = true, .pattern = PATTERN_ID,                                   \
	.offset = offsetof(struct owner, member), .size = sizeof(((struct owner *)0)->member)

static const struct schema_field session_fields[] = {
	{ NAME_FIELD("sensitivity", gateway_session, sensitivity) },
	{ .key = NULL },
};

static const struct schema_field ceiling_fields[] = {
	{ NAME_FIELD("tool", gateway_ceiling, tool) },
	{ NAME_FIELD("max", gateway_ceiling, max) },
	{ .key = NULL },
};

static const struct schema_field sink_policy_fields[] = {
	{ .key = "toolMaxSensitivity",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct gateway_sink_policy, tools),
	  .size = sizeof(struct gateway_ceiling),
	  .fields = ceiling_fields,
	  .array_max = GATEWAY_TOOLS_MAX,
	  .count_offset = offsetof(struct gateway_sink_policy, tools_count) },
	{ NAME_FIELD("responseMaxSensitivity", gateway_sink_policy, response) },
	{ .key = NULL },
};

static const struct schema_field tool_fields[] = {
	{ NAME_FIELD("tool", gateway_tool, tool) },
	{ NAME_FIELD("sensitivity", gateway_tool, sensitivity) },
	{ .key = "server",
	  .type = SCHEMA_INT,
	  .required = true,
	  .offset = offsetof(struct gateway_tool, server),
	  .min = 0,
	  .max = GATEWAY_SERVERS_MAX - 1 },
	{ .key = NULL },
};

static const struct schema_field server_fields[] = {
	{ .key = "command",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .offset = offsetof(struct gateway_server, command),
	  .size = GATEWAY_PATH_BYTES,
	  .min = 2,
	  .pattern = PATTERN_ASCII },
	{ .key = "sha256",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .offset = offsetof(struct gateway_server, sha256),
	  .size = HEX_SHA256,
	  .min = HEX_SHA256 - 1,
	  .pattern = PATTERN_HEX },
	{ .key = "arguments",
	  .type = SCHEMA_STRING,
	  .offset = offsetof(struct gateway_server, arguments),
	  .size = GATEWAY_ARGUMENT_BYTES,
	  .pattern = PATTERN_ASCII,
	  .array_max = GATEWAY_ARGUMENTS_MAX,
	  .count_offset = offsetof(struct gateway_server, arguments_count) },
	{ .key = "passFd",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_server, pass_fd),
	  .min = -1,
	  .max = GATEWAY_FD_MAX,
	  .value = -1 },
	{ .key = NULL },
};

const struct schema_field gateway_config_fields[] = {
	{ .key = "session",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct gateway_config, session),
	  .size = sizeof(struct gateway_session),
	  .fields = session_fields },
	{ .key = "sinkPolicy",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct gateway_config, sink_policy),
	  .size = sizeof(struct gateway_sink_policy),
	  .fields = sink_policy_fields },
	{ .key = "catalog",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct gateway_config, catalog),
	  .size = sizeof(struct gateway_tool),
	  .fields = tool_fields,
	  .array_max = GATEWAY_TOOLS_MAX,
	  .count_offset = offsetof(struct gateway_config, catalog_count) },
	{ .key = "servers",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct gateway_config, servers),
	  .size = sizeof(struct gateway_server),
	  .fields = server_fields,
	  .array_max = GATEWAY_SERVERS_MAX,
	  .count_offset = offsetof(struct gateway_config, servers_count) },
	{ .key = "callMs",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_config, call_ms),
	  .min = 1,
	  .max = CALL_MS_MAX,
	  .value = GATEWAY_CALL_MS },
	{ .key = NULL },
};
