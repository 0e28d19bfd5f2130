/* observer-audit and observer-bytes, the real programs, on a real chain that another process writes. */
#include <signal.h>
#include <sqlite3.h>
#include <sys/xattr.h>

#include "tests/unit/audit_writer.h"
#include "tests/unit/observing.h"

/* A gateway's folder, and an observer of one kind that looks at it. */
struct watch {
	struct audit_world world;
	struct observing observing;
	struct canary one, other;
};

static void end(struct watch *watch)
{
	observing_end(&watch->observing);
	audit_world_close(&watch->world);
}
#define cleanup_watch __attribute__((cleanup(end)))

static bool give_folder(struct watch *watch)
{
	cleanup_fd int folder = open(watch->world.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder >= 0 && observing_give(&watch->observing, "folder", folder);
}

static bool begin(struct watch *watch, const char *kind)
{
	return audit_world_open(&watch->world) && observing_start(&watch->observing, kind, NULL) &&
	       observing_expect(&watch->observing, "one", "", &watch->one) &&
	       observing_expect(&watch->observing, "other", "", &watch->other) && observing_ready(&watch->observing);
}

static bool start(struct watch *watch, const char *kind)
{
	return begin(watch, kind) && give_folder(watch);
}

static const struct wire_record *record(const struct watch *watch, const char *observer, const char *subject)
{
	return observing_record(&watch->observing, observer, subject);
}

static int64_t value(const struct watch *watch, const char *measure)
{
	return record(watch, "audit", measure)->status == WIRE_OBSERVED ? record(watch, "audit", measure)->value : -2;
}

/* ---- a chain -------------------------------------------------------------------------------------------------------
 */

struct row {
	const char *type, *decision, *tool;
	const struct canary *beacon; /* its request is the beacon's */
	const char *rule;
};

static bool write_row(struct audit_store *store, const struct row *row)
{
	struct audit_entry entry = audit_entry_of("s1", row->type, row->tool ? "c1" : NULL);
	char request[128] = "", hash[80], hex[HEX_SHA256];
	struct error *err = NULL;

	if (row->beacon) {
		snprintf(request, sizeof(request), "{\"value\":\"%s\"}", row->beacon->text);
		hash_bytes(request, strlen(request), hex);
		snprintf(hash, sizeof(hash), "sha256:%s", hex);
		entry.request_payload_hash = hash;
	}
	entry.tool_name = row->tool;
	entry.policy_decision = row->decision;
	entry.policy_rule_matched = row->rule;
	(void)!audit_store_append(store, &entry, &err);
	return test_no_error(&err);
}

static bool write_rows(struct watch *watch, const struct row *rows, size_t count)
{
	struct audit_store *store = audit_open(watch->world.path);
	bool done = store != NULL;

	for (size_t i = 0; i < count && done; i++)
		done = write_row(store, &rows[i]);
	return done && audit_close(store);
}

static bool write_calls(struct watch *watch)
{
	const struct canary *before = &watch->observing.before;
	const struct row rows[] = {
		{ "session_start", "n/a", NULL, NULL, NULL },
		{ "call_intent", "allow", "beacon.tool", before, NULL },
		{ "tool_call", "allow", "beacon.tool", before, NULL },
		{ "call_intent", "allow", "permitted.tool", NULL, NULL },
		{ "tool_call", "allow", "permitted.tool", NULL, NULL },
		{ "tool_call", "deny", "public.tool", NULL, NULL },
		{ "egress_denied", "deny", "public.tool", NULL, NULL },
		{ "call_intent", "allow", "slow.tool", NULL, NULL },
		{ "fault", "fault", "slow.tool", NULL, NULL },
		/* No beacon's: the tool alone does not make it one, nor what it bears. */
		{ "tool_call", "deny", "beacon.tool", NULL, NULL },
		{ "tool_call", "deny", "permitted.tool", before, NULL },
	};

	return write_rows(watch, rows, ARRAY_SIZE(rows));
}

static void counts_outcomes(void)
{
	cleanup_watch struct watch watch = { 0 };
	const struct row after = { "tool_call", "allow", "beacon.tool", &watch.observing.after, NULL };

	CU_ASSERT(start(&watch, "audit"));
	CU_ASSERT(write_calls(&watch));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->beacon_after, 0);
	CU_ASSERT(write_rows(&watch, &after, 1));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "audit-allow"), 1);
	CU_ASSERT_EQUAL(value(&watch, "audit-deny"), 4);
	CU_ASSERT_EQUAL(value(&watch, "audit-fault"), 1);
	CU_ASSERT_EQUAL(value(&watch, "audit-intent"), 2);
	CU_ASSERT_EQUAL(value(&watch, "audit-chain"), 0);
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-chain")->connections, 12);
	CU_ASSERT_EQUAL(value(&watch, "one"), 0);
	CU_ASSERT_EQUAL(value(&watch, "other"), 0);
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->beacon_after, 1);
	CU_ASSERT_EQUAL(watch.observing.count, 7);
	CU_ASSERT_EQUAL(audit_world_count(&watch.world), 1);
}

