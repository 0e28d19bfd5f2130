#include "tests/sim/stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/unit/gateway_rig.h"

#define TEXT_BYTES (256 * KIB)
#define CALL_MS 2000
#define NOISE_TRIES 40000
#define SINK_BYTES (1 * MIB)
#define LOOK_MS 5

static const char *const plain_child_fails[];

static size_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static bool fetch(struct buf *text, struct json_document **out)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(buf_string(text), text->length, JSON_ENGINE_DEPTH, out, &err), 0);
	return test_no_error(&err);
}

/* What a run asks once. The image is the one that the recorded answer is about. */
static bool ask(struct stage *stage, struct error **err)
{
	cleanup_buf struct buf info = BUF(TEXT_BYTES), images = BUF(TEXT_BYTES), image = BUF(TEXT_BYTES);
	cleanup_json struct json_document *list = NULL;
	const char *id;
	bool found = false;

	if (engine_negotiate(stage->engine, err) < 0 || engine_info(stage->engine, &info, err) < 0 ||
	    engine_images_by_reference(stage->engine, "harness/agent", &images, err) < 0)
		return false;
	if (!fetch(&images, &list))
		return false;
	id = json_string(json_member(json_first(json_root(list)), "Id"));
	if (!id || engine_image_inspect(stage->engine, id, &image, &found, err) < 0 || !found)
		return false;
	return fetch(&info, &stage->info) && fetch(&image, &stage->image);
}

static void shrink(struct session_limits *limits)
{
	limits->heartbeat_ms = STAGE_HEARTBEAT_MS;
	limits->acknowledge_ms = STAGE_ACKNOWLEDGE_MS;
	limits->lease_ms = STAGE_LEASE_MS;
	limits->stop_try_ms = STAGE_TRY_MS;
}

bool stage_open(struct stage *stage, const char *script)
{
	struct error *err = NULL;
	bool up;

	*stage = (struct stage){
		.process = STAGE_ENGINE,
		.gateway = CHILD_NONE,
		.gateway_in = -1,
		.gateway_out = -1,
		.gateway_life = -1,
		.decisions = -1,
		.sink = -1,
		.descriptors = count_descriptors(),
	};
	session_options_reference(&stage->options);
	shrink(&stage->options.limits);
	for (const char *const *rule = plain_child_fails; *rule; rule++)
		CU_ASSERT(rule_set_add_id(&stage->options.must_fail, *rule));
	session_init(&stage->session, NULL, &stage->target, &stage->options);
	up = stage_engine_start(&stage->process, script) &&
	     engine_open(stage->process.socket, &stage->engine, &err) == 0;
	if (up) {
		struct engine_limits limits = ENGINE_LIMITS;

		limits.call_ms = limits.start_ms = CALL_MS;
		engine_set_limits(stage->engine, &limits);
		up = ask(stage, &err);
	}
	stage->target = (struct session_target){
		.socket = stage->process.socket,
		.run = STAGE_RUN,
		.image = json_string(json_member(json_root(stage->image), "Id")),
		.image_inspect = json_root(stage->image),
		.info = json_root(stage->info),
	};
	session_init(&stage->session, stage->engine, &stage->target, &stage->options);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(up);
	return up;
}

/* ---- gateway and recorder ---- */

