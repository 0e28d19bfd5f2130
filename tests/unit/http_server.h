/*
 * A scripted HTTP server on a socket, for tests of clients whose calls block: the test binary runs itself again with
 * the name of a table of routes. Each request is written to a log, which the test reads, before it is answered.
 */
#ifndef HARNESS_TESTS_UNIT_HTTP_SERVER_H
#define HARNESS_TESTS_UNIT_HTTP_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"

struct route {
	const char *request; /* method and target, exactly; "" ends a table and answers whatever else comes */
	const char *holds; /* what the request must hold beside, or NULL */
	const char *answer; /* all its bytes; NULL: none, ever */
	const char *after; /* the rest is sent once this request came (or what holds this), or at once when NULL */
	const char *rest;
	bool close; /* the connection afterwards */
	bool echo; /* afterwards whatever comes is sent back, and the end of it is the end */
};

#define OK_HEAD(length) "HTTP/1.1 200 OK\r\nContent-Length: " #length "\r\n\r\n"

/* ---- the server's side ---- */

#define SERVER_LISTENER 3
#define SERVER_LOG 4
#define SERVER_CONNECTIONS 16
#define SERVER_LOGGED_BODY 2048

struct server_connection {
	int fd;
	struct buf in;
	const struct route *held;
	bool echo;
};

struct server_state {
	const struct route *routes;
	bool requested[64];
	struct server_connection connections[SERVER_CONNECTIONS];
};

static inline void server_send(int fd, const char *text)
{
	struct error *err = NULL;

	if (text && fd_write_all(fd, text, strlen(text), clock_deadline(5000), &err) < 0)
		error_free(err);
}

static inline void server_close(struct server_connection *connection)
{
	fd_close(&connection->fd);
	buf_free(&connection->in);
	connection->held = NULL;
	connection->echo = false;
}

static inline void server_complete(struct server_connection *connection, const struct route *route)
{
	connection->held = NULL;
	server_send(connection->fd, route->rest);
	connection->echo = route->echo;
	if (route->close)
		server_close(connection);
}

/* The row of a request line, which the last row is when no other fits. */
static inline size_t server_find(const struct route *routes, const char *line)
{
	size_t i;

	for (i = 0; *routes[i].request; i++) {
		size_t length = strlen(routes[i].request);

		if (strncmp(line, routes[i].request, length) == 0 && strncmp(line + length, " HTTP/1.1\r\n", 11) == 0 &&
		    (!routes[i].holds || strstr(line, routes[i].holds)))
			break;
	}
	return i;
}

static inline bool server_came(const struct server_state *state, const char *request)
{
	for (size_t i = 0; *state->routes[i].request; i++) {
		const struct route *route = &state->routes[i];

		if (strcmp(route->holds ? route->holds : route->request, request) == 0)
			return state->requested[i];
	}
	return false;
}

static inline void server_answer(struct server_state *state, struct server_connection *connection)
{
	size_t row = server_find(state->routes, connection->in.data);
	const struct route *route = &state->routes[row];

	state->requested[row] = true;
	for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
		struct server_connection *other = &state->connections[i];

		if (other->fd >= 0 && other->held && server_came(state, other->held->after))
			server_complete(other, other->held);
	}
	if (!route->answer && !route->close)
		return;
	server_send(connection->fd, route->answer);
	if (route->after && !server_came(state, route->after))
		connection->held = route;
	else
		server_complete(connection, route);
}

/* How long the request at the start of `in` is; 0 while it is not whole. *head is the length of its head. */
static inline size_t server_request_length(const struct buf *in, size_t *head)
{
	const char *end = in->length ? strstr(in->data, "\r\n\r\n") : NULL;
	const char *length = end ? strcasestr(in->data, "\r\nContent-Length:") : NULL;
	size_t whole;

	if (!end)
		return 0;
	*head = (size_t)(end - in->data) + 4;
	whole = *head + (length && length < end ? strtoul(length + 17, NULL, 10) : 0);
	return in->length >= whole ? whole : 0;
}

static inline void server_requests(struct server_state *state, struct server_connection *connection)
{
	size_t head = 0, whole;

	while (connection->fd >= 0 && (whole = server_request_length(&connection->in, &head)) > 0) {
		size_t logged = whole - head > SERVER_LOGGED_BODY ? head + SERVER_LOGGED_BODY : whole;

		if (write(SERVER_LOG, connection->in.data, logged) < 0 || write(SERVER_LOG, "\n", 1) < 0)
			return;
		server_answer(state, connection);
		if (connection->fd >= 0)
			buf_consume(&connection->in, whole);
	}
}

static inline void server_read(struct server_state *state, struct server_connection *connection)
{
	char *room = buf_reserve(&connection->in, 64 * KIB);
	ssize_t got = room ? read(connection->fd, room, 64 * KIB) : -1;

	if (got <= 0) {
		server_close(connection);
		return;
	}
	buf_commit(&connection->in, (size_t)got);
	if (connection->echo) {
		server_send(connection->fd, connection->in.data);
		buf_consume(&connection->in, connection->in.length);
	} else {
		server_requests(state, connection);
	}
}

