#include "runner/arm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mutations/mutation.h"
#include "runner/arm_steps.h"
#include "runner/store.h"

#define PAYLOAD_BYTES (60 * KIB)

void arm_note(struct arm *arm, const char *name, const char *subject, int64_t at)
{
	struct arm_record *record = &arm->result->room.record;
	struct arm_event *event;

	if (record->events_count == ARM_EVENTS_MAX)
		return;
	event = &record->events[record->events_count++];
	snprintf(event->name, sizeof(event->name), "%s", name);
	snprintf(event->subject, sizeof(event->subject), "%s", subject);
	event->at_ns = at - arm->start;
	/* Nobody waits for a reader: what a full or closed pipe does not take is not shown. */
	if (arm->steps >= 0 && write(arm->steps, event, sizeof(*event)) != (ssize_t)sizeof(*event))
		arm->steps = -1;
}

static int add_subject(struct arm *arm, const char *probe, struct error **err)
{
	struct arm_subject *subject = &arm->subjects[arm->subjects_count];

	subject->route = probe_find(probe);
	if (!subject->route)
		return error_set(err, ERROR_INTERNAL, "the scenario has a probe without a route");
	if ((subject->route->address == PROBE_LOOPBACK6 && !arm->context.ipv6) ||
	    (subject->route->attribute && !arm->context.user_xattr))
		return 0;
	if (canary_new(&subject->canary, err) < 0)
		return -1;
	arm->result->canaries[arm->result->canaries_count++] = subject->canary;
	arm->subjects_count++;
	return 0;
}

static int add_subjects(struct arm *arm, struct error **err)
{
	for (int phase = WIRE_BEFORE; phase <= WIRE_AFTER; phase++)
		if (canary_new(&arm->markers[phase], err) < 0)
			return -1;
	for (size_t i = 0; i < arm->scenario.probes_count; i++)
		if (add_subject(arm, arm->scenario.probes[i], err) < 0)
			return -1;
	for (size_t i = 0; i < arm->scenario.after_count; i++)
		if (add_subject(arm, arm->scenario.after[i], err) < 0)
			return -1;
	for (int phase = WIRE_BEFORE; phase <= WIRE_AFTER; phase++)
		arm->result->canaries[arm->result->canaries_count++] = arm->markers[phase];
	return 0;
}

static void copy_names(const char *const *names, char (*out)[NAME_MAX_SHORT], size_t *count, size_t max)
{
	for (size_t i = 0; names[i] && *count < max; i++)
		snprintf(out[(*count)++], NAME_MAX_SHORT, "%s", names[i]);
}

static void set_limit(int64_t *limit, int64_t value)
{
	if (value > 0)
		*limit = value;
}

static void set_label(char out[NAME_MAX_SHORT], const char *label)
{
	if (label[0])
		snprintf(out, NAME_MAX_SHORT, "%s", label);
}

static void apply_labels(struct arm *arm)
{
	set_label(arm->options.sensitivity, arm->scenario.labels.session);
	set_label(arm->options.permitted_label, arm->scenario.labels.permitted);
	set_label(arm->options.response_ceiling, arm->scenario.labels.response);
}

/* An upstream that misbehaves before it is called serves one tool alone: the beacon has to pass. */
static void apply_apart(struct arm *arm)
{
	const struct peer *peer = &arm->scenario.peer;

	if (peer->at != PEER_UPSTREAM)
		return;
	if (strcmp(peer->does, "lists-late") == 0) {
		arm->options.apart = "public.tool";
	} else if (strcmp(peer->does, "undeclared") == 0) {
		arm->options.apart = "permitted.tool";
		arm->options.undeclared = true;
	}
}

