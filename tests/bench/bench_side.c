#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "tests/bench/gateway.h"

#define READY_MS 20000
#define RETRY_MS 1
#define TRIES 3
#define STOP_MS 2000
#define FILE_BYTES (16 * KIB)
#define CMCP TEST_BUILD "/cmcp/bin/"

bool side_has_cmcp(void)
{
	return access(CMCP "cmcp", X_OK) == 0;
}

/* Whether somebody takes connections there: on loopback that is said at once. */
static bool takes(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static const struct child *process(const struct side *side)
{
	return side->arm ? &side->arm->gateway : &side->child;
}

static int await(const struct side *side, struct error **err)
{
	int64_t deadline = clock_deadline(READY_MS);

	while (clock_now() < deadline) {
		int r;

		if (takes(side->port))
			return 0;
		r = fd_wait(process(side)->pidfd, POLLIN, clock_deadline(RETRY_MS), err);
		if (r != 0)
			return r < 0 ? r : error_set(err, ERROR_CLOSED, "a gateway ended before it was ready");
	}
	return error_set(err, ERROR_TIMEOUT, "a gateway was not ready in time");
}

static int write_file(const struct side *side, const char *name, const char *text, struct error **err)
{
	char path[PATH_MAX + NAME_MAX_SHORT];

	snprintf(path, sizeof(path), "%s/%s", side->folder, name);
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? error_errno(err, errno, "a gateway's file")
		      : fd_write_all(fd, text, strlen(text), clock_deadline(READY_MS), err);
}

/* ---- ours ---- */

static int write_ours(struct side *side, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	cleanup_fd int recorder = -1;
	char program[PATH_MAX], digest[HEX_SHA256];

	if (spawn_helper_path("recorder", program, sizeof(program), err) < 0)
		return -1;
	recorder = open(program, O_RDONLY | O_CLOEXEC);
	if (recorder < 0 || hash_fd(recorder, digest, err) < 0)
		return *err ? -1 : error_errno(err, errno, "the recorder");
	(void)buf_printf(&text,
			 "{\"session\":{\"sensitivity\":\"confidential\"},\"sinkPolicy\":{\"toolMaxSensitivity\":"
			 "[{\"tool\":\"permitted.tool\",\"max\":\"confidential\"},{\"tool\":\"public.tool\",\"max\":"
			 "\"public\"}],\"responseMaxSensitivity\":\"confidential\"},\"catalog\":[{\"tool\":"
			 "\"permitted.tool\",\"sensitivity\":\"confidential\",\"server\":0},{\"tool\":\"public.tool\","
			 "\"sensitivity\":\"confidential\",\"server\":0}],\"servers\":[{\"command\":\"%s\",\"sha256\":"
			 "\"%s\",\"arguments\":[\"%s/recorder\"]}],\"http\":{\"address\":\"127.0.0.1\",\"port\":%u,"
			 "\"tokenFile\":\"token\"}%s}",
			 program, digest, side->folder, side->port,
			 side->kind == SIDE_OURS ? ",\"audit\":{\"path\":\"audit.db\"}" : "");
	if (buf_check(&text, "a configuration", err) < 0 || write_file(side, "token", side->token, err) < 0)
		return -1;
	return write_file(side, "config.json", buf_string(&text), err);
}

static int start_ours(struct side *side, struct error **err)
{
	char path[PATH_MAX], config[PATH_MAX + NAME_MAX_SHORT], verb[] = "serve", flag[] = "--config";
	char name[] = "harness-gateway";
	char *argv[] = { name, verb, flag, config, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };

	snprintf(config, sizeof(config), "%s/config.json", side->folder);
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = STDERR_FILENO, .to = STDERR_FILENO };
	if (write_ours(side, err) < 0 || spawn_helper_path(name, path, sizeof(path), err) < 0)
		return -1;
	return spawn(&options, &side->child, err);
}

/* ---- the real one, as the runner composes it ---- */

