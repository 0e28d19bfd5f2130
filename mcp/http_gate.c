#include "mcp/http_gate.h"

#include <string.h>
#include <strings.h>

#include "mcp/rpc.h"

#define DIGITS "0123456789"
#define ID_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" DIGITS "-_."
#define SEGMENT "{id}"
#define PORT_DIGITS 5

static const char *const hosts[];
static const struct http_refusal refusals[];

const struct http_refusal *http_refusal(enum http_refused refused)
{
	return &refusals[refused];
}

/* host or host:port, where host is a name of loopback: a page elsewhere cannot call itself so. */
static bool is_loopback(const char *authority)
{
	for (const char *const *host = hosts; *host; host++) {
		size_t length = strlen(*host);
		const char *rest = authority + length;
		size_t digits;

		if (strncasecmp(authority, *host, length) != 0)
			continue;
		if (*rest == '\0')
			return true;
		digits = *rest == ':' ? strspn(rest + 1, DIGITS) : 0;
		if (digits > 0 && digits <= PORT_DIGITS && rest[1 + digits] == '\0')
			return true;
	}
	return false;
}

static bool is_loopback_origin(const char *origin)
{
	static const char scheme[] = "http://";

	return strncasecmp(origin, scheme, sizeof(scheme) - 1) == 0 && is_loopback(origin + sizeof(scheme) - 1);
}

/* In a time that tells the length of what was sent and nothing else. */
static bool same_token(const char *sent, const char *token)
{
	size_t length = strlen(token), sent_length = strlen(sent);
	volatile unsigned char differs = sent_length != length;

	for (size_t i = 0; i < sent_length; i++)
		differs |= (unsigned char)(sent[i] ^ token[i % length]);
	return !differs;
}

static enum http_refused check_token(const struct http_gate *gate, const char *authorization, enum mcp_http_auth auth)
{
	static const char scheme[] = "Bearer ";
	const char *token = auth == MCP_HTTP_OPERATOR && *gate->operator_token ? gate->operator_token : gate->bearer;
	const char *sent;

	if (auth == MCP_HTTP_OPEN || !*token)
		return HTTP_PASSED;
	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return HTTP_TOKEN_MISSING;
	sent = authorization + sizeof(scheme) - 1;
	sent += strspn(sent, " ");
	return same_token(sent, token) ? HTTP_PASSED : HTTP_TOKEN_WRONG;
}

static bool match(const char *pattern, const char *path, char id[MCP_HTTP_ID_BYTES])
{
	const char *segment = strstr(pattern, SEGMENT);
	size_t before, length;

	*id = '\0';
	if (!segment)
		return strcmp(pattern, path) == 0;
	before = (size_t)(segment - pattern);
	if (strncmp(pattern, path, before) != 0)
		return false;
	length = strspn(path + before, ID_BYTES);
	if (length == 0 || length >= MCP_HTTP_ID_BYTES ||
	    strcmp(path + before + length, segment + strlen(SEGMENT)) != 0)
		return false;
	memcpy(id, path + before, length);
	id[length] = '\0';
	return true;
}

static enum http_refused find_route(const struct mcp_http_route *routes, const struct http_head *head,
				    const struct mcp_http_route **route, char id[MCP_HTTP_ID_BYTES])
{
	enum http_refused refused = HTTP_NO_ROUTE;

	*route = NULL;
	*id = '\0';
	if (strcmp(head->path, "/mcp") == 0)
		return strcmp(head->method, "POST") == 0 || strcmp(head->method, "DELETE") == 0 ? HTTP_PASSED
												: HTTP_METHOD;
	for (; routes && routes->method; routes++) {
		if (!match(routes->path, head->path, id))
			continue;
		*route = routes;
		if (strcmp(routes->method, head->method) == 0)
			return HTTP_PASSED;
		refused = HTTP_METHOD;
	}
	return refused;
}

enum http_refused http_admit(const struct http_gate *gate, const struct http_head *head,
			     const struct mcp_http_route **route, char id[MCP_HTTP_ID_BYTES])
{
	enum http_refused found, refused;

	if (!head->host || !is_loopback(head->host))
		return HTTP_HOST;
	if (head->origin && !is_loopback_origin(head->origin))
		return HTTP_ORIGIN;
	/* A caller without a token does not learn what is served. */
	found = find_route(gate->routes, head, route, id);
	refused = check_token(gate, head->authorization, *route ? (*route)->auth : MCP_HTTP_BEARER);
	if (refused == HTTP_PASSED)
		refused = found;
	if (refused == HTTP_PASSED && !*route && head->protocol && !mcp_speaks(head->protocol))
		refused = HTTP_PROTOCOL;
	return refused;
}

bool http_accepts_stream(const char *accept)
{
	return accept && (strcasestr(accept, "text/event-stream") || strstr(accept, "*/*"));
}

static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]", NULL };

#define RPC_REFUSAL(code, message)                                                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":" #code ",\"message\":\"" message "\"}}"
#define UNAUTHORIZED(code) "{\"error\":\"unauthorized\",\"error_code\":\"" code "\"}"

static const struct http_refusal refusals[] = {
	[HTTP_PASSED] = { .status = 200, .body = "" },
	[HTTP_HOST] = { .status = 403, .body = RPC_REFUSAL(-32000, "Host is not loopback") },
	[HTTP_ORIGIN] = { .status = 403, .body = RPC_REFUSAL(-32000, "Origin is not loopback") },
	[HTTP_TOKEN_MISSING] = { .status = 401,
				 .body = UNAUTHORIZED("MISSING_BEARER_TOKEN"),
				 .header = "WWW-Authenticate",
				 .value = "Bearer" },
	[HTTP_TOKEN_WRONG] = { .status = 401,
			       .body = UNAUTHORIZED("INVALID_BEARER_TOKEN"),
			       .header = "WWW-Authenticate",
			       .value = "Bearer error=\"invalid_token\"" },
	[HTTP_NO_ROUTE] = { .status = 404, .body = "{\"error\":\"not_found\"}" },
	[HTTP_METHOD] = { .status = 405,
			  .body = "{\"error\":\"method_not_allowed\"}",
			  .header = "Allow" }, /* the value is the route's */
	[HTTP_PROTOCOL] = { .status = 400, .body = RPC_REFUSAL(-32600, "Unsupported protocol version") },
	[HTTP_SESSION] = { .status = 404, .body = RPC_REFUSAL(-32001, "Session not found") },
	[HTTP_SESSION_MISSING] = { .status = 400, .body = RPC_REFUSAL(-32600, "Mcp-Session-Id is missing") },
	[HTTP_TOO_LARGE] = { .status = 413, .body = RPC_REFUSAL(-32600, "Request body too large") },
	[HTTP_BUSY] = { .status = 503, .body = RPC_REFUSAL(-32000, "Busy"), .header = "Retry-After", .value = "1" },
	[HTTP_FAILED] = { .status = 500, .body = RPC_REFUSAL(-32603, "Internal error") },
};
