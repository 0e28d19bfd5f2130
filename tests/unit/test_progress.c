/* What a person reads while a run goes on: with lines that are taken back, the screen ends as a file does. */
#include "runner/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "oracle/plan.h"
#include "runner/arm.h"
#include "tests/unit/test.h"

#define SCREEN_LINES 64
#define SCREEN_COLUMNS 256

/* A stream in memory, and the progress that prints there. */
struct shown {
	struct progress progress;
	struct options options;
	struct scenario scenarios[2];
	struct plan plan;
	char *text;
	size_t length;
};

static bool shown_open(struct shown *shown, bool moves)
{
	static const char *const ids[] = { "baseline", "mutation/network" };

	*shown = (struct shown){ .options = { .jobs = 2 } };
	shown->progress = (struct progress){ .options = &shown->options, .plan = &shown->plan, .seed = 7 };
	shown->progress.terminal = (struct terminal){ .moves = moves, .columns = 80, .rows = 24 };
	shown->progress.terminal.out = open_memstream(&shown->text, &shown->length);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		snprintf(shown->scenarios[i].id, sizeof(shown->scenarios[i].id), "%s", ids[i]);
		snprintf(shown->scenarios[i].title, sizeof(shown->scenarios[i].title), "title %zu", i);
		shown->plan.arms[shown->plan.arms_count++] =
			(struct plan_arm){ .scenario = &shown->scenarios[i], .repetition = 1 };
	}
	CU_ASSERT_PTR_NOT_NULL(shown->progress.terminal.out);
	return shown->progress.terminal.out != NULL;
}

static const char *shown_text(struct shown *shown)
{
	fflush(shown->progress.terminal.out);
	return shown->text;
}

static void shown_close(struct shown *shown)
{
	fclose(shown->progress.terminal.out);
	free(shown->text);
}

/* Two arms of which the second ends first. */
static void play(struct shown *shown)
{
	struct progress *progress = &shown->progress;
	const struct arm_event steps[] = {
		{ .name = "created", .at_ns = 12 * NS_PER_MS },
		{ .name = "delivered", .subject = "permitted", .at_ns = 34 * NS_PER_MS },
	};
	const struct arm_record records[] = {
		{ .status = ARM_OK, .failed_count = 4, .must_fail_count = 4, .duration_ns = 56 * NS_PER_MS },
		{ .status = ARM_TIMEOUT, .reason = "step-failed", .duration_ns = 78 * NS_PER_MS },
	};

	progress_plan(progress);
	progress_step(progress, "loading");
	progress_begin(progress, 0, &shown->plan.arms[0]);
	progress_begin(progress, 1, &shown->plan.arms[1]);
	progress_event(progress, 0, &steps[0]);
	progress_event(progress, 1, &steps[1]);
	progress_refresh(progress);
	progress_end(progress, 1, &records[0], 1);
	progress_refresh(progress);
	progress_end(progress, 0, &records[1], 2);
	progress_close(progress);
}

static const char plan_text[] = "plan: 2 arms, 2 at a time, about 1 s\n"
				"seed: 7\n"
				"  baseline                     title 0\n"
				"  mutation/network             title 1\n";
static const char steps_text[] = "loading\n"
				 "  baseline                         12 ms  created\n"
				 "  mutation/network                 34 ms  delivered permitted\n";
static const char ends_text[] = "[1/2] mutation/network             ok, refused by 4 rules of which 4 must, 56 ms\n"
				"[2/2] baseline                     timeout: step-failed, admitted, 78 ms\n";

/* Without a terminal: a line as each arm ends; more with --verbose, nothing with --quiet. */
static void test_plain(void)
{
	for (int mode = 0; mode < 3; mode++) {
		struct shown shown;
		char expected[1024];

		if (!shown_open(&shown, false))
			return;
		shown.options.verbose = mode == 1;
		shown.options.quiet = mode == 2;
		play(&shown);
		snprintf(expected, sizeof(expected), "%s%s%s", plan_text, mode == 1 ? steps_text : "", ends_text);
		CU_ASSERT_STRING_EQUAL(shown_text(&shown), mode == 2 ? "" : expected);
		shown_close(&shown);
	}
}

/* What the host lacks is one line for each need, with what a person does about it, and each cell with --verbose; what
 * the gateway cannot make is a line for each cell. */
