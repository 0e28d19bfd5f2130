#include <stdlib.h>

#include "core/canary.h"
#include "core/fd.h"
#include "core/limits.h"
#include "tests/unit/canary_carriers.h"
#include "tests/unit/test.h"

#define OTHER "canary-ponmlkjihgfedcbaponmlkjihgfedcba"

static const struct canary pair[] = { { .text = TEXT }, { .text = OTHER } };

static void feed(struct canary_scanner *scanner, const char *text, uint64_t *hits)
{
	canary_scanner_feed(scanner, text, strlen(text), hits);
}

static struct canary_scanner *scanner_of(const struct canary *set, size_t count, bool encode)
{
	struct canary_scanner *scanner = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(canary_scanner_new(set, count, encode, &scanner, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return scanner;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct canary));
}

static void test_new(void)
{
	struct canary many[200];
	unsigned letters = 0;
	struct error *err = NULL;

	memset(many, 0xa5, sizeof(many));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		CU_ASSERT_EQUAL(canary_new(&many[i], &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(strnlen(many[i].text, sizeof(many[i].text)), CANARY_LENGTH);
		CU_ASSERT(canary_valid(many[i].text, CANARY_LENGTH));
		for (size_t at = 7; at < CANARY_LENGTH; at++)
			letters |= 1u << (many[i].text[at] - 'a');
	}
	CU_ASSERT_EQUAL(letters, 0xffff);
	qsort(many, ARRAY_SIZE(many), sizeof(many[0]), compare);
	for (size_t i = 1; i < ARRAY_SIZE(many); i++)
		CU_ASSERT(compare(&many[i - 1], &many[i]) != 0);
}

static void test_valid(void)
{
	static const char *const wrong[] = {
		"",
		"canary-",
		"canary-abcdefghijklmnopabcdefghijklmno",
		"canary-abcdefghijklmnopabcdefghijklmnopa",
		"canary-abcdefghijklmnopabcdefghijklmnoq",
		"canary-Abcdefghijklmnopabcdefghijklmnop",
		"canary-0bcdefghijklmnopabcdefghijklmnop",
		"Canary-abcdefghijklmnopabcdefghijklmnop",
		"canary_abcdefghijklmnopabcdefghijklmnop",
	};

	CU_ASSERT(canary_valid(TEXT, CANARY_LENGTH));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT(!canary_valid(wrong[i], strlen(wrong[i])));
	CU_ASSERT(!canary_valid(TEXT, CANARY_LENGTH - 1));
}

/* The table has a row in `carriers`, and the row's form is found once, in each way of cutting it in two. */
static void test_encodings(void)
{
	CU_ASSERT_STRING_EQUAL(canary_encoding_name(0), "raw");
	CU_ASSERT_PTR_NULL(canary_encoding_name(canary_encodings()));
	for (size_t row = 0; row < canary_encodings(); row++) {
		bool tested = false;

		for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
			tested |= strcmp(carriers[i].name, canary_encoding_name(row)) == 0;
		CU_ASSERT(tested);
	}
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++) {
		cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(pair, 2, true);

		for (size_t cut = 0; cut <= carriers[i].length; cut++) {
			uint64_t hits[2] = { 0, 0 };

			canary_scanner_reset(scanner);
			canary_scanner_feed(scanner, carriers[i].bytes, cut, hits);
			canary_scanner_feed(scanner, carriers[i].bytes + cut, carriers[i].length - cut, hits);
			CU_ASSERT_EQUAL(hits[0], 1);
			CU_ASSERT_EQUAL(hits[1], 0);
		}
	}
}

static void test_raw_only(void)
{
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(pair, 2, false);

	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++) {
		uint64_t hits[2] = { 0, 0 };

		canary_scanner_reset(scanner);
		canary_scanner_feed(scanner, carriers[i].bytes, carriers[i].length, hits);
		CU_ASSERT_EQUAL(hits[0], strcmp(carriers[i].name, "raw") == 0);
		CU_ASSERT_EQUAL(hits[1], 0);
	}
}

static void test_byte_by_byte(void)
{
	static const char stream[] = "xx" TEXT OTHER "c" TEXT "canary-" TEXT "\0" OTHER;
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(pair, 2, true);
	uint64_t hits[2] = { 0, 0 };

	for (size_t i = 0; i < sizeof(stream) - 1; i++)
		canary_scanner_feed(scanner, stream + i, 1, hits);
	CU_ASSERT_EQUAL(hits[0], 3);
	CU_ASSERT_EQUAL(hits[1], 2);
}

/* A false start, the wrong letter late, and the next canary begun inside a broken one. */
static void test_near_misses(void)
{
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(pair, 2, true);
	uint64_t hits[2] = { 0, 0 };

	feed(scanner, "canary-abcdefghijklmnopabcdefghijklmnoa", hits);
	feed(scanner, "canary-abcdefghijklmnopabcdefghijklmno", hits);
	CU_ASSERT_EQUAL(hits[0], 0);
	feed(scanner, "canary-abcdefghijklmnop" TEXT, hits);
	CU_ASSERT_EQUAL(hits[0], 1);
	feed(scanner, "cacanary-ponmlkjihgfedcbaponmlkjihgfedcba", hits);
	CU_ASSERT_EQUAL(hits[1], 1);
	feed(scanner, "Canary-ponmlkjihgfedcbaponmlkjihgfedcba", hits);
	CU_ASSERT_EQUAL(hits[1], 1);
}

