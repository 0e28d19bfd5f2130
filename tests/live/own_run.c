#include "tests/live/own_run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter/image.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/sweep.h"

#define OBSERVATIONS_BYTES (4 * MIB)
#define LOAD_MS 30000

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

static int read_observations(struct own_run *own, struct error **err)
{
	cleanup_buf struct buf text = BUF(OBSERVATIONS_BYTES);
	char *line, *rest;

	if (fd_read_file(own->run.store.folder, "observations.jsonl", OBSERVATIONS_BYTES, &text, err) < 0)
		return -1;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) && *line && own->observations_count < OWN_OBSERVATIONS_MAX)
		if (observation_read(line, strlen(line), &own->observations[own->observations_count++], err) < 0)
			return -1;
	return 0;
}

static int perform(struct own_run *own, const struct own_run_edit *edit, struct error **err)
{
	struct run *run = &own->run;
	int status;

	if (run_plan(run, err) < 0)
		return -1;
	progress_open(&run->progress, run->options);
	run->progress.plan = run->plan;
	if (store_open(own->options.out, &run->store, err) < 0 || run_preflight(run, err) < 0 ||
	    run_observations(run, err) < 0 || take_image(run, err) < 0 || run_control_start(run, err) < 0)
		return -1;
	if (edit && edit->before)
		edit->before(run, edit->context);
	status = run_arms(run, err);
	if (edit && edit->after)
		edit->after(run, edit->context);
	if (status < 0 || read_observations(own, err) < 0)
		return -1;
	return judge(run->plan, run->records, run->plan->arms_count, own->observations, own->observations_count, false,
		     &own->verdicts, err);
}

struct own_run *own_run_open(const char *baseline, const char *id, const char *mutant, const struct own_run_edit *edit)
{
	struct own_run *own = calloc(1, sizeof(*own));
	struct error *err = NULL;
	char name[ID_MAX + 8];

	CU_ASSERT_PTR_NOT_NULL(own);
	if (!own)
		return NULL;
	live_folder_make(&own->folder);
	live_file(&own->folder, "baseline.json", baseline);
	snprintf(name, sizeof(name), "%s.json", id);
	live_file(&own->folder, name, mutant);
	own->options = (struct options){
		.socket = LIVE_SOCKET,
		.out = own->folder.path,
		.scenarios = own->folder.path,
		.jobs = 2,
		.repeat = 1,
		.shard = 1,
		.shards = 1,
		.quiet = true,
	};
	own->run = (struct run){
		.options = &own->options,
		.before = BUF(ENGINE_HEADER_BYTES * 4),
		.after = BUF(ENGINE_HEADER_BYTES * 4),
		.observations = -1,
		.store = { .out = -1, .folder = -1, .lock = -1, .sign = -1 },
	};
	CU_ASSERT_EQUAL(perform(own, edit, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return own;
}

void own_run_close(struct own_run *own)
{
	struct error *err = NULL;
	unsigned left = 0;

	if (!own)
		return;
	CU_ASSERT_EQUAL(run_control_end(&own->run, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (own->run.engine)
		CU_ASSERT_EQUAL(sweep_run(own->run.engine, own->run.context.run, &left, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(left, 0);
	store_close(&own->run.store, false);
	run_free(&own->run);
	verdicts_free(own->verdicts);
	live_folder_remove(&own->folder);
	free(own);
}

void own_run_check(const struct own_run *own, int exit_code, enum verdict mutation, enum because because,
		   enum verdict cell, enum because cell_because)
{
	const struct verdicts *verdicts = own ? own->verdicts : NULL;

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

int own_run_main(const char *name, CU_SuiteInfo *suites, int argc, char **argv)
{
	static const struct options none;
	cleanup_error struct error *error = NULL;

	if (argc == 2 && strcmp(argv[1], verb_arm.name) == 0)
		return verb_arm.run(&none, &error) == 0 ? EXIT_PASS : EXIT_HARNESS;
	return live_main(name, suites);
}