static void test_not_planned(void)
{
	static const char *const missing[] = { "ipv6-loopback", "postgres", NULL };
	static const char *const mends[] = { "no ::1: do this", "no cluster: do that", NULL };
	static const struct ground ground = { .missing = missing, .mends = mends };
	static const struct expectation cell = { .subject = "tcp6", .observer = "tcp6" };
	static const char *const reasons[] = { "postgres", "ipv6-loopback", "unsupported-peer", "postgres",
					       "postgres" };
	static const char needs[] = "  not planned: 3 cells of 2 scenarios: no cluster: do that\n"
				    "  not planned: 1 cell of 1 scenario: no ::1: do this\n"
				    "  not planned: tcp6@tcp6 of baseline: unsupported-peer\n";
	static const char each[] = "  not planned: tcp6@tcp6 of mutation/network: this host lacks postgres\n";

	for (int verbose = 0; verbose < 2; verbose++) {
		struct shown shown;

		if (!shown_open(&shown, false))
			return;
		shown.options.verbose = verbose;
		shown.progress.ground = &ground;
		for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
			struct plan_absent *absent = &shown.plan.absent[shown.plan.absent_count++];

			absent->scenario = &shown.scenarios[i > 2];
			absent->expectation = &cell;
			snprintf(absent->reason, sizeof(absent->reason), "%s", reasons[i]);
		}
		progress_plan(&shown.progress);
		CU_ASSERT(verbose || strstr(shown_text(&shown), needs));
		CU_ASSERT_EQUAL(strstr(shown_text(&shown), each) != NULL, verbose);
		shown_close(&shown);
	}
}

struct screen {
	char lines[SCREEN_LINES][SCREEN_COLUMNS];
	size_t row, deepest;
	bool bad; /* it was asked for something else than to go up and to erase, or a line is too long */
};

/* What a terminal makes of the two sequences that are used, and of line feeds. */
static void show(struct screen *screen, const char *text, size_t columns)
{
	size_t column = 0;

	*screen = (struct screen){ .row = 0 };
	for (const char *at = text; *at; at++) {
		if (*at == '\n') {
			screen->row++;
			column = 0;
			screen->bad |= screen->row == SCREEN_LINES;
			screen->row %= SCREEN_LINES;
		} else if (*at == '\x1b') {
			char *end = NULL;
			unsigned long up = strtoul(at + 2, &end, 10);

			screen->bad |= column != 0 || up == 0 || up > screen->row || strncmp(end, "A\x1b[J", 4) != 0;
			screen->row -= up > screen->row ? screen->row : up;
			for (size_t row = screen->row; row < SCREEN_LINES; row++)
				screen->lines[row][0] = '\0';
			at = end + 3;
		} else {
			screen->bad |= column + 1 >= columns;
			screen->lines[screen->row][column++ % (SCREEN_COLUMNS - 1)] = *at;
			screen->lines[screen->row][column % SCREEN_COLUMNS] = '\0';
		}
		if (screen->row > screen->deepest)
			screen->deepest = screen->row;
	}
}

static void join(const struct screen *screen, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t row = 0; row < screen->row && used < size; row++)
		used += (size_t)snprintf(out + used, size - used, "%s\n", screen->lines[row]);
}

/* On a terminal the lines of the running arms come and go, and what stays is the same. */
static void test_live(void)
{
	for (int verbose = 0; verbose < 2; verbose++) {
		struct shown plain, live;
		struct screen screen;
		char joined[4096];

		if (!shown_open(&plain, false) || !shown_open(&live, true))
			return;
		plain.options.verbose = live.options.verbose = verbose;
		play(&plain);
		play(&live);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(shown_text(&live), "  ... baseline                       0.0 s  created\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(live.text, "  ... mutation/network               0.0 s  delivered "
							 "permitted\n"));
		show(&screen, live.text, SCREEN_COLUMNS);
		CU_ASSERT_FALSE(screen.bad);
		join(&screen, joined, sizeof(joined));
		CU_ASSERT_STRING_EQUAL(joined, shown_text(&plain));
		shown_close(&plain);
		shown_close(&live);
	}
}

