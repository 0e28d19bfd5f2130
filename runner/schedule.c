/* The arms of a plan, some at a time: each a process of its own whose result is read as it comes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "runner/run.h"

#define ARM_MS 90000
#define INTERRUPT_MS 15000 /* within which an arm has ended and taken everything away */
/* An arm that stands still has lost its session: the lease and a second. Nobody tells of one, so it is looked at. */
#define STILL_MS (LEASE_MS + 1000)
#define LOOK_MS 250
#define WRITE_MS 5000
#define WAITING_PLACES 7 /* arms for each job, those that wait among them */
#define READ_CHUNK (64 * KIB)
#define REFRESH_MS 200
#define REFRESH_TIMER 0

struct slot {
	struct child child;
	int result, lifeline;
	int steps; /* what the arm tells while it runs, or -1 */
	size_t steps_count;
	bool waits; /* it only watches a process: another arm may work meanwhile */
	struct buf text;
	size_t arm; /* index into the plan */
	int64_t deadline;
	int64_t still; /* since when it was seen to stand still, or 0 */
	bool busy;
};

struct schedule {
	struct run *run;
	struct loop *loop;
	struct slot slots[SLOTS_MAX];
	size_t *order; /* of starting */
	size_t next, done, results;
	bool halted; /* no arm begins, and no result is kept */
	int64_t give_up; /* once halted: when the rest is killed */
};

static int order_arms(struct schedule *schedule, struct error **err)
{
	const struct run *run = schedule->run;
	size_t count = run->plan->arms_count;

	schedule->order = calloc(count, sizeof(*schedule->order));
	if (!schedule->order)
		return error_set(err, ERROR_MEMORY, "no memory for the order of the arms");
	plan_schedule(run->plan, run->seed, schedule->order);
	return 0;
}

/* The scenario as the arm gets it: with the delays that the seed draws within the ranges. */
static int drawn_scenario(const struct run *run, const struct plan_arm *arm, struct scenario **out, struct error **err)
{
	int64_t delays[ARM_FAULTS_MAX] = { 0 };
	struct scenario *scenario = malloc(sizeof(*scenario));

	if (!scenario)
		return error_set(err, ERROR_MEMORY, "no memory for a scenario");
	*scenario = *arm->scenario;
	plan_delays(arm, run->seed, delays);
	for (size_t i = 0; i < scenario->faults_count; i++) {
		scenario->faults[i].delay_ms = delays[i];
		scenario->faults[i].delay_span_ms = 0;
	}
	*out = scenario;
	return 0;
}

static int on_result(void *context, int fd, short revents, struct error **err);
static int on_steps(void *context, int fd, short revents, struct error **err);

static size_t number_of(const struct schedule *schedule, const struct slot *slot)
{
	return (size_t)(slot - schedule->slots);
}

static int start(struct schedule *schedule, struct slot *slot, size_t index, struct error **err)
{
	struct run *run = schedule->run;
	cleanup_buf struct buf input = BUF(ARM_INPUT_BYTES);
	cleanup_fd int input_read = -1, input_write = -1, result_write = -1, life_read = -1, steps_write = -1;
	char name[] = "harness", verb[] = "arm";
	char *argv[] = { name, verb, NULL };
	const struct plan_arm *arm = &run->plan->arms[index];
	cleanup_free struct scenario *scenario = NULL;

	slot->text = (struct buf)BUF(ARM_RESULT_BYTES);
	slot->arm = index;
	slot->steps_count = 0;
	slot->waits = false;
	slot->still = 0;
	slot->deadline = clock_deadline(ARM_MS + arm->scenario->window_ms);
	if (drawn_scenario(run, arm, &scenario, err) < 0 ||
	    arm_input_encode(&run->context, scenario, &run->declared, arm->repetition, json_raw(json_root(run->info)),
			     json_raw(json_root(run->image_inspect)), &input, err) < 0 ||
	    fd_pipe(&input_read, &input_write, err) < 0 || fd_pipe(&slot->result, &result_write, err) < 0 ||
	    fd_pipe(&life_read, &slot->lifeline, err) < 0 || fd_pipe(&slot->steps, &steps_write, err) < 0 ||
	    fd_nonblocking(slot->steps, true, err) < 0 || fd_nonblocking(steps_write, true, err) < 0)
		return error_wrap(err, "an arm");

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = "/proc/self/exe",
		.argv = argv,
		.fds = {
			{ .from = STDERR_FILENO, .to = STDERR_FILENO },
			{ .from = input_read, .to = ARM_FD_INPUT },
			{ .from = result_write, .to = ARM_FD_RESULT },
			{ .from = life_read, .to = ARM_FD_LIFELINE },
			{ .from = steps_write, .to = ARM_FD_STEPS },
		},
		.fds_count = 5,
		.new_session = true,	/* the terminal's Ctrl-C comes to the runner, which ends its arms in order */
	};
	for (size_t i = 0; i < run->declared.count; i++)
		options.fds[options.fds_count++] = (struct spawn_fd){
			.from = run->declared.programs[i],
			.to = ARM_FD_PROGRAMS + (int)i,
		};
	if (spawn(&options, &slot->child, err) < 0)
		return error_wrap(err, "an arm");
	fd_close(&input_read);
	slot->busy = loop_fd(schedule->loop, slot->result, POLLIN, on_result, schedule, err) == 0 &&
		     loop_fd(schedule->loop, slot->steps, POLLIN, on_steps, schedule, err) == 0 &&
		     fd_write_all(input_write, input.data, input.length, clock_deadline(WRITE_MS), err) == 0;
	buf_wipe(&input);
	if (slot->busy) {
		progress_begin(&run->progress, number_of(schedule, slot), arm);
		return 0;
	}
	/* It has its plan in part at most, and has begun nothing. */
	loop_remove(schedule->loop, slot->result);
	loop_remove(schedule->loop, slot->steps);
	child_end(&slot->child);
	return error_wrap(err, "an arm");
}

