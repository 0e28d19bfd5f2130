#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "adapter/demux.h"
#include "adapter/frame.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_steps.h"
#include "tests/bench/bench.h"

#define STEP_MS 30000
#define READ_BYTES (64 * KIB)
#define TOTAL_BYTES (256 * MIB)
#define NAME_BYTES 64
#define FIRST_PORT 40000

static const char allowed[] = "{\"allowed\":true,\"response\":\"recorded\"}\n";
static const char denied[] = "{\"allowed\":false,\"response\":null}\n";

/* ---- the conversation ---- */

struct talk {
	int attach;
	struct demux demux;
	struct frame_reader reader;
	struct buf last; /* the latest permitted frame */
};

static bool holds(struct json_span line, const char *text)
{
	return memmem(line.bytes, line.length, text, strlen(text)) != NULL;
}

static int reply(struct talk *talk, struct json_span line, struct error **err)
{
	const char *text = allowed;

	if (holds(line, "\"operation\":\"done\""))
		return shutdown(talk->attach, SHUT_WR) < 0 ? error_errno(err, errno, "half-closing the stream") : 0;
	if (holds(line, "\"operation\":\"denied\"")) {
		text = denied;
	} else {
		talk->last.length = 0;
		(void)buf_add(&talk->last, line.bytes, line.length);
	}
	return fd_write_all(talk->attach, text, strlen(text), clock_deadline(STEP_MS), err);
}

static int take(void *context, enum demux_stream stream, const void *bytes, size_t length, struct error **err)
{
	struct talk *talk = context;
	struct json_span line;

	if (stream != DEMUX_STDOUT)
		return 0;
	if (frame_reader_feed(&talk->reader, bytes, length) != CONTROL_REASON_NONE)
		return error_set(err, ERROR_PROTOCOL, "the agent wrote too much");
	while (frame_reader_next(&talk->reader, &line))
		if (reply(talk, line, err) < 0)
			return -1;
	return 0;
}

static int until_end(struct talk *talk, struct error **err)
{
	char bytes[READ_BYTES];

	for (;;) {
		ssize_t got = recv(talk->attach, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (got == 0)
			return 0;
		if (got > 0) {
			if (demux_feed(&talk->demux, bytes, (size_t)got, take, talk, err) < 0)
				return -1;
		} else if (errno != EAGAIN && errno != EINTR) {
			return error_errno(err, errno, "the attach stream");
		} else {
			int ready = fd_wait(talk->attach, POLLIN, clock_deadline(STEP_MS), err);

			if (ready <= 0)
				return ready < 0 ? ready : error_set(err, ERROR_TIMEOUT, "the agent is silent");
		}
	}
}

/* The orders, an answer to each frame, the half-close, and the stream to its end. */
static int talk_all(int attach, const struct buf *orders, struct buf *last, struct error **err)
{
	struct talk talk = { .attach = attach, .last = BUF(FRAME_BYTES) };
	int status;

	demux_init(&talk.demux, ATTACH_FRAME_BYTES);
	frame_reader_init(&talk.reader, FRAME_BYTES, TOTAL_BYTES);
	status = fd_write_all(attach, orders->data, orders->length, clock_deadline(STEP_MS), err);
	if (status == 0)
		status = until_end(&talk, err);
	if (status == 0 && last)
		(void)buf_add(last, talk.last.data, talk.last.length);
	frame_reader_free(&talk.reader);
	buf_free(&talk.last);
	return status;
}

/* ---- the engine's calls, one after the other ---- */

static int discard(void *context, const void *bytes, size_t length, struct error **err)
{
	(void)context;
	(void)bytes;
	(void)length;
	(void)err;
	return 0;
}

static int inspect(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	bool found = false;

	return engine_inspect(arm->engine, arm->session.container, &answer, &found, err);
}

static int changes(struct arm *arm, const char *id, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);

	return engine_changes(arm->engine, id, &answer, err);
}

static int archive(struct arm *arm, struct error **err)
{
	cleanup_result struct engine_result result = { 0 };
	struct engine_request *request = NULL;

	if (engine_archive_begin(arm->engine, arm->session.container, "/", discard, NULL, &request, err) < 0)
		return -1;
	return engine_finish(arm->engine, request, &result, err);
}

static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int events(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf lines = BUF(ENGINE_ANSWER_BYTES);
	char filters[160];

	snprintf(filters, sizeof(filters), "{\"type\":[\"container\"],\"container\":[\"%s\"]}", arm->session.container);
	return engine_events(arm->engine, arm->created_wall - NS_PER_S, wall_ns(), filters, &lines, err);
}

static int create(struct arm *arm, struct error **err)
{
	static const char *const command[] = { "/agent", NULL };
	const struct profile_identity identity = {
		.image = arm->context.image,
		.run = arm->context.run,
		.role = "arm",
		.command = command,
	};
	cleanup_buf struct buf body = BUF(64 * KIB);
	cleanup_buf struct buf warnings = BUF(64 * KIB);
	struct canary random;
	char name[NAME_BYTES];

	if (profile_create_body(&profile_reference, &identity, &body, err) < 0 || canary_new(&random, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "harness-%.8s-bare-%.12s", arm->context.run, random.text + strlen("canary-"));
	arm->created_wall = wall_ns();
	return engine_create(arm->engine, name, body.data, body.length, arm->session.container, &warnings, err);
}

static int attach_and_start(struct arm *arm, struct engine_request **waiting, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES);
	struct engine_request *starting = NULL;

	if (engine_attach(arm->engine, arm->session.container, &arm->session.attach, &rest, err) < 0 ||
	    engine_wait_begin(arm->engine, arm->session.container, clock_deadline(STEP_MS), waiting, err) < 0 ||
	    engine_start_begin(arm->engine, arm->session.container, &starting, err) < 0)
		return -1;
	return engine_start_finish(arm->engine, starting, err);
}

