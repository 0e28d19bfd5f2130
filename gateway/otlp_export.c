/*
 * libexec/otlp-export: sends spans to a collector by OTLP/HTTP with JSON bodies. Command line: [program, endpoint,
 * service]; records of gateway/span_record.h on standard input, struct telemetry_status on standard output. It holds no
 * other descriptor. One request is under way at a time; what comes meanwhile waits in bounded memory, or is dropped and
 * counted. Nothing is sent twice. It ends when standard input ended and all was sent, or the time for that is over.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/http.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "gateway/span_json.h"
#include "gateway/span_record.h"
#include "gateway/telemetry_status.h"

#define EXIT_ERROR 3
#define READ_BYTES (64 * KIB)
/* A batch leaves when it has so many spans, so many bytes, or is so old. */
#define BATCH_SPANS 256
#define BATCH_BYTES (256 * KIB)
#define BATCH_MS 200
/* What may wait behind a request. */
#define WAITING_SPANS 2048
#define WAITING_BYTES (2 * MIB)
#define REQUEST_BYTES (WAITING_BYTES + 16 * KIB)
#define ANSWER_BYTES (64 * KIB)
#define REQUEST_MS 1000
#define PUMP_MS 20
#define CURL_FDS 8
#define PATH "/v1/traces"

enum { TIMER_BATCH, TIMER_PUMP, TIMER_END };

struct batch {
	uint64_t spans;
	struct buf bytes;
};

struct exporter {
	const char *service;
	struct loop *loop;
	struct http_client *client;
	struct buf input;
	struct batch waiting;
	int64_t due; /* of the oldest span that waits */
	struct batch sent; /* under way */
	struct http_request *request;
	int64_t deadline; /* of the request */
	int watched[CURL_FDS];
	size_t watched_count;
	bool input_ended;
	bool failing; /* the last request came to nothing */
	int64_t end; /* the last moment, once the input ended */
	struct telemetry_status status, said;
};

static int go_on(struct exporter *exporter, struct error **err);

/* ---- what it says ---- */

/* A pipe that is full holds older sums: the newest is tried again with the next change, and at the end. */
static void say(struct exporter *exporter)
{
	if (memcmp(&exporter->status, &exporter->said, sizeof(exporter->said)) != 0 &&
	    write(STDOUT_FILENO, &exporter->status, sizeof(exporter->status)) == (ssize_t)sizeof(exporter->status))
		exporter->said = exporter->status;
}

/* ---- requests ---- */

static void finish_batch(struct exporter *exporter, bool taken, uint64_t rejected)
{
	uint64_t spans = exporter->sent.spans;

	if (!taken || rejected > spans)
		rejected = spans;
	exporter->status.exported += spans - rejected;
	exporter->status.dropped += rejected;
	exporter->sent.spans = 0;
	buf_free(&exporter->sent.bytes);
	exporter->failing = !taken;
	if (!taken)
		exporter->due = clock_deadline(BATCH_MS);
}

/* libcurl closes its descriptors as it likes: none stays in the loop while it works. */
static void unwatch(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->watched_count; i++)
		loop_remove(exporter->loop, exporter->watched[i]);
	exporter->watched_count = 0;
}

static int on_curl(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return go_on(context, err);
}

static int on_timer(void *context, struct error **err)
{
	return go_on(context, err);
}

static int watch(struct exporter *exporter, struct error **err)
{
	struct pollfd fds[CURL_FDS];
	size_t count = http_descriptors(exporter->client, fds, CURL_FDS);

	for (size_t i = 0; i < count; i++) {
		int r = loop_fd(exporter->loop, fds[i].fd, fds[i].events, on_curl, exporter, err);

		if (r < 0)
			return r;
		exporter->watched[exporter->watched_count++] = fds[i].fd;
	}
	return 0;
}

static int64_t bounded(const struct exporter *exporter, int64_t deadline)
{
	return deadline < exporter->end ? deadline : exporter->end;
}