/* The same of the chain that the real gateway wrote. */
static void counts_the_references(void)
{
	cleanup_watch struct watch watch = { 0 };

	CU_ASSERT(start(&watch, "audit"));
	CU_ASSERT(audit_copy(REFERENCE, watch.world.path));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "audit-allow"), 4);
	CU_ASSERT_EQUAL(value(&watch, "audit-deny"), 6);
	CU_ASSERT_EQUAL(value(&watch, "audit-fault"), 1);
	CU_ASSERT_EQUAL(value(&watch, "audit-intent"), 0);
	CU_ASSERT_EQUAL(value(&watch, "audit-chain"), 0);
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-chain")->connections, 22);
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->beacon_before, 0);
}

/* While the gateway writes, and once it was killed with everything in the log. */
static void live_and_killed(void)
{
	cleanup_watch struct watch watch = { 0 };
	cleanup_audit_writer struct audit_writer writer = AUDIT_WRITER;
	struct error *err = NULL;
	int64_t live;
	int status;

	CU_ASSERT(start(&watch, "audit"));
	CU_ASSERT(audit_writer_start(&writer, &watch.world, 100000));
	CU_ASSERT(audit_writer_calls(&writer, 5));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	live = value(&watch, "audit-allow");
	CU_ASSERT(live >= 5);
	CU_ASSERT(value(&watch, "audit-intent") >= live);
	CU_ASSERT_EQUAL(value(&watch, "audit-chain"), 0);
	CU_ASSERT_EQUAL(child_signal(&writer.child, SIGKILL), 0);
	CU_ASSERT_EQUAL(child_wait(&writer.child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT(value(&watch, "audit-allow") >= live);
	CU_ASSERT_EQUAL(value(&watch, "audit-chain"), 0);
}

static bool change(const struct watch *watch, const char *sql)
{
	sqlite3 *connection = NULL;
	bool done = sqlite3_open(watch->world.path, &connection) == SQLITE_OK &&
		    sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK;

	(void)sqlite3_close(connection);
	return done;
}

static const struct {
	const char *sql;
	int64_t broken;
} breaks[] = {
	{ "UPDATE audit_entries SET payload = replace(payload, '\"deny\"', '\"allow\"') WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET payload = payload || ' ' WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET payload = CAST(payload AS BLOB) WHERE rowid = 6", 2 },
	{ "UPDATE audit_entries SET payload = 'x' WHERE rowid = 6", 2 },
	{ "UPDATE audit_entries SET entry_hash = prev_entry_hash WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET prev_entry_hash = entry_hash WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET sequence_number = 9 WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET session_id = 's2' WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET entry_id = 'x' WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET entry_type = 'fault' WHERE rowid = 6", 1 },
	{ "DELETE FROM audit_entries WHERE rowid = 1", 1 },
	{ "DELETE FROM audit_entries WHERE rowid = 6", 1 },
	{ "UPDATE audit_entries SET rowid = 50 WHERE rowid = 6", 2 },
};

static void broken_chains(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++) {
		cleanup_watch struct watch watch = { 0 };

		CU_ASSERT(start(&watch, "audit"));
		CU_ASSERT(write_calls(&watch));
		CU_ASSERT(change(&watch, breaks[i].sql));
		CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
		if (value(&watch, "audit-chain") != breaks[i].broken)
			fprintf(stderr, "row: %s: %d\n", breaks[i].sql, (int)value(&watch, "audit-chain"));
		CU_ASSERT_EQUAL(value(&watch, "audit-chain"), breaks[i].broken);
	}
}

/* A text so long that SQLite spreads it over pages, in an encoding. */
static void canary_in_a_row(void)
{
	cleanup_watch struct watch watch = { 0 };
	char rule[12000];
	const struct row rows[] = { { "session_start", "n/a", NULL, NULL, NULL },
				    { "tool_call", "allow", "permitted.tool", NULL, rule } };
	size_t length = 0;

	CU_ASSERT(start(&watch, "audit"));
	while (length + 2 * CANARY_LENGTH + 1 < sizeof(rule))
		for (size_t i = 0; i < CANARY_LENGTH; i++)
			length += (size_t)snprintf(&rule[length], 3, "%02x", (unsigned char)watch.one.text[i]);
	CU_ASSERT(write_rows(&watch, rows, ARRAY_SIZE(rows)));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "one"), 1);
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->hits, (int64_t)(length / CANARY_LENGTH / 2));
	CU_ASSERT_EQUAL(value(&watch, "other"), 0);
}

