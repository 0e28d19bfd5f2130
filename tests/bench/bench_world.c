#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter/image.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/sweep.h"
#include "tests/bench/bench.h"

#define FOLDER "/tmp/harness-bench-XXXXXX"
#define WRITE_MS 30000

static int make_folder(struct bench *bench, struct error **err)
{
	char path[] = FOLDER;

	if (!mkdtemp(path))
		return error_errno(err, errno, "a folder below /tmp");
	snprintf(bench->folder, sizeof(bench->folder), "%s", path);
	bench->options.out = bench->folder;
	return store_open(bench->options.out, &bench->run.store, err);
}

static int load(struct engine *engine, const struct image *image, struct error **err)
{
	cleanup_fd int file = memfd_create("image", MFD_CLOEXEC);

	if (file < 0)
		return error_errno(err, errno, "memory for an image");
	if (fd_write_all(file, image->archive.data, image->archive.length, clock_deadline(WRITE_MS), err) < 0)
		return -1;
	return engine_image_load(engine, file, image->archive.length, err);
}

/* By its tag: that finds it in every kind of store. */
static int build(struct engine *engine, int program, struct image *image, struct json_document **out,
		 struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	bool found = false;

	if (image_build(program, image_architecture(), image, err) < 0 || load(engine, image, err) < 0 ||
	    engine_image_inspect(engine, image->tag, &answer, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_ENGINE, "the engine took an image and does not have it");
	return json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, out, err);
}

static int take_image(struct bench *bench, const char *path, struct json_document **out, char tag[ID_MAX],
		      struct error **err)
{
	cleanup_fd int program = open(path, O_RDONLY | O_CLOEXEC);
	struct image image = { .archive = BUF(0) };
	int status;

	if (program < 0)
		return error_errno(err, errno, "the program of an image");
	status = build(bench->run.engine, program, &image, out, err);
	if (status == 0 && tag)
		snprintf(tag, ID_MAX, "%s", image.tag);
	image_free(&image);
	return status;
}

static int image_id(const struct json_document *inspect, char *out, size_t size, struct error **err)
{
	const char *id = json_string(json_member(json_root(inspect), "Id"));

	if (!id || strlen(id) >= size)
		return error_set(err, ERROR_ENGINE, "the engine gives an image no id");
	snprintf(out, size, "%s", id);
	return 0;
}

int bench_open(struct bench *bench, struct error **err)
{
	struct run *run = &bench->run;

	*bench = (struct bench){
		.options = { .scenarios = "scenarios", .jobs = BENCH_JOBS, .quiet = true },
		.run = {
			.options = &bench->options,
			.before = BUF(ENGINE_HEADER_BYTES * 4),
			.after = BUF(ENGINE_HEADER_BYTES * 4),
			.observations = -1,
			.store = { .out = -1, .folder = -1, .lock = -1, .sign = -1 },
		},
	};
	if (options_socket(NULL, &bench->options.socket, err) < 0 || run_plan(run, err) < 0)
		return -1;
	bench->baseline = scenario_find(run->scenarios, run->scenarios_count, "baseline");
	if (!bench->baseline)
		return error_set(err, ERROR_INTERNAL, "there is no scenario 'baseline'");
	if (make_folder(bench, err) < 0 || run_preflight(run, err) < 0 ||
	    take_image(bench, TEST_BUILD "/agent", &run->image_inspect, NULL, err) < 0 ||
	    take_image(bench, TEST_BUILD "/tests/bench-agent", &bench->calls_image, bench->calls_tag, err) < 0 ||
	    image_id(run->image_inspect, run->context.image, sizeof(run->context.image), err) < 0)
		return -1;
	return run_control_start(run, err);
}

int bench_close(struct bench *bench, struct error **err)
{
	struct run *run = &bench->run;
	struct error *late = NULL;
	unsigned left = 0;

	if (run->engine) {
		if (run_control_end(run, &late) < 0)
			error_keep_first(err, &late);
		if (run->context.run[0] && sweep_run(run->engine, run->context.run, &left, &late) < 0)
			error_keep_first(err, &late);
		if (bench->calls_tag[0] && engine_image_remove(run->engine, bench->calls_tag, &late) < 0)
			error_keep_first(err, &late);
	}
	bench->calls_tag[0] = '\0';
	store_close(&run->store, false);
	if (bench->folder[0] && fd_remove_tree(AT_FDCWD, bench->folder, &late) < 0)
		error_keep_first(err, &late);
	bench->folder[0] = '\0';
	json_free(steal_pointer(&bench->calls_image));
	run_free(run);
	*run = (struct run){ .observations = -1, .store = { .out = -1, .folder = -1, .lock = -1, .sign = -1 } };
	return *err ? -1 : 0;
}

int bench_input(const struct bench *bench, const struct scenario *scenario, const struct json_document *image,
		struct buf *out, struct error **err)
{
	struct arm_context context = bench->run.context;

	if (image_id(image, context.image, sizeof(context.image), err) < 0)
		return -1;
	return arm_input_encode(&context, scenario, &bench->run.declared, 1, json_raw(json_root(bench->run.info)),
				json_raw(json_root(image)), out, err);
}
