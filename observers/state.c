/*
 * Watches the container's process from outside: whether it lives (pidfd and cgroup), its core limits, how often it was
 * started, what it wrote, how long after the loss of a part it died, and which changes it outlived. Inputs: "pidfd",
 * "proc" (folder of the process), "cgroup" and "memory" (folders of its cgroup: processes and memory), "inspect" (the
 * engine's last answer) and "events" (the engine's events of the container, a JSON object a line). The last two are
 * pipes that the arm closes before it asks for the report of phase AFTER. Where somebody changes the container, also
 * "inspect-before", and while the window closes "inspect-window".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "observers/engine_events.h"
#include "observers/engine_inspect.h"
#include "observers/engine_io.h"
#include "observers/limits_file.h"
#include "observers/observer.h"
#include "observers/peaks.h"
#include "observers/process_look.h"
#include "observers/state_outlived.h"
#include "observers/stream.h"

#define VIEW 0
#define FIRST (-20) /* before other programs: the nice value */
#define LIMITS_BYTES (16 * KIB)
#define PROCS_BYTES (64 * KIB)
#define FINISH_MS 2000
/* When a process is looked at behind a loss, or behind the start of its misbehaviour. */
#define LOOK_TIMER 1
#define LOOK_MS 200

struct state {
	bool opened;
	int pidfd, cgroup, memory;
	struct peaks peaks;
	bool before_told;
	int64_t dead; /* when the pidfd told of the end, or 0 */
	int64_t loss; /* or 0 */
	int64_t window; /* when the window of a loss closed with the process alive, or 0 */
	bool proc_came, limits_read;
	struct core_limit limit;
	struct engine_io io;
	struct engine_inspect inspect;
	struct stream events;
	struct engine_events said;
	struct process_look look;
	struct outlived outlived;
};

/* A row of the report: the value, and why it is none. */
struct measure {
	const char *subject;
	enum wire_kind kind;
	const char *unit;
	enum wire_reason (*read)(const struct state *state, int64_t *value);
	enum outlived_change change; /* where `read` is NULL: whether it was outlived */
};

static const struct measure measures[];
static const struct sensor sensor;

/* ---- process and cgroup ----------------------------------------------------------------------- */

static void look_at_io(struct state *state)
{
	if (engine_io_opened(&state->io))
		(void)engine_io_look(&state->io, state->dead != 0);
}

static int on_exit_of_process(void *context, int fd, short revents, struct error **err)
{
	struct observer *observer = context;
	struct state *state = observer->state;

	(void)revents;
	(void)err;
	state->dead = clock_now();
	look_at_io(state);
	peaks_read(&state->peaks);
	loop_remove(observer->loop, fd);
	return 0;
}

/* cgroup.procs is opened anew each time: a held descriptor goes stale. A folder that vanished holds no process. */
static bool cgroup_empty(const struct state *state)
{
	cleanup_error struct error *problem = NULL;
	cleanup_buf struct buf procs = BUF(PROCS_BYTES);
	int r = fd_read_file(state->cgroup, "cgroup.procs", PROCS_BYTES, &procs, &problem);

	if (r < 0)
		return error_number(problem) == ENOENT || error_number(problem) == ENODEV;
	return procs.length == 0;
}

static bool inputs_of_life(const struct state *state)
{
	return state->pidfd >= 0 && state->cgroup >= 0;
}

/* The positive control: a process seen alive both ways. */
static int prove_alive(struct observer *observer, struct error **err)
{
	struct state *state = observer->state;
	int dead;

	if (!inputs_of_life(state) || state->before_told)
		return 0;
	dead = fd_wait(state->pidfd, POLLIN, 0, err);
	if (dead < 0)
		return dead;
	state->before_told = true;
	return dead || cgroup_empty(state) ? 0 : observer_beacon(observer, VIEW, WIRE_BEFORE, 1, err);
}

static int take_pidfd(struct observer *observer, int fd, struct error **err)
{
	struct state *state = observer->state;
	int r;

	state->pidfd = fd;
	r = loop_fd(observer->loop, fd, POLLIN, on_exit_of_process, observer, err);
	return r < 0 ? r : prove_alive(observer, err);
}

static int take_cgroup(struct observer *observer, int fd, struct error **err)
{
	struct state *state = observer->state;

	state->cgroup = fd;
	state->peaks.processes = fd;
	return prove_alive(observer, err);
}

