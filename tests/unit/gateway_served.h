/*
 * The real gateway under an arm's descriptors that serves HTTP and keeps an audit chain as well, before an upstream
 * that is played here and does what files of a folder say: what tests of the decision table and of sessions share. The
 * test program is started again with --upstream and the folder.
 *
 *    list        its tools/list result, else the two tools of the rig
 *    answer      its tools/call result; "!error", "!leave", "!hang", "!garbage": what it does instead
 *    gate-list, gate-call    pipes: it waits there for the test
 *    calls       it writes each call there, before anything else
 *    turns       grows whenever it has handled what came
 */
#ifndef HARNESS_TESTS_UNIT_GATEWAY_SERVED_H
#define HARNESS_TESTS_UNIT_GATEWAY_SERVED_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "gateway/catalog.h"
#include "mcp/server.h"
#include "tests/unit/gateway_rig.h"

#define PERMITTED "permitted.tool"
#define PUBLIC "public.tool"
#define SERVED_BYTES (64 * KIB)
#define DEFINITION "\"description\":\"record synthetic data\",\"inputSchema\":{\"type\":\"object\"}}"
#define BOTH_TOOLS "{\"tools\":[{\"name\":\"" PERMITTED "\"," DEFINITION ",{\"name\":\"" PUBLIC "\"," DEFINITION "]}"
#define PLAYED "{\"content\":[{\"type\":\"text\",\"text\":\"played\"}]}"

/* ---- the upstream ---- */

static inline void in_folder(char out[RIG_PATH_BYTES], const char *folder, const char *name)
{
	snprintf(out, RIG_PATH_BYTES, "%s/%s", folder, name);
}

/* False: there is no such file. */
static inline bool read_file(const char *folder, const char *name, struct buf *out)
{
	cleanup_error struct error *ignored = NULL;
	char path[RIG_PATH_BYTES];

	in_folder(path, folder, name);
	out->length = 0;
	return fd_read_file(AT_FDCWD, path, out->max, out, &ignored) == 0;
}

static inline void add_line(const char *folder, const char *name, const char *text, size_t length)
{
	char path[RIG_PATH_BYTES];
	cleanup_fd int fd = -1;

	in_folder(path, folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	(void)!write(fd, text, length);
}

static inline void wait_at(const char *folder, const char *gate)
{
	char path[RIG_PATH_BYTES], byte;
	cleanup_fd int fd = -1;

	in_folder(path, folder, gate);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, &byte, 1) > 0)
		;
}

static inline int play_list(void *context, struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf list = BUF(MCP_LINE_BYTES);
	const char *folder = context;

	(void)err;
	wait_at(folder, "gate-list");
	if (!read_file(folder, "list", &list))
		buf_text(&list, BOTH_TOOLS);
	mcp_request_result(request, rpc_span(&list));
	return 0;
}

static inline void tell_progress(struct mcp_request *request)
{
	const struct json_node *meta = json_member(mcp_request_params(request), "_meta");
	const struct json_node *token = json_member(meta, "progressToken");
	char params[128];

	snprintf(params, sizeof(params), "{\"progressToken\":%.*s,\"progress\":7}", (int)json_raw(token).length,
		 json_raw(token).bytes);
	if (token)
		mcp_request_notify(request, "notifications/progress",
				   (struct json_span){ .bytes = params, .length = strlen(params) });
}

