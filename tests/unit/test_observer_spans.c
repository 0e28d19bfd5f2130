/* observer-spans, the real program, with real requests. */
#include <fcntl.h>

#include "tests/unit/spans_world.h"

#define JSON "application/json"
#define PROTOBUF "application/x-protobuf"
#define SPAN(more) "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" more "]}]}]}"
#define BODY(text) .body = (text), .length = sizeof(text) - 1
#define RECORDED_BYTES 4096

/* A request's bodies as protobuf: one span named "a", and the same with status ERROR. */
#define PLAIN "\x0a\x07\x12\x05\x12\x03\x2a\x01\x61"
#define FAILED "\x0a\x0b\x12\x09\x12\x07\x2a\x01\x61\x7a\x02\x18\x02"

static const struct row {
	const char *name;
	struct post post;
	int status;
	const char *answer; /* its body, or NULL: any */
	int64_t spans, errors;
} rows[] = {
	{ "JSON", { .type = JSON, BODY(SPAN("{\"name\":\"a\"},{\"name\":\"b\"}")) }, 200, "{}", 2, 0 },
	{ "JSON, errors",
	  { .type = "application/json; charset=utf-8",
	    BODY(SPAN("{\"name\":\"a\",\"status\":{\"code\":2}},{\"status\":{\"code\":\"STATUS_CODE_ERROR\"}},"
		      "{\"status\":{\"code\":1}},{\"status\":{}}")) },
	  200,
	  "{}",
	  4,
	  2 },
	{ "JSON, nothing in it", { .type = JSON, BODY("{}") }, 200, "{}", 0, 0 },
	{ "JSON, null lists", { .type = JSON, BODY("{\"resourceSpans\":[{\"scopeSpans\":null}]}") }, 200, "{}", 0, 0 },
	{ "protobuf", { .type = PROTOBUF, BODY(PLAIN) }, 200, "", 1, 0 },
	{ "protobuf, error", { .type = "Application/X-Protobuf", BODY(FAILED) }, 200, "", 1, 1 },
	{ "protobuf, nothing in it", { .type = PROTOBUF, BODY("") }, 200, "", 0, 0 },
	{ "no coding",
	  { .type = JSON, .headers = "Content-Encoding: identity\r\n", BODY(SPAN("{}")) },
	  200,
	  "{}",
	  1,
	  0 },
	{ "no JSON", { .type = JSON, BODY("{\"resourceSpans\":[") }, 400, NULL, 0, 0 },
	{ "JSON of another kind", { .type = JSON, BODY(SPAN("7")) }, 400, NULL, 0, 0 },
	{ "JSON as protobuf", { .type = PROTOBUF, BODY(SPAN("{}")) }, 400, NULL, 0, 0 },
	{ "protobuf, cut", { .type = PROTOBUF, BODY("\x0a\x07\x12\x05\x12\x03\x2a\x01") }, 400, NULL, 0, 0 },
	{ "gzip", { .type = JSON, .headers = "Content-Encoding: gzip\r\n", BODY("\x1f\x8b") }, 415, NULL, 0, 0 },
	{ "another type", { .type = "text/plain", BODY(SPAN("{}")) }, 415, NULL, 0, 0 },
	{ "a longer type", { .type = "application/jsonx", BODY(SPAN("{}")) }, 415, NULL, 0, 0 },
	{ "no type", { BODY(SPAN("{}")) }, 415, NULL, 0, 0 },
	{ "metrics", { .request_line = "POST /v1/metrics", .type = JSON, BODY("{}") }, 404, NULL, 0, 0 },
	{ "PUT", { .request_line = "PUT /v1/traces", .type = JSON, BODY(SPAN("{}")) }, 405, NULL, 0, 0 },
};

