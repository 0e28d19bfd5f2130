/*
 * The gateway's whole configuration: one JSON document, given before anything is served and never changed. The arm
 * writes it by the same field table that reads it here.
 */
#ifndef HARNESS_GATEWAY_CONFIG_H
#define HARNESS_GATEWAY_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "core/schema.h"

/* Descriptors of libexec/gateway beside stdin and stdout, which are its MCP side. */
enum gateway_fd {
	GATEWAY_FD_CONFIG = 3, /* the configuration, read to its end */
	GATEWAY_FD_DECISIONS = 4, /* the decisions file, O_RDWR | O_APPEND */
	GATEWAY_FD_LIFELINE = 5, /* end of file: the parent is gone */
	GATEWAY_FD_PASS = 6, /* and on: those that a server's passFd names */
};
#define GATEWAY_FD_MAX 63
/* Where an upstream finds the descriptor that it was passed. */
#define UPSTREAM_FD_PASSED 3

#define GATEWAY_CONFIG_BYTES (256 * KIB)
#define GATEWAY_SERVERS_MAX 8
#define GATEWAY_ARGUMENTS_MAX 8
#define GATEWAY_ARGUMENT_BYTES 128
#define GATEWAY_PATH_BYTES 1024

/* Labels are kept by name: one without a rank is an operator's mistake that the decision denies. */
struct gateway_ceiling {
	char tool[NAME_MAX_SHORT];
	char max[NAME_MAX_SHORT];
};

struct gateway_tool {
	char tool[NAME_MAX_SHORT];
	char sensitivity[NAME_MAX_SHORT];
	int64_t server; /* index into servers */
};

struct gateway_server {
	char command[GATEWAY_PATH_BYTES]; /* absolute */
	char sha256[HEX_SHA256];
	char arguments[GATEWAY_ARGUMENTS_MAX][GATEWAY_ARGUMENT_BYTES]; /* behind the program's name */
	size_t arguments_count;
	int64_t pass_fd; /* -1, or which of our descriptors becomes its UPSTREAM_FD_PASSED */
};

struct gateway_session {
	char sensitivity[NAME_MAX_SHORT]; /* where it starts */
};

struct gateway_sink_policy {
	struct gateway_ceiling tools[GATEWAY_TOOLS_MAX];
	size_t tools_count;
	char response[NAME_MAX_SHORT];
};

struct gateway_config {
	struct gateway_session session;
	struct gateway_sink_policy sink_policy;
	struct gateway_tool catalog[GATEWAY_TOOLS_MAX];
	size_t catalog_count;
	struct gateway_server servers[GATEWAY_SERVERS_MAX];
	size_t servers_count;
	int64_t call_ms; /* of one call, discovery included */
};

/* Ended by .key = NULL. */
extern const struct schema_field gateway_config_fields[];

/* Reads a document: form, unique tools, servers that exist, absolute commands, descriptors that may be passed.
 * ERROR_INPUT names the field. */
int gateway_config_read(const char *bytes, size_t length, struct gateway_config *out, struct error **err) MUST_CHECK;
/* By name, or NULL (also for a NULL name). */
const struct gateway_tool *gateway_config_tool(const struct gateway_config *config, const char *name);
/* The label of a tool's ceiling, or NULL when it has none. */
const char *gateway_config_ceiling(const struct gateway_config *config, const char *tool);

#endif