static int start_cmcp(struct side *side, struct error **err)
{
	struct arm *arm = side->arm = calloc(1, sizeof(*arm));
	char here[PATH_MAX];

	if (!arm)
		return error_set(err, ERROR_MEMORY, "no memory for a gateway");
	arm->gateway = (struct child)CHILD_NONE;
	arm->records = (struct arm_records){ .folder = -1, .audit = -1, .errors = -1, .hostile = CHILD_NONE };
	arm->folder = open(side->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (arm->folder < 0 || !getcwd(here, sizeof(here)))
		return error_errno(err, errno, "a gateway's folder");
	session_options_reference(&arm->options);
	snprintf(arm->path, sizeof(arm->path), "%s", side->folder);
	if ((size_t)snprintf(arm->context.gateway.python, GATEWAY_FILE_BYTES, "%s/" CMCP "python", here) >=
		    GATEWAY_FILE_BYTES ||
	    (size_t)snprintf(arm->context.gateway.program, GATEWAY_FILE_BYTES, "%s/" CMCP "cmcp", here) >=
		    GATEWAY_FILE_BYTES)
		return error_set(err, ERROR_LIMIT, "the path of cmcp is too long");
	snprintf(arm->gateway_token, sizeof(arm->gateway_token), "%s", side->token);
	if (gateway_cmcp_begin(arm, err) < 0)
		return -1;
	side->port = arm->gateway_port;
	return 0;
}

/* ---- a side ---- */

void side_none(struct side *out)
{
	*out = (struct side){ .child = CHILD_NONE };
	for (size_t i = 0; i < CALLERS; i++)
		out->callers[i].fd = -1;
}

static int prepare(struct side *side, const char *parent, const char *name, struct error **err)
{
	unsigned char random[(GATEWAY_TOKEN_BYTES - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, errno, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(side->token + 2 * i, 3, "%02x", random[i]);
	snprintf(side->folder, sizeof(side->folder), "%s/%s", parent, name);
	if (mkdir(side->folder, 0700) < 0)
		return error_errno(err, errno, "a gateway's folder");
	return write_file(side, "recorder", "", err) < 0 ? -1 : gateway_free_port(&side->port, err);
}

/* A port that was free may be somebody else's by then. */
static int start(struct side *side, int64_t *ready, struct error **err)
{
	for (int tries = 1;; tries++) {
		int64_t start = clock_now();
		int r = side->kind == SIDE_CMCP ? start_cmcp(side, err) : start_ours(side, err);

		if (r == 0)
			r = await(side, err);
		*ready = clock_now() - start;
		if (r == 0 || error_code(*err) != ERROR_CLOSED || tries == TRIES)
			return r;
		error_free(steal_pointer(err));
		side_end(side);
		if (gateway_free_port(&side->port, err) < 0)
			return -1;
	}
}

int side_start(enum side_kind kind, const char *parent, const char *name, struct side *out, int64_t *ready,
	       struct error **err)
{
	side_none(out);
	out->kind = kind;
	return prepare(out, parent, name, err) < 0 ? -1 : start(out, ready, err);
}

int side_cpu(const struct side *side, int64_t *out, struct error **err)
{
	*out = 0;
	for (size_t i = 0; i < side->tree.count; i++) {
		struct timespec used;
		clockid_t clock;

		if (clock_getcpuclockid(side->tree.processes[i].pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
			return error_set(err, ERROR_SYSTEM, "a gateway's process is gone");
		*out += used.tv_sec * NS_PER_S + used.tv_nsec;
	}
	return 0;
}

void side_end(struct side *side)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	load_close(side);
	if (side->arm) {
		gateway_cmcp_end(side->arm);
		fd_close(&side->arm->folder);
		free(steal_pointer(&side->arm));
	}
	if (side->child.pid && child_signal(&side->child, SIGTERM) == 0)
		(void)!child_wait(&side->child, clock_deadline(STOP_MS), &status, &ignored);
	child_end(&side->child);
}
