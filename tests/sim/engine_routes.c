/* What the simulated engine knows: one row a request, with the recorded answer or what makes one. */
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/engine_parts.h"

#define CONTAINERS "/containers/"
#define IMAGES "/images/"

struct route {
	const char *method, *path;
	const char *answer; /* recorded */
	const char *missing; /* of a container that is not there; NULL: the path names none */
	void (*serve)(struct sim_connection *connection, struct sim_container *container);
};

static const struct route routes[];
static const size_t routes_count;

static bool mangled(const struct sim_connection *connection)
{
	return connection->row && (connection->row->cut || connection->row->garble);
}

static void wait_for(struct sim_connection *connection, struct sim_container *container, enum sim_wait wait)
{
	connection->wait = wait;
	connection->container = container;
}

/* ---- images ---- */

static const struct json_node *image(struct sim *sim)
{
	return json_member(sim_answer(sim, "image-inspect"), "json");
}

static bool is_image(struct sim *sim, const char *reference, size_t length)
{
	const char *id = json_string(json_member(image(sim), "Id"));
	const char *tag = json_string(json_first(json_member(image(sim), "RepoTags")));

	return (id && strlen(id) == length && strncmp(id, reference, length) == 0) ||
	       (tag && strlen(tag) == length && strncmp(tag, reference, length) == 0);
}

static void serve_image(struct sim_connection *connection, struct sim_container *container)
{
	const char *reference = connection->path + strlen(IMAGES);
	size_t length = strlen(reference) - strlen("/json");

	(void)container;
	sim_reply(connection, is_image(connection->sim, reference, length) ? "image-inspect" : "image-missing", NULL);
}

/* There are as many names as one likes, and one id. */
static void serve_image_remove(struct sim_connection *connection, struct sim_container *container)
{
	const char *reference = connection->path + strlen(IMAGES);
	bool missing =
		strncmp(reference, "sha256:", 7) == 0 && !is_image(connection->sim, reference, strlen(reference));

	(void)container;
	sim_reply(connection, missing ? "image-remove-missing" : "image-remove", NULL);
}

static void serve_network(struct sim_connection *connection, struct sim_container *container)
{
	const char *known =
		json_string(json_member(json_member(sim_answer(connection->sim, "network"), "json"), "Name"));
	const char *name = connection->path + strlen("/networks/");

	(void)container;
	sim_reply(connection, known && strcmp(known, name) == 0 ? "network" : "network-missing", NULL);
}

/* ---- containers ---- */

static void serve_create(struct sim_connection *connection, struct sim_container *nobody)
{
	struct json_span body = { connection->in.data + connection->body, connection->body_length };
	cleanup_buf struct buf answer = BUF(4 * KIB);
	struct sim *sim = connection->sim;
	struct sim_container *container;
	struct json_writer writer;
	const char *wanted;
	char name[ID_MAX];

	(void)nobody;
	sim_query(connection, "name", name, sizeof(name));
	container = sim_container_new(sim, name, body);
	if (!container) {
		sim_drop(connection);
		return;
	}
	wanted = json_string(json_member(json_root(container->body), "Image"));
	if (!wanted || !is_image(sim, wanted, strlen(wanted))) {
		sim_container_free(container);
		sim_reply(connection, "create-no-image", NULL);
		return;
	}
	json_begin(&writer, &answer);
	json_object(&writer);
	json_member_string(&writer, "Id", container->id);
	json_put_key(&writer, "Warnings");
	json_array(&writer);
	json_array_end(&writer);
	json_object_end(&writer);
	sim_event(container, "create");
	sim_reply(connection, "create", &answer);
}

static void serve_inspect(struct sim_connection *connection, struct sim_container *container)
{
	cleanup_buf struct buf answer = BUF(SIM_ANSWER_BYTES);

	sim_put_inspect(container, &answer);
	sim_reply(connection, "inspect-running", &answer);
}

/* "key" or "key=value", each of which must hold. */
static bool has_labels(const struct sim_container *container, const struct json_node *labels)
{
	const struct json_node *own = json_member(json_root(container->body), "Labels");

	for (const struct json_node *one = json_first(labels); one; one = json_next(one)) {
		char key[ID_MAX + 1];
		const char *text = json_string(one), *value = text ? strchr(text, '=') : NULL;
		const char *found;

		snprintf(key, sizeof(key), "%.*s", text ? (int)strcspn(text, "=") : 0, text ? text : "");
		found = json_string(json_member(own, key));
		if (!found || (value && strcmp(found, value + 1) != 0))
			return false;
	}
	return true;
}

