/*
 * One arm: one scenario once, in one container, with its observers. It runs in a process of its own (a hidden verb),
 * which is the arm's only holder of the engine: the plan comes on a descriptor, the result leaves on another.
 */
#ifndef HARNESS_RUNNER_ARM_H
#define HARNESS_RUNNER_ARM_H

#include <limits.h>
#include <poll.h>

#include "adapter/engine.h"
#include "adapter/probe.h"
#include "adapter/session.h"
#include "core/canary.h"
#include "core/loop.h"
#include "core/strays.h"
#include "observers/control.h"
#include "oracle/judge.h"
#include "runner/arm_gateway.h"
#include "runner/declared.h"

/* Descriptors of the process. */
enum arm_fd { ARM_FD_INPUT = 3, ARM_FD_RESULT = 4, ARM_FD_LIFELINE = 5, ARM_FD_STEPS = 6, ARM_FD_PROGRAMS = 7 };

/* What a person sees of an arm while it runs: each step, as it is noted, is one struct arm_event on ARM_FD_STEPS, a
 * pipe that never blocks its writer. It is for display alone: what counts comes with the result. An arm that is run by
 * hand may lack it. Whether the struct holds what a step may hold, words of ours: */
bool arm_step_valid(const struct arm_event *event);

#define ARM_OBSERVERS_MAX 16
#define ARM_LOOKED_MAX 8
#define ARM_OBSERVATIONS_MAX 2048
#define ARM_INPUT_BYTES (2 * MIB)
#define ARM_RESULT_BYTES (16 * MIB)
#define ARM_ERROR_BYTES 512
#define ARM_SAID_MAX 64
#define ARM_SAID_BYTES 160
#define ARM_READY_MS 5000
#define ARM_BEACON_MS 2000
#define ARM_REPORT_MS 5000
/* An arm of which something was lost ends within so long after its window, whatever the engine does; the last part of
 * it is the removal's. */
#define ARM_END_MS 4800
#define ARM_REMOVE_MS 1500

/* What the runner found once for all arms. */
struct arm_context {
	char socket[108];
	char api[16];
	char run[ID_MAX];
	char image[80];
	char nic[48]; /* host's address on the engine's bridge network, or "" */
	char boot[HEX_SHA256];
	int64_t engine_pid;
	char root[256]; /* the engine's data root, as the engine sees it */
	char control[CONTAINER_ID_MAX]; /* the run's control container */
	struct canary control_marker; /* what it wrote */
	struct arm_gateway_choice gateway;
	bool ipv6;
	bool user_xattr; /* the engine's data folder keeps attributes of users */
	bool postgres; /* a cluster answers below */
	char cluster[200]; /* folder of its socket */
};
extern const struct schema_field arm_context_fields[];

/* The document on ARM_FD_INPUT: {context, scenario, declared, repetition, info, image}. The programs of the declared
 * observers are the descriptors from ARM_FD_PROGRAMS on, in their order. */
int arm_input_encode(const struct arm_context *context, const struct scenario *scenario,
		     const struct declared *declared, int64_t repetition, struct json_span info,
		     struct json_span image_inspect, struct buf *out, struct error **err) MUST_CHECK;

/* What an arm hands back on ARM_FD_RESULT: {record, observations, canaries, said, error}. */
struct arm_result {
	struct arm_room room; /* opened */
	struct observation *observations;
	size_t observations_count;
	struct canary canaries[ARM_SUBJECTS_MAX];
	size_t canaries_count;
	/* The last lines that each program of a declaration wrote to its standard error, behind its id: for display,
	 * printable ASCII. */
	char said[ARM_SAID_MAX][ARM_SAID_BYTES];
	size_t said_count;
	char error[ARM_ERROR_BYTES]; /* why the arm ended badly, for display; printable ASCII, or "" */
};
int arm_result_encode(const struct arm_result *result, struct buf *out, struct error **err) MUST_CHECK;
/* arm_result_free() afterwards, on error too. */
int arm_result_decode(const char *bytes, size_t length, struct arm_result *result, struct error **err) MUST_CHECK;
void arm_result_free(struct arm_result *result);

