/*
 * The real bridge: with the real gateway and recorder where a session is whole, with a played one where it misbehaves.
 * Each reason for which a session ends has a row.
 */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "tests/unit/bridge_world.h"

#define LINE_BYTES 1024
#define SECRET "hostile-secret-bytes"
#define PERMITTED(value) "{\"operation\":\"permitted\",\"arguments\":{\"value\":" value "}}\n"
#define DENIED(value) "{\"operation\":\"denied\",\"arguments\":{\"value\":" value "}}\n"
#define DONE "{\"operation\":\"done\",\"arguments\":{}}\n"
#define ALLOWED_REPLY "{\"allowed\":true,\"response\":\"recorded\"}\n"
#define DENIED_REPLY "{\"allowed\":false,\"response\":null}\n"
#define CANARY_A "canary-abcdefghijklmnopabcdefghijklmnop"
#define CANARY_B "canary-ponmlkjihgfedcbaponmlkjihgfedcba"

/* What a hostile agent writes, and how it ends. */
struct hostile_row {
	const char *text;
	size_t repeat; /* of the text; 0: once */
	enum demux_stream stream; /* 0: not framed by the engine */
	size_t raw_length; /* then: bytes of the text */
	bool leaves; /* the stream ends behind it */
	int64_t session_ms; /* 0: as ever */
	enum control_reason reason;
};

/* What a gateway does, up to a call and after it. NULL: it is silent; "": it leaves. */
struct gateway_row {
	const char *greeting;
	const char *answer;
	enum control_reason reason; /* STREAM_END: the session went on */
	const char *reply; /* that the agent read, then */
};

struct order_row {
	const char *what;
	enum control_type first, second; /* 0: none */
	bool guarded;
	enum control_reason reason;
};

struct config_row {
	const char *text;
};

static const struct hostile_row hostile_rows[];
static const struct gateway_row gateway_rows[];
static const struct order_row order_rows[];
static const struct config_row config_rows[];

static bool hears(struct world *world, const char *expected)
{
	char line[LINE_BYTES];
	bool same = strcmp(world_agent_hears(world, line, sizeof(line)), expected) == 0;

	if (!same)
		fprintf(stderr, "expected %s     the agent heard %s\n", expected, line);
	return same;
}

static void beacon(struct world *world, const char *canary, int64_t value)
{
	struct control_message order = { .type = CONTROL_BEACON };
	struct control_message told;

	snprintf(order.canary, sizeof(order.canary), "%s", canary);
	world_order_with(world, &order);
	told = world_told(world, CONTROL_BEACON_DONE);
	CU_ASSERT_EQUAL(told.type, CONTROL_BEACON_DONE);
	CU_ASSERT_EQUAL(told.value, value);
}

/* ---- whole sessions ---- */

static void test_session(void)
{
	cleanup_world struct world world;
	struct control_message end;
	char byte;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_READY).type, CONTROL_READY);
	world_guard(&world, false);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	beacon(&world, CANARY_A, 1);
	world_payload(&world, "first\nsecond\n", 13);
	world_order(&world, CONTROL_GO);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	CU_ASSERT(hears(&world, "first\n"));
	CU_ASSERT(hears(&world, "second\n"));
	world_agent_says(&world, PERMITTED("1.50e3"));
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	world_agent_says(&world, DENIED("2"));
	CU_ASSERT(hears(&world, DENIED_REPLY));
	world_agent_says(&world, "{\"operation\":\"hidden\",\"arguments\":{}}\n");
	CU_ASSERT(hears(&world, DENIED_REPLY));
	world_agent(&world, DEMUX_STDERR, "complaint", 9);
	world_order(&world, CONTROL_PULSE);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_PULSE_ACK).type, CONTROL_PULSE_ACK);
	world_agent_says(&world, DONE);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_DONE).type, CONTROL_DONE);
	beacon(&world, CANARY_B, 1);
	world_order(&world, CONTROL_END);
	CU_ASSERT_EQUAL(fd_wait(world.attach, POLLIN, clock_deadline(WORLD_GUARD_MS), NULL), 1);
	CU_ASSERT_EQUAL(recv(world.attach, &byte, 1, 0), 0);
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
	shutdown(world.attach, SHUT_WR);
	end = world_told(&world, CONTROL_ENDED);
	CU_ASSERT_EQUAL(end.reason, CONTROL_REASON_STREAM_END);
	CU_ASSERT_EQUAL(end.frames, 4);
	CU_ASSERT_EQUAL(end.allowed, 1);
	CU_ASSERT_EQUAL(end.denied, 2);
	CU_ASSERT_EQUAL(end.stderr_bytes, 9);
	CU_ASSERT_EQUAL((size_t)end.stdout_bytes, strlen(PERMITTED("1.50e3") DENIED("2") DONE) +
							  strlen("{\"operation\":\"hidden\",\"arguments\":{}}\n"));
	CU_ASSERT(world_dead(&world.bridge, WORLD_GUARD_MS));
	/* The arguments come as they were written, and nothing but the permitted came. */
	CU_ASSERT(rig_sink_is(&world.rig, "{\"tool\":\"beacon.tool\",\"arguments\":{\"value\":\"" CANARY_A "\"}}\n"
					  "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":1.50e3}}\n"
					  "{\"tool\":\"beacon.tool\",\"arguments\":{\"value\":\"" CANARY_B "\"}}\n"));
	CU_ASSERT_EQUAL(rig_decisions(&world.rig), 5);
	CU_ASSERT_FALSE(world_holds(&world, "complaint"));
}

