/* The operations, and what each answer of an engine means: tables, and the pure functions that read them. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/engine_internal.h"
#include "core/fd.h"

enum outcome {
	OUTCOME_ERROR, /* says what to do */
	OUTCOME_FINE, /* what was asked for holds */
	OUTCOME_ABSENT, /* an answer too: there is none */
};

enum patience { PATIENCE_CALL, PATIENCE_START, PATIENCE_LOAD };

struct operation {
	const char *text;
	const char *method;
	long success;
	enum patience patience;
};

struct meaning {
	enum engine_operation operation;
	long status; /* 0: any */
	const char *part; /* of the engine's message; NULL: any */
	enum outcome outcome;
	const char *advice;
};

struct unreachable {
	int number;
	const char *text;
};

static const struct operation operations[ENGINE_OPERATIONS];
static const struct meaning meanings[];
static const size_t meanings_count;
static const struct unreachable unreachables[];

const char *engine_operation_text(enum engine_operation operation)
{
	return operations[operation].text;
}

const char *engine_operation_method(enum engine_operation operation)
{
	return operations[operation].method;
}

int64_t engine_operation_ms(enum engine_operation operation, const struct engine_limits *limits)
{
	if (operations[operation].patience == PATIENCE_LOAD)
		return limits->load_ms;
	return operations[operation].patience == PATIENCE_START ? limits->start_ms : limits->call_ms;
}

static bool matches(const struct meaning *row, enum engine_operation operation, long status, const void *body,
		    size_t length)
{
	if (row->operation != ENGINE_ANY && row->operation != operation)
		return false;
	if (row->status && row->status != status)
		return false;
	return !row->part || (length && memmem(body, length, row->part, strlen(row->part)));
}

int engine_judge(enum engine_operation operation, long status, const void *body, size_t length, bool *found,
		 struct error **err)
{
	const char *advice = "see the engine's log";

	*found = true;
	if (status == operations[operation].success)
		return 0;
	for (const struct meaning *row = meanings; row < meanings + meanings_count; row++) {
		if (!matches(row, operation, status, body, length))
			continue;
		*found = row->outcome == OUTCOME_FINE;
		if (row->outcome != OUTCOME_ERROR)
			return 0;
		advice = row->advice;
		break;
	}
	*found = false;
	return error_set(err, ERROR_ENGINE, "asked to %s: the engine answered %ld: %s", operations[operation].text,
			 status, advice);
}

size_t engine_judge_rows(void)
{
	return meanings_count;
}

/* connect() to a file that is no socket looks like a socket without a listener. */
static bool other_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISSOCK(info.st_mode);
}

int engine_explain_connection(const char *path, enum error_code code, struct error **err)
{
	int number = err && *err ? error_number(*err) : 0;
	char safe[128];

	if (number == ECONNREFUSED && other_file(path))
		number = ENOTSOCK;
	for (const struct unreachable *row = unreachables; number && row->text; row++) {
		if (row->number != number)
			continue;
		error_free(*err);
		*err = NULL;
		return error_set(err, code, "%s: %s", error_safe(path, safe, sizeof(safe)), row->text);
	}
	return -(int)(err && *err ? error_code(*err) : code);
}

static const struct unreachable unreachables[] = {
	{ .number = ENOENT, .text = "no engine there: start Docker, or name its socket with --socket" },
	{ .number = ENOTDIR, .text = "no engine there: start Docker, or name its socket with --socket" },
	{ .number = ECONNREFUSED, .text = "no engine listens there: start Docker, or name its socket with --socket" },
	{ .number = EACCES, .text = "no permission: run as root, or join the group that owns the socket" },
	{ .number = EPERM, .text = "no permission: run as root, or join the group that owns the socket" },
	{ .number = ENOTSOCK, .text = "not a socket: name the engine's socket with --socket" },
	{ .number = EPROTOTYPE, .text = "not a stream socket: name the engine's socket with --socket" },
	{ .text = NULL },
};

