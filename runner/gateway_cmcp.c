/*
 * The real cMCP as the arm's gateway: catalog, policies and configuration are written to the arm's own folder, and
 * `cmcp start` runs there, on a free port of the loopback address, until the arm ends it. It starts slowly (a second),
 * so it is begun before the engine is asked for anything.
 *
 * Its session always starts at "public": the catalog calls every tool what the reference session starts at, which
 * decides the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json.h"
#include "runner/arm.h"

#define FOLDER ARM_RECORDS
#define FILE_BYTES (64 * KIB)
#define WRITE_MS 2000
#define RETRY_MS 10
#define TRIES 3 /* of a port that somebody else took meanwhile */
#define EXIT_PORT_BUSY 3
#define STOP_MS 1500
#define WRITTEN_STOP_MS 4000 /* with the spans that it still has */

static const char *const tools[] = { "beacon.tool", "permitted.tool", "public.tool", "slow.tool", NULL };
/* As our recorder lists each of them; the gateway compares by the hash. */
static const char definition[] = "{\"description\":\"record synthetic data\",\"input_schema\":{\"type\":\"object\"}}";
static const char since[] = "2026-01-01T00:00:00Z";

/* ---- what it reads ---- */

static int write_file(int folder, const char *name, const struct buf *text, struct error **err)
{
	cleanup_fd int fd = -1;

	if (buf_check(text, "a file of the gateway", err) < 0)
		return -1;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_errno(err, errno, "a file of the gateway");
	return fd_write_all(fd, buf_string(text), text->length, clock_deadline(WRITE_MS), err);
}

static int write_text(int folder, const char *name, const char *text, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(FILE_BYTES);

	buf_text(&bytes, text);
	return write_file(folder, name, &bytes, err);
}

static int make_folder(int parent, const char *name, int *out, struct error **err)
{
	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return error_errno(err, errno, "a folder of the gateway");
	*out = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *out < 0 ? error_errno(err, errno, "a folder of the gateway") : 0;
}

/* Everything is permitted by policy: the ceiling is the decision under test. */
static int write_policies(int folder, struct error **err)
{
	cleanup_fd int policies = -1;

	if (make_folder(folder, "policies", &policies, err) < 0 ||
	    write_text(policies, "allow.cedar", "permit(principal, action, resource);", err) < 0 ||
	    write_text(policies, "schema.cedarschema", "{\"cMCP\": {}}", err) < 0)
		return -1;
	return write_text(
		policies, "manifest.json",
		"{\"version\":\"1.0.0\",\"authored_at\":\"2026-01-01T00:00:00Z\",\"author_identity\":\"harness\","
		"\"commit_sha\":\"none\"}",
		err);
}

/* The upstream finds its file by path, since the gateway passes no descriptors on. */
static void put_server(struct json_writer *json, const struct arm *arm, const char *program, const char *mode,
		       const char *digest)
{
	char sink[PATH_MAX + sizeof("/recorder")];

	snprintf(sink, sizeof(sink), "%s/recorder", arm->path);
	json_put_key(json, "server");
	json_object(json);
	json_member_string(json, "display_name", "recorder");
	json_member_string(json, "transport", "stdio");
	json_put_key(json, "spawn");
	json_object(json);
	json_member_string(json, "command", program);
	json_put_key(json, "args");
	json_array(json);
	if (mode)
		json_put_string(json, mode);
	json_put_string(json, sink);
	json_array_end(json);
	json_member_string(json, "binary_digest", digest);
	json_object_end(json);
	json_object_end(json);
}

static void digest_text(const char hex[HEX_SHA256], char out[HEX_SHA256 + 7])
{
	snprintf(out, HEX_SHA256 + 7, "sha256:%s", hex);
}

