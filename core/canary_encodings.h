/* The encodings in which a canary is looked for: how each is written and read back. Of core/canary*.c alone. */
#ifndef HARNESS_CORE_CANARY_ENCODINGS_H
#define HARNESS_CORE_CANARY_ENCODINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/canary.h"

/* "canary-", the part that all canaries share. */
#define CANARY_PREFIX "canary-"
#define CANARY_PREFIX_LENGTH (sizeof(CANARY_PREFIX) - 1)
/* Three bytes for each. */
#define CANARY_ENCODED_MAX (3 * CANARY_LENGTH)

struct encoding {
	const char *name;
	/* Writes the encoded form, at most CANARY_ENCODED_MAX bytes, without a NUL; returns its length, which is the
	 * same for every canary. */
	size_t (*encode)(const struct encoding *encoding, const char *text, char *out);
	/* The canary that these bytes may be, as far as they say: what they do not say of `out`, a canary, stays. Who
	 * calls it encodes the result again and compares. */
	void (*decode)(const struct encoding *encoding, const char *bytes, size_t length, char *out);
	const char *digits;
	unsigned bits; /* of a digit */
	unsigned offset; /* bytes that stand before the canary in what was encoded */
	bool again; /* a canary has the same form in a row above: the name is its own */
};

extern const struct encoding canary_encoding_rows[CANARY_ENCODINGS];

#endif