static int take_memory(struct observer *observer, int fd)
{
	struct state *state = observer->state;

	state->memory = fd;
	state->peaks.memory = fd;
	return 0;
}

static int take_proc(struct observer *observer, int fd, struct error **err)
{
	struct state *state = observer->state;
	cleanup_fd int folder = fd;
	cleanup_error struct error *unread = NULL;
	cleanup_buf struct buf text = BUF(LIMITS_BYTES);

	(void)err;
	state->proc_came = true;
	(void)engine_io_open(&state->io, folder);
	if (fd_read_file(folder, "limits", LIMITS_BYTES, &text, &unread) == 0)
		state->limits_read = core_limit_parse(buf_string(&text), &state->limit);
	return 0;
}

/* ---- what the engine said --------------------------------------------------------------------- */

static int take_event_bytes(void *context, const void *bytes, size_t length, struct error **err)
{
	struct observer *observer = context;
	struct state *state = observer->state;

	(void)err;
	engine_events_take(&state->said, bytes, length);
	return 0;
}

/* ---- measures --------------------------------------------------------------------------------- */

static enum wire_reason limit_reason(const struct state *state)
{
	if (!state->proc_came)
		return WIRE_REASON_INPUT_MISSING;
	return state->limits_read ? WIRE_REASON_NONE : WIRE_REASON_INPUT_INVALID;
}

static enum wire_reason read_soft(const struct state *state, int64_t *value)
{
	*value = state->limit.soft;
	return limit_reason(state);
}

static enum wire_reason read_hard(const struct state *state, int64_t *value)
{
	*value = state->limit.hard;
	return limit_reason(state);
}

static enum wire_reason read_restarts(const struct state *state, int64_t *value)
{
	return engine_inspect_restarts(&state->inspect, value);
}

static enum wire_reason read_exit_code(const struct state *state, int64_t *value)
{
	return engine_inspect_exit_code(&state->inspect, value);
}

static enum wire_reason look_reason(const struct state *state)
{
	if (!state->proc_came)
		return WIRE_REASON_INPUT_MISSING;
	return state->look.seen ? WIRE_REASON_NONE : WIRE_REASON_INPUT_INVALID;
}

static enum wire_reason read_descriptors(const struct state *state, int64_t *value)
{
	*value = state->look.descriptors;
	return look_reason(state);
}

static enum wire_reason read_ignores_term(const struct state *state, int64_t *value)
{
	*value = state->look.ignores_term;
	return look_reason(state);
}

/* The event of creation comes before any start: a stream that lacks it does not go back far enough. */
static enum wire_reason read_starts(const struct state *state, int64_t *value)
{
	enum wire_reason reason = stream_reason(&state->events);

	*value = state->said.starts;
	if (reason != WIRE_REASON_NONE)
		return reason;
	if (state->said.broken)
		return WIRE_REASON_INPUT_INVALID;
	return state->said.creates == 1 && state->said.line.length == 0 ? WIRE_REASON_NONE : WIRE_REASON_TRUNCATED;
}

static enum wire_reason read_processes(const struct state *state, int64_t *value)
{
	return peaks_value(&state->peaks, PEAK_PROCESSES, value);
}

static enum wire_reason read_process_limit(const struct state *state, int64_t *value)
{
	return peaks_value(&state->peaks, PEAK_PROCESS_LIMIT, value);
}

static enum wire_reason read_memory(const struct state *state, int64_t *value)
{
	return peaks_value(&state->peaks, PEAK_MEMORY, value);
}

static enum wire_reason read_oom_kills(const struct state *state, int64_t *value)
{
	return peaks_value(&state->peaks, PEAK_OOM_KILLS, value);
}

static enum wire_reason read_alive(const struct state *state, int64_t *value)
{
	*value = 0;
	if (!inputs_of_life(state))
		return WIRE_REASON_INPUT_MISSING;
	*value = state->dead == 0 || !cgroup_empty(state);
	return WIRE_REASON_NONE;
}

static enum wire_reason read_written(const struct state *state, int64_t *value)
{
	*value = state->io.written;
	if (!state->proc_came)
		return WIRE_REASON_INPUT_MISSING;
	if (!engine_io_opened(&state->io))
		return WIRE_REASON_INPUT_INVALID;
	return state->io.final ? WIRE_REASON_NONE : WIRE_REASON_CENSORED;
}

