/*
 * The simulated container: the agent as a plain child, between the attached client's stream and its pipes. What a
 * client does not read stops the agent, as it does with a real engine; and once the agent is dead, the container counts
 * as running until its output was taken or its client is gone.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/canary.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "tests/sim/engine_parts.h"

#define READ_BYTES (16 * KIB)
#define FRAME_HEADER 8
#define ARGUMENTS_MAX 16

enum { STDOUT_STREAM = 1, STDERR_STREAM = 2 };

static void settle(struct sim_container *container);

/* ---- making and finding ---- */

static void draw_id(char id[CONTAINER_ID_MAX])
{
	cleanup_error struct error *ignored = NULL;
	struct canary random = { .text = "" };

	(void)!canary_new(&random, &ignored);
	hash_bytes(random.text, strlen(random.text), id);
}

struct sim_container *sim_container_new(struct sim *sim, const char *name, struct json_span body)
{
	cleanup_error struct error *ignored = NULL;
	struct sim_container *container = sim->containers;

	while (container < sim->containers + SIM_CONTAINERS && container->state != SIM_FREE)
		container++;
	if (container == sim->containers + SIM_CONTAINERS)
		return NULL;
	*container = (struct sim_container){
		.sim = sim,
		.child = CHILD_NONE,
		.in = -1,
		.out = -1,
		.err = -1,
		.kill_at = NEVER,
		.to_agent = BUF(2 * SIM_STREAM_BYTES),
		.to_client = BUF(2 * SIM_STREAM_BYTES),
	};
	if (json_parse(body.bytes, body.length, JSON_ENGINE_DEPTH, &container->body, &ignored) < 0)
		return NULL;
	container->state = SIM_CREATED;
	draw_id(container->id);
	snprintf(container->name, sizeof(container->name), "%s", name);
	return container;
}

struct sim_container *sim_container_find(struct sim *sim, const char *id, size_t length)
{
	for (size_t i = 0; i < SIM_CONTAINERS && length > 0; i++) {
		struct sim_container *container = &sim->containers[i];

		if (container->state == SIM_FREE)
			continue;
		if (strncmp(container->id, id, length) == 0 ||
		    (strlen(container->name) == length && strncmp(container->name, id, length) == 0))
			return container;
	}
	return NULL;
}

static void close_watched(struct sim_container *container, int *fd)
{
	if (*fd < 0)
		return;
	loop_remove(container->sim->loop, *fd);
	fd_close(fd);
}

void sim_container_free(struct sim_container *container)
{
	struct sim_connection *stream = container->stream;

	container->stream = NULL;
	if (stream) {
		stream->container = NULL;
		sim_drop(stream);
	}
	if (container->child.pid) {
		sim_cgroup_kill(container->id);
		loop_remove(container->sim->loop, container->child.pidfd);
		child_end(&container->child);
	}
	close_watched(container, &container->in);
	close_watched(container, &container->out);
	close_watched(container, &container->err);
	sim_cgroup_remove(container->id);
	json_free(container->body);
	buf_wipe(&container->to_agent);
	buf_wipe(&container->to_client);
	*container = (struct sim_container){ .state = SIM_FREE, .child = CHILD_NONE, .in = -1, .out = -1, .err = -1 };
}

/* ---- streams ---- */

static int on_event(void *context, int fd, short revents, struct error **err);

static bool watch(struct sim_container *container, int fd, short events)
{
	cleanup_error struct error *ignored = NULL;

	return fd < 0 || loop_fd(container->sim->loop, fd, events, on_event, container, &ignored) == 0;
}

static bool room_for_client(const struct sim_container *container)
{
	return container->to_client.length < SIM_STREAM_BYTES;
}

/* One read, framed; without a client it goes nowhere. */
static void read_output(struct sim_container *container, int *fd, unsigned char stream)
{
	char bytes[READ_BYTES];
	ssize_t got = read(*fd, bytes, sizeof(bytes));
	unsigned char header[FRAME_HEADER] = { stream };

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close_watched(container, fd);
		return;
	}
	if (!container->stream)
		return;
	for (int i = 0; i < 4; i++)
		header[FRAME_HEADER - 1 - i] = (unsigned char)((size_t)got >> (8 * i));
	buf_add(&container->to_client, header, sizeof(header));
	buf_add(&container->to_client, bytes, (size_t)got);
	explicit_bzero(bytes, (size_t)got);
}

