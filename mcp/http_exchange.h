/* What libmicrohttpd calls for a request. */
#ifndef HARNESS_MCP_HTTP_EXCHANGE_H
#define HARNESS_MCP_HTTP_EXCHANGE_H

#include <microhttpd.h>

#include "mcp/http_internal.h"

/* The context of both is the server, that of a request its exchange. */
enum MHD_Result http_on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
				const char *version, const char *bytes, size_t *length, void **request);
void http_on_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode reason);

/* Before the daemon stops: it may not hold a suspended connection then. */
void http_resume_all(struct mcp_http_server *server);
/* After it stopped: exchanges that a route still holds. */
void http_free_all(struct mcp_http_server *server);

#endif
