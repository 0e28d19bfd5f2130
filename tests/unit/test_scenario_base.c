/* What a scenario takes from another: probes and cells from its base, all that is run from its control. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

#define CELL(subject, observer, value, class)                                                                          \
	"{\"subject\":\"" subject "\",\"observer\":\"" observer "\",\"op\":\"eq\",\"value\":" value                    \
	",\"class\":\"" class "\"}"
#define FLIPS(subject, observer)                                                                                       \
	"{\"subject\":\"" subject "\",\"observer\":\"" observer                                                        \
	"\",\"op\":\"eq\",\"value\":1,\"class\":\"protected\",\"flips\":true}"

static const char base[] = "{\"title\":\"b\",\"probes\":[\"tcp4\",\"permitted\"],\"expect\":[" CELL(
	"tcp4", "tcp4", "0", "protected") "," CELL("permitted", "deliveries", "1", "control") "]}";
static const char open_network[] =
	"{\"title\":\"n\",\"control\":\"base\",\"removes\":[\"network\"],\"expect\":[" FLIPS("tcp4", "tcp4") "]}";
static const char heir[] = "{\"title\":\"h\",\"base\":\"base\",\"probes\":[\"denied\"],\"misbehaviour\":{\"id\":"
			   "\"raw\",\"count\":2,\"bytes\":"
			   "\"0a\"},\"after\":[\"after\"],\"ends\":\"frame-invalid\",\"labels\":{\"permitted\":\"pii\"}"
			   ",\"limits\":{\"calls\":3},"
			   "\"tries\":2,\"windowMs\":100,"
			   "\"expect\":[" CELL("after", "deliveries", "0",
					       "protected") "," CELL("permitted", "deliveries", "2", "control") "]}";
static const char passed[] = "{\"title\":\"p\",\"control\":\"heir\",\"removes\":[\"strict-frames\"],\"expect\":[" FLIPS(
	"after", "deliveries") "]}";

struct file {
	const char *path, *text;
};

/* Loads a folder of the files, of which each list ends by one without a path. */
static int load(const struct file *files, const struct file *more, struct scenario **out, size_t *count,
		struct error **err)
{
	char folder[] = "/tmp/harness-scenarios-XXXXXX";
	cleanup_fd int directory = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const struct file *const lists[] = { files, more };
	cleanup_error struct error *ignored = NULL;
	int result = directory < 0 ? error_set(err, ERROR_SYSTEM, "no temporary folder") : 0;

	for (size_t list = 0; list < ARRAY_SIZE(lists); list++)
		for (const struct file *one = lists[list]; result == 0 && one->path; one++)
			result = fd_write_atomic(directory, one->path, one->text, strlen(one->text), 0600, err);
	if (result == 0)
		result = scenario_load_all(directory, &world_names, out, count, err);
	if (fd_remove_tree(AT_FDCWD, folder, &ignored) < 0)
		CU_FAIL("the temporary folder stays");
	return result;
}

static const struct file whole[] = {
	{ "base.json", base }, { "open.json", open_network }, { "heir.json", heir }, { "passed.json", passed },
	{ NULL, NULL },
};
static const struct file none[] = { { NULL, NULL } };