static void write_client(struct sim_container *container)
{
	while (container->stream && container->to_client.length) {
		ssize_t put = send(container->stream->fd, container->to_client.data, container->to_client.length,
				   MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put <= 0) {
			sim_drop(container->stream);
			return;
		}
		buf_consume(&container->to_client, (size_t)put);
	}
}

static void write_agent(struct sim_container *container)
{
	while (container->in >= 0 && container->to_agent.length) {
		ssize_t put = write(container->in, container->to_agent.data, container->to_agent.length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put <= 0) {
			close_watched(container, &container->in);
			return;
		}
		buf_consume(&container->to_agent, (size_t)put);
	}
	if (container->half_closed && container->to_agent.length == 0)
		close_watched(container, &container->in);
}

static void read_client(struct sim_container *container)
{
	struct buf *to = &container->to_agent;
	char *room = buf_reserve(to, READ_BYTES);
	ssize_t got = room ? recv(container->stream->fd, room, READ_BYTES, MSG_DONTWAIT) : 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0)
		buf_commit(to, (size_t)got);
	else
		container->half_closed = true;
}

/* Its input ends with its client, as StdinOnce says; its output goes nowhere from now on. */
void sim_container_detach(struct sim_container *container)
{
	container->stream = NULL;
	container->half_closed = true;
	buf_wipe(&container->to_client);
	settle(container);
}

static int on_client(void *context, int fd, short revents, struct error **err)
{
	struct sim_container *container = context;

	(void)fd;
	(void)err;
	if (revents & (POLLHUP | POLLERR)) {
		sim_drop(container->stream);
		return 0;
	}
	if (revents & POLLIN)
		read_client(container);
	settle(container);
	return 0;
}

static bool watch_client(struct sim_container *container)
{
	cleanup_error struct error *ignored = NULL;
	bool reads = container->state == SIM_RUNNING && !container->half_closed &&
		     container->to_agent.length < SIM_STREAM_BYTES;
	short events = (short)((reads ? POLLIN : 0) | (container->to_client.length ? POLLOUT : 0));

	return loop_fd(container->sim->loop, container->stream->fd, events, on_client, container, &ignored) == 0;
}

static bool watch_all(struct sim_container *container)
{
	short output = !container->stream || room_for_client(container) ? POLLIN : 0;

	/* A pipe whose other end is closed is ready for ever: what may not be read now is not watched. */
	for (int *fd = &container->out; fd; fd = fd == &container->out ? &container->err : NULL) {
		if (*fd >= 0 && !output)
			loop_remove(container->sim->loop, *fd);
		else if (!watch(container, *fd, POLLIN))
			return false;
	}
	if (container->in >= 0 && !watch(container, container->in, container->to_agent.length ? POLLOUT : 0))
		return false;
	return !container->stream || watch_client(container);
}

static void leave(struct sim_container *container)
{
	struct sim_connection *stream = container->stream;

	container->state = SIM_EXITED;
	container->stream = NULL;
	if (stream) {
		stream->container = NULL;
		sim_drop(stream);
	}
	sim_event(container, "die");
	sim_exited(container);
}

/* Moves what can be moved, and watches for the rest. */
static void settle(struct sim_container *container)
{
	write_agent(container);
	write_client(container);
	/* A client that went away just now has settled it already. */
	if (container->state == SIM_EXITED || container->state == SIM_FREE)
		return;
	if (container->state == SIM_SETTLING && container->out < 0 && container->err < 0 &&
	    (!container->stream || container->to_client.length == 0)) {
		leave(container);
		return;
	}
	if (!watch_all(container) && container->stream)
		sim_drop(container->stream);
}