/* Two hits that share bytes: the reversed form of the second begins with the last letters of either. */
static void test_overlap(void)
{
	static const struct canary set[] = { { .text = TEXT }, { .text = "canary-aaaaaaaaaaaaaaaaaaaaaaaaaaaaponm" } };
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(set, 2, true);
	uint64_t hits[2] = { 0, 0 };

	feed(scanner, TEXT "aaaaaaaaaaaaaaaaaaaaaaaaaaaa-yranac", hits);
	CU_ASSERT_EQUAL(hits[0], 1);
	CU_ASSERT_EQUAL(hits[1], 1);
	feed(scanner, "canary-aaaaaaaaaaaaaaaaaaaaaaaaaaaaponmnopaaaaaaaaaaaaaaaaaaaaaaaaaaaa-yranac", hits);
	CU_ASSERT_EQUAL(hits[0], 1);
	CU_ASSERT_EQUAL(hits[1], 3);
}

/* An encoding may leave the last letter's bits to a digit that also holds bits of what follows: each canary of the set
 * that the digits before it allow is hit, and no other. */
static void test_last_letter(void)
{
	static const struct canary set[] = {
		{ .text = TEXT },
		{ .text = "canary-abcdefghijklmnopabcdefghijklmnoo" },
		{ .text = "canary-abcdefghijklmnopabcdefghijklmnom" },
		{ .text = "canary-abcdefghijklmnopabcdefghijklmnoa" },
	};
	static const struct {
		const char *bytes;
		uint64_t hits[ARRAY_SIZE(set)];
	} rows[] = {
		/* of "x" and the second and no more: 'o' and 'm' have their first six bits in common */
		{ "eGNhbmFyeS1hYmNkZWZnaGlqa2xtbm9wYWJjZGVmZ2hpamtsbW5vb", { 0, 1, 1, 0 } },
		/* of "xy" and the second: all but 'p' have the first four */
		{ "eHljYW5hcnktYWJjZGVmZ2hpamtsbW5vcGFiY2RlZmdoaWprbG1ub2", { 0, 1, 1, 1 } },
		{ "63616e6172792d6162636465666768696a6b6c6d6e6f706162636465666768696a6b6c6d6e6f6d", { 0, 0, 1, 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(set, ARRAY_SIZE(set), true);
		uint64_t hits[ARRAY_SIZE(set)] = { 0 };

		feed(scanner, rows[i].bytes, hits);
		for (size_t n = 0; n < ARRAY_SIZE(set); n++)
			CU_ASSERT_EQUAL(hits[n], rows[i].hits[n]);
	}
}

static void test_reset(void)
{
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(pair, 2, false);
	uint64_t hits[2] = { 0, 0 };

	canary_scanner_feed(scanner, TEXT, 20, hits);
	canary_scanner_reset(scanner);
	canary_scanner_feed(scanner, &TEXT[20], CANARY_LENGTH - 20, hits);
	CU_ASSERT_EQUAL(hits[0], 0);
	canary_scanner_feed(scanner, TEXT, 20, hits);
	canary_scanner_feed(scanner, &TEXT[20], CANARY_LENGTH - 20, hits);
	CU_ASSERT_EQUAL(hits[0], 1);
}

static void test_large_set(void)
{
	static struct canary set[ARM_SUBJECTS_MAX];
	cleanup_canary_scanner struct canary_scanner *scanner = NULL;
	uint64_t hits[ARM_SUBJECTS_MAX] = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		CU_ASSERT_EQUAL(canary_new(&set[i], &err), 0);
	CU_ASSERT(test_no_error(&err));
	scanner = scanner_of(set, ARRAY_SIZE(set), true);
	for (size_t i = 0; i < ARRAY_SIZE(set); i++) {
		for (size_t times = 0; times <= i % 3; times++)
			feed(scanner, set[i].text, hits);
	}
	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		CU_ASSERT_EQUAL(hits[i], i % 3 + 1);
}

static void test_refusals(void)
{
	static const struct canary same[] = { { .text = TEXT }, { .text = OTHER }, { .text = TEXT } };
	static const struct canary invalid[] = { { .text = TEXT }, { .text = "canary-" } };
	struct canary_scanner *scanner = NULL;
	struct error *err = NULL;

	CU_ASSERT(canary_scanner_new(same, 3, true, &scanner, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "canaries 0 and 2 of a set are the same"));
	CU_ASSERT(canary_scanner_new(invalid, 2, false, &scanner, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "canary 1 of a set is none"));
	CU_ASSERT(canary_scanner_new(same, CANARY_SET_MAX + (size_t)1, true, &scanner, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "1310721 canaries in a set of at most 1310720"));
	CU_ASSERT_PTR_NULL(scanner);
	canary_scanner_free(NULL);
}

static void test_empty_set(void)
{
	cleanup_canary_scanner struct canary_scanner *scanner = scanner_of(NULL, 0, true);

	canary_scanner_feed(scanner, TEXT, CANARY_LENGTH, NULL);
	CU_ASSERT_PTR_NOT_NULL(scanner);
}

static CU_TestInfo tests[] = {
	{ "new", test_new },
	{ "valid", test_valid },
	{ "each encoding, cut anywhere", test_encodings },
	{ "raw only", test_raw_only },
	{ "byte by byte", test_byte_by_byte },
	{ "near misses", test_near_misses },
	{ "overlap", test_overlap },
	{ "a last letter cut", test_last_letter },
	{ "reset", test_reset },
	{ "large set", test_large_set },
	{ "refusals", test_refusals },
	{ "empty set", test_empty_set },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "canary", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("canary", suites);
}
