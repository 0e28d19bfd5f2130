/* The arm's observers: which ones this host and this container allow, their subjects, beacons, inputs and records. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_fault.h"
#include "runner/arm_netns.h"
#include "runner/arm_paths.h"

const char *const arm_marker_names[] = { [WIRE_BEFORE] = "beacon-before", [WIRE_AFTER] = "beacon-after" };

struct observer_process *arm_observer(const struct arm *arm, const char *kind)
{
	for (size_t i = 0; i < arm->observers_count; i++)
		if (strcmp(observer_kind(arm->observers[i])->id, kind) == 0)
			return arm->observers[i];
	return NULL;
}

/* Only what a planned cell asks for is started: an observer nobody reads would cost time and prove nothing. */
static bool wanted(const struct arm *arm, const struct observer_kind *kind)
{
	bool planned = false;

	for (size_t i = 0; i < arm->scenario.expect_count; i++) {
		const struct observer_kind *of = arm_kind_of(arm, arm->scenario.expect[i].observer);

		planned = planned || (of && strcmp(of->id, kind->id) == 0);
	}
	for (size_t i = 0; i < arm->subjects_count; i++) {
		const char *binds = arm->subjects[i].route->observer;

		planned = planned || (binds && strcmp(binds, kind->id) == 0);
	}
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		planned = planned || strcmp(kind->id, "deliveries") == 0;
	if ((kind->needs & OBSERVER_IPV6) && !arm->context.ipv6)
		return false;
	if ((kind->needs & OBSERVER_NIC) && !arm->context.nic[0])
		return false;
	if ((kind->needs & OBSERVER_POSTGRES) && !arm->context.postgres)
		return false;
	return planned;
}

bool arm_observers_asked(const struct arm *arm, const struct observer_kind *kind)
{
	return wanted(arm, kind);
}

bool arm_observers_wanted(const struct arm *arm, const char *kind)
{
	const struct observer_kind *row = observer_kind_find(kind);

	return row && wanted(arm, row);
}

/* Whose positive control is what the control container wrote. */
static bool hears_control(const struct observer_kind *kind)
{
	return strcmp(kind->id, "logs") == 0 || strcmp(kind->id, "client") == 0;
}

static int expect_markers(struct arm *arm, struct observer_process *observer, struct error **err)
{
	for (int phase = WIRE_BEFORE; phase <= WIRE_AFTER; phase++) {
		struct observer_subject marker = {
			.subject = arm_marker_names[phase],
			.canary = &arm->markers[phase],
			.marker = true,
			.phase = (enum wire_phase)phase,
			.text = "beacon.tool",
		};

		if (hears_control(observer_kind(observer)))
			marker.canary = &arm->context.control_marker;
		if (observer_expect(observer, &marker, err) < 0)
			return -1;
		/* The control container's log is one for both phases. */
		if (marker.canary == &arm->context.control_marker)
			break;
	}
	return 0;
}

/* The one that binds a probe's port learns its canary only; the captures learn every port. */
static int expect_subjects(struct arm *arm, struct observer_process *observer, struct error **err)
{
	const struct observer_kind *kind = observer_kind(observer);
	bool capture = strcmp(kind->program, "observer-capture") == 0;
	bool binder = (kind->needs & OBSERVER_HOST) &&
		      (strcmp(kind->program, "observer-tcp") == 0 || strcmp(kind->program, "observer-udp") == 0);

	for (size_t i = 0; i < arm->subjects_count; i++) {
		const struct arm_subject *subject = &arm->subjects[i];
		const char *binds = subject->route->observer;
		struct observer_subject one = {
			.subject = subject->route->id,
			.canary = &subject->canary,
			.port = subject->port,
			.text = subject->route->tool,
		};

		if (binder && !(binds && strcmp(binds, kind->id) == 0))
			continue;
		if (capture && !binds)
			continue;
		if (observer_expect(observer, &one, err) < 0)
			return -1;
	}
	return 0;
}

int arm_observers_expect(struct arm *arm, struct observer_process *observer, struct error **err)
{
	return expect_subjects(arm, observer, err) < 0 ? -1 : expect_markers(arm, observer, err);
}

/* Starts one observer up to BEGIN. What goes wrong is its cells' matter: it is left out, and they are not established.
 */