static void begin(struct exporter *exporter)
{
	cleanup_error struct error *failed = NULL;
	struct buf body = BUF(REQUEST_BYTES);
	struct http_call call = { .method = "POST",
				  .path = PATH,
				  .content_type = "application/json",
				  .body_fd = -1,
				  .body_max = ANSWER_BYTES };

	exporter->sent.spans = exporter->waiting.spans;
	span_json_request(exporter->service, &exporter->waiting.bytes, &body);
	exporter->waiting.spans = 0;
	buf_free(&exporter->waiting.bytes);
	exporter->sent.bytes = body;
	exporter->deadline = bounded(exporter, clock_deadline(REQUEST_MS));
	call.deadline = exporter->deadline;
	call.body = body.data;
	call.body_length = body.length;
	if (body.failed || http_begin(exporter->client, &call, &exporter->request, &failed) < 0) {
		exporter->request = NULL;
		finish_batch(exporter, false, 0);
	}
}

static void finish(struct exporter *exporter)
{
	cleanup_error struct error *failed = NULL;
	cleanup_answer struct http_answer answer = { 0 };
	int r = http_finish(exporter->client, steal_pointer(&exporter->request), &answer, &failed);
	bool taken = r == 0 && answer.status >= 200 && answer.status < 300;

	finish_batch(exporter, taken, taken ? span_json_rejected(buf_string(&answer.body), answer.body.length) : 0);
}

static bool is_due(const struct exporter *exporter)
{
	const struct batch *waiting = &exporter->waiting;

	if (exporter->request || waiting->spans == 0)
		return false;
	if (exporter->input_ended || clock_now() >= exporter->due)
		return true;
	return !exporter->failing && (waiting->spans >= BATCH_SPANS || waiting->bytes.length >= BATCH_BYTES);
}

static void set_timers(struct exporter *exporter)
{
	bool waits = exporter->waiting.spans > 0 && !exporter->request;
	int64_t pump = clock_deadline(PUMP_MS);

	if (exporter->deadline < pump)
		pump = exporter->deadline;
	loop_timer(exporter->loop, TIMER_BATCH, waits ? exporter->due : NEVER, on_timer, exporter);
	loop_timer(exporter->loop, TIMER_PUMP, exporter->request ? pump : NEVER, on_timer, exporter);
}

/* Drives the request under way and begins the next: 1 when everything is over. */
static int go_on(struct exporter *exporter, struct error **err)
{
	int r;

	unwatch(exporter);
	r = http_pump(exporter->client, err);
	if (r < 0)
		return r;
	if (exporter->request && (http_done(exporter->request) || clock_now() >= exporter->deadline))
		finish(exporter);
	if (is_due(exporter))
		begin(exporter);
	say(exporter);
	if (exporter->input_ended && !exporter->request && exporter->waiting.spans == 0)
		return 1;
	set_timers(exporter);
	return watch(exporter, err);
}

/* ---- records ---- */

static int draw(void *out, size_t size, struct error **err)
{
	return getrandom(out, size, 0) == (ssize_t)size ? 0 : error_errno(err, errno, "getrandom");
}

static int take_span(struct exporter *exporter, const struct span_record *record, struct error **err)
{
	cleanup_buf struct buf span = BUF(SPAN_RECORD_BYTES * 8);
	struct batch *waiting = &exporter->waiting;
	unsigned char ids[SPAN_TRACE_BYTES + SPAN_ID_BYTES];
	int r = draw(ids, sizeof(ids), err);

	if (r < 0)
		return r;
	span_json_write(record, ids, ids + SPAN_TRACE_BYTES, &span);
	if (span.failed || waiting->spans == WAITING_SPANS || waiting->bytes.length + span.length + 1 > WAITING_BYTES) {
		exporter->status.dropped++;
		return 0;
	}
	if (waiting->spans == 0 && exporter->due < clock_now())
		exporter->due = clock_deadline(BATCH_MS);
	if (waiting->spans > 0)
		buf_text(&waiting->bytes, ",");
	buf_add(&waiting->bytes, span.data, span.length);
	waiting->spans++;
	return buf_check(&waiting->bytes, "spans that wait", err);
}

