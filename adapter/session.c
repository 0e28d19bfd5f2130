#include "adapter/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "adapter/engine.h"
#include "adapter/freezer.h"
#include "adapter/preflight.h"
#include "adapter/session_watch_parts.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/loop.h"

#define NAME_BYTES 64
#define GONE_MS 2000
#define DISARM_MS 100
#define EXEC_MS 2000
#define EXEC_STEP_NS NS_PER_MS

static const char *const agent_command[] = { "/agent", NULL };

void session_init(struct session *session, struct engine *engine, const struct session_target *target,
		  const struct session_options *options)
{
	*session = (struct session){
		.engine = engine,
		.target = target,
		.options = options,
		.attach = -1,
		.bridge = CHILD_NONE,
		.watchdog = CHILD_NONE,
		.bridge_control = -1,
		.watchdog_control = -1,
		.payload = -1,
		.lifeline = -1,
		.pidfd = -1,
		.proc = -1,
		.netns = -1,
		.cgroup = -1,
		.memory = -1,
		.freezer = -1,
		.cpu = sched_getcpu(),
	};
}

static int parse_answer(const struct buf *answer, struct json_document **out, struct error **err)
{
	if (json_parse(buf_string(answer), answer->length, JSON_ENGINE_DEPTH, out, err) < 0)
		return error_wrap(err, "the engine's answer");
	return 0;
}

static int read_back(struct session *session, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *document = NULL;
	bool found = false;

	if (engine_inspect(session->engine, session->container, &answer, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_REFUSED, "the container is gone");
	if (parse_answer(&answer, &document, err) < 0)
		return -1;
	json_free(session->inspect);
	session->inspect = steal_pointer(&document);
	return 0;
}

struct admission_declared session_declared(const struct session *session, const struct json_node *inspect)
{
	return (struct admission_declared){
		.inspect = inspect,
		.image = session->target->image_inspect,
		.info = session->target->info,
		.image_id = session->target->image,
		.container_id = session->container,
		.profile = &profile_reference,
		.identity = &session->identity,
		.create_warnings = session->create_warnings,
	};
}

/* The rules of one half that are in `set`. */
static struct rule_set half_of(const struct rule_set *set, enum admission_half half)
{
	struct rule_set out = { { 0 } };

	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (rule_set_has(set, rule) && admission_rule_half(rule) == half)
			rule_set_add(&out, rule);
	return out;
}

static int refuse(const struct rule_set *failed, const struct rule_set *expected, struct error **err)
{
	cleanup_buf struct buf names = BUF(400);

	for (size_t rule = 0; rule < admission_rules(); rule++) {
		const char *mark = rule_set_has(failed, rule) ? "" : "not refused: ";

		if (rule_set_has(failed, rule) != rule_set_has(expected, rule))
			(void)buf_printf(&names, "%s%s%s", names.length ? ", " : "", mark, admission_rule_id(rule));
	}
	return error_set(err, ERROR_REFUSED, "admission: %s", buf_string(&names));
}

/* What this half refused on must be exactly what the session's options say that it must. */
static int admit(struct session *session, enum admission_half half, const struct rule_set *failed, struct error **err)
{
	struct rule_set expected = half_of(&session->options->must_fail, half);

	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (rule_set_has(failed, rule))
			rule_set_add(&session->failed, rule);
	if (rule_set_equal(failed, &expected))
		return 0;
	session->refused = true;
	return refuse(failed, &expected, err);
}

bool session_declared_holds(const struct session *session, const struct json_node *inspect)
{
	struct rule_set expected = half_of(&session->options->must_fail, ADMISSION_DECLARED), failed = { { 0 } };
	struct admission_declared documents = session_declared(session, inspect);

	admission_declared(&documents, &failed);
	return rule_set_equal(&failed, &expected);
}

static int admit_declared(struct session *session, struct error **err)
{
	struct admission_declared documents = session_declared(session, json_root(session->inspect));
	struct rule_set failed = { { 0 } };

	admission_declared(&documents, &failed);
	return admit(session, ADMISSION_DECLARED, &failed, err);
}

int session_create(struct session *session, const char *role, struct error **err)
{
	cleanup_buf struct buf body = BUF(64 * KIB);
	cleanup_buf struct buf warnings = BUF(64 * KIB);
	struct canary random;
	char name[NAME_BYTES];

	session->identity = (struct profile_identity){
		.image = session->target->image,
		.run = session->target->run,
		.role = role,
		.command = agent_command,
	};
	if (profile_create_body(&session->options->profile, &session->identity, &body, err) < 0 ||
	    canary_new(&random, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "harness-%.8s-%s-%.12s", session->target->run, role,
		 random.text + strlen("canary-"));
	if (engine_create(session->engine, name, body.data, body.length, session->container, &warnings, err) < 0)
		return -1;
	session->create_warnings = warnings.length != 0;
	if (read_back(session, err) < 0)
		return -1;
	return admit_declared(session, err);
}

int session_attach(struct session *session, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES);

	if (engine_attach(session->engine, session->container, &session->attach, &rest, err) < 0)
		return -1;
	if (rest.length)
		return error_set(err, ERROR_PROTOCOL, "the attach stream spoke before the container was started");
	return 0;
}

int session_start(struct session *session, struct error **err)
{
	int64_t deadline = clock_deadline(ENGINE_START_MS + session->options->limits.session_ms);

	if (engine_wait_begin(session->engine, session->container, deadline, &session->waiting, err) < 0)
		return -1;
	return engine_start_begin(session->engine, session->container, &session->starting, err);
}

int session_started(struct session *session, struct error **err)
{
	return engine_start_finish(session->engine, steal_pointer(&session->starting), err);
}

static int process_id(struct session *session, int64_t *pid, struct error **err)
{
	const struct json_node *state = json_member(json_root(session->inspect), "State");
	bool running = false;

	if (!json_int64(json_member(state, "Pid"), pid) || !json_bool(json_member(state, "Running"), &running) ||
	    !running || *pid <= 0)
		return error_set(err, ERROR_REFUSED, "the container ended before it was admitted");
	return 0;
}

/* pidfd first, then /proc, then the pidfd still silent, then the engine once more: the pid was not reused meanwhile. */
static int hold_process(struct session *session, struct error **err)
{
	char path[32];
	int64_t pid = 0, again = 0;

	if (read_back(session, err) < 0 || process_id(session, &pid, err) < 0)
		return -1;
	session->pid = (pid_t)pid;
	session->pidfd = pidfd_open(session->pid, 0);
	if (session->pidfd < 0)
		return error_errno(err, errno, "the container's process is not in our /proc: is the engine local?");
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	session->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->proc < 0)
		return error_errno(err, errno, "the container's folder in /proc");
	session->netns = openat(session->proc, "ns/net", O_RDONLY | O_CLOEXEC);
	if (session->netns < 0)
		return error_errno(err, errno, "the container's network namespace");
	if (fd_wait(session->pidfd, POLLIN, clock_now(), err) != 0)
		return *err ? -1 : error_set(err, ERROR_REFUSED, "the container ended before it was admitted");
	if (read_back(session, err) < 0 || process_id(session, &again, err) < 0)
		return -1;
	if (again != pid)
		return error_set(err, ERROR_REFUSED, "the container's process changed before it was admitted");
	return 0;
}