static inline void server_accept(struct server_state *state)
{
	int fd = accept4(SERVER_LISTENER, NULL, NULL, SOCK_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < SERVER_CONNECTIONS; i++) {
		if (state->connections[i].fd < 0) {
			state->connections[i].fd = fd;
			return;
		}
	}
	fd_close(&fd);
}

/* Serves until it is killed. */
static inline int server_run(const struct route *routes)
{
	struct server_state state = { .routes = routes };
	struct pollfd polled[SERVER_CONNECTIONS + 1] = { { .fd = SERVER_LISTENER, .events = POLLIN } };

	for (size_t i = 0; i < SERVER_CONNECTIONS; i++)
		state.connections[i] = (struct server_connection){ .fd = -1, .in = BUF(8 * MIB) };
	for (;;) {
		for (size_t i = 0; i < SERVER_CONNECTIONS; i++)
			polled[i + 1] = (struct pollfd){ .fd = state.connections[i].fd, .events = POLLIN };
		if (poll(polled, SERVER_CONNECTIONS + 1, -1) < 0)
			return 1;
		if (polled[0].revents)
			server_accept(&state);
		for (size_t i = 0; i < SERVER_CONNECTIONS; i++)
			if (polled[i + 1].fd >= 0 && polled[i + 1].revents && state.connections[i].fd >= 0)
				server_read(&state, &state.connections[i]);
	}
}

/* ---- the test's side ---- */

struct server {
	struct child child;
	char folder[32];
	char path[64]; /* of the Unix socket; "" when on TCP */
	char base[64]; /* "http://127.0.0.1:PORT" when on TCP */
	int log;
	struct buf seen;
};
#define SERVER                                                                                                         \
	{                                                                                                              \
		.child = CHILD_NONE, .log = -1, .seen = BUF(1 * MIB),                                                  \
	}

static inline void server_stop(struct server *server)
{
	child_end(&server->child);
	fd_close(&server->log);
	buf_free(&server->seen);
	if (*server->path)
		unlink(server->path);
	if (*server->folder)
		rmdir(server->folder);
}
#define cleanup_server __attribute__((cleanup(server_stop)))

static inline int server_listen_unix(struct server *server)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(server->folder, sizeof(server->folder), "/tmp/harness-test-XXXXXX");
	if (fd < 0 || !mkdtemp(server->folder))
		return -1;
	snprintf(server->path, sizeof(server->path), "%s/s", server->folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 16) < 0)
		fd_close(&fd);
	return fd;
}

static inline int server_listen_tcp(struct server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		fd_close(&fd);
	snprintf(server->base, sizeof(server->base), "http://127.0.0.1:%u", ntohs(address.sin_port));
	return fd;
}

/* Starts this binary again with `table` as its only argument: main() gives that to server_run(). */
static inline bool server_start(struct server *server, bool tcp, const char *table)
{
	cleanup_error struct error *err = NULL;
	cleanup_fd int listener = tcp ? server_listen_tcp(server) : server_listen_unix(server);
	cleanup_fd int log = -1;
	char self[PATH_MAX] = "", name[16];
	char *argv[] = { self, name, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = self, .argv = argv };

	snprintf(name, sizeof(name), "%s", table);
	if (listener < 0 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    fd_pipe(&server->log, &log, &err) < 0)
		return false;
	options.fds[0] = (struct spawn_fd){ .from = listener, .to = SERVER_LISTENER };
	options.fds[1] = (struct spawn_fd){ .from = log, .to = SERVER_LOG };
	options.fds[2] = (struct spawn_fd){ .from = 2, .to = 2 };
	options.fds_count = 3;
	if (spawn(&options, &server->child, &err) < 0) {
		fprintf(stderr, "server: %s\n", error_text(err));
		return false;
	}
	return true;
}

/* Whether `part` is in what the server has logged, or comes within two seconds. */
static inline bool server_saw(struct server *server, const char *part)
{
	int64_t deadline = clock_deadline(2000);

	while (!strstr(buf_string(&server->seen), part)) {
		cleanup_error struct error *err = NULL;
		char *room = buf_reserve(&server->seen, 4096);
		ssize_t got;

		if (!room || fd_wait(server->log, POLLIN, deadline, &err) != 1)
			return false;
		got = read(server->log, room, 4096);
		if (got <= 0)
			return false;
		buf_commit(&server->seen, (size_t)got);
	}
	return true;
}

/* The same for what is logged by now. */
static inline bool server_saw_not(struct server *server, const char *part)
{
	struct pollfd polled = { .fd = server->log, .events = POLLIN };

	while (poll(&polled, 1, 0) > 0) {
		char *room = buf_reserve(&server->seen, 4096);
		ssize_t got = room ? read(server->log, room, 4096) : -1;

		if (got <= 0)
			break;
		buf_commit(&server->seen, (size_t)got);
	}
	return !strstr(buf_string(&server->seen), part);
}

#endif