/* Frames in one read, and a byte at a time; their answers come in their order. */
static void test_order(void)
{
	static const char frames[] = PERMITTED("1") DENIED("2") PERMITTED("3");
	static const char recorded[] = "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":1}}\n"
				       "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":3}}\n";

	for (int bytewise = 0; bytewise <= 1; bytewise++) {
		cleanup_world struct world world;

		world_init(&world);
		world_start(&world, GATEWAY_REAL);
		world_go(&world, "");
		if (!bytewise)
			world_agent_says(&world, frames);
		for (size_t i = 0; bytewise && i < sizeof(frames) - 1; i++)
			world_agent(&world, DEMUX_STDOUT, frames + i, 1);
		CU_ASSERT(hears(&world, ALLOWED_REPLY));
		CU_ASSERT(hears(&world, DENIED_REPLY));
		CU_ASSERT(hears(&world, ALLOWED_REPLY));
		shutdown(world.attach, SHUT_WR);
		CU_ASSERT(world_ended(&world, CONTROL_REASON_STREAM_END));
		CU_ASSERT(rig_sink_is(&world.rig, recorded));
	}
}

/* An agent that leaves at once: what it wrote whole is still handled. */
static void test_leave(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_go(&world, "x\n");
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	world_agent_says(&world, PERMITTED("1") PERMITTED("2"));
	fd_close(&world.attach);
	CU_ASSERT(world_ended(&world, CONTROL_REASON_STREAM_END));
	CU_ASSERT(rig_sink_is(&world.rig, "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":1}}\n"
					  "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":2}}\n"));
}

/* A bridge that is not strict passes over what is no frame and no alias, and takes the end for the end of a line. */
static void test_lenient(void)
{
	static const char call[] = PERMITTED("2");
	cleanup_world struct world world;

	world_init(&world);
	world.strict = false;
	world_start(&world, GATEWAY_REAL);
	world_go(&world, "x\n");
	CU_ASSERT(hears(&world, "x\n"));
	world_agent_says(&world, "hello\n{}\n{\"operation\":\"no.alias\",\"arguments\":{}}\n" PERMITTED("1"));
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	world_agent(&world, DEMUX_STDOUT, call, sizeof(call) - 2);
	fd_close(&world.attach);
	CU_ASSERT(world_ended(&world, CONTROL_REASON_STREAM_END));
	CU_ASSERT(rig_sink_is(&world.rig, "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":1}}\n"
					  "{\"tool\":\"permitted.tool\",\"arguments\":{\"value\":2}}\n"));
}