/* The order service is an upstream of our own gateway alone, and only where its orders are counted. */
static void apply_orders(struct arm *arm)
{
	struct session_options *options = &arm->options;
	struct session_ceiling *ceiling = &options->ceilings[options->ceilings_count];

	if (!scenario_orders(&arm->scenario) || !arm_orders_wanted(arm) ||
	    arm->context.gateway.kind != GATEWAY_EMBEDDED)
		return;
	options->orders = true;
	snprintf(ceiling->tool, sizeof(ceiling->tool), SESSION_ORDER_TOOL);
	snprintf(ceiling->max, sizeof(ceiling->max), "%s", options->sensitivity);
	options->ceilings_count++;
}

/* What the scenario sets otherwise, before a protection is removed. */
static void apply_scenario(struct arm *arm)
{
	const struct scenario_limits *limits = &arm->scenario.limits;
	const struct peer *peer = &arm->scenario.peer;
	struct session_options *options = &arm->options;

	set_limit(&options->limits.frame_bytes, limits->frame_bytes);
	set_limit(&options->limits.stdout_bytes, limits->stdout_bytes);
	set_limit(&options->limits.stderr_bytes, limits->stderr_bytes);
	set_limit(&options->limits.calls, limits->calls);
	set_limit(&options->limits.session_ms, limits->session_ms);
	set_limit(&options->limits.heartbeat_ms, limits->heartbeat_ms);
	set_limit(&options->limits.acknowledge_ms, limits->acknowledge_ms);
	set_limit(&options->limits.lease_ms, limits->lease_ms);
	set_limit(&options->limits.gateway_call_ms, limits->gateway_call_ms);
	options->checkpoint = scenario_pauses(&arm->scenario);
	for (size_t i = 0; i < arm->scenario.updates_count; i++)
		options->checkpoint |= arm->scenario.updates[i].pause;
	if (peer->at == PEER_GATEWAY) {
		options->gateway_program = "hostile-gateway";
		options->gateway_mode = peer->does;
	} else if (peer->at == PEER_UPSTREAM) {
		options->upstream_program = "hostile-upstream";
		options->upstream_mode = peer->does;
	} else if (peer->at == PEER_ORDERS) {
		options->orders_program = "hostile-orders";
		options->orders_mode = peer->does;
	}
	apply_labels(arm);
	apply_apart(arm);
	apply_orders(arm);
}

/* What the removed protections declare goes into the record, so that the judge needs no table of ours. */
static int apply_mutations(struct arm *arm, struct error **err)
{
	struct arm_record *record = &arm->result->room.record;

	session_options_reference(&arm->options);
	apply_scenario(arm);
	if (mutations_apply(arm->scenario.removes, arm->scenario.removes_count, &arm->options, err) < 0)
		return -1;
	for (size_t i = 0; i < arm->scenario.removes_count; i++) {
		const struct mutation *mutation = mutation_find(arm->scenario.removes[i]);

		copy_names(mutation->must_fail, record->must_fail, &record->must_fail_count, ADMISSION_RULES_MAX);
		for (size_t n = 0; mutation->may_differ[n] && record->may_differ_count < ARM_DIFFERENCE_MAX; n++)
			snprintf(record->may_differ[record->may_differ_count++], sizeof(record->may_differ[0]), "%s",
				 mutation->may_differ[n]);
	}
	return 0;
}

static int prepare(struct arm *arm, struct error **err)
{
	const struct json_node *root = json_root(arm->input);
	struct arm_record *record = &arm->result->room.record;

	if (arm_input_decode(arm, err) < 0)
		return -1;
	snprintf(record->arm, sizeof(record->arm), "%s", arm->scenario.id);
	record->repetition = arm->repetition;
	snprintf(record->image, sizeof(record->image), "%s", arm->context.image + strlen("sha256:"));
	snprintf(record->boot, sizeof(record->boot), "%s", arm->context.boot);
	if (apply_mutations(arm, err) < 0 || add_subjects(arm, err) < 0)
		return -1;
	arm->created_wall = clock_realtime();
	arm->target = (struct session_target){
		.socket = arm->context.socket,
		.run = arm->context.run,
		.image = arm->context.image,
		.image_inspect = json_member(root, "image"),
		.info = json_member(root, "info"),
	};
	if (engine_open(arm->context.socket, &arm->engine, err) < 0 ||
	    engine_use_version(arm->engine, arm->context.api, err) < 0)
		return -1;
	session_init(&arm->session, arm->engine, &arm->target, &arm->options);
	return store_arm_folder(arm->context.run, &arm->folder, &arm->lock, arm->path, err) < 0
		       ? -1
		       : arm_faults_prepare(arm, err);
}