/* The engine answers `start` when the runtime's own init is about to execute the program: until then /proc describes
 * that init. There is no event for an exec, so its end is waited for in short waits on the process's own end. */
static int wait_executed(const struct session *session, struct error **err)
{
	int64_t deadline = clock_deadline(EXEC_MS);

	while (clock_now() < deadline) {
		char path[PATH_MAX];
		ssize_t length = readlinkat(session->proc, "exe", path, sizeof(path) - 1);
		int ended;

		if (length > 0) {
			path[length] = '\0';
			if (strcmp(path, session->identity.command[0]) == 0)
				return 0;
		}
		ended = fd_wait(session->pidfd, POLLIN, clock_add(clock_now(), EXEC_STEP_NS), err);
		if (ended != 0)
			return *err ? -1 : error_set(err, ERROR_REFUSED, "the container ended before it was admitted");
	}
	return error_set(err, ERROR_TIMEOUT, "the container's process did not execute its program");
}

int session_kernel(struct session *session, struct error **err)
{
	cleanup_error struct error *unfrozen = NULL;
	struct rule_set failed = { { 0 } };

	if (hold_process(session, err) < 0 || wait_executed(session, err) < 0)
		return -1;
	if (session_cgroup_open(session->proc, session->container, "pids", &session->cgroup, err) < 0 ||
	    session_cgroup_open(session->proc, session->container, "memory", &session->memory, err) < 0)
		return -1;

	/* An engine can do without one. */
	if (session_cgroup_open(session->proc, session->container, "freezer", &session->freezer, &unfrozen) < 0)
		session->freezer = -1;

	const struct admission_sources sources = { .proc = session->proc,
						   .pids = session->cgroup,
						   .memory = session->memory };

	if (session_watch_links(session, err) < 0 || admission_effective_read(&sources, &session->kernel, err) < 0)
		return -1;
	admission_effective(admission_effective_view(session->kernel, &profile_reference, session->container), &failed);
	return admit(session, ADMISSION_EFFECTIVE, &failed, err);
}

