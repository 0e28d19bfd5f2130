/* The order service's two faces to the world: an MCP tool, and an endpoint over HTTP. Both make an order of a request;
 * the context of each is the orders. */
#ifndef HARNESS_SERVICES_ORDER_TOOL_H
#define HARNESS_SERVICES_ORDER_TOOL_H

#include "mcp/http_server.h"
#include "services/orders.h"

#define ORDER_TOOL "order_create"
#define ORDER_PATH "/orders"

extern const struct mcp_handler order_handlers[]; /* ended by .method = NULL */
extern const struct mcp_http_route order_routes[]; /* ended by .method = NULL */

#endif
