#include "adapter/bridge_config.h"

#include <string.h>

#include "core/fd.h"
#include "core/json.h"

#define MS_MAX (24LL * 60 * 60 * 1000)
#define FRAME_BYTES_MAX (64LL * MIB)
#define TOTAL_BYTES_MAX (1LL << 40)
#define CALLS_MAX 100000000LL

static const char file[] = "the bridge's configuration";

static int check_unique(const struct bridge_config *config, struct error **err)
{
	for (size_t i = 0; i < config->aliases_count; i++)
		for (size_t other = 0; other < i; other++)
			if (strcmp(config->aliases[i].operation, config->aliases[other].operation) == 0)
				return error_set(err, ERROR_INPUT, "%s: aliases[%zu].operation: is there twice", file,
						 i);
	return 0;
}

int bridge_config_read(int fd, int64_t deadline, struct bridge_config *out, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(BRIDGE_CONFIG_BYTES);
	cleanup_json struct json_document *document = NULL;

	if (fd_read_all(fd, &bytes, deadline, err) < 0 ||
	    json_parse(buf_string(&bytes), bytes.length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, "%s", file);
	if (schema_decode(bridge_config_fields, json_root(document), file, out, sizeof(*out), err) < 0)
		return -1;
	return check_unique(out, err);
}

const struct bridge_alias *bridge_config_alias(const struct bridge_config *config, const char *operation, size_t length)
{
	for (size_t i = 0; i < config->aliases_count; i++) {
		const struct bridge_alias *alias = &config->aliases[i];

		if (strlen(alias->operation) == length && memcmp(alias->operation, operation, length) == 0)
			return alias;
	}
	return NULL;
}

#define NAME(of, member) .type = SCHEMA_STRING, .offset = offsetof(struct of, member), .size = NAME_MAX_SHORT, .min = 1
#define LIMIT(name, member, most)                                                                                      \
	{                                                                                                              \
		.key = (name), .type = SCHEMA_INT, .required = true,                                                   \
		.offset = offsetof(struct session_limits, member), .min = 1, .max = (most)                             \
	}

static const struct schema_field alias_fields[] = {
	{ .key = "operation", NAME(bridge_alias, operation), .required = true },
	{ .key = "tool", NAME(bridge_alias, tool), .required = true, .nullable = true },
	{ .key = "waits", .type = SCHEMA_BOOL, .offset = offsetof(struct bridge_alias, waits) },
	{ .key = NULL },
};

static const struct schema_field limit_fields[] = {
	LIMIT("frameBytes", frame_bytes, FRAME_BYTES_MAX),
	LIMIT("stdoutBytes", stdout_bytes, TOTAL_BYTES_MAX),
	LIMIT("stderrBytes", stderr_bytes, TOTAL_BYTES_MAX),
	LIMIT("calls", calls, CALLS_MAX),
	LIMIT("sessionMs", session_ms, MS_MAX),
	LIMIT("heartbeatMs", heartbeat_ms, MS_MAX),
	LIMIT("acknowledgeMs", acknowledge_ms, MS_MAX),
	LIMIT("leaseMs", lease_ms, MS_MAX),
	LIMIT("gatewayCallMs", gateway_call_ms, MS_MAX),
	{ .key = NULL },
};

const struct schema_field bridge_config_fields[] = {
	{ .key = "aliases",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct bridge_config, aliases),
	  .size = sizeof(struct bridge_alias),
	  .fields = alias_fields,
	  .array_max = BRIDGE_ALIASES_MAX,
	  .array_min = 1,
	  .count_offset = offsetof(struct bridge_config, aliases_count) },
	{ .key = "beaconTool", NAME(bridge_config, beacon_tool), .required = true },
	{ .key = "acknowledge",
	  .type = SCHEMA_BOOL,
	  .required = true,
	  .offset = offsetof(struct bridge_config, acknowledge) },
	{ .key = "strict", .type = SCHEMA_BOOL, .value = true, .offset = offsetof(struct bridge_config, strict) },
	{ .key = "failClosed",
	  .type = SCHEMA_BOOL,
	  .value = true,
	  .offset = offsetof(struct bridge_config, fail_closed) },
	{ .key = "policy", .type = SCHEMA_BOOL, .value = true, .offset = offsetof(struct bridge_config, policy) },
	{ .key = "policyLock",
	  .type = SCHEMA_BOOL,
	  .value = true,
	  .offset = offsetof(struct bridge_config, policy_lock) },
	{ .key = "limits",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct bridge_config, limits),
	  .size = sizeof(struct session_limits),
	  .fields = limit_fields },
	{ .key = NULL },
};
