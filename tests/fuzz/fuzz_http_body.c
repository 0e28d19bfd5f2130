/* The body of an HTTP request to the MCP server: one message, or a refusal that is JSON and names its bytes by a hash.
 */
#include <string.h>

#include "mcp/http_internal.h"
#include "tests/fuzz/fuzz.h"

#define OUT_BYTES 1024

/* A refusal is a whole answer without an id; what was sent is no part of it. */
static void check_refusal(const struct buf *out)
{
	cleanup_rpc struct rpc_message refusal = { .document = NULL };
	cleanup_error struct error *err = NULL;

	FUZZ_HOLDS(!out->failed && out->length > 0 && out->data[out->length - 1] == '\n');
	FUZZ_HOLDS(rpc_decode(out->data, out->length - 1, &refusal, &err) == 0);
	FUZZ_HOLDS(refusal.kind == RPC_ERROR && refusal.id.length == strlen("null"));
	if (refusal.code == RPC_PARSE_ERROR)
		FUZZ_HOLDS(strcmp(refusal.error_code, "MCP_PARSE_FAILURE") == 0 && strstr(out->data, "\"sha256:"));
	else
		FUZZ_HOLDS(refusal.code == RPC_INVALID_REQUEST &&
			   strcmp(refusal.error_code, "MCP_INVALID_REQUEST") == 0);
}

FUZZ_TARGET(http_body)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_buf struct buf out = BUF(OUT_BYTES);

	if (http_decode((const char *)bytes, size, &message, &out) == 0) {
		FUZZ_HOLDS(message.document && out.length == 0);
		return;
	}
	FUZZ_HOLDS(!message.document);
	check_refusal(&out);
}
