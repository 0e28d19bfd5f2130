/* A gateway's configuration: what is read makes sense, and is the same when it is written and read again. */
#include "gateway/config.h"

#include <string.h>

#include "core/buf.h"
#include "core/fd.h"
#include "gateway/catalog.h"
#include "gateway/decision.h"
#include "tests/fuzz/fuzz.h"

static void check_sense(const struct gateway_config *config)
{
	FUZZ_HOLDS(config->response_bytes > 0 && config->response_bytes <= GATEWAY_RESPONSE_BYTES);
	FUZZ_HOLDS(config->call_ms > 0);
	for (size_t i = 0; i < config->catalog_count; i++) {
		const struct gateway_tool *tool = &config->catalog[i];

		FUZZ_HOLDS((size_t)tool->server < config->servers_count);
		FUZZ_HOLDS(gateway_config_tool(config, tool->tool) == tool);
	}
	for (size_t i = 0; i < config->servers_count; i++) {
		const struct gateway_server *server = &config->servers[i];

		FUZZ_HOLDS(!server->command[0] != !server->url[0]);
		FUZZ_HOLDS(!server->command[0] || (server->command[0] == '/' && server->sha256[0]));
		FUZZ_HOLDS(server->pass_fd == -1 || server->pass_fd >= GATEWAY_FD_PASS || server->url[0]);
	}
	for (size_t i = 0; i < config->vocabulary_count; i++)
		FUZZ_HOLDS(gateway_config_rank(config, config->vocabulary[i].label) == config->vocabulary[i].rank);
	for (size_t i = 0; i < config->allow_count; i++)
		FUZZ_HOLDS(gateway_config_tool(config, config->allow[i]) != NULL);
}

static void write_again(const struct gateway_config *config, struct buf *out)
{
	struct json_writer writer;

	json_begin(&writer, out);
	schema_encode(gateway_config_fields, config, &writer);
	FUZZ_HOLDS(!out->failed);
}

FUZZ_TARGET(gateway_config)
{
	cleanup_free struct gateway_config *config = calloc(1, sizeof(*config));
	cleanup_buf struct buf once = BUF(4 * GATEWAY_CONFIG_BYTES), twice = BUF(4 * GATEWAY_CONFIG_BYTES);
	struct error *err = NULL;

	/* No file is read: no such folder. */
	if (!config || gateway_config_read((const char *)bytes, size, "/nonexistent", config, &err) < 0 ||
	    config->catalog_file[0]) {
		error_free(err);
		return;
	}
	check_sense(config);
	write_again(config, &once);
	FUZZ_HOLDS(gateway_config_read(buf_string(&once), once.length, NULL, config, &err) == 0);
	check_sense(config);
	write_again(config, &twice);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
}
