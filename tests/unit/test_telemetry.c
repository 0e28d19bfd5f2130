/* Telemetry with the real exporter, and collectors that are sockets of this test, or the observer. */
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>

#include "gateway/telemetry.h"
#include "gateway/telemetry_status.h"
#include "observers/children_look.h"
#include "tests/unit/child.h"
#include "tests/unit/spans_world.h"

#define SERVICE "gateway under test"
#define FLUSH_SLACK_MS 500
#define BODY_MAX (4 * MIB)
#define BURST 8000 /* more than pipe, queues and one request hold */
#define BATCH 256 /* leaves at once */
#define ENDPOINT_BYTES 64
#define OUTSIDE "no span holds this"

/* Every member is set; those which a span must not hold bear OUTSIDE. */
static const struct audit_entry full = {
	.entry_id = "00000000-0000-4000-8000-000000000001",
	.sequence_number = 7,
	.timestamp_utc = OUTSIDE,
	.prev_entry_hash = "p",
	.entry_hash = "h",
	.session_id = "s1",
	.call_id = "c1",
	.entry_type = "tool_call",
	.tool_name = "public.tool",
	.server_identity = "",
	.policy_decision = "deny",
	.policy_rule_matched = "sink_policy:tool_denied",
	.latency_us = 1234,
	.request_payload_hash = "sha256:1",
	.response_payload_hash = "sha256:2",
	.response_inspection_result = "n/a",
	.session_sensitivity_before = "public",
	.session_sensitivity_after = "pii",
	.detail = "{\"a\":\"" OUTSIDE "\"}",
	.workflow_id = "w \"quoted\" \xc3\xa9",
	.evidence_class = "hash-only",
	.external_execution_evidence = "\"" OUTSIDE "\"",
	.effective_data_class = OUTSIDE,
	.execution_id = OUTSIDE,
};

static const struct attribute {
	const char *name, *text; /* NULL: a number */
	const char *number;
} attributes[] = {
	{ "cmcp.entry_id", "00000000-0000-4000-8000-000000000001", NULL },
	{ "cmcp.sequence_number", NULL, "7" },
	{ "cmcp.session_id", "s1", NULL },
	{ "cmcp.call_id", "c1", NULL },
	{ "cmcp.entry_type", "tool_call", NULL },
	{ "cmcp.tool_name", "public.tool", NULL },
	{ "cmcp.server_identity", "", NULL },
	{ "cmcp.policy_decision", "deny", NULL },
	{ "cmcp.policy_rule_matched", "sink_policy:tool_denied", NULL },
	{ "cmcp.latency_us", NULL, "1234" },
	{ "cmcp.request_payload_hash", "sha256:1", NULL },
	{ "cmcp.response_payload_hash", "sha256:2", NULL },
	{ "cmcp.response_inspection_result", "n/a", NULL },
	{ "cmcp.session_sensitivity_before", "public", NULL },
	{ "cmcp.session_sensitivity_after", "pii", NULL },
	{ "cmcp.workflow_id", "w \"quoted\" \xc3\xa9", NULL },
	{ "cmcp.prev_entry_hash", "p", NULL },
	{ "cmcp.evidence_class", "hash-only", NULL },
	{ "cmcp.entry_hash", "h", NULL },
};

/* As little as an entry has. */
static struct audit_entry plain(const char *type, const char *decision)
{
	return (struct audit_entry){
		.entry_id = "e", .entry_type = type, .policy_decision = decision, .latency_us = -1, .session_id = "s1"
	};
}

/* ---- a collector of the test's ---- */

static int listen_at(char endpoint[ENDPOINT_BYTES])
{
	struct error *err = NULL;
	cleanup_fd int listener = -1;
	uint16_t port = 0;

	CU_ASSERT_EQUAL(address_bind(LOOPBACK, SOCK_STREAM, 16, &listener, &port, &err), 0);
	CU_ASSERT(test_no_error(&err));
	snprintf(endpoint, ENDPOINT_BYTES, "http://" LOOPBACK ":%u", (unsigned)port);
	return steal_fd(&listener);
}

