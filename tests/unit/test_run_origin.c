/* What a manifest says of how its run came about: by whom, into which image store, with which words. */
#include <stdlib.h>

#include "runner/run.h"
#include "tests/unit/test.h"

static const char *const job_variables[] = { "CI", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "CI_JOB_ID" };

static const struct {
	const char *values[5]; /* of these variables, or NULL */
	enum manifest_executor kind;
	const char *id;
} jobs[] = {
	{ { NULL, NULL, NULL, NULL, NULL }, EXECUTOR_LOCAL, "" },
	{ { NULL, "7", "1", "a", NULL }, EXECUTOR_LOCAL, "" },
	{ { "false", "7", NULL, NULL, NULL }, EXECUTOR_LOCAL, "" },
	{ { "true", NULL, NULL, NULL, NULL }, EXECUTOR_CI, "" },
	{ { "true", "1234", "2", "Confine_it", NULL }, EXECUTOR_CI, "1234.2.confine_it" },
	{ { "true", NULL, NULL, NULL, "99" }, EXECUTOR_CI, "99" },
	{ { "true", "12\x1b[31m/../é", NULL, "a b", NULL }, EXECUTOR_CI, "1231m.ab" },
	{ { "true", "", "..", NULL, "-" }, EXECUTOR_CI, "" },
	{ { "true", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "2", NULL, NULL },
	  EXECUTOR_CI,
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
};

static struct json_document *info(const char *text)
{
	struct json_document *document = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(text, strlen(text), JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return document;
}

static void test_jobs(void)
{
	const struct options options = { .repeat = 1, .shard = 1, .shards = 1 };
	struct run run = { .options = &options };
	struct manifest_origin *origin = calloc(1, sizeof(*origin));

	run.info = info("{}");
	for (size_t i = 0; origin && i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		for (size_t v = 0; v < 5; v++) {
			if (jobs[i].values[v])
				setenv(job_variables[v], jobs[i].values[v], 1);
			else
				unsetenv(job_variables[v]);
		}
		run_origin(&run, origin);
		CU_ASSERT_EQUAL(origin->executor, (int)jobs[i].kind);
		CU_ASSERT_STRING_EQUAL(origin->executor_id, jobs[i].id);
		CU_ASSERT(!origin->executor_id[0] ||
			  schema_matches(PATTERN_ID, origin->executor_id, strlen(origin->executor_id)));
	}
	json_free(run.info);
	free(origin);
}

static const struct {
	const char *info, *store;
} stores[] = {
	{ "{}", "unknown" },
	{ "{\"DriverStatus\":null}", "unknown" },
	{ "{\"DriverStatus\":\"x\"}", "unknown" },
	{ "{\"DriverStatus\":[]}", "graphdriver" },
	{ "{\"DriverStatus\":[[\"Backing Filesystem\",\"extfs\"],[],[null],[\"driver-type\"]]}", "graphdriver" },
	{ "{\"DriverStatus\":[[\"driver-type\",\"io.containerd.snapshotter.v1\"]]}", "containerd" },
	{ "{\"DriverStatus\":[[\"a\",\"b\"],[\"driver-type\",\"io.containerd.snapshotter.v1\"]]}", "containerd" },
};

static void test_stores(void)
{
	const struct options options = { .repeat = 1, .shard = 1, .shards = 1 };
	struct manifest_origin *origin = calloc(1, sizeof(*origin));

	for (size_t i = 0; origin && i < sizeof(stores) / sizeof(stores[0]); i++) {
		struct run run = { .options = &options, .info = info(stores[i].info) };

		run_origin(&run, origin);
		CU_ASSERT_STRING_EQUAL(manifest_image_stores[origin->image_store], stores[i].store);
		json_free(run.info);
	}
	free(origin);
}

static void test_words(void)
{
	static const char *const words[] = { "baseline", "mutation" };
	struct options options = { .repeat = 3, .shard = 2, .shards = 5 };
	struct run run = { .options = &options, .seed = 77, .info = info("{}") };
	struct manifest_origin *origin = calloc(1, sizeof(*origin));

	if (!origin)
		return;
	run_origin(&run, origin);
	CU_ASSERT(origin->selection_count == 1 && strcmp(origin->selection[0], "all") == 0);
	options.words = words;
	options.words_count = 2;
	run_origin(&run, origin);
	CU_ASSERT(origin->selection_count == 2 && strcmp(origin->selection[1], "mutation") == 0);
	CU_ASSERT(origin->seed == 77 && origin->repeat == 3 && origin->shard.index == 2 && origin->shard.of == 5);
	CU_ASSERT_STRING_EQUAL(origin->replay_of.run, "");
	/* A test is linked without what a build says of itself. */
	CU_ASSERT_STRING_EQUAL(origin->build.id, "");
	json_free(run.info);
	free(origin);
}

static CU_TestInfo tests[] = {
	{ "jobs", test_jobs },
	{ "image stores", test_stores },
	{ "words", test_words },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "run_origin", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("run_origin", suites);
}
