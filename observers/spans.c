/*
 * libexec/observer-spans: a collector of spans on a loopback port of its own, OTLP/HTTP with JSON or protobuf bodies.
 * It counts spans, and scans every byte that came with a request for the canaries, in each of their encodings. One port
 * serves all subjects. What it does not understand is refused, scanned none the less, and counted as dropped: then the
 * spans are not all counted. A request that bears a beacon's marker is the harness's own; it counts apart, and only
 * when it is a span that bears it.
 */
#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/select.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"
#include "observers/observer.h"
#include "observers/otlp.h"

#define BACKLOG 128
#define CONNECTIONS_MAX 32
#define CONNECTION_MEMORY (32 * KIB) /* of libmicrohttpd, which holds the head of a request in it */
#define CONNECTION_SECONDS 60U
#define BODY_BYTES (4 * MIB)
#define BODIES_BYTES (32 * MIB) /* of all connections together */
#define DRAIN_MS 2000
#define TIMER 0
#define VIEW 0

enum format { FORMAT_NONE, FORMAT_JSON, FORMAT_PROTOBUF };

struct request {
	struct observer *observer;
	unsigned status; /* what it is refused with, or 0 */
	enum format format;
	bool judged;
	struct buf body;
	uint64_t hits[OBSERVER_HITS]; /* outside the body, or in its texts once their escapes are read */
};

struct spans {
	bool opened;
	struct MHD_Daemon *daemon;
	int watched[CONNECTIONS_MAX + 1];
	size_t watched_count;
	struct canary_scanner *scanner; /* with every encoding */
	size_t under_way;
	size_t held; /* bytes of their bodies */
	struct error *error; /* of a callback, which cannot return it */
	uint64_t requests, bytes, counted, errors;
};

static const struct sensor sensor;
static const char *const types[];

/* ---- judging a request ---- */

static void find(const struct observer *observer, const void *bytes, size_t length, uint64_t *hits)
{
	const struct spans *spans = observer->state;

	canary_scanner_reset(spans->scanner);
	canary_scanner_feed(spans->scanner, bytes, length, hits);
	canary_scanner_reset(spans->scanner);
}

static void find_in_text(void *context, const char *text, size_t length)
{
	struct request *request = context;

	find(request->observer, text, length, request->hits);
}

static int read_body(struct request *request, struct otlp_counts *counts)
{
	cleanup_error struct error *unread = NULL;
	const char *body = buf_string(&request->body);
	size_t length = request->body.length;
	/* Only an escape makes a text differ from the bytes that are scanned anyway. */
	otlp_text text = length && memchr(body, '\\', length) ? find_in_text : NULL;

	if (request->format == FORMAT_JSON)
		return otlp_read_json(body, length, text, request, counts, &unread);
	return otlp_read_protobuf(body, length, counts, &unread);
}

/* Counts the request once, whole or as far as it came, and says what it is answered with. */
static unsigned judge(struct request *request, bool whole)
{
	struct observer *observer = request->observer;
	struct spans *spans = observer->state;
	struct otlp_counts counts = { 0 };
	uint64_t hits[OBSERVER_HITS] = { 0 };
	bool marked = false;

	request->judged = true;
	if (request->status == 0 && whole && read_body(request, &counts) < 0)
		request->status = MHD_HTTP_BAD_REQUEST;
	find(observer, buf_string(&request->body), request->body.length, hits);
	for (size_t i = 0; i < observer->count; i++) {
		if (request->hits[i] > hits[i])
			hits[i] = request->hits[i];
		if (!observer->subjects[i].marker)
			continue;
		marked |= hits[i] > 0;
		if (!whole || request->status != 0 || counts.spans == 0)
			hits[i] = 0;
	}
	if (!whole || request->status != 0)
		observer->views[VIEW].dropped++;
	if (!marked) {
		spans->requests++;
		spans->bytes += request->body.length;
		spans->counted += counts.spans;
		spans->errors += counts.errors;
	}
	if (!spans->error)
		(void)!observer_count_hits(observer, VIEW, hits, NULL, &spans->error);
	return request->status ? request->status : MHD_HTTP_OK;
}

/* ---- HTTP ---- */

static enum MHD_Result find_in_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	(void)kind;
	find_in_text(context, key, strlen(key));
	if (value)
		find_in_text(context, value, strlen(value));
	return MHD_YES;
}

/* The media type without its parameters. */
static enum format format_of(const char *type)
{
	for (int i = FORMAT_JSON; type && types[i]; i++) {
		size_t length = strlen(types[i]);

		if (strncasecmp(type, types[i], length) == 0 && strchr("; \t", type[length]))
			return (enum format)i;
	}
	return FORMAT_NONE;
}

