/* The verb "catalog add": a server is started once, by the person who approves it, and asked what its tools are. */
#ifndef HARNESS_GATEWAY_CATALOG_ADD_H
#define HARNESS_GATEWAY_CATALOG_ADD_H

#include "core/error.h"
#include "gateway/catalog.h"

#define CATALOG_ADD_WORDS                                                                                              \
	"add --catalog FILE [--sensitivity LABEL] [--tool NAME]... [--env NAME=VALUE]... (--url URL [--token-file "    \
	"FILE] | "                                                                                                     \
	"-- COMMAND [SCRIPT] [ARGUMENT]...)"

/* Of main(): the words behind "catalog". EXIT_USAGE (4) when they are none. */
int catalog_add(int argc, char **argv, struct error **err) MUST_CHECK;

/* Starts catalog->servers[server], which must be measured, asks for its tools, and adds those that `wanted` names
 * (ended by NULL; NULL: all of them) with their definitions' hashes. *added: how many. */
int catalog_ask(struct catalog *catalog, size_t server, const char *sensitivity, const char *const *wanted,
		size_t *added, struct error **err) MUST_CHECK;

#endif
