#include "adapter/demux.h"
#include "core/fd.h"
#include "core/limits.h"
#include "tests/unit/test.h"

/* What came of each stream, put together again. */
struct streams {
	char text[3][256];
	size_t length[3];
	size_t pieces;
	size_t refuse_at; /* the piece that the sink refuses; 0: none */
};

static int keep(void *context, enum demux_stream stream, const void *bytes, size_t length, struct error **err)
{
	struct streams *streams = context;

	CU_ASSERT(length > 0);
	CU_ASSERT(stream == DEMUX_STDOUT || stream == DEMUX_STDERR);
	CU_ASSERT(streams->length[stream] + length < sizeof(streams->text[stream]));
	if (++streams->pieces == streams->refuse_at)
		return error_set(err, ERROR_REFUSED, "enough");
	memcpy(streams->text[stream] + streams->length[stream], bytes, length);
	streams->length[stream] += length;
	return 0;
}

/* Two streams interleaved, an empty frame, a line over two frames, and a frame of two lines. */
static const char conversation[] = "\1\0\0\0\0\0\0\5{\"a\":"
				   "\2\0\0\0\0\0\0\4warn"
				   "\1\0\0\0\0\0\0\0"
				   "\1\0\0\0\0\0\0\3"
				   "1}\n"
				   "\2\0\0\0\0\0\0\4ing\n"
				   "\1\0\0\0\0\0\0\6x\ny\nz\n";
static const char expected_out[] = "{\"a\":1}\nx\ny\nz\n";
static const char expected_err[] = "warning\n";
#define CONVERSATION (sizeof(conversation) - 1)

static void check_conversation(const struct streams *streams, const struct demux *demux)
{
	CU_ASSERT(demux_whole(demux));
	CU_ASSERT_STRING_EQUAL(streams->text[DEMUX_STDOUT], expected_out);
	CU_ASSERT_STRING_EQUAL(streams->text[DEMUX_STDERR], expected_err);
	CU_ASSERT_EQUAL(streams->length[DEMUX_STDOUT], sizeof(expected_out) - 1);
	CU_ASSERT_EQUAL(streams->length[DEMUX_STDERR], sizeof(expected_err) - 1);
}

static void test_at_once(void)
{
	struct streams streams = { .pieces = 0 };
	struct error *err = NULL;
	struct demux demux;

	demux_init(&demux, ATTACH_FRAME_BYTES);
	CU_ASSERT(demux_whole(&demux));
	CU_ASSERT_EQUAL(demux_feed(&demux, conversation, CONVERSATION, keep, &streams, &err), 0);
	CU_ASSERT(test_no_error(&err));
	check_conversation(&streams, &demux);
	CU_ASSERT_EQUAL(streams.pieces, 5);
}

static void test_each_pair_of_splits(void)
{
	for (size_t first = 0; first <= CONVERSATION; first++) {
		for (size_t second = first; second <= CONVERSATION; second++) {
			struct streams streams = { .pieces = 0 };
			struct error *err = NULL;
			struct demux demux;

			demux_init(&demux, ATTACH_FRAME_BYTES);
			CU_ASSERT_EQUAL(demux_feed(&demux, conversation, first, keep, &streams, &err), 0);
			CU_ASSERT_EQUAL(demux_feed(&demux, conversation + first, second - first, keep, &streams, &err),
					0);
			CU_ASSERT_EQUAL(
				demux_feed(&demux, conversation + second, CONVERSATION - second, keep, &streams, &err),
				0);
			CU_ASSERT(test_no_error(&err));
			check_conversation(&streams, &demux);
		}
	}
}

static void test_byte_by_byte(void)
{
	struct streams streams = { .pieces = 0 };
	struct error *err = NULL;
	struct demux demux;
	size_t whole = 0;

	demux_init(&demux, ATTACH_FRAME_BYTES);
	for (size_t i = 0; i < CONVERSATION; i++) {
		CU_ASSERT_EQUAL(demux_feed(&demux, conversation + i, 1, keep, &streams, &err), 0);
		whole += demux_whole(&demux);
	}
	CU_ASSERT(test_no_error(&err));
	check_conversation(&streams, &demux);
	/* It may end after each of the six frames, and nowhere else. */
	CU_ASSERT_EQUAL(whole, 6);
}

struct violation {
	const char *name;
	const char *bytes;
	size_t length;
	size_t frame_max;
	enum error_code code;
	const char *part;
};
static const struct violation violations[11];

static void feed_violation(const struct violation *row, size_t split)
{
	struct streams streams = { .pieces = 0 };
	struct error *err = NULL;
	struct demux demux;
	int code;

	demux_init(&demux, row->frame_max);
	code = demux_feed(&demux, row->bytes, split, keep, &streams, &err);
	if (code == 0)
		code = demux_feed(&demux, row->bytes + split, row->length - split, keep, &streams, &err);
	CU_ASSERT_EQUAL(code, -(int)row->code);
	if (!test_error(&err, row->code, row->part))
		CU_FAIL(row->name);
	CU_ASSERT(!demux_whole(&demux));
	/* Whatever follows, even a good frame, is refused. */
	CU_ASSERT(demux_feed(&demux, conversation, CONVERSATION, keep, &streams, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "given up"));
}

