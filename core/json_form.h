/*
 * Whether bytes that stream by are one JSON value in canonical form (what json_canonical() writes), in memory that does
 * not grow with them. Beside that it tells whether its strings are of the closed grammar: printable ASCII, and short.
 */
#ifndef HARNESS_CORE_JSON_FORM_H
#define HARNESS_CORE_JSON_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_FORM_DEPTH 16
#define JSON_FORM_TEXT 160 /* bytes of a string of the grammar, and of any key */

struct json_form {
	const char *why; /* NULL, or why it is not canonical: fixed text */
	uint64_t at; /* bytes so far, or up to the one that is wrong */
	uint64_t values;
	bool foreign; /* a string outside the grammar was seen */
	/* The rest is its own. */
	int state;
	size_t max_depth, depth;
	bool object[JSON_FORM_DEPTH + 1];
	struct json_form_key {
		size_t length;
		char text[JSON_FORM_TEXT];
		bool any;
	} keys[JSON_FORM_DEPTH + 1]; /* the last of each open object */
	struct json_form_key key;
	bool in_key;
	uint64_t length; /* of the string */
	unsigned escape; /* how far an escape is */
	unsigned unit;
	unsigned pending; /* continuation bytes of UTF-8 that must follow */
	unsigned char low, high; /* bounds of the next one */
	bool negative;
	unsigned digits;
	uint64_t number;
	const char *literal;
};

/* At most `max_depth` nested arrays and objects, and at most JSON_FORM_DEPTH. */
void json_form_begin(struct json_form *form, size_t max_depth);
/* False, from then on, once `why` is set. */
bool json_form_feed(struct json_form *form, const void *bytes, size_t length);
/* After the last byte. */
bool json_form_end(struct json_form *form);

#endif
