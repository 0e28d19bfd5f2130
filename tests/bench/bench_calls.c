#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_steps.h"
#include "tests/bench/bench.h"

#define SESSION_LONG_MS 120000
#define RECORDER_BYTES (256 * MIB)
#define NUMBERS "\"medianNs\":"

static const struct arm arm_empty;

static int prepare(struct arm *arm, struct error **err)
{
	const struct json_node *root = json_root(arm->input);

	if (arm_input_decode(arm, err) < 0)
		return -1;
	session_options_reference(&arm->options);
	arm->options.limits.calls = RECORDER_BYTES / KIB;
	arm->options.limits.stdout_bytes = RECORDER_BYTES;
	arm->options.limits.session_ms = SESSION_LONG_MS;
	arm->target = (struct session_target){
		.socket = arm->context.socket,
		.run = arm->context.run,
		.image = arm->context.image,
		.image_inspect = json_member(root, "image"),
		.info = json_member(root, "info"),
	};
	if (engine_open(arm->context.socket, &arm->engine, err) < 0 ||
	    engine_use_version(arm->engine, arm->context.api, err) < 0 || loop_new(&arm->loop, err) < 0)
		return -1;
	session_init(&arm->session, arm->engine, &arm->target, &arm->options);
	for (int phase = WIRE_BEFORE; phase <= WIRE_AFTER; phase++)
		if (canary_new(&arm->markers[phase], err) < 0)
			return -1;
	return store_arm_folder(arm->context.run, &arm->folder, &arm->lock, arm->path, err);
}

static bool guarded(const struct arm *arm)
{
	return arm->told.ended || (arm->told.guarded && arm->told.armed);
}

/* The steps of an arm in its order, without the observers. */
static int open_session(struct arm *arm, struct error **err)
{
	if (session_create(&arm->session, "arm", err) < 0 || session_attach(&arm->session, err) < 0 ||
	    session_start(&arm->session, err) < 0 || arm_gateway_start(arm, err) < 0 ||
	    session_bridge(&arm->session, arm->gateway_in, arm->gateway_out, err) < 0)
		return -1;
	fd_close(&arm->gateway_in);
	fd_close(&arm->gateway_out);
	if (session_started(&arm->session, err) < 0 || session_kernel(&arm->session, err) < 0 ||
	    session_guard(&arm->session, err) < 0 || arm_watch(arm, err) < 0 ||
	    arm_wait(arm, guarded, clock_deadline(ARM_READY_MS), err) < 0)
		return -1;
	return session_readmit(&arm->session, err);
}

/* The recorder's line that holds the numbers; the calls and the beacon stand around it. */
static int find_numbers(const struct arm *arm, struct buf *line, struct error **err)
{
	cleanup_buf struct buf text = BUF(RECORDER_BYTES);
	const char *found, *start, *end;

	if (lseek(arm->recorder, 0, SEEK_SET) < 0)
		return error_errno(err, errno, "the recorder's file");
	if (fd_read_all(arm->recorder, &text, clock_deadline(ARM_REPORT_MS), err) < 0)
		return -1;
	found = strstr(buf_string(&text), NUMBERS);
	if (!found)
		return error_set(err, ERROR_PROTOCOL,
				 "the recorder holds no numbers of the agent: the session ended with %s",
				 control_reason_names[arm->told.reason]);
	for (start = found; start > text.data && start[-1] != '\n'; start--)
		;
	end = strchr(found, '\n');
	(void)buf_add(line, start, end ? (size_t)(end - start) : strlen(start));
	return buf_check(line, "the agent's numbers", err);
}

static int run(struct arm *arm, long calls, struct buf *line, struct error **err)
{
	cleanup_buf struct buf payload = BUF(KIB);

	(void)buf_printf(&payload, "calls %ld\n", calls);
	if (prepare(arm, err) < 0 || open_session(arm, err) < 0 || arm_exchange(arm, &payload, err) < 0)
		return -1;
	return find_numbers(arm, line, err);
}

static void finish(struct arm *arm, struct error **err)
{
	struct error *late = NULL;

	if (arm->session.engine && session_end(&arm->session, &late) < 0)
		error_keep_first(err, &late);
	arm_gateway_end(arm);
	fd_close(&arm->recorder);
	fd_close(&arm->decisions);
	if (arm->folder >= 0)
		store_arm_remove(&arm->folder, &arm->lock, arm->path);
	loop_free(arm->loop);
	engine_close(arm->engine);
}

int confined_calls(struct json_document *input, long calls, struct buf *line, struct error **err)
{
	cleanup_free struct arm *arm = calloc(1, sizeof(*arm));
	cleanup_free struct arm_result *result = calloc(1, sizeof(*result));

	if (!arm || !result)
		return error_set(err, ERROR_MEMORY, "no memory for a session");
	*arm = arm_empty;
	arm->input = input;
	arm->start = clock_now();
	arm_room_open(&result->room);
	arm->result = result;
	session_init(&arm->session, NULL, NULL, &arm->options);
	(void)!run(arm, calls, line, err);
	finish(arm, err);
	return *err ? error_wrap(err, "calls of a confined session") : 0;
}

static const struct arm arm_empty = {
	.records = { .folder = -1, .audit = -1, .errors = -1, .hostile = CHILD_NONE, .refusals = CHILD_NONE },
	.gateway = CHILD_NONE,
	.relay = CHILD_NONE,
	.gateway_in = -1,
	.gateway_out = -1,
	.gateway_life = -1,
	.folder = -1,
	.lock = -1,
	.recorder = -1,
	.decisions = -1,
	.archive = -1,
	.netns = -1,
	.end_by = NEVER,
};
