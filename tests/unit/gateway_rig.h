/*
 * The real gateway with the real recorder, or with an upstream that misbehaves, over pipes: what the tests of the
 * gateway, and of those who call it, share.
 */
#ifndef HARNESS_TESTS_UNIT_GATEWAY_RIG_H
#define HARNESS_TESTS_UNIT_GATEWAY_RIG_H

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/spawn.h"
#include "gateway/config.h"
#include "gateway/decisions.h"
#include "mcp/client.h"
#include "tests/unit/test.h"

#define RIG_GUARD_MS 5000
#define RIG_TEXT_BYTES 1024
#define RIG_PATH_BYTES GATEWAY_PATH_BYTES

struct rig {
	struct gateway_config config;
	const char *program, *mode; /* of a helper in the gateway's place, or NULL */
	struct child gateway;
	struct mcp_client *client;
	int lifeline; /* our end */
	int decisions; /* the file, shared with the gateway */
	int sink; /* the recorder's file */
};

/* What a call was told. */
struct reply {
	unsigned times;
	enum mcp_outcome outcome;
	int64_t code;
	char error_code[RPC_ERROR_CODE_BYTES];
	char text[RIG_TEXT_BYTES]; /* content[0].text, or of a list the whole result */
	char call_id[NAME_MAX_SHORT + 1];
};

/* One row of the decisions file, read by the format. */
struct decided {
	uint64_t sequence;
	char tool[NAME_MAX_SHORT];
	uint32_t decision, rule;
};

static inline int rig_file(void)
{
	int fd = memfd_create("rig", MFD_CLOEXEC);

	CU_ASSERT(fd >= 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, O_APPEND), 0);
	return fd;
}

static inline void rig_ceiling(struct rig *rig, const char *tool, const char *max)
{
	struct gateway_ceiling *row = &rig->config.sink_policy.tools[rig->config.sink_policy.tools_count++];

	snprintf(row->tool, sizeof(row->tool), "%s", tool);
	snprintf(row->max, sizeof(row->max), "%s", max);
}

static inline void rig_tool(struct rig *rig, const char *tool, const char *sensitivity)
{
	struct gateway_tool *row = &rig->config.catalog[rig->config.catalog_count++];

	snprintf(row->tool, sizeof(row->tool), "%s", tool);
	snprintf(row->sensitivity, sizeof(row->sensitivity), "%s", sensitivity);
}