/* An initial frame as large as may be, through a stream that takes it in small pieces. */
static void test_large_payload(void)
{
	cleanup_world struct world world;
	char *payload = calloc(1, 64 * KIB + 1);
	char *heard = calloc(1, 64 * KIB + 1);
	struct error *err = NULL;

	memset(payload, 'p', 64 * KIB - 1);
	payload[64 * KIB - 1] = '\n';
	world_init(&world);
	world.send_buffer = 4096;
	world_start(&world, GATEWAY_REAL);
	world_go(&world, payload);
	world_agent_says(&world, PERMITTED("1"));
	CU_ASSERT_EQUAL(fd_read_exact(world.attach, heard, 64 * KIB, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(payload, heard, 64 * KIB), 0);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	free(payload);
	free(heard);
}

/* ---- ends ---- */

static void say_hostile(struct world *world, const struct hostile_row *row)
{
	cleanup_buf struct buf text = BUF(64 * KIB);

	if (!row->stream) {
		world_raw(world, row->text, row->raw_length);
		return;
	}
	for (size_t i = 0; i < (row->repeat ? row->repeat : 1); i++)
		buf_text(&text, row->text);
	if (text.length > 0)
		world_agent(world, row->stream, text.data, text.length);
}

static void test_hostile(void)
{
	for (const struct hostile_row *row = hostile_rows; row->text; row++) {
		cleanup_world struct world world;
		bool ended;

		world_init(&world);
		if (row->session_ms)
			world.limits.session_ms = row->session_ms;
		world_start(&world, GATEWAY_REAL);
		world_go(&world, "");
		say_hostile(&world, row);
		if (row->leaves)
			shutdown(world.attach, SHUT_WR);
		ended = world_ended(&world, row->reason);
		if (!ended)
			fprintf(stderr, "row %td\n", row - hostile_rows);
		CU_ASSERT(ended);
		CU_ASSERT_FALSE(world_holds(&world, SECRET));
	}
}

/* An agent that does not read: the bytes for it wait no longer than a call may take. */
static void test_stuck(void)
{
	cleanup_world struct world world;
	cleanup_buf struct buf payload = BUF(64 * KIB);

	for (size_t i = 0; i < 16 * KIB; i++)
		buf_text(&payload, "abc\n");
	world_init(&world);
	world.send_buffer = 4096;
	world.limits.gateway_call_ms = 200;
	world_start(&world, GATEWAY_REAL);
	world_go(&world, buf_string(&payload));
	CU_ASSERT(world_ended(&world, CONTROL_REASON_AGENT_STUCK));
}

static void play_gateway(struct world *world, const char *text)
{
	if (text && !text[0])
		fd_close(&world->to_bridge);
	else if (text)
		world_gateway_says(world, text);
}

static void run_gateway_row(const struct gateway_row *row, struct world *world)
{
	char line[LINE_BYTES];

	CU_ASSERT(strstr(world_gateway_hears(world, line, sizeof(line)), "\"initialize\"") != NULL);
	play_gateway(world, row->greeting);
	if (!row->reply && !row->answer && row->reason != CONTROL_REASON_GATEWAY_TIMEOUT)
		return;
	if (!row->greeting)
		return;
	world_go(world, "");
	CU_ASSERT(strstr(world_gateway_hears(world, line, sizeof(line)), "notifications/initialized") != NULL);
	world_agent_says(world, PERMITTED("\"x\""));
	/* Built anew: the tool's name and the arguments, nothing else. */
	CU_ASSERT_STRING_EQUAL(world_gateway_hears(world, line, sizeof(line)),
			       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
			       "{\"name\":\"permitted.tool\",\"arguments\":{\"value\":\"x\"}}}\n");
	play_gateway(world, row->answer);
	if (row->reply) {
		CU_ASSERT(hears(world, row->reply));
		shutdown(world->attach, SHUT_WR);
	}
}

static void test_gateway(void)
{
	for (const struct gateway_row *row = gateway_rows; row->reason; row++) {
		cleanup_world struct world world;
		bool ended;

		world_init(&world);
		world.limits.gateway_call_ms = 200;
		world_start(&world, GATEWAY_PLAYED);
		run_gateway_row(row, &world);
		/* Without GUARD the bridge has nobody to kill. */
		if (row->reason == CONTROL_REASON_STREAM_END || row->answer)
			ended = world_ended(&world, row->reason);
		else
			ended = world_told(&world, CONTROL_ENDED).reason == row->reason;
		if (!ended)
			fprintf(stderr, "row %td\n", row - gateway_rows);
		CU_ASSERT(ended);
		CU_ASSERT_FALSE(world_holds(&world, SECRET));
	}
}

/* A beacon that the gateway refuses is told so, and the session goes on. It needs no guard, but the gateway. */
static void test_beacon_refused(void)
{
	cleanup_world struct world world;
	char line[LINE_BYTES];

	world_init(&world);
	world_start(&world, GATEWAY_PLAYED);
	world_gateway_greets(&world);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_READY).type, CONTROL_READY);
	world_gateway_says(&world, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n");
	CU_ASSERT(strstr(world_gateway_hears(&world, line, sizeof(line)), "\"id\":9") != NULL);

	struct control_message order = { .type = CONTROL_BEACON, .canary = CANARY_A };

	world_order_with(&world, &order);
	CU_ASSERT(strstr(world_gateway_hears(&world, line, sizeof(line)),
			 "{\"name\":\"beacon.tool\",\"arguments\":{\"value\":\"" CANARY_A "\"}}") != NULL);
	world_gateway_says(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"no\"}}\n");
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_BEACON_DONE).value, 0);
	world_guard(&world, false);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	CU_ASSERT_FALSE(world_dead(&world.bridge, 0));
}

