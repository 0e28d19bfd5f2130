#include "observers/correlation.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/correlate.h"
#include "core/database.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json_python.h"
#include "observers/audit_chain.h"
#include "observers/stream.h"

#define VIEW 0
#define TOOL "order_create"
#define BEACON "beacon.tool"
#define DATABASE "orders.db"
#define HASH "sha256:"
#define ORDER_BYTES (64 * KIB)

/* ---- the chain -----------------------------------------------------------------------------------------------------
 */

static void copy(char *out, size_t size, const struct json_node *text)
{
	const char *from = json_string(text);

	snprintf(out, size, "%s", from ? from : "");
}

static void take_call(struct joining *joining, const struct json_node *entry)
{
	const char *request = json_string(json_member(entry, "request_payload_hash"));
	struct correlate_call *call;

	if (joining->calls_count == CORRELATE_MAX) {
		joining->limit = true;
		return;
	}
	call = &joining->calls[joining->calls_count++];
	*call = (struct correlate_call){ .allowed = json_text_is(json_member(entry, "policy_decision"), "allow") };
	copy(call->call, sizeof(call->call), json_member(entry, "call_id"));
	copy(call->entry, sizeof(call->entry), json_member(entry, "entry_hash"));
	if (request && strncmp(request, HASH, strlen(HASH)) == 0)
		snprintf(call->request, sizeof(call->request), "%s", request + strlen(HASH));
}

static void take_intent(struct joining *joining, const struct json_node *entry)
{
	if (joining->intents_count == CORRELATE_MAX)
		joining->limit = true;
	else
		copy(joining->intents[joining->intents_count++], ID_MAX, json_member(entry, "call_id"));
}

/* It was allowed, and the gateway was not told what came of it. */
static bool has_intent(const struct joining *joining, const struct json_node *entry)
{
	for (size_t i = 0; i < joining->intents_count; i++)
		if (json_text_is(json_member(entry, "call_id"), joining->intents[i]))
			return true;
	return false;
}

static void take_fault(struct joining *joining, const struct json_node *entry)
{
	size_t at = joining->calls_count;

	if (!has_intent(joining, entry))
		return;
	take_call(joining, entry);
	if (joining->calls_count > at)
		joining->calls[at].allowed = joining->calls[at].open = true;
}

/* Also of a call that was denied for its answer alone: what it did stands. */
static bool is_outcome(const struct json_node *entry)
{
	const struct json_node *type = json_member(entry, "entry_type");

	return json_text_is(type, "tool_call") || json_text_is(type, "egress_denied");
}

static void take_entry(struct joining *joining, const struct json_node *entry)
{
	const struct json_node *tool = json_member(entry, "tool_name");
	const struct json_node *request = json_member(entry, "request_payload_hash");
	const struct json_node *type = json_member(entry, "entry_type");

	if (json_text_is(tool, TOOL) && json_text_is(type, "call_intent"))
		take_intent(joining, entry);
	if (json_text_is(tool, TOOL) && json_text_is(type, "fault"))
		take_fault(joining, entry);
	if (!is_outcome(entry))
		return;
	if (json_text_is(tool, TOOL))
		take_call(joining, entry);
	for (int phase = 0; phase < 2 && json_text_is(tool, BEACON); phase++)
		joining->entries[phase] += json_text_is(request, joining->beacon[phase]);
}

static bool read_entries(struct joining *joining, sqlite3 *connection)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(connection, "SELECT payload FROM audit_entries NOT INDEXED ORDER BY rowid", -1,
				      &row, NULL);
	bool good = code == SQLITE_OK;

	while (good && (code = sqlite3_step(row)) == SQLITE_ROW) {
		const char *payload = (const char *)sqlite3_column_text(row, 0);
		cleanup_json struct json_document *document = NULL;
		cleanup_error struct error *unread = NULL;

		good = payload &&
		       json_parse(payload, (size_t)sqlite3_column_bytes(row, 0), JSON_DEPTH, &document, &unread) == 0;
		if (good)
			take_entry(joining, json_root(document));
		joining->read++;
	}
	(void)sqlite3_finalize(row);
	return good && code == SQLITE_DONE;
}