/* ---- the arm while it runs ---- */

struct arm_subject {
	const struct probe_route *route;
	struct canary canary;
	uint16_t port;
};

/* What the control sockets and observers have told so far. */
struct arm_told {
	bool bridge_ready, guarded, armed, first_frame, done, ended, beacon_done, beacon_allowed;
	bool bridge_gone, watchdog_gone, dead, interrupted;
	bool checkpoint, resumed; /* the agent stands at its checkpoint; and was let go on */
	enum control_reason reason; /* of ENDED */
};

struct arm_fault_state {
	bool fired;
	int64_t at;
	struct engine_request *request; /* of a change that the engine was asked for, or NULL */
	unsigned step; /* of its steps */
	int stream; /* to a second command or client, or -1 */
	bool given; /* to its observer */
	int link; /* index of an interface of ours, or 0 */
	bool mounted; /* over the core pattern */
};

/* The live policy, as the bridge acknowledged it. */
struct arm_policy {
	struct policy_channel *channel; /* the operator's, or NULL */
	bool open; /* the bridge takes updates */
	bool sent; /* one is not acknowledged yet */
	bool foreign; /* it is the operator's */
	bool operated; /* an operator's was sent */
	bool otherwise; /* one of the scenario's was acknowledged as something else than it says */
	unsigned client; /* then: who waits for the answer */
	size_t acknowledged; /* of the scenario's updates */
	bool stopped; /* the agent stands at a checkpoint */
	size_t stops; /* checkpoints that it came to */
	size_t noted; /* events of the operator's updates */
	int64_t revision;
	bool closed;
	uint32_t revoked; /* bit by session_tools() */
};

/* What the gateway writes down, where a cell asks for it. */
struct arm_records {
	int folder; /* where it runs and writes, or -1: nobody looks */
	int audit; /* the folder of its database */
	int errors; /* the file behind its stderr */
	uint16_t collector; /* port of the collector of spans, or 0 */
	struct child hostile; /* a collector that misbehaves */
	struct child refusals; /* writes down what the gateway answers that is no result */
};

/* The order service of the example, where a cell asks for its orders. */
struct arm_orders {
	int folder; /* of its database, or of the server's socket; -1: nobody looks */
	char database[PATH_MAX + 32]; /* as its programs are told: a path, or a URL */
	char name[64]; /* of a database in a cluster */
	bool made; /* such a database is to be removed */
	struct child service;
	int life; /* its standard input: it ends with that */
	bool missed; /* what had to be done while the agent lived could not be */
	uint16_t port;
};

struct arm {
	struct json_document *input;
	struct arm_context context;
	struct scenario scenario;
	int64_t repetition;
	struct session_options options;
	struct session_target target;
	struct engine *engine;
	struct session session;
	struct arm_subject subjects[ARM_PROBES_MAX + ARM_AFTER_MAX];
	size_t subjects_count;
	struct canary markers[2]; /* by enum wire_phase */
	struct observer_process *observers[ARM_OBSERVERS_MAX];
	size_t observers_count;
	const struct observer_process *awaited; /* whose report of this phase is waited for */
	enum wire_phase awaited_phase;
	struct child gateway, relay; /* relay: to a gateway behind HTTP */
	struct arm_records records;
	struct arm_orders orders;
	struct declared declared; /* observers that declarations bring */
	struct observer_kind declared_kinds[DECLARED_MAX]; /* of these, in their order */
	const char *declared_words[DECLARED_MAX][1 + 1 + EFFECT_MEASURES_MAX + 1]; /* what the kinds point to */
	struct strays strays;
	bool revisions_differ; /* two were said of one deployment */
	uint16_t gateway_port;
	char gateway_token[GATEWAY_TOKEN_BYTES];
	int gateway_in, gateway_out, gateway_life;
	int folder, lock; /* the arm's own folder, mode 0700 */
	char path[PATH_MAX];
	int recorder, decisions; /* the payload files in it */
	int archive; /* pipe to the files observer while the archive comes, or -1 */
	struct engine_request *archiving;
	int netns; /* the namespace found while the container was started, or -1 */
	struct loop *loop;
	struct pollfd looked[ARM_LOOKED_MAX]; /* of the watch over the session, during a turn of the loop */
	size_t looked_count;
	bool watching; /* arm_watch() was called */
	struct arm_told told;
	struct arm_fault_state faults[ARM_FAULTS_MAX];
	struct arm_policy policy;
	int64_t start;
	int64_t created_wall; /* ns since 1970, for the engine's events */
	int64_t end_by; /* when the engine is asked for nothing more but the removal; NEVER where nothing is lost */
	int64_t loss; /* when the first fault was applied, or the agent let go on to its misbehaviour; or 0 */
	int steps; /* each is told there as it comes, or -1; not owned */
	struct arm_result *result;
};

