#include "mcp/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mcp/http_exchange.h"

#define BACKLOG 1024
#define CONNECTION_BYTES (32 * KIB) /* libmicrohttpd's, of each: a longer head is refused */
#define ENDED_AT_ONCE 64 /* ends of connections that one round takes in */
/* While no other connection can be accepted, one that asks for nothing goes sooner. */
#define PRESSED_MS 1000

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_address(const struct mcp_http_options *options, union address *out, socklen_t *length,
			 struct error **err)
{
	if (strcmp(options->address, "127.0.0.1") == 0) {
		out->v4 = (struct sockaddr_in){ .sin_family = AF_INET,
						.sin_port = htons(options->port),
						.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		*length = sizeof(out->v4);
		return 0;
	}
	if (strcmp(options->address, "::1") == 0) {
		out->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
						 .sin6_port = htons(options->port),
						 .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		*length = sizeof(out->v6);
		return 0;
	}
	return error_set(err, ERROR_REFUSED, "an MCP server listens on 127.0.0.1 or ::1 alone");
}

static int open_listener(const struct mcp_http_options *options, int *out, uint16_t *port, struct error **err)
{
	cleanup_fd int fd = -1;
	union address address;
	socklen_t length;
	int on = 1, r = parse_address(options, &address, &length, err);

	if (r < 0)
		return r;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, &address.any, length) < 0 || listen(fd, BACKLOG) < 0 || getsockname(fd, &address.any, &length) < 0)
		return error_errno(err, errno, "listening for MCP over HTTP");
	*port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
	*out = steal_fd(&fd);
	return 0;
}

/* ---- connections ---- */

static void *add_connection(struct mcp_http_server *server, int fd)
{
	struct http_connection *peer = calloc(1, sizeof(*peer));
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = peer };

	if (!peer || epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(peer);
		return NULL;
	}
	*peer = (struct http_connection){ .next = server->connections, .fd = fd, .since = clock_now() };
	if (peer->next)
		peer->next->previous = peer;
	server->connections = peer;
	server->connections_count++;
	return peer;
}

static void remove_connection(struct mcp_http_server *server, struct http_connection *peer)
{
	epoll_ctl(server->epoll, EPOLL_CTL_DEL, peer->fd, NULL);
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		server->connections = peer->next;
	if (peer->next)
		peer->next->previous = peer->previous;
	server->connections_count--;
	free(peer);
}

