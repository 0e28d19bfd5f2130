/*
 * The Engine API in typed calls, over core/http. Each call has a deadline; calls that may overlap come as a pair of
 * begin and finish. An error is one line "asked to X: the engine answered STATUS: what to do" of fixed text: bytes of
 * an answer never enter it. Ids, names and labels are checked before they enter a path. An engine never crosses
 * spawn().
 */
#ifndef HARNESS_ADAPTER_ENGINE_H
#define HARNESS_ADAPTER_ENGINE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/http.h"
#include "core/limits.h"

/* The versions of the API that this program speaks: 1.MIN to 1.MAX. */
#define ENGINE_MINOR_MIN 41
#define ENGINE_MINOR_MAX 55

struct engine;
struct engine_request;

/* Milliseconds of a call, and bytes of an answer and of a stream (archive, logs, events). */
struct engine_limits {
	int64_t call_ms;
	int64_t start_ms;
	int64_t load_ms;
	size_t answer_bytes;
	size_t stream_bytes;
};
#define ENGINE_LIMITS                                                                                                  \
	{                                                                                                              \
		.call_ms = ENGINE_CALL_MS, .start_ms = ENGINE_START_MS, .load_ms = ENGINE_LOAD_MS,                     \
		.answer_bytes = ENGINE_ANSWER_BYTES, .stream_bytes = ENGINE_STREAM_BYTES,                              \
	}

/* ---- the engine ---- */

/* Connects once, to see that `socket_path` is a socket with a listening peer. ERROR_REFUSED says what to do. */
int engine_open(const char *socket_path, struct engine **out, struct error **err) MUST_CHECK;
/* Cancels and frees what is still under way. NULL-safe. */
void engine_close(struct engine *engine);
static inline void engine_cleanup(struct engine **engine)
{
	engine_close(*engine);
}
#define cleanup_engine __attribute__((cleanup(engine_cleanup)))

/* For the calls that follow; ENGINE_LIMITS until then. */
void engine_set_limits(struct engine *engine, const struct engine_limits *limits);
/* Who listened on the socket when it was opened: the engine, or pid 1 where it activates sockets. */
void engine_peer(const struct engine *engine, pid_t *pid, uid_t *uid);

/* Agrees on a version of the API; all later paths are of that version. Refuses a peer that is no engine, podman, and an
 * engine whose versions are not ours, each with what to do (ERROR_REFUSED). */
int engine_negotiate(struct engine *engine, struct error **err) MUST_CHECK;
/* Takes a version that another process agreed on: "1.41". */
int engine_use_version(struct engine *engine, const char *version, struct error **err) MUST_CHECK;
/* "1.41", or "" before a version was agreed on. */
const char *engine_api(const struct engine *engine);
/* 41, or 0 before. */
int engine_api_minor(const struct engine *engine);

/* Append the raw JSON of /version and /info. */
int engine_version(struct engine *engine, struct buf *json, struct error **err) MUST_CHECK;
int engine_info(struct engine *engine, struct buf *json, struct error **err) MUST_CHECK;

/* ---- requests that overlap ---- */

struct engine_result {
	long status; /* of the answer */
	bool found; /* false: the engine says that there is none; the body is then empty */
	struct buf body; /* empty when there was a sink */
};
static inline void engine_result_free(struct engine_result *result)
{
	buf_free(&result->body);
}
#define cleanup_result __attribute__((cleanup(engine_result_free)))

/* Waits for the answer of any begun request and frees it, on error too. `result` is empty before ({ 0 }). */
int engine_finish(struct engine *engine, struct engine_request *request, struct engine_result *result,
		  struct error **err) MUST_CHECK;
/* Cancels and frees. NULL-safe. */
void engine_cancel(struct engine *engine, struct engine_request *request);
/* Drives all requests without blocking. */
int engine_pump(struct engine *engine, struct error **err) MUST_CHECK;
/* Waits until something happened on any request, or the deadline, and drives it. Returns at once while a done request
 * was not finished. */
int engine_drive(struct engine *engine, int64_t deadline, struct error **err) MUST_CHECK;
/* What to poll() for between two pumps: at most `max` descriptors with their events; returns how many. They hold until
 * the engine is used again. */
size_t engine_descriptors(const struct engine *engine, struct pollfd *out, size_t max);
/* Whether engine_finish() would return at once. Pumping, driving, and finishing any request change it. */
bool engine_done(const struct engine_request *request);

/* ---- images ---- */

/* Sends `length` bytes of `fd`, from its start, as an archive of images. */
int engine_image_load(struct engine *engine, int fd, size_t length, struct error **err) MUST_CHECK;
/* `reference` is a name or "sha256:..."; appends the raw JSON when there is one. */
int engine_image_inspect(struct engine *engine, const char *reference, struct buf *json, bool *found,
			 struct error **err) MUST_CHECK;
/* No such image is success. */
int engine_image_remove(struct engine *engine, const char *reference, struct error **err) MUST_CHECK;
/* Appends the raw JSON array. `label` is "key" or "key=value". */
int engine_images_by_label(struct engine *engine, const char *label, struct buf *json, struct error **err) MUST_CHECK;
/* Likewise all tags of a repository, "harness/agent". */
int engine_images_by_reference(struct engine *engine, const char *reference, struct buf *json,
			       struct error **err) MUST_CHECK;

/* ---- containers ---- */

/* `body` is the JSON of the container. `warnings` gets the raw JSON array when the engine warned, else nothing. */
int engine_create(struct engine *engine, const char *name, const void *body, size_t length, char id[CONTAINER_ID_MAX],
		  struct buf *warnings, struct error **err) MUST_CHECK;