static int keep_observations(struct run *run, struct arm_result *result, struct error **err)
{
	cleanup_buf struct buf lines = BUF(ARM_RESULT_BYTES);

	for (size_t i = 0; i < result->observations_count; i++) {
		struct observation *one = &result->observations[i];

		snprintf(one->id, sizeof(one->id), "o-%06lld", (long long)++run->observations_count);
		if (observation_write(one, &lines, err) < 0)
			return -1;
	}
	if (fd_write_all(run->observations, buf_string(&lines), lines.length, clock_deadline(WRITE_MS), err) < 0)
		return error_wrap(err, "the run's observations");
	return 0;
}

static int keep_canaries(struct run *run, const struct arm_result *result, struct error **err)
{
	size_t count = run->canaries_count + result->canaries_count;
	struct canary *grown = calloc(count + 1, sizeof(*grown));

	if (!grown)
		return error_set(err, ERROR_MEMORY, "no memory for the canaries");
	if (run->canaries_count)
		memcpy(grown, run->canaries, run->canaries_count * sizeof(*grown));
	memcpy(grown + run->canaries_count, result->canaries, result->canaries_count * sizeof(*grown));
	if (run->canaries)
		explicit_bzero(run->canaries, run->canaries_count * sizeof(*grown));
	free(run->canaries);
	run->canaries = grown;
	run->canaries_count = count;
	return 0;
}

/* An arm that gave no readable result is a record of its own: nothing of it is believed. */
static void broken(struct run *run, const struct plan_arm *arm, struct arm_record *record)
{
	*record = (struct arm_record){ .repetition = arm->repetition,
				       .status = ARM_HARNESS_ERROR,
				       .agent_attempts = -1,
				       .calls_allowed = -1,
				       .calls_denied = -1 };
	snprintf(record->arm, sizeof(record->arm), "%s", arm->scenario->id);
	snprintf(record->reason, sizeof(record->reason), "%s", run->interrupted ? "interrupted" : "no-result");
	snprintf(record->image, sizeof(record->image), "%s", run->context.image + strlen("sha256:"));
	snprintf(record->boot, sizeof(record->boot), "%s", run->context.boot);
}

