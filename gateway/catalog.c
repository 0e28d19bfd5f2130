#include "gateway/catalog.h"

#include <string.h>

#include "core/hash.h"
#include "core/json_python.h"

#define FILE_NAME "catalog"
#define DEFINITION_BYTES (256 * KIB)

static int check_program(const struct gateway_server *row, size_t index, const char *file, struct error **err)
{
	if (row->command[0] != '/')
		return error_set(err, ERROR_INPUT, "%s: servers[%zu].command: not absolute", file, index);
	if (!row->sha256[0])
		return error_set(err, ERROR_INPUT, "%s: servers[%zu].sha256: missing", file, index);
	if (row->script[0] && row->script[0] != '/')
		return error_set(err, ERROR_INPUT, "%s: servers[%zu].script: not absolute", file, index);
	if (row->pass_fd >= 0 && row->pass_fd < GATEWAY_FD_PASS)
		return error_set(err, ERROR_INPUT, "%s: servers[%zu].passFd: one of the gateway's own", file, index);
	for (size_t i = 0; i < row->environment_count; i++)
		if (!strchr(row->environment[i], '=') || row->environment[i][0] == '=')
			return error_set(err, ERROR_INPUT, "%s: servers[%zu].environment[%zu]: not NAME=VALUE", file,
					 index, i);
	return 0;
}

static int check_server(const struct gateway_server *row, size_t index, const char *file, struct error **err)
{
	if (!row->url[0] && !row->command[0])
		return error_set(err, ERROR_INPUT, "%s: servers[%zu]: neither a command nor a url", file, index);
	if (row->url[0] && row->command[0])
		return error_set(err, ERROR_INPUT, "%s: servers[%zu]: a command and a url", file, index);
	if (row->url[0] && strncmp(row->url, "http://", strlen("http://")) != 0)
		return error_set(err, ERROR_INPUT, "%s: servers[%zu].url: not http://", file, index);
	return row->url[0] ? 0 : check_program(row, index, file, err);
}

int catalog_check(const struct gateway_tool *tools, size_t tools_count, const struct gateway_server *servers,
		  size_t servers_count, const char *file, struct error **err)
{
	for (size_t i = 0; i < tools_count; i++) {
		for (size_t k = 0; k < i; k++)
			if (strcmp(tools[k].tool, tools[i].tool) == 0)
				return error_set(err, ERROR_INPUT, "%s: catalog[%zu].tool: listed twice", file, i);
		if ((size_t)tools[i].server >= servers_count)
			return error_set(err, ERROR_INPUT, "%s: catalog[%zu].server: no such server", file, i);
	}
	for (size_t i = 0; i < servers_count; i++)
		if (check_server(&servers[i], i, file, err) < 0)
			return -1;
	return 0;
}

int catalog_read(const char *bytes, size_t length, struct catalog *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, FILE_NAME);
	if (schema_decode(catalog_fields, json_root(document), FILE_NAME, out, sizeof(*out), err) < 0)
		return -1;
	return catalog_check(out->tools, out->tools_count, out->servers, out->servers_count, FILE_NAME, err);
}

/* Of an absent member, what the reference gateway puts in its place. */
static void put_member(struct json_writer *writer, const char *key, const struct json_node *value, const char *absent)
{
	struct json_span raw =
		value ? json_raw(value) : (struct json_span){ .bytes = absent, .length = strlen(absent) };

	json_put_key(writer, key);
	json_put_raw(writer, raw.bytes, raw.length);
}

int catalog_definition_hash(const struct json_node *definition, char out[HEX_SHA256], struct error **err)
{
	cleanup_buf struct buf text = BUF(DEFINITION_BYTES), canonical = BUF(DEFINITION_BYTES);
	struct json_writer writer;

	json_begin(&writer, &text);
	json_object(&writer);
	put_member(&writer, "description", json_member(definition, "description"), "\"\"");
	put_member(&writer, "input_schema", json_member(definition, "inputSchema"), "{}");
	put_member(&writer, "output_schema", json_member(definition, "outputSchema"), "null");
	json_object_end(&writer);
	if (buf_check(&text, "a tool's definition", err) < 0 ||
	    json_python(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &canonical, err) < 0)
		return -1;
	hash_bytes(canonical.data, canonical.length, out);
	return 0;
}

#define PATH_FIELD(name, member)                                                                                       \
	.key = name, .type = SCHEMA_STRING, .offset = offsetof(struct gateway_server, member),                         \
	.size = sizeof(((struct gateway_server *)0)->member), .min = 2, .pattern = PATTERN_ASCII
#define LIST_FIELD(name, member, max)                                                                                  \
	.key = name, .type = SCHEMA_STRING, .offset = offsetof(struct gateway_server, member),                         \
	.size = GATEWAY_ARGUMENT_BYTES, .pattern = PATTERN_ASCII, .array_max = (max),                                  \
	.count_offset = offsetof(struct gateway_server, member##_count)

const struct schema_field catalog_tool_fields[] = {
	{ .key = "tool",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .pattern = PATTERN_FIELD,
	  .offset = offsetof(struct gateway_tool, tool),
	  .size = GATEWAY_TOOL_BYTES },
	{ .key = "sensitivity",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .pattern = PATTERN_ID,
	  .offset = offsetof(struct gateway_tool, sensitivity),
	  .size = NAME_MAX_SHORT },
	{ .key = "server",
	  .type = SCHEMA_INT,
	  .required = true,
	  .offset = offsetof(struct gateway_tool, server),
	  .min = 0,
	  .max = GATEWAY_SERVERS_MAX - 1 },
	{ .key = "definition",
	  .type = SCHEMA_STRING,
	  .offset = offsetof(struct gateway_tool, definition),
	  .size = HEX_SHA256,
	  .min = HEX_SHA256 - 1,
	  .pattern = PATTERN_HEX },
	{ .key = NULL },
};

const struct schema_field catalog_server_fields[] = {
	{ PATH_FIELD("command", command) },
	{ PATH_FIELD("script", script) },
	{ .key = "sha256",
	  .type = SCHEMA_STRING,
	  .offset = offsetof(struct gateway_server, sha256),
	  .size = HEX_SHA256,
	  .min = HEX_SHA256 - 1,
	  .pattern = PATTERN_HEX },
	{ LIST_FIELD("arguments", arguments, GATEWAY_ARGUMENTS_MAX) },
	{ LIST_FIELD("environment", environment, GATEWAY_VARIABLES_MAX) },
	{ .key = "callId", .type = SCHEMA_BOOL, .offset = offsetof(struct gateway_server, call_id) },
	{ .key = "passFd",
	  .type = SCHEMA_INT,
	  .offset = offsetof(struct gateway_server, pass_fd),
	  .min = -1,
	  .max = GATEWAY_FD_MAX,
	  .value = -1 },
	{ PATH_FIELD("url", url) },
	{ PATH_FIELD("tokenFile", token_file) },
	{ .key = NULL },
};

const struct schema_field catalog_fields[] = {
	{ .key = "catalog",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct catalog, tools),
	  .size = sizeof(struct gateway_tool),
	  .fields = catalog_tool_fields,
	  .array_max = GATEWAY_TOOLS_MAX,
	  .count_offset = offsetof(struct catalog, tools_count) },
	{ .key = "servers",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct catalog, servers),
	  .size = sizeof(struct gateway_server),
	  .fields = catalog_server_fields,
	  .array_max = GATEWAY_SERVERS_MAX,
	  .count_offset = offsetof(struct catalog, servers_count) },
	{ .key = NULL },
};
