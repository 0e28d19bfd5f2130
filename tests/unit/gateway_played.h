/*
 * The upstream that a test of the gateway plays, where one has to misbehave: a table of manners, each with what a call
 * of permitted.tool then comes to. The test program is started again with --upstream and a manner's name.
 */
#ifndef HARNESS_TESTS_UNIT_GATEWAY_PLAYED_H
#define HARNESS_TESTS_UNIT_GATEWAY_PLAYED_H

#include <dirent.h>
#include <errno.h>

#include "gateway/decision.h"
#include "mcp/server.h"
#include "tests/unit/gateway_rig.h"

#define SOON_MS 100
#define PERMITTED "permitted.tool"
#define PUBLIC "public.tool"
#define AROUND_TEXT (sizeof("{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}") - 1)

struct manner {
	const char *name;
	int (*call)(struct mcp_request *request, struct error **err); /* NULL: answers "played" */
	int (*list)(struct mcp_request *request, struct error **err); /* NULL: lists both tools */
	/* What a call of permitted.tool comes to. */
	enum gateway_decision decision;
	enum gateway_rule rule;
	const char *says; /* the text, or the error code */
};

static const struct manner manners[];
static const struct mcp_handler played[];

static void say(struct mcp_request *request, const char *raw)
{
	mcp_request_result(request, (struct json_span){ .bytes = raw, .length = strlen(raw) });
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{}}"

static int play_call(void *context, struct mcp_request *request, struct error **err)
{
	const struct manner *manner = *(const struct manner **)context;

	if (manner->call)
		return manner->call(request, err);
	say(request, "{\"content\":[{\"type\":\"text\",\"text\":\"played\"}]}");
	return 0;
}

static int play_list(void *context, struct mcp_request *request, struct error **err)
{
	const struct manner *manner = *(const struct manner **)context;

	if (manner->list)
		return manner->list(request, err);
	say(request, "{\"tools\":[" TOOL(PERMITTED) "," TOOL(PUBLIC) "]}");
	return 0;
}

static int hang(struct mcp_request *request, struct error **err)
{
	(void)request;
	(void)err;
	return 0;
}

/* With one call alone. */
static int hang_at_slow(struct mcp_request *request, struct error **err)
{
	const struct json_node *arguments = json_member(mcp_request_params(request), "arguments");

	(void)err;
	if (!json_text_is(json_member(arguments, "v"), "slow"))
		say(request, "{\"content\":[{\"type\":\"text\",\"text\":\"quick\"}]}");
	return 0;
}

static int leave(struct mcp_request *request, struct error **err)
{
	(void)request;
	return error_set(err, ERROR_CLOSED, "the upstream leaves");
}

static int babble(struct mcp_request *request, struct error **err)
{
	(void)request;
	(void)err;
	return write(STDOUT_FILENO, "garbage\n", 8) == 8 ? 0 : -1;
}

static int complain(struct mcp_request *request, struct error **err)
{
	(void)err;
	mcp_request_error(request, RPC_SERVER_ERROR, "secret", RPC_NONE);
	return 0;
}

static int answer_long(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(MCP_LINE_BYTES);

	(void)err;
	buf_printf(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"%0*d\"}]}",
		   (int)(GATEWAY_RESPONSE_BYTES - AROUND_TEXT + 1), 0);
	mcp_request_result(request, rpc_span(&result));
	return 0;
}

static int answer_longest(struct mcp_request *request, struct error **err)
{
	cleanup_buf struct buf result = BUF(MCP_LINE_BYTES);

	(void)err;
	buf_printf(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"%0*d\"}]}",
		   (int)(GATEWAY_RESPONSE_BYTES - AROUND_TEXT), 0);
	mcp_request_result(request, rpc_span(&result));
	return 0;
}

static int answer_parts(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image\",\"text\":\"no\"},"
		     "{\"type\":\"text\",\"text\":\"two\"}],\"isError\":true}");
	return 0;
}

static int answer_data(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"value\":1.50e3}");
	return 0;
}

/* What it is told beside the arguments. */
static int answer_told(struct mcp_request *request, struct error **err)
{
	const struct json_node *meta = json_member(mcp_request_params(request), "_meta");
	cleanup_buf struct buf result = BUF(RIG_TEXT_BYTES);

	buf_printf(&result, "{\"told\":%.*s}", meta ? (int)json_raw(meta).length : 2,
		   meta ? json_raw(meta).bytes : "{}");
	if (buf_check(&result, "what it is told", err) < 0)
		return -1;
	mcp_request_result(request, rpc_span(&result));
	return 0;
}

static int answer_array(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "[1,2]");
	return 0;
}

static int answer_string(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "\"text\"");
	return 0;
}

static int answer_arguments(struct mcp_request *request, struct error **err)
{
	(void)err;
	mcp_request_result(request, json_raw(json_member(mcp_request_params(request), "arguments")));
	return 0;
}