static inline int play_call(void *context, struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf line = BUF(MCP_LINE_BYTES), answer = BUF(MCP_LINE_BYTES);
	struct json_span raw = json_raw(mcp_request_params(request));
	const char *folder = context;

	buf_add(&line, raw.bytes, raw.length);
	buf_text(&line, "\n");
	add_line(folder, "calls", line.data, line.length);
	tell_progress(request);
	wait_at(folder, "gate-call");
	if (!read_file(folder, "answer", &answer))
		buf_text(&answer, PLAYED);
	if (strcmp(buf_string(&answer), "!hang") == 0)
		return 0;
	if (strcmp(buf_string(&answer), "!leave") == 0)
		return error_set(err, ERROR_CLOSED, "the upstream leaves");
	if (strcmp(buf_string(&answer), "!garbage") == 0)
		return write(STDOUT_FILENO, "secret\n", 7) == 7 ? 0 : -1;
	if (strcmp(buf_string(&answer), "!error") == 0)
		mcp_request_error(request, RPC_SERVER_ERROR, "secret", RPC_NONE);
	else
		mcp_request_result(request, rpc_span(&answer));
	return 0;
}

static inline int play(char *folder)
{
	static const struct mcp_handler played[] = {
		{ .method = "tools/list", .run = play_list },
		{ .method = "tools/call", .run = play_call },
		{ .method = NULL },
	};
	const struct mcp_server_options options = {
		.name = "played",
		.version = "1",
		.handlers = played,
		.context = folder,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = MCP_LINE_BYTES, .calls_max = 64 },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;
	cleanup_error struct error *err = NULL;
	int r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, &err);

	while (r == 0) {
		r = mcp_server_dispatch(server, NEVER, &err);
		add_line(folder, "turns", ".", 1);
	}
	return r < 0;
}

/* ---- the gateway ---- */

struct served {
	struct rig rig;
	char folder[64];
	uint16_t port;
};

/* Below those that the kernel gives to whoever connects: nobody takes it before the gateway does. */
static inline uint16_t free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint16_t port = (uint16_t)(12000 + (clock_now() / 1000 + getpid() * 97) % 18000);

	for (int tries = 0; tries < 100; tries++, port++) {
		cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		address.sin_port = htons(port);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return port;
	}
	CU_FAIL("no free port");
	return 0;
}

/* As every definition of the upstream is without a file "list". */
static inline void approve(struct rig *rig)
{
	static const char text[] = "{" DEFINITION;
	cleanup_json struct json_document *document = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(text, strlen(text), JSON_DEPTH, &document, &err), 0);
	for (size_t i = 0; i < rig->config.catalog_count; i++)
		CU_ASSERT_EQUAL(catalog_definition_hash(json_root(document), rig->config.catalog[i].definition, &err),
				0);
	CU_ASSERT(test_no_error(&err));
}

/* The rig's reference session at `label`, served; not started. */
static inline void served_init(struct served *served, const char *label)
{
	struct gateway_config *config = &served->rig.config;
	char path[RIG_PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CU_ASSERT(length > 0);
	path[length > 0 ? length : 0] = '\0';
	rig_init(&served->rig);
	rig_server(&served->rig, path);
	approve(&served->rig);
	snprintf(served->folder, sizeof(served->folder), "/tmp/test-served-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(served->folder));
	snprintf(config->session.sensitivity, NAME_MAX_SHORT, "%s", label);
	config->scan_arguments = config->scan_responses = true;
	config->servers[0].pass_fd = -1;
	config->servers[0].arguments_count = 2;
	snprintf(config->servers[0].arguments[0], GATEWAY_ARGUMENT_BYTES, "--upstream");
	snprintf(config->servers[0].arguments[1], GATEWAY_ARGUMENT_BYTES, "%s", served->folder);
	served->port = free_port();
	snprintf(config->http.address, NAME_MAX_SHORT, "127.0.0.1");
	config->http.port = served->port;
	config->http.open = true;
	snprintf(config->audit.path, GATEWAY_PATH_BYTES, "%s/audit.db", served->folder);
}

static inline void served_end(struct served *served)
{
	cleanup_error struct error *err = NULL;

	rig_end(&served->rig);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, served->folder, &err), 0);
}
#define SERVED(name, label)                                                                                            \
	__attribute__((cleanup(served_end))) struct served name;                                                       \
	served_init(&name, label)

