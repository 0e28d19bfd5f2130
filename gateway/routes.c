#include "gateway/routes.h"

#include <string.h>

#include "core/json.h"
#include "gateway/pipeline.h"

#define BODY_BYTES KIB
#define JSON_TYPE "application/json"

static void answer(struct mcp_http_exchange *exchange, int status, const struct buf *body)
{
	mcp_http_exchange_answer(exchange, status, JSON_TYPE,
				 (struct json_span){ .bytes = body->data, .length = body->length });
}

static void answer_word(struct mcp_http_exchange *exchange, int status, const char *key, const char *word)
{
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	struct json_writer writer;

	json_begin(&writer, &body);
	json_object(&writer);
	json_member_string(&writer, key, word);
	json_object_end(&writer);
	answer(exchange, status, &body);
}

static int health(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	(void)context;
	(void)err;
	answer_word(exchange, 200, "status", "ok");
	return 0;
}

static int ready(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	bool is = gateway_ready(context);

	(void)err;
	answer_word(exchange, is ? 200 : 503, "status", is ? "ready" : "not_ready");
	return 0;
}

/* Whether the path names the session that is open; if not, the exchange has been answered. */
static bool is_current(const struct gateway *gateway, struct mcp_http_exchange *exchange)
{
	if (strcmp(mcp_http_exchange_id(exchange), gateway->session.id) == 0)
		return true;
	answer_word(exchange, 404, "error", "no such session");
	return false;
}

static int reset(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	struct gateway *gateway = context;
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	cleanup_error struct error *lost = NULL;
	struct gateway_state old = gateway->session;
	struct json_writer writer;

	(void)err;
	if (!is_current(gateway, exchange))
		return 0;
	if (gateway_reset(gateway, &lost) < 0) {
		bool refused = error_code(lost) == ERROR_REFUSED;

		answer_word(exchange, refused ? 409 : 500, "error",
			    refused ? "the session is being closed" : "the session could not be reset");
		return 0;
	}
	json_begin(&writer, &body);
	json_object(&writer);
	json_member_string(&writer, "old_session_id", old.id);
	json_member_string(&writer, "new_session_id", gateway->session.id);
	json_member_string(&writer, "closed_session_max_sensitivity", old.label ? old.label : "unknown");
	json_member_string(&writer, "status", "reset");
	json_object_end(&writer);
	answer(exchange, 200, &body);
	return 0;
}

static void on_closed(void *context, bool ok)
{
	answer_word(context, ok ? 200 : 500, "status", ok ? "closed" : "failed");
}

static int close_session(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	struct gateway *gateway = context;
	cleanup_error struct error *twice = NULL;

	(void)err;
	if (is_current(gateway, exchange) && gateway_close_session(gateway, on_closed, exchange, &twice) < 0)
		answer_word(exchange, 409, "error", "the session is being closed");
	return 0;
}

const struct mcp_http_route gateway_routes[] = {
	{ .method = "GET", .path = "/health", .auth = MCP_HTTP_OPEN, .run = health },
	{ .method = "GET", .path = "/readyz", .auth = MCP_HTTP_OPEN, .run = ready },
	{ .method = "POST", .path = "/sessions/{id}/reset", .auth = MCP_HTTP_OPERATOR, .run = reset },
	{ .method = "POST", .path = "/sessions/{id}/close", .auth = MCP_HTTP_BEARER, .run = close_session },
	{ .method = NULL },
};