static int measure(const char *name, char path[PATH_MAX], char out[HEX_SHA256 + 7], struct error **err)
{
	cleanup_fd int fd = -1;
	char hex[HEX_SHA256];

	if (spawn_helper_path(name, path, PATH_MAX, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "the upstream");
	if (hash_fd(fd, hex, err) < 0)
		return -1;
	digest_text(hex, out);
	return 0;
}

/* One upstream serves all, unless the scenario has one tool served apart: then the recorder serves the others, and what
 * was declared of the other one may be the recorder's. */
static int put_upstream(struct json_writer *json, const struct arm *arm, const char *tool, struct error **err)
{
	const struct session_options *options = &arm->options;
	bool hostile = !options->apart || strcmp(options->apart, tool) == 0;
	char program[PATH_MAX], recorder[PATH_MAX], digest[HEX_SHA256 + 7], declared[HEX_SHA256 + 7];

	if (measure(hostile ? options->upstream_program : "recorder", program, digest, err) < 0 ||
	    measure("recorder", recorder, declared, err) < 0)
		return -1;
	put_server(json, arm, program, hostile ? options->upstream_mode : NULL,
		   hostile && options->undeclared ? declared : digest);
	return 0;
}

static const char *label_of(const struct session_options *options, const char *tool)
{
	bool own = options->permitted_label[0] && strcmp(tool, "permitted.tool") == 0;

	return own ? options->permitted_label : options->sensitivity;
}

static int write_catalog(const struct arm *arm, int folder, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	char hex[HEX_SHA256], defined[HEX_SHA256 + 7];
	struct json_writer json;

	hash_bytes(definition, sizeof(definition) - 1, hex);
	digest_text(hex, defined);
	json_begin(&json, &text);
	json_array(&json);
	for (const char *const *tool = tools; *tool; tool++) {
		json_object(&json);
		json_member_string(&json, "tool_name", *tool);
		if (put_upstream(&json, arm, *tool, err) < 0)
			return -1;
		json_put_key(&json, "approved_definition");
		json_put_raw(&json, definition, sizeof(definition) - 1);
		json_member_string(&json, "definition_hash", defined);
		json_member_string(&json, "compliance_domain", "internal");
		json_member_bool(&json, "requires_baa", false);
		json_member_string(&json, "sensitivity_level", label_of(&arm->options, *tool));
		json_member_string(&json, "added_at", since);
		json_member_string(&json, "approved_by", "harness");
		json_object_end(&json);
	}
	json_array_end(&json);
	return write_file(folder, "catalog.json", &text, err);
}

/* JSON is YAML, and needs no writer of its own. Paths are relative to where it runs. */
static int write_config(const struct arm *arm, int folder, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	struct json_writer json;
	char address[32], audit[PATH_MAX + sizeof("/" ARM_AUDIT "/audit.db")] = "./audit.db";

	if (arm->records.audit >= 0)
		snprintf(audit, sizeof(audit), "%s/" ARM_AUDIT "/audit.db", arm->path);

	snprintf(address, sizeof(address), "127.0.0.1:%u", arm->gateway_port);
	json_begin(&json, &text);
	json_object(&json);
	json_put_key(&json, "attestation");
	json_object(&json);
	json_member_string(&json, "provider", "software-only");
	json_member_string(&json, "enforcement_mode", "enforcing");
	json_object_end(&json);
	json_member_string(&json, "policy_bundle_path", "./policies/");
	json_member_string(&json, "catalog_path", "./catalog.json");
	json_member_string(&json, "listen_addr", address);
	json_member_string(&json, "audit_db_path", audit);
	json_put_key(&json, "sink_policy");
	json_object(&json);
	json_put_key(&json, "tool_max_sensitivity");
	json_object(&json);
	for (size_t i = 0; i < arm->options.ceilings_count; i++)
		json_member_string(&json, arm->options.ceilings[i].tool, arm->options.ceilings[i].max);
	json_object_end(&json);
	json_member_string(&json, "response_max_sensitivity", arm->options.response_ceiling);
	json_object_end(&json);
	json_object_end(&json);
	return write_file(folder, "cmcp-config.yaml", &text, err);
}

/* ---- its process ---- */

int gateway_free_port(uint16_t *out, struct error **err)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return error_errno(err, errno, "a port for the gateway");
	*out = ntohs(address.sin_port);
	return 0;
}

