/*
 * Canaries: "canary-" and 32 letters a to p, 128 random bits, one for each subject of each arm. A scanner finds any of
 * a set of them in a stream of bytes, in one pass, in each encoding of a table; hits that span two chunks are found. A
 * finder finds whatever has a canary's form, known or not.
 */
#ifndef HARNESS_CORE_CANARY_H
#define HARNESS_CORE_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"

#define CANARY_LENGTH 39
struct canary {
	char text[CANARY_LENGTH + 1];
};

/* As many as the largest plan has subjects. */
#define CANARY_SET_MAX (PLAN_ARMS_MAX * ARM_SUBJECTS_MAX)

/* getrandom(); never fails but with an error. */
int canary_new(struct canary *out, struct error **err) MUST_CHECK;
bool canary_valid(const char *text, size_t length);

/* The rows of the table of encodings, in order; names for the bundle, NULL beyond the last. Raw is row 0. */
#define CANARY_ENCODINGS 19
size_t canary_encodings(void);
const char *canary_encoding_name(size_t index);

/* Looks for the part that all canaries share, in each encoding, with a table of states; what it stands in is decoded.
 * So its cost does not depend on how many canaries there are. Open only so that it can be a member: zeroed before its
 * first byte, and it owns nothing. */
#define CANARY_STATES 224
#define CANARY_CLASSES 64
#define CANARY_WINDOW 128
struct canary_finder {
	bool made; /* the tables are filled */
	uint8_t classes[256]; /* of a byte; 0 is of those that no encoding begins with */
	uint8_t next[CANARY_STATES][CANARY_CLASSES];
	uint32_t ends[CANARY_STATES]; /* bit per row whose shared part is complete here */
	uint8_t lengths[CANARY_ENCODINGS]; /* of the encoded form */
	uint8_t behind[CANARY_ENCODINGS]; /* bytes of it behind the shared part */
	bool starts[256];
	uint8_t start; /* and how many there are: */
	unsigned starts_count;

	uint8_t state;
	uint8_t at; /* bytes so far, modulo 256 */
	uint32_t due[256]; /* bit per row whose form is complete at that byte */
	unsigned waiting; /* how many are due */
	char last[CANARY_WINDOW]; /* of the bytes before */
	size_t last_length;
};
/* Called with each canary that the bytes may be: one, but where the encoding leaves bits of the last letter open. */
typedef void (*canary_found)(void *context, const struct canary *canary);
/* Feeds bytes; `found` is called for each form completed within them. `encode` as for a scanner; the same in each call.
 */
void canary_find(struct canary_finder *finder, bool encode, const void *bytes, size_t length, canary_found found,
		 void *context);
/* Forgets what came before. */
void canary_find_reset(struct canary_finder *finder);

struct canary_scanner;
/* `encode` false: only raw (what the observers count); true: every row of the table (what sealing does). At most
 * CANARY_SET_MAX canaries (ERROR_LIMIT; 48 bytes of memory each); an invalid or repeated one is ERROR_INTERNAL. */
int canary_scanner_new(const struct canary *set, size_t count, bool encode, struct canary_scanner **out,
		       struct error **err) MUST_CHECK;
/* Feeds bytes; hits[i] (count entries, owned by the caller) grows by the number of times canary i was completed, in
 * whatever encoding. */
void canary_scanner_feed(struct canary_scanner *scanner, const void *bytes, size_t length, uint64_t *hits);
/* Forgets what came before: the next bytes are another record. */
void canary_scanner_reset(struct canary_scanner *scanner);
/* Wipes. Accepts NULL. */
void canary_scanner_free(struct canary_scanner *scanner);
static inline void canary_scanner_cleanup(struct canary_scanner **scanner)
{
	canary_scanner_free(*scanner);
}
#define cleanup_canary_scanner __attribute__((cleanup(canary_scanner_cleanup)))

#endif
