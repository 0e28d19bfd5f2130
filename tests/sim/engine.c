/* The simulated engine's socket and connections. */
#include "tests/sim/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/engine_parts.h"

#define READ_BYTES (64 * KIB)
#define BACKLOG 16
#define EVENTS_BYTES (256 * KIB)

void sim_drop(struct sim_connection *connection)
{
	if (connection->fd < 0)
		return;
	loop_remove(connection->sim->loop, connection->fd);
	fd_close(&connection->fd);
	if (connection->stream && connection->container)
		sim_container_detach(connection->container);
	buf_free(&connection->in);
	buf_free(&connection->out);
	*connection = (struct sim_connection){ .sim = connection->sim, .fd = -1 };
}

static void flush(struct sim_connection *connection)
{
	while (connection->out.length > 0) {
		ssize_t put =
			send(connection->fd, connection->out.data, connection->out.length, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put <= 0) {
			sim_drop(connection);
			return;
		}
		buf_consume(&connection->out, (size_t)put);
	}
	if (connection->closing)
		sim_drop(connection);
}

static void log_request(const struct sim_connection *connection)
{
	int log = connection->sim->options.log;
	char line[2 * SIM_PATH_BYTES + 16];
	int length = snprintf(line, sizeof(line), "%s %s%s%s\n", connection->method, connection->path,
			      connection->query[0] ? "?" : "", connection->query);

	/* A log that nobody reads is no reason to stop. */
	if (log >= 0 && write(log, line, (size_t)length) < 0)
		connection->sim->options.log = -1;
}

static void accept_request(struct sim_connection *connection)
{
	const struct sim_row *row;

	log_request(connection);
	connection->row = row = sim_script_take(connection->sim, connection);
	connection->due = NEVER;
	if (row && row->hold)
		return;
	if (row && row->delay_ms) {
		connection->wait = SIM_WAIT_SERVE;
		connection->due = clock_deadline(row->delay_ms);
		sim_schedule(connection->sim);
		return;
	}
	sim_serve(connection);
}

static void take_requests(struct sim_connection *connection)
{
	while (connection->fd >= 0 && !connection->stream && !connection->closing && connection->request == 0) {
		switch (sim_parse(connection)) {
		case SIM_PARSED_MORE:
			return;
		case SIM_PARSED_GARBAGE:
			sim_drop(connection);
			return;
		case SIM_PARSED_REQUEST:
			accept_request(connection);
			break;
		}
	}
}

/* False when there is nothing more to come. */
static bool receive(struct sim_connection *connection)
{
	char *room = buf_reserve(&connection->in, READ_BYTES);
	ssize_t got = room ? recv(connection->fd, room, READ_BYTES, MSG_DONTWAIT) : 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0)
		return false;
	buf_commit(&connection->in, (size_t)got);
	return true;
}

static int on_connection(void *context, int fd, short revents, struct error **err)
{
	struct sim_connection *connection = context;

	(void)fd;
	(void)err;
	if ((revents & (POLLIN | POLLHUP | POLLERR)) && !receive(connection)) {
		sim_drop(connection);
		return 0;
	}
	take_requests(connection);
	sim_settle(connection);
	return 0;
}

void sim_settle(struct sim_connection *connection)
{
	cleanup_error struct error *err = NULL;
	short events = POLLIN;

	if (connection->fd >= 0)
		flush(connection);
	if (connection->fd < 0 || connection->stream)
		return;
	if (connection->out.length > 0)
		events |= POLLOUT;
	if (loop_fd(connection->sim->loop, connection->fd, events, on_connection, connection, &err) < 0)
		sim_drop(connection);
}

static int on_listener(void *context, int fd, short revents, struct error **err)
{
	struct sim *sim = context;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)revents;
	(void)err;
	if (client < 0)
		return 0;
	for (size_t i = 0; i < SIM_CONNECTIONS; i++) {
		struct sim_connection *connection = &sim->connections[i];

		if (connection->fd >= 0)
			continue;
		*connection = (struct sim_connection){
			.sim = sim,
			.fd = client,
			.in = BUF(SIM_REQUEST_BYTES),
			.out = BUF(2 * SIM_ANSWER_BYTES),
			.due = NEVER,
		};
		sim_settle(connection);
		return 0;
	}
	fd_close(&client);
	return 0;
}

/* ---- what is due ---- */

