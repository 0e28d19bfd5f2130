/* What the adapter/engine*.c share. */
#ifndef HARNESS_ADAPTER_ENGINE_INTERNAL_H
#define HARNESS_ADAPTER_ENGINE_INTERNAL_H

#include "adapter/engine.h"

#define ENGINE_PATH_BYTES (8 * KIB)
#define ENGINE_API_MAX 8

enum engine_operation {
	ENGINE_ANY,
	ENGINE_PING,
	ENGINE_VERSION,
	ENGINE_INFO,
	ENGINE_IMAGE_LOAD,
	ENGINE_IMAGE_INSPECT,
	ENGINE_IMAGE_REMOVE,
	ENGINE_IMAGES,
	ENGINE_CREATE,
	ENGINE_INSPECT,
	ENGINE_LIST,
	ENGINE_START,
	ENGINE_WAIT,
	ENGINE_KILL,
	ENGINE_STOP,
	ENGINE_REMOVE,
	ENGINE_ATTACH,
	ENGINE_ARCHIVE,
	ENGINE_CHANGES,
	ENGINE_LOGS,
	ENGINE_EVENTS,
	ENGINE_NETWORK,
	ENGINE_RENAME,
	ENGINE_UPDATE,
	ENGINE_PAUSE,
	ENGINE_UNPAUSE,
	ENGINE_CONNECT,
	ENGINE_DISCONNECT,
	ENGINE_EXEC,
	ENGINE_EXEC_START,
	ENGINE_OPERATIONS,
};

struct engine {
	char *socket_path;
	struct http_client *client;
	struct engine_request *requests;
	struct engine_limits limits;
	pid_t peer_pid;
	uid_t peer_uid;
	int minor; /* 0: none agreed on */
	char api[ENGINE_API_MAX]; /* "1.41" */
};

/* One call: the path without its version. */
struct engine_call {
	enum engine_operation operation;
	const char *path;
	const void *body; /* copied */
	size_t body_length;
	int body_fd; /* -1: none */
	http_sink sink;
	void *context;
	int64_t deadline; /* absolute, or 0: of the operation */
};

int engine_call_begin(struct engine *engine, const struct engine_call *call, struct engine_request **out,
		      struct error **err) MUST_CHECK;
/* Begin and finish. */
int engine_call(struct engine *engine, const struct engine_call *call, struct engine_result *result,
		struct error **err) MUST_CHECK;
/* Names the operation that failed on the way, before the engine answered. Returns minus the error's code. */
int engine_explain_failure(const struct engine *engine, enum engine_operation operation, struct error **err);
/* "1.41": its minor, or -1 when it is no version of the API. */
int engine_parse_version(const char *text);

/* "asked to start the container": for wrapping. */
const char *engine_operation_text(enum engine_operation operation);
const char *engine_operation_method(enum engine_operation operation);
int64_t engine_operation_ms(enum engine_operation operation, const struct engine_limits *limits);

/* What an answer means, by operation, status and known parts of the engine's message: 0 with *found, or an error. Pure.
 */
int engine_judge(enum engine_operation operation, long status, const void *body, size_t length, bool *found,
		 struct error **err) MUST_CHECK;
/* How many rows its table has: a test has as many. */
size_t engine_judge_rows(void);
/* Replaces an error of reaching the socket at `path` by one of `code` that says what to do; leaves any other error.
 * Returns minus the error's code. */
int engine_explain_connection(const char *path, enum error_code code, struct error **err);

/* Words. Each check is ERROR_USAGE when it fails. */
bool engine_consists_of(const char *text, size_t min, size_t max, const char *set);
/* 1 to `max` bytes of ASCII that show: no blank, no control. */
bool engine_printable(const char *text, size_t max);
int engine_check_id(const char *id, struct error **err) MUST_CHECK;
int engine_check_name(const char *name, struct error **err) MUST_CHECK;
int engine_check_reference(const char *reference, struct error **err) MUST_CHECK;
/* Appends `text` as the value of a query. */
void engine_put_escaped(struct buf *out, const char *text);
/* Writes "/containers/ID" and `end`, which is short and ours. */
#define ENGINE_CONTAINER_PATH 192
int engine_container_path(char path[ENGINE_CONTAINER_PATH], const char *id, const char *end,
			  struct error **err) MUST_CHECK;

/* Sends `call` as a request to upgrade its connection, and takes the connection over: engine_attach(). */
int engine_take_over(const struct engine *engine, const struct engine_call *call, int *socket, struct buf *rest,
		     struct error **err) MUST_CHECK;

/* A call without a body and sink. */
struct engine_call engine_plain(enum engine_operation operation, const char *path);
/* Calls and appends the answer's body to `json`. `found` may be NULL where there always is one. */
int engine_fetch(struct engine *engine, const struct engine_call *call, struct buf *json, bool *found,
		 struct error **err) MUST_CHECK;
/* Calls for the status alone. */
int engine_command(struct engine *engine, const struct engine_call *call, struct error **err) MUST_CHECK;
/* The same for "/containers/ID" and `end`; `deadline` absolute, or 0: of the operation. */
int engine_container_fetch(struct engine *engine, enum engine_operation operation, const char *id, const char *end,
			   struct buf *json, bool *found, struct error **err) MUST_CHECK;
int engine_container_begin(struct engine *engine, enum engine_operation operation, const char *id, const char *end,
			   int64_t deadline, struct engine_request **out, struct error **err) MUST_CHECK;
/* Appends the result's body to `out`. */
int engine_take_body(const struct engine_result *result, struct buf *out, struct error **err) MUST_CHECK;

#endif
