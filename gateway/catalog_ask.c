/* Asks a server for its tools, as a client of it that waits. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "gateway/catalog_add.h"
#include "gateway/program.h"
#include "mcp/client.h"

#define PAGES_MAX 16
#define CURSOR_BYTES (4 * KIB)

struct asking {
	struct catalog *catalog;
	size_t server, added;
	const char *sensitivity;
	const char *const *wanted;
	int64_t wait_ms;
	char cursor[CURSOR_BYTES]; /* of the next page, or "" */
	bool answered;
	int status;
	struct error **err;
};

static bool is_wanted(const struct asking *asking, const char *name)
{
	const char *const *wanted = asking->wanted;

	while (wanted && *wanted && strcmp(*wanted, name) != 0)
		wanted++;
	return !wanted || *wanted;
}

static int take_tool(struct asking *asking, const struct json_node *definition)
{
	struct catalog *catalog = asking->catalog;
	const char *name = json_string(json_member(definition, "name"));
	struct gateway_tool *row;

	if (name && !is_wanted(asking, name))
		return 0;
	if (!name || !schema_matches(PATTERN_FIELD, name, strlen(name)) || strlen(name) >= sizeof(row->tool))
		return error_set(asking->err, ERROR_INPUT, "the server has a tool whose name no catalog can hold");
	for (size_t i = 0; i < catalog->tools_count; i++)
		if (strcmp(catalog->tools[i].tool, name) == 0)
			return error_set(asking->err, ERROR_INPUT, "the catalog has a tool of that name already");
	if (catalog->tools_count == GATEWAY_TOOLS_MAX)
		return error_set(asking->err, ERROR_LIMIT, "a catalog has at most %d tools", GATEWAY_TOOLS_MAX);
	row = &catalog->tools[catalog->tools_count];
	*row = (struct gateway_tool){ .server = (int64_t)asking->server };
	snprintf(row->tool, sizeof(row->tool), "%s", name);
	snprintf(row->sensitivity, sizeof(row->sensitivity), "%s", asking->sensitivity);
	if (catalog_definition_hash(definition, row->definition, asking->err) < 0)
		return -1;
	catalog->tools_count++;
	asking->added++;
	return 0;
}

static int take_answer(struct asking *asking, const struct mcp_answer *answer)
{
	const struct json_node *tools = json_member(answer->result, "tools");
	const char *cursor = json_string(json_member(answer->result, "nextCursor"));

	asking->cursor[0] = '\0';
	if (answer->outcome == MCP_TIMEOUT)
		return error_set(asking->err, ERROR_TIMEOUT, "the server did not answer in time");
	if (answer->outcome == MCP_ERROR)
		return error_set(asking->err, ERROR_PROTOCOL, "the server answered with the error %lld",
				 (long long)answer->code);
	if (answer->outcome == MCP_LOST)
		return error_set(asking->err, ERROR_PROTOCOL,
				 "the server ended, or wrote what is no JSON-RPC, before it answered");
	for (const struct json_node *tool = json_first(tools); tool; tool = json_next(tool))
		if (take_tool(asking, tool) < 0)
			return -1;
	if (cursor && strlen(cursor) >= sizeof(asking->cursor))
		return error_set(asking->err, ERROR_LIMIT, "the server's list of tools has too long a cursor");
	snprintf(asking->cursor, sizeof(asking->cursor), "%s", cursor ? cursor : "");
	return 0;
}

static void on_answer(void *context, const struct mcp_answer *answer)
{
	struct asking *asking = context;

	asking->answered = true;
	asking->status = take_answer(asking, answer);
}

static int await(struct asking *asking, struct mcp_client *client, int64_t deadline, struct error **err)
{
	while (!asking->answered) {
		cleanup_error struct error *gone = NULL;

		/* A peer that is gone answers every call. */
		if (mcp_client_dispatch(client, deadline, &gone) < 0 && !asking->answered) {
			error_keep_first(err, &gone);
			return -1;
		}
	}
	asking->answered = false;
	return asking->status;
}

static int ask_page(struct asking *asking, struct mcp_client *client, int64_t deadline, struct error **err)
{
	cleanup_buf struct buf params = BUF(2 * CURSOR_BYTES);
	struct json_writer writer;

	if (asking->cursor[0]) {
		json_begin(&writer, &params);
		json_object(&writer);
		json_member_string(&writer, "cursor", asking->cursor);
		json_object_end(&writer);
	}
	if (mcp_client_call(client, "tools/list", rpc_span(&params), deadline, on_answer, asking, NULL, err) < 0)
		return -1;
	return await(asking, client, deadline, err);
}

static int converse(struct asking *asking, struct mcp_client *client, struct error **err)
{
	int64_t deadline = clock_deadline(asking->wait_ms);
	int pages = 0;

	if (mcp_client_initialize(client, "harness-gateway", HARNESS_VERSION, deadline, on_answer, asking, err) < 0 ||
	    await(asking, client, deadline, err) < 0)
		return -1;
	do
		if (ask_page(asking, client, deadline, err) < 0)
			return -1;
	while (asking->cursor[0] && ++pages < PAGES_MAX);
	return asking->cursor[0] ? error_set(err, ERROR_LIMIT, "the server's list of tools does not end") : 0;
}

int catalog_ask(struct catalog *catalog, const struct catalog_question *question, size_t *added, struct error **err)
{
	static const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES, .queue_max = 64 * KIB, .calls_max = 1 };
	struct asking asking = {
		.catalog = catalog,
		.server = question->server,
		.sensitivity = question->sensitivity,
		.wanted = question->wanted,
		.wait_ms = question->wait_ms,
		.err = err,
	};
	cleanup_mcp_client struct mcp_client *client = NULL;
	cleanup_program struct program program = PROGRAM_NONE;
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int in = -1, out = -1;

	if (program_measure(&catalog->servers[question->server], &program) < 0)
		return error_set(err, ERROR_INPUT, "the server's program cannot be read, or is no regular file");
	if (program_start(&program, &catalog->servers[question->server], question->wait_ms, &child, &in, &out, err) < 0)
		return error_wrap(err, "the server");
	if (mcp_client_new(steal_fd(&in), steal_fd(&out), &limits, &client, err) < 0)
		return -1;
	if (converse(&asking, client, err) < 0)
		return error_wrap(err, "asking the server");
	*added = asking.added;
	return 0;
}
