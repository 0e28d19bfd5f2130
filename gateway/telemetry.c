#include "gateway/telemetry.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "gateway/span_record.h"
#include "gateway/telemetry_status.h"

#define EXPORTER "otlp-export"
#define QUEUE_BYTES (256 * KIB)
#define SERVICE_BYTES 128

struct telemetry {
	struct child exporter;
	int spans; /* pipe to its standard input, non-blocking; -1 once closed */
	int status; /* pipe from its standard output, non-blocking */
	bool lost; /* nobody reads the spans any more */
	struct buf queue; /* whole records, but for what of the first was already written */
	uint64_t given; /* spans that the queue took */
	uint64_t refused; /* spans that it did not */
	struct telemetry_status said;
	bool ended; /* it says nothing more: what it did not export is dropped */
	struct loop *loop; /* that watches, or NULL */
};

/* ---- start ---- */

static bool is_numeric(const char *host, size_t length)
{
	unsigned char address[sizeof(struct in6_addr)];
	char text[INET6_ADDRSTRLEN + 2];

	if (length >= sizeof(text))
		return false;
	memcpy(text, host, length);
	text[length] = '\0';
	if (length < 2 || text[0] != '[' || text[length - 1] != ']')
		return inet_pton(AF_INET, text, address) == 1;
	text[length - 1] = '\0';
	return inet_pton(AF_INET6, text + 1, address) == 1;
}

/* Digits of a port, and behind them nothing or a path. */
static bool is_rest(const char *rest)
{
	long port;
	char *end;

	if (*rest == ':') {
		if (rest[1] < '1' || rest[1] > '9')
			return false;
		port = strtol(rest + 1, &end, 10);
		if (port > USHRT_MAX)
			return false;
		rest = end;
	}
	if (*rest != '\0' && *rest != '/')
		return false;
	for (; *rest; rest++)
		if (*rest <= ' ' || *rest >= 0x7f || strchr("?#\\", *rest))
			return false;
	return true;
}

static int check_endpoint(const char *endpoint, struct error **err)
{
	static const char scheme[] = "http://";
	const char *host = endpoint + sizeof(scheme) - 1;
	size_t length;

	if (strlen(endpoint) < TELEMETRY_URL_BYTES && strncmp(endpoint, scheme, sizeof(scheme) - 1) == 0) {
		length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
		if (length <= strlen(host) && is_numeric(host, length) && is_rest(host + length))
			return 0;
	}
	return error_set(err, ERROR_USAGE, "a collector's endpoint is as http://127.0.0.1:4318, with a numeric host");
}

static int start(struct telemetry *telemetry, const char *endpoint, const char *service, struct error **err)
{
	char path[PATH_MAX], program[] = EXPORTER, url[TELEMETRY_URL_BYTES], name[SERVICE_BYTES];
	char *argv[] = { program, url, name, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_fd int spans = -1, status = -1;

	snprintf(url, sizeof(url), "%s", endpoint);
	snprintf(name, sizeof(name), "%s", service);
	if (spawn_helper_path(EXPORTER, path, sizeof(path), err) < 0 || fd_pipe(&spans, &telemetry->spans, err) < 0 ||
	    fd_pipe(&telemetry->status, &status, err) < 0 || fd_nonblocking(telemetry->spans, true, err) < 0 ||
	    fd_nonblocking(telemetry->status, true, err) < 0)
		return -1;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = spans, .to = STDIN_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = status, .to = STDOUT_FILENO };
	return spawn(&options, &telemetry->exporter, err);
}

static void release(struct telemetry *telemetry)
{
	fd_close(&telemetry->spans);
	fd_close(&telemetry->status);
	child_end(&telemetry->exporter);
	buf_free(&telemetry->queue);
	free(telemetry);
}

int telemetry_open(const char *endpoint, const char *service, struct telemetry **out, struct error **err)
{
	struct telemetry *telemetry;
	int r = check_endpoint(endpoint, err);

	if (r < 0)
		return r;
	if (!*service || strlen(service) >= SERVICE_BYTES)
		return error_set(err, ERROR_USAGE, "a service's name has 1 to %d bytes", SERVICE_BYTES - 1);
	telemetry = calloc(1, sizeof(*telemetry));
	if (!telemetry)
		return error_set(err, ERROR_MEMORY, "no memory for telemetry");
	*telemetry = (struct telemetry){ .exporter = CHILD_NONE, .spans = -1, .status = -1, .queue = BUF(QUEUE_BYTES) };
	r = start(telemetry, endpoint, service, err);
	if (r < 0) {
		release(telemetry);
		return error_wrap(err, "the exporter of spans");
	}
	*out = telemetry;
	return 0;
}

