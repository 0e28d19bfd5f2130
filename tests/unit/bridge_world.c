#include "tests/unit/bridge_world.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#define CONFIG_BYTES (16 * KIB)
#define LINE_BYTES 512
#define ID "0123456789abcdef"
#define SOCKET "/nowhere/engine.sock"
#define GREETING                                                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"" MCP_PROTOCOL                                \
	"\",\"capabilities\":{},\"serverInfo\":{\"name\":\"played\",\"version\":\"1\"}}}\n"

static int64_t guard(void)
{
	return clock_deadline(WORLD_GUARD_MS);
}

void world_init(struct world *world)
{
	*world = (struct world){
		.limits = {
			.frame_bytes = 256,
			.stdout_bytes = 2048,
			.stderr_bytes = 512,
			.calls = 3,
			.session_ms = 3000,
			.heartbeat_ms = WORLD_HEARTBEAT_MS,
			.acknowledge_ms = WORLD_ACKNOWLEDGE_MS,
			.lease_ms = 3000,
			.gateway_call_ms = 3000,
		},
		.acknowledge = true,
		.fail_closed = true,
		.policy = true,
		.policy_lock = true,
		.strict = true,
		.rig = { .gateway = CHILD_NONE, .lifeline = -1, .decisions = -1, .sink = -1 },
		.to_bridge = -1,
		.from_bridge = -1,
		.container = CHILD_NONE,
		.bridge = CHILD_NONE,
		.watchdog = CHILD_NONE,
		.holder = CHILD_NONE,
		.attach = -1,
		.freezer = -1,
		.payload = -1,
		.lifeline = -1,
		.control = -1,
		.pulse = -1,
		.acknowledge_fd = -1,
		.watchdog_control = -1,
		.complaints = memfd_create("complaints", MFD_CLOEXEC),
		.heard = BUF(WORLD_HEARD_BYTES),
	};
}

/* What the leak sanitizer says when its process is killed while it looks: about a thread that is gone, and no leak. */
static const char killed_meanwhile[] = "Unable to get registers from thread";

static bool is_complaint(const char *line)
{
	return *line != '\0' && !strstr(line, killed_meanwhile);
}

/* None of the programs says anything on its own; a sanitizer would. */
static void check_silence(const struct world *world)
{
	char text[4096] = "", *rest = text, *line;
	ssize_t got = pread(world->complaints, text, sizeof(text) - 1, 0);

	CU_ASSERT(got >= 0);
	while ((line = strsep(&rest, "\n"))) {
		CU_ASSERT_FALSE(is_complaint(line));
		if (is_complaint(line))
			fprintf(stderr, "%s\n", line);
	}
}

void world_end(struct world *world)
{
	int *fds[] = { &world->to_bridge,  &world->from_bridge,     &world->attach, &world->payload,
		       &world->lifeline,   &world->control,         &world->pulse,  &world->acknowledge_fd,
		       &world->complaints, &world->watchdog_control };

	child_end(&world->container);
	child_end(&world->bridge);
	child_end(&world->watchdog);
	child_end(&world->holder);
	check_silence(world);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fd_close(fds[i]);
	rig_end(&world->rig);
	buf_free(&world->heard);
}

/* ---- starting ---- */

