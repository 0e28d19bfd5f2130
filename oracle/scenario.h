/*
 * A scenario: what an arm runs, and the only place where expectations stand. Loaded from scenarios/ID.json; its id is
 * the path without ".json". The JSON Schema is printed from the field table.
 */
#ifndef HARNESS_ORACLE_SCENARIO_H
#define HARNESS_ORACLE_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/json.h"
#include "core/limits.h"
#include "core/schema.h"

enum expectation_op { OP_EQ, OP_GE, OP_LE };
/* PROTECTED: a zero (or a bound) that a mutant must earn. CONTROL: needs a live observer only, and never earns one. */
enum cell_class { CELL_PROTECTED, CELL_CONTROL };

struct expectation {
	char subject[NAME_MAX_SHORT];
	char observer[NAME_MAX_SHORT];
	int op;
	int class;
	int64_t value;
	bool flips; /* mutants: this cell must fail the control's expectation, and by that earns it */
	char needs[NAME_MAX_SHORT]; /* a need of the host ("ipv6-loopback") without which the cell is not planned, or ""
				     */
};

/* Parts of the session; who changes its container from outside: an operator by the engine, somebody in its network
 * namespace, the host; the engine itself, and the shim, its parent of the container's process. */
enum fault_role {
	FAULT_BRIDGE,
	FAULT_WATCHDOG,
	FAULT_GATEWAY,
	FAULT_CONTAINER,
	FAULT_RECORDER,
	FAULT_OPERATOR,
	FAULT_NAMESPACE,
	FAULT_HOST,
	FAULT_ENGINE,
	FAULT_SHIM,
};
enum fault_action {
	FAULT_KILL,
	FAULT_PAUSE, /* a container by its cgroup, as an engine does */
	FAULT_TERMINATE, /* politely: an engine is then started again by whoever keeps it */
	FAULT_FILL, /* a watchdog's pulses take no more */
	FAULT_CONNECT, /* to the engine's bridge network; an engine allows it once "none" is disconnected */
	FAULT_DISCONNECT, /* from the network "none" */
	FAULT_UPDATE, /* of the limits */
	FAULT_EXEC, /* a second agent in the container */
	FAULT_ATTACH, /* a second client at its streams */
	FAULT_RENAME,
	FAULT_INTERFACE, /* appears, with a way to the host */
	FAULT_CORE_PATTERN, /* is a program's, for the arm and what it starts */
};
struct fault {
	int role;
	int action;
	char trigger[NAME_MAX_SHORT]; /* a subject: fires when the deliveries observer holds its canary; or
					 "misbehaviour": when the agent was let go on to it */
	int64_t delay_ms;
	int64_t delay_span_ms; /* as much longer at most, as the run's seed draws */
	bool undo; /* resume a paused part when the window closes */
};

/* What the bridge says of an update. */
enum update_outcome { UPDATE_APPLIED, UPDATE_STALE, UPDATE_INVALID };
/* Of the live policy: {revision, revoke | restore}, or a document that is sent as it stands. They are sent in order. */
struct policy_update {
	char trigger[NAME_MAX_SHORT]; /* a probe: sent when the deliveries observer holds its canary */
	bool pause; /* instead: the agent stops behind that probe until the update is acknowledged */
	int64_t revision;
	char revoke[NAME_MAX_SHORT];
	char restore[NAME_MAX_SHORT];
	char document[POLICY_DOCUMENT_MAX];
	int outcome; /* as which it must be acknowledged */
};

/* What the agent does after its probes, when the arm lets it: one row of the agent's own table. */
struct misbehaviour {
	char id[NAME_MAX_SHORT]; /* "" is none */
	int64_t count; /* of what the row says: bytes, processes, milliseconds, ... */
	char bytes[MISBEHAVIOUR_HEX]; /* hexadecimal: what is written, where the row writes something given */
};

/* A gateway, an upstream, an audit database, a collector of spans or an order service that does not do what it
 * should. */
enum peer_place { PEER_NONE, PEER_GATEWAY, PEER_UPSTREAM, PEER_AUDIT, PEER_COLLECTOR, PEER_ORDERS };
struct peer {
	int at;
	char does[NAME_MAX_SHORT];
};

/* Limits of the session that this scenario sets otherwise; 0: as the profile says. */
struct scenario_limits {
	int64_t frame_bytes, stdout_bytes, stderr_bytes, calls;
	int64_t session_ms, heartbeat_ms, acknowledge_ms, lease_ms, gateway_call_ms;
};

/* What the gateway is told of labels, otherwise than the reference session; "": as that. */
struct scenario_labels {
	char session[NAME_MAX_SHORT]; /* where it starts */
	char permitted[NAME_MAX_SHORT]; /* of the data that permitted.tool brings into the session */
	char response[NAME_MAX_SHORT]; /* the ceiling of answers */
};

