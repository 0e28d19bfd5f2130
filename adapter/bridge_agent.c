/*
 * The agent's stream: the initial frame and the answers go out through a bounded queue, while what the agent writes is
 * taken apart. Its frames are handled strictly in order; those behind a call wait in what its stdout may hold in all.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"

#define READ_BYTES (64 * KIB)
/* A byte of an answer's text is at most six as JSON (\u00XX). */
#define REPLY_BYTES (6 * GATEWAY_RESPONSE_BYTES + KIB)
#define RESUME_BYTES 64
#define UNWATCHED (-1)

void bridge_agent_init(struct bridge *bridge)
{
	const struct session_limits *limits = &bridge->config->limits;
	struct bridge_agent *agent = &bridge->agent;

	*agent = (struct bridge_agent){ .attach = BRIDGE_FD_ATTACH,
					.payload = BRIDGE_FD_PAYLOAD,
					.watched = UNWATCHED,
					.initial = BUF(BRIDGE_PAYLOAD_BYTES + 1),
					.queue = BUF(BRIDGE_PAYLOAD_BYTES + REPLY_BYTES) };
	demux_init(&agent->demux, ATTACH_FRAME_BYTES);
	frame_reader_init(&agent->reader, (size_t)limits->frame_bytes, (size_t)limits->stdout_bytes);
}

void bridge_agent_free(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;

	fd_close(&agent->attach);
	fd_close(&agent->payload);
	frame_reader_free(&agent->reader);
	buf_wipe(&agent->initial);
	buf_wipe(&agent->queue);
}

/* ---- to the agent ---- */

static int on_stuck(void *context, struct error **err)
{
	(void)err;
	return bridge_end(context, CONTROL_REASON_AGENT_STUCK);
}

/* The agent may take as long for its bytes as the gateway for a call, each time that it takes some. */
static void expect_progress(struct bridge *bridge, bool waiting)
{
	loop_timer(bridge->loop, TIMER_STUCK, waiting ? clock_deadline(bridge->config->limits.gateway_call_ms) : NEVER,
		   on_stuck, bridge);
}

static void enqueue(struct bridge *bridge, const struct buf *bytes)
{
	struct bridge_agent *agent = &bridge->agent;
	bool idle = agent->queue.length == 0;

	if (agent->closed)
		return;
	if (buf_add(&agent->queue, bytes->data, bytes->length) < 0)
		bridge_end(bridge, CONTROL_REASON_AGENT_STUCK);
	else if (idle)
		expect_progress(bridge, bytes->length > 0);
}

/* An agent that takes no more is not at its end: that is what its stream tells. */
static void close_out(struct bridge *bridge)
{
	buf_wipe(&bridge->agent.queue);
	bridge->agent.closed = true;
	expect_progress(bridge, false);
}

static void flush(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;
	size_t sent = 0;

	while (sent < agent->queue.length) {
		ssize_t put = send(agent->attach, agent->queue.data + sent, agent->queue.length - sent,
				   MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put > 0) {
			sent += (size_t)put;
		} else if (put < 0 && errno == EAGAIN) {
			break;
		} else if (put == 0 || errno != EINTR) {
			close_out(bridge);
			return;
		}
	}
	buf_consume(&agent->queue, sent);
	if (sent > 0)
		expect_progress(bridge, agent->queue.length > 0);
}

/* What became true once the queue is empty. */
static void written(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;

	if (agent->queue.length > 0 || agent->closed)
		return;
	if (agent->payload < 0 && !agent->first_frame) {
		agent->first_frame = true;
		bridge_tell(bridge, CONTROL_FIRST_FRAME, 0);
	}
	if (agent->ending) {
		agent->closed = true;
		(void)shutdown(agent->attach, SHUT_WR);
	}
}