static void start_sleeper(struct child *child)
{
	char name[] = "sleep", seconds[] = "60";
	char *argv[] = { name, seconds, NULL };
	const struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/sleep", .argv = argv };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(spawn(&options, child, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void put_alias(struct json_writer *json, const char *operation, const char *tool)
{
	json_object(json);
	json_member_string(json, "operation", operation);
	json_put_key(json, "tool");
	if (tool)
		json_put_string(json, tool);
	else
		json_put_null(json);
	json_object_end(json);
}

static void put_limits(struct json_writer *json, const struct session_limits *limits)
{
	json_put_key(json, "limits");
	json_object(json);
	json_member_int(json, "frameBytes", limits->frame_bytes);
	json_member_int(json, "stdoutBytes", limits->stdout_bytes);
	json_member_int(json, "stderrBytes", limits->stderr_bytes);
	json_member_int(json, "calls", limits->calls);
	json_member_int(json, "sessionMs", limits->session_ms);
	json_member_int(json, "heartbeatMs", limits->heartbeat_ms);
	json_member_int(json, "acknowledgeMs", limits->acknowledge_ms);
	json_member_int(json, "leaseMs", limits->lease_ms);
	json_member_int(json, "gatewayCallMs", limits->gateway_call_ms);
	json_object_end(json);
}

/* "hidden.tool" stands in no catalog of the gateway's. */
static void put_config(const struct world *world, struct buf *out)
{
	struct json_writer json;

	if (world->config) {
		buf_text(out, world->config);
		return;
	}
	json_begin(&json, out);
	json_object(&json);
	json_put_key(&json, "aliases");
	json_array(&json);
	put_alias(&json, "permitted", "permitted.tool");
	put_alias(&json, "denied", "public.tool");
	put_alias(&json, "hidden", "hidden.tool");
	put_alias(&json, "slow", "slow.tool");
	put_alias(&json, "done", NULL);
	json_array_end(&json);
	json_member_string(&json, "beaconTool", "beacon.tool");
	json_member_bool(&json, "acknowledge", world->acknowledge);
	json_member_bool(&json, "failClosed", world->fail_closed);
	json_member_bool(&json, "policy", world->policy);
	json_member_bool(&json, "policyLock", world->policy_lock);
	json_member_bool(&json, "strict", world->strict);
	put_limits(&json, &world->limits);
	json_object_end(&json);
}

static void use_helpers(struct world *world)
{
	struct rig *rig = &world->rig;
	char path[RIG_PATH_BYTES];
	struct error *err = NULL;

	rig->program = world->gateway_program;
	rig->mode = world->gateway_mode;
	/* As the arm has it: the gateway gives an upstream up before the bridge gives it up. */
	rig->config.call_ms = world->limits.gateway_call_ms * 3 / 4;
	if (!world->upstream_program)
		return;
	CU_ASSERT_EQUAL(spawn_helper_path(world->upstream_program, path, sizeof(path), &err), 0);
	CU_ASSERT(test_no_error(&err));
	rig_server(rig, path);
	snprintf(rig->config.servers[0].arguments[0], GATEWAY_ARGUMENT_BYTES, "%s", world->upstream_mode);
	rig->config.servers[0].arguments_count = 1;
}

static void start_gateway(struct world *world, enum world_gateway gateway, int *in, int *out)
{
	cleanup_buf struct buf text = BUF(GATEWAY_CONFIG_BYTES);
	struct json_writer writer;
	struct error *err = NULL;

	if (gateway == GATEWAY_PLAYED) {
		CU_ASSERT_EQUAL(fd_pipe(&world->from_bridge, in, &err), 0);
		CU_ASSERT_EQUAL(fd_pipe(out, &world->to_bridge, &err), 0);
		CU_ASSERT(test_no_error(&err));
		return;
	}
	rig_init(&world->rig);
	use_helpers(world);
	rig_ceiling(&world->rig, "beacon.tool", "confidential");
	rig_tool(&world->rig, "beacon.tool", "public");
	rig_ceiling(&world->rig, "slow.tool", "confidential");
	rig_tool(&world->rig, "slow.tool", "public");
	json_begin(&writer, &text);
	schema_encode(gateway_config_fields, &world->rig.config, &writer);
	rig_spawn_pipes(&world->rig, buf_string(&text), text.length, in, out);
}

static void open_attach(struct world *world, int *bridge_end)
{
	int ends[2] = { -1, -1 };

	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	world->attach = ends[0];
	*bridge_end = ends[1];
	if (world->send_buffer)
		CU_ASSERT_EQUAL(
			setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &world->send_buffer, sizeof(world->send_buffer)), 0);
}

