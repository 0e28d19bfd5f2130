/* A canary's shape that nobody knows, in each encoding, wherever the bytes are cut; and what only looks like one. */
#include <fcntl.h>
#include <stdlib.h>

#include "core/canary.h"
#include "core/fd.h"
#include "core/limits.h"
#include "reports/shape.h"
#include "tests/unit/canary_carriers.h"
#include "tests/unit/test.h"

static bool seen_in_two(const char *bytes, size_t length, size_t cut)
{
	struct shape shape = { 0 };
	bool first = shape_feed(&shape, bytes, cut);

	return shape_feed(&shape, bytes + cut, length - cut) || first;
}

static void test_encodings(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		for (size_t cut = 0; cut <= carriers[i].length; cut++)
			CU_ASSERT(seen_in_two(carriers[i].bytes, carriers[i].length, cut));
}

/* Between other bytes, a byte at a time, twice. */
static void test_byte_by_byte(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++) {
		struct shape shape = { 0 };
		size_t times = 0;

		for (size_t turn = 0; turn < 2; turn++) {
			CU_ASSERT(!shape_feed(&shape, "{\"a\":\"cana-", 11));
			for (size_t at = 0; at < carriers[i].length; at++)
				times += shape_feed(&shape, carriers[i].bytes + at, 1);
		}
		CU_ASSERT_EQUAL(times, 2);
	}
}

/* Without any one of its bytes a form is none; a base64 or base32 may lack what stands around the canary. */
static void test_near_misses(void)
{
	static const char *const rows[] = {
		"canary-[a-p]{32}",
		"canary-abcdefghijklmnopabcdefghijklmno",
		"canary-abcdefghijklmnopabcdefghijklmnoq",
		"canary-abcdefghijklmnopabcdefghijklmnoP",
		"canary-abcdefghijklmnop canary-abcdefghijklmnop",
		"ponmlkjihgfedcbaponmlkjihgfedcb-yranac",
		"qonmlkjihgfedcbaponmlkjihgfedcba-yranac",
		/* letters beyond p; one in capitals; a digit that is none */
		"63616e6172792d7162636465666768696a6b6c6d6e6f706162636465666768696a6b6c6d6e6f70",
		"63616e6172792d6162636465666768696A6b6c6d6e6f706162636465666768696a6b6c6d6e6f70",
		"Y2FuYXJ5LWFiY2RlZmdoaWprbG1ub3BhYmNkZWZnaGlqa2xtb.9w",
		"MNQW4YLSPEWWCYTDMRSWMZ3INFVGW3DNNZXXAYLCMNSGKZTHNBUWU23MNVXG6",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shape shape = { 0 };

		CU_ASSERT(!shape_feed(&shape, rows[i], strlen(rows[i])));
	}
}

/* ---- the table that the other scanner is held against too ---- */

#define SAMPLES "tests/data/canary/samples.txt"
#define SAMPLE_MAX 2048

static size_t read_hex(const char *digits, char out[SAMPLE_MAX])
{
	size_t length = 0;

	for (; digits[0] && digits[1] && length < SAMPLE_MAX; digits += 2) {
		char pair[] = { digits[0], digits[1], '\0' };

		out[length++] = (char)strtoul(pair, NULL, 16);
	}
	return length;
}

static void check_sample(const char *line, bool hits[CANARY_ENCODINGS], bool misses[CANARY_ENCODINGS])
{
	char verdict[8] = "", name[32] = "", digits[2 * SAMPLE_MAX + 1] = "", bytes[SAMPLE_MAX];
	bool wanted, seen = false;
	size_t length;

	CU_ASSERT_EQUAL(sscanf(line, "%7s %31s %4096s", verdict, name, digits), 3);
	wanted = strcmp(verdict, "hit") == 0;
	CU_ASSERT(wanted || strcmp(verdict, "none") == 0);
	length = read_hex(digits, bytes);
	for (size_t cut = 0; cut <= length; cut += 7) {
		seen = seen_in_two(bytes, length, cut);
		CU_ASSERT_EQUAL(seen, wanted);
	}
	if (seen != wanted)
		fprintf(stderr, "%s %s: %s\n", verdict, name, digits);
	for (size_t i = 0; i < CANARY_ENCODINGS; i++)
		if (strcmp(canary_encoding_name(i), name) == 0)
			(wanted ? hits : misses)[i] = true;
}

/* Each encoding has samples that are hit, and some that nearly are. */
static void test_samples(void)
{
	bool hits[CANARY_ENCODINGS] = { false }, misses[CANARY_ENCODINGS] = { false };
	cleanup_buf struct buf text = BUF(MIB);
	struct error *err = NULL;
	char *line, *rest;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, SAMPLES, MIB, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (rest = text.data; (line = strsep(&rest, "\n"));)
		if (*line && *line != '#')
			check_sample(line, hits, misses);
	for (size_t i = 0; i < CANARY_ENCODINGS; i++)
		CU_ASSERT(hits[i] && misses[i]);
}

static CU_TestInfo tests[] = {
	{ "each encoding, cut anywhere", test_encodings },
	{ "byte by byte", test_byte_by_byte },
	{ "near misses", test_near_misses },
	{ "samples", test_samples },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "shape", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("shape", suites);
}
