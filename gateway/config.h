/*
 * The gateway's whole configuration: one JSON document, and the catalog that it may name, read before anything is
 * served, hashed, and never changed. The arm writes it by the same field table that reads it here.
 */
#ifndef HARNESS_GATEWAY_CONFIG_H
#define HARNESS_GATEWAY_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "core/schema.h"

/* Descriptors of the gateway under an arm beside stdin and stdout, which are its MCP side. */
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
#define GATEWAY_ARGUMENT_BYTES 512
#define GATEWAY_VARIABLES_MAX 8
#define GATEWAY_LABELS_MAX 16
#define GATEWAY_PATH_BYTES 1024
#define GATEWAY_URL_BYTES 256
#define GATEWAY_TOOL_BYTES 129 /* of a tool's name, with its NUL: as long as MCP advises */

/* Labels are kept by name: one without a rank is an operator's mistake that the decision denies. */
struct gateway_ceiling {
	char tool[GATEWAY_TOOL_BYTES];
	char max[NAME_MAX_SHORT];
};

struct gateway_tool {
	char tool[GATEWAY_TOOL_BYTES];
	char sensitivity[NAME_MAX_SHORT];
	int64_t server; /* index into servers */
	char definition[HEX_SHA256]; /* of its canonical definition, or "": any will do */
};

/* A program that speaks MCP on its stdio, or a URL. */
struct gateway_server {
	char command[GATEWAY_PATH_BYTES]; /* absolute, or "" */
	char script[GATEWAY_PATH_BYTES]; /* absolute, or "": what an interpreter is to run, its first argument */
	char sha256[HEX_SHA256]; /* of the script, or of the command where there is none */
	char arguments[GATEWAY_ARGUMENTS_MAX][GATEWAY_ARGUMENT_BYTES]; /* behind the program's name and its script */
	size_t arguments_count;
	char environment[GATEWAY_VARIABLES_MAX][GATEWAY_ARGUMENT_BYTES]; /* NAME=VALUE: all that it gets */
	size_t environment_count;
	bool call_id; /* it is told under which id each call was authorised */
	int64_t pass_fd; /* -1, or which of our descriptors becomes its UPSTREAM_FD_PASSED */
	char url[GATEWAY_URL_BYTES]; /* or "" */
	char token_file[GATEWAY_PATH_BYTES]; /* of the URL's bearer token, or "" */
};

struct gateway_session {
	char sensitivity[NAME_MAX_SHORT]; /* where it starts */
};

struct gateway_sink_policy {
	struct gateway_ceiling tools[GATEWAY_TOOLS_MAX];
	size_t tools_count;
	char response[NAME_MAX_SHORT];
};

/* A label of the operator's, beside the built-in ones. */
struct gateway_label {
	char label[NAME_MAX_SHORT];
	int64_t rank;
};

struct gateway_http {
	char address[NAME_MAX_SHORT]; /* "127.0.0.1" or "::1"; "": HTTP is not served */
	int64_t port; /* 0: any free one */
	char token_file[GATEWAY_PATH_BYTES]; /* of the bearer token, or "" */
	bool open; /* none is asked for: whoever is on this host may call */
	char operator_token_file[GATEWAY_PATH_BYTES]; /* for closing and resetting sessions, or "": the bearer's */
};

struct gateway_audit {
	char path[GATEWAY_PATH_BYTES]; /* of the database, or "" */
};

struct gateway_telemetry {
	char endpoint[GATEWAY_URL_BYTES]; /* "http://127.0.0.1:4318", or "": no spans */
	char service[NAME_MAX_SHORT];
};

struct gateway_config {
	struct gateway_session session;
	struct gateway_sink_policy sink_policy;
	struct gateway_label vocabulary[GATEWAY_LABELS_MAX];
	size_t vocabulary_count;
	char allow[GATEWAY_TOOLS_MAX][GATEWAY_TOOL_BYTES]; /* none listed: every tool of the catalog */
	size_t allow_count;
	bool scan_arguments, scan_responses;
	int64_t budget; /* calls a session, or 0: any number */
	int64_t response_bytes;
	char catalog_file[GATEWAY_PATH_BYTES]; /* holds catalog and servers, or "": they are here */
	struct gateway_tool catalog[GATEWAY_TOOLS_MAX];
	size_t catalog_count;
	struct gateway_server servers[GATEWAY_SERVERS_MAX];
	size_t servers_count;
	int64_t call_ms; /* of one call, discovery included */
	struct gateway_http http;
	struct gateway_audit audit;
	struct gateway_telemetry telemetry;
	/* Made when they were read. */
	char policy_sha256[HEX_SHA256]; /* of the document's bytes */
	char catalog_sha256[HEX_SHA256]; /* of the catalog's file, or of the document */
};

/* Ended by .key = NULL. */
extern const struct schema_field gateway_config_fields[];

/* Reads a document: form, unique tools, servers that exist, absolute commands, descriptors that may be passed, labels
 * that are not built in. Relative paths of files are below `folder` (NULL: the current one). ERROR_INPUT names the
 * field. */
int gateway_config_read(const char *bytes, size_t length, const char *folder, struct gateway_config *out,
			struct error **err) MUST_CHECK;

/* By name, or NULL (also for a NULL name). */
const struct gateway_tool *gateway_config_tool(const struct gateway_config *config, const char *name);
/* The label of a tool's ceiling, or NULL when it has none. */
const char *gateway_config_ceiling(const struct gateway_config *config, const char *tool);
/* Whether the operator's list has the tool, or there is no list. */
bool gateway_config_allows(const struct gateway_config *config, const char *tool);
/* The rank of a label, built in or of the vocabulary, or LABEL_UNKNOWN (also for NULL). */
int gateway_config_rank(const struct gateway_config *config, const char *label);
/* The same label as it is kept here, or NULL when it has no rank. */
const char *gateway_config_label(const struct gateway_config *config, const char *label);

#endif
