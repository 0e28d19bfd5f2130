/* What an arm makes of the observers that declarations bring: of those that are lost too. */
#include "core/schema.h"
#include "runner/arm.h"
#include "tests/unit/declared_world.h"
#include "tests/unit/test.h"

#define SUBJECT "file-delete"

struct arm_world {
	struct declared_world declared;
	struct arm *arm;
	struct arm_result result;
};

static void close_world(struct arm_world *world)
{
	arm_observers_end(world->arm);
	loop_free(world->arm->loop);
	declared_close(&world->arm->declared);
	arm_result_free(&world->result);
	free(world->arm);
	declared_world_close(&world->declared);
}
#define ARM_WORLD(name)                                                                                                \
	__attribute__((cleanup(close_world))) struct arm_world name = { .declared = { .fd = -1 }, .arm = NULL }

/* An arm with one subject, for which a cell of the declared observer is planned; the program with a change. */
static void open_world(struct arm_world *world, const char *from, const char *to)
{
	struct error *err = NULL;
	struct arm *arm = calloc(1, sizeof(*arm));

	world->arm = arm;
	declared_world_open(&world->declared);
	put_script(&world->declared, from, to);
	arm->result = &world->result;
	arm->steps = -1;
	arm->end_by = NEVER;
	arm->gateway = arm->relay = arm->records.refusals = (struct child)CHILD_NONE;
	arm->gateway_in = arm->gateway_out = arm->gateway_life = -1;
	arm->start = clock_now();
	arm_room_open(&world->result.room);
	world->result.observations = calloc(ARM_OBSERVATIONS_MAX, sizeof(struct observation));
	CU_ASSERT_EQUAL(loop_new(&arm->loop, &err), 0);
	CU_ASSERT_EQUAL(declared_open(world->declared.fd, world->declared.effects, 1, &arm->declared, &err), 0);
	arm_declared_kinds(arm);
	arm->subjects[0].route = probe_find(SUBJECT);
	arm->subjects_count = 1;
	CU_ASSERT_EQUAL(canary_new(&arm->subjects[0].canary, &err), 0);
	for (int phase = WIRE_BEFORE; phase <= WIRE_AFTER; phase++)
		CU_ASSERT_EQUAL(canary_new(&arm->markers[phase], &err), 0);
	snprintf(arm->scenario.expect[0].observer, sizeof(arm->scenario.expect[0].observer), "kept");
	arm->scenario.expect_count = 1;
	CU_ASSERT(test_no_error(&err));
	arm_declared_start(arm);
}

static bool noted(const struct arm_world *world, const char *name)
{
	const struct arm_record *record = &world->result.room.record;

	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, name) == 0 && strcmp(record->events[i].subject, "kept") == 0)
			return true;
	return false;
}

static int on_observer(void *context, int fd, short revents, struct error **err)
{
	(void)context;
	(void)fd;
	(void)revents;
	(void)err;
	return 1;
}