/* Takes the next request on a connection of its own; its head and body are in `got`, and the body begins at the
 * returned text. */
static const char *take_request(int listener, const char *answer, struct buf *got)
{
	struct error *err = NULL;
	cleanup_fd int connection = -1;
	const char *body = NULL, *length = NULL;
	char byte, *room;
	size_t left;

	if (fd_wait(listener, POLLIN, clock_deadline(POST_MS), &err) == 1)
		connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CU_ASSERT(connection >= 0);
	while (!body && fd_read_exact(connection, &byte, 1, clock_deadline(POST_MS), &err) == 0) {
		buf_add(got, &byte, 1);
		body = strstr(buf_string(got), "\r\n\r\n");
	}
	length = strstr(buf_string(got), "Content-Length: ");
	CU_ASSERT(body && length);
	left = length ? strtoul(length + 16, NULL, 10) : 0;
	room = buf_reserve(got, left);
	CU_ASSERT(room && fd_read_exact(connection, room, left, clock_deadline(POST_MS), &err) == 0);
	buf_commit(got, room ? left : 0);
	CU_ASSERT_EQUAL(fd_write_all(connection, answer, strlen(answer), clock_deadline(POST_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	body = strstr(buf_string(got), "\r\n\r\n");
	return body ? body + 4 : "";
}

#define ANSWER(status, body, length)                                                                                   \
	"HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " length        \
	"\r\n\r\n" body
#define TAKEN ANSWER("200 OK", "{}", "2")

static struct telemetry *start(const char *endpoint)
{
	struct telemetry *telemetry = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(telemetry_open(endpoint, SERVICE, &telemetry, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return telemetry;
}

static void flush(struct telemetry *telemetry)
{
	int64_t begin = clock_now();

	telemetry_flush(telemetry, clock_deadline(2 * TELEMETRY_FLUSH_MS));
	CU_ASSERT(clock_now() - begin < (TELEMETRY_FLUSH_MS + FLUSH_SLACK_MS) * NS_PER_MS);
}

static void burst(struct telemetry *telemetry, size_t count)
{
	struct audit_entry entry = plain("tool_call", "allow");

	for (size_t i = 0; i < count; i++) {
		entry.sequence_number = (int64_t)i;
		telemetry_span(telemetry, &entry, 1, 2);
	}
}

static pid_t exporter_pid(void)
{
	cleanup_fd int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pids[CHILDREN_MAX];

	return children_list(self, pids, CHILDREN_MAX) == 1 ? pids[0] : 0;
}

/* Holds the exporter still, so that what is queued until it goes on comes to it at once: one batch. */
static pid_t hold(void)
{
	pid_t pid = exporter_pid();

	char path[64], stat[512] = "";
	int64_t deadline = guard();

	CU_ASSERT(pid > 0 && kill(pid, SIGSTOP) == 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (!strstr(stat, ") T ") && clock_now() < deadline) {
		cleanup_buf struct buf text = BUF(sizeof(stat));

		if (fd_read_file(AT_FDCWD, path, sizeof(stat) - 1, &text, NULL) == 0)
			snprintf(stat, sizeof(stat), "%s", buf_string(&text));
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(stat, ") T "));
	return pid;
}

static void go_on(pid_t pid)
{
	CU_ASSERT(pid > 0 && kill(pid, SIGCONT) == 0);
}

/* ---- what a span holds ---- */

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(none)";
}

static json_t *first_of(const json_t *object, const char *key)
{
	return json_array_get(json_object_get(object, key), 0);
}

static json_t *spans_of(const json_t *root)
{
	return json_object_get(first_of(first_of(root, "resourceSpans"), "scopeSpans"), "spans");
}

static bool is_hex(const char *text, size_t digits)
{
	return strlen(text) == digits && strspn(text, "0123456789abcdef") == digits && strspn(text, "0") < digits;
}

static void check_attributes(const json_t *span)
{
	const json_t *list = json_object_get(span, "attributes");

	CU_ASSERT_EQUAL(json_array_size(list), ARRAY_SIZE(attributes));
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const json_t *row = json_array_get(list, i), *value = json_object_get(row, "value");

		CU_ASSERT_STRING_EQUAL(text_at(row, "key"), attributes[i].name);
		CU_ASSERT_EQUAL(json_object_size(value), 1);
		CU_ASSERT_STRING_EQUAL(text_at(value, attributes[i].text ? "stringValue" : "intValue"),
				       attributes[i].text ? attributes[i].text : attributes[i].number);
	}
}

/* Every field of the table, as OTLP/JSON has it, and nothing that the entry holds beside. */
static void full_entry(void)
{
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	cleanup_buf struct buf got = BUF(BODY_MAX);
	struct telemetry *telemetry = start(endpoint);
	const json_t *resource, *span, *other;
	json_t *root;
	pid_t held;

	held = hold();
	telemetry_span(telemetry, &full, INT64_C(1700000000000000001), INT64_C(1700000000000000002));
	telemetry_span(telemetry, &full, 3, 4);
	go_on(held);
	root = json_loads(take_request(listener, TAKEN, &got), JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_PTR_NOT_NULL(root);
	CU_ASSERT_EQUAL(strncmp(buf_string(&got), "POST /v1/traces HTTP/1.1\r\n", 26), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&got), "\r\nContent-Type: application/json\r\n"));
	CU_ASSERT_PTR_NULL(strstr(buf_string(&got), OUTSIDE));
	resource = json_object_get(first_of(root, "resourceSpans"), "resource");
	CU_ASSERT_EQUAL(json_array_size(json_object_get(resource, "attributes")), 1);
	CU_ASSERT_STRING_EQUAL(text_at(first_of(resource, "attributes"), "key"), "service.name");
	CU_ASSERT_STRING_EQUAL(text_at(json_object_get(first_of(resource, "attributes"), "value"), "stringValue"),
			       SERVICE);
	CU_ASSERT_EQUAL(json_array_size(spans_of(root)), 2);
	span = json_array_get(spans_of(root), 0);
	other = json_array_get(spans_of(root), 1);
	CU_ASSERT_EQUAL(json_object_size(span), 8);
	CU_ASSERT_STRING_EQUAL(text_at(span, "name"), "cmcp.tool_call");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(span, "kind")), 1);
	CU_ASSERT_STRING_EQUAL(text_at(span, "startTimeUnixNano"), "1700000000000000001");
	CU_ASSERT_STRING_EQUAL(text_at(span, "endTimeUnixNano"), "1700000000000000002");
	CU_ASSERT(is_hex(text_at(span, "traceId"), 32) && is_hex(text_at(span, "spanId"), 16));
	CU_ASSERT_STRING_NOT_EQUAL(text_at(span, "traceId"), text_at(other, "traceId"));
	CU_ASSERT_STRING_NOT_EQUAL(text_at(span, "spanId"), text_at(other, "spanId"));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(span, "status"), "code")), 2);
	check_attributes(span);
	json_decref(root);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_exported(telemetry), 2);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 0);
	telemetry_close(telemetry, guard());
}

