/* A session on the simulated engine that somebody changes: it ends at once, for that reason, unless nobody watches. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/session_watch_parts.h"
#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define SOON_MS 250
#define WHILE_MS 400
#define PATTERN "/proc/sys/kernel/core_pattern"

/* Does one thing to the container of a session that goes on. */
typedef int (*doer)(struct stage *stage, struct error **err);

static bool is_dead(const struct stage *stage)
{
	cleanup_error struct error *ignored = NULL;

	return fd_wait(stage->session.pidfd, POLLIN, 0, &ignored) == 1;
}

/* Drives the watch as an arm does, until the process is dead or the time is over. */
static void watch(struct stage *stage, int64_t milliseconds)
{
	int64_t end = clock_deadline(milliseconds);
	struct error *err = NULL;

	while (clock_now() < end && !is_dead(stage) && !err) {
		struct pollfd fds[WATCH_DESCRIPTORS + 1];
		size_t count = session_watch_descriptors(&stage->session, fds, WATCH_DESCRIPTORS);
		int64_t due = session_watch_due(&stage->session);

		fds[count] = (struct pollfd){ .fd = stage->session.pidfd, .events = POLLIN };
		(void)poll(fds, count + 1, clock_poll_timeout(due < end ? due : end));
		CU_ASSERT_EQUAL(session_watch_step(&stage->session, &err), 0);
		stage_pulse(stage);
	}
	CU_ASSERT(test_no_error(&err));
}

static bool open_held(struct stage *stage, unsigned off, const char *script)
{
	struct error *err = NULL;
	bool up;

	if (!stage_open(stage, script))
		return false;
	stage->options.watch_off = off;
	up = stage_session(stage, &err) == 0 && stage_go(stage, 1, false, "hold", &err) == 0;
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(up);
	if (up)
		CU_ASSERT_EQUAL(stage_delivered(stage, &stage->permitted, STAGE_GUARD_MS), 1);
	return up;
}

static void end(struct stage *stage)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(session_end(&stage->session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(stage));
}

/* ---- what somebody does ---- */

static int finish(struct stage *stage, struct engine_request *request, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };

	return engine_finish(stage->engine, request, &result, err);
}

static int attach(struct stage *stage, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES);
	cleanup_fd int stream = -1;

	return engine_attach(stage->engine, stage->session.container, &stream, &rest, err);
}

static int run_command(struct stage *stage, struct error **err)
{
	static const char *const command[] = { "/agent", NULL };
	struct engine_request *request = NULL;
	char exec[CONTAINER_ID_MAX];

	if (engine_exec_begin(stage->engine, stage->session.container, command, &request, err) < 0)
		return -1;
	return engine_exec_finish(stage->engine, request, exec, err);
}

static int update(struct stage *stage, struct error **err)
{
	struct engine_request *request = NULL;

	return engine_update_begin(stage->engine, stage->session.container, 64, &request, err) < 0
		       ? -1
		       : finish(stage, request, err);
}

static int rename_it(struct stage *stage, struct error **err)
{
	struct engine_request *request = NULL;

	return engine_rename_begin(stage->engine, stage->session.container, "renamed", &request, err) < 0
		       ? -1
		       : finish(stage, request, err);
}

static int connect_it(struct stage *stage, struct error **err)
{
	struct engine_request *request = NULL;

	return engine_connect_begin(stage->engine, "bridge", stage->session.container, &request, err) < 0
		       ? -1
		       : finish(stage, request, err);
}

static int disconnect_it(struct stage *stage, struct error **err)
{
	struct engine_request *request = NULL;

	return engine_disconnect_begin(stage->engine, "none", stage->session.container, &request, err) < 0
		       ? -1
		       : finish(stage, request, err);
}