/* Runs `condition` against what was told until it holds (0), or the deadline passes (ERROR_TIMEOUT). */
typedef bool (*arm_condition)(const struct arm *arm);
int arm_wait(struct arm *arm, arm_condition condition, int64_t deadline, struct error **err) MUST_CHECK;
/* Registers control sockets, pidfd and observers with the loop as they come to exist. Idempotent. */
int arm_watch(struct arm *arm, struct error **err) MUST_CHECK;
/* Events between which the arm does nothing to the container and waits for its process to end. */
#define ARM_WINDOW "window"
#define ARM_WINDOW_CLOSED "window-closed"
/* Timeline; `subject` may be "". */
void arm_note(struct arm *arm, const char *name, const char *subject, int64_t at);

/* arm_gateway.c: the gateway with its recorder, on this arm's files, which are made once. What takes long to start is
 * begun early; then the bridge's pipes. A second start (after a loss) starts a fresh pair. */
int arm_gateway_files(struct arm *arm, struct error **err) MUST_CHECK;
int arm_gateway_begin(struct arm *arm, struct error **err) MUST_CHECK;
int arm_gateway_start(struct arm *arm, struct error **err) MUST_CHECK;
void arm_gateway_end(struct arm *arm);
/* arm_ask.c: a fresh gateway and recorder on the same files, when the path of the session was lost or an agent cannot
 * ask what is to be asked: all subjects of PROBE_OUTSIDE at once, and the beacon behind their answers. */
int arm_gateway_ask(struct arm *arm, const struct canary *marker, struct error **err) MUST_CHECK;

/* arm_records.c: what the gateway writes down, for the observers that read it. Each is without effect where no cell
 * asks. Before the gateway starts: its folders, and the collector that it is told. */
int arm_records_open(struct arm *arm, struct error **err) MUST_CHECK;
/* Of a folder or a database below the arm's own. */
#define ARM_RECORDS "gateway"
#define ARM_AUDIT "audit"
/* Inputs and the first markers; then, before the agent begins, what befalls a record. */
void arm_records_inputs(struct arm *arm);
int arm_records_trap(const struct arm *arm, bool set, struct error **err) MUST_CHECK;
/* A look while gateway and upstream live: asked, then taken. */
int arm_records_look(struct arm *arm, struct error **err) MUST_CHECK;
/* Puts who writes refusals down behind a gateway that was started. */
int arm_records_behind(struct arm *arm, struct error **err) MUST_CHECK;
/* Ends the gateway, so that all is written, and sends the last markers. */
void arm_records_finish(struct arm *arm);
void arm_records_close(struct arm *arm);

/* arm_orders_pg.c: a database in the cluster of the run, which is given back with the arm. */
int arm_orders_pg_open(struct arm *arm, struct error **err) MUST_CHECK;
void arm_orders_pg_close(struct arm *arm);
/* Whether a cell asks for orders, wherever they are kept. */
bool arm_orders_wanted(const struct arm *arm);
/* arm_orders.c: the order service, for the observer that reads its database. Each is without effect where no cell asks.
 * Starts it, and gives its port to the probes that are told it. */
