/* The simulated engine from inside; for nobody but tests/sim/engine*.c. */
#ifndef HARNESS_TESTS_SIM_ENGINE_PARTS_H
#define HARNESS_TESTS_SIM_ENGINE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/json.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "tests/sim/engine.h"

#define SIM_CONNECTIONS 24
#define SIM_CONTAINERS 8
#define SIM_ROWS 64
#define SIM_DOCUMENTS 64
#define SIM_REQUEST_BYTES (8 * MIB)
#define SIM_ANSWER_BYTES (1 * MIB)
#define SIM_STREAM_BYTES (64 * KIB) /* that wait for a reader, before no more is read */
#define SIM_PATH_BYTES 512
#define SIM_DUE_TIMER 0

struct sim_row {
	const char *method, *path;
	const struct json_node *answer; /* or NULL */
	int64_t delay_ms;
	bool hold, cut, garble;
	bool used;
};

enum sim_wait {
	SIM_WAIT_NONE,
	SIM_WAIT_SERVE, /* until `due`, or until the container has settled */
	SIM_WAIT_EXIT, /* the exit code follows */
	SIM_WAIT_STOP, /* an answer without a body follows the exit */
	SIM_WAIT_REMOVE,
	SIM_WAIT_EVENTS,
};

struct sim_connection {
	struct sim *sim;
	int fd; /* -1: free */
	struct buf in, out;
	size_t request; /* bytes of `in` that the request under way takes; 0: none is */
	char method[8];
	char path[SIM_PATH_BYTES]; /* without version and query */
	char query[SIM_PATH_BYTES]; /* without its question mark */
	size_t body, body_length; /* where in `in` */
	const struct sim_row *row; /* that applies to it, or NULL */
	int64_t due; /* NEVER, or when to serve it */
	enum sim_wait wait;
	const char *answer; /* recorded, of SIM_WAIT_STOP */
	struct sim_container *container; /* that it waits for, or whose stream it is */
	bool continued; /* 100 was sent */
	bool stream; /* taken over: no more HTTP */
	bool closing; /* once all is sent */
};

enum sim_state {
	SIM_FREE,
	SIM_CREATED,
	SIM_RUNNING,
	SIM_SETTLING, /* dead, with output that nobody took yet: until then the engine does not answer about it */
	SIM_EXITED,
};

struct sim_container {
	struct sim *sim;
	enum sim_state state;
	char id[CONTAINER_ID_MAX];
	char name[ID_MAX + 1];
	struct json_document *body; /* of its creation */
	struct child child;
	int in, out, err; /* our ends of its standard streams; -1: ended */
	int64_t exit_code;
	int64_t kill_at; /* NEVER, or the end of a stop's patience */
	struct sim_connection *stream; /* attached, or NULL */
	bool half_closed; /* by the client */
	struct buf to_agent, to_client;
};

struct sim_document {
	char name[ID_MAX];
	struct json_document *json;
};

struct sim {
	struct loop *loop;
	struct sim_options options;
	int listener;
	int program; /* the agent, as "/agent" of a tree of its own */
	struct sim_connection connections[SIM_CONNECTIONS];
	struct sim_container containers[SIM_CONTAINERS];
	struct sim_document documents[SIM_DOCUMENTS];
	struct json_document *script;
	struct sim_row rows[SIM_ROWS];
	size_t rows_count;
	struct buf events; /* all lines so far */
	unsigned created;
};

/* ---- engine.c ---- */

/* Sets the loop's timer to what is due next. */
void sim_schedule(struct sim *sim);
/* Sends what waits, and watches for what may come. */
void sim_settle(struct sim_connection *connection);
void sim_drop(struct sim_connection *connection);

/* ---- engine_http.c ---- */

enum sim_parsed { SIM_PARSED_MORE, SIM_PARSED_REQUEST, SIM_PARSED_GARBAGE };

/* Takes the next request from `in`. */
enum sim_parsed sim_parse(struct sim_connection *connection);
/* The value of a query's member, decoded, or "". */
void sim_query(const struct sim_connection *connection, const char *key, char *out, size_t size);
/* Answers with a recorded document; `body`, unless it is NULL, takes the place of its own. */
void sim_reply(struct sim_connection *connection, const char *name, const struct buf *body);
void sim_reply_node(struct sim_connection *connection, const struct json_node *answer, const struct buf *body);
/* The same in pieces: the head, chunks, and the end. */
void sim_begin(struct sim_connection *connection, const char *name);
void sim_chunk(struct sim_connection *connection, const char *bytes, size_t length);
void sim_end(struct sim_connection *connection);

/* ---- engine_script.c ---- */

int sim_script_read(struct sim *sim, const char *path, struct error **err) MUST_CHECK;
/* The row for this request, now used; NULL when none fits. */
const struct sim_row *sim_script_take(struct sim *sim, const struct sim_connection *connection);
/* The recorded row of this name; loads it at first. NULL when there is none that is whole. */
const struct json_node *sim_document(struct sim *sim, const char *name);
/* The `answer` of it. */
const struct json_node *sim_answer(struct sim *sim, const char *name);
/* A file of the data folder. */
int sim_data(const struct sim *sim, const char *name, struct buf *out, struct error **err) MUST_CHECK;

/* ---- engine_routes.c ---- */

/* Serves the request, or lets it wait. */
void sim_serve(struct sim_connection *connection);
/* What waited for this container's exit is answered. */
void sim_exited(struct sim_container *container);

/* ---- engine_inspect.c ---- */

void sim_put_inspect(struct sim_container *container, struct buf *out);
void sim_put_listed(struct sim_container *container, struct buf *out);
/* Notes the event, and tells those who listen. */
void sim_event(struct sim_container *container, const char *action);
/* The same of a network, which is the event's actor. */
void sim_network_event(struct sim_container *container, const char *network, const char *action);

/* ---- engine_container.c ---- */

/* A new one of this body (JSON), or NULL. */
struct sim_container *sim_container_new(struct sim *sim, const char *name, struct json_span body);
/* By id, or its beginning, or name. */
struct sim_container *sim_container_find(struct sim *sim, const char *id, size_t length);
/* False: it cannot be started here. */
bool sim_container_start(struct sim_container *container);
void sim_container_attach(struct sim_container *container, struct sim_connection *connection);
/* The attached client went away. */
void sim_container_detach(struct sim_container *container);
void sim_container_signal(const struct sim_container *container, int signal);
void sim_container_free(struct sim_container *container);

/* ---- engine_cgroup.c ---- */

/* A cgroup of its own, in each hierarchy that limits pids or memory. */
bool sim_cgroup_enter(const char *id, pid_t pid);
/* Kills what is left in it. */
void sim_cgroup_kill(const char *id);
void sim_cgroup_remove(const char *id);

#endif