static int on_payload(void *context, int fd, short revents, struct error **err)
{
	struct bridge *bridge = context;
	struct bridge_agent *agent = &bridge->agent;
	size_t room = agent->initial.max - agent->initial.length;
	char *to = buf_reserve(&agent->initial, room);
	ssize_t got = to ? read(fd, to, room) : 0;

	(void)revents;
	(void)err;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (!to || got < 0)
		return bridge_end(bridge, CONTROL_REASON_INTERNAL);
	buf_commit(&agent->initial, (size_t)got);
	if (agent->initial.length > BRIDGE_PAYLOAD_BYTES)
		return bridge_end(bridge, CONTROL_REASON_INTERNAL);
	if (got > 0)
		return 0;
	loop_remove(bridge->loop, fd);
	fd_close(&agent->payload);
	enqueue(bridge, &agent->initial);
	buf_wipe(&agent->initial);
	return bridge_settle(bridge);
}

static void put_text(const struct json_node *result, struct buf *out)
{
	bool any = false;

	for (const struct json_node *part = json_first(json_member(result, "content")); part; part = json_next(part)) {
		const struct json_node *text = json_member(part, "text");

		if (!json_string(text))
			continue;
		if (any)
			buf_text(out, "\n");
		buf_add(out, json_string(text), json_string_length(text));
		any = true;
	}
}

static void answer(struct bridge *bridge, const struct json_node *result)
{
	struct buf text = BUF(GATEWAY_RESPONSE_BYTES), reply = BUF(REPLY_BYTES);
	struct json_writer writer;

	put_text(result, &text);
	json_begin(&writer, &reply);
	json_object(&writer);
	json_member_bool(&writer, "allowed", result != NULL);
	json_put_key(&writer, "response");
	if (result)
		json_put_bytes(&writer, buf_string(&text), text.length);
	else
		json_put_null(&writer);
	json_object_end(&writer);
	buf_text(&reply, "\n");
	*(result ? &bridge->agent.allowed : &bridge->agent.denied) += 1;
	if (text.failed || reply.failed || (result && json_type(json_member(result, "content")) != JSON_ARRAY))
		bridge_end(bridge, CONTROL_REASON_GATEWAY_FAULT);
	else
		enqueue(bridge, &reply);
	buf_wipe(&text);
	buf_wipe(&reply);
}

void bridge_agent_reply(struct bridge *bridge, const struct json_node *result)
{
	answer(bridge, result);
	bridge_agent_pump(bridge);
}

void bridge_agent_resume(struct bridge *bridge)
{
	struct buf reply = BUF(RESUME_BYTES);

	if (!bridge->agent.waiting)
		return;
	bridge->agent.waiting = false;
	buf_text(&reply, "{\"allowed\":true,\"response\":null}\n");
	enqueue(bridge, &reply);
	buf_free(&reply);
	bridge_agent_pump(bridge);
}

/* ---- from the agent ---- */

static enum control_reason handle(struct bridge *bridge, struct json_span line)
{
	struct bridge_agent *agent = &bridge->agent;
	cleanup_frame struct frame frame = { .document = NULL };
	enum control_reason reason = frame_parse(line, &frame);
	const struct bridge_alias *alias;

	agent->frames++;
	if (reason != CONTROL_REASON_NONE)
		return bridge->config->strict ? reason : CONTROL_REASON_NONE;
	alias = bridge_config_alias(bridge->config, frame.operation, frame.operation_length);
	if (!alias || agent->done)
		return bridge->config->strict ? CONTROL_REASON_OPERATION : CONTROL_REASON_NONE;
	if (!alias->tool[0]) {
		*(alias->waits ? &agent->waiting : &agent->done) = true;
		bridge_tell(bridge, alias->waits ? CONTROL_CHECKPOINT : CONTROL_DONE, 0);
		return CONTROL_REASON_NONE;
	}
	if (agent->calls == bridge->config->limits.calls)
		return CONTROL_REASON_CALL_LIMIT;
	agent->calls++;
	if (policy_gate_admit(&bridge->gate, alias->tool))
		bridge_gateway_call(bridge, alias->tool, frame.arguments);
	else
		answer(bridge, NULL);
	return CONTROL_REASON_NONE;
}