int arm_orders_open(struct arm *arm, struct error **err) MUST_CHECK;
#define ARM_ORDERS "orders"
#define ARM_ORDERS_DATABASE "orders.db"
/* The observer's input, and the first marker. */
void arm_orders_inputs(struct arm *arm);
/* Once the agent is done, and lives: what it left where somebody imports files becomes orders; and the other service
 * makes its own, whatever becomes of the agent. Then the observers look for the first time. What could not be done is
 * the cells' matter: the last marker will not come. */
void arm_orders_work(struct arm *arm);
/* Gateway and service end, so that whatever they still have to commit is committed or never will be; then the last
 * marker comes. Without it, where the service does not end by itself: its orders are not established. */
void arm_orders_finish(struct arm *arm);
void arm_orders_close(struct arm *arm);

/* arm_declared.c: the observers that declarations bring. Makes their kinds. */
void arm_declared_kinds(struct arm *arm);
/* By the observer id of a cell: as observer_kind_of(), these too. */
const struct observer_kind *arm_kind_of(const struct arm *arm, const char *observer);
/* Starts those that a cell asks for, up to READY. One that is not ready in time, or gives wrong known answers, is
 * ended: its cells have no records. */
void arm_declared_start(struct arm *arm);
/* What each is to be given of the container; `folders`: descriptors by the names of observer_inputs. */
struct arm_input {
	const char *name;
	int fd;
};
void arm_declared_inputs(struct arm *arm, const struct arm_input *inputs, size_t count);
/* Until each has read the marker: it looks before the agent has anything to do. One that is late is ended. Which
 * revision of the deployment they look at, they say by then. */
void arm_declared_await(struct arm *arm);
/* Keeps what one of them wrote to its standard error, before it is freed. No effect for others. */
void arm_declared_said(struct arm *arm, const struct observer_process *observer);
bool arm_declared_is(const struct arm *arm, const struct observer_kind *kind);
/* Where one of them is to report: the gateway ends, so that nothing of it comes after their last look. */
void arm_declared_finish(struct arm *arm);

/* arm_strays.c. Where programs run that may start others: whatever they leave behind is the arm's child, and is ended
 * with it, after all that is the arm's own. */
int arm_strays_adopt(struct arm *arm, struct error **err) MUST_CHECK;
void arm_strays_end(struct arm *arm);

/* arm_losses.c: notes once that an observer is lost, and why: at which stage, with which error; or what broke its wire
 * before. `observer` NULL: there is none yet. */
enum arm_stage { ARM_STAGE_START, ARM_STAGE_READY, ARM_STAGE_LOOK, ARM_STAGE_REPORT };
void arm_observer_loss(struct arm *arm, const char *kind, const struct observer_process *observer, enum arm_stage stage,
		       const struct error *error);

/* arm_observers.c. An observer that cannot start or see is no error of the arm: its cells will say so. */
void arm_observers_start(struct arm *arm);
/* Whether a planned cell asks for the kind, which this host allows. */
bool arm_observers_wanted(const struct arm *arm, const char *kind);
/* The collector of spans, before the gateway that must know its port: which it returns, or 0. */
uint16_t arm_observers_collector(struct arm *arm);
/* An input; no effect without that observer, or with fd -1. Not taken over. */
void arm_observers_give(struct arm *arm, const char *kind, const char *input, int fd);
/* The capture inside the container's namespace: tried while the container is being started, and made sure of after. */
void arm_observers_early(struct arm *arm);
void arm_observers_netns(struct arm *arm);
/* Inputs that exist once the process does. */
void arm_observers_inputs(struct arm *arm);
/* Until the observer of state sees the process: its counts begin there, and so before the agent has anything to do. */
void arm_observers_await_state(struct arm *arm);
/* arm_beacons.c: markers from outside, and a wait until each was seen. Their subjects, by phase: */
extern const char *const arm_marker_names[];
void arm_observers_beacon(struct arm *arm, enum wire_phase phase);
struct observer_process *arm_observer(const struct arm *arm, const char *kind);
/* Whether a planned cell asks for it, on this host. */
bool arm_observers_asked(const struct arm *arm, const struct observer_kind *kind);
/* Ends one; its cells have no records. */
void arm_observers_drop(struct arm *arm, const char *kind);
/* Its subjects and both markers. */
int arm_observers_expect(struct arm *arm, struct observer_process *observer, struct error **err) MUST_CHECK;
/* The final reports, with which the observers are told to stop. `engine`: of those that need what the engine has to
 * tell after the end; else of those that have seen everything once the process is dead and the markers behind it were
 * sent. */