/* Status by the decision; what is null is no attribute. */
static void decisions(void)
{
	static const struct {
		const char *decision;
		int code;
	} cases[] = { { "allow", 0 }, { "deny", 2 }, { "advisory_deny", 2 }, { "fault", 2 }, { "step_up", 0 },
		      { "defer", 0 }, { "n/a", 0 },  { "denya", 0 },         { "den", 0 },   { NULL, 0 } };
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	cleanup_buf struct buf got = BUF(BODY_MAX);
	struct telemetry *telemetry = start(endpoint);
	json_t *root;
	pid_t held = hold();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct audit_entry entry = plain("session_start", cases[i].decision);

		telemetry_span(telemetry, &entry, 1, 2);
	}
	go_on(held);
	root = json_loads(take_request(listener, TAKEN, &got), JSON_REJECT_DUPLICATES, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const json_t *span = json_array_get(spans_of(root), i);

		CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(span, "status"), "code")),
				cases[i].code);
		CU_ASSERT_STRING_EQUAL(text_at(span, "name"), "cmcp.session_start");
		/* entry_id, sequence_number, session_id, entry_type, and the decision. */
		CU_ASSERT_EQUAL(json_array_size(json_object_get(span, "attributes")), cases[i].decision ? 5 : 4);
	}
	json_decref(root);
	telemetry_close(telemetry, guard());
}