static int on_due(void *context, struct error **err)
{
	struct sim *sim = context;
	int64_t now = clock_now();

	(void)err;
	for (size_t i = 0; i < SIM_CONNECTIONS; i++) {
		struct sim_connection *connection = &sim->connections[i];

		if (connection->fd < 0 || connection->wait != SIM_WAIT_SERVE || connection->due > now)
			continue;
		connection->wait = SIM_WAIT_NONE;
		connection->due = NEVER;
		sim_serve(connection);
		take_requests(connection);
		sim_settle(connection);
	}
	for (size_t i = 0; i < SIM_CONTAINERS; i++) {
		struct sim_container *container = &sim->containers[i];

		if (container->state != SIM_RUNNING || container->kill_at > now)
			continue;
		container->kill_at = NEVER;
		sim_container_signal(container, SIGKILL);
	}
	sim_schedule(sim);
	return 0;
}

void sim_schedule(struct sim *sim)
{
	int64_t next = NEVER;

	for (size_t i = 0; i < SIM_CONNECTIONS; i++)
		if (sim->connections[i].fd >= 0 && sim->connections[i].wait == SIM_WAIT_SERVE &&
		    sim->connections[i].due < next)
			next = sim->connections[i].due;
	for (size_t i = 0; i < SIM_CONTAINERS; i++)
		if (sim->containers[i].state == SIM_RUNNING && sim->containers[i].kill_at < next)
			next = sim->containers[i].kill_at;
	loop_timer(sim->loop, SIM_DUE_TIMER, next, on_due, sim);
}

/* ---- the whole ---- */

static int listen_at(const char *path, int *out, struct error **err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERROR_USAGE, "the path of the socket is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0)
		return error_errno(err, errno, "listening on the socket");
	*out = steal_fd(&fd);
	return 0;
}

/* In a tree that is mounted nowhere the kernel knows the agent as "/agent", as in a container. */
static int open_agent(const char *path, int *out, struct error **err)
{
	const char *name = strrchr(path, '/');
	char folder[PATH_MAX];
	cleanup_fd int tree = -1;

	if (!name)
		return error_set(err, ERROR_USAGE, "the agent's path names its folder");
	snprintf(folder, sizeof(folder), "%.*s/", (int)(name - path), path);
	tree = open_tree(AT_FDCWD, folder, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return error_errno(err, errno, "the agent's folder");
	*out = openat(tree, name + 1, O_RDONLY | O_CLOEXEC);
	return *out < 0 ? error_errno(err, errno, "the agent") : 0;
}

int sim_open(struct loop *loop, const struct sim_options *options, struct sim **out, struct error **err)
{
	cleanup_sim struct sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return error_set(err, ERROR_MEMORY, "no memory for a simulated engine");
	sim->loop = loop;
	sim->options = *options;
	sim->listener = -1;
	sim->program = -1;
	sim->events = (struct buf)BUF(EVENTS_BYTES);
	for (size_t i = 0; i < SIM_CONNECTIONS; i++)
		sim->connections[i] = (struct sim_connection){ .sim = sim, .fd = -1 };
	if (!sim_answer(sim, "unknown"))
		return error_set(err, ERROR_INPUT, "the recorded answers are not there: start in the project's folder");
	if ((options->script && sim_script_read(sim, options->script, err) < 0) ||
	    open_agent(options->agent, &sim->program, err) < 0 || listen_at(options->socket, &sim->listener, err) < 0 ||
	    loop_fd(loop, sim->listener, POLLIN, on_listener, sim, err) < 0)
		return -1;
	*out = steal_pointer(&sim);
	return 0;
}

void sim_close(struct sim *sim)
{
	if (!sim)
		return;
	for (size_t i = 0; i < SIM_CONTAINERS; i++)
		if (sim->containers[i].state != SIM_FREE)
			sim_container_free(&sim->containers[i]);
	for (size_t i = 0; i < SIM_CONNECTIONS; i++)
		sim_drop(&sim->connections[i]);
	if (sim->listener >= 0) {
		loop_remove(sim->loop, sim->listener);
		fd_close(&sim->listener);
		unlink(sim->options.socket);
	}
	fd_close(&sim->program);
	loop_timer(sim->loop, SIM_DUE_TIMER, NEVER, NULL, NULL);
	for (size_t i = 0; i < SIM_DOCUMENTS; i++)
		json_free(sim->documents[i].json);
	json_free(sim->script);
	buf_free(&sim->events);
	free(sim);
}