static void serve_list(struct sim_connection *connection, struct sim_container *nobody)
{
	cleanup_json struct json_document *filters = NULL;
	cleanup_error struct error *ignored = NULL;
	cleanup_buf struct buf answer = BUF(SIM_ANSWER_BYTES);
	const char *comma = "";
	char text[SIM_PATH_BYTES];

	(void)nobody;
	sim_query(connection, "filters", text, sizeof(text));
	(void)!json_parse(text, strlen(text), JSON_DEPTH, &filters, &ignored);
	buf_text(&answer, "[");
	for (size_t i = 0; i < SIM_CONTAINERS; i++) {
		struct sim_container *container = &connection->sim->containers[i];
		cleanup_buf struct buf one = BUF(SIM_ANSWER_BYTES);

		if (container->state == SIM_FREE ||
		    !has_labels(container, filters ? json_member(json_root(filters), "label") : NULL))
			continue;
		sim_put_listed(container, &one);
		buf_printf(&answer, "%s%s", comma, buf_string(&one));
		comma = ",";
	}
	buf_text(&answer, "]\n");
	sim_reply(connection, "list", &answer);
}

static void serve_start(struct sim_connection *connection, struct sim_container *container)
{
	if (container->state != SIM_CREATED)
		sim_reply(connection, "start-again", NULL);
	else
		sim_reply(connection, sim_container_start(container) ? "start" : "start-failed", NULL);
}

static void serve_attach(struct sim_connection *connection, struct sim_container *container)
{
	bool broken = mangled(connection);

	sim_event(container, "attach");
	sim_reply(connection, "attach", NULL);
	if (broken)
		return;
	/* A second client is taken, and hears nothing. */
	connection->closing = container->stream != NULL;
	sim_settle(connection);
	if (connection->fd >= 0 && !connection->closing)
		sim_container_attach(container, connection);
}

static void put_exit(const struct sim_container *container, struct buf *out)
{
	struct json_writer writer;

	json_begin(&writer, out);
	json_object(&writer);
	json_put_key(&writer, "Error");
	json_put_null(&writer);
	json_member_int(&writer, "StatusCode", container->exit_code);
	json_object_end(&writer);
	buf_text(out, "\n");
}

/* The head comes at once, and the code when there is one: so the client knows that it waits. */
static void serve_wait(struct sim_connection *connection, struct sim_container *container)
{
	cleanup_buf struct buf answer = BUF(KIB);
	char condition[ID_MAX];

	sim_query(connection, "condition", condition, sizeof(condition));
	put_exit(container, &answer);
	if (mangled(connection) || (container->state == SIM_EXITED && strcmp(condition, "next-exit") != 0)) {
		sim_reply(connection, "wait", &answer);
		return;
	}
	wait_for(connection, container, SIM_WAIT_EXIT);
	sim_begin(connection, "wait");
}

static int signal_number(const char *name)
{
	name += strncmp(name, "SIG", 3) == 0 ? 3 : 0;
	for (int number = 1; number < SIGRTMIN; number++)
		if (sigabbrev_np(number) && strcmp(sigabbrev_np(number), name) == 0)
			return number;
	return SIGKILL;
}

/* The end is awaited where it is certain. Process 1 of a namespace ignores what it does not handle. */
static void serve_kill(struct sim_connection *connection, struct sim_container *container)
{
	char name[ID_MAX];
	int number;

	sim_query(connection, "signal", name, sizeof(name));
	number = signal_number(name);
	if (container->state != SIM_RUNNING) {
		sim_reply(connection, "kill-stopped", NULL);
	} else if (number == SIGKILL) {
		wait_for(connection, container, SIM_WAIT_STOP);
		connection->answer = "kill";
		sim_container_signal(container, number);
	} else {
		sim_reply(connection, "kill", NULL);
	}
}

