/*
 * The real gateway behind a relay that misbehaves at the second call of permitted.tool, as its one argument says. All
 * else passes as it is. It takes the gateway's descriptors and hands them on. A fixture: no session of a user's runs
 * it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "gateway/config.h"
#include "mcp/stream.h"

#define LAST_WRITE_MS 1000
#define END_MS 1000
#define TIMER_LATE 0
#define CALL_IT_ACTS_AT 2
/* Far above what a session under test lets a call take, far below what one without that limit lasts. */
#define LATE_MS 2000
#define EXIT_ERROR 3
#define EXIT_USAGE 4

struct relay;

/* What happens at the call, before it goes on, and what becomes of its answer. NULL: as if nothing were. Each returns
 * 0 to pass the line on, 1 when it took it, negative for the end. */
struct manner {
	const char *id;
	int (*at_call)(struct relay *relay, struct error **err);
	int (*at_answer)(struct relay *relay, struct json_span line, struct error **err);
};

struct relay {
	const struct manner *manner;
	struct loop *loop;
	struct child gateway;
	struct mcp_stream caller, inner; /* inner: towards the gateway */
	int calls; /* of permitted.tool */
	int64_t awaited; /* the id of the call that it acts at, or -1: not called yet, or answered */
	struct buf held; /* an answer that is late */
};

static const struct manner manners[5];

static int on_ready(void *context, int fd, short revents, struct error **err);

/* ---- manners ---- */

/* In the upstream's file, which neither bridge nor gateway writes: a line as of a tool, which none is. */
static int note(struct error **err)
{
	static const char line[] = "{\"tool\":\"peer.acted\",\"arguments\":{}}\n";
	ssize_t put = write(GATEWAY_FD_PASS, line, sizeof(line) - 1);

	return put == (ssize_t)sizeof(line) - 1 ? 0 : error_errno(err, errno, "the note that it acted");
}

static int leave(struct relay *relay, struct error **err)
{
	(void)relay;
	return note(err) < 0 ? -1 : error_set(err, ERROR_CLOSED, "it leaves");
}

/* Behind the upstream's answer, so that the call took effect. */
static int leave_unanswered(struct relay *relay, struct json_span line, struct error **err)
{
	(void)line;
	return leave(relay, err);
}

static int babble(struct relay *relay, struct json_span line, struct error **err)
{
	static const char garbage[] = "\xff\xfe{\"jsonrpc\":2.0,\x01]]\n";

	(void)line;
	if (note(err) < 0)
		return -1;
	buf_add(mcp_stream_queue(&relay->caller), garbage, sizeof(garbage) - 1);
	return 1;
}

static void put_line(struct buf *out, struct json_span line)
{
	buf_add(out, line.bytes, line.length);
	buf_text(out, "\n");
}

static int on_late(void *context, struct error **err)
{
	struct relay *relay = context;

	if (note(err) < 0)
		return -1;
	buf_add(mcp_stream_queue(&relay->caller), buf_string(&relay->held), relay->held.length);
	buf_wipe(&relay->held);
	return on_ready(relay, -1, 0, err);
}

/* Told twice: that it holds the answer, and that it gave it. */
static int hold(struct relay *relay, struct json_span line, struct error **err)
{
	if (note(err) < 0)
		return -1;
	put_line(&relay->held, line);
	loop_timer(relay->loop, TIMER_LATE, clock_deadline(LATE_MS), on_late, relay);
	return 1;
}

/* ---- the way of a line ---- */

static bool is_call(const struct rpc_message *message)
{
	const char *tool = json_string(json_member(message->params, "name"));

	return message->kind == RPC_REQUEST && message->number >= 0 && strcmp(message->method, "tools/call") == 0 &&
	       tool && strcmp(tool, "permitted.tool") == 0;
}

static int pass_in(struct relay *relay, struct json_span line, struct error **err)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_rpc struct rpc_message message = { .document = NULL };

	if (relay->calls < CALL_IT_ACTS_AT && rpc_decode(line.bytes, line.length, &message, &ignored) == 0 &&
	    is_call(&message) && ++relay->calls == CALL_IT_ACTS_AT) {
		relay->awaited = message.number;
		if (relay->manner->at_call && relay->manner->at_call(relay, err) < 0)
			return -1;
	}
	put_line(mcp_stream_queue(&relay->inner), line);
	return 0;
}

static int pass_out(struct relay *relay, struct json_span line, struct error **err)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_rpc struct rpc_message message = { .document = NULL };
	int taken = 0;

	if (relay->awaited >= 0 && rpc_decode(line.bytes, line.length, &message, &ignored) == 0 &&
	    message.kind != RPC_REQUEST && message.number == relay->awaited) {
		relay->awaited = -1;
		if (relay->manner->at_answer)
			taken = relay->manner->at_answer(relay, line, err);
	}
	if (taken == 0)
		put_line(mcp_stream_queue(&relay->caller), line);
	return taken < 0 ? taken : 0;
}

