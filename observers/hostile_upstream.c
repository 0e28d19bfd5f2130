/*
 * The protected sink, until permitted.tool is called a second time: the call is recorded, as the recorder does, and
 * then this upstream misbehaves as its first argument says. All else it serves honestly. A second argument names the
 * sink's file, as the recorder's does. A fixture: no session of a user's runs it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "observers/sink.h"

#define CALL_IT_ACTS_AT 2
#define CALLS_MAX 2
#define QUEUE_BYTES (2 * MIB)
#define LAST_WRITE_MS 1000
#define EXIT_ERROR 3
#define EXIT_USAGE 4
/* A flood is told in whole pieces, and ends by itself where nobody stops taking it. */
#define PIECE_BYTES MIB
#define PIECES_MAX 64
#define PIECE_MS 5000
/* What of a call it says again, at most. */
#define PAYLOAD_BYTES (64 * KIB)
#define LATE_MS 300

struct manner {
	const char *id;
	int (*act)(struct mcp_request *request, struct error **err);
};

struct upstream {
	const struct manner *manner;
	int calls; /* of permitted.tool */
	struct mcp_request *listing; /* not answered yet, or NULL */
	int64_t list_at;
};

static const struct manner manners[12];
static const struct mcp_handler handlers[3];

static int note(struct error **err)
{
	return sink_append(SINK_FD, SINK_PEER_ACTED, (struct json_span){ .bytes = "{}", .length = 2 }, err);
}

static int die(struct mcp_request *request, struct error **err)
{
	(void)request;
	return error_set(err, ERROR_CLOSED, "it leaves during the call");
}

static int hang(struct mcp_request *request, struct error **err)
{
	(void)request;
	(void)err;
	return 0;
}

/* One line that never ends: it passes the limit of an answer, and that of a line. */
static int flood(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf piece = BUF(PIECE_BYTES);
	char *to = buf_reserve(&piece, PIECE_BYTES);
	int r = to ? 0 : error_set(err, ERROR_MEMORY, "no memory for a flood");

	(void)request;
	if (to)
		memset(to, 'x', PIECE_BYTES);
	for (int i = 0; i < PIECES_MAX && r == 0; i++) {
		r = fd_write_all(STDOUT_FILENO, to, PIECE_BYTES, clock_deadline(PIECE_MS), err);
		if (r == 0)
			r = note(err);
	}
	return r;
}

/* An answer to what was never asked; an earlier call's id would be taken for an answer that comes late. */
static int answer_other(struct mcp_request *request, struct error **err)
{
	static const char other[] = "{\"jsonrpc\":\"2.0\",\"id\":1000000,\"result\":{\"content\":[]}}\n";

	(void)request;
	return fd_write_all(STDOUT_FILENO, other, sizeof(other) - 1, clock_deadline(PIECE_MS), err);
}

/* More than all the pipes between it and the agent hold. */
static int answer_long(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(QUEUE_BYTES);
	char *to;

	(void)buf_text(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"");
	to = buf_reserve(&result, PIECE_BYTES);
	if (to) {
		memset(to, 'x', PIECE_BYTES);
		buf_commit(&result, PIECE_BYTES);
	}
	(void)buf_text(&result, "\"}]}");
	if (buf_check(&result, "a long answer", err) < 0)
		return -1;
	mcp_request_result(request, (struct json_span){ .bytes = result.data, .length = result.length });
	return 0;
}

static struct json_span arguments_of(const struct mcp_request *request)
{
	return json_raw(json_member(mcp_request_params(request), "arguments"));
}

/* What follows says again what the call bore. */
static void put_payload(struct buf *out, const char *before, struct mcp_request *request, const char *behind)
{
	struct json_span arguments = arguments_of(request);
	struct json_writer writer;

	buf_text(out, before);
	json_begin(&writer, out);
	json_put_bytes(&writer, arguments.bytes, arguments.length);
	buf_text(out, behind);
}

static int refuse(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf data = BUF(PAYLOAD_BYTES), message = BUF(PAYLOAD_BYTES);
	struct json_span arguments = arguments_of(request);

	put_payload(&data, "{\"arguments\":", request, "}");
	buf_add(&message, arguments.bytes, arguments.length);
	if (buf_check(&data, "an error", err) < 0 || buf_check(&message, "an error", err) < 0)
		return -1;
	mcp_request_error(request, RPC_SERVER_ERROR, buf_string(&message),
			  (struct json_span){ .bytes = data.data, .length = data.length });
	return 0;
}

