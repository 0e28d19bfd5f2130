/*
 * A mutation that is not applied: the arms get other documents than the plan says, and are judged under the plan. The
 * test is its own runner: started with the word "arm" it is the hidden verb.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter/image.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/run.h"
#include "runner/sweep.h"
#include "tests/live/live.h"

#define OBSERVATIONS_BYTES (4 * MIB)
#define OBSERVATIONS_MAX 256
#define LOAD_MS 30000

static const char baseline[], network[];

struct stage {
	struct live_folder folder;
	struct options options;
	struct run run;
	struct scenario edited;
	struct observation observations[OBSERVATIONS_MAX];
	size_t observations_count;
	struct verdicts *verdicts;
};

static int take_image(struct run *run, struct error **err)
{
	cleanup_fd int agent = open(TEST_BUILD "/agent", O_RDONLY | O_CLOEXEC);
	cleanup_fd int file = memfd_create("image", MFD_CLOEXEC);
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	struct image image = { .archive = BUF(0) };
	bool found = false;
	int status = image_build(agent, image_architecture(), &image, err);

	if (status == 0)
		status = fd_write_all(file, image.archive.data, image.archive.length, clock_deadline(LOAD_MS), err);
	if (status == 0)
		status = engine_image_load(run->engine, file, image.archive.length, err);
	if (status == 0)
		status = engine_image_inspect(run->engine, image.tag, &answer, &found, err);
	if (status == 0)
		status = json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, &run->image_inspect, err);
	if (status == 0)
		snprintf(run->context.image, sizeof(run->context.image), "%s",
			 json_string(json_member(json_root(run->image_inspect), "Id")));
	image_free(&image);
	return status;
}

static int read_observations(struct stage *stage, struct error **err)
{
	cleanup_buf struct buf text = BUF(OBSERVATIONS_BYTES);
	char *line, *rest;

	if (fd_read_file(stage->run.store.folder, "observations.jsonl", OBSERVATIONS_BYTES, &text, err) < 0)
		return -1;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) && *line && stage->observations_count < OBSERVATIONS_MAX)
		if (observation_read(line, strlen(line), &stage->observations[stage->observations_count++], err) < 0)
			return -1;
	return 0;
}

/* What the mutant's arm gets instead of its document: its control's under its own name, or one that takes away
 * `removes`. */
static void edit(struct stage *stage, const char *removes)
{
	const struct run *run = &stage->run;

	for (size_t i = 0; i < run->plan->arms_count; i++) {
		struct plan_arm *arm = &run->plan->arms[i];

		if (arm->scenario->removes_count == 0)
			continue;
		stage->edited = removes ? *arm->scenario
					: *scenario_find(run->scenarios, run->scenarios_count, arm->scenario->control);
		snprintf(stage->edited.id, sizeof(stage->edited.id), "%s", arm->scenario->id);
		if (removes)
			snprintf(stage->edited.removes[0], sizeof(stage->edited.removes[0]), "%s", removes);
		arm->scenario = &stage->edited;
	}
}

static void restore(struct stage *stage)
{
	const struct run *run = &stage->run;

	for (size_t i = 0; i < run->plan->arms_count; i++)
		if (run->plan->arms[i].scenario == &stage->edited)
			run->plan->arms[i].scenario =
				scenario_find(run->scenarios, run->scenarios_count, stage->edited.id);
}

static int perform(struct stage *stage, bool edited, const char *removes, struct error **err)
{
	struct run *run = &stage->run;
	int status;

	if (run_plan(run, err) < 0 || store_open(stage->options.out, &run->store, err) < 0 ||
	    run_preflight(run, err) < 0 || run_observations(run, err) < 0 || take_image(run, err) < 0 ||
	    run_control_start(run, err) < 0)
		return -1;
	if (edited)
		edit(stage, removes);
	status = run_arms(run, err);
	restore(stage);
	if (status < 0 || read_observations(stage, err) < 0)
		return -1;
	return judge(run->plan, run->records, run->plan->arms_count, stage->observations, stage->observations_count,
		     false, &stage->verdicts, err);
}