/* One observer takes all rows. What is refused is dropped, and from then on the count is not all. */
static void requests(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);
	int64_t spans = 0, errors = 0, bytes = 0, dropped = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf answer = BUF(POST_BYTES);
		const struct wire_record *record;
		int status = post(port, &rows[i].post, &answer);
		const char *body = strstr(buf_string(&answer), "\r\n\r\n");

		CU_ASSERT_EQUAL(status, rows[i].status);
		CU_ASSERT(body && (!rows[i].answer || strcmp(body + 4, rows[i].answer) == 0));
		CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
		record = spans_record(&observing, "spans");
		spans += rows[i].spans;
		errors += rows[i].errors;
		bytes += (int64_t)rows[i].post.length;
		dropped += rows[i].status != 200;
		if (status != rows[i].status || record->value != spans)
			fprintf(stderr, "row: %s\n", rows[i].name);
		CU_ASSERT_EQUAL(record->value, spans);
		CU_ASSERT_EQUAL(record->connections, (int64_t)i + 1);
		CU_ASSERT_EQUAL(record->bytes, bytes);
		CU_ASSERT_EQUAL(record->dropped, dropped);
		CU_ASSERT_EQUAL(record->status, dropped ? WIRE_NOT_OBSERVABLE : WIRE_OBSERVED);
		CU_ASSERT_EQUAL(spans_record(&observing, "spans-error")->value, errors);
		CU_ASSERT_EQUAL(spans_record(&observing, "payload")->value, 0);
	}
}

/* What the Python SDK's exporter sent of five spans, two of them errors; its answer must be of the same type. */
static void python_sdk(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_buf struct buf body = BUF(RECORDED_BYTES), answer = BUF(POST_BYTES);
	struct error *err = NULL;
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);
	struct post sent = { .type = PROTOBUF };

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, "tests/data/otlp/python-sdk.bin", RECORDED_BYTES, &body, &err), 0);
	CU_ASSERT(test_no_error(&err));
	sent.body = body.data;
	sent.length = body.length;
	CU_ASSERT_EQUAL(post(port, &sent, &answer), 200);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&answer), "Content-Type: application/x-protobuf\r\n"));
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 5);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans-error")->value, 2);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->status, WIRE_OBSERVED);
}

/* Where a canary may stand, and in which form. %s is the canary's. */
static const struct place {
	const char *name;
	const char *request_line, *type, *headers, *body;
	enum { AS_IT_IS, AS_HEX, WITH_ESCAPE } form;
	int status;
} places[] = {
	{ "attribute", NULL, JSON, NULL, SPAN("{\"name\":\"%s\"}"), AS_IT_IS, 200 },
	{ "key", NULL, JSON, NULL, SPAN("{\"%s\":1}"), AS_IT_IS, 200 },
	{ "hexadecimal", NULL, JSON, NULL, SPAN("{\"name\":\"%s\"}"), AS_HEX, 200 },
	{ "an escape in it", NULL, JSON, NULL, SPAN("{\"name\":\"%s\"}"), WITH_ESCAPE, 200 },
	{ "behind the document", NULL, JSON, NULL, "{}%s", AS_IT_IS, 400 },
	{ "unknown type", NULL, "text/plain", NULL, "x%s", AS_IT_IS, 415 },
	{ "query", "POST /v1/traces?a=%s", JSON, NULL, "{}", AS_IT_IS, 200 },
	{ "path", "POST /%s", JSON, NULL, "{}", AS_IT_IS, 404 },
	{ "header", NULL, JSON, "X-A: %s\r\n", "{}", AS_IT_IS, 200 },
};

static void put_form(const struct canary *canary, int form, char out[128])
{
	if (form == WITH_ESCAPE)
		snprintf(out, 128, "\\u%04x%s", (unsigned)canary->text[0], canary->text + 1);
	else if (form == AS_IT_IS)
		snprintf(out, 128, "%s", canary->text);
	for (size_t i = 0; form == AS_HEX && i < CANARY_LENGTH; i++)
		snprintf(out + 2 * i, 128 - 2 * i, "%02x", (unsigned)canary->text[i]);
}

static void put_in(const char *format, const char *text, char out[512])
{
	const char *at = format ? strstr(format, "%s") : NULL;

	if (at)
		snprintf(out, 512, "%.*s%s%s", (int)(at - format), format, text, at + 2);
	else
		snprintf(out, 512, "%s", format ? format : "");
}

