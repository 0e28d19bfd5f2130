/* JSON-RPC from a gateway or a tool: the same lines however they are cut; an id is echoed by its bytes. */
#include "mcp/rpc.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define LINE_MAX_BYTES 1024

struct lines {
	bool failed;
	uint64_t sum;
};

static void check_echo(const struct rpc_message *message)
{
	cleanup_buf struct buf line = BUF(2 * RPC_ID_BYTES);
	cleanup_rpc struct rpc_message answer = { .document = NULL };
	cleanup_error struct error *err = NULL;

	rpc_put_result(&line, message->id, RPC_NULL);
	FUZZ_HOLDS(!line.failed && line.data[line.length - 1] == '\n');
	FUZZ_HOLDS(rpc_decode(line.data, line.length - 1, &answer, &err) == 0);
	FUZZ_HOLDS(answer.kind == RPC_RESULT && answer.number == message->number);
	FUZZ_HOLDS(answer.id.length == message->id.length &&
		   memcmp(answer.id.bytes, message->id.bytes, answer.id.length) == 0);
}

static void decode(struct json_span line)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *err = NULL;

	if (rpc_decode(line.bytes, line.length, &message, &err) < 0) {
		FUZZ_HOLDS(!message.document && (error_code(err) == ERROR_INPUT || error_code(err) == ERROR_PROTOCOL));
		return;
	}
	FUZZ_HOLDS(message.id.length <= RPC_ID_BYTES);
	FUZZ_HOLDS((message.kind == RPC_REQUEST || message.kind == RPC_NOTIFICATION) == (message.method != NULL));
	FUZZ_HOLDS((message.kind == RPC_RESULT) == (message.result != NULL));
	if (message.kind == RPC_REQUEST || message.kind == RPC_RESULT)
		check_echo(&message);
}

static struct lines read_in(const uint8_t *bytes, size_t size, size_t step)
{
	struct lines lines = { .sum = FUZZ_SUM };
	struct rpc_framer framer;
	struct json_span line;
	int got = 0;

	rpc_framer_init(&framer, LINE_MAX_BYTES);
	for (size_t at = 0; at < size && got >= 0; at += step) {
		size_t length = size - at < step ? size - at : step;
		cleanup_error struct error *err = NULL;
		char *room = rpc_framer_reserve(&framer, length);

		FUZZ_HOLDS(room);
		memcpy(room, bytes + at, length);
		rpc_framer_commit(&framer, length);
		while ((got = rpc_framer_next(&framer, &line, &err)) > 0) {
			lines.sum = fuzz_sum(fuzz_sum(lines.sum, line.bytes, line.length), "\n", 1);
			if (step > 1)
				decode(line);
		}
	}
	lines.failed = got < 0;
	FUZZ_HOLDS(lines.failed || size == 0 || rpc_framer_partial(&framer) == (bytes[size - 1] != '\n'));
	rpc_framer_free(&framer);
	return lines;
}

FUZZ_TARGET(rpc)
{
	struct lines pieces = read_in(bytes, size, LINE_MAX_BYTES), cut = read_in(bytes, size, 1);

	FUZZ_HOLDS(pieces.failed == cut.failed && pieces.sum == cut.sum);
}