/* Takes the whole records of the input. Behind one that is none nothing can be found. */
static int take_records(struct exporter *exporter, struct error **err)
{
	size_t at = 0;
	int r = 0;

	while (r == 0) {
		const char *bytes = buf_string(&exporter->input) + at;
		size_t left = exporter->input.length - at;
		struct span_record record;
		int size = span_record_size(bytes, left, err);

		if (size < 0)
			return size;
		if (size == 0 || (size_t)size > left)
			break;
		r = span_record_read(bytes, (size_t)size, &record, err);
		if (r == 0)
			r = take_span(exporter, &record, err);
		at += (size_t)size;
	}
	buf_consume(&exporter->input, at);
	return r;
}

static int end_input(struct exporter *exporter, struct error **err)
{
	loop_remove(exporter->loop, STDIN_FILENO);
	exporter->input_ended = true;
	/* The end may have waited for as long as one request takes to be sent. */
	exporter->end = clock_deadline(TELEMETRY_FLUSH_MS - REQUEST_MS);
	exporter->deadline = bounded(exporter, exporter->deadline);
	loop_timer(exporter->loop, TIMER_END, exporter->end, on_timer, exporter);
	return go_on(exporter, err);
}

static int on_input(void *context, int fd, short revents, struct error **err)
{
	struct exporter *exporter = context;
	char *room = buf_reserve(&exporter->input, READ_BYTES);
	ssize_t got;

	(void)revents;
	if (!room)
		return error_set(err, ERROR_MEMORY, "no memory for records");
	got = read(fd, room, READ_BYTES);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : error_errno(err, errno, "reading spans");
	buf_commit(&exporter->input, (size_t)got);
	if (got > 0 && take_records(exporter, err) < 0)
		return -1;
	if (got == 0)
		return end_input(exporter, err);
	return go_on(exporter, err);
}

/* ---- the program ---- */

/* What a terminal sends goes to the gateway too, which flushes: the end of standard input is the only one. */
static int on_signal(void *context, int signal, struct error **err)
{
	(void)context;
	(void)signal;
	(void)err;
	return 0;
}

static int serve(struct exporter *exporter, const char *endpoint, struct error **err)
{
	char base[512];
	size_t length = strlen(endpoint);
	int r = 0;

	if (length >= sizeof(base))
		return error_set(err, ERROR_USAGE, "the endpoint is too long");
	while (length && endpoint[length - 1] == '/')
		length--;
	snprintf(base, sizeof(base), "%.*s", (int)length, endpoint);
	if (http_client_new(NULL, base, &exporter->client, err) < 0 || loop_new(&exporter->loop, err) < 0 ||
	    loop_signals(exporter->loop, on_signal, exporter, err) < 0 || fd_nonblocking(STDIN_FILENO, true, err) < 0 ||
	    fd_nonblocking(STDOUT_FILENO, true, err) < 0 ||
	    loop_fd(exporter->loop, STDIN_FILENO, POLLIN, on_input, exporter, err) < 0)
		return -1;
	/* It lives as long as the gateway, which may be days; the end of standard input ends it. */
	while (r == 0)
		r = loop_run(exporter->loop, clock_deadline(HELPER_LIFE_MS), err);
	return r;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	struct exporter exporter = {
		.input = BUF(SPAN_RECORD_BYTES + READ_BYTES),
		.waiting = { .bytes = BUF(WAITING_BYTES) },
		.end = NEVER,
	};
	int r = process_harden(true, 0, &err);

	if (r == 0 && argc == 3) {
		exporter.service = argv[2];
		r = serve(&exporter, argv[1], &err);
	} else if (r == 0) {
		r = error_set(&err, ERROR_USAGE, "started by the gateway as: otlp-export ENDPOINT SERVICE");
	}
	http_client_free(exporter.client);
	loop_free(exporter.loop);
	buf_free(&exporter.input);
	buf_free(&exporter.waiting.bytes);
	buf_free(&exporter.sent.bytes);
	if (r >= 0)
		return 0;
	fprintf(stderr, "otlp-export: %s\n", error_text(err));
	return EXIT_ERROR;
}