/* What would be no span is dropped, and counted, here. */
static void unfit_entries(void)
{
	char endpoint[ENDPOINT_BYTES], longest[1026];
	cleanup_fd int listener = listen_at(endpoint);
	struct telemetry *telemetry = start(endpoint);
	struct audit_entry untyped = plain(NULL, "allow"), not_text = plain("fault", "fault\xff"),
			   too_long = plain("fault", longest);

	CU_ASSERT(listener >= 0);
	memset(longest, 'a', sizeof(longest));
	longest[1025] = '\0';
	telemetry_span(telemetry, &untyped, 1, 2);
	telemetry_span(telemetry, &not_text, 1, 2);
	telemetry_span(telemetry, &too_long, 1, 2);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 3);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 3);
	telemetry_close(telemetry, guard());
}

/* ---- collectors ---- */

static void observer_takes_all(void)
{
	cleanup_observing struct observing observing = { 0 };
	char endpoint[ENDPOINT_BYTES];
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);
	struct telemetry *telemetry;
	uint64_t exported;

	snprintf(endpoint, sizeof(endpoint), "http://" LOOPBACK ":%u/", (unsigned)port);
	telemetry = start(endpoint);
	burst(telemetry, 100);
	telemetry_span(telemetry, &full, 1, 2);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_exported(telemetry), 101);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 0);
	telemetry_close(telemetry, guard());
	CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 101);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans-error")->value, 1);

	/* More at once than fits: each is exported or counted as dropped. */
	telemetry = start(endpoint);
	burst(telemetry, BURST);
	flush(telemetry);
	exported = telemetry_exported(telemetry);
	CU_ASSERT(exported > 0);
	CU_ASSERT_EQUAL(exported + telemetry_dropped(telemetry), BURST);
	telemetry_close(telemetry, guard());
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 101 + (int64_t)exported);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->status, WIRE_OBSERVED);
}

/* Runs a loop as the gateway's until it is known what became of so many spans, or `milliseconds` passed. */
static void run_until_told(struct telemetry *telemetry, uint64_t count, int64_t milliseconds)
{
	struct error *err = NULL;
	cleanup_loop struct loop *loop = NULL;
	int64_t deadline = clock_deadline(milliseconds);

	CU_ASSERT_EQUAL(loop_new(&loop, &err), 0);
	CU_ASSERT_EQUAL(telemetry_watch(telemetry, loop, &err), 0);
	while (telemetry_exported(telemetry) + telemetry_dropped(telemetry) < count && clock_now() < deadline)
		CU_ASSERT_EQUAL(loop_run(loop, clock_deadline(20), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Nobody listens: the exporter tells what it dropped while it lives. */
static void dead_collector(void)
{
	char endpoint[ENDPOINT_BYTES];
	int listener = listen_at(endpoint);
	struct telemetry *telemetry;

	fd_close(&listener);
	telemetry = start(endpoint);
	burst(telemetry, 50);
	run_until_told(telemetry, 50, 2000);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 50);
	burst(telemetry, BURST);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), BURST + 50);
	CU_ASSERT_EQUAL(telemetry_exported(telemetry), 0);
	telemetry_close(telemetry, guard());
}

/* It accepts and never answers. A span that waited for it would never return. */
static void slow_collector(void)
{
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	struct telemetry *telemetry = start(endpoint);
	int64_t begin;

	burst(telemetry, BURST);
	CU_ASSERT_EQUAL(fd_wait(listener, POLLIN, guard(), NULL), 1);
	burst(telemetry, BURST);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_exported(telemetry), 0);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 2 * BURST);
	telemetry_close(telemetry, guard());

	/* Nobody reads: the gateway drops by itself. The caller's deadline may be nearer than the exporter's own. */
	telemetry = start(endpoint);
	(void)hold();
	burst(telemetry, BURST);
	CU_ASSERT(telemetry_dropped(telemetry) > 0 && telemetry_dropped(telemetry) < BURST);
	begin = clock_now();
	telemetry_flush(telemetry, clock_deadline(100));
	CU_ASSERT(clock_now() - begin < 100 * NS_PER_MS + FLUSH_SLACK_MS * NS_PER_MS);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), BURST);
	telemetry_close(telemetry, guard());
}

