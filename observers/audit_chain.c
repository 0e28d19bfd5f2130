#include "observers/audit_chain.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/database.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json_python.h"

#define TRIES 3 /* a gateway that ends meanwhile makes one useless */
#define BEACON_TOOL "beacon.tool"
#define INTENT_TYPE "call_intent"
#define GENESIS "genesis"

/* The columns that say again what the payload says. */
static const char *const texts[] = { "session_id", "entry_id", "entry_type", "entry_hash", "prev_entry_hash" };
#define TEXTS 5
#define QUERY                                                                                                          \
	"SELECT payload, sequence_number, session_id, entry_id, entry_type, entry_hash, prev_entry_hash "              \
	"FROM audit_entries NOT INDEXED ORDER BY rowid"
enum { PAYLOAD, SEQUENCE, FIRST_TEXT };

/* The row before. */
struct tip {
	int64_t sequence;
	char hash[HEX_SHA256];
};

/* ---- one row -------------------------------------------------------------------------------------------------------
 */

/* The payload without the entry's own hash is what that hash is made over; the payload is known to be canonical, so
 * that the member is written in one way, and a comma stands before or behind it. */
static bool hash_holds(const struct json_node *root, const char *payload, size_t length)
{
	static const char key[] = "\"entry_hash\":";
	struct json_span value = json_raw(json_member(root, "entry_hash"));
	size_t at = (size_t)(value.bytes - json_raw(root).bytes) - strlen(key);
	size_t behind = at + strlen(key) + value.length;
	cleanup_buf struct buf form = BUF(length);
	char hex[HEX_SHA256];

	(void)buf_add(&form, payload, payload[at - 1] == ',' ? at - 1 : at);
	if (payload[at - 1] != ',' && payload[behind] == ',')
		behind++;
	(void)buf_add(&form, payload + behind, length - behind);
	if (form.failed)
		return false;
	hash_bytes(form.data, form.length, hex);
	return json_text_is(json_member(root, "entry_hash"), hex);
}

/* Keys in order and nothing written otherwise: else two texts would have one hash. */
static bool is_canonical(const struct json_node *root, size_t length)
{
	struct json_span text = json_raw(root);
	cleanup_buf struct buf form = BUF(length);
	cleanup_error struct error *err = NULL;

	return json_python_node(root, &form, &err) == 0 && form.length == length && text.length == length &&
	       memcmp(form.data, text.bytes, length) == 0;
}

static bool columns_hold(sqlite3_stmt *row, const struct json_node *root)
{
	int64_t sequence;

	for (int i = 0; i < TEXTS; i++) {
		if (sqlite3_column_type(row, FIRST_TEXT + i) != SQLITE_TEXT ||
		    !json_text_is(json_member(root, texts[i]), (const char *)sqlite3_column_text(row, FIRST_TEXT + i)))
			return false;
	}
	return sqlite3_column_type(row, SEQUENCE) == SQLITE_INTEGER &&
	       json_int64(json_member(root, "sequence_number"), &sequence) &&
	       sequence == sqlite3_column_int64(row, SEQUENCE);
}

/* A chain begins with a session at 0; the reference begins another one after each close. */
static bool link_holds(const struct json_node *root, struct tip *tip)
{
	const char *previous = json_string(json_member(root, "prev_entry_hash"));
	const char *hash = json_string(json_member(root, "entry_hash"));
	int64_t sequence = -1;
	bool holds;

	if (!previous || !hash || !json_int64(json_member(root, "sequence_number"), &sequence))
		return false;
	if (strcmp(previous, GENESIS) == 0)
		holds = sequence == 0 && json_text_is(json_member(root, "entry_type"), "session_start");
	else
		holds = strcmp(previous, tip->hash) == 0 && sequence == tip->sequence + 1;
	tip->sequence = sequence;
	snprintf(tip->hash, sizeof(tip->hash), "%s", hash);
	return holds;
}

static bool row_holds(sqlite3_stmt *row, const struct json_node *root, const char *payload, size_t length,
		      struct tip *tip)
{
	bool linked = link_holds(root, tip);

