/* A canary's shape that nobody knows, in each encoding, wherever the bytes are cut; and what only looks like one. */
#include "core/fd.h"
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
		/* one byte is itself */
		"%63%61%6e%61%72%79%2d%61%62%63%64%65%66%67%68%69%6a%6b%6c%6d%6e%6f%70%61%62%63%64%65%66%67%68%69%6a%6b"
		"%6c%6d%6ep%70",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shape shape = { 0 };

		CU_ASSERT(!shape_feed(&shape, rows[i], strlen(rows[i])));
	}
}

static CU_TestInfo tests[] = {
	{ "each encoding, cut anywhere", test_encodings },
	{ "byte by byte", test_byte_by_byte },
	{ "near misses", test_near_misses },
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