/* What an arm asks about the run's control container, and again about its own, before it lets plaintext in. */
static int ask_before(struct arm *arm, struct error **err)
{
	long status = 0;

	if (inspect(arm, err) < 0 || inspect(arm, err) < 0)
		return -1;
	if (engine_logs(arm->engine, arm->context.control, discard, NULL, &status, err) < 0 ||
	    changes(arm, arm->context.control, err) < 0)
		return -1;
	return inspect(arm, err);
}

static int ask_after(struct arm *arm, struct error **err)
{
	long status = 0;

	if (archive(arm, err) < 0 || changes(arm, arm->session.container, err) < 0 ||
	    engine_logs(arm->engine, arm->session.container, discard, NULL, &status, err) < 0)
		return -1;
	return inspect(arm, err) < 0 ? -1 : events(arm, err);
}

static int live(struct arm *arm, const struct buf *orders, struct buf *last, struct error **err)
{
	struct engine_request *waiting = NULL;
	int64_t exit_code = -1;
	int status;

	if (create(arm, err) < 0 || inspect(arm, err) < 0)
		return -1;
	status = attach_and_start(arm, &waiting, err);
	if (status == 0)
		status = ask_before(arm, err);
	if (status == 0)
		status = talk_all(arm->session.attach, orders, last, err);
	if (status == 0)
		status = engine_wait_finish(arm->engine, steal_pointer(&waiting), &exit_code, err);
	engine_cancel(arm->engine, waiting);
	fd_close(&arm->session.attach);
	if (status == 0)
		status = ask_after(arm, err);
	return status;
}

static int whole_life(struct arm *arm, const struct buf *orders, struct buf *last, struct error **err)
{
	struct error *late = NULL;
	int status;

	if (engine_open(arm->context.socket, &arm->engine, err) < 0 ||
	    engine_use_version(arm->engine, arm->context.api, err) < 0)
		return -1;
	status = live(arm, orders, last, err);
	if (arm->session.container[0] && engine_remove(arm->engine, arm->session.container, &late) < 0)
		error_keep_first(err, &late);
	return *err ? -1 : status;
}

static void arm_close(struct arm **arm)
{
	if (!*arm)
		return;
	fd_close(&(*arm)->session.attach);
	engine_close((*arm)->engine);
	free(*arm);
}
#define cleanup_arm __attribute__((cleanup(arm_close)))

/* Of the arm's struct only the context, the scenario, the engine and the container's id are used. */
static int arm_new(struct json_document *input, struct arm **out, struct error **err)
{
	struct arm *arm = calloc(1, sizeof(*arm));

	*out = arm;
	if (!arm)
		return error_set(err, ERROR_MEMORY, "no memory for a lifecycle");
	arm->input = input;
	session_init(&arm->session, NULL, NULL, &arm->options);
	return arm_input_decode(arm, err);
}

static const char *address_of(const struct arm *arm, const struct probe_route *route)
{
	switch (route->address) {
	case PROBE_LOOPBACK4:
		return "127.0.0.1";
	case PROBE_LOOPBACK6:
		return "::1";
	case PROBE_NIC:
		return arm->context.nic[0] ? arm->context.nic : "-";
	default:
		return route->target ? route->target : "-";
	}
}

static int put_orders(const struct arm *arm, struct buf *out, struct error **err)
{
	struct canary canary;

	(void)buf_printf(out, "tries %lld\n", (long long)arm->scenario.tries);
	for (size_t i = 0; i < arm->scenario.probes_count; i++) {
		const struct probe_route *route = probe_find(arm->scenario.probes[i]);

		if (!route)
			return error_set(err, ERROR_INTERNAL, "the scenario has a probe without a route");
		if (canary_new(&canary, err) < 0)
			return -1;
		(void)buf_printf(out, "probe %s %s %s %u\n", route->id, canary.text, address_of(arm, route),
				 FIRST_PORT + (unsigned)i);
	}
	(void)buf_text(out, "then done\n");
	return buf_check(out, "the orders", err);
}

int bare_lifecycle(struct json_document *input, struct error **err)
{
	cleanup_arm struct arm *arm = NULL;
	cleanup_buf struct buf orders = BUF(FRAME_BYTES);

	if (arm_new(input, &arm, err) < 0 || put_orders(arm, &orders, err) < 0 ||
	    whole_life(arm, &orders, NULL, err) < 0)
		return error_wrap(err, "a bare lifecycle");
	return 0;
}

int call_times_read(const char *bytes, size_t length, struct call_times *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *numbers;

	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, "the agent's numbers");
	numbers = json_member(json_root(document), "arguments");
	if (!json_int64(json_member(numbers, "calls"), &out->calls) ||
	    !json_int64(json_member(numbers, "medianNs"), &out->median_ns) ||
	    !json_int64(json_member(numbers, "p99Ns"), &out->p99_ns) ||
	    !json_int64(json_member(numbers, "totalNs"), &out->total_ns) || out->median_ns <= 0 || out->total_ns <= 0)
		return error_set(err, ERROR_INPUT, "the agent's last call does not hold its numbers");
	return 0;
}

int bare_calls(struct json_document *input, long calls, struct call_times *out, struct error **err)
{
	cleanup_arm struct arm *arm = NULL;
	cleanup_buf struct buf orders = BUF(KIB);
	cleanup_buf struct buf last = BUF(FRAME_BYTES);

	(void)buf_printf(&orders, "calls %ld\n", calls);
	if (arm_new(input, &arm, err) < 0 || whole_life(arm, &orders, &last, err) < 0)
		return error_wrap(err, "calls over the bare stream");
	return call_times_read(buf_string(&last), last.length, out, err);
}