/* All that is there. An arm that tells more than it may, or anything else than its steps, is not listened to. */
static void take_steps(struct schedule *schedule, struct slot *slot)
{
	struct arm_event event;
	ssize_t got = -1;

	while (slot->steps >= 0 && (got = read(slot->steps, &event, sizeof(event))) == (ssize_t)sizeof(event)) {
		if (++slot->steps_count > ARM_EVENTS_MAX || !arm_step_valid(&event)) {
			got = 0;
			break;
		}
		if (strcmp(event.name, ARM_WINDOW) == 0)
			slot->waits = true;
		else if (strcmp(event.name, ARM_WINDOW_CLOSED) == 0)
			slot->waits = false;
		progress_event(&schedule->run->progress, number_of(schedule, slot), &event);
	}
	if (slot->steps < 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	loop_remove(schedule->loop, slot->steps);
	fd_close(&slot->steps);
}

static void end_steps(struct schedule *schedule, struct slot *slot)
{
	take_steps(schedule, slot);
	if (slot->steps >= 0)
		loop_remove(schedule->loop, slot->steps);
	fd_close(&slot->steps);
}

static int finish(struct schedule *schedule, struct slot *slot, struct error **err)
{
	struct run *run = schedule->run;
	const struct plan_arm *arm = &run->plan->arms[slot->arm];
	struct arm_record *record = &run->records[slot->arm];
	cleanup_free struct arm_result *result = calloc(1, sizeof(*result));
	cleanup_error struct error *bad = NULL;
	int status = 0;

	if (!result)
		return error_set(err, ERROR_MEMORY, "no memory for the result of an arm");
	end_steps(schedule, slot);
	loop_remove(schedule->loop, slot->result);
	fd_close(&slot->result);
	fd_close(&slot->lifeline);
	child_end(&slot->child);
	if (arm_result_decode(buf_string(&slot->text), slot->text.length, result, &bad) < 0 ||
	    strcmp(result->room.record.arm, arm->scenario->id) != 0) {
		broken(run, arm, record);
	} else {
		schedule->results++;
		status = arm_pool_keep(run->pool, &result->room.record, record, err);
		if (status == 0 && !schedule->halted)
			status = keep_canaries(run, result, err);
		if (status == 0 && !schedule->halted)
			status = keep_observations(run, result, err);
		for (size_t i = 0; i < result->said_count; i++)
			progress_said(&run->progress, arm->scenario->id, result->said[i]);
		/* Who interrupted it needs no line. */
		if (result->error[0] && strcmp(record->reason, "interrupted") != 0)
			progress_error(&run->progress, arm->scenario->id, result->error);
	}
	arm_result_free(result);
	buf_wipe(&slot->text);
	slot->busy = false;
	progress_end(&run->progress, number_of(schedule, slot), record, ++schedule->done);
	return status;
}

static int on_result(void *context, int fd, short revents, struct error **err)
{
	struct schedule *schedule = context;
	struct slot *slot = NULL;
	ssize_t got;
	char *room;

	(void)revents;
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (schedule->slots[i].busy && schedule->slots[i].result == fd)
			slot = &schedule->slots[i];
	if (!slot)
		return error_set(err, ERROR_INTERNAL, "a result without an arm");
	room = buf_reserve(&slot->text, READ_CHUNK);
	got = room ? read(fd, room, READ_CHUNK) : 0;
	if (got > 0) {
		buf_commit(&slot->text, (size_t)got);
		return 0;
	}
	return finish(schedule, slot, err) < 0 ? -1 : 1;
}

static int on_steps(void *context, int fd, short revents, struct error **err)
{
	struct schedule *schedule = context;

	(void)revents;
	(void)err;
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (schedule->slots[i].busy && schedule->slots[i].steps == fd)
			take_steps(schedule, &schedule->slots[i]);
	return 1; /* there may be room for one more */
}

static int on_refresh(void *context, struct error **err)
{
	struct schedule *schedule = context;

	(void)err;
	progress_refresh(&schedule->run->progress);
	loop_timer(schedule->loop, REFRESH_TIMER, clock_deadline(REFRESH_MS), on_refresh, schedule);
	return 0;
}

/* Arms clean up behind themselves when their lifeline ends. */
static void halt(struct schedule *schedule)
{
	schedule->halted = true;
	schedule->give_up = clock_deadline(INTERRUPT_MS);
	for (size_t i = 0; i < SLOTS_MAX; i++)
		fd_close(&schedule->slots[i].lifeline);
}

/* A second signal does not make that faster. */
static int on_signal(void *context, int number, struct error **err)
{
	struct schedule *schedule = context;

	(void)number;
	(void)err;
	schedule->run->interrupted = true;
	if (!schedule->halted)
		halt(schedule);
	return 1;
}

/* An arm that only waits takes no place of one that works, but where one at a time is asked for. */
static struct slot *free_slot(struct schedule *schedule)
{
	int jobs = plan_jobs(schedule->run->plan, schedule->run->options->jobs), working = 0, busy = 0;
	struct slot *first = NULL;

	for (size_t i = 0; i < SLOTS_MAX; i++) {
		struct slot *slot = &schedule->slots[i];

		busy += slot->busy;
		working += slot->busy && !slot->waits;
		if (!slot->busy && !first)
			first = slot;
	}
	return working < jobs && busy < (jobs > 1 ? WAITING_PLACES * jobs : jobs) ? first : NULL;
}

static bool any_busy(const struct schedule *schedule)
{
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (schedule->slots[i].busy)
			return true;
	return false;
}

static int64_t nearest(const struct schedule *schedule)
{
	int64_t deadline = schedule->give_up, look = clock_deadline(LOOK_MS);

	if (look < deadline)
		deadline = look;
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (schedule->slots[i].busy && schedule->slots[i].deadline < deadline)
			deadline = schedule->slots[i].deadline;
	return deadline;
}

/* An arm past its time, or that stands still, is killed: its watchdog still ends the container, and its result is
 * missing. */
static void end_late(struct schedule *schedule)
{
	int64_t now = clock_now();

	for (size_t i = 0; i < SLOTS_MAX; i++) {
		struct slot *slot = &schedule->slots[i];

		if (!slot->busy)
			continue;
		if (!child_stopped(&slot->child))
			slot->still = 0;
		else if (slot->still == 0)
			slot->still = now;
		if (now >= slot->deadline || now >= schedule->give_up ||
		    (slot->still && now - slot->still >= STILL_MS * NS_PER_MS))
			child_signal(&slot->child, SIGKILL);
	}
}

static bool work_left(const struct schedule *schedule)
{
	return any_busy(schedule) || (!schedule->halted && schedule->next < schedule->run->plan->arms_count);
}

/* Begins an arm where there is room for one, else waits for what comes next. */
static int step(struct schedule *schedule, struct error **err)
{
	struct slot *slot = free_slot(schedule);

	if (slot && !schedule->halted && schedule->next < schedule->run->plan->arms_count)
		return run_engine_again(schedule->run, err) < 0
			       ? -1
			       : start(schedule, slot, schedule->order[schedule->next++], err);
	if (loop_run(schedule->loop, nearest(schedule), err) < 0)
		return -1;
	end_late(schedule);
	return 0;
}

/* After the first error the arms that are under way end in order, so that nothing of them is left. */
static int run_all(struct schedule *schedule, struct error **err)
{
	while (work_left(schedule)) {
		struct error *late = NULL;

		if (step(schedule, &late) == 0)
			continue;
		error_keep_first(err, &late);
		if (schedule->halted)
			break;
		halt(schedule);
	}
	return *err ? -1 : 0;
}

int run_arms(struct run *run, struct error **err)
{
	struct schedule schedule = { .run = run, .give_up = NEVER };
	struct strays strays = { .adopts = false };
	int status;

	for (size_t i = 0; i < SLOTS_MAX; i++)
		schedule.slots[i] = (struct slot){ .child = CHILD_NONE, .result = -1, .lifeline = -1, .steps = -1 };
	run->records = calloc(run->plan->arms_count, sizeof(*run->records));
	if (!run->records)
		return error_set(err, ERROR_MEMORY, "no memory for the arms' records");
	if (arm_pool_new(&run->pool, err) < 0)
		return -1;
	for (size_t i = 0; i < run->plan->arms_count; i++) {
		broken(run, &run->plan->arms[i], &run->records[i]);
		run->records[i].status = ARM_NOT_RUN;
	}
	status = loop_new(&schedule.loop, err);
	if (status == 0)
		status = loop_signals(schedule.loop, on_signal, &schedule, err);
	if (status == 0)
		status = run_strays_adopt(run, &strays, err);
	if (status == 0)
		status = order_arms(&schedule, err);
	if (status == 0 && progress_live(&run->progress))
		loop_timer(schedule.loop, REFRESH_TIMER, clock_deadline(REFRESH_MS), on_refresh, &schedule);
	if (status == 0)
		status = run_all(&schedule, err);
	progress_close(&run->progress);
	for (size_t i = 0; i < SLOTS_MAX; i++) {
		fd_close(&schedule.slots[i].lifeline);
		fd_close(&schedule.slots[i].result);
		fd_close(&schedule.slots[i].steps);
		child_end(&schedule.slots[i].child);
		buf_wipe(&schedule.slots[i].text);
	}
	run_strays_end(&strays);
	loop_free(schedule.loop);
	free(schedule.order);
	if (status == 0 && run->interrupted)
		return error_set(err, ERROR_INTERRUPTED, "interrupted: no bundle was written");
	if (status == 0 && schedule.results == 0)
		return error_set(err, ERROR_INTERNAL, "no arm gave a result: no bundle was written");
	return status;
}