static void no_database(void)
{
	cleanup_watch struct watch watch = { 0 };

	CU_ASSERT(begin(&watch, "audit"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-chain")->reason, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT(give_folder(&watch));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "audit", "one")->reason, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT(audit_copy("Makefile", watch.world.path));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-deny")->reason, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-deny")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(unlink(watch.world.path), 0);
	CU_ASSERT(write_calls(&watch));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(value(&watch, "audit-deny"), 4);
}

/* Rows that were there are gone: what is left may be a whole chain. */
static void shorter_chain(void)
{
	cleanup_watch struct watch watch = { 0 };

	CU_ASSERT(start(&watch, "audit"));
	CU_ASSERT(write_calls(&watch));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT(change(&watch, "DELETE FROM audit_entries WHERE rowid > 9"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&watch, "audit", "audit-chain")->reason, WIRE_REASON_TRUNCATED);
}

/* ---- bytes ---------------------------------------------------------------------------------------------------------
 */

static bool put_file(const struct watch *watch, const char *name, const char *text)
{
	char path[AUDIT_PATH];
	cleanup_fd int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", watch->world.folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static void bytes_of_each_file(void)
{
	cleanup_watch struct watch watch = { 0 };
	char hex[2 * CANARY_LENGTH + 1], path[AUDIT_PATH];

	CU_ASSERT(start(&watch, "output"));
	CU_ASSERT(put_file(&watch, "marker", watch.observing.before.text));
	CU_ASSERT(put_file(&watch, "stdout", "nothing"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->value, 0);
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->beacon_before, 1);
	for (size_t i = 0; i < CANARY_LENGTH; i++)
		snprintf(&hex[2 * i], 3, "%02X", (unsigned char)watch.one.text[i]);
	CU_ASSERT(put_file(&watch, "stdout", hex));
	CU_ASSERT(put_file(&watch, "stderr", watch.one.text));
	CU_ASSERT(put_file(&watch, watch.one.text, "by its name"));
	CU_ASSERT(put_file(&watch, "attribute", "by its attribute"));
	CU_ASSERT(put_file(&watch, "marker", watch.observing.after.text));
	snprintf(path, sizeof(path), "%s/attribute", watch.world.folder);
	CU_ASSERT_EQUAL(setxattr(path, "user.x", watch.other.text, CANARY_LENGTH, 0), 0);
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->value, 3);
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->hits, 3);
	CU_ASSERT_EQUAL(record(&watch, "output", "other")->value, 1);
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->beacon_after, 1);
	CU_ASSERT(record(&watch, "output", "one")->bytes > 4 * CANARY_LENGTH);
	CU_ASSERT_EQUAL(watch.observing.count, 2);
}

/* What is in the log alone, of a gateway that lives; and what a file held before it was removed. */
static void bytes_of_the_log(void)
{
	cleanup_watch struct watch watch = { 0 };
	struct audit_entry entry = audit_entry_of("s1", "session_start", NULL);
	struct audit_store *store;
	struct error *err = NULL;

	CU_ASSERT(start(&watch, "audit-bytes"));
	store = audit_open(watch.world.path);
	entry.policy_rule_matched = watch.one.text;
	CU_ASSERT_EQUAL(audit_store_append(store, &entry, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(audit_commit(store, true));
	CU_ASSERT(observing_report(&watch.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "one")->value, 1);
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "other")->value, 0);
	CU_ASSERT(audit_close(store));
	CU_ASSERT(change(&watch, "PRAGMA secure_delete=ON;DELETE FROM audit_entries;VACUUM"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "one")->value, 1);
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "one")->status, WIRE_OBSERVED);
}

static void bytes_without_a_folder(void)
{
	cleanup_watch struct watch watch = { 0 };

	CU_ASSERT(begin(&watch, "audit-bytes"));
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "one")->reason, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT_EQUAL(record(&watch, "audit-bytes", "one")->status, WIRE_NOT_OBSERVABLE);
}

/* More than may be read is no zero. */
static void bytes_beyond_the_limit(void)
{
	cleanup_watch struct watch watch = { 0 };
	char path[AUDIT_PATH];

	CU_ASSERT(start(&watch, "output"));
	CU_ASSERT(put_file(&watch, "large", "x"));
	snprintf(path, sizeof(path), "%s/large", watch.world.folder);
	CU_ASSERT_EQUAL(truncate(path, OBSERVER_TREE_BYTES + 1), 0);
	CU_ASSERT(observing_report(&watch.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&watch, "output", "one")->reason, WIRE_REASON_LIMIT);
}

static CU_TestInfo audit_tests[] = {
	{ "outcomes", counts_outcomes },          { "the reference's", counts_the_references },
	{ "live and killed", live_and_killed },   { "broken chains", broken_chains },
	{ "a canary in a row", canary_in_a_row }, { "no database", no_database },
	{ "a shorter chain", shorter_chain },     CU_TEST_INFO_NULL,
};

static CU_TestInfo bytes_tests[] = {
	{ "each file", bytes_of_each_file },
	{ "the log", bytes_of_the_log },
	{ "no folder", bytes_without_a_folder },
	{ "the limit", bytes_beyond_the_limit },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "audit", .pTests = audit_tests },
	{ .pName = "bytes", .pTests = bytes_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_audit", suites);
}