static void order_probes(const struct arm *arm, bool after, struct buf *out)
{
	for (size_t i = 0; i < arm->subjects_count; i++) {
		const struct arm_subject *subject = &arm->subjects[i];
		const char *address = "-";

		if (scenario_after(&arm->scenario, subject->route->id) != after ||
		    subject->route->address == PROBE_OUTSIDE || subject->route->address == PROBE_DEPLOYMENT)
			continue;
		if (subject->route->address == PROBE_LOOPBACK4 || subject->route->address == PROBE_SERVICE)
			address = "127.0.0.1";
		else if (subject->route->address == PROBE_LOOPBACK6)
			address = "::1";
		else if (subject->route->address == PROBE_NIC && arm->context.nic[0])
			address = arm->context.nic;
		else if (subject->route->target)
			address = subject->route->target;
		(void)buf_printf(out, "probe %s %s %s %u\n", subject->route->id, subject->canary.text, address,
				 subject->port);
		if (scenario_stops(&arm->scenario, subject->route->id))
			buf_text(out, "checkpoint\n");
	}
}

static void order_after(const struct arm *arm, struct buf *out)
{
	const struct misbehaviour *misbehaviour = &arm->scenario.misbehaviour;

	if (scenario_pauses(&arm->scenario))
		(void)buf_printf(out, "misbehave %s %lld %s\n", misbehaviour->id, (long long)misbehaviour->count,
				 misbehaviour->bytes[0] ? misbehaviour->bytes : "-");
	order_probes(arm, true, out);
}

int arm_orders_after(const struct arm *arm, struct buf *out, struct error **err)
{
	(void)buf_printf(out, "tries %lld\n", (long long)arm->scenario.tries);
	order_after(arm, out);
	(void)buf_text(out, "then exit\n");
	return buf_check(out, "the orders of a second agent", err);
}

/* The lines of agent/agent.h. */
static int orders(const struct arm *arm, struct buf *out, struct error **err)
{
	(void)buf_printf(out, "tries %lld\n", (long long)arm->scenario.tries);
	order_probes(arm, false, out);
	if (scenario_pauses(&arm->scenario))
		(void)buf_text(out, "checkpoint\n");
	order_after(arm, out);
	(void)buf_printf(out, "then %s\n", arm->scenario.ending[0] ? arm->scenario.ending : "done");
	return buf_check(out, "the initial frame", err);
}

static bool guarded(const struct arm *arm)
{
	return arm->told.ended || (arm->told.guarded && (!arm->options.watchdog || arm->told.armed));
}

static bool bridge_ready(const struct arm *arm)
{
	return arm->told.ended || arm->told.bridge_ready;
}

static int check_bridge(const struct arm *arm, struct error **err)
{
	if (!arm->told.ended)
		return 0;
	return error_set(err, ERROR_PROTOCOL, "the bridge ended before the first frame: %s",
			 control_reason_names[arm->told.reason]);
}