static void start(struct arm *arm, const struct observer_kind *kind, int netns)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_observer struct observer_process *observer = NULL;
	const char *extra = (kind->needs & OBSERVER_NIC) ? arm->context.nic : kind->argument;

	if (kind->needs & OBSERVER_POSTGRES)
		extra = arm->orders.name;
	if (arm->observers_count == ARM_OBSERVERS_MAX || observer_start(kind, extra, netns, &observer, &ignored) < 0 ||
	    arm_observers_expect(arm, observer, &ignored) < 0 || observer_begin(observer, &ignored) < 0) {
		arm_observer_loss(arm, kind->id, observer, observer ? ARM_STAGE_READY : ARM_STAGE_START, ignored);
		return;
	}
	arm->observers[arm->observers_count++] = steal_pointer(&observer);
}

static void wait_ready(struct arm *arm, size_t first)
{
	for (size_t i = first; i < arm->observers_count; i++) {
		cleanup_error struct error *ignored = NULL;

		if (observer_wait_ready(arm->observers[i], clock_deadline(ARM_READY_MS), &ignored) < 0)
			arm_observer_loss(arm, observer_kind(arm->observers[i])->id, arm->observers[i], ARM_STAGE_READY,
					  ignored);
	}
}

void arm_observers_give(struct arm *arm, const char *kind, const char *input, int fd)
{
	cleanup_error struct error *ignored = NULL;
	struct observer_process *observer = arm_observer(arm, kind);

	if (observer && fd >= 0 && observer_give(observer, input, fd, &ignored) < 0)
		arm_observer_loss(arm, kind, observer, ARM_STAGE_LOOK, ignored);
}

void arm_fault_give_stream(struct arm *arm, struct arm_fault_state *state, bool none)
{
	cleanup_fd int empty = none ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	if (state->given || (state->stream < 0 && !none))
		return;
	arm_observers_give(arm, "client", "stream", none ? empty : state->stream);
	state->given = true;
}

/* The payload files are there before anything is written to them. */
static void give_payload_files(struct arm *arm)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_fd int recorder = -1;
	cleanup_fd int decisions = openat(arm->folder, "decisions", O_RDONLY | O_CLOEXEC);

	if (arm_gateway_sink(arm, &recorder, &ignored) < 0)
		arm_observer_loss(arm, "deliveries", NULL, ARM_STAGE_START, ignored);
	arm_observers_give(arm, "deliveries", "recorder", recorder);
	arm_observers_give(arm, "deliveries", "decisions", decisions);
}

uint16_t arm_observers_collector(struct arm *arm)
{
	const struct observer_kind *kind = observer_kind_find("spans");
	const struct observer_process *observer;

	if (!wanted(arm, kind))
		return 0;
	start(arm, kind, -1);
	wait_ready(arm, 0);
	observer = arm_observer(arm, kind->id);
	return observer ? observer_port(observer, arm_marker_names[WIRE_BEFORE]) : 0;
}

/* The listeners come first, because the captures are told the ports that these bind. */
void arm_observers_start(struct arm *arm)
{
	size_t listeners;

	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		if (!(kind->needs & OBSERVER_NETNS) && strcmp(kind->program, "observer-capture") != 0 &&
		    wanted(arm, kind) && !arm_observer(arm, kind->id))
			start(arm, kind, -1);
	wait_ready(arm, 0);
	for (size_t i = 0; i < arm->subjects_count; i++) {
		const char *binds = arm->subjects[i].route->observer;
		const struct observer_process *observer = binds ? arm_observer(arm, binds) : NULL;

		if (observer)
			arm->subjects[i].port = observer_port(observer, arm->subjects[i].route->id);
	}
	listeners = arm->observers_count;
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		if (!(kind->needs & OBSERVER_NETNS) && strcmp(kind->program, "observer-capture") == 0 &&
		    wanted(arm, kind))
			start(arm, kind, -1);
	wait_ready(arm, listeners);
	arm_declared_start(arm);
	give_payload_files(arm);
}

static void start_inside(struct arm *arm, int netns)
{
	size_t first = arm->observers_count;

	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		if ((kind->needs & OBSERVER_NETNS) && wanted(arm, kind))
			start(arm, kind, netns);
	wait_ready(arm, first);
}

/* The loop forgets it first, also one that was lost while something else than the loop waited for it: its number would
 * be nobody's, or another's. */
static void stop_one(struct arm *arm, struct observer_process *observer)
{
	loop_remove(arm->loop, observer_watched(observer));
	arm_declared_said(arm, observer);
	observer_stop(observer);
}