static inline void put_file(const struct served *served, const char *name, const char *text)
{
	char path[RIG_PATH_BYTES];
	struct error *err = NULL;

	in_folder(path, served->folder, name);
	CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, text, strlen(text), 0600, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static inline size_t count_lines(const struct served *served, const char *name)
{
	cleanup_buf struct buf text = BUF(MIB);
	size_t count = 0;

	if (read_file(served->folder, name, &text))
		for (size_t i = 0; i < text.length; i++)
			count += text.data[i] == '\n' || strcmp(name, "turns") == 0;
	return count;
}

static inline void shut_gate(const struct served *served, const char *gate)
{
	char path[RIG_PATH_BYTES];

	in_folder(path, served->folder, gate);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
}

/* Returns when the upstream stands there; closing the descriptor lets it pass, and the gate is gone. */
static inline int reach_gate(const struct served *served, const char *gate)
{
	int64_t guard = clock_deadline(RIG_GUARD_MS);
	char path[RIG_PATH_BYTES];
	int fd = -1;

	in_folder(path, served->folder, gate);
	while (fd < 0 && clock_now() < guard) {
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			(void)poll(NULL, 0, 1);
	}
	CU_ASSERT(fd >= 0);
	CU_ASSERT_EQUAL(unlink(path), 0);
	return fd;
}

/* ---- over HTTP ---- */

struct heard {
	int status; /* 0: no answer */
	char bytes[SERVED_BYTES];
	const char *body;
};

static inline int dial(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval guard = { .tv_sec = RIG_GUARD_MS / 1000 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof(guard)), 0);
	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* `line`: "POST /mcp"; `head`: more lines, each ended by \r\n. */
static inline void say_http(int fd, const char *line, const char *head, const char *body)
{
	cleanup_buf struct buf text = BUF(2 * MIB);

	buf_printf(&text, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n", line,
		   head, strlen(body));
	buf_text(&text, body);
	CU_ASSERT_EQUAL(send(fd, text.data, text.length, MSG_NOSIGNAL), (ssize_t)text.length);
}

/* To the end of the connection; closes it. */
static inline void hear_http(int *fd, struct heard *out)
{
	size_t length = 0;
	ssize_t got;

	*out = (struct heard){ .body = "" };
	while (length + 1 < sizeof(out->bytes) &&
	       (got = recv(*fd, out->bytes + length, sizeof(out->bytes) - 1 - length, 0)) > 0)
		length += (size_t)got;
	fd_close(fd);
	if (sscanf(out->bytes, "HTTP/1.1 %d", &out->status) == 1 && strstr(out->bytes, "\r\n\r\n"))
		out->body = strstr(out->bytes, "\r\n\r\n") + 4;
}

static inline void http(uint16_t port, const char *line, const char *head, const char *body, struct heard *out)
{
	int fd = dial(port);

	say_http(fd, line, head, body);
	hear_http(&fd, out);
}

/* A call that is under way. `rest` follows the arguments. */
static inline int call_begin(const struct served *served, const char *head, const char *tool, const char *arguments,
			     const char *rest)
{
	cleanup_buf struct buf body = BUF(2 * MIB);
	int fd = dial(served->port);

	buf_printf(&body,
		   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":",
		   tool);
	buf_text(&body, arguments);
	buf_printf(&body, "%s}}", rest);
	say_http(fd, "POST /mcp", head, buf_string(&body));
	return fd;
}

static inline int call_over_http(const struct served *served, const char *tool, const char *arguments, const char *rest,
				 struct heard *out)
{
	int fd = call_begin(served, "", tool, arguments, rest);

	hear_http(&fd, out);
	return out->status;
}

/* The text of a member, wherever it stands. */
static inline const char *member_of(const struct heard *heard, const char *key, char out[NAME_MAX_SHORT + 1])
{
	char pattern[64];
	const char *at;

	snprintf(pattern, sizeof(pattern), "\"%s\":\"", key);
	at = strstr(heard->body, pattern);
	at = at ? at + strlen(pattern) : "";
	snprintf(out, NAME_MAX_SHORT + 1, "%.*s", (int)strcspn(at, "\""), at);
	return out;
}

/* ---- the chain ---- */

#define ENTRY_COLUMNS                                                                                                  \
	"coalesce(json_extract(payload,'$.entry_type'),'-')||' '||"                                                    \
	"coalesce(json_extract(payload,'$.policy_decision'),'-')||' '||"                                               \
	"coalesce(json_extract(payload,'$.policy_rule_matched'),'-')||' '||"                                           \
	"coalesce(json_extract(payload,'$.tool_name'),'-')||' '||"                                                     \
	"coalesce(json_extract(payload,'$.session_sensitivity_before'),'-')||'>'||"                                    \
	"coalesce(json_extract(payload,'$.session_sensitivity_after'),'-')||' '||"                                     \
	"coalesce(substr(json_extract(payload,'$.request_payload_hash'),8,8),'-')||' '||"                              \
	"coalesce(substr(json_extract(payload,'$.response_payload_hash'),8,8),'-')||' '||"                             \
	"coalesce(json_extract(payload,'$.response_inspection_result'),'-')||' '||"                                    \
	"coalesce(json_extract(payload,'$.detail.effect'),json_extract(payload,'$.detail.kind'),'-')"

/* The answers to a query, a line each. */
static inline void ask_chain(const struct served *served, const char *query, struct buf *out)
{
	char path[RIG_PATH_BYTES];
	sqlite3_stmt *statement = NULL;
	sqlite3 *connection = NULL;

	in_folder(path, served->folder, "audit.db");
	out->length = 0;
	CU_ASSERT_EQUAL(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_busy_timeout(connection, RIG_GUARD_MS), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_prepare_v2(connection, query, -1, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW)
		buf_printf(out, "%s\n", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	sqlite3_close(connection);
}

static inline void entries_of(const struct served *served, struct buf *out)
{
	ask_chain(served, "SELECT " ENTRY_COLUMNS " FROM audit_entries ORDER BY rowid", out);
}

/* Waits until the chain has so many entries of a type. */
static inline bool await_entries(const struct served *served, const char *type, int count)
{
	int64_t guard = clock_deadline(RIG_GUARD_MS);
	cleanup_buf struct buf out = BUF(SERVED_BYTES);
	char query[128];

	snprintf(query, sizeof(query), "SELECT count(*) FROM audit_entries WHERE entry_type = '%s'", type);
	do
		ask_chain(served, query, &out);
	while (atoi(buf_string(&out)) < count && clock_now() < guard && poll(NULL, 0, 1) == 0);
	return atoi(buf_string(&out)) == count;
}

static inline bool entries_are(const struct served *served, const char *expected)
{
	cleanup_buf struct buf out = BUF(SERVED_BYTES);

	entries_of(served, &out);
	if (strcmp(buf_string(&out), expected) != 0)
		fprintf(stderr, "expected:\n%s     the chain holds:\n%s", expected, buf_string(&out));
	return strcmp(buf_string(&out), expected) == 0;
}

#define SESSION_START(label) "session_start n/a - - ->" label " - - n/a -\n"
#define INTENT(tool, labels, hash) "call_intent n/a - " tool " " labels " " hash " - - -\n"
#define ALLOWED(tool, labels, hash) "tool_call allow allowed " tool " " labels " " hash " 8000dce0 clean -\n"
#define EMPTY "44136fa3" /* of the arguments {} */
#define SYNTHETIC "fbef60c9" /* of {"value":"synthetic"} */

/* The id of the session that is open. */
static inline void session_of(const struct served *served, char out[NAME_MAX_SHORT + 1])
{
	cleanup_buf struct buf text = BUF(SERVED_BYTES);

	ask_chain(served, "SELECT session_id FROM audit_entries ORDER BY rowid DESC LIMIT 1", &text);
	snprintf(out, NAME_MAX_SHORT + 1, "%.32s", buf_string(&text));
}

#endif