static void reap(struct sim_container *container)
{
	cleanup_error struct error *ignored = NULL;
	int pidfd = container->child.pidfd, status = 0;

	sim_cgroup_kill(container->id);
	loop_remove(container->sim->loop, pidfd);
	if (child_wait(&container->child, clock_deadline(1000), &status, &ignored) < 0)
		child_end(&container->child);
	container->exit_code = status;
	container->state = SIM_SETTLING;
	close_watched(container, &container->in);
}

static int on_event(void *context, int fd, short revents, struct error **err)
{
	struct sim_container *container = context;

	(void)err;
	if (fd == container->child.pidfd)
		reap(container);
	else if (fd == container->out)
		read_output(container, &container->out, STDOUT_STREAM);
	else if (fd == container->err)
		read_output(container, &container->err, STDERR_STREAM);
	else if (fd == container->in && (revents & (POLLERR | POLLHUP)))
		close_watched(container, &container->in);
	settle(container);
	return 0;
}

void sim_container_attach(struct sim_container *container, struct sim_connection *connection)
{
	connection->stream = true;
	connection->container = container;
	container->stream = connection;
	settle(container);
}

/* ---- the process ---- */

void sim_container_signal(const struct sim_container *container, int signal)
{
	(void)child_signal(&container->child, signal);
}

/* "uid:gid" of the body, both in numbers. */
static void take_user(const struct sim_container *container, struct spawn_options *options)
{
	const char *user = json_string(json_member(json_root(container->body), "User"));
	char *rest = NULL;

	if (!user || !*user)
		return;
	options->drop_privileges = true;
	options->uid = (uid_t)strtoul(user, &rest, 10);
	options->gid = *rest == ':' ? (gid_t)strtoul(rest + 1, NULL, 10) : options->uid;
}

static void take_arguments(const struct sim_container *container, char *arguments[ARGUMENTS_MAX + 1])
{
	static const char *const keys[] = { "Entrypoint", "Cmd" };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct json_node *list = json_member(json_root(container->body), keys[i]);

		for (const struct json_node *one = json_first(list); one && count < ARGUMENTS_MAX; one = json_next(one))
			if (json_string(one))
				arguments[count++] = strdup(json_string(one));
	}
	if (count == 0)
		arguments[count++] = strdup("agent");
	arguments[count] = NULL;
}

static int run(struct sim_container *container, struct spawn_options *options, struct error **err)
{
	cleanup_fd int in = -1, out = -1, error = -1;
	int r;

	if (fd_pipe(&in, &container->in, err) < 0 || fd_pipe(&container->out, &out, err) < 0 ||
	    fd_pipe(&container->err, &error, err) < 0)
		return -1;
	options->fds[0] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options->fds[1] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options->fds[2] = (struct spawn_fd){ .from = error, .to = STDERR_FILENO };
	options->fds_count = 3;
	r = spawn(options, &container->child, err);
	if (r < 0 || fd_nonblocking(container->in, true, err) < 0 || fd_nonblocking(container->out, true, err) < 0)
		return -1;
	return fd_nonblocking(container->err, true, err);
}

/* The image holds no other program. */
static bool runnable(const struct sim_container *container)
{
	const char *program = json_string(json_first(json_member(json_root(container->body), "Entrypoint")));

	return !program || strcmp(program, "/agent") == 0;
}

bool sim_container_start(struct sim_container *container)
{
	cleanup_error struct error *err = NULL;
	char *arguments[ARGUMENTS_MAX + 1];
	struct spawn_options options = { SPAWN_DEFAULTS, .argv = arguments, .directory = "/" };
	int r;

	if (!runnable(container))
		return false;
	options.executable = container->sim->program;
	take_user(container, &options);
	take_arguments(container, arguments);
	r = run(container, &options, &err);
	for (size_t i = 0; arguments[i]; i++)
		free(arguments[i]);
	/* It waits for its first line, and so does nothing before it is in its cgroup. */
	if (r < 0 || !sim_cgroup_enter(container->id, container->child.pid) ||
	    !watch(container, container->child.pidfd, POLLIN)) {
		fprintf(stderr, "sim-engine: starting the agent: %s\n", err ? error_text(err) : "its cgroup");
		child_end(&container->child);
		return false;
	}
	container->state = SIM_RUNNING;
	sim_event(container, "start");
	settle(container);
	return true;
}
