/*
 * The protected sink: a real MCP server over stdio. What reaches one of its tools is appended to a file that another
 * program counts. It decides nothing, and it knows nothing of gateway and bridge.
 */
#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "observers/sink.h"

#define QUEUE_BYTES (64 * KIB)
#define LAST_WRITE_MS 1000
#define EXIT_ERROR 3

static const struct mcp_handler handlers[3];

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	if (sink_record(SINK_FD, request, err))
		sink_answer(request);
	return *err ? -1 : 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	return sink_list(request, err);
}

static int serve(struct error **err)
{
	const struct mcp_server_options options = {
		.name = "recorder",
		.version = HARNESS_VERSION,
		.handlers = handlers,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = QUEUE_BYTES, .calls_max = 1 },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, err);
	while (r == 0)
		r = mcp_server_dispatch(server, NEVER, err);
	return r < 0 ? r : mcp_server_flush(server, clock_deadline(LAST_WRITE_MS), err);
}

int main(void)
{
	cleanup_error struct error *err = NULL;

	if (serve(&err) == 0)
		return 0;
	fprintf(stderr, "recorder: %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct mcp_handler handlers[] = {
	{ .method = "tools/list", .run = run_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};
