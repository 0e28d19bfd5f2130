/* What was probably meant by a mistyped name. */
#include "core/nearest.h"

#include "core/fd.h"
#include "tests/unit/test.h"

static const struct {
	const char *one, *other;
	unsigned distance;
} distances[] = {
	{ "", "", 0 },
	{ "", "run", 3 },
	{ "run", "run", 0 },
	{ "rn", "run", 1 },
	{ "ruun", "run", 1 },
	{ "ran", "run", 1 },
	{ "rnu", "run", 1 },
	{ "unr", "run", 2 },
	{ "basline", "baseline", 1 },
	{ "bsaelien", "baseline", 2 },
	{ "kitten", "sitting", 3 },
	{ "ca", "abc", 3 },
};

static void test_distance(void)
{
	char longest[NEAREST_MAX], longer[NEAREST_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		CU_ASSERT_EQUAL(nearest_distance(distances[i].one, distances[i].other), distances[i].distance);
		CU_ASSERT_EQUAL(nearest_distance(distances[i].other, distances[i].one), distances[i].distance);
	}
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CU_ASSERT_EQUAL(nearest_distance(longest, longest), 0);
	CU_ASSERT_EQUAL(nearest_distance("", longest), NEAREST_MAX - 1);
	CU_ASSERT(nearest_distance(longer, longer) > NEAREST_MAX);
	CU_ASSERT(nearest_distance(longest, longer) > NEAREST_MAX);
	CU_ASSERT(nearest_distance(longer, "a") > NEAREST_MAX);
}

static const char *const names[] = {
	"run", "list",     "clean", "baseline", "baseline-again", "mutation/network", "mutation/network-bridge",
	"ack", "a/b/last",
};
static const struct {
	const char *word, *name;
} meant[] = {
	{ "basline", "baseline" },
	{ "baseilne", "baseline" },
	{ "baselines", "baseline" },
	{ "baseline-agan", "baseline-again" },
	{ "mutations", "mutation" },
	{ "mutation/netwrok", "mutation/network" },
	{ "mutatoin", "mutation" }, /* a folder on the way */
	{ "mutation", "mutation" },
	{ "a/cb", "a/b" },
	{ "network", "mutation/network" },
	{ "netwrk-bridge", "mutation/network-bridge" },
	{ "rn", "run" },
	{ "rnu", "run" },
	{ "lst", "list" },
	{ "claen", "clean" },
	{ "celaen", "clean" }, /* two letters off: as many as may be */
	{ "ak", "ack" },
	{ "BASELINE", "" },
	{ "bslne", "" }, /* three letters off */
	{ "r", "" }, /* two of three letters are another word */
	{ "xx", "" },
	{ "", "" },
	{ "frobnicate", "" },
};

static void test_nearest(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(meant); i++) {
		struct nearest nearest = { .word = meant[i].word };

		for (size_t n = 0; n < ARRAY_SIZE(names); n++)
			nearest_offer_path(&nearest, names[n]);
		CU_ASSERT_STRING_EQUAL(nearest.name, meant[i].name);
		if (strcmp(nearest.name, meant[i].name) != 0)
			fprintf(stderr, "'%s' is near to '%s'\n", meant[i].word, nearest.name);
	}
}

/* The first of equals stays, a nearer one takes its place, and a part is a name only where that was asked for. */
static void test_order(void)
{
	struct nearest nearest = { .word = "probe-b" };

	nearest_offer(&nearest, "probe-xx");
	CU_ASSERT_STRING_EQUAL(nearest.name, "probe-xx");
	nearest_offer(&nearest, "probe-yy");
	CU_ASSERT_STRING_EQUAL(nearest.name, "probe-xx");
	nearest_offer(&nearest, "probe-a");
	CU_ASSERT_STRING_EQUAL(nearest.name, "probe-a");
	nearest = (struct nearest){ .word = "network" };
	nearest_offer(&nearest, "mutation/network");
	CU_ASSERT_STRING_EQUAL(nearest.name, "");
}

static void test_error_text(void)
{
	struct nearest nearest = { .word = "basline", .name = "baseline" };
	struct error *error = NULL;

	CU_ASSERT_EQUAL(nearest_error(&nearest, "scenario", "see", &error), -ERROR_USAGE);
	CU_ASSERT_STRING_EQUAL(error_text(error), "unknown scenario 'basline': did you mean 'baseline'?");
	CU_ASSERT(test_error(&error, ERROR_USAGE, "unknown"));
	nearest = (struct nearest){ .word = "\x1b[31m" };
	CU_ASSERT_EQUAL(nearest_error(&nearest, "verb", "see `harness help`", &error), -ERROR_USAGE);
	CU_ASSERT_STRING_EQUAL(error_text(error), "unknown verb '?[31m': see `harness help`");
	CU_ASSERT(test_error(&error, ERROR_USAGE, "unknown"));
}

static CU_TestInfo tests[] = {
	{ "distance", test_distance },     { "nearest", test_nearest }, { "order", test_order },
	{ "error text", test_error_text }, CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "nearest", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("nearest", suites);
}