void arm_observers_drop(struct arm *arm, const char *kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < arm->observers_count; i++) {
		if (strcmp(observer_kind(arm->observers[i])->id, kind) == 0)
			stop_one(arm, arm->observers[i]);
		else
			arm->observers[kept++] = arm->observers[i];
	}
	arm->observers_count = kept;
}

/* Ends those that look into a namespace that turned out to be another's. */
static void stop_inside(struct arm *arm)
{
	size_t kept = 0;

	for (size_t i = 0; i < arm->observers_count; i++) {
		if (observer_kind(arm->observers[i])->needs & OBSERVER_NETNS)
			stop_one(arm, arm->observers[i]);
		else
			arm->observers[kept++] = arm->observers[i];
	}
	arm->observers_count = kept;
}

void arm_observers_early(struct arm *arm)
{
	arm->netns = arm_netns_early(arm);
	if (arm->netns < 0)
		return;
	start_inside(arm, arm->netns);
	arm_observers_beacon(arm, WIRE_BEFORE);
}

void arm_observers_netns(struct arm *arm)
{
	if (arm->netns >= 0 && fd_same(arm->netns, arm->session.netns))
		return;
	stop_inside(arm);
	if (arm_netns_apart(arm->session.netns))
		start_inside(arm, arm->session.netns);
}