static struct stage *stage_open(bool edited, const char *removes)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(stage);
	if (!stage)
		return NULL;
	live_folder_make(&stage->folder);
	live_file(&stage->folder, "baseline.json", baseline);
	live_file(&stage->folder, "mutation/network.json", network);
	stage->options = (struct options){
		.socket = LIVE_SOCKET,
		.out = stage->folder.path,
		.scenarios = stage->folder.path,
		.jobs = 2,
		.quiet = true,
	};
	stage->run = (struct run){
		.options = &stage->options,
		.before = BUF(ENGINE_HEADER_BYTES * 4),
		.after = BUF(ENGINE_HEADER_BYTES * 4),
		.observations = -1,
		.store = { .out = -1, .folder = -1, .lock = -1, .sign = -1 },
	};
	CU_ASSERT_EQUAL(perform(stage, edited, removes, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return stage;
}

static void stage_close(struct stage *stage)
{
	struct error *err = NULL;
	unsigned left = 0;

	if (!stage)
		return;
	CU_ASSERT_EQUAL(run_control_end(&stage->run, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (stage->run.engine)
		CU_ASSERT_EQUAL(sweep_run(stage->run.engine, stage->run.context.run, &left, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(left, 0);
	store_close(&stage->run.store, false);
	run_free(&stage->run);
	verdicts_free(stage->verdicts);
	live_folder_remove(&stage->folder);
	free(stage);
}

static void check(const struct stage *stage, int exit_code, enum verdict mutation, enum because because,
		  enum verdict cell, enum because cell_because)
{
	const struct verdicts *verdicts = stage ? stage->verdicts : NULL;

	CU_ASSERT_PTR_NOT_NULL(verdicts);
	if (!verdicts)
		return;
	CU_ASSERT_EQUAL(verdicts->exit_code, exit_code);
	CU_ASSERT_EQUAL(verdicts->arms_not_ok, 0);
	CU_ASSERT_EQUAL(verdicts->mutations_count, 1);
	CU_ASSERT_EQUAL(verdicts->mutations[0].verdict, mutation);
	CU_ASSERT_EQUAL(verdicts->mutations[0].because, because);
	for (size_t i = 0; i < verdicts->cells_count; i++) {
		if (strcmp(verdicts->cells[i].scenario->id, "baseline") != 0 ||
		    verdicts->cells[i].expectation->class != CELL_PROTECTED)
			continue;
		CU_ASSERT_EQUAL(verdicts->cells[i].verdict, cell);
		CU_ASSERT_EQUAL(verdicts->cells[i].because, cell_because);
	}
}

/* Else the other two would show nothing. */
static void test_as_planned(void)
{
	struct stage *stage = stage_open(false, NULL);

	check(stage, EXIT_PASS, VERDICT_PASS, BECAUSE_MET, VERDICT_PASS, BECAUSE_MET);
	stage_close(stage);
}

static void test_nothing_removed(void)
{
	struct stage *stage = stage_open(true, NULL);

	check(stage, EXIT_NOT_ESTABLISHED, VERDICT_NOT_ESTABLISHED, BECAUSE_DIFFERENCE, VERDICT_NOT_ESTABLISHED,
	      BECAUSE_UNEARNED);
	if (stage && stage->verdicts)
		CU_ASSERT_FALSE(stage->verdicts->mutations[0].installed);
	stage_close(stage);
}

static void test_another_removed(void)
{
	struct stage *stage = stage_open(true, "read-only");

	check(stage, EXIT_FAIL, VERDICT_FAIL, BECAUSE_UNDETECTED, VERDICT_NOT_ESTABLISHED, BECAUSE_UNEARNED);
	stage_close(stage);
}

static CU_TestInfo tests[] = {
	{ "as planned", test_as_planned },
	{ "nothing removed", test_nothing_removed },
	{ "another protection removed", test_another_removed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "not applied", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

static const char baseline[] =
	"{ \"title\": \"one closed way\", \"probes\": [\"tcp4\", \"permitted\"], \"expect\": ["
	"{ \"subject\": \"tcp4\", \"observer\": \"tcp4\", \"op\": \"eq\", \"value\": 0, \"class\": \"protected\" },"
	"{ \"subject\": \"permitted\", \"observer\": \"deliveries\", \"op\": \"eq\", \"value\": 1, \"class\": "
	"\"control\" }"
	"] }";
static const char network[] =
	"{ \"title\": \"the same way, open\", \"control\": \"baseline\", \"removes\": [\"network\"],"
	"\"probes\": [\"tcp4\", \"permitted\"], \"expect\": ["
	"{ \"subject\": \"tcp4\", \"observer\": \"tcp4\", \"op\": \"eq\", \"value\": 1, \"class\": \"protected\","
	"\"flips\": true },"
	"{ \"subject\": \"permitted\", \"observer\": \"deliveries\", \"op\": \"eq\", \"value\": 1, \"class\": "
	"\"control\" }"
	"] }";

int main(int argc, char **argv)
{
	static const struct options none;
	cleanup_error struct error *error = NULL;

	if (argc == 2 && strcmp(argv[1], verb_arm.name) == 0)
		return verb_arm.run(&none, &error) == 0 ? EXIT_PASS : EXIT_HARNESS;
	return live_main("test_not_applied", suites);
}
