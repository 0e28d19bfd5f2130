/* Recorded documents in which this container's own facts take the place of the recorded ones. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/engine_parts.h"

struct put {
	const char *key;
	void (*put)(struct json_writer *writer, const struct sim_container *container, const struct json_node *base);
};

static const struct put inspect_puts[], state_puts[], list_puts[];

static const struct json_node *body(const struct sim_container *container, const char *key)
{
	return json_member(json_root(container->body), key);
}

static void put_node(struct json_writer *writer, const struct json_node *node)
{
	if (node)
		json_put_raw(writer, json_raw(node).bytes, json_raw(node).length);
	else
		json_put_null(writer);
}

/* The members of `base`, each as its row says, or as it is. */
static void put_by(struct json_writer *writer, const struct sim_container *container, const struct json_node *base,
		   const struct put *rows)
{
	json_object(writer);
	for (const struct json_node *member = json_first(base); member; member = json_next(member)) {
		const struct put *row = rows;

		while (row->key && strcmp(row->key, json_key(member)) != 0)
			row++;
		json_put_key(writer, json_key(member));
		if (row->key)
			row->put(writer, container, member);
		else
			put_node(writer, member);
	}
	json_object_end(writer);
}

/* The members of `base`, and over them those of `over`, but for what is no member of a configuration. */
static void put_merged(struct json_writer *writer, const struct json_node *base, const struct json_node *over)
{
	json_object(writer);
	for (const struct json_node *member = json_first(base); member; member = json_next(member)) {
		const struct json_node *own = json_member(over, json_key(member));

		json_put_key(writer, json_key(member));
		put_node(writer, own ? own : member);
	}
	for (const struct json_node *member = json_first(over); member; member = json_next(member)) {
		const char *key = json_key(member);

		if (json_member(base, key) || strcmp(key, "HostConfig") == 0 || strcmp(key, "NetworkingConfig") == 0)
			continue;
		json_put_key(writer, key);
		put_node(writer, member);
	}
	json_object_end(writer);
}

static const char *mode(const struct sim_container *container)
{
	const char *text = json_string(json_member(body(container, "HostConfig"), "NetworkMode"));

	return text ? text : "default";
}

static bool running(const struct sim_container *container)
{
	return container->state == SIM_RUNNING || container->state == SIM_SETTLING;
}

static const char *status(const struct sim_container *container)
{
	if (running(container))
		return "running";
	return container->state == SIM_CREATED ? "created" : "exited";
}

/* ---- members ---- */

#define PUT(name)                                                                                                      \
	static void name(struct json_writer *writer, const struct sim_container *container,                            \
			 const struct json_node *base)

PUT(put_id)
{
	(void)base;
	json_put_string(writer, container->id);
}

PUT(put_name)
{
	char name[ID_MAX + 2];

	(void)base;
	snprintf(name, sizeof(name), "/%s", container->name);
	json_put_string(writer, name);
}

PUT(put_names)
{
	json_array(writer);
	put_name(writer, container, base);
	json_array_end(writer);
}

PUT(put_image)
{
	(void)base;
	put_node(writer, body(container, "Image"));
}

PUT(put_labels)
{
	(void)base;
	put_node(writer, body(container, "Labels"));
}

PUT(put_path)
{
	(void)base;
	put_node(writer, json_first(body(container, "Entrypoint")));
}

PUT(put_arguments)
{
	const struct json_node *entrypoint = json_first(body(container, "Entrypoint"));

	(void)base;
	json_array(writer);
	for (const struct json_node *one = entrypoint ? json_next(entrypoint) : NULL; one; one = json_next(one))
		put_node(writer, one);
	for (const struct json_node *one = json_first(body(container, "Cmd")); one; one = json_next(one))
		put_node(writer, one);
	json_array_end(writer);
}

PUT(put_host)
{
	put_merged(writer, base, body(container, "HostConfig"));
}

PUT(put_config)
{
	put_merged(writer, base, json_root(container->body));
}

PUT(put_state)
{
	put_by(writer, container, base, state_puts);
}

PUT(put_status)
{
	(void)base;
	json_put_string(writer, status(container));
}

PUT(put_running)
{
	(void)base;
	json_put_bool(writer, running(container));
}

PUT(put_pid)
{
	(void)base;
	json_put_int(writer, running(container) ? container->child.pid : 0);
}

PUT(put_exit_code)
{
	(void)base;
	json_put_int(writer, container->exit_code);
}

/* The recorded endpoint is in the network that the body asks for. */
PUT(put_networks)
{
	json_object(writer);
	for (const struct json_node *member = json_first(base); member; member = json_next(member)) {
		json_put_key(writer, json_key(member));
		if (strcmp(json_key(member), "Networks") == 0) {
			json_object(writer);
			json_put_key(writer, mode(container));
			put_node(writer, json_first(member));
			json_object_end(writer);
		} else {
			put_node(writer, member);
		}
	}
	json_object_end(writer);
}

