/* Canaries, and a scanner for a set of them: what has a canary's form is looked up in the sorted set. */
#include "core/canary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/canary_encodings.h"
#include "core/fd.h"

#define RANDOM_BYTES 16

_Static_assert(CANARY_PREFIX_LENGTH + 2 * RANDOM_BYTES == CANARY_LENGTH,
	       "a canary is its prefix and two letters a byte");

struct known {
	struct canary canary;
	size_t index; /* in the set, as it was given */
};

struct canary_scanner {
	struct canary_finder finder;
	bool encode;
	size_t count;
	struct known known[]; /* sorted */
};

int canary_new(struct canary *out, struct error **err)
{
	unsigned char bytes[RANDOM_BYTES];
	size_t filled = 0;

	while (filled < sizeof(bytes)) {
		ssize_t got = getrandom(bytes + filled, sizeof(bytes) - filled, 0);

		if (got < 0 && errno != EINTR)
			return error_errno(err, errno, "getrandom");
		if (got > 0)
			filled += (size_t)got;
	}
	memcpy(out->text, CANARY_PREFIX, CANARY_PREFIX_LENGTH);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		out->text[CANARY_PREFIX_LENGTH + 2 * i] = (char)('a' + (bytes[i] >> 4));
		out->text[CANARY_PREFIX_LENGTH + 2 * i + 1] = (char)('a' + (bytes[i] & 15));
	}
	out->text[CANARY_LENGTH] = '\0';
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

bool canary_valid(const char *text, size_t length)
{
	if (length != CANARY_LENGTH || memcmp(text, CANARY_PREFIX, CANARY_PREFIX_LENGTH) != 0)
		return false;
	for (size_t i = CANARY_PREFIX_LENGTH; i < length; i++) {
		if (text[i] < 'a' || text[i] > 'p')
			return false;
	}
	return true;
}

size_t canary_encodings(void)
{
	return CANARY_ENCODINGS;
}

const char *canary_encoding_name(size_t index)
{
	return index < CANARY_ENCODINGS ? canary_encoding_rows[index].name : NULL;
}

static int by_text(const void *a, const void *b)
{
	return memcmp(((const struct known *)a)->canary.text, ((const struct known *)b)->canary.text, CANARY_LENGTH);
}

static int check_unique(const struct canary_scanner *scanner, struct error **err)
{
	for (size_t i = 1; i < scanner->count; i++) {
		size_t one = scanner->known[i - 1].index, other = scanner->known[i].index;

		if (by_text(&scanner->known[i - 1], &scanner->known[i]) == 0)
			return error_set(err, ERROR_INTERNAL, "canaries %zu and %zu of a set are the same",
					 one < other ? one : other, one < other ? other : one);
	}
	return 0;
}

int canary_scanner_new(const struct canary *set, size_t count, bool encode, struct canary_scanner **out,
		       struct error **err)
{
	cleanup_canary_scanner struct canary_scanner *scanner = NULL;
	int result;

	if (count > CANARY_SET_MAX)
		return error_set(err, ERROR_LIMIT, "%zu canaries in a set of at most %d", count, CANARY_SET_MAX);
	scanner = calloc(1, sizeof(*scanner) + count * sizeof(scanner->known[0]));
	if (!scanner)
		return error_set(err, ERROR_MEMORY, "no memory for a canary scanner");
	scanner->encode = encode;
	for (size_t i = 0; i < count; i++) {
		if (!canary_valid(set[i].text, strnlen(set[i].text, sizeof(set[i].text))))
			return error_set(err, ERROR_INTERNAL, "canary %zu of a set is none", i);
		scanner->known[i] = (struct known){ .canary = set[i], .index = i };
		scanner->count++;
	}
	if (count)
		qsort(scanner->known, count, sizeof(scanner->known[0]), by_text);
	result = check_unique(scanner, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&scanner);
	return 0;
}

struct counting {
	const struct canary_scanner *scanner;
	uint64_t *hits;
};

static void count_hit(void *context, const struct canary *canary)
{
	const struct counting *counting = context;
	const struct canary_scanner *scanner = counting->scanner;
	const struct known key = { .canary = *canary };
	const struct known *known = NULL;

	if (scanner->count)
		known = bsearch(&key, scanner->known, scanner->count, sizeof(key), by_text);
	if (known)
		counting->hits[known->index]++;
}

void canary_scanner_feed(struct canary_scanner *scanner, const void *bytes, size_t length, uint64_t *hits)
{
	struct counting counting = { .scanner = scanner, .hits = hits };

	canary_find(&scanner->finder, scanner->encode, bytes, length, count_hit, &counting);
}

void canary_scanner_reset(struct canary_scanner *scanner)
{
	canary_find_reset(&scanner->finder);
}

void canary_scanner_free(struct canary_scanner *scanner)
{
	if (!scanner)
		return;
	explicit_bzero(scanner, sizeof(*scanner) + scanner->count * sizeof(scanner->known[0]));
	free(scanner);
}
