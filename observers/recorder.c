/*
 * The protected sink: a real MCP server over stdio. What reaches one of its tools is appended, a line each with a
 * single write, to a file that another program counts. It decides nothing, and it knows nothing of gateway and bridge.
 */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "mcp/server.h"

#define SINK_FD 3
#define QUEUE_BYTES (64 * KIB)
#define ANSWER_BYTES (4 * KIB)
#define LAST_WRITE_MS 1000
#define EXIT_ERROR 3

struct recorder {
	int sink;
};

static const char *const tools[4];
static const struct mcp_handler handlers[3];

static bool is_tool(const char *name)
{
	for (size_t i = 0; tools[i]; i++)
		if (name && strcmp(name, tools[i]) == 0)
			return true;
	return false;
}

static int append(const struct recorder *recorder, const char *tool, struct json_span arguments, struct error **err)
{
	struct buf line = BUF(arguments.length + ANSWER_BYTES);
	struct json_writer writer;
	int r;

	json_begin(&writer, &line);
	json_object(&writer);
	json_member_string(&writer, "tool", tool);
	json_put_key(&writer, "arguments");
	json_put_raw(&writer, arguments.bytes, arguments.length);
	json_object_end(&writer);
	buf_text(&line, "\n");
	r = buf_check(&line, "a line of the sink", err);
	/* One write a line: a reader never sees lines mixed, and a part of a line only where the disk is full. */
	if (r == 0) {
		ssize_t put = write(recorder->sink, line.data, line.length);

		if (put < 0)
			r = error_errno(err, errno, "appending to the sink");
		else if ((size_t)put < line.length)
			r = error_set(err, ERROR_LIMIT, "the sink took a part of a line");
	}
	buf_wipe(&line);
	return r;
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	const struct json_node *params = mcp_request_params(request);
	const struct json_node *arguments = json_member(params, "arguments");
	const char *tool = json_string(json_member(params, "name"));
	static const char result[] = "{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}";
	int r;

	if (!is_tool(tool) || !arguments || json_type(arguments) != JSON_OBJECT) {
		mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
		return 0;
	}
	r = append(context, tool, json_raw(arguments), err);
	if (r < 0)
		return r;
	mcp_request_result(request, (struct json_span){ .bytes = result, .length = sizeof(result) - 1 });
	return 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(ANSWER_BYTES);
	struct json_writer writer;
	int r;

	(void)context;
	json_begin(&writer, &result);
	json_object(&writer);
	json_put_key(&writer, "tools");
	json_array(&writer);
	for (size_t i = 0; tools[i]; i++) {
		json_object(&writer);
		json_member_string(&writer, "name", tools[i]);
		json_member_string(&writer, "description", "record synthetic data");
		json_put_key(&writer, "inputSchema");
		json_object(&writer);
		json_member_string(&writer, "type", "object");
		json_object_end(&writer);
		json_object_end(&writer);
	}
	json_array_end(&writer);
	json_object_end(&writer);
	r = buf_check(&result, "the list of tools", err);
	if (r == 0)
		mcp_request_result(request, rpc_span(&result));
	return r;
}

static int serve(struct error **err)
{
	struct recorder recorder = { .sink = SINK_FD };
	const struct mcp_server_options options = {
		.name = "recorder",
		.version = HARNESS_VERSION,
		.handlers = handlers,
		.context = &recorder,
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

static const char *const tools[] = { "permitted.tool", "public.tool", "beacon.tool", NULL };