	return linked && columns_hold(row, root) && is_canonical(root, length) && hash_holds(root, payload, length);
}

static void count_outcome(struct audit_chain *chain, const struct json_node *root)
{
	const struct json_node *decision = json_member(root, "policy_decision");
	const struct json_node *request = json_member(root, "request_payload_hash");
	bool intent = json_text_is(json_member(root, "entry_type"), INTENT_TYPE);
	bool allowed = json_text_is(decision, "allow");

	for (int phase = 0; phase < 2 && json_text_is(json_member(root, "tool_name"), BEACON_TOOL); phase++) {
		if (!json_text_is(request, chain->beacon[phase]))
			continue;
		chain->beacons[phase] += allowed && !intent;
		return;
	}
	chain->intents += intent;
	chain->allowed += allowed && !intent;
	chain->denied += json_text_is(decision, "deny") && !intent;
	chain->faults += json_text_is(decision, "fault") && !intent;
}

static void hand_on(const struct audit_chain *chain, sqlite3_stmt *row)
{
	for (int i = 0; i < FIRST_TEXT + TEXTS; i++) {
		const char *bytes = sqlite3_column_blob(row, i);

		if (bytes)
			chain->text(chain->context, bytes, (size_t)sqlite3_column_bytes(row, i));
	}
	chain->end(chain->context);
}

static void take_row(struct audit_chain *chain, sqlite3_stmt *row, struct tip *tip)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;
	const char *payload;
	size_t length;

	chain->rows++;
	hand_on(chain, row);
	payload = sqlite3_column_type(row, PAYLOAD) == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, PAYLOAD)
								   : NULL;
	length = (size_t)sqlite3_column_bytes(row, PAYLOAD);
	if (!payload || json_python_parse(payload, length, JSON_DEPTH, &document, &err) < 0) {
		chain->broken++;
		return;
	}
	chain->broken += !row_holds(row, json_root(document), payload, length, tip);
	count_outcome(chain, json_root(document));
}

/* ---- all of them ---------------------------------------------------------------------------------------------------
 */

static bool read_rows(struct audit_chain *chain, sqlite3 *connection)
{
	struct tip tip = { .sequence = -1 };
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(connection, QUERY, -1, &row, NULL);

	while (code == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
		take_row(chain, row, &tip);
	/* Says the last step's code, when that was an error. */
	if (code == SQLITE_OK)
		code = sqlite3_reset(row);
	(void)sqlite3_finalize(row);
	return code == SQLITE_OK;
}

static void forget(struct audit_chain *chain)
{
	memset(chain->beacons, 0, sizeof(chain->beacons));
	chain->rows = chain->allowed = chain->denied = chain->faults = chain->intents = chain->broken = 0;
}

static bool read_once(struct audit_chain *chain, int folder, const char *name)
{
	cleanup_database struct database *database = NULL;
	cleanup_error struct error *err = NULL;

	forget(chain);
	return database_open(folder, name, &database, &err) == 0 && read_rows(chain, database_connection(database)) &&
	       database_unchanged(database, &err) == 0;
}

enum wire_reason audit_chain_read(struct audit_chain *chain, int folder, const char *name)
{
	struct stat about;

	forget(chain);
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return WIRE_REASON_INPUT_MISSING;
	for (int i = 0; i < TRIES; i++) {
		if (read_once(chain, folder, name))
			return WIRE_REASON_NONE;
	}
	forget(chain);
	return WIRE_REASON_INPUT_INVALID;
}

void audit_chain_beacon(const char *canary, char out[AUDIT_REQUEST_BYTES])
{
	char arguments[CANARY_LENGTH + 16], hex[HEX_SHA256];
	int length = snprintf(arguments, sizeof(arguments), "{\"value\":\"%s\"}", canary);

	hash_bytes(arguments, (size_t)length, hex);
	explicit_bzero(arguments, sizeof(arguments));
	snprintf(out, AUDIT_REQUEST_BYTES, "sha256:%s", hex);
}
