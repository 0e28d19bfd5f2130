/*
 * The catalog: which tools there are, of which measured servers, as they were when somebody approved them. Its file
 * holds the same two lists as the configuration; `catalog add` writes it by asking a server.
 */
#ifndef HARNESS_GATEWAY_CATALOG_H
#define HARNESS_GATEWAY_CATALOG_H

#include <stddef.h>

#include "core/error.h"
#include "core/json.h"
#include "core/schema.h"
#include "gateway/config.h"

#define CATALOG_BYTES (256 * KIB)

struct catalog {
	struct gateway_tool tools[GATEWAY_TOOLS_MAX];
	size_t tools_count;
	struct gateway_server servers[GATEWAY_SERVERS_MAX];
	size_t servers_count;
};

/* Ended by .key = NULL; the tables of a tool and of a server are the configuration's too. */
extern const struct schema_field catalog_fields[];
extern const struct schema_field catalog_tool_fields[];
extern const struct schema_field catalog_server_fields[];

/* Form and sense: unique tools, servers that exist, a program or a URL, absolute paths. */
int catalog_read(const char *bytes, size_t length, struct catalog *out, struct error **err) MUST_CHECK;
/* The same for lists that came otherwise; `file` is their document's name in an error. */
int catalog_check(const struct gateway_tool *tools, size_t tools_count, const struct gateway_server *servers,
		  size_t servers_count, const char *file, struct error **err) MUST_CHECK;

/* SHA-256 over the canonical {description, input_schema, output_schema} of a definition as tools/list gives it: what
 * drift is told by. */
int catalog_definition_hash(const struct json_node *definition, char out[HEX_SHA256], struct error **err) MUST_CHECK;

#endif