/* --quiet has no such lines, and an arm that still runs leaves none behind. */
static void test_close(void)
{
	struct shown shown;
	struct screen screen;

	if (!shown_open(&shown, true))
		return;
	progress_begin(&shown.progress, 0, &shown.plan.arms[0]);
	CU_ASSERT(progress_live(&shown.progress));
	progress_close(&shown.progress);
	progress_refresh(&shown.progress);
	show(&screen, shown_text(&shown), 80);
	CU_ASSERT_EQUAL(screen.row, 0);
	CU_ASSERT_EQUAL(screen.deepest, 1);
	shown_close(&shown);

	if (!shown_open(&shown, true))
		return;
	shown.options.quiet = true;
	play(&shown);
	CU_ASSERT_FALSE(progress_live(&shown.progress));
	CU_ASSERT_STRING_EQUAL(shown_text(&shown), "");
	shown_close(&shown);
}

/* A line never wraps, and the lines never fill the screen: else going up would miss them. */
static void test_small(void)
{
	struct shown shown;
	struct screen screen;

	if (!shown_open(&shown, true))
		return;
	shown.progress.terminal.columns = 20;
	shown.progress.terminal.rows = 2;
	progress_begin(&shown.progress, 0, &shown.plan.arms[0]);
	progress_begin(&shown.progress, 1, &shown.plan.arms[1]);
	CU_ASSERT_EQUAL(shown.progress.terminal.drawn, 1);
	shown.progress.terminal.rows = 3;
	progress_refresh(&shown.progress);
	CU_ASSERT_EQUAL(shown.progress.terminal.drawn, 2);
	progress_close(&shown.progress);
	show(&screen, shown_text(&shown), 20);
	CU_ASSERT_FALSE(screen.bad);
	CU_ASSERT_EQUAL(screen.row, 0);
	shown_close(&shown);
}

/* What the environment says, on a terminal and elsewhere. */
static const struct {
	bool terminal;
	const char *term, *no_color;
	bool moves, colours;
} kinds[] = {
	{ true, "xterm", NULL, true, true },  { true, "xterm", "", true, true },
	{ true, "xterm", "1", true, false },  { true, "xterm", "0", true, false },
	{ true, "dumb", NULL, false, false }, { true, "", NULL, false, false },
	{ true, NULL, NULL, false, false },   { false, "xterm", NULL, false, false },
};

static void test_kinds(void)
{
	cleanup_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64] = "";
	FILE *pty, *file = fopen("/dev/null", "w");

	CU_ASSERT(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 &&
		  ptsname_r(master, name, sizeof(name)) == 0);
	pty = fopen(name, "w");
	CU_ASSERT(pty && file);
	for (size_t i = 0; pty && file && i < ARRAY_SIZE(kinds); i++) {
		struct terminal terminal;

		terminal_open(&terminal, kinds[i].terminal ? pty : file, kinds[i].term, kinds[i].no_color);
		CU_ASSERT_EQUAL(terminal.moves, kinds[i].moves);
		CU_ASSERT_EQUAL(terminal.colours, kinds[i].colours);
	}
	if (pty)
		fclose(pty);
	if (file)
		fclose(file);
}

/* A step is words of ours, or it is not shown. */
static void test_steps(void)
{
	struct arm_event event = { .name = "input-missing", .subject = "files-upper", .at_ns = 1 };

	CU_ASSERT(arm_step_valid(&event));
	event.subject[0] = '\0';
	CU_ASSERT(arm_step_valid(&event));
	event.at_ns = -1;
	CU_ASSERT_FALSE(arm_step_valid(&event));
	event.at_ns = 0;
	snprintf(event.subject, sizeof(event.subject), "\x1b[31m");
	CU_ASSERT_FALSE(arm_step_valid(&event));
	memset(event.subject, 'a', sizeof(event.subject));
	CU_ASSERT_FALSE(arm_step_valid(&event));
	event.subject[0] = '\0';
	snprintf(event.name, sizeof(event.name), "two words");
	CU_ASSERT_FALSE(arm_step_valid(&event));
	event.name[0] = '\0';
	CU_ASSERT_FALSE(arm_step_valid(&event));
	memset(event.name, 'a', sizeof(event.name));
	CU_ASSERT_FALSE(arm_step_valid(&event));
}

static CU_TestInfo tests[] = {
	{ "plain", test_plain },
	{ "live", test_live },
	{ "close", test_close },
	{ "small", test_small },
	{ "not planned", test_not_planned },
	{ "kinds", test_kinds },
	{ "steps", test_steps },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "progress", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("progress", suites);
}