static void answers(void)
{
	static const struct {
		const char *answer;
		uint64_t dropped; /* of BATCH */
	} cases[] = {
		{ TAKEN, 0 },
		{ ANSWER("202 Accepted", "", "0"), 0 },
		{ ANSWER("200 OK", "no JSON", "7"), 0 },
		{ ANSWER("200 OK", "{\"partialSuccess\":{\"rejectedSpans\":\"2\"}}", "40"), 2 },
		{ ANSWER("200 OK", "{\"partialSuccess\":{\"rejectedSpans\":3 }}", "39"), 3 },
		{ ANSWER("200 OK", "{\"partialSuccess\":{\"rejectedSpans\":9999}}", "41"), BATCH },
		{ ANSWER("200 OK", "{\"partialSuccess\":{\"rejectedSpans\":\"-1\"}}", "41"), 0 },
		{ ANSWER("415 Unsupported", "", "0"), BATCH },
		{ ANSWER("503 Busy", "{}", "2"), BATCH },
		{ "HTTP/1.1 200 OK\r\nContent-Le", BATCH },
	};

	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	struct telemetry *telemetry = start(endpoint);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf got = BUF(BODY_MAX);
		const uint64_t exported = telemetry_exported(telemetry), dropped = telemetry_dropped(telemetry);
		pid_t held = hold();

		burst(telemetry, BATCH);
		go_on(held);
		(void)take_request(listener, cases[i].answer, &got);
		run_until_told(telemetry, exported + dropped + BATCH, GUARD_MS);
		if (telemetry_dropped(telemetry) - dropped != cases[i].dropped)
			fprintf(stderr, "row: %zu\n", i);
		CU_ASSERT_EQUAL(telemetry_dropped(telemetry) - dropped, cases[i].dropped);
		CU_ASSERT_EQUAL(telemetry_exported(telemetry) - exported, BATCH - cases[i].dropped);
	}
	telemetry_close(telemetry, guard());
}

/* ---- the exporter as a process ---- */

/* When it is killed the gateway goes on, its loop does not spin, and what is lost is counted. */
static void killed_exporter(void)
{
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	struct telemetry *telemetry = start(endpoint);
	pid_t pid = exporter_pid();

	CU_ASSERT(listener >= 0);
	burst(telemetry, 10);
	CU_ASSERT(pid > 0 && kill(pid, SIGKILL) == 0);
	run_until_told(telemetry, 10, 1000);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 10);
	burst(telemetry, 10);
	run_until_told(telemetry, NEVER, 100);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 20);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_dropped(telemetry), 20);
	telemetry_close(telemetry, guard());
}

/* A terminal's Ctrl-C reaches it as well: what is queued is flushed none the less. */
static void signalled_exporter(void)
{
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	cleanup_buf struct buf first = BUF(BODY_MAX), second = BUF(BODY_MAX);
	struct telemetry *telemetry = start(endpoint);
	pid_t pid = hold();

	burst(telemetry, BATCH);
	go_on(pid);
	(void)take_request(listener, TAKEN, &first);
	(void)hold();
	CU_ASSERT(kill(pid, SIGINT) == 0 && kill(pid, SIGTERM) == 0 && kill(pid, SIGHUP) == 0);
	burst(telemetry, BATCH);
	go_on(pid);
	(void)take_request(listener, TAKEN, &second);
	flush(telemetry);
	CU_ASSERT_EQUAL(telemetry_exported(telemetry), 2 * BATCH);
	telemetry_close(telemetry, guard());
}

