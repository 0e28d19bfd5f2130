/* What has a canary's form is found the same way however the bytes are cut, and each that is found is a canary. The
 * first byte is the length of the pieces. */
#include "core/canary.h"

#include "tests/fuzz/fuzz.h"

struct found {
	uint64_t sum;
	size_t count;
};

static void take(void *context, const struct canary *canary)
{
	struct found *found = context;

	FUZZ_HOLDS(canary_valid(canary->text, CANARY_LENGTH));
	found->sum = fuzz_sum(found->sum, canary->text, CANARY_LENGTH);
	found->count++;
}

FUZZ_TARGET(canary)
{
	struct canary_finder whole = { 0 }, pieces = { 0 };
	struct found one = { .sum = FUZZ_SUM }, other = { .sum = FUZZ_SUM };
	size_t step = size ? (size_t)bytes[0] + 1 : 1;

	if (size < 2)
		return;
	canary_find(&whole, true, bytes, size, take, &one);
	for (size_t at = 0; at < size; at += step)
		canary_find(&pieces, true, bytes + at, size - at < step ? size - at : step, take, &other);
	FUZZ_HOLDS(one.sum == other.sum && one.count == other.count);
	/* Again from the start: what came before is forgotten. */
	canary_find_reset(&pieces);
	other = (struct found){ .sum = FUZZ_SUM };
	canary_find(&pieces, true, bytes, size, take, &other);
	FUZZ_HOLDS(one.sum == other.sum && one.count == other.count);
}