static int new_token(char out[GATEWAY_TOKEN_BYTES], struct error **err)
{
	unsigned char bytes[(GATEWAY_TOKEN_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_errno(err, errno, "getrandom");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* What it prints stays in its folder, and goes with it. The token comes in its environment: it knows no other way. */
static int start(struct arm *arm, int folder, struct error **err)
{
	cleanup_fd int log = openat(folder, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	const struct arm_gateway_choice *choice = &arm->context.gateway;
	char python[GATEWAY_FILE_BYTES], program[GATEWAY_FILE_BYTES], directory[PATH_MAX + sizeof("/" FOLDER)];
	char verb[] = "start", flag[] = "--config", config[] = "cmcp-config.yaml";
	char mode[] = "CMCP_DEV_MODE=1", search[] = "PATH=/usr/bin:/bin", compiled[] = "PYTHONDONTWRITEBYTECODE=1";
	char token[sizeof("CMCP_BEARER_TOKEN=") + GATEWAY_TOKEN_BYTES], home[sizeof(directory) + sizeof("HOME=")];
	char *argv[] = { python, program, verb, flag, config, NULL };
	/* The exporter gives up within the arm's time. */
	char tracing[] = "CMCP_OTEL_ENABLED=1", often[] = "OTEL_BSP_SCHEDULE_DELAY=200";
	char patience[] = "OTEL_EXPORTER_OTLP_TIMEOUT=1", endpoint[64];
	char *envp[] = { mode, search, compiled, home, token, NULL, tracing, often, patience, NULL };
	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = python, .argv = argv, .envp = envp, .directory = directory,
	};

	if (log < 0)
		return error_errno(err, errno, "the gateway's output");
	snprintf(python, sizeof(python), "%s", choice->python);
	snprintf(program, sizeof(program), "%s", choice->program);
	snprintf(directory, sizeof(directory), "%s/" FOLDER, arm->path);
	snprintf(home, sizeof(home), "HOME=%s", directory);
	snprintf(token, sizeof(token), "CMCP_BEARER_TOKEN=%s", arm->gateway_token);
	if (arm->records.collector) {
		snprintf(endpoint, sizeof(endpoint), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:%u",
			 arm->records.collector);
		envp[5] = endpoint;
	}
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = log, .to = STDOUT_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = log, .to = STDERR_FILENO };
	return spawn(&options, &arm->gateway, err) < 0 ? error_wrap(err, "cmcp") : 0;
}

int gateway_cmcp_begin(struct arm *arm, struct error **err)
{
	cleanup_fd int folder = -1;

	if ((!arm->gateway_token[0] && new_token(arm->gateway_token, err) < 0) ||
	    gateway_free_port(&arm->gateway_port, err) < 0 || make_folder(arm->folder, FOLDER, &folder, err) < 0 ||
	    write_policies(folder, err) < 0 || write_catalog(arm, folder, err) < 0 ||
	    write_config(arm, folder, err) < 0)
		return -1;
	return start(arm, folder, err);
}

/* 1: somebody takes connections there, 0: nobody yet. A port that nobody listens on can be connected with itself. */
static int try_connect(uint16_t port, int64_t deadline, struct error **err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(port) };
	struct sockaddr_in own = { .sin_port = 0 };
	socklen_t length = sizeof(own);
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_errno(err, errno, "a socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	    (errno != EINPROGRESS || fd_wait(fd, POLLOUT, deadline, err) <= 0))
		return *err ? -1 : 0;
	if (getsockname(fd, (struct sockaddr *)&own, &length) < 0 || ntohs(own.sin_port) == port)
		return 0;
	length = sizeof(address);
	return getpeername(fd, (struct sockaddr *)&address, &length) == 0;
}

/* Between two tries it is its end that is waited for. */
static int ready(struct arm *arm, int64_t deadline, bool *ended, struct error **err)
{
	*ended = false;
	while (clock_now() < deadline) {
		int64_t next = clock_deadline(RETRY_MS);
		int r = try_connect(arm->gateway_port, deadline, err);

		if (r != 0)
			return r < 0 ? r : 0;
		r = fd_wait(arm->gateway.pidfd, POLLIN, next < deadline ? next : deadline, err);
		if (r < 0)
			return r;
		*ended = r > 0;
		if (*ended)
			return error_set(err, ERROR_CLOSED, "cmcp ended before it was ready");
	}
	return error_set(err, ERROR_TIMEOUT, "cmcp was not ready in time");
}

static int settle(struct arm *arm, struct error **err)
{
	int64_t deadline = clock_deadline(GATEWAY_READY_MS);

	for (int tries = 1;; tries++) {
		bool ended = false;
		int status = -1, r = ready(arm, deadline, &ended, err);

		if (r == 0 || !ended || tries == TRIES)
			return r;
		error_free(steal_pointer(err));
		r = child_wait(&arm->gateway, deadline, &status, err);
		if (r < 0)
			return r;
		child_end(&arm->gateway);
		if (status != EXIT_PORT_BUSY)
			return error_set(err, ERROR_PROTOCOL, "cmcp does not start: its exit code is %d", status);
		if (gateway_cmcp_begin(arm, err) < 0)
			return -1;
	}
}

int gateway_cmcp_start(struct arm *arm, struct error **err)
{
	cleanup_fd int token_read = -1, token_write = -1;
	char url[64];
	int r = arm->gateway.pid ? 0 : gateway_cmcp_begin(arm, err);

	if (r == 0)
		r = settle(arm, err);
	if (r == 0)
		r = fd_pipe(&token_read, &token_write, err);
	if (r == 0)
		r = fd_write_all(token_write, arm->gateway_token, strlen(arm->gateway_token), clock_deadline(WRITE_MS),
				 err);
	fd_close(&token_write);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/mcp", arm->gateway_port);
	return r < 0 ? r : gateway_http_relay(arm, url, token_read, err);
}

/* SIGINT makes it end in order; one whose upstream hangs would wait for that without end. */
void gateway_cmcp_end(struct arm *arm)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	if (arm->gateway.pid && child_signal(&arm->gateway, SIGINT) == 0)
		(void)!child_wait(&arm->gateway, clock_deadline(arm->records.folder < 0 ? STOP_MS : WRITTEN_STOP_MS),
				  &status, &ignored);
	child_end(&arm->gateway);
}