/* Alive when the window closed, or at the report: a lower bound. What ended the process after the window was no longer
 * a protection. Dead before the loss was told: it took no time. */
static enum wire_reason read_loss_to_dead(const struct state *state, int64_t *value)
{
	int64_t end = state->window ? state->window : state->dead ? state->dead : clock_now();

	*value = end > state->loss ? end - state->loss : 0;
	if (!inputs_of_life(state))
		return WIRE_REASON_INPUT_MISSING;
	/* Dead before anything was lost: of something else. */
	if (state->dead && state->dead < state->loss)
		return WIRE_REASON_INPUT_INVALID;
	return state->dead && !state->window ? WIRE_REASON_NONE : WIRE_REASON_CENSORED;
}

/* ---- the program ------------------------------------------------------------------------------ */

static int state_open(struct observer *observer, struct error **err)
{
	struct state *state = observer->state;

	(void)err;
	/* What is to be seen at the end lasts some milliseconds. */
	(void)setpriority(PRIO_PROCESS, 0, FIRST);
	state->pidfd = -1;
	state->cgroup = -1;
	state->memory = -1;
	state->peaks.processes = -1;
	state->peaks.memory = -1;
	state->io = ENGINE_IO_NONE;
	engine_inspect_init(&state->inspect);
	state->events = (struct stream)STREAM(ENGINE_STREAM_BYTES, take_event_bytes);
	state->events.context = observer;
	state->said = ENGINE_EVENTS;
	outlived_init(&state->outlived);
	state->opened = true;
	return 0;
}

static int state_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct state *state = observer->state;

	if (strcmp(name, "pidfd") == 0 && state->pidfd < 0)
		return take_pidfd(observer, fd, err);
	if (strcmp(name, "cgroup") == 0 && state->cgroup < 0)
		return take_cgroup(observer, fd, err);
	if (strcmp(name, "memory") == 0 && state->memory < 0)
		return take_memory(observer, fd);
	if (strcmp(name, "proc") == 0 && !state->proc_came)
		return take_proc(observer, fd, err);
	if (strcmp(name, "inspect") == 0)
		return stream_open(&state->inspect.document.stream, observer->loop, fd, err);
	if (strcmp(name, "events") == 0)
		return stream_open(&state->events, observer->loop, fd, err);
	if (strcmp(name, "inspect-before") == 0)
		return stream_open(&state->outlived.before.stream, observer->loop, fd, err);
	if (strcmp(name, "inspect-window") == 0)
		return stream_open(&state->outlived.after.stream, observer->loop, fd, err);
	fd_close(&fd);
	return error_set(err, ERROR_PROTOCOL, "an input that is unknown or came twice");
}

/* By then who misbehaves has begun to. */
static int on_look(void *context, struct error **err)
{
	struct observer *observer = context;
	struct state *state = observer->state;

	(void)err;
	(void)process_look(state->io.process, &state->look);
	return 0;
}

static int state_loss(struct observer *observer, int64_t time, struct error **err)
{
	struct state *state = observer->state;

	(void)err;
	if (state->loss)
		return 0;
	state->loss = time;
	loop_timer(observer->loop, LOOK_TIMER, clock_add(time, LOOK_MS * NS_PER_MS), on_look, observer);
	return 0;
}

static int finish_inputs(struct state *state, struct error **err)
{
	int64_t deadline = clock_deadline(FINISH_MS);
	int r = stream_finish(&state->inspect.document.stream, deadline, err);

	return r < 0 ? r : stream_finish(&state->events, deadline, err);
}

/* The end may be ready in the same round as the question. */
static int look_at_process(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct state *state = observer->state;
	int dead;

	if (!inputs_of_life(state))
		return 0;
	dead = fd_wait(state->pidfd, POLLIN, 0, err);
	if (dead < 0)
		return dead;
	if (dead && state->dead == 0)
		on_exit_of_process(observer, state->pidfd, POLLIN, err);
	if (phase != WIRE_AFTER || cgroup_empty(state) != (state->dead != 0))
		return 0;
	return observer_beacon(observer, VIEW, WIRE_AFTER, 1, err);
}

