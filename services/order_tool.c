#include "services/order_tool.h"

#include <string.h>

#include "core/fd.h"
#include "mcp/rpc.h"

#define ANSWER_BYTES (4 * KIB)
#define HTTP_CREATED 201
#define HTTP_BAD_REQUEST 400
#define HTTP_UNAVAILABLE 503

/* It is copied into the row. */
const char *order_tool_call(const struct mcp_request *request)
{
	const char *call = json_string(json_member(json_member(mcp_request_params(request), "_meta"), "call_id"));

	return call && strlen(call) < ID_MAX && schema_matches(PATTERN_ID, call, strlen(call)) ? call : "";
}

bool order_tool_read(const struct mcp_request *request, struct order *out)
{
	const struct json_node *params = mcp_request_params(request);
	cleanup_error struct error *unread = NULL;

	return json_text_is(json_member(params, "name"), ORDER_TOOL) &&
	       schema_decode(order_fields, json_member(params, "arguments"), "an order", out, sizeof(*out), &unread) ==
		       0;
}

void order_tool_refuse(struct mcp_request *request)
{
	mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
}

int order_tool_answer(struct mcp_request *request, int64_t id, struct error **err)
{
	cleanup_buf struct buf result = BUF(ANSWER_BYTES);

	(void)buf_printf(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"order %lld\"}]}", (long long)id);
	if (buf_check(&result, "an answer", err) < 0)
		return -1;
	mcp_request_result(request, rpc_span(&result));
	return 0;
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	cleanup_error struct error *unwritten = NULL;
	struct order order;
	int64_t id = 0;

	if (!order_tool_read(request, &order)) {
		order_tool_refuse(request);
		return 0;
	}
	if (orders_create(context, &order, order_tool_call(request), &id, &unwritten) < 0) {
		mcp_request_error(request, RPC_INTERNAL_ERROR, "the order was not made", RPC_NONE);
		return 0;
	}
	return order_tool_answer(request, id, err);
}

int order_tool_list(void *context, struct mcp_request *request, struct error **err)
{
	static const char list[] =
		"{\"tools\":[{\"name\":\"" ORDER_TOOL "\",\"description\":\"makes an order\",\"inputSchema\":{"
		"\"type\":\"object\",\"required\":[\"reference\",\"item\",\"quantity\"],\"properties\":{"
		"\"reference\":{\"type\":\"string\"},\"item\":{\"type\":\"string\"},\"quantity\":{\"type\":"
		"\"integer\"}}}}]}";

	(void)context;
	(void)err;
	mcp_request_result(request, (struct json_span){ .bytes = list, .length = sizeof(list) - 1 });
	return 0;
}

static void answer(struct mcp_http_exchange *exchange, int status, const char *text)
{
	mcp_http_exchange_answer(exchange, status, "application/json",
				 (struct json_span){ .bytes = text, .length = strlen(text) });
}

static int run_post(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	struct json_span body = mcp_http_exchange_body(exchange);
	cleanup_buf struct buf made = BUF(ANSWER_BYTES);
	cleanup_error struct error *failed = NULL;
	struct order order;
	int64_t id = 0;

	if (order_read(body.bytes, body.length, &order, &failed) < 0) {
		answer(exchange, HTTP_BAD_REQUEST, "{\"error\":\"no order\"}");
		return 0;
	}
	if (orders_create(context, &order, "", &id, &failed) < 0) {
		answer(exchange, HTTP_UNAVAILABLE, "{\"error\":\"the order was not made\"}");
		return 0;
	}
	(void)buf_printf(&made, "{\"order\":%lld}", (long long)id);
	if (buf_check(&made, "an answer", err) < 0)
		return -1;
	answer(exchange, HTTP_CREATED, made.data);
	return 0;
}

const struct mcp_handler order_handlers[] = {
	{ .method = "tools/list", .run = order_tool_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};

const struct mcp_http_route order_routes[] = {
	{ .method = "POST", .path = ORDER_PATH, .auth = MCP_HTTP_OPEN, .run = run_post },
	{ .method = NULL },
};