/* One read from one side, and its lines to the other. */
static int move(struct relay *relay, struct mcp_stream *from, struct mcp_stream *to,
		int (*pass)(struct relay *relay, struct json_span line, struct error **err), struct error **err)
{
	struct json_span line;
	int r = 0;

	if (!from->ended && mcp_stream_pending(to) <= MCP_LINE_BYTES)
		r = mcp_stream_read(from, err);
	while (r == 0) {
		r = rpc_framer_next(&from->framer, &line, err);
		if (r <= 0)
			break;
		r = pass(relay, line, err);
	}
	return r < 0 ? r : mcp_stream_flush(to, err);
}

static int watch(struct relay *relay, struct error **err)
{
	bool in = mcp_stream_pending(&relay->inner) <= MCP_LINE_BYTES;
	bool out = mcp_stream_pending(&relay->caller) <= MCP_LINE_BYTES;
	int r = mcp_stream_watch(&relay->caller, in, relay->loop, on_ready, relay, err);

	return r < 0 ? r : mcp_stream_watch(&relay->inner, out, relay->loop, on_ready, relay, err);
}

/* Either side's end is the end of both. */
static int on_ready(void *context, int fd, short revents, struct error **err)
{
	struct relay *relay = context;
	int r = move(relay, &relay->caller, &relay->inner, pass_in, err);

	(void)fd;
	(void)revents;
	if (r == 0)
		r = move(relay, &relay->inner, &relay->caller, pass_out, err);
	if (r == 0 && (relay->caller.ended || relay->inner.ended))
		return 1;
	return r < 0 ? r : watch(relay, err);
}

/* ---- start and end ---- */

static int start_gateway(struct relay *relay, struct error **err)
{
	static const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES, .queue_max = 3 * MCP_LINE_BYTES };
	cleanup_fd int child_in = -1, child_out = -1, in = -1, out = -1;
	char path[PATH_MAX], name[] = "harness-gateway", verb[] = "embedded";
	char *argv[] = { name, verb, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };

	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&child_in, &out, err) < 0 ||
	    fd_pipe(&in, &child_out, err) < 0)
		return -1;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_in, .to = STDIN_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_out, .to = STDOUT_FILENO };
	for (int fd = GATEWAY_FD_CONFIG; fd <= GATEWAY_FD_PASS; fd++)
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = fd, .to = fd };
	if (spawn(&options, &relay->gateway, err) < 0 ||
	    mcp_stream_open(&relay->inner, steal_fd(&in), steal_fd(&out), &limits, err) < 0)
		return -1;
	return mcp_stream_open(&relay->caller, STDIN_FILENO, STDOUT_FILENO, &limits, err);
}

static int run(struct relay *relay, struct error **err)
{
	cleanup_loop struct loop *loop = NULL;
	int r = loop_new(&loop, err);

	relay->loop = loop;
	if (r == 0)
		r = start_gateway(relay, err);
	if (r == 0)
		r = loop_signals(loop, loop_end_by_signal, relay, err);
	if (r == 0)
		r = loop_fd(loop, GATEWAY_FD_LIFELINE, POLLIN, loop_end_by_fd, relay, err);
	if (r == 0)
		r = watch(relay, err);
	if (r == 0)
		r = loop_run(loop, clock_deadline(HELPER_LIFE_MS), err);
	if (r == 0)
		r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	mcp_stream_close(&relay->caller);
	mcp_stream_close(&relay->inner);
	return r;
}

/* The gateway ends by the end of its stdin, and writes down what was under way; one that is left behind dies with us.
 */
static int serve(const struct manner *manner, struct error **err)
{
	struct relay relay = { .manner = manner,
			       .gateway = CHILD_NONE,
			       .caller = { .in = -1, .out = -1 },
			       .inner = { .in = -1, .out = -1 },
			       .awaited = -1,
			       .held = BUF(MCP_LINE_BYTES + 1) };
	cleanup_error struct error *late = NULL;
	int status, r = process_harden(true, 0, err);

	if (r == 0)
		r = run(&relay, err);
	if (r > 0 && relay.gateway.pid)
		(void)!child_wait(&relay.gateway, clock_deadline(END_MS), &status, &late);
	child_end(&relay.gateway);
	buf_wipe(&relay.held);
	return r < 0 ? r : 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	const struct manner *manner = manners;

	while (manner->id && (argc != 2 || strcmp(manner->id, argv[1]) != 0))
		manner++;
	if (!manner->id) {
		fprintf(stderr, "hostile-gateway: its one argument is a manner that it knows\n");
		return EXIT_USAGE;
	}
	if (serve(manner, &err) == 0)
		return 0;
	fprintf(stderr, "hostile-gateway: %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct manner manners[] = {
	{ .id = "unavailable", .at_call = leave },
	{ .id = "dies", .at_answer = leave_unanswered },
	{ .id = "garbage", .at_answer = babble },
	{ .id = "late", .at_answer = hold },
	{ .id = NULL },
};
