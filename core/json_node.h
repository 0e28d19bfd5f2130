/* Between json.c (the document) and json_scan.c (which fills it); for nobody else. */
#ifndef HARNESS_CORE_JSON_NODE_H
#define HARNESS_CORE_JSON_NODE_H

#include "core/json.h"

/* Nodes stand in the order of the text, so a container's first child is the node behind it. */
struct json_node {
	const char *bytes; /* as written, inside the document's copy */
	const char *key;
	const char *string;
	uint32_t length; /* of bytes */
	uint32_t size; /* children of a container; bytes of a decoded string */
	uint32_t next; /* how many nodes on the next sibling stands; 0: none */
	enum json_type type;
};

struct json_document {
	char *text;
	size_t length;
	char *strings; /* decoded, NUL-terminated; never longer than the text, since quotes outweigh the NUL */
	struct json_node *nodes;
	size_t count;
	size_t capacity;
};

/* Fills an empty document from its text. */
int json_scan(struct json_document *document, size_t max_depth, struct error **err) MUST_CHECK;
/* Decodes a checked string, quotes included, to `out`, which has room for `length` bytes. Not NUL-terminated. */
int json_decode_escaped(const char *quoted, size_t length, char *out, size_t *out_length,
			struct error **err) MUST_CHECK;

#endif
