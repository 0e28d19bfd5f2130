/* The order service's two faces to the world: an MCP tool, and an endpoint over HTTP. Both make an order of a request;
 * the context of each is the orders. */
#ifndef HARNESS_SERVICES_ORDER_TOOL_H
#define HARNESS_SERVICES_ORDER_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/http_server.h"
#include "mcp/server.h"
#include "services/orders.h"

#define ORDER_TOOL "order_create"
#define ORDER_PATH "/orders"

/* The order that a tools/call asks for; false: it asks for none, and is not answered yet. */
bool order_tool_read(const struct mcp_request *request, struct order *out) MUST_CHECK;
/* The id under which the caller says that it authorised it, or "". It is the request's; it is trusted for nothing. */
const char *order_tool_call(const struct mcp_request *request);
void order_tool_refuse(struct mcp_request *request); /* what asks for no order */
/* Answers that order `id` was made. */
int order_tool_answer(struct mcp_request *request, int64_t id, struct error **err) MUST_CHECK;
/* Answers tools/list; the context is not looked at. */
int order_tool_list(void *context, struct mcp_request *request, struct error **err) MUST_CHECK;

extern const struct mcp_handler order_handlers[]; /* ended by .method = NULL */
extern const struct mcp_http_route order_routes[]; /* ended by .method = NULL */

#endif