static void watch(const struct arm_world *world)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(
		loop_fd(world->arm->loop, observer_fd(world->arm->observers[0]), POLLIN, on_observer, NULL, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void give_root(const struct arm_world *world)
{
	cleanup_fd int root = put_root(&world->declared);
	const struct arm_input inputs[] = { { "root", root } };

	arm_declared_inputs(world->arm, inputs, ARRAY_SIZE(inputs));
}

/* The loop goes on: nothing that it watches is closed. */
static void goes_on(const struct arm_world *world)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(loop_run(world->arm->loop, clock_now(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Its first look is another's: it is lost while the arm waits for that, and the loop that watched it forgets it. */
static void lost_while_awaited(void)
{
	ARM_WORLD(world);

	open_world(&world, "self.tell(SEEN, text=self.id", "self.tell(SEEN, text=b'tcp4'");
	CU_ASSERT_EQUAL(world.arm->observers_count, 1);
	if (world.arm->observers_count != 1)
		return;
	watch(&world);
	give_root(&world);
	arm_declared_await(world.arm);
	CU_ASSERT_EQUAL(world.arm->observers_count, 0);
	goes_on(&world);
}

/* One that was lost before it is asked for its report. */
static void lost_before_collected(void)
{
	ARM_WORLD(world);
	struct error *err = NULL;

	open_world(&world, "self.tell(SEEN, text=self.id", "self.tell(SEEN, text=b'tcp4'");
	CU_ASSERT_EQUAL(world.arm->observers_count, 1);
	if (world.arm->observers_count != 1)
		return;
	watch(&world);
	give_root(&world);
	CU_ASSERT(observer_wait_seen(world.arm->observers[0], NULL, WIRE_BEFORE, clock_deadline(OBSERVING_MS), &err) <
		  0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "another observer"));
	CU_ASSERT_EQUAL(arm_observers_collect(world.arm, true, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(noted(&world, "observer-lost"));
	arm_observers_end(world.arm);
	goes_on(&world);
}

/* Why one is lost is noted once, and of one that is not there is nothing. */
static void says_why(void)
{
	static const struct {
		const char *from, *to, *why;
	} rows[] = {
		{ "#!/usr/bin/python3", "#!/nowhere", "lost-not-started" },
		{ "import os", "raise SystemExit(0)\nimport os", "lost-before-ready" },
		{ "return now != first", "return True", "lost-known-answer" },
		{ "MESSAGE.pack(1,", "MESSAGE.pack(2,", "lost-protocol" },
		{ "self.tell(READY, known=known_answers())",
		  "while True:\n                    self.tell(SEEN, text=self.id)", "lost-limit" },
		{ "self.tell(SEEN, text=self.id", "self.tell(SEEN, text=b'tcp4'", "lost-protocol" },
		{ "            self.look_for_marker(0)", "            pass", "lost-no-look" },
		{ "            self.look_for_marker(0)", "            sys.exit(0)", "lost-exited" },
		{ "        self.tell(END, phase=phase)", "        sys.exit(0)", "lost-exited" },
		{ "        self.tell(END, phase=phase)",
		  "        while True:\n            self.tell(SEEN, text=self.id)", "lost-limit" },
		{ "RECORDS.size, self.id", "RECORDS.size, b'tcp4'", "lost-protocol" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ARM_WORLD(world);
		const struct arm_record *record = &world.result.room.record;
		struct error *err = NULL;
		size_t whys = 0;

		open_world(&world, rows[i].from, rows[i].to);
		if (world.arm->observers_count) {
			give_root(&world);
			arm_declared_await(world.arm);
		}
		CU_ASSERT_EQUAL(arm_observers_collect(world.arm, true, &err), 0);
		CU_ASSERT(test_no_error(&err));
		for (size_t event = 0; event < record->events_count; event++)
			whys += strncmp(record->events[event].name, "lost-", strlen("lost-")) == 0;
		if (!noted(&world, "observer-lost") || !noted(&world, rows[i].why) || whys != 1)
			CU_FAIL(rows[i].to);
		CU_ASSERT_EQUAL(world.result.observations_count, 0);
	}
}

/* What it writes to its standard error is kept for whoever watches: bounded, and nothing but text. */
static void says_itself(void)
{
	static const struct {
		const char *from, *to, *first;
	} rows[] = {
		{ "import os", "import nothing_of_that_name\nimport os", "kept: Traceback" },
		{ "            self.look_for_marker(0)",
		  "            os.write(2, b'\\x1b[31mred\\0end\\n'); self.look_for_marker(0)", "kept: ?[31mred" },
		{ "            self.look_for_marker(0)",
		  "            try:\n                while True: os.write(2, b'x' * 512)\n            except "
		  "PermissionError: "
		  "pass\n            self.look_for_marker(0)",
		  "kept: xxxx" },
		{ "            self.look_for_marker(0)",
		  "            os.write(2, b'y\\n' * 1000); self.look_for_marker(0)", "kept: y" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ARM_WORLD(world);

		open_world(&world, rows[i].from, rows[i].to);
		if (world.arm->observers_count) {
			give_root(&world);
			arm_declared_await(world.arm);
		}
		CU_ASSERT_EQUAL(noted(&world, "observer-lost"), i == 0);
		arm_observers_end(world.arm);
		CU_ASSERT(world.result.said_count > 0 && world.result.said_count <= ARM_SAID_MAX);
		CU_ASSERT_EQUAL(strncmp(world.result.said[0], rows[i].first, strlen(rows[i].first)), 0);
		for (size_t line = 0; line < world.result.said_count; line++)
			CU_ASSERT_TRUE(schema_matches(PATTERN_ASCII, world.result.said[line],
						      strlen(world.result.said[line])));
	}
}

/* Its report is the last: what gateway and service are late with is counted too. */
static void reports_last(void)
{
	ARM_WORLD(world);
	struct error *err = NULL;

	open_world(&world, NULL, NULL);
	CU_ASSERT_EQUAL(world.arm->observers_count, 1);
	if (world.arm->observers_count != 1)
		return;
	give_root(&world);
	arm_declared_await(world.arm);
	CU_ASSERT_EQUAL(arm_observers_collect(world.arm, false, &err), 0);
	CU_ASSERT_EQUAL(world.result.observations_count, 0);
	CU_ASSERT_EQUAL(unlinkat(world.declared.fd, "root/export/kept/" SUBJECT, 0), 0);
	arm_declared_finish(world.arm);
	CU_ASSERT_EQUAL(arm_observers_collect(world.arm, true, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(world.result.observations_count, 1);
	CU_ASSERT_EQUAL(world.result.observations[0].value, 1);
	CU_ASSERT_FALSE(noted(&world, "observer-lost"));
}

/* Also where no cell asks for records or orders, which end it otherwise. */
static void gateway_ends_first(void)
{
	ARM_WORLD(world);
	int ends[2];

	open_world(&world, NULL, NULL);
	CU_ASSERT_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	world.arm->gateway_life = ends[0];
	arm_declared_finish(world.arm);
	CU_ASSERT_EQUAL(world.arm->gateway_life, -1);
	fd_close(&ends[1]);
}

static CU_TestInfo lost_tests[] = {
	{ "one that is lost while it is awaited", lost_while_awaited },
	{ "one that is lost before it is asked", lost_before_collected },
	{ "it is said why", says_why },
	{ "and what it said itself", says_itself },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo report_tests[] = {
	{ "it reports last", reports_last },
	{ "once the gateway has ended", gateway_ends_first },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "lost", .pTests = lost_tests },
	{ .pName = "report", .pTests = report_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("arm_declared", suites);
}
