#include "observers/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/fd.h"
#include "core/limits.h"

#define ANSWER_BYTES (4 * KIB)

static const char *find_tool(const char *name)
{
	for (size_t i = 0; name && sink_tools[i]; i++)
		if (strcmp(name, sink_tools[i]) == 0)
			return sink_tools[i];
	return NULL;
}

int sink_open(const char *path, struct error **err)
{
	cleanup_fd int fd = -1;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_errno(err, errno, "the sink's file");
	if (fd == SINK_FD)
		return steal_fd(&fd) - SINK_FD;
	return dup3(fd, SINK_FD, O_CLOEXEC) < 0 ? error_errno(err, errno, "the sink's file") : 0;
}

int sink_append(int fd, const char *tool, struct json_span arguments, struct error **err)
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
		ssize_t put = write(fd, line.data, line.length);

		if (put < 0)
			r = error_errno(err, errno, "appending to the sink");
		else if ((size_t)put < line.length)
			r = error_set(err, ERROR_LIMIT, "the sink took a part of a line");
	}
	buf_wipe(&line);
	return r;
}

const char *sink_record(int fd, struct mcp_request *request, struct error **err)
{
	const struct json_node *params = mcp_request_params(request);
	const struct json_node *arguments = json_member(params, "arguments");
	const char *tool = find_tool(json_string(json_member(params, "name")));

	if (!tool || !arguments || json_type(arguments) != JSON_OBJECT) {
		mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
		return NULL;
	}
	return sink_append(fd, tool, json_raw(arguments), err) == 0 ? tool : NULL;
}

void sink_answer(struct mcp_request *request)
{
	static const char result[] = "{\"content\":[{\"type\":\"text\",\"text\":\"recorded\"}]}";

	mcp_request_result(request, (struct json_span){ .bytes = result, .length = sizeof(result) - 1 });
}

int sink_list(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(ANSWER_BYTES);
	struct json_writer writer;
	int r;

	json_begin(&writer, &result);
	json_object(&writer);
	json_put_key(&writer, "tools");
	json_array(&writer);
	for (size_t i = 0; sink_tools[i]; i++) {
		json_object(&writer);
		json_member_string(&writer, "name", sink_tools[i]);
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

const char *const sink_tools[] = { "permitted.tool", "public.tool", "beacon.tool", SINK_SLOW, NULL };