/* ---- spans ---- */

/* Whatever is left in the queue comes to nobody. */
static void lose(struct telemetry *telemetry)
{
	telemetry->lost = true;
	buf_wipe(&telemetry->queue);
}

static void hand_over(struct telemetry *telemetry)
{
	struct buf *queue = &telemetry->queue;

	while (queue->length && !telemetry->lost) {
		ssize_t put = write(telemetry->spans, queue->data, queue->length);

		if (put > 0)
			buf_consume(queue, (size_t)put);
		else if (put < 0 && errno == EAGAIN)
			return;
		else if (put == 0 || errno != EINTR)
			lose(telemetry);
	}
}

void telemetry_span(struct telemetry *telemetry, const struct audit_entry *entry, int64_t start, int64_t end)
{
	if (telemetry->lost || !span_record_write(entry, start, end, &telemetry->queue)) {
		telemetry->refused++;
		return;
	}
	telemetry->given++;
	hand_over(telemetry);
}

/* Takes what the exporter said. A half record waits in the pipe's buffer for nobody: one is written at once or not. */
static void listen_to(struct telemetry *telemetry)
{
	struct telemetry_status said;

	while (!telemetry->ended) {
		ssize_t got = read(telemetry->status, &said, sizeof(said));

		if (got == (ssize_t)sizeof(said))
			telemetry->said = said;
		else if (got < 0 && errno == EINTR)
			continue;
		else if (got < 0 && errno == EAGAIN)
			return;
		else
			telemetry->ended = true;
	}
}

uint64_t telemetry_exported(const struct telemetry *telemetry)
{
	return telemetry->said.exported;
}

uint64_t telemetry_dropped(const struct telemetry *telemetry)
{
	return telemetry->refused +
	       (telemetry->ended ? telemetry->given - telemetry->said.exported : telemetry->said.dropped);
}

/* ---- the loop ---- */

static int on_spans(void *context, int fd, short revents, struct error **err)
{
	struct telemetry *telemetry = context;

	(void)fd;
	if (revents & (POLLERR | POLLHUP))
		lose(telemetry);
	hand_over(telemetry);
	return telemetry_watch(telemetry, telemetry->loop, err);
}

static int on_status(void *context, int fd, short revents, struct error **err)
{
	struct telemetry *telemetry = context;

	(void)fd;
	(void)revents;
	listen_to(telemetry);
	return telemetry_watch(telemetry, telemetry->loop, err);
}

int telemetry_watch(struct telemetry *telemetry, struct loop *loop, struct error **err)
{
	int r = 0;

	telemetry->loop = loop;
	if (telemetry->lost)
		loop_remove(loop, telemetry->spans);
	else
		r = loop_fd(loop, telemetry->spans, telemetry->queue.length ? POLLOUT : 0, on_spans, telemetry, err);
	if (r < 0)
		return r;
	if (!telemetry->ended)
		return loop_fd(loop, telemetry->status, POLLIN, on_status, telemetry, err);
	loop_remove(loop, telemetry->status);
	return 0;
}

/* ---- the end ---- */

/* Waits for the exporter's end of the status pipe to close, which is its own end. */
static void await_end(struct telemetry *telemetry, int64_t deadline)
{
	cleanup_error struct error *ignored = NULL;

	for (listen_to(telemetry); !telemetry->ended; listen_to(telemetry))
		if (fd_wait(telemetry->status, POLLIN, deadline, &ignored) != 1)
			return;
}

void telemetry_flush(struct telemetry *telemetry, int64_t deadline)
{
	cleanup_error struct error *ignored = NULL;

	if (!telemetry || telemetry->spans < 0)
		return;
	while (telemetry->queue.length && !telemetry->lost) {
		if (fd_wait(telemetry->spans, POLLOUT, deadline, &ignored) != 1)
			lose(telemetry);
		hand_over(telemetry);
	}
	fd_close(&telemetry->spans);
	telemetry->lost = true;
	await_end(telemetry, deadline);
	child_end(&telemetry->exporter);
	/* What it said last is in the pipe even when it was killed. */
	listen_to(telemetry);
	telemetry->ended = true;
}

void telemetry_close(struct telemetry *telemetry, int64_t deadline)
{
	if (!telemetry)
		return;
	telemetry_flush(telemetry, deadline);
	release(telemetry);
}