static void serve_stop(struct sim_connection *connection, struct sim_container *container)
{
	char seconds[ID_MAX];

	if (container->state != SIM_RUNNING) {
		sim_reply(connection, "stop-stopped", NULL);
		return;
	}
	sim_query(connection, "t", seconds, sizeof(seconds));
	wait_for(connection, container, SIM_WAIT_STOP);
	connection->answer = "stop";
	container->kill_at = clock_deadline(1000 * strtol(seconds, NULL, 10));
	sim_schedule(connection->sim);
}

static void remove_now(struct sim_connection *connection, struct sim_container *container)
{
	sim_event(container, "destroy");
	sim_container_free(container);
	sim_reply(connection, "remove", NULL);
}

static void serve_remove(struct sim_connection *connection, struct sim_container *container)
{
	if (container->state != SIM_RUNNING) {
		remove_now(connection, container);
		return;
	}
	wait_for(connection, container, SIM_WAIT_REMOVE);
	sim_container_signal(container, SIGKILL);
}

static void serve_archive(struct sim_connection *connection, struct sim_container *container)
{
	char path[SIM_PATH_BYTES];

	(void)container;
	sim_query(connection, "path", path, sizeof(path));
	sim_reply(connection, strncmp(path, "/export", 7) == 0 || strcmp(path, "/") == 0 ? "archive" : "archive-absent",
		  NULL);
}

static void serve_events(struct sim_connection *connection, struct sim_container *nobody)
{
	struct sim *sim = connection->sim;
	char until[ID_MAX];

	(void)nobody;
	sim_query(connection, "until", until, sizeof(until));
	if (until[0] || mangled(connection)) {
		sim_reply(connection, "events", &sim->events);
		return;
	}
	connection->wait = SIM_WAIT_EVENTS;
	sim_begin(connection, "events");
	sim_chunk(connection, buf_string(&sim->events), sim->events.length);
}

/* ---- changes ---- */

static void serve_rename(struct sim_connection *connection, struct sim_container *container)
{
	sim_query(connection, "name", container->name, sizeof(container->name));
	sim_event(container, "rename");
	sim_reply(connection, "rename", NULL);
}

static void serve_update(struct sim_connection *connection, struct sim_container *container)
{
	sim_event(container, "update");
	sim_reply(connection, "update", NULL);
}

static void serve_exec(struct sim_connection *connection, struct sim_container *container)
{
	if (container->state != SIM_RUNNING) {
		sim_reply(connection, "exec-stopped", NULL);
		return;
	}
	sim_event(container, "exec_create: /agent");
	sim_reply(connection, "exec", NULL);
}

/* "/networks/NAME/connect" or "disconnect"; the container is in the body. */
static void serve_network_change(struct sim_connection *connection, struct sim_container *nobody)
{
	cleanup_json struct json_document *body = NULL;
	cleanup_error struct error *ignored = NULL;
	const char *network = connection->path + strlen("/networks/"), *verb = strrchr(connection->path, '/') + 1;
	struct sim_container *container = NULL;
	const char *id = NULL;
	char name[ID_MAX];

	(void)nobody;
	if (json_parse(connection->in.data + connection->body, connection->body_length, JSON_DEPTH, &body, &ignored) ==
	    0)
		id = json_string(json_member(json_root(body), "Container"));
	if (id)
		container = sim_container_find(connection->sim, id, strlen(id));
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(network, "/"), network);
	if (container)
		sim_network_event(container, name, verb);
	sim_reply(connection, strcmp(verb, "connect") == 0 ? "network-connect" : "network-disconnect", NULL);
}

/* ---- dispatch ---- */

void sim_exited(struct sim_container *container)
{
	struct sim *sim = container->sim;

	for (size_t i = 0; i < SIM_CONNECTIONS; i++) {
		struct sim_connection *connection = &sim->connections[i];
		cleanup_buf struct buf answer = BUF(KIB);

		if (connection->fd < 0 || connection->container != container)
			continue;
		if (connection->wait == SIM_WAIT_EXIT) {
			put_exit(container, &answer);
			sim_chunk(connection, answer.data, answer.length);
			sim_end(connection);
		} else if (connection->wait == SIM_WAIT_STOP) {
			sim_reply(connection, connection->answer, NULL);
		} else if (connection->wait == SIM_WAIT_SERVE) {
			connection->wait = SIM_WAIT_NONE;
			sim_serve(connection);
		}
		sim_settle(connection);
	}
	for (size_t i = 0; i < SIM_CONNECTIONS && container->state == SIM_EXITED; i++) {
		struct sim_connection *connection = &sim->connections[i];

		if (connection->fd < 0 || connection->container != container || connection->wait != SIM_WAIT_REMOVE)
			continue;
		remove_now(connection, container);
		sim_settle(connection);
	}
}