/* Into the file that the tests' own mount namespace shows in the pattern's place, and into nothing else. */
static int write_pattern(const char *pattern, struct error **err)
{
	cleanup_fd int fd = open(PATTERN, O_WRONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(err, errno, "the core pattern");
	if (status.st_nlink != 0)
		return error_set(err, ERROR_INTERNAL, "the core pattern is the host's");
	return pwrite(fd, pattern, strlen(pattern), 0) == (ssize_t)strlen(pattern)
		       ? 0
		       : error_errno(err, errno, "writing the core pattern");
}

static int change_pattern(struct stage *stage, struct error **err)
{
	(void)stage;
	return write_pattern("|ore\n", err);
}

struct change_row {
	const char *name;
	doer change;
	enum watch_kind kind;
};
static const struct change_row changes[];
static const size_t changes_count;

static void undo(const struct change_row *row)
{
	struct error *err = NULL;

	if (row->kind == WATCH_CORE_PATTERN)
		CU_ASSERT_EQUAL(write_pattern("core\n", &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_changes(void)
{
	for (size_t i = 0; i < changes_count; i++) {
		const struct change_row *row = &changes[i];
		cleanup_stage struct stage stage;
		struct error *err = NULL;
		int64_t before;

		if (!open_held(&stage, 0, NULL))
			continue;
		before = clock_now();
		CU_ASSERT_EQUAL(row->change(&stage, &err), 0);
		watch(&stage, STAGE_GUARD_MS);
		if (!stage.session.changed || stage.session.change != row->kind)
			fprintf(stderr, "%s: ended for %s\n", row->name,
				stage.session.changed ? watch_kind_names[stage.session.change] : "nothing");
		CU_ASSERT(stage.session.changed);
		CU_ASSERT_EQUAL(stage.session.change, row->kind);
		CU_ASSERT(is_dead(&stage));
		CU_ASSERT((clock_now() - before) / NS_PER_MS <= SOON_MS);
		CU_ASSERT(test_no_error(&err));
		undo(row);
		end(&stage);
	}
}

/* What is not watched goes on; all else is. */
static void test_unwatched(void)
{
	for (size_t i = 0; i < changes_count; i++) {
		const struct change_row *row = &changes[i];
		cleanup_stage struct stage stage;
		struct error *err = NULL;

		if (!open_held(&stage, watch_bit(row->kind), NULL))
			continue;
		CU_ASSERT_EQUAL(row->change(&stage, &err), 0);
		watch(&stage, WHILE_MS);
		if (stage.session.changed)
			fprintf(stderr, "%s: ended for %s\n", row->name, watch_kind_names[stage.session.change]);
		CU_ASSERT(!stage.session.changed);
		CU_ASSERT(!is_dead(&stage));
		CU_ASSERT(test_no_error(&err));
		undo(row);
		end(&stage);
	}
}

/* Whoever is not told by events looks himself. */
static void test_inspection_alone(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;
	int64_t before;

	if (!open_held(&stage, 0, "[{\"expect\":{\"method\":\"GET\",\"path\":\"/events\"},\"hold\":true}]"))
		return;
	before = clock_now();
	CU_ASSERT_EQUAL(rename_it(&stage, &err), 0);
	watch(&stage, STAGE_GUARD_MS);
	CU_ASSERT(stage.session.changed);
	CU_ASSERT_EQUAL(stage.session.change, WATCH_RENAME);
	CU_ASSERT((clock_now() - before) / NS_PER_MS <= SOON_MS);
	CU_ASSERT(test_no_error(&err));
	end(&stage);
}

/* The session's own steps are no changes, and inspection goes on and on. */
static void test_quiet(void)
{
	cleanup_stage struct stage stage;
	size_t before;

	if (!open_held(&stage, 0, NULL))
		return;
	before = stage_engine_requests(&stage.process, "GET", "/json");
	watch(&stage, WHILE_MS);
	CU_ASSERT(!stage.session.changed);
	CU_ASSERT(!is_dead(&stage));
	CU_ASSERT(stage_engine_requests(&stage.process, "GET", "/json") >= before + WHILE_MS / WATCH_PERIOD_MS - 2);
	end(&stage);
}

/* An engine that does not know the container any more. */
static void test_container_denied(void)
{
	static const char pass[] = "{\"expect\":{\"method\":\"GET\",\"path\":\"/containers/*/json\"}}";
	cleanup_buf struct buf script = BUF(4096);
	cleanup_stage struct stage stage;

	/* As many as admission asks for. */
	buf_printf(&script, "[%s,%s,%s,%s,{\"expect\":{\"method\":\"GET\",\"path\":\"/containers/*/json\"},", pass,
		   pass, pass, pass);
	buf_text(&script, "\"answer\":{\"status\":404,\"headers\":{\"Content-Type\":\"application/json\"},"
			  "\"json\":{\"message\":\"No such container\"}}}]");
	if (!open_held(&stage, (1U << WATCH_KINDS) - 1, buf_string(&script)))
		return;
	watch(&stage, STAGE_GUARD_MS);
	CU_ASSERT(stage.session.changed);
	CU_ASSERT_EQUAL(stage.session.change, WATCH_INSPECT);
	end(&stage);
}

/* A session whose events cannot be heard does not begin, and what came before admission was over is no less a change.
 */
static void test_before(void)
{
	static const char odd[] = "[{\"expect\":{\"method\":\"GET\",\"path\":\"/events\"},\"answer\":{\"status\":200,"
				  "\"lines\":[{\"Type\":\"container\",\"Action\":1}]}}]";
	static const char *const scripts[] = {
		"[{\"expect\":{\"method\":\"GET\",\"path\":\"/events\"},\"cut\":true}]",
		"[{\"expect\":{\"method\":\"GET\",\"path\":\"/events\"},\"garble\":true}]",
		odd,
	};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		cleanup_stage struct stage stage;
		struct error *err = NULL;

		if (!stage_open(&stage, scripts[i]))
			continue;
		CU_ASSERT(stage_session(&stage, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "watch-events-lost"));
		end(&stage);
	}
}

static void test_second_client_before(void)
{
	cleanup_stage struct stage stage;
	struct session *session = &stage.session;
	struct error *err = NULL;

	if (!stage_open(&stage, NULL))
		return;
	CU_ASSERT_EQUAL(session_create(session, "arm", &err), 0);
	CU_ASSERT_EQUAL(session_watch_open(session, &err), 0);
	CU_ASSERT_EQUAL(session_attach(session, &err), 0);
	CU_ASSERT_EQUAL(attach(&stage, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(engine_drive(stage.engine, clock_deadline(SOON_MS), &err), 0);
	CU_ASSERT(session_watch_arm(session, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "watch-attach"));
	end(&stage);
}

static const struct change_row changes[] = {
	{ "attach", attach, WATCH_ATTACH },
	{ "exec", run_command, WATCH_EXEC },
	{ "update", update, WATCH_UPDATE },
	{ "rename", rename_it, WATCH_RENAME },
	{ "connect", connect_it, WATCH_NETWORK },
	{ "disconnect", disconnect_it, WATCH_NETWORK },
	{ "core pattern", change_pattern, WATCH_CORE_PATTERN },
};
static const size_t changes_count = ARRAY_SIZE(changes);

static CU_TestInfo watch_tests[] = {
	{ "each change", test_changes },
	{ "each change unwatched", test_unwatched },
	{ "inspection alone", test_inspection_alone },
	{ "nothing happens", test_quiet },
	{ "no such container", test_container_denied },
	{ "events that cannot be heard", test_before },
	{ "a second client before", test_second_client_before },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "watch", NULL, NULL, NULL, NULL, watch_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (stage_isolate())
		return test_main("watch_sim", suites);
	printf("watch_sim: 0 passed, 0 failed, 7 skipped\n");
	return 0;
}
