/*
 * The protected sink: a real MCP server over stdio. What reaches one of its tools is appended to a file that another
 * program counts. It decides nothing, and it knows nothing of gateway and bridge.
 *
 * Its file is descriptor SINK_FD, or, where whoever starts it passes none, its one argument.
 *
 * SINK_SLOW takes as long as its argument `milliseconds` says, and has an effect at both of its ends: what reaches it
 * is recorded when it begins, and once more before it answers.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "observers/sink.h"

#define QUEUE_BYTES (64 * KIB)
#define LAST_WRITE_MS 1000
#define EXIT_ERROR 3
#define SLOW_MS_MAX 10000

struct recorder {
	struct mcp_request *slow; /* the call that is not answered yet, or NULL */
	int64_t slow_until;
};

static const struct mcp_handler handlers[3];

static const struct json_node *arguments_of(const struct mcp_request *request)
{
	return json_member(mcp_request_params(request), "arguments");
}

static bool is_slow(const struct mcp_request *request)
{
	const char *tool = json_string(json_member(mcp_request_params(request), "name"));

	return tool && strcmp(tool, SINK_SLOW) == 0;
}

static bool lasts(const struct mcp_request *request, int64_t *milliseconds)
{
	return json_int64(json_member(arguments_of(request), "milliseconds"), milliseconds) && *milliseconds >= 0 &&
	       *milliseconds <= SLOW_MS_MAX;
}

/* Ends the slow call once its time has come. */
static int end_slow(struct recorder *recorder, struct mcp_server *server, struct error **err)
{
	struct mcp_request *request = recorder->slow;

	if (!request || clock_now() < recorder->slow_until)
		return 0;
	recorder->slow = NULL;
	if (sink_append(SINK_FD, SINK_SLOW, json_raw(arguments_of(request)), err) < 0)
		return -1;
	sink_answer(request);
	return mcp_server_resume(server, err);
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	struct recorder *recorder = context;
	bool slow = is_slow(request);
	int64_t milliseconds = 0;

	if (slow && !lasts(request, &milliseconds)) {
		mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
		return 0;
	}
	if (!sink_record(SINK_FD, request, err))
		return *err ? -1 : 0;
	if (slow) {
		recorder->slow = request;
		recorder->slow_until = clock_deadline(milliseconds);
	} else {
		sink_answer(request);
	}
	return 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	return sink_list(request, err);
}

static int serve(const char *path, struct error **err)
{
	struct recorder recorder = { .slow = NULL };
	const struct mcp_server_options options = {
		.name = "recorder",
		.version = HARNESS_VERSION,
		.handlers = handlers,
		.context = &recorder,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = QUEUE_BYTES, .calls_max = 1 },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;
	int64_t end = clock_deadline(HELPER_LIFE_MS);
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = sink_open(path, err);
	if (r == 0)
		r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, err);
	while (r == 0) {
		r = mcp_server_dispatch(server, recorder.slow ? recorder.slow_until : end, err);
		if (r == 0)
			r = end_slow(&recorder, server, err);
		if (r == 0 && clock_now() >= end)
			r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	}
	return r < 0 ? r : mcp_server_flush(server, clock_deadline(LAST_WRITE_MS), err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (serve(argc > 1 ? argv[1] : NULL, &err) == 0)
		return 0;
	fprintf(stderr, "recorder: %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct mcp_handler handlers[] = {
	{ .method = "tools/list", .run = run_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};