/* Up to the started process. What may overlap with the start does. */
static int open_session(struct arm *arm, struct error **err)
{
	if (arm_strays_adopt(arm, err) < 0 || arm_records_open(arm, err) < 0 || arm_orders_open(arm, err) < 0 ||
	    arm_gateway_begin(arm, err) < 0 || session_create(&arm->session, "arm", err) < 0 ||
	    session_watch_open(&arm->session, err) < 0)
		return -1;
	arm_note(arm, "created", "", clock_now());
	if (session_attach(&arm->session, err) < 0)
		return -1;
	arm_note(arm, "attached", "", clock_now());
	if (session_start(&arm->session, err) < 0 || arm_gateway_start(arm, err) < 0 ||
	    session_bridge(&arm->session, arm->gateway_in, arm->gateway_out, err) < 0)
		return -1;
	/* Another holder of these ends would hide the bridge's death from the gateway. */
	fd_close(&arm->gateway_in);
	fd_close(&arm->gateway_out);
	if (arm_watch(arm, err) < 0)
		return -1;
	arm_observers_start(arm);
	arm_records_inputs(arm);
	arm_orders_inputs(arm);
	arm_observers_beacon(arm, WIRE_BEFORE);
	arm_evidence_control(arm);
	if (arm_wait(arm, bridge_ready, clock_deadline(ARM_READY_MS), err) < 0 || check_bridge(arm, err) < 0 ||
	    arm_bridge_beacon(arm, WIRE_BEFORE, err) < 0)
		return -1;
	arm_observers_early(arm);
	arm_note(arm, "ready", "", clock_now());
	return session_started(&arm->session, err);
}

/* From the started process to the point where plaintext may enter. */
static int admit_session(struct arm *arm, struct error **err)
{
	arm_note(arm, "started", "", clock_now());
	if (session_kernel(&arm->session, err) < 0)
		return -1;
	arm_note(arm, rule_set_empty(&arm->options.must_fail) ? "admitted" : "waived", "", clock_now());
	if (session_guard(&arm->session, err) < 0)
		return -1;
	/* While the watchdog starts. */
	arm_observers_netns(arm);
	arm_observers_inputs(arm);
	arm_observers_beacon(arm, WIRE_BEFORE);
	if (arm_watch(arm, err) < 0 || arm_wait(arm, guarded, clock_deadline(ARM_READY_MS), err) < 0 ||
	    check_bridge(arm, err) < 0)
		return -1;
	arm_note(arm, arm->options.watchdog ? "armed" : "unarmed", "", clock_now());
	arm_evidence_before(arm);
	if (arm_records_trap(arm, true, err) < 0 || arm_policy_open(arm, err) < 0 ||
	    session_readmit(&arm->session, err) < 0)
		return -1;
	return session_watch_arm(&arm->session, err);
}

/* What admission refused on, whatever became of the arm. */
static void record_refusals(struct arm *arm)
{
	struct arm_record *record = &arm->result->room.record;

	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (rule_set_has(&arm->session.failed, rule))
			snprintf(record->failed[record->failed_count++], NAME_MAX_SHORT, "%s", admission_rule_id(rule));
}

static void close_arm(struct arm *arm)
{
	arm_faults_undo(arm, true);
	arm_policy_close(arm);
	arm_observers_end(arm);
	arm_gateway_end(arm);
	explicit_bzero(arm->gateway_token, sizeof(arm->gateway_token));
	arm_records_close(arm);
	arm_orders_close(arm);
	fd_close(&arm->recorder);
	fd_close(&arm->decisions);
	fd_close(&arm->netns);
	fd_close(&arm->archive);
	store_arm_remove(&arm->folder, &arm->lock, arm->path);
	loop_free(steal_pointer(&arm->loop));
	engine_close(steal_pointer(&arm->engine));
}

static enum arm_status status_of(const struct arm *arm, const struct error *error)
{
	if (!error)
		return ARM_OK;
	if (arm->policy.operated)
		return ARM_HARNESS_ERROR; /* a refusal too may be the operator's doing */
	if (arm->session.refused)
		return ARM_OK; /* the record's rules say so, and the judge reads them */
	return error_code(error) == ERROR_TIMEOUT ? ARM_TIMEOUT : ARM_HARNESS_ERROR;
}