/* Without a loss there is no time to death, and nothing to outlive where nobody changes anything. */
static bool is_asked(const struct state *state, const struct measure *measure)
{
	if (measure->read == read_loss_to_dead || measure->read == read_descriptors ||
	    measure->read == read_ignores_term)
		return state->loss != 0;
	return measure->read || outlived_asked(&state->outlived);
}

static int state_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct state *state = observer->state;
	int r = look_at_process(observer, phase, err);

	/* The report of phase BEFORE closes the window of a loss. */
	if (phase == WIRE_BEFORE && state->loss && !state->dead && !state->window)
		state->window = clock_now();
	peaks_read(&state->peaks);
	if (r == 0 && phase == WIRE_BEFORE && state->loss)
		r = outlived_close_window(&state->outlived, state->dead == 0, err);
	look_at_io(state);
	if (r == 0 && phase == WIRE_AFTER)
		r = finish_inputs(state, err);
	engine_inspect_parse(&state->inspect);
	for (const struct measure *measure = measures; r == 0 && measure->subject; measure++) {
		struct wire_record record = { .kind = measure->kind };

		if (!is_asked(state, measure))
			continue;
		record.reason = measure->read ? measure->read(state, &record.value)
					      : outlived_read(&state->outlived, measure->change, &record.value);
		memcpy(record.unit, measure->unit, strlen(measure->unit) + 1);
		r = observer_record(observer, VIEW, measure->subject, phase, &record, err);
	}
	return r;
}

static void state_close(struct observer *observer)
{
	struct state *state = observer->state;

	if (!state->opened)
		return;
	engine_inspect_free(&state->inspect);
	stream_close(&state->events);
	engine_io_close(&state->io);
	fd_close(&state->pidfd);
	fd_close(&state->cgroup);
	fd_close(&state->memory);
	engine_events_free(&state->said);
	outlived_free(&state->outlived);
}

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const struct measure measures[] = {
	{ .subject = "exit-code", .kind = WIRE_STATE, .unit = "code", .read = read_exit_code },
	{ .subject = "processes", .kind = WIRE_COUNT, .unit = "processes", .read = read_processes },
	{ .subject = "process-limit", .kind = WIRE_COUNT, .unit = "records", .read = read_process_limit },
	{ .subject = "memory", .kind = WIRE_COUNT, .unit = "bytes", .read = read_memory },
	{ .subject = "oom-kills", .kind = WIRE_COUNT, .unit = "records", .read = read_oom_kills },
	{ .subject = "core-limit-soft", .kind = WIRE_STATE, .unit = "bytes", .read = read_soft },
	{ .subject = "core-limit-hard", .kind = WIRE_STATE, .unit = "bytes", .read = read_hard },
	{ .subject = "restarts", .kind = WIRE_COUNT, .unit = "records", .read = read_restarts },
	{ .subject = "starts", .kind = WIRE_COUNT, .unit = "records", .read = read_starts },
	{ .subject = "alive", .kind = WIRE_STATE, .unit = "bool", .read = read_alive },
	{ .subject = "written", .kind = WIRE_COUNT, .unit = "bytes", .read = read_written },
	{ .subject = "attempted", .kind = WIRE_COUNT, .unit = "bytes", .read = read_written },
	{ .subject = "descriptors", .kind = WIRE_STATE, .unit = "descriptors", .read = read_descriptors },
	{ .subject = "term-ignored", .kind = WIRE_STATE, .unit = "bool", .read = read_ignores_term },
	{ .subject = "loss_to_dead", .kind = WIRE_DURATION, .unit = "ns", .read = read_loss_to_dead },
	{ .subject = "renamed", .kind = WIRE_STATE, .unit = "bool", .change = OUTLIVED_NAME },
	{ .subject = "limits-changed", .kind = WIRE_STATE, .unit = "bool", .change = OUTLIVED_LIMITS },
	{ .subject = "networks-changed", .kind = WIRE_STATE, .unit = "bool", .change = OUTLIVED_NETWORKS },
	{ .subject = "core-pattern", .kind = WIRE_STATE, .unit = "bool", .change = OUTLIVED_PATTERN },
	{ .subject = NULL },
};

static const struct sensor sensor = {
	.name = "observer-state",
	.state_size = sizeof(struct state),
	.open = state_open,
	.input = state_input,
	.loss = state_loss,
	.report = state_report,
	.close = state_close,
};