static void test_taken(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	const struct scenario *from, *to, *mutant;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(load(whole, none, &scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	from = scenario_find(scenarios, count, "base");
	to = scenario_find(scenarios, count, "heir");
	mutant = scenario_find(scenarios, count, "passed");
	CU_ASSERT(from && to && mutant);
	if (!from || !to || !mutant)
		return;
	CU_ASSERT_EQUAL(to->probes_count, 3);
	CU_ASSERT_STRING_EQUAL(to->probes[0], "tcp4");
	CU_ASSERT_STRING_EQUAL(to->probes[1], "permitted");
	CU_ASSERT_STRING_EQUAL(to->probes[2], "denied");
	CU_ASSERT_STRING_EQUAL(to->base, "");
	CU_ASSERT_EQUAL(to->expect_count, 3);
	CU_ASSERT_EQUAL(scenario_cell(to, "tcp4", "tcp4")->value, 0);
	/* Stated again: the heir's own word holds. */
	CU_ASSERT_EQUAL(scenario_cell(to, "permitted", "deliveries")->value, 2);
	CU_ASSERT_TRUE(scenario_pauses(to));
	CU_ASSERT_FALSE(scenario_pauses(from));
	CU_ASSERT_TRUE(scenario_after(to, "after"));
	CU_ASSERT_FALSE(scenario_after(to, "denied"));
	CU_ASSERT_TRUE(scenario_tries(to, "denied"));
	CU_ASSERT_FALSE(scenario_tries(to, "after"));

	CU_ASSERT_EQUAL(mutant->expect_count, 1);
	CU_ASSERT_STRING_EQUAL(mutant->ends, "");
	CU_ASSERT_EQUAL(memcmp(mutant->probes, to->probes, sizeof(to->probes)), 0);
	CU_ASSERT_EQUAL(memcmp(&mutant->misbehaviour, &to->misbehaviour, sizeof(to->misbehaviour)), 0);
	CU_ASSERT_EQUAL(mutant->after_count, 1);
	CU_ASSERT_EQUAL(mutant->limits.calls, 3);
	CU_ASSERT_STRING_EQUAL(mutant->labels.permitted, "pii");
	CU_ASSERT_EQUAL(mutant->tries, 2);
	CU_ASSERT_EQUAL(mutant->window_ms, 100);
}

/* What is tried behind a misbehaviour is earned by a mutant of the same misbehaviour alone. */
static void test_earned(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;
	struct scenario *mutant = NULL;
	const struct scenario *to;

	CU_ASSERT_EQUAL(load(whole, none, &scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	to = scenario_find(scenarios, count, "heir");
	for (size_t i = 0; i < count; i++)
		if (strcmp(scenarios[i].id, "passed") == 0)
			mutant = &scenarios[i];
	if (!to || !mutant)
		return;
	CU_ASSERT_TRUE(scenario_earns(mutant, to, scenario_cell(to, "after", "deliveries")));
	mutant->misbehaviour.count++;
	CU_ASSERT_FALSE(scenario_earns(mutant, to, scenario_cell(to, "after", "deliveries")));
	mutant->misbehaviour.count--;
	mutant->misbehaviour.bytes[0] = '1';
	CU_ASSERT_FALSE(scenario_earns(mutant, to, scenario_cell(to, "after", "deliveries")));
}

static void test_refused(void)
{
	static const struct {
		struct file file;
		const char *part;
	} rows[] = {
		{ { "a.json",
		    "{\"title\":\"a\",\"base\":\"moon\",\"expect\":[" CELL("tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: base: no other scenario has this id" },
		{ { "a.json",
		    "{\"title\":\"a\",\"base\":\"a\",\"expect\":[" CELL("tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: base: no other scenario has this id" },
		{ { "a.json",
		    "{\"title\":\"a\",\"base\":\"heir\",\"expect\":[" CELL("tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: base: a base has no base itself" },
		{ { "a.json",
		    "{\"title\":\"a\",\"base\":\"open\",\"expect\":[" CELL("tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: base: a base has no base itself" },
		{ { "a.json", "{\"title\":\"a\",\"expect\":[" CELL("tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: probes: none, and none from a base" },
		{ { "a.json", "{\"title\":\"a\",\"base\":\"base\",\"probes\":[\"tcp4\"],\"expect\":[" CELL(
				      "tcp4", "tcp4", "0", "protected") "]}" },
		  "a.json: probes[2]: 'tcp4' stands there twice" },
		{ { "a.json", "{\"title\":\"a\",\"control\":\"moon\",\"removes\":[\"network\"],\"probes\":[\"tcp4\"],"
			      "\"expect\":[" FLIPS("tcp4", "tcp4") "]}" },
		  "a.json: control: unknown 'moon'" },
		{ { "a.json", "{\"title\":\"a\",\"control\":\"heir\",\"removes\":[\"ack\"],\"probes\":[\"tcp4\"],"
			      "\"expect\":[" FLIPS("tcp4", "tcp4") "]}" },
		  "a.json: probes: not those of the control" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct file more[] = { rows[i].file, { NULL, NULL } };
		cleanup_free struct scenario *scenarios = NULL;
		struct error *err = NULL;
		size_t count = 0;

		CU_ASSERT(load(whole, more, &scenarios, &count, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
	}
}

static CU_TestInfo tests[] = {
	{ "taken", test_taken },
	{ "earned", test_earned },
	{ "refused", test_refused },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "base", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};

	return test_main("scenario base", suites);
}
