/* What the gateway serves over HTTP beside /mcp: health and readiness, and closing or resetting the session. */
#ifndef HARNESS_GATEWAY_ROUTES_H
#define HARNESS_GATEWAY_ROUTES_H

#include "mcp/http_server.h"

/* Their context is the gateway; ended by .method = NULL. */
extern const struct mcp_http_route gateway_routes[];

#endif
