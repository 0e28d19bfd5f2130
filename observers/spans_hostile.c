/*
 * libexec/hostile-collector: a collector of spans that takes none. Each request is answered with status 500 and a body
 * that bears the text on standard input, and noted in the sink. Says its port on standard output. A fixture: no session
 * of a user's runs it.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/canary.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "observers/address.h"
#include "observers/sink.h"

#define BACKLOG 16
#define TURN_MS 100
#define READ_MS 2000
#define WRITE_MS 2000
#define BODY_BYTES 256
#define EXIT_ERROR 3

struct hostile {
	char body[BODY_BYTES];
	struct error *error; /* of a callback */
};

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *bytes, size_t *length, void **own)
{
	struct hostile *hostile = context;
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)url;
	(void)method;
	(void)version;
	(void)bytes;
	/* The head alone comes first; then its body, in pieces. */
	if (!*own) {
		*own = hostile;
		return MHD_YES;
	}
	if (*length) {
		*length = 0;
		return MHD_YES;
	}
	if (!hostile->error && sink_append(SINK_FD, SINK_PEER_ACTED, (struct json_span){ .bytes = "{}", .length = 2 },
					   &hostile->error) < 0)
		return MHD_NO;
	response = MHD_create_response_from_buffer(strlen(hostile->body), hostile->body, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	result = MHD_queue_response(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, response);
	MHD_destroy_response(response);
	return result;
}

static int say_port(uint16_t port, struct error **err)
{
	char line[16];
	int length = snprintf(line, sizeof(line), "%u\n", port);

	return fd_write_all(STDOUT_FILENO, line, (size_t)length, clock_deadline(WRITE_MS), err);
}

static int serve(struct MHD_Daemon *daemon, struct hostile *hostile, struct error **err)
{
	int64_t end = clock_deadline(HELPER_LIFE_MS);

	while (clock_now() < end) {
		if (MHD_run_wait(daemon, TURN_MS) != MHD_YES)
			return error_set(err, ERROR_INTERNAL, "libmicrohttpd cannot go on");
		if (hostile->error) {
			*err = steal_pointer(&hostile->error);
			return -1;
		}
	}
	return error_set(err, ERROR_TIMEOUT, "nobody ended it");
}

static int run(struct hostile *hostile, struct error **err)
{
	cleanup_buf struct buf text = BUF(CANARY_LENGTH);
	cleanup_fd int listener = -1;
	struct MHD_Daemon *daemon;
	uint16_t port = 0;
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = fd_read_all(STDIN_FILENO, &text, clock_deadline(READ_MS), err);
	if (r == 0)
		r = address_bind("127.0.0.1", SOCK_STREAM, BACKLOG, &listener, &port, err);
	if (r < 0)
		return r;
	snprintf(hostile->body, sizeof(hostile->body), "refused: %.*s", (int)text.length, buf_string(&text));
	daemon = MHD_start_daemon(MHD_NO_FLAG, 0, NULL, NULL, on_request, hostile, MHD_OPTION_LISTEN_SOCKET, listener,
				  MHD_OPTION_END);
	if (!daemon)
		return error_set(err, ERROR_INTERNAL, "libmicrohttpd does not start");
	(void)steal_fd(&listener);
	r = say_port(port, err);
	if (r == 0)
		r = serve(daemon, hostile, err);
	MHD_stop_daemon(daemon);
	return r;
}

int main(void)
{
	cleanup_error struct error *err = NULL;
	struct hostile hostile = { .error = NULL };

	if (run(&hostile, &err) == 0)
		return 0;
	fprintf(stderr, "hostile-collector: %s\n", error_text(err));
	return EXIT_ERROR;
}