/* Why an arm did not end well: a fixed word. */
static const char *reason_of(const struct arm *arm)
{
	if (arm->told.interrupted)
		return "interrupted";
	if (arm->policy.operated)
		return "operator";
	if (arm->session.refused)
		return "admission";
	if (arm->session.changed)
		return arm_end_reason(arm);
	if (arm->told.ended && arm->told.reason != CONTROL_REASON_NONE && arm->told.reason != CONTROL_REASON_STREAM_END)
		return control_reason_names[arm->told.reason];
	return arm->told.first_frame && !arm->told.done ? "cut-short" : "step-failed";
}

static void finish_record(struct arm *arm, const struct error *error)
{
	struct arm_record *record = &arm->result->room.record;

	record_refusals(arm);
	record->status = (int)status_of(arm, error);
	if (error)
		snprintf(record->reason, sizeof(record->reason), "%s", reason_of(arm));
}

/* Removed, or named: an engine that was hurt on purpose may be away, and the run removes the rest once it is back. */
static void end_session(struct arm *arm, struct error **err)
{
	struct arm_record *record = &arm->result->room.record;
	cleanup_error struct error *late = NULL;
	char left[13] = "";
	int begun, ended;

	snprintf(left, sizeof(left), "%.12s", arm->session.container);
	arm_limit_calls(arm, arm->end_by == NEVER ? NEVER : clock_deadline(ARM_REMOVE_MS));
	begun = session_end_begin(&arm->session, &late);
	/* They end while the engine removes the container. */
	arm_observers_end(arm);
	arm_gateway_end(arm);
	ended = session_end(&arm->session, &late);
	if (left[0])
		arm_note(arm, arm->session.removed ? "removed" : "left", arm->session.removed ? "" : left, clock_now());
	if ((begun == 0 && ended == 0) || scenario_hurts_engine(&arm->scenario))
		return;
	record->status = ARM_HARNESS_ERROR;
	snprintf(record->reason, sizeof(record->reason), "clean-up");
	error_keep_first(err, &late);
}

int arm_run(struct json_document *input, int steps, struct arm_result *result, struct error **err)
{
	cleanup_free struct arm *arm = calloc(1, sizeof(*arm));
	cleanup_buf struct buf payload = BUF(PAYLOAD_BYTES);
	int status;

	if (!arm)
		return error_set(err, ERROR_MEMORY, "no memory for an arm");
	*arm = (struct arm){
		.input = input,
		.gateway = CHILD_NONE,
		.records = { .folder = -1, .audit = -1, .errors = -1, .hostile = CHILD_NONE, .refusals = CHILD_NONE },
		.orders = { .folder = -1, .service = CHILD_NONE, .life = -1 },
		.relay = CHILD_NONE,
		.gateway_in = -1,
		.gateway_out = -1,
		.gateway_life = -1,
		.folder = -1,
		.lock = -1,
		.recorder = -1,
		.decisions = -1,
		.archive = -1,
		.netns = -1,
		.start = clock_now(),
		.steps = steps,
		.end_by = NEVER,
		.result = result,
	};
	arm_room_open(&result->room);
	result->room.record.agent_attempts = -1;
	result->room.record.calls_allowed = result->room.record.calls_denied = -1;
	session_init(&arm->session, NULL, NULL, &arm->options);
	status = loop_new(&arm->loop, err);
	if (status == 0)
		status = prepare(arm, err);
	if (status == 0)
		status = open_session(arm, err);
	if (status == 0)
		status = admit_session(arm, err);
	if (status == 0)
		status = orders(arm, &payload, err);
	if (status == 0)
		status = arm_exchange(arm, &payload, err);
	buf_wipe(&payload);
	finish_record(arm, *err);
	arm_observers_halt(arm);
	if (arm->session.engine)
		end_session(arm, err);
	arm_strays_end(arm);
	arm_orders_pg_close(arm);
	result->room.record.duration_ns = clock_now() - arm->start;
	close_arm(arm);
	return *err ? -1 : status;
}