static void test_violations(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(violations); i++)
		for (size_t split = 0; split <= violations[i].length; split++)
			feed_violation(&violations[i], split);
}

static void test_before_the_violation(void)
{
	static const char bytes[] = "\1\0\0\0\0\0\0\2ok\3\0\0\0\0\0\0\1x";
	struct streams streams = { .pieces = 0 };
	struct error *err = NULL;
	struct demux demux;

	demux_init(&demux, 16);
	CU_ASSERT(demux_feed(&demux, bytes, sizeof(bytes) - 1, keep, &streams, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "stream 3"));
	CU_ASSERT_STRING_EQUAL(streams.text[DEMUX_STDOUT], "ok");
	CU_ASSERT_EQUAL(streams.pieces, 1);
}

static void test_longest_frame(void)
{
	static const char bytes[] = "\2\0\0\0\0\0\0\4four";
	struct streams streams = { .pieces = 0 };
	struct error *err = NULL;
	struct demux demux;

	demux_init(&demux, 4);
	CU_ASSERT_EQUAL(demux_feed(&demux, bytes, sizeof(bytes) - 1, keep, &streams, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(demux_whole(&demux));
	demux_init(&demux, 3);
	CU_ASSERT(demux_feed(&demux, bytes, DEMUX_HEADER_BYTES, keep, &streams, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "4 bytes, more than 3"));
}

static void test_sink_refuses(void)
{
	struct streams streams = { .refuse_at = 3 };
	struct error *err = NULL;
	struct demux demux;

	demux_init(&demux, ATTACH_FRAME_BYTES);
	CU_ASSERT_EQUAL(demux_feed(&demux, conversation, CONVERSATION, keep, &streams, &err), -(int)ERROR_REFUSED);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "enough"));
	CU_ASSERT_EQUAL(streams.pieces, 3);
	CU_ASSERT(demux_feed(&demux, conversation, 1, keep, &streams, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "given up"));
}

#define BYTES(text) .bytes = text, .length = sizeof(text) - 1
static const struct violation violations[11] = {
	{ .name = "stdin", BYTES("\0\0\0\0\0\0\0\1x"), .frame_max = 9, .code = ERROR_PROTOCOL, .part = "stream 0" },
	{ .name = "system error",
	  BYTES("\3\0\0\0\0\0\0\1x"),
	  .frame_max = 9,
	  .code = ERROR_PROTOCOL,
	  .part = "stream 3" },
	{ .name = "stream 255",
	  BYTES("\377\0\0\0\0\0\0\1x"),
	  .frame_max = 9,
	  .code = ERROR_PROTOCOL,
	  .part = "stream 255" },
	{ .name = "text", BYTES("{\"operat"), .frame_max = 9, .code = ERROR_PROTOCOL, .part = "stream 123" },
	{ .name = "pad 1", BYTES("\1\1\0\0\0\0\0\1x"), .frame_max = 9, .code = ERROR_PROTOCOL, .part = "padding" },
	{ .name = "pad 2", BYTES("\1\0\1\0\0\0\0\1x"), .frame_max = 9, .code = ERROR_PROTOCOL, .part = "padding" },
	{ .name = "pad 3", BYTES("\2\0\0\200\0\0\0\1x"), .frame_max = 9, .code = ERROR_PROTOCOL, .part = "padding" },
	{ .name = "one too long",
	  BYTES("\1\0\0\0\0\0\0\12x"),
	  .frame_max = 9,
	  .code = ERROR_LIMIT,
	  .part = "10 bytes" },
	{ .name = "65536", BYTES("\1\0\0\0\0\1\0\0x"), .frame_max = 65535, .code = ERROR_LIMIT, .part = "65536 bytes" },
	{ .name = "2^24",
	  BYTES("\2\0\0\0\1\0\0\0x"),
	  .frame_max = 65536,
	  .code = ERROR_LIMIT,
	  .part = "16777216 bytes" },
	{ .name = "2^32 - 1",
	  BYTES("\1\0\0\0\377\377\377\377x"),
	  .frame_max = ATTACH_FRAME_BYTES,
	  .code = ERROR_LIMIT,
	  .part = "4294967295 bytes" },
};

static CU_TestInfo tests[] = {
	{ "a conversation at once", test_at_once },
	{ "each pair of splits", test_each_pair_of_splits },
	{ "byte by byte", test_byte_by_byte },
	{ "violations, at each split", test_violations },
	{ "what came before a violation counts", test_before_the_violation },
	{ "the longest frame", test_longest_frame },
	{ "the sink refuses", test_sink_refuses },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "demux", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("demux", suites);
}
