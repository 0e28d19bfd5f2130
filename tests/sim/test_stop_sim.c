/* libexec/stop on the simulated engine, and the watchdog's three tries of it. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define BODY_BYTES (16 * KIB)
#define TEXT_BYTES (64 * KIB)
#define TRY_MS 400
#define PULSE_LEASE_MS 300

#define ROW(verb, target, fault) "{\"expect\":{\"method\":\"" verb "\",\"path\":\"" target "\"}," fault "}"
#define CUT "\"cut\":true"
#define GARBLED "\"garble\":true"
#define HELD "\"hold\":true"
#define PING "GET", "/_ping"
#define VERSION "GET", "/version"
#define KILL "POST", "/containers/*/kill"
#define APPLY(row, ...) row(__VA_ARGS__)

/* ---- a container without a session ---- */

struct victim {
	struct stage stage;
	char id[CONTAINER_ID_MAX];
	int pidfd;
};

static void victim_end(struct victim *victim)
{
	cleanup_error struct error *ignored = NULL;

	fd_close(&victim->pidfd);
	if (victim->id[0])
		(void)!engine_remove(victim->stage.engine, victim->id, &ignored);
	stage_close(&victim->stage);
}
#define cleanup_victim __attribute__((cleanup(victim_end)))

static int hold(struct victim *victim, struct error **err)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	cleanup_json struct json_document *inspect = NULL;
	bool found = false;
	int64_t pid = 0;

	if (engine_inspect(victim->stage.engine, victim->id, &text, &found, err) < 0 ||
	    json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &inspect, err) < 0)
		return -1;
	CU_ASSERT(json_int64(json_member(json_member(json_root(inspect), "State"), "Pid"), &pid));
	victim->pidfd = pidfd_open((pid_t)pid, 0);
	CU_ASSERT(victim->pidfd >= 0);
	return 0;
}

static int make(struct victim *victim, struct error **err)
{
	static const char *const command[] = { "/agent", NULL };
	const struct profile_identity identity = {
		.image = victim->stage.target.image, .run = STAGE_RUN, .role = "arm", .command = command
	};
	cleanup_buf struct buf body = BUF(BODY_BYTES), warnings = BUF(BODY_BYTES);

	if (profile_create_body(&profile_reference, &identity, &body, err) < 0 ||
	    engine_create(victim->stage.engine, "victim", body.data, body.length, victim->id, &warnings, err) < 0 ||
	    engine_start(victim->stage.engine, victim->id, err) < 0)
		return -1;
	return hold(victim, err);
}

/* The script must spare the first ping and version: they are this test's own. */
static bool victim_begin(struct victim *victim, const char *script)
{
	struct error *err = NULL;
	bool up;

	victim->pidfd = -1;
	victim->id[0] = '\0';
	up = stage_open(&victim->stage, script) && make(victim, &err) == 0;
	CU_ASSERT(test_no_error(&err));
	return up;
}

static bool dead(const struct victim *victim)
{
	return fd_wait(victim->pidfd, POLLIN, clock_deadline(STAGE_GUARD_MS), NULL) == 1;
}

/* ---- the program ---- */

static int run_stop(const char *socket, const char *id)
{
	char path[512], name[] = "stop", first[128], second[128];
	char *argv[] = { name, first, id ? second : NULL, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_child struct child child = CHILD_NONE;
	struct error *err = NULL;
	int status = -1;

	snprintf(first, sizeof(first), "%s", socket);
	snprintf(second, sizeof(second), "%s", id ? id : "");
	CU_ASSERT_EQUAL(spawn_helper_path("stop", path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(STAGE_GUARD_MS), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return status;
}

static void test_stop(void)
{
	cleanup_victim struct victim victim;

	if (!victim_begin(&victim, NULL))
		return;
	CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, victim.id), 0);
	CU_ASSERT(dead(&victim));
	/* What does not run any more is stopped. */
	CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, victim.id), 0);
	CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, "0123456789ab"), 3);
	CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, "../nonsense"), 3);
	CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, NULL), 4);
	CU_ASSERT_EQUAL(run_stop("/nowhere/engine", victim.id), 3);
}