/* How many variables, and which descriptors, the upstream was given. */
static int answer_surroundings(struct mcp_request *request, struct error **err)
{
	DIR *folder = opendir("/proc/self/fd");
	cleanup_buf struct buf result = BUF(RIG_TEXT_BYTES);
	struct dirent *entry;
	int sum = 0, count = 0;

	(void)err;
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder)) {
			sum += 1 << atoi(entry->d_name);
			count++;
		}
	if (folder)
		closedir(folder);
	buf_printf(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"environment %s, descriptors %d of sum %x\"}]}",
		   environ && environ[0] ? "full" : "empty", count, sum);
	mcp_request_result(request, rpc_span(&result));
	return 0;
}

static int list_other(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"tools\":[" TOOL(PUBLIC) "," TOOL("other.tool") "]}");
	return 0;
}

static int list_twice(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"tools\":[" TOOL(PERMITTED) "," TOOL(PERMITTED) "]}");
	return 0;
}

static int list_bare(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"tools\":[{\"name\":\"" PERMITTED "\"}]}");
	return 0;
}

static int list_nothing(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{}");
	return 0;
}

static int list_pages(struct mcp_request *request, struct error **err)
{
	const char *cursor = json_string(json_member(mcp_request_params(request), "cursor"));

	(void)err;
	if (!cursor)
		say(request, "{\"tools\":[" TOOL(PUBLIC) "],\"nextCursor\":\"\\\"second\"}");
	else if (strcmp(cursor, "\"second") == 0)
		say(request, "{\"tools\":[" TOOL(PERMITTED) "]}");
	else
		say(request, "{\"tools\":[]}");
	return 0;
}

static int list_for_ever(struct mcp_request *request, struct error **err)
{
	(void)err;
	say(request, "{\"tools\":[],\"nextCursor\":\"again\"}");
	return 0;
}

/* Not before something stands in the descriptor that it was passed. */
static int list_when_told(struct mcp_request *request, struct error **err)
{
	char told;

	if (read(UPSTREAM_FD_PASSED, &told, 1) != 1)
		return error_set(err, ERROR_CLOSED, "nothing is told");
	say(request, "{\"tools\":[" TOOL(PUBLIC) "]}");
	return 0;
}

static int play(const char *name)
{
	const struct manner *manner = manners;
	const struct mcp_server_options options = {
		.name = "played",
		.version = "1",
		.handlers = played,
		.context = &manner,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = MCP_LINE_BYTES, .calls_max = 8 },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;
	cleanup_error struct error *err = NULL;
	int r;

	while (manner->name && strcmp(manner->name, name) != 0)
		manner++;
	if (!manner->name)
		return 1;
	r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, &err);
	while (r == 0)
		r = mcp_server_dispatch(server, NEVER, &err);
	return r < 0;
}

static const struct mcp_handler played[] = {
	{ .method = "tools/list", .run = play_list },
	{ .method = "tools/call", .run = play_call },
	{ .method = NULL },
};

static const struct manner manners[] = {
	{ "plain", NULL, NULL, DECISION_ALLOW, RULE_ALLOW, "played" },
	{ "parts", answer_parts, NULL, DECISION_ALLOW, RULE_ALLOW, "one" },
	{ "data", answer_data, NULL, DECISION_ALLOW, RULE_ALLOW, "{\"value\":1.50e3}" },
	{ "arguments", answer_arguments, NULL, DECISION_ALLOW, RULE_ALLOW, "{\"v\":\"secret\"}" },
	{ "told", answer_told, NULL, DECISION_ALLOW, RULE_ALLOW, "{\"told\":{}}" },
	{ "surroundings", answer_surroundings, NULL, DECISION_ALLOW, RULE_ALLOW,
	  "environment empty, descriptors 4 of sum f" },
	{ "pages", NULL, list_pages, DECISION_ALLOW, RULE_ALLOW, "played" },
	{ "longest", answer_longest, NULL, DECISION_ALLOW, RULE_ALLOW, NULL },
	{ "long", answer_long, NULL, DECISION_DENY, RULE_RESPONSE_SIZE, "POLICY_DENY" },
	{ "array", answer_array, NULL, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "string", answer_string, NULL, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "error", complain, NULL, DECISION_FAULT, RULE_UPSTREAM_ERROR, "UPSTREAM_TOOL_ERROR" },
	{ "hang-at-slow", hang_at_slow, NULL, DECISION_ALLOW, RULE_ALLOW, "quick" },
	{ "hang", hang, NULL, DECISION_FAULT, RULE_UPSTREAM_TIMEOUT, "UPSTREAM_UNAVAILABLE" },
	{ "leave", leave, NULL, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "babble", babble, NULL, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-hang", NULL, hang, DECISION_FAULT, RULE_UPSTREAM_TIMEOUT, "UPSTREAM_UNAVAILABLE" },
	{ "list-leave", NULL, leave, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-error", NULL, complain, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-twice", NULL, list_twice, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-bare", NULL, list_bare, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-nothing", NULL, list_nothing, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-for-ever", NULL, list_for_ever, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "list-told", NULL, list_when_told, DECISION_FAULT, RULE_UPSTREAM_LOST, "UPSTREAM_UNAVAILABLE" },
	{ "drift", NULL, list_other, DECISION_FAULT, RULE_CATALOG_DRIFT, "CATALOG_DRIFT" },
	{ .name = NULL },
};

#endif