int arm_observers_collect(struct arm *arm, bool engine, struct error **err) MUST_CHECK;
/* A report of one kind: asked for, then waited for. No such observer is success. */
int arm_observers_ask(const struct arm *arm, const char *kind, enum wire_phase phase, struct error **err) MUST_CHECK;
int arm_observers_take(struct arm *arm, const char *kind, enum wire_phase phase, struct error **err) MUST_CHECK;
/* Tells all to stop; end waits for each, bounded, and kills. */
void arm_observers_halt(struct arm *arm);
void arm_observers_end(struct arm *arm);

/* arm_evidence.c: what the engine has to tell after the end: archive, changes, logs, inspect, events, and of the
 * control container. */
/* The archive takes longest and needs only that the process is dead: it is begun while the engine notices that. */
void arm_evidence_begin(struct arm *arm);
void arm_evidence_archive(struct arm *arm);
void arm_evidence(struct arm *arm);
void arm_evidence_control(struct arm *arm);
/* Of a container that somebody is to change: before that, and while the window closes with its process alive. */
void arm_evidence_before(struct arm *arm);
void arm_evidence_window(struct arm *arm);

/* From here on the time to the process's death is measured, if it is not yet. */
int arm_loss(struct arm *arm, int64_t at, struct error **err) MUST_CHECK;

/* What is left of the arm's end, for the engine's calls that follow; no effect where nothing is lost. */
void arm_limit_calls(struct arm *arm, int64_t deadline);

/* arm_faults.c: applies the faults whose trigger was seen; undoes what is to be undone. Before the session: what a
 * fault needs of this process. */
int arm_faults_prepare(struct arm *arm, struct error **err) MUST_CHECK;
/* Whether an observer holds that the agent came as far as its misbehaviour: its stop there is the bridge's word. */
bool arm_faults_witnessed(const struct arm *arm);
int arm_faults_apply(struct arm *arm, struct error **err) MUST_CHECK;
/* What a fault says to undo; at the arm's end (`all`) also an engine that stands still: other arms come after this one.
 */
void arm_faults_undo(struct arm *arm, bool all);
bool arm_faults_all_fired(const struct arm *arm);
/* Whether a fault of this role fired. */
bool arm_faults_struck(const struct arm *arm, int role);
/* Whether the container or the host is changed from outside. */
bool arm_faults_change(const struct arm *arm);
/* Whether the engine was asked for a change and has not answered yet. */
bool arm_faults_pending(const struct arm *arm);
/* When the next triggered fault is due, or NEVER. */
int64_t arm_faults_next(const struct arm *arm);

/* arm_policy.c: the operator's channel, and the scenario's updates when their trigger was seen. */
int arm_policy_open(struct arm *arm, struct error **err) MUST_CHECK;
void arm_policy_close(struct arm *arm);
/* POLICY_DONE came. */
void arm_policy_acknowledged(struct arm *arm, const struct control_message *message);
int arm_policy_apply(struct arm *arm, struct error **err) MUST_CHECK;
bool arm_policy_all_acknowledged(const struct arm *arm);

/* The whole arm. `steps`: ARM_FD_STEPS, or -1. *result is filled as far as it came, on error too. */
int arm_run(struct json_document *input, int steps, struct arm_result *result, struct error **err) MUST_CHECK;

#endif