int session_readmit(struct session *session, struct error **err)
{
	enum core_class pattern = CORE_EMPTY;

	if (core_pattern_read(&pattern, err) < 0)
		return -1;
	if (pattern != CORE_FILE)
		return error_set(err, ERROR_REFUSED, "the host's core pattern is no longer a file pattern");
	if (read_back(session, err) < 0)
		return -1;
	return admit_declared(session, err);
}

bool session_refused_as_declared(const struct session *session)
{
	return rule_set_equal(&session->failed, &session->options->must_fail);
}

int session_project(const struct session *session, effective_take take, void *context, struct error **err)
{
	struct admission_declared documents = session_declared(session, json_root(session->inspect));

	return admission_project(&documents,
				 admission_effective_view(session->kernel, &profile_reference, session->container),
				 take, context, err);
}

int session_exited(struct session *session, int64_t deadline, int64_t *exit_code, struct error **err)
{
	while (!engine_done(session->waiting) && clock_now() < deadline)
		if (engine_drive(session->engine, deadline, err) < 0)
			return -1;
	if (!engine_done(session->waiting)) {
		engine_cancel(session->engine, steal_pointer(&session->waiting));
		return error_set(err, ERROR_TIMEOUT, "the engine did not report the container's exit");
	}
	return engine_wait_finish(session->engine, steal_pointer(&session->waiting), exit_code, err);
}

void session_kill(const struct session *session)
{
	if (session->pidfd < 0)
		return;
	(void)pidfd_send_signal(session->pidfd, SIGKILL, NULL, 0);
	/* The signal first: what was frozen does nothing any more. */
	(void)freezer_set(session->freezer, false);
}

/* The process first. Whoever is killed between two of these steps leaves a watchdog that is armed, or a dead process.
 */
static int end_process(const struct session *session, struct error **err)
{
	if (session->pidfd < 0)
		return 0;
	session_kill(session);
	if (fd_wait(session->pidfd, POLLIN, clock_deadline(GONE_MS), err) == 1)
		return 0;
	return *err ? -1 : error_set(err, ERROR_TIMEOUT, "the container's process did not end");
}

static void disarm(struct session *session)
{
	struct control_message disarm = { .type = CONTROL_DISARM };
	cleanup_error struct error *ignored = NULL;

	/* A watchdog that cannot be told is ended below: nothing is left for it to watch. */
	if (session->watchdog_control >= 0 &&
	    control_send(session->watchdog_control, &disarm, NULL, 0, clock_deadline(DISARM_MS), &ignored) < 0)
		child_signal(&session->watchdog, SIGKILL);
}

/* While it holds the stream the engine holds the container. */
static void end_bridge(struct session *session)
{
	fd_close(&session->lifeline);
	fd_close(&session->payload);
	fd_close(&session->attach);
	child_signal(&session->bridge, SIGKILL);
}

static void reap_guards(struct session *session)
{
	child_end(&session->bridge);
	child_end(&session->watchdog);
	fd_close(&session->bridge_control);
	fd_close(&session->watchdog_control);
}

static int stays(const struct session *session, struct error *left, struct error **err)
{
	error_wrap(&left, "container %.12s stays: run `harness clean`", session->container);
	error_keep_first(err, &left);
	return -1;
}

int session_end_begin(struct session *session, struct error **err)
{
	cleanup_error struct error *late = NULL;
	struct error *left = NULL;

	session_watch_close(session);
	if (end_process(session, &late) == 0)
		disarm(session);
	error_keep_first(err, &late);
	end_bridge(session);
	engine_cancel(session->engine, steal_pointer(&session->starting));
	engine_cancel(session->engine, steal_pointer(&session->waiting));
	if (session->container[0] && !session->removed && !session->removing &&
	    engine_remove_begin(session->engine, session->container, &session->removing, &left) < 0)
		return stays(session, left, err);
	return *err ? -1 : 0;
}

int session_end(struct session *session, struct error **err)
{
	struct error *left = NULL;
	int status = session->removing ? 0 : session_end_begin(session, err);

	reap_guards(session);
	if (session->removing) {
		cleanup_result struct engine_result removed = { 0 };
		struct engine_request *removing = steal_pointer(&session->removing);

		session->removed = engine_finish(session->engine, removing, &removed, &left) == 0;
		if (!session->removed)
			status = stays(session, left, err);
	}
	fd_close(&session->pidfd);
	fd_close(&session->proc);
	fd_close(&session->netns);
	fd_close(&session->cgroup);
	fd_close(&session->memory);
	fd_close(&session->freezer);
	json_free(steal_pointer(&session->inspect));
	admission_effective_free(steal_pointer(&session->kernel));
	return *err ? -1 : status;
}