/* A connection that could not be added has no context, and no request of it is served. */
static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode event)
{
	if (event == MHD_CONNECTION_NOTIFY_STARTED)
		*socket_context = add_connection(
			context, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
	else if (*socket_context)
		remove_connection(context, *socket_context);
}

static int64_t deadline_of(const struct mcp_http_server *server, const struct http_connection *peer)
{
	int64_t limit = server->request_ms;

	if (peer->phase == HTTP_WORKS)
		return NEVER;
	if (peer->phase == HTTP_IDLE && server->connections_count >= MCP_HTTP_CONNECTIONS && limit > PRESSED_MS)
		limit = PRESSED_MS;
	return clock_add(peer->since, limit * NS_PER_MS);
}

/* Ends connections whose time is over, and returns when the next one's will be. A shut down socket is one that
 * libmicrohttpd finds closed. It overlooks an end that came together with bytes: shut down for reading, which loses
 * none of them, the socket is looked at again. */
static int64_t expire(struct mcp_http_server *server)
{
	int64_t now = clock_now(), nearest = NEVER;

	for (struct http_connection *peer = server->connections; peer; peer = peer->next) {
		int64_t deadline = deadline_of(server, peer);

		if (deadline <= now) {
			shutdown(peer->fd, SHUT_RDWR);
			peer->since = now;
		} else if (peer->ended && (peer->phase == HTTP_IDLE || peer->phase == HTTP_SENDS)) {
			shutdown(peer->fd, SHUT_RD);
			nearest = now;
		} else if (deadline < nearest) {
			nearest = deadline;
		}
	}
	return nearest;
}

/* ---- the loop ---- */

static int take_ends(struct mcp_http_server *server, struct error **err)
{
	struct epoll_event events[ENDED_AT_ONCE];
	int count = epoll_wait(server->epoll, events, ENDED_AT_ONCE, 0);

	if (count < 0 && errno != EINTR)
		return error_errno(err, errno, "epoll_wait");
	for (int i = 0; i < count; i++) {
		struct http_connection *peer = events[i].data.ptr;

		/* The row without one is libmicrohttpd's own. */
		if (!peer)
			continue;
		peer->ended = true;
		if (peer->exchange && peer->exchange->suspended)
			http_lost(peer->exchange);
	}
	return 0;
}

static int fail(struct mcp_http_server *server, struct error **err)
{
	error_keep_first(err, &server->failure);
	return -(int)error_code(*err);
}

static int on_timer(void *context, struct error **err);

void http_stir(struct mcp_http_server *server)
{
	server->stirred = true;
	if (server->loop)
		loop_timer(server->loop, server->timer, clock_now(), on_timer, server);
}

static int dispatch(struct mcp_http_server *server, struct error **err)
{
	bool full = server->connections_count >= MCP_HTTP_CONNECTIONS;
	MHD_UNSIGNED_LONG_LONG pending;
	int64_t next;
	int r;

	server->stirred = false;
	r = take_ends(server, err);
	if (r < 0)
		return r;
	if (MHD_run(server->daemon) != MHD_YES)
		return error_set(err, ERROR_SYSTEM, "serving MCP over HTTP failed");
	if (server->failure)
		return fail(server, err);
	next = expire(server);
	/* It has more to do, or may accept again what waited while it was full. */
	if (server->stirred || (MHD_get_timeout(server->daemon, &pending) == MHD_YES && pending == 0) ||
	    (full && server->connections_count < MCP_HTTP_CONNECTIONS))
		next = clock_now();
	loop_timer(server->loop, server->timer, next, on_timer, server);
	return 0;
}

static int on_timer(void *context, struct error **err)
{
	return dispatch(context, err);
}

static int on_ready(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return dispatch(context, err);
}

int mcp_http_server_attach(struct mcp_http_server *server, struct loop *loop, unsigned slot, struct error **err)
{
	int r = loop_fd(loop, server->epoll, POLLIN, on_ready, server, err);

	if (r < 0)
		return r;
	server->loop = loop;
	server->timer = slot;
	loop_timer(loop, slot, clock_now(), on_timer, server);
	return 0;
}

/* ---- life ---- */

static int start(struct mcp_http_server *server, int listener, struct error **err)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };

	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_on_request, server,
		MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MCP_HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
		MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!server->daemon) {
		/* On some of its ways out it closed it. */
		fd_close(&listener);
		return error_set(err, ERROR_SYSTEM, "libmicrohttpd does not start");
	}
	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD,
		      MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &event) < 0)
		return error_errno(err, errno, "epoll");
	return 0;
}

static char *copy_token(const char *token)
{
	return strdup(token ? token : "");
}

int mcp_http_server_new(const struct mcp_http_options *options, struct mcp_http_server **out, struct error **err)
{
	cleanup_mcp_http_server struct mcp_http_server *server = calloc(1, sizeof(*server));
	int listener = -1, r;

	if (!server)
		return error_set(err, ERROR_MEMORY, "no memory for an MCP server");
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll < 0)
		return error_errno(err, errno, "epoll_create1");
	server->bearer = copy_token(options->bearer);
	server->operator_token = copy_token(options->operator_token);
	if (!server->bearer || !server->operator_token)
		return error_set(err, ERROR_MEMORY, "no memory for an MCP server");
	server->gate = (struct http_gate){ .bearer = server->bearer,
					   .operator_token = server->operator_token,
					   .routes = options->routes };
	server->context = options->context;
	server->answer_max = options->answer_max;
	server->request_ms = options->request_ms > 0 ? options->request_ms : MCP_HTTP_REQUEST_MS;
	server->open.transport = &http_transport;
	server->open.service = (struct mcp_service){ .name = options->name,
						     .version = options->version,
						     .handlers = options->handlers,
						     .context = options->context,
						     .cancelled = options->cancelled };
	r = open_listener(options, &listener, &server->port, err);
	if (r == 0)
		r = start(server, listener, err);
	if (r == 0)
		*out = steal_pointer(&server);
	return r;
}

static void free_token(char *token)
{
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
}

void mcp_http_server_free(struct mcp_http_server *server)
{
	if (!server)
		return;
	server->ending = true;
	if (server->loop) {
		loop_remove(server->loop, server->epoll);
		loop_timer(server->loop, server->timer, NEVER, NULL, NULL);
		server->loop = NULL;
	}
	http_resume_all(server);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	mcp_requests_free(&server->open);
	http_free_all(server);
	fd_close(&server->epoll);
	error_free(server->failure);
	free_token(server->bearer);
	free_token(server->operator_token);
	free(server);
}

uint16_t mcp_http_server_port(const struct mcp_http_server *server)
{
	return server->port;
}
