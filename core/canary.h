/*
 * Canaries: "canary-" and 32 letters a to p, 128 random bits, one for each subject of each arm. A scanner finds any of
 * a set of them in a stream of bytes, in one pass, in each encoding of a table; hits that span two chunks are found.
 */
#ifndef HARNESS_CORE_CANARY_H
#define HARNESS_CORE_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define CANARY_LENGTH 39
struct canary {
	char text[CANARY_LENGTH + 1];
};

/* getrandom(); never fails but with an error. */
int canary_new(struct canary *out, struct error **err) MUST_CHECK;
bool canary_valid(const char *text, size_t length);

/* The rows of the table of encodings, in order; names for the bundle, NULL beyond the last. Raw is row 0. */
size_t canary_encodings(void);
const char *canary_encoding_name(size_t index);

struct canary_scanner;
/* `encode` false: only raw (what the observers count); true: every row of the table (what sealing does). At most 4096
 * canaries (ERROR_LIMIT; 15 KiB of memory each when encoded); an invalid or repeated one is ERROR_INTERNAL. */
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
