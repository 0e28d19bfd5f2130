/* The hidden verb: one arm in a process of its own. It can be run by hand with the first three descriptors of
 * runner/arm.h. */
#include <fcntl.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "runner/arm.h"
#include "runner/verb.h"

#define READ_MS 5000

static int read_input(struct json_document **out, struct error **err)
{
	cleanup_buf struct buf text = BUF(ARM_INPUT_BYTES);
	int status = fd_read_all(ARM_FD_INPUT, &text, clock_deadline(READ_MS), err);

	if (status == 0)
		status = json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, out, err);
	buf_wipe(&text);
	return status;
}

static int write_result(const struct arm_result *result, struct error **err)
{
	cleanup_buf struct buf text = BUF(ARM_RESULT_BYTES);
	int status = arm_result_encode(result, &text, err);

	if (status == 0)
		status = fd_write_all(ARM_FD_RESULT, text.data, text.length, clock_deadline(READ_MS), err);
	buf_wipe(&text);
	return status;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_json struct json_document *input = NULL;
	cleanup_free struct arm_result *result = calloc(1, sizeof(*result));
	cleanup_error struct error *failed = NULL;

	/* Before anything of ours could have that number. */
	int steps = fcntl(ARM_FD_STEPS, F_GETFD) < 0 ? -1 : ARM_FD_STEPS;

	(void)options;
	if (!result || !(result->observations = calloc(ARM_OBSERVATIONS_MAX, sizeof(*result->observations))))
		return error_set(err, ERROR_MEMORY, "no memory for an arm");
	if (process_harden(true, 0, err) < 0 || read_input(&input, err) < 0)
		return -1;
	/* The result goes out whatever became of the arm: it says itself how it ended. */
	if (arm_run(input, steps, result, &failed) < 0)
		error_safe(error_text(failed), result->error, sizeof(result->error));
	if (write_result(result, err) < 0)
		return -1;
	arm_result_free(result);
	return failed ? EXIT_HARNESS : EXIT_PASS;
}

const struct verb verb_arm = {
	.name = "arm",
	.words = "",
	.title = "run one arm (for the runner)",
	.text = "Takes its plan on descriptor 3, gives its result on 4, ends when 5 is closed; tells its steps on 6; "
		"from 7 on are the programs of declared observers.",
	.hidden = true,
	.run = run,
};