/* Its answer is lost, its work is not. */
static void test_stop_misled(void)
{
	static const struct {
		const char *script;
		bool killed;
	} rows[] = {
		{ "[" ROW("GET", "/_ping", "\"delay_ms\":1") "," APPLY(ROW, PING, CUT) "]", false },
		{ "[" ROW("GET", "/version", "\"delay_ms\":1") "," APPLY(ROW, VERSION, CUT) "]", false },
		{ "[" ROW("GET", "/version", "\"delay_ms\":1") "," APPLY(ROW, VERSION, GARBLED) "]", false },
		{ "[" APPLY(ROW, KILL, CUT) "]", true },
		{ "[" APPLY(ROW, KILL, GARBLED) "]", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_victim struct victim victim;

		if (!victim_begin(&victim, rows[i].script))
			return;
		CU_ASSERT_EQUAL(run_stop(victim.stage.process.socket, victim.id), 3);
		CU_ASSERT_EQUAL(stage_engine_requests(&victim.stage.process, "POST", "/kill"), rows[i].killed ? 1 : 0);
		CU_ASSERT(!rows[i].killed || dead(&victim));
	}
}

/* ---- the watchdog ---- */

struct post {
	struct child watchdog, holder;
	int pulse, acknowledgments, control, held; /* our ends */
};

static void post_end(struct post *post)
{
	child_end(&post->watchdog);
	child_end(&post->holder);
	fd_close(&post->pulse);
	fd_close(&post->acknowledgments);
	fd_close(&post->control);
	fd_close(&post->held);
}
#define cleanup_post __attribute__((cleanup(post_end)))

/* The agent, which waits for orders, stands for a bridge that holds the stream. */
static bool start_holder(struct post *post, struct error **err)
{
	char path[] = TEST_BUILD "/agent", name[] = "holder";
	char *argv[] = { name, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_fd int in = -1;

	if (fd_pipe(&in, &post->held, err) < 0)
		return false;
	options.fds[0] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options.fds_count = 1;
	return spawn(&options, &post->holder, err) == 0;
}

static bool start_watchdog(struct post *post, const struct victim *victim, struct error **err)
{
	char path[512], stop[512], name[] = "watchdog", lease[16], try_ms[16], id[CONTAINER_ID_MAX], socket[128];
	char *argv[] = { name, lease, try_ms, id, stop, socket, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv, .new_session = true };
	cleanup_fd int pulse = -1, acknowledgments = -1, control = -1;

	snprintf(lease, sizeof(lease), "%d", PULSE_LEASE_MS);
	snprintf(try_ms, sizeof(try_ms), "%d", TRY_MS);
	snprintf(id, sizeof(id), "%s", victim->id);
	snprintf(socket, sizeof(socket), "%s", victim->stage.process.socket);
	if (spawn_helper_path("watchdog", path, sizeof(path), err) < 0 ||
	    spawn_helper_path("stop", stop, sizeof(stop), err) < 0 || fd_pipe(&pulse, &post->pulse, err) < 0 ||
	    fd_pipe(&post->acknowledgments, &acknowledgments, err) < 0 ||
	    fd_seqpacket(&post->control, &control, err) < 0)
		return false;
	options.fds[0] = (struct spawn_fd){ .from = pulse, .to = WATCHDOG_FD_PULSE };
	options.fds[1] = (struct spawn_fd){ .from = acknowledgments, .to = WATCHDOG_FD_ACK };
	options.fds[2] = (struct spawn_fd){ .from = victim->pidfd, .to = WATCHDOG_FD_PIDFD };
	options.fds[3] = (struct spawn_fd){ .from = post->holder.pidfd, .to = WATCHDOG_FD_BRIDGE };
	options.fds[4] = (struct spawn_fd){ .from = control, .to = WATCHDOG_FD_CONTROL };
	options.fds_count = 5;
	return spawn(&options, &post->watchdog, err) == 0;
}

static struct control_message told(const struct post *post, enum control_type type)
{
	struct control_message message = { .type = 0 };
	cleanup_error struct error *ignored = NULL;
	size_t none = 0;

	while (control_receive(post->control, &message, NULL, &none, clock_deadline(STAGE_GUARD_MS), &ignored) == 0)
		if (message.type == type)
			return message;
	return (struct control_message){ .type = 0 };
}

static bool post_begin(struct post *post, const struct victim *victim)
{
	struct error *err = NULL;
	bool up = start_holder(post, &err) && start_watchdog(post, victim, &err) && write(post->pulse, "", 1) == 1;

	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(up);
	return up && told(post, CONTROL_ARMED).type == CONTROL_ARMED;
}
#define POST                                                                                                           \
	{                                                                                                              \
		.watchdog = CHILD_NONE, .holder = CHILD_NONE, .pulse = -1, .acknowledgments = -1, .control = -1,       \
		.held = -1                                                                                             \
	}

struct tries {
	const char *script;
	enum control_reason reason;
	int tries;
	bool held; /* each try lasts as long as it may */
};

static void fire(const struct tries *row)
{
	cleanup_victim struct victim victim;
	cleanup_post struct post post = POST;
	struct control_message stopped;
	struct error *err = NULL;
	int64_t start, took;
	int status = -1;

	if (!victim_begin(&victim, row->script) || !post_begin(&post, &victim))
		return;
	start = clock_now();
	fd_close(&post.pulse);
	CU_ASSERT_EQUAL(told(&post, CONTROL_FIRED).reason, CONTROL_REASON_BRIDGE_LOST);
	CU_ASSERT_EQUAL(told(&post, CONTROL_DEAD).type, CONTROL_DEAD);
	CU_ASSERT(dead(&victim));
	stopped = told(&post, CONTROL_STOPPED);
	took = (clock_now() - start) / NS_PER_MS;
	CU_ASSERT_EQUAL(stopped.type, CONTROL_STOPPED);
	CU_ASSERT_EQUAL(stopped.reason, row->reason);
	CU_ASSERT_EQUAL(stopped.value, row->tries);
	CU_ASSERT(took < STAGE_GUARD_MS && (!row->held || took >= STOP_TRIES * TRY_MS));
	CU_ASSERT_FALSE(child_running(&post.holder));
	CU_ASSERT_EQUAL(child_wait(&post.watchdog, clock_deadline(STAGE_GUARD_MS), &status, &err), 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(test_no_error(&err));
	if (strstr(row->script, "/kill"))
		CU_ASSERT_EQUAL(stage_engine_requests(&victim.stage.process, "POST", "/kill"), (size_t)row->tries);
}

/* The times above are a test's. */
static void test_times(void)
{
	CU_ASSERT_EQUAL(STOP_TRIES, 3);
	CU_ASSERT_EQUAL(session_limits_reference.stop_try_ms, 5000);
	CU_ASSERT_EQUAL(session_limits_reference.lease_ms, 2000);
	CU_ASSERT_EQUAL(session_limits_reference.acknowledge_ms, 1000);
}

static void test_tries(void)
{
	static const struct tries rows[] = {
		{ .script = "[]", .tries = 1 },
		{ .script = "[" APPLY(ROW, KILL, CUT) "]", .tries = 2 },
		{ .script = "[" APPLY(ROW, KILL, GARBLED) "]", .tries = 2 },
		{ .script = "[" APPLY(ROW, KILL, CUT) "," APPLY(ROW, KILL, CUT) "]", .tries = 3 },
		/* twice cut off at the end of its time, and then answered */
		{ .script = "[" APPLY(ROW, KILL, HELD) "," APPLY(ROW, KILL, HELD) "]", .tries = 3 },
		{ .script = "[" APPLY(ROW, KILL, CUT) "," APPLY(ROW, KILL, CUT) "," APPLY(ROW, KILL, CUT) "]",
		  .reason = CONTROL_REASON_STOP_FAILED,
		  .tries = 3 },
		{ .script = "[" APPLY(ROW, KILL, HELD) "," APPLY(ROW, KILL, HELD) "," APPLY(ROW, KILL, HELD) "]",
		  .reason = CONTROL_REASON_STOP_FAILED,
		  .tries = 3,
		  .held = true },
		{ .script = "[" ROW("GET", "/_ping", "\"delay_ms\":1") "," APPLY(ROW, PING, CUT) "," APPLY(
			  ROW, PING, CUT) "," APPLY(ROW, PING, CUT) "]",
		  .reason = CONTROL_REASON_STOP_FAILED,
		  .tries = 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fire(&rows[i]);
}

/* Pulses that stay away are as good as their end, after the lease. */
static void test_lease(void)
{
	cleanup_victim struct victim victim;
	cleanup_post struct post post = POST;
	int64_t start;

	if (!victim_begin(&victim, NULL) || !post_begin(&post, &victim))
		return;
	start = clock_now();
	CU_ASSERT_EQUAL(told(&post, CONTROL_FIRED).reason, CONTROL_REASON_LEASE);
	CU_ASSERT(clock_now() - start >= (PULSE_LEASE_MS - 100) * NS_PER_MS);
	CU_ASSERT_EQUAL(told(&post, CONTROL_STOPPED).value, 1);
	CU_ASSERT(dead(&victim));
}

/* One that was disarmed leaves the container alone. */
static void test_disarmed(void)
{
	struct control_message disarm = { .type = CONTROL_DISARM };
	cleanup_victim struct victim victim;
	cleanup_post struct post post = POST;
	struct error *err = NULL;
	int status = -1;

	if (!victim_begin(&victim, NULL) || !post_begin(&post, &victim))
		return;
	CU_ASSERT_EQUAL(control_send(post.control, &disarm, NULL, 0, clock_deadline(STAGE_GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(child_wait(&post.watchdog, clock_deadline(STAGE_GUARD_MS), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(fd_wait(victim.pidfd, POLLIN, clock_now(), &err), 0);
	CU_ASSERT_EQUAL(stage_engine_requests(&victim.stage.process, "POST", "/kill"), 0);
	CU_ASSERT_EQUAL(engine_remove(victim.stage.engine, victim.id, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo stop_tests[] = {
	{ "the stop program", test_stop },
	{ "each of its answers cut or garbled", test_stop_misled },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo watchdog_tests[] = {
	{ "three tries", test_tries }, { "the times", test_times }, { "the lease", test_lease },
	{ "disarmed", test_disarmed }, CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "stop", NULL, NULL, NULL, NULL, stop_tests },
	{ "watchdog", NULL, NULL, NULL, NULL, watchdog_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (stage_isolate())
		return test_main("stop_sim", suites);
	printf("stop_sim: 0 passed, 0 failed, 1 skipped\n");
	return 0;
}