/* To its standard output or its standard error, and no line of the protocol. */
static int say(int fd, struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf line = BUF(PAYLOAD_BYTES);
	struct json_span arguments = arguments_of(request);

	buf_text(&line, "it was asked ");
	buf_add(&line, arguments.bytes, arguments.length);
	buf_text(&line, "\n");
	return buf_check(&line, "a line", err) < 0
		       ? -1
		       : fd_write_all(fd, line.data, line.length, clock_deadline(PIECE_MS), err);
}

static int break_off(struct mcp_request *request, struct error **err)
{
	return say(STDOUT_FILENO, request, err);
}

static int complain(struct mcp_request *request, struct error **err)
{
	int r = say(STDERR_FILENO, request, err);

	if (r == 0)
		sink_answer(request);
	return r;
}

static int echo(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(PAYLOAD_BYTES);

	put_payload(&result, "{\"content\":[{\"type\":\"text\",\"text\":", request, "}]}");
	if (buf_check(&result, "an answer", err) < 0)
		return -1;
	mcp_request_result(request, (struct json_span){ .bytes = result.data, .length = result.length });
	return 0;
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	struct upstream *upstream = context;
	const char *tool = sink_record(SINK_FD, request, err);

	if (!tool)
		return *err ? -1 : 0;
	if (strcmp(tool, "permitted.tool") == 0 && ++upstream->calls == CALL_IT_ACTS_AT)
		return note(err) < 0 ? -1 : upstream->manner->act(request, err);
	sink_answer(request);
	return 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	struct upstream *upstream = context;

	if (strcmp(upstream->manner->id, "lists-late") != 0)
		return sink_list(request, err);
	upstream->listing = request;
	upstream->list_at = clock_deadline(LATE_MS);
	return 0;
}

static int list_late(struct upstream *upstream, struct mcp_server *server, struct error **err)
{
	struct mcp_request *request = upstream->listing;

	if (!request || clock_now() < upstream->list_at)
		return 0;
	upstream->listing = NULL;
	return sink_list(request, err) < 0 ? -1 : mcp_server_resume(server, err);
}

static int serve(const struct manner *manner, const char *path, struct error **err)
{
	struct upstream upstream = { .manner = manner };
	const struct mcp_server_options options = {
		.name = "hostile-upstream",
		.version = HARNESS_VERSION,
		.handlers = handlers,
		.context = &upstream,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = QUEUE_BYTES, .calls_max = CALLS_MAX },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;
	int64_t end = clock_deadline(HELPER_LIFE_MS);
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = sink_open(path, err);
	if (r == 0)
		r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, err);
	while (r == 0) {
		r = mcp_server_dispatch(server, upstream.listing ? upstream.list_at : end, err);
		if (r == 0)
			r = list_late(&upstream, server, err);
		if (r == 0 && clock_now() >= end)
			r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	}
	return r < 0 ? r : mcp_server_flush(server, clock_deadline(LAST_WRITE_MS), err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	const struct manner *manner = manners;

	while (manner->id && (argc < 2 || argc > 3 || strcmp(manner->id, argv[1]) != 0))
		manner++;
	if (!manner->id) {
		fprintf(stderr, "hostile-upstream: its first argument is a manner that it knows\n");
		return EXIT_USAGE;
	}
	if (serve(manner, argc > 2 ? argv[2] : NULL, &err) == 0)
		return 0;
	fprintf(stderr, "hostile-upstream: %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct mcp_handler handlers[] = {
	{ .method = "tools/list", .run = run_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};

static const struct manner manners[] = {
	{ .id = "dies", .act = die },
	{ .id = "hangs", .act = hang },
	{ .id = "floods", .act = flood },
	{ .id = "other-id", .act = answer_other },
	{ .id = "long-answer", .act = answer_long },
	{ .id = "refuses", .act = refuse },
	{ .id = "breaks-off", .act = break_off },
	{ .id = "complains", .act = complain },
	{ .id = "echoes", .act = echo },
	/* These act by what they are, or before they are called. */
	{ .id = "undeclared", .act = complain },
	{ .id = "lists-late", .act = complain },
	{ .id = NULL },
};
