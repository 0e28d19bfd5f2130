#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/bench/bench.h"

#define INPUT_MS 5000
#define ARM_MS 60000

int measured_start(const char *path, const char *const *argv, const struct buf *input, bool quiet, struct measured *out,
		   struct error **err)
{
	cleanup_fd int input_read = -1, input_write = -1, result_write = -1, life_read = -1;

	*out = (struct measured){
		.child = CHILD_NONE,
		.result = -1,
		.lifeline = -1,
		.start = clock_now(),
		.text = BUF(ARM_RESULT_BYTES),
	};
	if (fd_pipe(&input_read, &input_write, err) < 0 || fd_pipe(&out->result, &result_write, err) < 0 ||
	    fd_pipe(&life_read, &out->lifeline, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = (char *const *)(uintptr_t)argv, /* exec's type; nothing writes there */
		.fds = {
			{ .from = input_read, .to = ARM_FD_INPUT },
			{ .from = result_write, .to = ARM_FD_RESULT },
			{ .from = life_read, .to = ARM_FD_LIFELINE },
			{ .from = STDERR_FILENO, .to = STDERR_FILENO },
		},
		.fds_count = quiet ? 3 : 4,
	};
	if (spawn(&options, &out->child, err) < 0)
		return -1;
	fd_close(&input_read);
	return input ? fd_write_all(input_write, input->data, input->length, clock_deadline(INPUT_MS), err) : 0;
}

int measured_finish(struct measured *measured, int64_t deadline, struct error **err)
{
	if (fd_read_all(measured->result, &measured->text, deadline, err) < 0 ||
	    child_wait(&measured->child, deadline, &measured->status, err) < 0)
		return -1;
	measured->end = clock_now();
	return 0;
}

void measured_end(struct measured *measured)
{
	fd_close(&measured->lifeline);
	fd_close(&measured->result);
	child_end(&measured->child);
	buf_wipe(&measured->text);
}

static int check_arm(const struct measured *measured, struct error **err)
{
	cleanup_free struct arm_result *result = calloc(1, sizeof(*result));
	int status;

	if (!result)
		return error_set(err, ERROR_MEMORY, "no memory for the result of an arm");
	status = arm_result_decode(buf_string(&measured->text), measured->text.length, result, err);
	if (status == 0 && (measured->status != EXIT_PASS || result->room.record.status != ARM_OK))
		status = error_set(err, ERROR_INTERNAL, "the arm that was measured ended with %s (%s)",
				   arm_status_names[result->room.record.status], result->room.record.reason);
	arm_result_free(result);
	return status;
}

int measured_arm(const struct bench *bench, const struct scenario *scenario, int64_t *duration, struct error **err)
{
	static const char *const argv[] = { "harness", "arm", NULL };
	cleanup_buf struct buf input = BUF(ARM_INPUT_BYTES);
	cleanup_measured struct measured arm = { .child = CHILD_NONE, .result = -1, .lifeline = -1 };

	if (bench_input(bench, scenario, bench->run.image_inspect, &input, err) < 0 ||
	    measured_start(BENCH_HARNESS, argv, &input, false, &arm, err) < 0 ||
	    measured_finish(&arm, clock_deadline(ARM_MS), err) < 0 || check_arm(&arm, err) < 0)
		return error_wrap(err, "an arm");
	*duration = arm.end - arm.start;
	return 0;
}