void world_start(struct world *world, enum world_gateway gateway)
{
	cleanup_buf struct buf config = BUF(CONFIG_BYTES);
	cleanup_fd int config_read = -1, config_write = -1, payload = -1, life = -1, control = -1, attach = -1;
	cleanup_fd int in = -1, out = -1;
	char path[RIG_PATH_BYTES], name[] = "bridge";
	char *argv[] = { name, NULL };
	struct error *err = NULL;

	start_sleeper(&world->container);
	start_gateway(world, gateway, &in, &out);
	open_attach(world, &attach);
	put_config(world, &config);
	CU_ASSERT_EQUAL(fd_pipe(&config_read, &config_write, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&payload, &world->payload, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&life, &world->lifeline, &err), 0);
	CU_ASSERT_EQUAL(fd_seqpacket(&world->control, &control, &err), 0);
	CU_ASSERT_EQUAL(spawn_helper_path("bridge", path, sizeof(path), &err), 0);
	const struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = {
			{ .from = world->complaints, .to = 2 },
			{ .from = config_read, .to = BRIDGE_FD_CONFIG },
			{ .from = attach, .to = BRIDGE_FD_ATTACH },
			{ .from = payload, .to = BRIDGE_FD_PAYLOAD },
			{ .from = control, .to = BRIDGE_FD_CONTROL },
			{ .from = in, .to = BRIDGE_FD_GATEWAY_IN },
			{ .from = out, .to = BRIDGE_FD_GATEWAY_OUT },
			{ .from = life, .to = BRIDGE_FD_LIFELINE },
		},
		.fds_count = 8,
	};
	CU_ASSERT_EQUAL(spawn(&options, &world->bridge, &err), 0);
	CU_ASSERT_EQUAL(fd_write_all(config_write, config.data, config.length, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void world_guard(struct world *world, bool watchdog)
{
	struct control_message order = { .type = CONTROL_GUARD };
	cleanup_fd int pulse = -1, acknowledgments = -1;
	struct error *err = NULL;

	if (watchdog) {
		CU_ASSERT_EQUAL(fd_pipe(&world->pulse, &pulse, &err), 0);
		CU_ASSERT_EQUAL(fd_pipe(&acknowledgments, &world->acknowledge_fd, &err), 0);
	}
	int fds[] = { world->container.pidfd, pulse, acknowledgments };

	CU_ASSERT_EQUAL(control_send(world->control, &order, fds, watchdog ? 3 : 1, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void map(struct spawn_options *options, int from, int to)
{
	if (from >= 0)
		options->fds[options->fds_count++] = (struct spawn_fd){ .from = from, .to = to };
}

/* Starts the watchdog between the given pipes. */
static void start_watchdog(struct world *world, const char *const words[3], int pulse, int acknowledge, int holder,
			   int cgroup)
{
	char path[RIG_PATH_BYTES], lease[24], try_ms[24], stop[RIG_PATH_BYTES];
	char name[] = "watchdog", id[] = ID, socket_path[] = SOCKET;
	char *argv[] = { name, lease, try_ms, id, stop, socket_path, NULL };
	cleanup_fd int control = -1;
	struct error *err = NULL;

	snprintf(lease, sizeof(lease), "%s", words[0]);
	snprintf(try_ms, sizeof(try_ms), "%s", words[1]);
	snprintf(stop, sizeof(stop), "%s", words[2]);
	CU_ASSERT_EQUAL(spawn_helper_path("watchdog", path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(fd_seqpacket(&world->watchdog_control, &control, &err), 0);
	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = {
			{ .from = world->complaints, .to = 2 },
			{ .from = pulse, .to = WATCHDOG_FD_PULSE },
			{ .from = acknowledge, .to = WATCHDOG_FD_ACK },
			{ .from = holder, .to = WATCHDOG_FD_BRIDGE },
			{ .from = control, .to = WATCHDOG_FD_CONTROL },
		},
		.fds_count = 5,
		.new_session = true,
		.survive_parent = true,
	};
	if (!world->unheld)
		map(&options, world->container.pidfd, WATCHDOG_FD_PIDFD);
	map(&options, cgroup, WATCHDOG_FD_CGROUP);
	map(&options, world->freezer, WATCHDOG_FD_FREEZER);
	CU_ASSERT_EQUAL(spawn(&options, &world->watchdog, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void world_guard_real(struct world *world, const char *lease_ms, const char *try_ms, const char *stop)
{
	const char *const words[] = { lease_ms, try_ms, stop };
	struct control_message order = { .type = CONTROL_GUARD };
	cleanup_fd int pulse_read = -1, pulse_write = -1, read_end = -1, write_end = -1;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&pulse_read, &pulse_write, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&read_end, &write_end, &err), 0);
	start_watchdog(world, words, pulse_read, write_end, world->bridge.pidfd, -1);
	int fds[] = { world->container.pidfd, pulse_write, read_end };

	CU_ASSERT_EQUAL(control_send(world->control, &order, fds, ARRAY_SIZE(fds), guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(world_told(world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	CU_ASSERT_EQUAL(world_watchdog_told(world, CONTROL_ARMED).type, CONTROL_ARMED);
}

void world_watchdog(struct world *world, const char *lease_ms, const char *try_ms, const char *stop, int cgroup)
{
	const char *const words[] = { lease_ms, try_ms, stop };
	cleanup_fd int pulse = -1, acknowledge = -1;
	struct error *err = NULL;

	start_sleeper(&world->container);
	start_sleeper(&world->holder);
	/* The other way round than where the watchdog is played: we write pulses and read acknowledgments. */
	CU_ASSERT_EQUAL(fd_pipe(&pulse, &world->pulse, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&world->acknowledge_fd, &acknowledge, &err), 0);
	CU_ASSERT(test_no_error(&err));
	start_watchdog(world, words, pulse, acknowledge, world->holder.pidfd, cgroup);
}

void world_payload(struct world *world, const char *payload, size_t length)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(world->payload, payload, length, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
	fd_close(&world->payload);
}

void world_go(struct world *world, const char *payload)
{
	world_guard(world, false);
	CU_ASSERT_EQUAL(world_told(world, CONTROL_GUARDED).type, CONTROL_GUARDED);
	world_payload(world, payload, strlen(payload));
	world_order(world, CONTROL_GO);
}

/* ---- the arm ---- */

void world_order_with(struct world *world, struct control_message *order)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(control_send(world->control, order, NULL, 0, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void world_order(struct world *world, enum control_type type)
{
	struct control_message order = { .type = type };

	world_order_with(world, &order);
}

void world_policy(struct world *world, const char *document, size_t length)
{
	struct control_message order = { .type = CONTROL_POLICY };
	cleanup_fd int read_end = -1, write_end = -1;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&read_end, &write_end, &err), 0);
	CU_ASSERT_EQUAL(fd_write_all(write_end, document, length, guard(), &err), 0);
	CU_ASSERT_EQUAL(control_send(world->control, &order, &read_end, 1, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static struct control_message await(struct world *world, int socket, enum control_type type)
{
	int64_t deadline = guard();
	size_t none = 0;

	for (;;) {
		cleanup_error struct error *reason = NULL;
		struct control_message message;

		if (control_receive(socket, &message, NULL, &none, deadline, &reason) < 0)
			return (struct control_message){ .type = 0 };
		buf_add(&world->heard, &message, sizeof(message));
		if (message.type == type)
			return message;
	}
}

struct control_message world_told(struct world *world, enum control_type type)
{
	return await(world, world->control, type);
}

struct control_message world_watchdog_told(struct world *world, enum control_type type)
{
	return await(world, world->watchdog_control, type);
}

bool world_dead(const struct child *child, int64_t milliseconds)
{
	return fd_wait(child->pidfd, POLLIN, clock_deadline(milliseconds), NULL) == 1;
}

bool world_ended(struct world *world, enum control_reason reason)
{
	struct control_message message = world_told(world, CONTROL_ENDED);
	bool ended = message.type == CONTROL_ENDED;

	if (!ended || message.reason != reason)
		fprintf(stderr, "expected the end '%s', got '%s'\n", control_reason_names[reason],
			ended ? control_reason_names[message.reason] : "no end");
	return ended && message.reason == reason && world_dead(&world->container, WORLD_GUARD_MS) &&
	       world_dead(&world->bridge, WORLD_GUARD_MS);
}

/* ---- the agent, behind the engine ---- */

void world_raw(struct world *world, const void *bytes, size_t length)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(world->attach, bytes, length, guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void world_agent(struct world *world, enum demux_stream stream, const void *bytes, size_t length)
{
	cleanup_buf struct buf frame = BUF(length + DEMUX_HEADER_BYTES);
	const unsigned char header[DEMUX_HEADER_BYTES] = { (unsigned char)stream,
							   0,
							   0,
							   0,
							   (unsigned char)(length >> 24),
							   (unsigned char)(length >> 16),
							   (unsigned char)(length >> 8),
							   (unsigned char)length };

	buf_add(&frame, header, sizeof(header));
	buf_add(&frame, bytes, length);
	world_raw(world, frame.data, frame.length);
}

void world_agent_says(struct world *world, const char *text)
{
	world_agent(world, DEMUX_STDOUT, text, strlen(text));
}

static const char *read_line(struct world *world, int fd, char *out, size_t size)
{
	int64_t deadline = guard();
	size_t length = 0;

	out[0] = '\0';
	while (length + 1 < size) {
		cleanup_error struct error *reason = NULL;

		if (fd_read_exact(fd, out + length, 1, deadline, &reason) < 0)
			break;
		out[++length] = '\0';
		if (out[length - 1] == '\n')
			break;
	}
	buf_add(&world->heard, out, length);
	return out;
}

const char *world_agent_hears(struct world *world, char *out, size_t size)
{
	return read_line(world, world->attach, out, size);
}

const char *world_gateway_hears(struct world *world, char *out, size_t size)
{
	return read_line(world, world->from_bridge, out, size);
}

void world_gateway_says(struct world *world, const char *text)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(world->to_bridge, text, strlen(text), guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void world_gateway_greets(struct world *world)
{
	char line[LINE_BYTES];

	CU_ASSERT(strstr(world_gateway_hears(world, line, sizeof(line)), "\"initialize\"") != NULL);
	world_gateway_says(world, GREETING);
	CU_ASSERT(strstr(world_gateway_hears(world, line, sizeof(line)), "notifications/initialized") != NULL);
}

static void add_file(struct buf *out, int fd)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t got;

	while (fd >= 0 && (got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		buf_add(out, bytes, (size_t)got);
		at += got;
	}
}

bool world_holds(struct world *world, const char *bytes)
{
	const int streams[] = { world->attach, world->control, world->from_bridge };
	cleanup_error struct error *ended = NULL;

	CU_ASSERT(world_dead(&world->bridge, WORLD_GUARD_MS));
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		if (streams[i] >= 0 && fd_read_all(streams[i], &world->heard, guard(), &ended) < 0) {
			error_free(ended);
			ended = NULL;
		}
	add_file(&world->heard, world->complaints);
	add_file(&world->heard, world->rig.sink);
	add_file(&world->heard, world->rig.decisions);
	CU_ASSERT(!world->heard.failed);
	return memmem(buf_string(&world->heard), world->heard.length, bytes, strlen(bytes)) != NULL;
}