static enum wire_reason read_chain(struct joining *joining)
{
	cleanup_database struct database *database = NULL;
	cleanup_error struct error *err = NULL;

	if (joining->audit < 0)
		return WIRE_REASON_INPUT_MISSING;
	if (database_open(joining->audit, "audit.db", &database, &err) < 0)
		return error_code(err) == ERROR_TIMEOUT ? WIRE_REASON_TIMEOUT : WIRE_REASON_INPUT_INVALID;
	joining->read = 0;
	if (!read_entries(joining, database_connection(database)) || database_unchanged(database, &err) < 0)
		return WIRE_REASON_INPUT_INVALID;
	if (joining->read < joining->known)
		return WIRE_REASON_TRUNCATED;
	joining->known = joining->read;
	return WIRE_REASON_NONE;
}

/* ---- the orders ----------------------------------------------------------------------------------------------------
 */

static void on_begin(void *context)
{
	struct joining *joining = context;

	joining->rows_count = 0;
	memset(joining->marked, 0, sizeof(joining->marked));
}

static void on_text(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
}

static void on_end(void *context)
{
	(void)context;
}

/* Of the arguments that would have made this row, in the form that the chain's hashes are over. */
static bool hash_request(const struct orders_row *row, char out[HEX_SHA256])
{
	cleanup_buf struct buf text = BUF(ORDER_BYTES), form = BUF(ORDER_BYTES);
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;
	struct json_writer json;

	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "reference", row->reference);
	json_member_string(&json, "item", row->item);
	json_member_int(&json, "quantity", row->quantity);
	json_object_end(&json);
	if (buf_check(&text, "an order", &err) < 0 ||
	    json_parse(text.data, text.length, JSON_DEPTH, &document, &err) < 0 ||
	    json_python_node(json_root(document), &form, &err) < 0)
		return false;
	hash_bytes(form.data, form.length, out);
	return true;
}

/* Whose canary it bears; NULL: nobody's. A marker is counted, and no row. */
static const struct observed *owner(struct joining *joining, const struct orders_row *row)
{
	uint64_t hits[OBSERVER_HITS] = { 0 };

	observer_find(joining->observer, row->reference, strlen(row->reference), hits);
	for (size_t i = 0; i < joining->observer->count; i++)
		if (hits[i] > 0)
			return &joining->observer->subjects[i];
	return NULL;
}

static void on_row(void *context, const struct orders_row *from)
{
	struct joining *joining = context;
	const struct observed *of = owner(joining, from);
	struct correlate_row *row;

	if (of && of->marker) {
		joining->marked[of->phase]++;
		return;
	}
	/* Of another path it is no matter of a call, unless it says that it is. */
	if (of && strcmp(of->text, TOOL) != 0 && !from->call[0])
		return;
	if (joining->rows_count == CORRELATE_MAX) {
		joining->limit = true;
		return;
	}
	row = &joining->rows[joining->rows_count++];
	*row = (struct correlate_row){ .row = from->number };
	snprintf(row->call, sizeof(row->call), "%s", from->call);
	if (from->transaction)
		snprintf(row->transaction, sizeof(row->transaction), "%" PRIu64, from->transaction);
	if (of)
		snprintf(row->subject, sizeof(row->subject), "%s", of->subject);
	/* What has no hash belongs to no call. */
	if (!hash_request(from, row->request))
		snprintf(row->request, sizeof(row->request), "0");
}

/* ---- the sensor ----------------------------------------------------------------------------------------------------
 */