void sim_put_inspect(struct sim_container *container, struct buf *out)
{
	char name[ID_MAX];
	struct json_writer writer;

	snprintf(name, sizeof(name), "inspect-%s", status(container));
	json_begin(&writer, out);
	put_by(&writer, container, json_member(sim_answer(container->sim, name), "json"), inspect_puts);
}

void sim_put_listed(struct sim_container *container, struct buf *out)
{
	struct json_writer writer;

	json_begin(&writer, out);
	put_by(&writer, container, json_first(json_member(sim_answer(container->sim, "list"), "json")), list_puts);
}

/* ---- events ---- */

static void put_actor(struct json_writer *writer, const struct sim_container *container)
{
	char code[24];

	json_object(writer);
	json_member_string(writer, "ID", container->id);
	json_put_key(writer, "Attributes");
	json_object(writer);
	for (const struct json_node *label = json_first(body(container, "Labels")); label; label = json_next(label)) {
		json_put_key(writer, json_key(label));
		put_node(writer, label);
	}
	json_put_key(writer, "image");
	put_node(writer, body(container, "Image"));
	json_member_string(writer, "name", container->name);
	if (container->state == SIM_EXITED) {
		snprintf(code, sizeof(code), "%lld", (long long)container->exit_code);
		json_member_string(writer, "exitCode", code);
	}
	json_object_end(writer);
	json_object_end(writer);
}

static void put_network(struct json_writer *writer, const struct sim_container *container, const char *network)
{
	json_object(writer);
	json_member_string(writer, "ID", network);
	json_put_key(writer, "Attributes");
	json_object(writer);
	json_member_string(writer, "container", container->id);
	json_member_string(writer, "name", network);
	json_object_end(writer);
	json_object_end(writer);
}

static void put_time(struct json_writer *writer)
{
	struct timespec now = { .tv_sec = 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	json_member_string(writer, "scope", "local");
	json_member_int(writer, "time", now.tv_sec);
	json_member_int(writer, "timeNano", now.tv_sec * NS_PER_S + now.tv_nsec);
}

static void tell(struct sim *sim, const struct buf *line)
{
	buf_add(&sim->events, buf_string(line), line->length);
	for (size_t i = 0; i < SIM_CONNECTIONS; i++) {
		struct sim_connection *connection = &sim->connections[i];

		if (connection->fd < 0 || connection->wait != SIM_WAIT_EVENTS)
			continue;
		sim_chunk(connection, buf_string(line), line->length);
		sim_settle(connection);
	}
}

void sim_event(struct sim_container *container, const char *action)
{
	cleanup_buf struct buf line = BUF(16 * KIB);
	struct json_writer writer;

	json_begin(&writer, &line);
	json_object(&writer);
	json_member_string(&writer, "status", action);
	json_member_string(&writer, "id", container->id);
	json_put_key(&writer, "from");
	put_node(&writer, body(container, "Image"));
	json_member_string(&writer, "Type", "container");
	json_member_string(&writer, "Action", action);
	json_put_key(&writer, "Actor");
	put_actor(&writer, container);
	put_time(&writer);
	json_object_end(&writer);
	buf_text(&line, "\n");
	tell(container->sim, &line);
}

void sim_network_event(struct sim_container *container, const char *network, const char *action)
{
	cleanup_buf struct buf line = BUF(16 * KIB);
	struct json_writer writer;

	json_begin(&writer, &line);
	json_object(&writer);
	json_member_string(&writer, "Type", "network");
	json_member_string(&writer, "Action", action);
	json_put_key(&writer, "Actor");
	put_network(&writer, container, network);
	put_time(&writer);
	json_object_end(&writer);
	buf_text(&line, "\n");
	tell(container->sim, &line);
}

static const struct put inspect_puts[] = {
	{ "Id", put_id },
	{ "Name", put_name },
	{ "Image", put_image },
	{ "Path", put_path },
	{ "Args", put_arguments },
	{ "State", put_state },
	{ "HostConfig", put_host },
	{ "Config", put_config },
	{ "NetworkSettings", put_networks },
	{ NULL, NULL },
};

static const struct put state_puts[] = {
	{ "Status", put_status }, { "Running", put_running }, { "Pid", put_pid }, { "ExitCode", put_exit_code },
	{ NULL, NULL },
};

static const struct put list_puts[] = {
	{ "Id", put_id },         { "Names", put_names },  { "Image", put_image }, { "ImageID", put_image },
	{ "Labels", put_labels }, { "State", put_status }, { NULL, NULL },
};
