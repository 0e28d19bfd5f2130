/* The verb "catalog add": a server is started once, by the person who approves it, and asked what its tools are. */
#ifndef HARNESS_GATEWAY_CATALOG_ADD_H
#define HARNESS_GATEWAY_CATALOG_ADD_H

#include "core/error.h"
#include "gateway/catalog.h"

#define CATALOG_ADD_WORDS                                                                                              \
	"add --catalog FILE [--sensitivity LABEL] [--tool NAME]... [--env NAME=VALUE]... [--wait-ms N] "               \
	"(--url URL [--token-file FILE] | -- COMMAND [SCRIPT] [ARGUMENT]...)"

/* Of main(): the words behind "catalog". EXIT_USAGE (4) when they are none. */
int catalog_add(int argc, char **argv, struct error **err) MUST_CHECK;

struct catalog_question {
	size_t server; /* of the catalog's; measured */
	const char *sensitivity;
	const char *const *wanted; /* names, ended by NULL; NULL: all of its tools */
	int64_t wait_ms; /* for everything */
};
/* Starts the server, asks for its tools, and adds those that are wanted with their definitions' hashes. *added: how
 * many. */
int catalog_ask(struct catalog *catalog, const struct catalog_question *question, size_t *added,
		struct error **err) MUST_CHECK;

#endif