/* What the head of a request is refused with, or 0. */
static unsigned check_head(struct request *request, struct MHD_Connection *connection, const char *url,
			   const char *method)
{
	const char *coding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Encoding");

	request->format =
		format_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE));
	if (strcmp(url, "/v1/traces") != 0)
		return MHD_HTTP_NOT_FOUND;
	if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	if (request->format == FORMAT_NONE || (coding && strcasecmp(coding, "identity") != 0))
		return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
	return 0;
}

static struct request *open_request(struct observer *observer, struct MHD_Connection *connection, const char *url,
				    const char *method)
{
	struct spans *spans = observer->state;
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->observer = observer;
	request->body = (struct buf)BUF(BODY_BYTES);
	request->status = check_head(request, connection, url, method);
	find_in_text(request, url, strlen(url));
	MHD_get_connection_values(connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, find_in_header, request);
	spans->under_way++;
	return request;
}

static void add_body(struct request *request, const char *bytes, size_t length)
{
	struct spans *spans = request->observer->state;

	if (request->status == MHD_HTTP_CONTENT_TOO_LARGE)
		return;
	if (length > BODIES_BYTES - spans->held || buf_add(&request->body, bytes, length) < 0) {
		request->status = MHD_HTTP_CONTENT_TOO_LARGE;
		return;
	}
	spans->held += length;
}

/* An ExportTraceServiceResponse that says nothing: no byte as protobuf, an empty object as JSON. */
static enum MHD_Result answer(const struct request *request, struct MHD_Connection *connection, unsigned status)
{
	char nothing[] = "{}";
	size_t length = status == MHD_HTTP_OK && request->format == FORMAT_JSON ? strlen(nothing) : 0;
	struct MHD_Response *response = MHD_create_response_from_buffer(length, nothing, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result = MHD_NO;

	if (!response)
		return MHD_NO;
	if (status != MHD_HTTP_OK ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, types[request->format]) == MHD_YES)
		result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *bytes, size_t *length, void **own)
{
	struct request *request = *own;

	(void)version;
	if (!request) {
		*own = open_request(context, connection, url, method);
		return *own ? MHD_YES : MHD_NO;
	}
	if (*length) {
		add_body(request, bytes, *length);
		*length = 0;
		return MHD_YES;
	}
	return answer(request, connection, judge(request, true));
}

/* Also of one whose connection broke before it was whole. */
static void on_completed(void *context, struct MHD_Connection *connection, void **own,
			 enum MHD_RequestTerminationCode code)
{
	struct observer *observer = context;
	struct spans *spans = observer->state;
	struct request *request = *own;

	(void)connection;
	(void)code;
	if (!request)
		return;
	if (!request->judged)
		(void)judge(request, false);
	spans->under_way--;
	spans->held -= request->body.length;
	buf_wipe(&request->body);
	free(request);
	*own = NULL;
}

/* ---- the loop ---- */

static int on_ready(void *context, int fd, short revents, struct error **err);
static int on_timer(void *context, struct error **err);

/* What libmicrohttpd waits for. Not by its own epoll, which is edge-triggered: of a peer that sends and closes at once
 * it misses the end. */
static int watch(struct observer *observer, struct error **err)
{
	struct spans *spans = observer->state;
	fd_set readable, writable, exceptional;
	int last = -1, r = 0;

	FD_ZERO(&readable);
	FD_ZERO(&writable);
	FD_ZERO(&exceptional);
	if (MHD_get_fdset(spans->daemon, &readable, &writable, &exceptional, &last) != MHD_YES)
		return error_set(err, ERROR_INTERNAL, "libmicrohttpd does not tell its descriptors");
	for (int fd = 0; r == 0 && fd <= last && spans->watched_count < ARRAY_SIZE(spans->watched); fd++) {
		short events = 0;

		if (FD_ISSET(fd, &readable))
			events |= POLLIN;
		if (FD_ISSET(fd, &writable))
			events |= POLLOUT;
		if (!events)
			continue;
		spans->watched[spans->watched_count++] = fd;
		r = loop_fd(observer->loop, fd, events, on_ready, observer, err);
	}
	return r;
}

/* Serves what is ready, and waits for it until `milliseconds` passed. */
static int run(struct observer *observer, int32_t milliseconds, struct error **err)
{
	struct spans *spans = observer->state;
	MHD_UNSIGNED_LONG_LONG wait = 0;
	enum MHD_Result ran;
	enum error_code code;

	/* It closes descriptors as it likes: none stays in the loop meanwhile. */
	while (spans->watched_count > 0)
		loop_remove(observer->loop, spans->watched[--spans->watched_count]);
	ran = MHD_run_wait(spans->daemon, milliseconds);
	if (spans->error) {
		code = error_code(spans->error);
		*err = steal_pointer(&spans->error);
		return -(int)code;
	}
	if (ran != MHD_YES)
		return error_set(err, ERROR_INTERNAL, "libmicrohttpd cannot go on");
	loop_timer(observer->loop, TIMER,
		   MHD_get_timeout(spans->daemon, &wait) == MHD_YES ? clock_deadline((int64_t)wait) : NEVER, on_timer,
		   observer);
	return watch(observer, err);
}