/* No environment, and no descriptor but its three. */
static void bare_exporter(void)
{
	char endpoint[ENDPOINT_BYTES];
	cleanup_fd int listener = listen_at(endpoint);
	struct telemetry *telemetry = start(endpoint);
	struct child_look look = CHILD_LOOK;

	CU_ASSERT(listener >= 0);
	CU_ASSERT_EQUAL(setenv("CMCP_BEARER_TOKEN", "secret", 1), 0);
	telemetry_close(telemetry, guard());
	telemetry = start(endpoint);
	CU_ASSERT(child_look(exporter_pid(), getpid(), &look));
	CU_ASSERT_EQUAL(look.environment, 0);
	CU_ASSERT_EQUAL(look.descriptors, 0);
	CU_ASSERT_EQUAL(unsetenv("CMCP_BEARER_TOKEN"), 0);
	buf_free(&look.text);
	telemetry_close(telemetry, guard());
	CU_ASSERT_EQUAL(exporter_pid(), 0);
}

static void bad_endpoints(void)
{
	static const char *const refused[] = {
		"",
		"http://",
		"127.0.0.1:4318",
		"https://127.0.0.1:4318",
		"http://localhost:4318",
		"http://127.0.0.1:0",
		"http://127.0.0.1:65536",
		"http://127.0.0.1:99999999999999999999",
		"http://127.0.0.1:x",
		"http://127.0.0.1:4318x",
		"http://user@127.0.0.1:4318",
		"http://127.0.0.1:4318/a b",
		"http://127.0.0.1:4318/?a",
		"http://127.0.0.1:4318/#a",
		"http://[::1:4318",
		"http://[127.0.0.1]:4318",
		"http://::1/",
	};
	static const char *const accepted[] = { "http://127.0.0.1", "http://[::1]:4318/a/b" };
	struct telemetry *telemetry = NULL;
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		CU_ASSERT(telemetry_open(refused[i], SERVICE, &telemetry, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_USAGE, "numeric host"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++)
		telemetry_close(start(accepted[i]), guard());
	CU_ASSERT(telemetry_open("http://127.0.0.1:4318", "", &telemetry, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "service"));
	CU_ASSERT_PTR_NULL(telemetry);
	telemetry_close(NULL, 0);
	telemetry_flush(NULL, 0);
}

/* Bytes that are no record end it at once; its sums were told before. */
static void bad_records(void)
{
	static const struct {
		const char *bytes;
		size_t length;
		int status;
	} cases[] = { { "", 0, 0 }, { "SPN", 3, 0 }, { "no record", 9, 3 }, { "SPN1\0\0\0\0", 8, 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf out = BUF(256);
		PIPE(in);
		char path[PATH_MAX];
		char *argv[] = { (char[]){ "otlp-export" }, (char[]){ "http://127.0.0.1:9" }, (char[]){ "s" }, NULL };
		struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		struct error *err = NULL;

		CU_ASSERT_EQUAL(spawn_helper_path("otlp-export", path, sizeof(path), &err), 0);
		pipe_open(&in);
		map(&options, in.reader, 0);
		CU_ASSERT_EQUAL(fd_write_all(in.writer, cases[i].bytes, cases[i].length, guard(), &err), 0);
		fd_close(&in.writer);
		CU_ASSERT_EQUAL(run(&options, &out), cases[i].status);
		CU_ASSERT_EQUAL(out.length, 0);
		CU_ASSERT(test_no_error(&err));
	}
}

static CU_TestInfo tests[] = {
	{ "a full entry", full_entry },
	{ "decisions", decisions },
	{ "unfit entries", unfit_entries },
	{ "the observer takes all", observer_takes_all },
	{ "a dead collector", dead_collector },
	{ "a slow collector", slow_collector },
	{ "answers", answers },
	{ "a killed exporter", killed_exporter },
	{ "a signalled exporter", signalled_exporter },
	{ "a bare exporter", bare_exporter },
	{ "bad endpoints", bad_endpoints },
	{ "bad records", bad_records },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "telemetry", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	/* As each main() of ours does. */
	if (sigaction(SIGPIPE, &ignore, NULL) < 0)
		return 1;
	return test_main("telemetry", suites);
}
