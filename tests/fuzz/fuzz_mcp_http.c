/* What an MCP server says over HTTP: the same events however the stream is cut; and one line for each whole answer. */
#include <string.h>

#include "mcp/http_meaning.h"
#include "mcp/sse.h"
#include "tests/fuzz/fuzz.h"

#define EVENT_MAX 1024

struct events {
	uint64_t sum;
	bool failed;
};

static int on_event(void *context, struct json_span data, struct error **err)
{
	struct events *events = context;

	(void)err;
	FUZZ_HOLDS(data.length > 0 && data.length <= EVENT_MAX && !memchr(data.bytes, '\r', data.length));
	events->sum = fuzz_sum(fuzz_sum(events->sum, data.bytes, data.length), "|", 1);
	return 0;
}

static struct events read_in(const uint8_t *bytes, size_t size, size_t step)
{
	struct events events = { .sum = FUZZ_SUM };
	struct sse sse;

	sse_init(&sse, EVENT_MAX, on_event, &events);
	for (size_t at = 0; at < size && !events.failed; at += step) {
		cleanup_error struct error *err = NULL;

		events.failed = sse_feed(&sse, (const char *)bytes + at, size - at < step ? size - at : step, &err) < 0;
		FUZZ_HOLDS(!events.failed || error_code(err) == ERROR_LIMIT);
	}
	sse_free(&sse);
	return events;
}

/* Whatever came, the caller gets one answer to its own request. */
static void read_body(const uint8_t *bytes, size_t size)
{
	static const struct json_span id = { .bytes = "7", .length = 1 };
	cleanup_buf struct buf line = BUF(size * 8 + 1024);
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *err = NULL;
	long status = size % 2 ? 200 : 403;

	http_put_body(&line, id, status, (struct json_span){ .bytes = (const char *)bytes, .length = size });
	FUZZ_HOLDS(!line.failed && line.length > 0);
	FUZZ_HOLDS(memchr(line.data, '\n', line.length) == line.data + line.length - 1);
	FUZZ_HOLDS(rpc_decode(line.data, line.length - 1, &message, &err) == 0);
	FUZZ_HOLDS(message.kind == RPC_ERROR || (message.kind == RPC_RESULT && status == 200));
	FUZZ_HOLDS(message.number == 7);
}

FUZZ_TARGET(mcp_http)
{
	struct events whole = read_in(bytes, size, size ? size : 1), cut = read_in(bytes, size, 1);

	FUZZ_HOLDS(whole.failed == cut.failed && whole.sum == cut.sum);
	read_body(bytes, size);
}