static int on_timer(void *context, struct error **err)
{
	return run(context, 0, err);
}

static int on_ready(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return run(context, 0, err);
}

/* Whether something waits to be served at this moment. */
static bool is_ready(const struct spans *spans)
{
	cleanup_error struct error *ignored = NULL;

	for (size_t i = 0; i < spans->watched_count; i++)
		if (fd_wait(spans->watched[i], POLLIN, 0, &ignored) == 1)
			return true;
	return false;
}

/* Serves until nothing is ready; with `whole` until no request is half there either, or the deadline. */
static int drain(struct observer *observer, bool whole, int64_t deadline, struct error **err)
{
	const struct spans *spans = observer->state;
	int r = 0;

	while (r == 0 && (is_ready(spans) || (whole && spans->under_way > 0))) {
		if (clock_now() >= deadline)
			return is_ready(spans) ? observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err) : 0;
		r = run(observer, clock_poll_timeout(deadline), err);
	}
	return r;
}

/* ---- the program ---- */

static int make_scanner(const struct observer *observer, struct canary_scanner **out, struct error **err)
{
	cleanup_free struct canary *set = calloc(observer->count + 1, sizeof(*set));
	int r;

	if (!set)
		return error_set(err, ERROR_MEMORY, "no memory for a set of canaries");
	for (size_t i = 0; i < observer->count; i++)
		set[i] = observer->subjects[i].canary;
	r = canary_scanner_new(set, observer->count, true, out, err);
	explicit_bzero(set, observer->count * sizeof(*set));
	return r;
}

static int start(struct observer *observer, int *listener, struct error **err)
{
	struct spans *spans = observer->state;

	spans->daemon = MHD_start_daemon(MHD_NO_FLAG, 0, NULL, NULL, on_request, observer, MHD_OPTION_LISTEN_SOCKET,
					 *listener, MHD_OPTION_NOTIFY_COMPLETED, on_completed, observer,
					 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
					 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
					 MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS, MHD_OPTION_END);
	if (!spans->daemon)
		return error_set(err, ERROR_INTERNAL, "libmicrohttpd does not start");
	/* From now on its own. */
	(void)steal_fd(listener);
	return run(observer, 0, err);
}

static int spans_open(struct observer *observer, struct error **err)
{
	struct spans *spans = observer->state;
	cleanup_fd int listener = -1;
	uint16_t port = 0;
	int r = address_bind(observer->kind->argument, SOCK_STREAM, BACKLOG, &listener, &port, err);

	spans->opened = true;
	if (r == 0)
		r = make_scanner(observer, &spans->scanner, err);
	if (r == 0)
		r = start(observer, &listener, err);
	for (size_t i = 0; r == 0 && i < observer->count; i++)
		r = observer_bound(observer, i, port, err);
	return r;
}

static int report_measure(struct observer *observer, const char *measure, enum wire_phase phase, uint64_t value,
			  struct error **err)
{
	const struct spans *spans = observer->state;
	struct wire_record record = { .kind = WIRE_COUNT,
				      .value = (int64_t)value,
				      .connections = (int64_t)spans->requests,
				      .bytes = (int64_t)spans->bytes };

	return observer_record(observer, VIEW, measure, phase, &record, err);
}

static int spans_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	const struct spans *spans = observer->state;
	int r = drain(observer, phase == WIRE_AFTER, clock_deadline(DRAIN_MS), err);

	/* Half of a request may have held anything. */
	if (r == 0 && phase == WIRE_AFTER && spans->under_way > 0)
		r = observer_blind(observer, VIEW, WIRE_REASON_TIMEOUT, err);
	if (r == 0)
		r = report_measure(observer, "spans", phase, spans->counted, err);
	if (r == 0)
		r = report_measure(observer, "spans-error", phase, spans->errors, err);
	return r < 0 ? r : observer_report_counts(observer, VIEW, phase, err);
}

static void spans_close(struct observer *observer)
{
	struct spans *spans = observer->state;

	if (!spans->opened)
		return;
	if (spans->daemon)
		MHD_stop_daemon(spans->daemon);
	canary_scanner_free(spans->scanner);
	error_free(spans->error);
}

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const char *const types[] = {
	[FORMAT_NONE] = "",
	[FORMAT_JSON] = "application/json",
	[FORMAT_PROTOBUF] = "application/x-protobuf",
	[FORMAT_PROTOBUF + 1] = NULL,
};

static const struct sensor sensor = {
	.name = "observer-spans",
	.state_size = sizeof(struct spans),
	.open = spans_open,
	.report = spans_report,
	.close = spans_close,
};