void arm_observers_inputs(struct arm *arm)
{
	cleanup_fd int root = -1, upper = -1, lower = -1, disk = -1, control_disk = -1;
	cleanup_error struct error *ignored = NULL;

	root = openat(arm->session.proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (arm_path_layers(arm->session.proc, (pid_t)arm->context.engine_pid, &upper, &lower, &ignored) < 0)
		arm_note(arm, "input-missing", "files-upper", clock_now());
	disk = arm_path_container(&arm->context, arm->session.container);
	control_disk = arm_path_container(&arm->context, arm->context.control);
	arm_observers_give(arm, "files", "root", root);
	arm_observers_give(arm, "files", "upper", upper);
	arm_observers_give(arm, "files", "lower", lower);
	arm_observers_give(arm, "logs", "disk", disk);
	arm_observers_give(arm, "logs", "control-disk", control_disk);
	arm_observers_give(arm, "state", "pidfd", arm->session.pidfd);
	arm_observers_give(arm, "state", "proc", arm->session.proc);
	arm_observers_give(arm, "state", "cgroup", arm->session.cgroup);
	arm_observers_give(arm, "state", "memory", arm->session.memory);

	const struct arm_input inputs[] = {
		{ "root", root },
		{ "upper", upper },
		{ "lower", lower },
		{ "proc", arm->session.proc },
		{ "cgroup", arm->session.cgroup },
		{ "pidfd", arm->session.pidfd },
	};
	arm_declared_inputs(arm, inputs, ARRAY_SIZE(inputs));
}

void arm_observers_await_state(struct arm *arm)
{
	struct observer_process *state = arm_observer(arm, "state");
	cleanup_error struct error *late = NULL;

	if (state && !arm->told.dead &&
	    observer_wait_seen(state, NULL, WIRE_BEFORE, clock_deadline(ARM_BEACON_MS), &late) < 0)
		arm_note(arm, "beacon-lost", "state", clock_now());
	arm_declared_await(arm);
}

static int take_record(void *context, const struct wire_record *record, struct error **err)
{
	struct arm *arm = context;
	struct arm_result *result = arm->result;
	struct observation *out;

	/* A report of phase BEFORE makes the observer look while the process lives; what it saw is in the later report
	 * too. */
	if (record->phase != WIRE_AFTER)
		return 0;
	/* Of a gateway that writes no decisions there is nothing to say. */
	if (strcmp(record->observer, "decisions") == 0 && !arm_gateway_decides(arm))
		return 0;
	if (result->observations_count == ARM_OBSERVATIONS_MAX)
		return error_set(err, ERROR_LIMIT, "an arm makes at most %d observations", ARM_OBSERVATIONS_MAX);
	out = &result->observations[result->observations_count++];
	*out = (struct observation){
		.id = "o-0",
		.repetition = arm->repetition,
		.kind = (int)record->kind,
		.status = (int)record->status,
		.reason = (int)record->reason,
		.value = record->value,
		.attempts = record->attempts,
		.connections = record->connections,
		.bytes = record->bytes,
		.canary_hits = record->hits,
		.dropped = record->dropped,
		.beacon_before = record->beacon_before,
		.beacon_after = record->beacon_after,
		.start_ns = record->start - arm->start,
		.duration_ns = record->duration,
	};
	snprintf(out->arm, sizeof(out->arm), "%s", arm->scenario.id);
	snprintf(out->subject, sizeof(out->subject), "%s", record->subject);
	snprintf(out->observer, sizeof(out->observer), "%s", record->observer);
	snprintf(out->unit, sizeof(out->unit), "%s", record->unit);
	return 0;
}

int arm_observers_ask(const struct arm *arm, const char *kind, enum wire_phase phase, struct error **err)
{
	struct observer_process *observer = arm_observer(arm, kind);

	return observer ? observer_ask(observer, phase, err) : 0;
}

static bool reported(const struct arm *arm)
{
	return observer_lost(arm->awaited) || observer_reported(arm->awaited, arm->awaited_phase);
}

int arm_observers_take(struct arm *arm, const char *kind, enum wire_phase phase, struct error **err)
{
	struct observer_process *observer = arm_observer(arm, kind);
	int64_t deadline = clock_deadline(ARM_REPORT_MS);
	cleanup_error struct error *late = NULL;

	if (!observer)
		return 0;
	arm->awaited = observer;
	arm->awaited_phase = phase;
	/* In the loop: the session is watched meanwhile. */
	if (arm_wait(arm, reported, deadline, &late) < 0 && error_code(late) != ERROR_TIMEOUT) {
		error_keep_first(err, &late);
		return -1;
	}
	return observer_collect(observer, phase, take_record, arm, deadline, err);
}

static int collect(struct arm *arm, struct observer_process *observer, struct error **err)
{
	struct error *lost = NULL;

	if (observer_collect(observer, WIRE_AFTER, take_record, arm, clock_deadline(ARM_REPORT_MS), &lost) == 0)
		return 0;
	/* The arm's own limit; one that says too much is lost as any other. */
	if (error_code(lost) == ERROR_LIMIT && !observer_lost(observer))
		return error_keep_first(err, &lost), -1;
	arm_observer_loss(arm, observer_kind(observer)->id, observer, ARM_STAGE_REPORT, lost);
	error_free(lost);
	return 0;
}

/* Whether it waits for what the engine has to tell after the end, or for that of the gateway, which is later. What a
 * declaration brings looks at an effect wherever it happens: also at one that gateway or service are late with. */
static bool needs_engine(const struct arm *arm, const struct observer_kind *kind)
{
	return arm_declared_is(arm, kind) || strcmp(kind->id, "files") == 0 || strcmp(kind->id, "logs") == 0 ||
	       strcmp(kind->id, "state") == 0 || strcmp(kind->id, "client") == 0 || strcmp(kind->id, "spans") == 0 ||
	       strcmp(kind->id, "audit") == 0 || strcmp(kind->program, "observer-bytes") == 0 ||
	       strcmp(kind->id, "orders") == 0 || strcmp(kind->id, "correlation") == 0 ||
	       (kind->needs & OBSERVER_POSTGRES) ||
	       /* A collector notes what it refuses, and the gateway asks it last at its end. */
	       (strcmp(kind->id, "deliveries") == 0 && arm->scenario.peer.at == PEER_COLLECTOR);
}

/* All are asked before the first is waited for. */
int arm_observers_collect(struct arm *arm, bool engine, struct error **err)
{
	for (size_t i = 0; i < arm->observers_count; i++) {
		cleanup_error struct error *ignored = NULL;

		if (needs_engine(arm, observer_kind(arm->observers[i])) == engine &&
		    observer_ask(arm->observers[i], WIRE_AFTER, &ignored) < 0)
			arm_observer_loss(arm, observer_kind(arm->observers[i])->id, arm->observers[i],
					  ARM_STAGE_REPORT, ignored);
	}
	for (size_t i = 0; i < arm->observers_count; i++) {
		if (needs_engine(arm, observer_kind(arm->observers[i])) != engine)
			continue;
		/* One that turns out to be lost closes its descriptor: it is not watched any more from here on. */
		loop_remove(arm->loop, observer_watched(arm->observers[i]));
		if (collect(arm, arm->observers[i], err) < 0)
			return -1;
		/* The kernel takes its time to close a capture or an inotify. */
		observer_halt(arm->observers[i]);
	}
	return 0;
}

void arm_observers_halt(struct arm *arm)
{
	for (size_t i = 0; i < arm->observers_count; i++)
		observer_halt(arm->observers[i]);
}

void arm_observers_end(struct arm *arm)
{
	for (size_t i = 0; i < arm->observers_count; i++)
		stop_one(arm, arm->observers[i]);
	arm->observers_count = 0;
}