static int start_gateway(struct stage *stage, struct error **err)
{
	cleanup_buf struct buf text = BUF(GATEWAY_CONFIG_BYTES);
	cleanup_fd int config = memfd_create("config", MFD_CLOEXEC), in = -1, out = -1, life = -1;
	struct rig rig = { .gateway = CHILD_NONE, .decisions = -1, .sink = -1, .lifeline = -1 };
	char path[RIG_PATH_BYTES], name[] = "harness-gateway", verb[] = "embedded";
	char *argv[] = { name, verb, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	struct json_writer writer;

	rig_init(&rig);
	stage->decisions = rig.decisions;
	stage->sink = rig.sink;
	json_begin(&writer, &text);
	schema_encode(gateway_config_fields, &rig.config, &writer);
	if (pwrite(config, buf_string(&text), text.length, 0) != (ssize_t)text.length)
		return error_set(err, ERROR_SYSTEM, "writing the gateway's configuration");
	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&in, &stage->gateway_in, err) < 0 ||
	    fd_pipe(&stage->gateway_out, &out, err) < 0 || fd_pipe(&life, &stage->gateway_life, err) < 0)
		return -1;
	options.fds[0] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options.fds[2] = (struct spawn_fd){ .from = config, .to = GATEWAY_FD_CONFIG };
	options.fds[3] = (struct spawn_fd){ .from = stage->decisions, .to = GATEWAY_FD_DECISIONS };
	options.fds[4] = (struct spawn_fd){ .from = life, .to = GATEWAY_FD_LIFELINE };
	options.fds[5] = (struct spawn_fd){ .from = stage->sink, .to = GATEWAY_FD_PASS };
	options.fds_count = 6;
	return spawn(&options, &stage->gateway, err);
}

void stage_pulse(struct stage *stage)
{
	struct control_message message = { .type = CONTROL_PULSE };
	cleanup_error struct error *ignored = NULL;

	if (stage->session.bridge_control >= 0)
		(void)!control_send(stage->session.bridge_control, &message, NULL, 0, clock_now(), &ignored);
}

size_t stage_delivered(struct stage *stage, const struct canary *canary, int64_t wait_ms)
{
	int64_t deadline = clock_deadline(wait_ms);
	size_t count = 0;

	do {
		char *text = calloc(1, SINK_BYTES);
		ssize_t got = text ? pread(stage->sink, text, SINK_BYTES - 1, 0) : -1;

		stage_pulse(stage);
		count = 0;
		for (const char *at = text; got > 0 && (at = strstr(at, canary->text)); at++)
			count++;
		free(text);
		/* A file tells of no change: it is looked at again and again. */
		if (count == 0)
			(void)poll(NULL, 0, LOOK_MS);
	} while (count == 0 && clock_now() < deadline);
	return count;
}

/* ---- the arm's steps ---- */

static int expect(struct stage *stage, int control, enum control_type type, struct error **err)
{
	struct control_message message = stage_told(stage, control, type);

	if (message.type == type)
		return 0;
	return error_set(err, ERROR_PROTOCOL, "the control message %d did not come", (int)type);
}

int stage_session(struct stage *stage, struct error **err)
{
	struct session *session = &stage->session;

	if (session_create(session, "arm", err) < 0 || session_watch_open(session, err) < 0 ||
	    session_attach(session, err) < 0 || session_start(session, err) < 0 || start_gateway(stage, err) < 0 ||
	    session_bridge(session, stage->gateway_in, stage->gateway_out, err) < 0)
		return -1;
	fd_close(&stage->gateway_in);
	fd_close(&stage->gateway_out);
	if (session_started(session, err) < 0 || session_kernel(session, err) < 0 || session_guard(session, err) < 0)
		return -1;
	if (stage->options.watchdog && expect(stage, session->watchdog_control, CONTROL_ARMED, err) < 0)
		return -1;
	if (expect(stage, session->bridge_control, CONTROL_GUARDED, err) < 0)
		return -1;
	return session_readmit(session, err) < 0 ? -1 : session_watch_arm(session, err);
}

int stage_go(struct stage *stage, unsigned tries, bool noise, const char *ending, struct error **err)
{
	cleanup_buf struct buf orders = BUF(4 * KIB);

	if (canary_new(&stage->permitted, err) < 0 || canary_new(&stage->denied, err) < 0)
		return -1;
	buf_printf(&orders, "tries %u\n", noise ? NOISE_TRIES : tries);
	if (noise)
		buf_printf(&orders, "probe stderr %s - 0\n", stage->permitted.text);
	else
		buf_printf(&orders, "probe permitted %s permitted 0\nprobe denied %s denied 0\n", stage->permitted.text,
			   stage->denied.text);
	buf_printf(&orders, "then %s\n", ending);
	return session_go(&stage->session, &orders, err);
}

struct control_message stage_told(struct stage *stage, int control, enum control_type type)
{
	int64_t deadline = clock_deadline(STAGE_GUARD_MS);
	struct control_message message = { .type = 0 };