static struct sim_container *named(struct sim_connection *connection)
{
	const char *id = connection->path + strlen(CONTAINERS);

	return sim_container_find(connection->sim, id, strcspn(id, "/"));
}

static void serve_route(struct sim_connection *connection, const struct route *route)
{
	struct sim_container *container = route->missing ? named(connection) : NULL;

	if (route->missing && !container) {
		sim_reply(connection, route->missing, NULL);
	} else if (container && container->state == SIM_SETTLING) {
		wait_for(connection, container, SIM_WAIT_SERVE);
		connection->due = NEVER;
	} else if (route->serve) {
		route->serve(connection, container);
	} else {
		sim_reply(connection, route->answer, NULL);
	}
}

void sim_serve(struct sim_connection *connection)
{
	if (connection->row && connection->row->answer) {
		sim_reply_node(connection, connection->row->answer, NULL);
		return;
	}
	for (const struct route *route = routes; route < routes + routes_count; route++) {
		if (strcmp(route->method, connection->method) != 0 || fnmatch(route->path, connection->path, 0) != 0)
			continue;
		serve_route(connection, route);
		return;
	}
	sim_reply(connection, "unknown", NULL);
}

/* A star stands for any text: what is more special comes first. */
static const struct route routes[] = {
	{ .method = "GET", .path = "/_ping", .answer = "ping" },
	{ .method = "HEAD", .path = "/_ping", .answer = "ping" },
	{ .method = "GET", .path = "/version", .answer = "version" },
	{ .method = "GET", .path = "/info", .answer = "info" },
	{ .method = "GET", .path = "/images/json", .answer = "images" },
	{ .method = "GET", .path = "/images/*/json", .serve = serve_image },
	{ .method = "POST", .path = "/images/load", .answer = "image-load" },
	{ .method = "DELETE", .path = "/images/*", .serve = serve_image_remove },
	{ .method = "POST", .path = "/networks/*/connect", .serve = serve_network_change },
	{ .method = "POST", .path = "/networks/*/disconnect", .serve = serve_network_change },
	{ .method = "GET", .path = "/networks/*", .serve = serve_network },
	{ .method = "GET", .path = "/events", .serve = serve_events },
	{ .method = "GET", .path = "/containers/json", .serve = serve_list },
	{ .method = "POST", .path = "/containers/create", .serve = serve_create },
	{ .method = "GET", .path = "/containers/*/json", .missing = "inspect-missing", .serve = serve_inspect },
	{ .method = "POST", .path = "/containers/*/attach", .missing = "attach-missing", .serve = serve_attach },
	{ .method = "POST", .path = "/containers/*/start", .missing = "start-missing", .serve = serve_start },
	{ .method = "POST", .path = "/containers/*/wait", .missing = "wait-missing", .serve = serve_wait },
	{ .method = "POST", .path = "/containers/*/kill", .missing = "kill-missing", .serve = serve_kill },
	{ .method = "POST", .path = "/containers/*/stop", .missing = "stop-missing", .serve = serve_stop },
	{ .method = "POST", .path = "/containers/*/rename", .missing = "rename-missing", .serve = serve_rename },
	{ .method = "POST", .path = "/containers/*/update", .missing = "update-missing", .serve = serve_update },
	{ .method = "POST", .path = "/containers/*/exec", .missing = "exec-missing", .serve = serve_exec },
	{ .method = "GET", .path = "/containers/*/archive", .missing = "archive-missing", .serve = serve_archive },
	{ .method = "GET", .path = "/containers/*/changes", .missing = "changes-missing", .answer = "changes" },
	{ .method = "GET", .path = "/containers/*/logs", .missing = "logs-missing", .answer = "logs" },
	{ .method = "DELETE", .path = "/containers/*", .missing = "remove-missing", .serve = serve_remove },
};
static const size_t routes_count = ARRAY_SIZE(routes);