static void canaries(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_buf struct buf answer = BUF(POST_BYTES);
		char text[128] = "", line[512], headers[512], body[512];
		struct post sent = { .type = places[i].type, .body = body, .headers = headers };

		put_form(&canary, (int)places[i].form, text);
		put_in(places[i].request_line, text, line);
		put_in(places[i].headers, text, headers);
		put_in(places[i].body, text, body);
		sent.request_line = line[0] ? line : NULL;
		sent.length = strlen(body);
		CU_ASSERT_EQUAL(post(port, &sent, &answer), places[i].status);
		CU_ASSERT(observing_hit(&observing, "payload"));
		CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
		if (spans_record(&observing, "payload")->value != (int64_t)i + 1)
			fprintf(stderr, "row: %s\n", places[i].name);
		CU_ASSERT_EQUAL(spans_record(&observing, "payload")->value, (int64_t)i + 1);
		CU_ASSERT(spans_record(&observing, "payload")->hits >= (int64_t)i + 1);
	}
}

static void mark(struct observing *observing, uint16_t port, enum wire_phase phase)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(beacon_spans(LOOPBACK, port, phase == WIRE_AFTER ? &observing->after : &observing->before,
				     clock_deadline(POST_MS), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(observing_seen(observing, "spans", phase));
}

/* The harness's own span counts apart. A marker that no span bears proves nothing of the way that spans take. */
static void beacons(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_buf struct buf answer = BUF(POST_BYTES), second = BUF(POST_BYTES);
	char body[128];
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);
	struct post sent = { .type = JSON, .body = body };

	mark(&observing, port, WIRE_BEFORE);
	snprintf(body, sizeof(body), "{\"other\":\"%s\"}", observing.after.text);
	sent.length = strlen(body);
	CU_ASSERT_EQUAL(post(port, &sent, &answer), 200);
	CU_ASSERT_EQUAL(post(port, &rows[0].post, &second), 200);
	CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->beacon_before, 1);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->beacon_after, 0);
	mark(&observing, port, WIRE_AFTER);
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 2);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->connections, 1);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->beacon_after, 1);
	CU_ASSERT_EQUAL(spans_record(&observing, "payload")->beacon_before, 1);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->status, WIRE_OBSERVED);
}

/* A body that is too long, one that its sender breaks off, and one that never ends: none is a zero. */
static void not_whole(void)
{
	static char big[5 * MIB];
	static const enum wire_reason reasons[] = { WIRE_REASON_DROPPED, WIRE_REASON_DROPPED, WIRE_REASON_TIMEOUT };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		cleanup_observing struct observing observing = { 0 };
		cleanup_buf struct buf answer = BUF(POST_BYTES);
		struct canary canary;
		uint16_t port = spans_start(&observing, &canary);
		struct post sent = { .type = JSON, .body = big, .length = sizeof(big), .sent = 2 * CANARY_LENGTH };
		cleanup_fd int fd = -1;

		memset(big, ' ', sizeof(big));
		memcpy(big + 1, canary.text, CANARY_LENGTH);
		if (i == 0) {
			sent.sent = 0;
			CU_ASSERT_EQUAL(post(port, &sent, &answer), 413);
		} else {
			fd = post_begin(port, &sent);
		}
		if (i == 1) {
			fd_close(&fd);
			CU_ASSERT(observing_hit(&observing, "payload"));
		}
		CU_ASSERT(observing_report(&observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 0);
		CU_ASSERT_EQUAL(spans_record(&observing, "spans")->reason, reasons[i]);
		CU_ASSERT_EQUAL(spans_record(&observing, "spans")->status, WIRE_NOT_OBSERVABLE);
		CU_ASSERT_EQUAL(spans_record(&observing, "payload")->value, i != 2);
	}
}

/* A connection that stays open for a while, without a request, takes nothing away. */
static void idle_connection(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_buf struct buf answer = BUF(POST_BYTES);
	struct canary canary;
	uint16_t port = spans_start(&observing, &canary);
	cleanup_fd int idle = post_connect(port);

	CU_ASSERT_EQUAL(post(port, &rows[0].post, &answer), 200);
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->value, 2);
	CU_ASSERT_EQUAL(spans_record(&observing, "spans")->status, WIRE_OBSERVED);
	CU_ASSERT(idle >= 0);
}

static CU_TestInfo tests[] = {
	{ "requests", requests }, { "the Python SDK's", python_sdk }, { "canaries", canaries },
	{ "beacons", beacons },   { "not whole", not_whole },         { "an idle connection", idle_connection },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "observer-spans", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_spans", suites);
}