	while (clock_now() < deadline) {
		cleanup_error struct error *err = NULL;
		size_t none = 0;

		stage_pulse(stage);
		if (control_receive(control, &message, NULL, &none, clock_deadline(STAGE_HEARTBEAT_MS), &err) == 0) {
			if (message.type == type)
				return message;
		} else if (error_code(err) != ERROR_TIMEOUT) {
			break;
		}
	}
	return (struct control_message){ .type = 0 };
}

void stage_order(struct stage *stage, enum control_type type)
{
	struct control_message message = { .type = type };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(
		control_send(stage->session.bridge_control, &message, NULL, 0, clock_deadline(STAGE_GUARD_MS), &err),
		0);
	CU_ASSERT(test_no_error(&err));
}

int stage_finish(struct stage *stage, unsigned tries, int64_t exit_ms, struct control_message *end, int64_t *exit_code,
		 struct error **err)
{
	if (stage_go(stage, tries, false, "done", err) < 0)
		return -1;
	CU_ASSERT_EQUAL(stage_told(stage, stage->session.bridge_control, CONTROL_DONE).type, CONTROL_DONE);
	stage_order(stage, CONTROL_END);
	*end = stage_told(stage, stage->session.bridge_control, CONTROL_ENDED);
	return session_exited(&stage->session, clock_deadline(exit_ms), exit_code, err);
}

int64_t stage_dead(const struct stage *stage, int64_t deadline_ms)
{
	int64_t start = clock_now();
	cleanup_error struct error *ignored = NULL;

	if (stage->session.pidfd < 0 ||
	    fd_wait(stage->session.pidfd, POLLIN, clock_deadline(deadline_ms), &ignored) != 1)
		return -1;
	return (clock_now() - start) / NS_PER_MS;
}

/* ---- the end ---- */

static void end_gateway(struct stage *stage)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	fd_close(&stage->gateway_in);
	fd_close(&stage->gateway_out);
	fd_close(&stage->gateway_life);
	if (stage->gateway.pid)
		(void)!child_wait(&stage->gateway, clock_deadline(STAGE_GUARD_MS), &status, &ignored);
	child_end(&stage->gateway);
}

/* Our only child is the engine, which has none. */
static bool childless(const struct stage *stage)
{
	cleanup_buf struct buf list = BUF(4 * KIB);
	struct error *err = NULL;
	char path[64], expected[24];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	snprintf(expected, sizeof(expected), "%d ", (int)stage->process.child.pid);
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, path, 4 * KIB, &list, &err), 0);
	return test_no_error(&err) && (stage->process.child.pid == 0 || strcmp(buf_string(&list), expected) == 0) &&
	       !stage_engine_has_child(&stage->process);
}

bool stage_clean(struct stage *stage)
{
	cleanup_buf struct buf list = BUF(TEXT_BYTES);
	struct error *err = NULL;

	end_gateway(stage);
	CU_ASSERT_EQUAL(engine_list(stage->engine, PROFILE_LABEL_RUN "=" STAGE_RUN, &list, &err), 0);
	return test_no_error(&err) && childless(stage) && strncmp(buf_string(&list), "[]", 2) == 0;
}

void stage_close(struct stage *stage)
{
	cleanup_error struct error *ignored = NULL;

	if (stage->session.engine)
		(void)!session_end(&stage->session, &ignored);
	end_gateway(stage);
	fd_close(&stage->decisions);
	fd_close(&stage->sink);
	engine_close(stage->engine);
	json_free(stage->info);
	json_free(stage->image);
	CU_ASSERT(childless(stage));
	stage_engine_stop(&stage->process);
	CU_ASSERT_EQUAL(count_descriptors(), stage->descriptors);
}

/* The kernel's rules that need a runtime; a plain child in its engine's namespaces holds all others. */
static const char *const plain_child_fails[] = { "capabilities",    "seccomp",       "ns-pid",
						 "cgroup-pids",     "cgroup-memory", "cgroup-swap",
						 "writable-mounts", "proc-sys",      NULL };