static const struct operation operations[ENGINE_OPERATIONS] = {
	[ENGINE_ANY] = { .text = "do anything", .method = "GET", .success = 200 },
	[ENGINE_PING] = { .text = "answer a ping", .method = "GET", .success = 200 },
	[ENGINE_VERSION] = { .text = "tell its version", .method = "GET", .success = 200 },
	[ENGINE_INFO] = { .text = "describe itself", .method = "GET", .success = 200 },
	[ENGINE_IMAGE_LOAD] = { .text = "load the image", .method = "POST", .success = 200, .patience = PATIENCE_LOAD },
	[ENGINE_IMAGE_INSPECT] = { .text = "inspect the image", .method = "GET", .success = 200 },
	[ENGINE_IMAGE_REMOVE] = { .text = "remove the image", .method = "DELETE", .success = 200 },
	[ENGINE_IMAGES] = { .text = "list images", .method = "GET", .success = 200 },
	[ENGINE_CREATE] = { .text = "create the container", .method = "POST", .success = 201 },
	[ENGINE_INSPECT] = { .text = "inspect the container", .method = "GET", .success = 200 },
	[ENGINE_LIST] = { .text = "list containers", .method = "GET", .success = 200 },
	[ENGINE_START] = { .text = "start the container",
			   .method = "POST",
			   .success = 204,
			   .patience = PATIENCE_START },
	[ENGINE_WAIT] = { .text = "wait for the container's exit", .method = "POST", .success = 200 },
	[ENGINE_KILL] = { .text = "kill the container", .method = "POST", .success = 204 },
	[ENGINE_STOP] = { .text = "stop the container", .method = "POST", .success = 204 },
	[ENGINE_REMOVE] = { .text = "remove the container", .method = "DELETE", .success = 204 },
	[ENGINE_ATTACH] = { .text = "attach to the container", .method = "POST", .success = 101 },
	[ENGINE_ARCHIVE] = { .text = "archive the container's files", .method = "GET", .success = 200 },
	[ENGINE_CHANGES] = { .text = "list the container's changes", .method = "GET", .success = 200 },
	[ENGINE_LOGS] = { .text = "read the container's log", .method = "GET", .success = 200 },
	[ENGINE_EVENTS] = { .text = "report events", .method = "GET", .success = 200 },
	[ENGINE_NETWORK] = { .text = "inspect the network", .method = "GET", .success = 200 },
	[ENGINE_RENAME] = { .text = "rename the container", .method = "POST", .success = 204 },
	[ENGINE_UPDATE] = { .text = "update the container's limits", .method = "POST", .success = 200 },
	[ENGINE_PAUSE] = { .text = "pause the container", .method = "POST", .success = 204 },
	[ENGINE_UNPAUSE] = { .text = "go on with the container", .method = "POST", .success = 204 },
	[ENGINE_CONNECT] = { .text = "connect the container to a network", .method = "POST", .success = 200 },
	[ENGINE_DISCONNECT] = { .text = "disconnect the container from a network", .method = "POST", .success = 200 },
	[ENGINE_EXEC] = { .text = "prepare a command in the container", .method = "POST", .success = 201 },
	[ENGINE_EXEC_START] = { .text = "run a command in the container", .method = "POST", .success = 101 },
};

/* The first row that matches holds: an operation's own rows come before those of all. */
static const struct meaning meanings[] = {
	{ .operation = ENGINE_IMAGE_INSPECT, .status = 404, .outcome = OUTCOME_ABSENT },
	{ .operation = ENGINE_IMAGE_REMOVE, .status = 404, .outcome = OUTCOME_FINE },
	{ .operation = ENGINE_IMAGE_REMOVE,
	  .status = 409,
	  .advice = "a container or another name still uses it: run `harness clean`, or remove that container" },
	{ .operation = ENGINE_NETWORK, .status = 404, .outcome = OUTCOME_ABSENT },
	{ .operation = ENGINE_INSPECT, .status = 404, .outcome = OUTCOME_ABSENT },
	{ .operation = ENGINE_REMOVE, .status = 404, .outcome = OUTCOME_FINE },
	{ .operation = ENGINE_REMOVE,
	  .status = 409,
	  .part = "already in progress",
	  .advice = "its removal is under way: try again" },
	{ .operation = ENGINE_CREATE, .status = 404, .advice = "the image is not there: load it again" },
	{ .operation = ENGINE_CREATE, .status = 409, .advice = "the name is taken: run `harness clean`" },
	{ .operation = ENGINE_START, .status = 304, .advice = "somebody else started it: use a new container" },
	{ .operation = ENGINE_KILL, .status = 409, .part = "is not running", .outcome = OUTCOME_FINE },
	{ .operation = ENGINE_STOP, .status = 304, .outcome = OUTCOME_FINE },
	{ .operation = ENGINE_ARCHIVE, .status = 404, .part = "Could not find the file", .outcome = OUTCOME_ABSENT },
	{ .operation = ENGINE_LOGS, .status = 501, .outcome = OUTCOME_ABSENT },
	{ .operation = ENGINE_LOGS, .status = 500, .part = "does not support reading", .outcome = OUTCOME_ABSENT },
	{ .part = "No such container", .advice = "the container is gone" },
	{ .part = "is paused", .advice = "the container is paused: unpause or remove it" },
	{ .part = "port is already allocated", .advice = "another container holds the port: stop that one" },
	{ .part = "no space left on device", .advice = "the engine's disk is full: free space in its data folder" },
	{ .part = "cannot allocate memory", .advice = "the host is out of memory: run fewer arms at once" },
	{ .part = "client version",
	  .advice = "it does not speak this version of its API: start over after its upgrade" },
	{ .part = "page not found", .advice = "it does not know the request: use Docker 20.10 to 29" },
	{ .part = "runtime create failed", .advice = "the runtime cannot start the container: see the engine's log" },
	{ .status = 400, .advice = "it does not accept the request: its version and this program's do not fit" },
	{ .status = 401, .advice = "it wants a login, which a local engine does not: name its socket with --socket" },
	{ .status = 403, .advice = "a rule of the engine or its authorization plugin forbids it: allow it there" },
	{ .status = 404, .advice = "there is no such thing" },
	{ .status = 409, .advice = "the container's state forbids it: run `harness clean` and try again" },
	{ .status = 503, .advice = "the engine is not ready: try again" },
};
static const size_t meanings_count = ARRAY_SIZE(meanings);