/* A bridge that is not strict takes the end of the stream for the end of a line. */
static enum control_reason stream_end(const struct bridge *bridge, struct bridge_agent *agent)
{
	if (!demux_whole(&agent->demux))
		return CONTROL_REASON_STREAM_PROTOCOL;
	if (!frame_reader_partial(&agent->reader))
		return CONTROL_REASON_STREAM_END;
	return bridge->config->strict ? CONTROL_REASON_PARTIAL_FRAME : frame_reader_feed(&agent->reader, "\n", 1);
}

/* The end comes behind all whole frames, so that what an agent wrote before it left does not depend on who was faster.
 */
void bridge_agent_pump(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;
	struct json_span line;

	while (bridge->reason == CONTROL_REASON_NONE && !bridge->gateway.calling && !agent->waiting &&
	       !policy_gate_pending(&bridge->gate)) {
		enum control_reason reason = CONTROL_REASON_NONE;

		if (frame_reader_next(&agent->reader, &line))
			reason = handle(bridge, line);
		else if (agent->ended)
			reason = stream_end(bridge, agent);
		else
			return;
		if (reason != CONTROL_REASON_NONE)
			bridge_end(bridge, reason);
	}
}

static int take(void *context, enum demux_stream stream, const void *bytes, size_t length, struct error **err)
{
	struct bridge *bridge = context;
	struct bridge_agent *agent = &bridge->agent;
	enum control_reason reason = CONTROL_REASON_NONE;

	if (stream == DEMUX_STDOUT) {
		reason = frame_reader_feed(&agent->reader, bytes, length);
	} else {
		agent->stderr_bytes += (int64_t)length;
		if (agent->stderr_bytes > bridge->config->limits.stderr_bytes)
			reason = CONTROL_REASON_STDERR_LIMIT;
	}
	if (reason == CONTROL_REASON_NONE)
		return 0;
	bridge_end(bridge, reason);
	return error_set(err, ERROR_REFUSED, "the agent broke a rule");
}

static void receive(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;
	cleanup_error struct error *reason = NULL;
	char bytes[READ_BYTES];
	ssize_t got = recv(agent->attach, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		agent->ended = true;
	else if (demux_feed(&agent->demux, bytes, (size_t)got, take, bridge, &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_STREAM_PROTOCOL);
	if (got > 0)
		explicit_bzero(bytes, (size_t)got);
}

static int on_attach(void *context, int fd, short revents, struct error **err)
{
	struct bridge *bridge = context;

	(void)fd;
	(void)err;
	if (revents & (POLLIN | POLLHUP | POLLERR))
		receive(bridge);
	bridge_agent_pump(bridge);
	return bridge_settle(bridge);
}

/* ---- the arm's orders ---- */

static int on_session_end(void *context, struct error **err)
{
	(void)err;
	return bridge_end(context, CONTROL_REASON_DEADLINE);
}

static void open_stream(struct bridge *bridge)
{
	if (bridge->agent.open)
		return;
	bridge->agent.open = true;
	loop_timer(bridge->loop, TIMER_SESSION, clock_deadline(bridge->config->limits.session_ms), on_session_end,
		   bridge);
	bridge_guard_lease(bridge);
}

void bridge_agent_go(struct bridge *bridge)
{
	cleanup_error struct error *reason = NULL;

	open_stream(bridge);
	if (fd_nonblocking(bridge->agent.payload, true, &reason) < 0 ||
	    loop_fd(bridge->loop, bridge->agent.payload, POLLIN, on_payload, bridge, &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
}

void bridge_agent_finish(struct bridge *bridge)
{
	open_stream(bridge);
	bridge->agent.ending = true;
}

void bridge_agent_settle(struct bridge *bridge)
{
	struct bridge_agent *agent = &bridge->agent;
	cleanup_error struct error *reason = NULL;
	short events;

	if (!agent->open)
		return;
	flush(bridge);
	written(bridge);
	/* An ended socket would be ready for ever. */
	events = agent->ended ? UNWATCHED : (short)(POLLIN | (agent->queue.length > 0 ? POLLOUT : 0));
	if (events == agent->watched)
		return;
	agent->watched = events;
	if (events == UNWATCHED)
		loop_remove(bridge->loop, agent->attach);
	else if (loop_fd(bridge->loop, agent->attach, events, on_attach, bridge, &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
}