struct scenario {
	char id[ID_MAX];
	char title[TITLE_MAX];
	char base[ID_MAX]; /* whose probes come first, and whose cells hold here too unless they are stated again; ""
			      once that is done */
	char control[ID_MAX]; /* mutants: the scenario whose expectations are the oracle; "" otherwise */
	char profile[NAME_MAX_SHORT]; /* "reference" */
	char removes[ARM_REMOVED_MAX][NAME_MAX_SHORT];
	size_t removes_count;
	char probes[ARM_PROBES_MAX][NAME_MAX_SHORT];
	size_t probes_count;
	int64_t tries; /* of the agent per probe, 1 to 1000 */
	struct misbehaviour misbehaviour;
	char after[ARM_AFTER_MAX][NAME_MAX_SHORT]; /* probes that the agent tries behind its misbehaviour */
	size_t after_count;
	char ending[NAME_MAX_SHORT]; /* of the agent: "done", "exit", or "hold": it stays, whatever its input does */
	char ends[NAME_MAX_SHORT]; /* how the session must end; "": the agent is done, and its stream ends */
	struct scenario_limits limits;
	struct peer peer;
	struct scenario_labels labels;
	int64_t window_ms; /* behind the first fault or the misbehaviour: how long death is watched for; else 0 */
	struct fault faults[ARM_FAULTS_MAX];
	size_t faults_count;
	struct policy_update updates[ARM_POLICY_MAX];
	size_t updates_count;
	struct expectation expect[ARM_CELLS_MAX];
	size_t expect_count;
};

extern const struct schema_field scenario_fields[]; /* without the id, which is the file's path */
extern const struct schema_field scenario_sealed_fields[]; /* with it: an element of the bundle's scenarios.json */

extern const char *const expectation_op_names[]; /* NULL-terminated, index = value */
extern const char *const cell_class_names[];
extern const char *const scenario_needs[]; /* what a host may lack, NULL-terminated */

/* Decodes and checks one document for sense: unknown probe, observer or mutation (by the name lists given), a subject
 * that no probe or measure makes, duplicate cells, impossible expectations (eq below 0, flips without control, a
 * protected cell that is not eq 0 or a bound, one that cannot fail), faults without a window. Every error names file
 * and field. */
struct scenario_names {
	const char *const *probes; /* NULL-terminated lists */
	const char *const *measures;
	const char *const *observers;
	const char *const *mutations;
	const char *const *profiles; /* or NULL: any */
	const char *const *ends; /* or NULL: any */
	const char *const *misbehaviours; /* or NULL: any */
	const char *elsewhere; /* said behind an unknown observer: where one could be declared; or NULL */
};
int scenario_decode(const char *id, const struct json_node *node, const struct scenario_names *names,
		    struct scenario *out, struct error **err) MUST_CHECK;
/* What holds between scenarios: each mutant's control exists, is none itself and runs the same probes and faults; each
 * flipped cell is the control's, and no value meets both expectations; what does not flip cannot contradict the
 * control; and each protected cell has a mutant that earns it. ERROR_INPUT names file and field. */
int scenario_check_set(const struct scenario *scenarios, size_t count, struct error **err) MUST_CHECK;
/* Whether the agent stops before its misbehaviour until the arm lets it go on. */
bool scenario_pauses(const struct scenario *scenario);
/* All scenarios below a folder's descriptor, sorted by id, each with what its base gives, and checked as a set; *out is
 * an array that the caller frees. schema.json is passed over, and so is what does not end in ".json" or starts with
 * a dot. */
int scenario_load_all(int directory, const struct scenario_names *names, struct scenario **out, size_t *count,
		      struct error **err) MUST_CHECK;
const struct scenario *scenario_find(const struct scenario *scenarios, size_t count, const char *id);
/* The expectation for a cell, or NULL. */
const struct expectation *scenario_cell(const struct scenario *scenario, const char *subject, const char *observer);
/* Whether the mutant, when it is detected, earns this protected cell: it flips the same subject at the same observer. A
 * mutant with faults or with updates earns for the same ones alone; a bound, and what is tried behind a misbehaviour,
 * are about what was broken as well: there it must be the same. A mutant that hurts the engine earns nothing for a
 * scenario that does not. */
bool scenario_earns(const struct scenario *mutant, const struct scenario *scenario,
		    const struct expectation *expectation);
/* Whether the agent stops behind this probe until the updates that it triggers are acknowledged. */
bool scenario_stops(const struct scenario *scenario, const char *probe);
/* Whether the agent tries this subject behind its misbehaviour. */
bool scenario_after(const struct scenario *scenario, const char *subject);
/* Whether it is one of the probes that come before. */
bool scenario_tries(const struct scenario *scenario, const char *subject);
/* Whether the agent orders through the gateway. */
bool scenario_orders(const struct scenario *scenario);
/* "baseline" has no group; that of "mutation/network" is "mutation". Whether `selector` is the id, the group, or "all",
 * to which those that hurt the engine do not belong. */
bool scenario_selected(const struct scenario *scenario, const char *selector);
/* Whether its faults may strike the engine, or a part of it: the group "engine" does, and nothing else may. */
bool scenario_hurts_engine(const struct scenario *scenario);
/* The document with its id, as scenarios.json of the bundle holds it. */
void scenario_encode(const struct scenario *scenario, struct json_writer *writer);
/* Appends that document alone: the same scenarios have the same bytes. ERROR_LIMIT when `out` is too small. */
int scenario_text(const struct scenario *scenario, struct buf *out, struct error **err) MUST_CHECK;
/* Whether the two are the same word for word. */
int scenario_same(const struct scenario *one, const struct scenario *other, bool *out, struct error **err) MUST_CHECK;
/* As scenario_decode(), of the form that scenario_encode() writes (with its id), for verify and for the arm; names are
 * not checked, sense is. `file` is a name of ours. */
int scenario_decode_sealed(const struct json_node *node, const char *file, struct scenario *out,
			   struct error **err) MUST_CHECK;

#endif