/* The program of the only server, with its true digest. */
static inline void rig_server(struct rig *rig, const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gateway_server *row = &rig->config.servers[0];
	struct error *err = NULL;

	rig->config.servers_count = 1;
	snprintf(row->command, sizeof(row->command), "%s", path);
	row->pass_fd = GATEWAY_FD_PASS;
	CU_ASSERT_EQUAL(hash_fd(fd, row->sha256, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* The reference session before the recorder: confidential, permitted.tool up to it, public.tool up to public. */
static inline void rig_init(struct rig *rig)
{
	char path[RIG_PATH_BYTES];
	struct error *err = NULL;

	*rig = (struct rig){ .gateway = CHILD_NONE, .lifeline = -1, .decisions = rig_file(), .sink = rig_file() };
	snprintf(rig->config.session.sensitivity, NAME_MAX_SHORT, "confidential");
	snprintf(rig->config.sink_policy.response, NAME_MAX_SHORT, "confidential");
	rig_ceiling(rig, "permitted.tool", "confidential");
	rig_ceiling(rig, "public.tool", "public");
	rig_tool(rig, "permitted.tool", "public");
	rig_tool(rig, "public.tool", "public");
	rig->config.call_ms = RIG_GUARD_MS;
	CU_ASSERT_EQUAL(spawn_helper_path("recorder", path, sizeof(path), &err), 0);
	CU_ASSERT(test_no_error(&err));
	rig_server(rig, path);
}

/* Starts the gateway on `config` text; its stdin and stdout are the caller's. */
static inline void rig_spawn_pipes(struct rig *rig, const char *config, size_t length, int *to, int *from)
{
	const char *program = rig->program ? rig->program : "harness-gateway";
	char path[RIG_PATH_BYTES], name[] = "gateway", mode[NAME_MAX_SHORT];
	char *argv[] = { name, mode, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	cleanup_fd int document = memfd_create("config", MFD_CLOEXEC);
	cleanup_fd int in = -1, out = -1, life = -1;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(pwrite(document, config, length, 0), (ssize_t)length);
	snprintf(mode, sizeof(mode), "%s", rig->mode ? rig->mode : "embedded");
	CU_ASSERT_EQUAL(spawn_helper_path(program, path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&in, to, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(from, &out, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&life, &rig->lifeline, &err), 0);
	options.fds[0] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options.fds[2] = (struct spawn_fd){ .from = document, .to = GATEWAY_FD_CONFIG };
	options.fds[3] = (struct spawn_fd){ .from = rig->decisions, .to = GATEWAY_FD_DECISIONS };
	options.fds[4] = (struct spawn_fd){ .from = life, .to = GATEWAY_FD_LIFELINE };
	options.fds[5] = (struct spawn_fd){ .from = rig->sink, .to = GATEWAY_FD_PASS };
	options.fds_count = 6;
	CU_ASSERT_EQUAL(spawn(&options, &rig->gateway, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* The same with a client of ours before it; no handshake yet. */
static inline void rig_spawn(struct rig *rig, const char *config, size_t length)
{
	const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES, .queue_max = MIB, .calls_max = 8 };
	int to = -1, from = -1;
	struct error *err = NULL;

	rig_spawn_pipes(rig, config, length, &to, &from);
	CU_ASSERT_EQUAL(mcp_client_new(from, to, &limits, &rig->client, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static inline void rig_on_answer(void *context, const struct mcp_answer *answer)
{
	struct reply *reply = context;
	const struct json_node *text = json_member(json_first(json_member(answer->result, "content")), "text");
	const char *id = json_string(json_member(json_member(answer->result, "_cmcp"), "call_id"));
	char *meta;

	reply->times++;
	reply->outcome = answer->outcome;
	reply->code = answer->code;
	snprintf(reply->error_code, sizeof(reply->error_code), "%s", answer->error_code);
	snprintf(reply->call_id, sizeof(reply->call_id), "%s", id ? id : "");
	if (text)
		snprintf(reply->text, sizeof(reply->text), "%s", json_string(text));
	else if (answer->result)
		snprintf(reply->text, sizeof(reply->text), "%.*s", (int)json_raw(answer->result).length,
			 json_raw(answer->result).bytes);
	/* What the gateway itself says there is no part of the upstream's answer. */
	meta = strstr(reply->text, ",\"_cmcp\":{");
	if (meta)
		memcpy(meta, "}", sizeof("}"));
}

static inline void rig_wait(struct rig *rig, const struct reply *reply)
{
	int64_t deadline = clock_deadline(RIG_GUARD_MS);
	struct error *err = NULL;

	while (reply->times == 0 && clock_now() < deadline && !err)
		(void)!mcp_client_dispatch(rig->client, deadline, &err);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(reply->times, 1);
}

static inline void rig_send(struct rig *rig, const char *method, const char *params, struct reply *reply)
{
	struct json_span span = { .bytes = params, .length = strlen(params) };
	struct error *err = NULL;

	*reply = (struct reply){ .times = 0 };
	CU_ASSERT_EQUAL(mcp_client_call(rig->client, method, span, clock_deadline(RIG_GUARD_MS), rig_on_answer, reply,
					NULL, &err),
			0);
	CU_ASSERT(test_no_error(&err));
}

static inline struct reply rig_request(struct rig *rig, const char *method, const char *params)
{
	struct reply reply;

	rig_send(rig, method, params, &reply);
	rig_wait(rig, &reply);
	return reply;
}

/* `rest` follows the arguments, for example ",\"_cmcp\":{}". */
static inline struct reply rig_call(struct rig *rig, const char *tool, const char *arguments, const char *rest)
{
	char params[RIG_TEXT_BYTES];

	snprintf(params, sizeof(params), "{\"name\":\"%s\",\"arguments\":%s%s}", tool, arguments, rest);
	return rig_request(rig, "tools/call", params);
}

/* Starts the gateway as rig->config says and shakes hands. */
static inline void rig_start(struct rig *rig)
{
	cleanup_buf struct buf text = BUF(GATEWAY_CONFIG_BYTES);
	struct reply reply = { .times = 0 };
	struct json_writer writer;
	struct error *err = NULL;

	json_begin(&writer, &text);
	schema_encode(gateway_config_fields, &rig->config, &writer);
	rig_spawn(rig, buf_string(&text), text.length);
	CU_ASSERT_EQUAL(mcp_client_initialize(rig->client, "rig", "1", clock_deadline(RIG_GUARD_MS), rig_on_answer,
					      &reply, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	rig_wait(rig, &reply);
	CU_ASSERT_EQUAL(reply.outcome, MCP_RESULT);
}

/* Waits for the gateway's end; its exit code, or -1 when it does not end. */
static inline int rig_exit(struct rig *rig)
{
	cleanup_error struct error *err = NULL;
	int status = -1;

	return child_wait(&rig->gateway, clock_deadline(RIG_GUARD_MS), &status, &err) == 0 ? status : -1;
}

/* Closes our ends; the two files stay. */
static inline void rig_stop(struct rig *rig)
{
	mcp_client_free(steal_pointer(&rig->client));
	CU_ASSERT_EQUAL(rig_exit(rig), 0);
	fd_close(&rig->lifeline);
}

static inline void rig_end(struct rig *rig)
{
	mcp_client_free(rig->client);
	child_end(&rig->gateway);
	fd_close(&rig->lifeline);
	fd_close(&rig->decisions);
	fd_close(&rig->sink);
}
#define cleanup_rig __attribute__((cleanup(rig_end)))

static inline size_t rig_decisions(const struct rig *rig)
{
	off_t size = lseek(rig->decisions, 0, SEEK_END);

	CU_ASSERT_EQUAL(size % DECISIONS_ROW_BYTES, 0);
	return (size_t)size / DECISIONS_ROW_BYTES;
}

/* Row `index` from 0; zeros when there is none. */
static inline struct decided rig_decision(const struct rig *rig, size_t index)
{
	unsigned char bytes[DECISIONS_ROW_BYTES];
	struct decided row = { .sequence = 0 };

	if (pread(rig->decisions, bytes, sizeof(bytes), (off_t)(index * DECISIONS_ROW_BYTES)) != (ssize_t)sizeof(bytes))
		return row;
	CU_ASSERT_EQUAL(memcmp(bytes, "HDR1", 4), 0);
	CU_ASSERT_EQUAL(memcmp(bytes + 60, "\r\n\r\n", 4), 0);
	memcpy(&row.sequence, bytes + 4, sizeof(row.sequence));
	memcpy(row.tool, bytes + 12, sizeof(row.tool));
	memcpy(&row.decision, bytes + 44, sizeof(row.decision));
	memcpy(&row.rule, bytes + 48, sizeof(row.rule));
	row.sequence = be64toh(row.sequence);
	row.decision = be32toh(row.decision);
	row.rule = be32toh(row.rule);
	return row;
}

/* Whether the recorder's file holds exactly this. */
static inline bool rig_sink_is(const struct rig *rig, const char *expected)
{
	char text[RIG_TEXT_BYTES];
	ssize_t got = pread(rig->sink, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	if (strcmp(text, expected) != 0)
		fprintf(stderr, "expected %s     the sink holds %s\n", expected, text);
	return strcmp(text, expected) == 0;
}

/* The process id of the gateway's upstream, or 0. */
static inline pid_t rig_upstream(const struct rig *rig)
{
	cleanup_buf struct buf text = BUF(RIG_TEXT_BYTES);
	cleanup_error struct error *err = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)rig->gateway.pid, (int)rig->gateway.pid);
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, path, RIG_TEXT_BYTES, &text, &err), 0);
	return (pid_t)strtol(buf_string(&text), NULL, 10);
}

#endif