int correlation_open(struct observer *observer, const struct orders_reader *reader, struct error **err)
{
	struct joining *joining = observer->state;

	*joining = (struct joining){
		.observer = observer,
		.source = reader,
		.audit = -1,
		.orders = -1,
		.reader = { .begin = on_begin, .text = on_text, .end = on_end, .row = on_row, .context = joining },
		.calls = calloc(CORRELATE_MAX, sizeof(*joining->calls)),
		.rows = calloc(CORRELATE_MAX, sizeof(*joining->rows)),
		.intents = calloc(CORRELATE_MAX, sizeof(*joining->intents)),
	};
	if (!joining->calls || !joining->rows || !joining->intents)
		return error_set(err, ERROR_MEMORY, "no memory for calls and rows");
	for (size_t i = 0; i < observer->count; i++) {
		const struct observed *observed = &observer->subjects[i];

		if (observed->marker)
			audit_chain_beacon(observed->canary.text, joining->beacon[observed->phase]);
	}
	return 0;
}

int correlation_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct joining *joining = observer->state;
	const struct input inputs[] = { { .name = "audit", .folder = &joining->audit },
					{ .name = "orders", .folder = &joining->orders } };

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int look(struct joining *joining, struct error **err)
{
	struct observer *observer = joining->observer;
	int status = 0;

	on_begin(joining);
	joining->calls_count = joining->intents_count = 0;
	joining->limit = false;
	memset(joining->entries, 0, sizeof(joining->entries));
	joining->reason = read_chain(joining);
	if (joining->reason == WIRE_REASON_NONE)
		joining->reason = joining->orders < 0
					  ? WIRE_REASON_INPUT_MISSING
					  : joining->source->read(&joining->reader, joining->orders,
								  observer->extra ? observer->extra : DATABASE);
	if (joining->reason == WIRE_REASON_NONE && joining->limit)
		joining->reason = WIRE_REASON_LIMIT;
	for (int phase = 0; phase < 2 && !status && joining->reason == WIRE_REASON_NONE; phase++) {
		uint64_t seen = observer->views[VIEW].beacons[phase];
		uint64_t both = joining->entries[phase] < joining->marked[phase] ? joining->entries[phase]
										 : joining->marked[phase];

		if (both > seen)
			status = observer_beacon(observer, VIEW, phase, both - seen, err);
	}
	return status;
}

static bool bears_id(const struct joining *joining, int64_t number)
{
	for (size_t i = 0; i < joining->rows_count; i++)
		if (joining->rows[i].row == number)
			return joining->rows[i].call[0] != '\0';
	return false;
}

static size_t joined_without_id(const struct joining *joining, const struct correlation *found)
{
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++)
		count += found->findings[i].kind == CORRELATE_JOINED && !bears_id(joining, found->findings[i].row);
	return count;
}

static int report_measure(const struct joining *joining, const char *name, size_t value, enum wire_phase phase,
			  struct error **err)
{
	struct wire_record record = {
		.kind = WIRE_COUNT,
		.reason = joining->reason,
		.value = (int64_t)value,
		.connections = (int64_t)joining->calls_count,
	};

	return observer_record(joining->observer, VIEW, name, phase, &record, err);
}

int correlation_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct joining *joining = observer->state;
	cleanup_correlation struct correlation found = { .findings = NULL };
	int status = look(joining, err);

	if (status == 0 && joining->reason == WIRE_REASON_NONE)
		status = correlate(joining->calls, joining->calls_count, joining->rows, joining->rows_count, &found,
				   err);
	/* The chain is where calls are read, so that one which it does not know is none here. */
	for (int kind = 0; correlate_kind_names[kind] && !status; kind++)
		if (kind != CORRELATE_CALL_WITHOUT_ENTRY)
			status = report_measure(joining, correlate_kind_names[kind],
						correlation_count(&found, (enum correlate_kind)kind), phase, err);
	return status < 0 ? status
			  : report_measure(joining, "row-without-id", joined_without_id(joining, &found), phase, err);
}

void correlation_close(struct observer *observer)
{
	struct joining *joining = observer->state;

	/* Without an observer it was never opened, and the descriptor of zero is not its own. */
	if (!joining->observer)
		return;
	free(joining->calls);
	free(joining->intents);
	free(joining->rows);
	fd_close(&joining->audit);
	fd_close(&joining->orders);
}
