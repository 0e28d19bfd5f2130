/* Flags of `run` that take numbers: what they mean, and what they refuse. */
#include <stdlib.h>

#include "core/fd.h"
#include "runner/verb.h"
#include "tests/unit/test.h"

struct row {
	const char *flag, *value;
	const char *refused; /* part of the error; NULL: it is taken */
	int64_t repeat, shard, shards, seed;
};
static const struct row rows[];
static const size_t rows_count;

static int parse(const char *flag, const char *value, struct options *out, struct error **err)
{
	cleanup_free char *first = strdup(flag);
	cleanup_free char *second = strdup(value);
	cleanup_free const char **storage = NULL;
	char *argv[] = { first, second, NULL };

	return options_parse("run", 2, argv, out, &storage, err);
}

static void test_numbers(void)
{
	for (size_t i = 0; i < rows_count; i++) {
		const struct row *row = &rows[i];
		struct error *err = NULL;
		struct options options;
		int result = parse(row->flag, row->value, &options, &err);

		if (row->refused) {
			CU_ASSERT(result < 0);
			CU_ASSERT(test_error(&err, ERROR_USAGE, row->refused));
			continue;
		}
		CU_ASSERT_EQUAL(result, 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(options.repeat, row->repeat ? row->repeat : 1);
		CU_ASSERT_EQUAL(options.shard, row->shard ? row->shard : 1);
		CU_ASSERT_EQUAL(options.shards, row->shards ? row->shards : 1);
		CU_ASSERT_EQUAL(options.seed, row->seed);
	}
}

/* With a value or none, known or not: how the flag is refused, or that it is taken. */
static void test_no_value(void)
{
	static const struct {
		const char *flag, *refused;
	} words[] = {
		{ "--verbose=1", "--verbose takes no value" },
		{ "--json=1", "--json takes no value" },
		{ "--json=", "--json takes no value" },
		{ "--quiet=", "--quiet takes no value" },
		{ "-q=1", "--quiet takes no value" },
		{ "--dry-run=1", "--dry-run takes no value" },
		{ "--require-signature=1", "--require-signature is not for `harness run`" },
		{ "--verbos=1", "unknown flag '--verbos': did you mean '--verbose'?" },
		{ "--verbose", NULL },
		{ "-v", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct error *err = NULL;
		struct options options;
		int result = parse(words[i].flag, "all", &options, &err);

		CU_ASSERT_EQUAL(result < 0, words[i].refused != NULL);
		if (words[i].refused)
			CU_ASSERT(test_error(&err, ERROR_USAGE, words[i].refused));
		CU_ASSERT(words[i].refused || options.verbose);
	}
}

static CU_TestInfo tests[] = {
	{ "flags without a value", test_no_value },
	{ "numbers of the flags", test_numbers },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "options", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("options", suites);
}

#define REPEAT "--repeat takes a whole number from 1 to 100"
#define SHARD "--shard takes I/N"
#define SEED "--seed takes a whole number from 0 to 9007199254740991"

static const struct row rows[] = {
	{ "--repeat", "1", NULL, .repeat = 1, .seed = -1 },
	{ "--repeat", "100", NULL, .repeat = 100, .seed = -1 },
	{ "--repeat", "0", .refused = REPEAT },
	{ "--repeat", "101", .refused = REPEAT },
	{ "--repeat", "-1", .refused = REPEAT },
	{ "--repeat", "+1", .refused = REPEAT },
	{ "--repeat", " 1", .refused = REPEAT },
	{ "--repeat", "1 ", .refused = REPEAT },
	{ "--repeat", "", .refused = REPEAT },
	{ "--repeat", "two", .refused = REPEAT },
	{ "--repeat", "0x2", .refused = REPEAT },
	{ "--repeat", "18446744073709551617", .refused = REPEAT },
	{ "--shard", "1/1", NULL, .seed = -1 },
	{ "--shard", "2/3", NULL, .shard = 2, .shards = 3, .seed = -1 },
	{ "--shard", "64/64", NULL, .shard = 64, .shards = 64, .seed = -1 },
	{ "--shard", "0/2", .refused = SHARD },
	{ "--shard", "3/2", .refused = SHARD },
	{ "--shard", "1/0", .refused = SHARD },
	{ "--shard", "1/65", .refused = SHARD },
	{ "--shard", "1", .refused = SHARD },
	{ "--shard", "1/", .refused = SHARD },
	{ "--shard", "/2", .refused = SHARD },
	{ "--shard", "1/2/3", .refused = SHARD },
	{ "--shard", "1/2x", .refused = SHARD },
	{ "--shard", "a/b", .refused = SHARD },
	{ "--shard", "-1/2", .refused = SHARD },
	{ "--shard", "1/-2", .refused = SHARD },
	{ "--shard", "1/18446744073709551618", .refused = SHARD },
	{ "--shard", "18446744073709551617/2", .refused = SHARD },
	{ "--seed", "0", NULL, .seed = 0 },
	{ "--seed", "9007199254740991", NULL, .seed = 9007199254740991 },
	{ "--seed", "9007199254740992", .refused = SEED },
	{ "--seed", "-1", .refused = SEED },
	{ "--seed", "99999999999999999999", .refused = SEED },
	{ "--seed", "1e3", .refused = SEED },
	{ "--seed", "", .refused = SEED },
};
static const size_t rows_count = ARRAY_SIZE(rows);
