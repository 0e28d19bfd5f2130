/* A session on a simulated engine that is slow, or cuts, garbles or holds its answers, each in turn. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define SCRIPT_BYTES 4096
#define HELD_MS 600

enum fault { FAULT_CUT, FAULT_GARBLE, FAULT_HOLD, FAULTS };

struct call {
	const char *method, *path;
	unsigned nth; /* of its kind in a session, from 1 */
	const char *text[FAULTS]; /* of the error */
	bool stays[FAULTS]; /* the container does: nobody learned its id, or nobody removed it */
};
static const char *const fault_members[FAULTS];
static const struct call calls[];
static const size_t calls_count;

/* A slow engine is no error: each answer comes late, within its deadline. */
static void test_slow(void)
{
	cleanup_buf struct buf script = BUF(SCRIPT_BYTES);
	cleanup_stage struct stage stage;
	struct control_message end = { .type = 0 };
	struct error *err = NULL;
	int64_t exit_code = -1;

	for (size_t i = 0; i < calls_count; i++)
		buf_printf(&script, "%s{\"expect\":{\"method\":\"%s\",\"path\":\"%s\"},\"delay_ms\":30}", i ? "," : "[",
			   calls[i].method, calls[i].path);
	buf_text(&script, "]");
	if (!stage_open(&stage, buf_string(&script)))
		return;
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT_EQUAL(stage_finish(&stage, 1, STAGE_GUARD_MS, &end, &exit_code, &err), 0);
	CU_ASSERT_EQUAL(exit_code, 2);
	CU_ASSERT_EQUAL(stage_delivered(&stage, &stage.permitted, 0), 1);
	CU_ASSERT_EQUAL(session_end(&stage.session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(&stage));
}

static void put_script(struct buf *out, const struct call *call, enum fault fault)
{
	for (unsigned n = 1; n <= call->nth; n++)
		buf_printf(out, "%s{\"expect\":{\"method\":\"%s\",\"path\":\"%s\"}%s}", n == 1 ? "[" : ",",
			   call->method, call->path, n == call->nth ? fault_members[fault] : "");
	buf_text(out, "]");
}

static void misbehave(const struct call *call, enum fault fault)
{
	int64_t patience = fault == FAULT_HOLD ? HELD_MS : STAGE_GUARD_MS;
	cleanup_buf struct buf script = BUF(SCRIPT_BYTES);
	cleanup_stage struct stage stage;
	struct engine_limits limits = ENGINE_LIMITS;
	struct error *err = NULL, *late = NULL;
	struct control_message end;
	int64_t exit_code = -1;

	put_script(&script, call, fault);
	if (!stage_open(&stage, buf_string(&script)))
		return;
	limits.call_ms = limits.start_ms = patience;
	engine_set_limits(stage.engine, &limits);
	if (stage_session(&stage, &err) == 0)
		(void)!stage_finish(&stage, 1, patience, &end, &exit_code, &err);
	(void)!session_end(&stage.session, &late);
	error_keep_first(&err, &late);
	CU_ASSERT(err && strstr(error_text(err), call->text[fault]) && !strchr(error_text(err), '\n'));
	if (!err || !strstr(error_text(err), call->text[fault]))
		fprintf(stderr, "%s %s %u %s: expected '%s', got: %s\n", call->method, call->path, call->nth,
			fault_members[fault], call->text[fault], err ? error_text(err) : "none");
	error_free(err);
	CU_ASSERT_FALSE(stage_engine_has_child(&stage.process));
	CU_ASSERT_EQUAL(stage_clean(&stage), !call->stays[fault]);
	/* What was not removed is the engine's, which ends now. */
	stage.session.removed = true;
}

static void misbehave_all(enum fault fault)
{
	for (size_t i = 0; i < calls_count; i++)
		misbehave(&calls[i], fault);
}

static void test_cut(void)
{
	misbehave_all(FAULT_CUT);
}

static void test_garbled(void)
{
	misbehave_all(FAULT_GARBLE);
}

static void test_held(void)
{
	misbehave_all(FAULT_HOLD);
}

/* The engine says no: as recorded, where the runtime cannot start the program. */
static void test_start_fails(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;

	if (!stage_open(&stage, "[{\"expect\":{\"method\":\"POST\",\"path\":\"/containers/*/start\"},\"answer\":"
				"{\"status\":400,\"headers\":{\"Content-Type\":\"application/json\"},\"json\":"
				"{\"message\":\"OCI runtime create failed: evil\"}}}]"))
		return;
	CU_ASSERT(stage_session(&stage, &err) < 0);
	CU_ASSERT(err && !strstr(error_text(err), "evil"));
	CU_ASSERT(test_error(&err, ERROR_ENGINE, "asked to start the container: the engine answered 400"));
	CU_ASSERT_EQUAL(session_end(&stage.session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(&stage));
}

static CU_TestInfo engine_tests[] = {
	{ "each answer late", test_slow }, { "each answer cut", test_cut },  { "each answer garbled", test_garbled },
	{ "each answer held", test_held }, { "no start", test_start_fails }, CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "an engine that misbehaves", NULL, NULL, NULL, NULL, engine_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (stage_isolate())
		return test_main("faults_sim", suites);
	printf("faults_sim: 0 passed, 0 failed, 1 skipped\n");
	return 0;
}

static const char *const fault_members[FAULTS] = {
	[FAULT_CUT] = ",\"cut\":true",
	[FAULT_GARBLE] = ",\"garble\":true",
	[FAULT_HOLD] = ",\"hold\":true",
};

/* The calls of a session, in its order. */
/* clang-format off */
#define ALWAYS(words) .text = { words, words, words }
#define INSPECT(n)                                                                                                     \
	.method = "GET", .path = "/containers/*/json", .nth = (n),                                                     \
	.text = { "asked to inspect the container: ", "the engine's answer: JSON: ", "asked to inspect the container: " }
static const struct call calls[] = {
	{ .method = "POST", .path = "/containers/create", .nth = 1, ALWAYS("asked to create the container: "),
	  .stays = { [FAULT_CUT] = true, [FAULT_GARBLE] = true } },
	{ INSPECT(1) },
	{ .method = "POST", .path = "/containers/*/attach", .nth = 1, ALWAYS("asked to attach to the container: ") },
	{ .method = "POST", .path = "/containers/*/wait", .nth = 1,
	  .text = { "asked to wait for the container's exit: ", "asked to wait for the container's exit: ",
		    "the engine did not report the container's exit" } },
	{ .method = "POST", .path = "/containers/*/start", .nth = 1, ALWAYS("asked to start the container: ") },
	{ INSPECT(2) },
	{ INSPECT(3) },
	{ INSPECT(4) },
	{ .method = "DELETE", .path = "/containers/*", .nth = 1, ALWAYS("stays: run `harness clean`"),
	  .stays = { [FAULT_HOLD] = true } },
};
/* clang-format on */
static const size_t calls_count = ARRAY_SIZE(calls);