int engine_inspect(struct engine *engine, const char *id, struct buf *json, bool *found, struct error **err) MUST_CHECK;
int engine_inspect_begin(struct engine *engine, const char *id, int64_t deadline, struct engine_request **out,
			 struct error **err) MUST_CHECK;
/* Appends the raw JSON array of all containers with the label, running or not. */
int engine_list(struct engine *engine, const char *label, struct buf *json, struct error **err) MUST_CHECK;

/* A container that was running already is an error. */
int engine_start(struct engine *engine, const char *id, struct error **err) MUST_CHECK;
int engine_start_begin(struct engine *engine, const char *id, struct engine_request **out,
		       struct error **err) MUST_CHECK;
int engine_start_finish(struct engine *engine, struct engine_request *request, struct error **err) MUST_CHECK;
/* Waits for the container's next exit: begun before the start, no exit is too fast for it. `deadline` is absolute. */
int engine_wait_begin(struct engine *engine, const char *id, int64_t deadline, struct engine_request **out,
		      struct error **err) MUST_CHECK;
int engine_wait_finish(struct engine *engine, struct engine_request *request, int64_t *exit_code,
		       struct error **err) MUST_CHECK;
/* A container that does not run any more is success; only the kernel proves death. */
int engine_kill(struct engine *engine, const char *id, const char *signal, struct error **err) MUST_CHECK;
/* Its deadline is `seconds` later than that of other calls. */
int engine_stop(struct engine *engine, const char *id, unsigned seconds, struct error **err) MUST_CHECK;
/* By force, with anonymous volumes. No such container is success. */
int engine_remove(struct engine *engine, const char *id, struct error **err) MUST_CHECK;
int engine_remove_begin(struct engine *engine, const char *id, struct engine_request **out,
			struct error **err) MUST_CHECK;

/* Waits until a removal that somebody asked for is done: the engine refuses a second one while it is under way.
 * ERROR_TIMEOUT when the container is there at the deadline. */
int engine_await_removal(struct engine *engine, const char *id, int64_t deadline, struct error **err) MUST_CHECK;

/* Upgrades a connection to the container's standard streams, framed as adapter/demux.h reads them. *socket is
 * non-blocking and the only holder of the connection; `rest` gets what came behind the headers. */
int engine_attach(struct engine *engine, const char *id, int *socket, struct buf *rest, struct error **err) MUST_CHECK;
/* As engine_attach(), of what the engine's log of the container holds, and its end behind that. */
int engine_attach_log(struct engine *engine, const char *id, int *socket, struct buf *rest,
		      struct error **err) MUST_CHECK;

/* ---- evidence ---- */

/* The tar of `path` in the container goes to the sink. result.found is false when there is no such path. */
int engine_archive_begin(struct engine *engine, const char *id, const char *path, http_sink sink, void *context,
			 struct engine_request **out, struct error **err) MUST_CHECK;
/* Raw JSON: null when nothing changed. */
int engine_changes(struct engine *engine, const char *id, struct buf *json, struct error **err) MUST_CHECK;
int engine_changes_begin(struct engine *engine, const char *id, struct engine_request **out,
			 struct error **err) MUST_CHECK;
/* stdout and stderr of the log go to the sink. That the driver keeps none is data: *status is 501 (podman's kind of
 * answer: 500), result.found false. */
int engine_logs(struct engine *engine, const char *id, http_sink sink, void *context, long *status,
		struct error **err) MUST_CHECK;
int engine_logs_begin(struct engine *engine, const char *id, http_sink sink, void *context, struct engine_request **out,
		      struct error **err) MUST_CHECK;
/* Events between two times of the wall clock, in nanoseconds since 1970, one JSON object a line. `filters` is a JSON
 * object or NULL. `until` must have passed or come within the call's deadline. */
int engine_events(struct engine *engine, int64_t since, int64_t until, const char *filters, struct buf *lines,
		  struct error **err) MUST_CHECK;
/* The same as they come, to the sink, until `deadline` or engine_cancel(). */
int engine_events_begin(struct engine *engine, int64_t since, const char *filters, int64_t deadline, http_sink sink,
			void *context, struct engine_request **out, struct error **err) MUST_CHECK;
int engine_network_inspect(struct engine *engine, const char *name, struct buf *json, bool *found,
			   struct error **err) MUST_CHECK;

/* ---- changes to a container that runs: for faults alone ---- */

/* Each is begun here, and ends by engine_finish(). */
int engine_rename_begin(struct engine *engine, const char *id, const char *name, struct engine_request **out,
			struct error **err) MUST_CHECK;
int engine_update_begin(struct engine *engine, const char *id, int64_t pids, struct engine_request **out,
			struct error **err) MUST_CHECK;
int engine_pause_begin(struct engine *engine, const char *id, struct engine_request **out,
		       struct error **err) MUST_CHECK;
int engine_unpause_begin(struct engine *engine, const char *id, struct engine_request **out,
			 struct error **err) MUST_CHECK;
/* An engine refuses to connect a container that is on the network "none". */
int engine_connect_begin(struct engine *engine, const char *network, const char *id, struct engine_request **out,
			 struct error **err) MUST_CHECK;
int engine_disconnect_begin(struct engine *engine, const char *network, const char *id, struct engine_request **out,
			    struct error **err) MUST_CHECK;

/* A second command in the container: `command` ends with NULL. Its id is as a container's. */
int engine_exec_begin(struct engine *engine, const char *id, const char *const *command, struct engine_request **out,
		      struct error **err) MUST_CHECK;
int engine_exec_finish(struct engine *engine, struct engine_request *request, char exec[CONTAINER_ID_MAX],
		       struct error **err) MUST_CHECK;
/* Starts it; its standard streams as of engine_attach(). */
int engine_exec_start(struct engine *engine, const char *exec, int *socket, struct buf *rest,
		      struct error **err) MUST_CHECK;

#endif