static void test_beacon_too_early(void)
{
	struct control_message order = { .type = CONTROL_BEACON, .canary = CANARY_A };
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_PLAYED);
	world_order_with(&world, &order);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_ENDED).reason, CONTROL_REASON_INTERNAL);
}

/* ---- the arm ---- */

static void test_orders(void)
{
	for (const struct order_row *row = order_rows; row->what; row++) {
		cleanup_world struct world world;
		bool ended;

		world_init(&world);
		world_start(&world, GATEWAY_REAL);
		if (row->guarded) {
			world_guard(&world, false);
			CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
		}
		world_order(&world, row->first);
		if (row->second)
			world_order(&world, row->second);
		ended = world_told(&world, CONTROL_ENDED).reason == row->reason &&
			world_dead(&world.bridge, WORLD_GUARD_MS);
		if (!ended)
			fprintf(stderr, "order: %s\n", row->what);
		CU_ASSERT(ended);
		CU_ASSERT_EQUAL(world_dead(&world.container, row->guarded ? WORLD_GUARD_MS : 0), row->guarded);
	}
}

static void test_bad_message(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	CU_ASSERT_EQUAL(send(world.control, "xyz", 3, 0), 3);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_ENDED).reason, CONTROL_REASON_INTERNAL);
}

static void test_config(void)
{
	for (const struct config_row *row = config_rows; row->text; row++) {
		cleanup_world struct world world;
		struct error *err = NULL;
		int status = -1;

		world_init(&world);
		world.config = row->text;
		world_start(&world, GATEWAY_REAL);
		CU_ASSERT_EQUAL(world_told(&world, CONTROL_ENDED).reason, CONTROL_REASON_INTERNAL);
		CU_ASSERT_EQUAL(child_wait(&world.bridge, clock_deadline(WORLD_GUARD_MS), &status, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(status, 3);
	}
}

static void test_lifeline(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_go(&world, "");
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	fd_close(&world.lifeline);
	CU_ASSERT(world_ended(&world, CONTROL_REASON_PARENT_LOST));
}

static void test_control_lost(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_go(&world, "");
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	fd_close(&world.control);
	CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
	CU_ASSERT(world_dead(&world.bridge, WORLD_GUARD_MS));
}

/* Pulses hold the session for longer than a lease; without them it ends. */
static void test_lease(void)
{
	cleanup_world struct world world;
	int64_t last = 0, until;

	world_init(&world);
	world.limits.lease_ms = WORLD_LEASE_MS;
	world_start(&world, GATEWAY_REAL);
	world_go(&world, "");
	until = clock_deadline(WORLD_LEASE_MS + 5 * WORLD_HEARTBEAT_MS);
	while (clock_now() < until) {
		world_order(&world, CONTROL_PULSE);
		last = clock_now();
		CU_ASSERT_EQUAL(world_told(&world, CONTROL_PULSE_ACK).type, CONTROL_PULSE_ACK);
		CU_ASSERT_FALSE(world_dead(&world.container, WORLD_HEARTBEAT_MS));
	}
	CU_ASSERT(world_ended(&world, CONTROL_REASON_PARENT_LOST));
	CU_ASSERT(clock_now() - last >= WORLD_LEASE_MS * NS_PER_MS);
}

/* ---- the watchdog's side, played ---- */

static void acknowledge(struct world *world)
{
	struct error *err = NULL;
	char pulse;

	CU_ASSERT_EQUAL(fd_read_exact(world->pulse, &pulse, 1, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(fd_write_all(world->acknowledge_fd, "", 1, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Acknowledged, it beats; unacknowledged, it ends what it guards. */
static void test_heartbeat(void)
{
	cleanup_world struct world world;
	int64_t last;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_guard(&world, true);
	acknowledge(&world);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	for (int i = 0; i < 10; i++)
		acknowledge(&world);
	last = clock_now();
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
	CU_ASSERT(world_ended(&world, CONTROL_REASON_WATCHDOG_LOST));
	CU_ASSERT(clock_now() - last >= (WORLD_ACKNOWLEDGE_MS - WORLD_HEARTBEAT_MS) * NS_PER_MS);
}

static void test_never_acknowledged(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_guard(&world, true);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, 0);
	CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
}

/* Either pipe's end says that the watchdog is gone. */
static void test_watchdog_gone(void)
{
	for (int ack = 0; ack <= 1; ack++) {
		cleanup_world struct world world;

		world_init(&world);
		world_start(&world, GATEWAY_REAL);
		world_guard(&world, true);
		acknowledge(&world);
		CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
		fd_close(ack ? &world.acknowledge_fd : &world.pulse);
		CU_ASSERT(world_ended(&world, CONTROL_REASON_WATCHDOG_LOST));
	}
}

/* Where acknowledgments are not checked, their absence ends nothing. */
static void test_unchecked(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world.acknowledge = false;
	world_start(&world, GATEWAY_REAL);
	world_guard(&world, true);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	CU_ASSERT_FALSE(world_dead(&world.container, 2 * WORLD_ACKNOWLEDGE_MS));
	CU_ASSERT_FALSE(world_dead(&world.bridge, 0));
}

/* Behind the process's death nobody is missed: the stream is read to its end. */
static void test_after_death(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world.limits.lease_ms = WORLD_LEASE_MS;
	world_start(&world, GATEWAY_REAL);
	world_guard(&world, true);
	acknowledge(&world);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	world_payload(&world, "", 0);
	world_order(&world, CONTROL_GO);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	child_signal(&world.container, SIGKILL);
	CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
	fd_close(&world.acknowledge_fd);
	child_end(&world.rig.gateway);
	CU_ASSERT_FALSE(world_dead(&world.bridge, WORLD_LEASE_MS + 5 * WORLD_HEARTBEAT_MS));
	fd_close(&world.attach);
	CU_ASSERT(world_ended(&world, CONTROL_REASON_STREAM_END));
}

#define OUT .stream = DEMUX_STDOUT
#define RAW(bytes) .text = (bytes), .raw_length = sizeof(bytes) - 1
#define LINE64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct hostile_row hostile_rows[] = {
	{ OUT, .text = "", .leaves = true, .reason = CONTROL_REASON_STREAM_END },
	{ OUT, .text = SECRET "\n", .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "\n", .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "[\"" SECRET "\"]\n", .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"operation\":\"permitted\",\"arguments\":{\"" SECRET "\":1,\"" SECRET "\":2}}\n",
	  .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"operation\":\"permitted\",\"arguments\":{},\"_cmcp\":{\"" SECRET "\":1}}\n",
	  .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"" SECRET "\":1}}\n",
	  .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"operation\":\"permitted\\u0000\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"operation\":\"" SECRET "\",\"arguments\":{}}\n", .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"permitted.tool\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"policy\",\"arguments\":{\"revision\":1,\"restore\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"revision\":1,\"restore\":\"" SECRET "\"}\n", .reason = CONTROL_REASON_FRAME_INVALID },
	{ OUT, .text = "{\"operation\":\"beacon.tool\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"Permitted\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"permitted \",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"permit\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = "{\"operation\":\"\",\"arguments\":{\"a\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = DONE PERMITTED("\"" SECRET "\""), .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = DONE DONE, .reason = CONTROL_REASON_OPERATION },
	{ OUT, .text = LINE64, .repeat = 5, .reason = CONTROL_REASON_FRAME_LIMIT },
	{ OUT, .text = SECRET SECRET SECRET, .repeat = 5, .reason = CONTROL_REASON_FRAME_LIMIT },
	{ OUT, .text = DENIED("1"), .repeat = 60, .reason = CONTROL_REASON_STDOUT_LIMIT },
	{ OUT, .text = DENIED("1"), .repeat = 4, .reason = CONTROL_REASON_CALL_LIMIT },
	{ OUT, .text = DENIED("1") DENIED("2") DENIED("3") DONE, .leaves = true, .reason = CONTROL_REASON_STREAM_END },
	{ OUT, .text = "{\"operation\":\"" SECRET, .leaves = true, .reason = CONTROL_REASON_PARTIAL_FRAME },
	{ OUT, .text = DENIED("1") "{", .leaves = true, .reason = CONTROL_REASON_PARTIAL_FRAME },
	{ OUT, .text = "{", .session_ms = 150, .reason = CONTROL_REASON_DEADLINE },
	{ OUT, .text = DONE, .session_ms = 150, .reason = CONTROL_REASON_DEADLINE },
	{ .stream = DEMUX_STDERR, .text = SECRET, .repeat = 26, .reason = CONTROL_REASON_STDERR_LIMIT },
	{ .stream = DEMUX_STDERR,
	  .text = "12345678",
	  .repeat = 64,
	  .leaves = true,
	  .reason = CONTROL_REASON_STREAM_END },
	{ RAW("\x03\0\0\0\0\0\0\x14" SECRET), .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ RAW("\0\0\0\0\0\0\0\x14" SECRET), .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ RAW("\x01\0\x01\0\0\0\0\x14" SECRET), .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ RAW("\x01\0\0\0\x7f\0\0\0" SECRET), .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ RAW("\x01\0\0\0"), .leaves = true, .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ RAW("\x01\0\0\0\0\0\0\x15" SECRET), .leaves = true, .reason = CONTROL_REASON_STREAM_PROTOCOL },
	{ .text = NULL },
};

#define GREETING                                                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"" MCP_PROTOCOL "\",\"capabilities\":{},"      \
	"\"serverInfo\":{\"name\":\"played\",\"version\":\"1\"}}}\n"
#define RESULT(text) "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" text "}\n"
#define ERROR(code)                                                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"" SECRET                               \
	"\",\"data\":{\"error_code\":\"" code "\"}}}\n"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

static const struct gateway_row gateway_rows[] = {
	{ .greeting = NULL, .reason = CONTROL_REASON_GATEWAY_TIMEOUT },
	{ .greeting = "", .reason = CONTROL_REASON_GATEWAY_LOST },
	{ .greeting = "garbage " SECRET "\n", .reason = CONTROL_REASON_GATEWAY_PROTOCOL },
	{ .greeting = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\"}}\n",
	  .reason = CONTROL_REASON_GATEWAY_PROTOCOL },
	{ .greeting = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n", .reason = CONTROL_REASON_GATEWAY_PROTOCOL },
	{ .greeting = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"" SECRET "\"}}\n",
	  .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING, .answer = NULL, .reason = CONTROL_REASON_GATEWAY_TIMEOUT },
	{ .greeting = GREETING, .answer = "", .reason = CONTROL_REASON_GATEWAY_LOST },
	{ .greeting = GREETING, .answer = "{" SECRET "\n", .reason = CONTROL_REASON_GATEWAY_PROTOCOL },
	{ .greeting = GREETING, .answer = ERROR("TEE_FAULT"), .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING, .answer = ERROR("UPSTREAM_UNAVAILABLE"), .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING, .answer = ERROR("policy_deny"), .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING, .answer = RESULT("{}"), .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING, .answer = RESULT("{\"content\":\"text\"}"), .reason = CONTROL_REASON_GATEWAY_FAULT },
	{ .greeting = GREETING,
	  .answer = ERROR("POLICY_DENY"),
	  .reason = CONTROL_REASON_STREAM_END,
	  .reply = DENIED_REPLY },
	{ .greeting = GREETING,
	  .answer = ERROR("TOOL_NOT_IN_CATALOG"),
	  .reason = CONTROL_REASON_STREAM_END,
	  .reply = DENIED_REPLY },
	{ .greeting = GREETING,
	  .answer = RESULT("{\"content\":[],\"more\":1}"),
	  .reason = CONTROL_REASON_STREAM_END,
	  .reply = "{\"allowed\":true,\"response\":\"\"}\n" },
	{ .greeting = GREETING,
	  .answer = RESULT(
		  "{\"content\":[" TEXT("one") ",{\"type\":\"image\",\"data\":\"no\"}," TEXT("\\\"two\\\"") "]}"),
	  .reason = CONTROL_REASON_STREAM_END,
	  .reply = "{\"allowed\":true,\"response\":\"one\\n\\\"two\\\"\"}\n" },
	{ .reason = CONTROL_REASON_NONE },
};

static const struct order_row order_rows[] = {
	{ "go before guard", CONTROL_GO, .reason = CONTROL_REASON_INTERNAL },
	{ "end before guard", CONTROL_END, .reason = CONTROL_REASON_INTERNAL },
	{ "guard without descriptors", CONTROL_GUARD, .reason = CONTROL_REASON_INTERNAL },
	{ "an order to the watchdog", CONTROL_DISARM, .reason = CONTROL_REASON_INTERNAL },
	{ "no order at all", (enum control_type)99, .reason = CONTROL_REASON_INTERNAL },
	{ "guard twice", CONTROL_GUARD, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ "go twice", CONTROL_GO, CONTROL_GO, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ "end twice", CONTROL_END, CONTROL_END, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ "go after end", CONTROL_END, CONTROL_GO, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ "beacon after end", CONTROL_END, CONTROL_BEACON, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ "beacon without a canary", CONTROL_BEACON, .guarded = true, .reason = CONTROL_REASON_INTERNAL },
	{ .what = NULL },
};

#define LIMITS(frame)                                                                                                  \
	"\"limits\":{\"frameBytes\":" frame ",\"stdoutBytes\":1,\"stderrBytes\":1,\"calls\":1,\"sessionMs\":1,"        \
	"\"heartbeatMs\":1,\"acknowledgeMs\":1,\"leaseMs\":1,\"gatewayCallMs\":1}"
#define CONFIG(aliases, limits)                                                                                        \
	"{\"aliases\":[" aliases "],\"beaconTool\":\"b\",\"acknowledge\":true,\"failClosed\":true," limits "}"
#define ALIAS "{\"operation\":\"a\",\"tool\":\"b\"}"

static const struct config_row config_rows[] = {
	{ "" },
	{ "{}" },
	{ CONFIG(ALIAS, LIMITS("1")) "x" },
	{ CONFIG("", LIMITS("1")) },
	{ CONFIG(ALIAS, LIMITS("0")) },
	{ CONFIG(ALIAS, LIMITS("\"1\"")) },
	{ CONFIG(ALIAS "," ALIAS, LIMITS("1")) },
	{ CONFIG("{\"operation\":\"a\"}", LIMITS("1")) },
	{ CONFIG(ALIAS, "\"limits\":{}") },
	{ NULL },
};

static CU_TestInfo session_tests[] = {
	{ "whole", test_session },
	{ "in order", test_order },
	{ "an agent that leaves", test_leave },
	{ "a bridge that is not strict", test_lenient },
	{ "a large initial frame", test_large_payload },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo end_tests[] = {
	{ "hostile agents", test_hostile },
	{ "an agent that does not read", test_stuck },
	{ "gateways", test_gateway },
	{ "a beacon that is refused", test_beacon_refused },
	{ "beacon too early", test_beacon_too_early },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo arm_tests[] = {
	{ "orders out of turn", test_orders },
	{ "no message of ours", test_bad_message },
	{ "configurations", test_config },
	{ "lifeline", test_lifeline },
	{ "control socket", test_control_lost },
	{ "lease", test_lease },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo watchdog_tests[] = {
	{ "heartbeat", test_heartbeat },
	{ "never acknowledged", test_never_acknowledged },
	{ "gone", test_watchdog_gone },
	{ "unchecked", test_unchecked },
	{ "after the process's death", test_after_death },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "session", NULL, NULL, NULL, NULL, session_tests },
	{ "ends", NULL, NULL, NULL, NULL, end_tests },
	{ "arm", NULL, NULL, NULL, NULL, arm_tests },
	{ "watchdog", NULL, NULL, NULL, NULL, watchdog_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("bridge", suites);
}
