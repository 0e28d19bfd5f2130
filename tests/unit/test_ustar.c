#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/ustar.h"
#include "tests/unit/test.h"

#define BLOCK 512
#define ARCHIVE_MAX (8 * MIB)

/* The sample: a.json of 600 bytes (header at 0, data to 1536), b of none (header at 1536), then two zero blocks. */
enum {
	A_HEADER = 0,
	A_DATA = BLOCK,
	A_PADDING = A_DATA + 600,
	B_HEADER = 3 * BLOCK,
	ENDING = 4 * BLOCK,
	SAMPLE = 6 * BLOCK
};
enum { NAME = 0, MODE = 100, UID = 108, GID = 116, SIZE = 124, MTIME = 136, SUM = 148, TYPE = 156, LINK = 157 };
enum { MAGIC = 257, VERSION = 263, USER = 265, GROUP = 297, MAJOR = 329, MINOR = 337, PREFIX = 345, TAIL = 500 };

static const struct ustar_limits plain = {
	.top = "top",
	.members = 4,
	.member_bytes = 4 * MIB,
	.total_bytes = ARCHIVE_MAX,
	.packed_bytes = ARCHIVE_MAX,
};

static void add(struct ustar_writer *writer, const char *name, const char *bytes, size_t length)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(ustar_writer_member(writer, name, '0', 0644, length, &err), 0);
	CU_ASSERT(test_no_error(&err));
	/* In uneven pieces, so that they cross the blocks. */
	for (size_t done = 0; done < length;) {
		size_t piece = length - done < 333 ? length - done : 333;

		CU_ASSERT_EQUAL(ustar_writer_data(writer, bytes + done, piece, &err), 0);
		CU_ASSERT(test_no_error(&err));
		done += piece;
	}
}

static struct ustar_writer *writer_to(struct buf *out, bool gzip)
{
	struct ustar_writer *writer = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(ustar_writer_new(gzip, ustar_sink_buf, out, &writer, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return writer;
}

static void finish(struct ustar_writer *writer)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(ustar_writer_finish(writer, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void make_sample(struct buf *out, bool gzip)
{
	cleanup_ustar_writer struct ustar_writer *writer = writer_to(out, gzip);
	char text[600];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	add(writer, "top/a.json", text, sizeof(text));
	add(writer, "top/b", "", 0);
	finish(writer);
}

/* Writes down what the reader says: "name size:bytes;". */
static int log_member(void *context, const char *name, uint64_t size, struct error **err)
{
	(void)err;
	return buf_printf(context, "%s %d:", name, (int)size);
}

static int log_data(void *context, const void *bytes, size_t length, struct error **err)
{
	(void)err;
	return buf_add(context, bytes, length);
}

static int log_end(void *context, struct error **err)
{
	(void)err;
	return buf_text(context, ";");
}

static const struct ustar_visitor logger = { .member = log_member, .data = log_data, .end = log_end };

static int read_bytes(const void *bytes, size_t length, const struct ustar_limits *limits, struct buf *log,
		      struct error **err)
{
	cleanup_fd int fd = memfd_create("archive", MFD_CLOEXEC);

	CU_ASSERT(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, bytes, length), (ssize_t)length);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	return ustar_read(fd, limits, &logger, log, err);
}

static void expect_refusal(const struct buf *archive, size_t length, const struct ustar_limits *limits,
			   const char *reason)
{
	cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
	struct error *err = NULL;

	CU_ASSERT(read_bytes(archive->data, length, limits, &log, &err) < 0);
	if (!test_error(&err, ERROR_INPUT, reason)) {
		fprintf(stderr, "wanted: %s\n", reason);
		CU_FAIL("another reason");
	}
}

static void set_checksum(char *header)
{
	unsigned sum = 0;
	char text[8];

	memset(header + SUM, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(text, sizeof(text), "%06o", sum);
	memcpy(header + SUM, text, 7);
}

static void test_header(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	char expected[BLOCK] = "top/a.json";

	make_sample(&out, false);
	CU_ASSERT_EQUAL(out.length, SAMPLE);
	memcpy(expected + MODE, "0000644", 8);
	memcpy(expected + UID, "0000000", 8);
	memcpy(expected + GID, "0000000", 8);
	memcpy(expected + SIZE, "00000001130", 12);
	memcpy(expected + MTIME, "00000000000", 12);
	memcpy(expected + TYPE, "0", 1);
	memcpy(expected + MAGIC, "ustar", 6);
	memcpy(expected + VERSION, "00", 2);
	memcpy(expected + MAJOR, "0000000", 8);
	memcpy(expected + MINOR, "0000000", 8);
	set_checksum(expected);
	CU_ASSERT_EQUAL(memcmp(out.data, expected, BLOCK), 0);
	for (size_t i = A_PADDING; i < B_HEADER; i++)
		CU_ASSERT_EQUAL(out.data[i], '\0');
	for (size_t i = ENDING; i < SAMPLE; i++)
		CU_ASSERT_EQUAL(out.data[i], '\0');
}

/* The hash is that of `tar --format=ustar -b1` with owner 0, group 0, mode 0644, time 0 over the same two files. */
static void test_same_as_tar(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	char hex[HEX_SHA256];

	make_sample(&out, false);
	hash_bytes(out.data, out.length, hex);
	CU_ASSERT_STRING_EQUAL(hex, "f7a8ee9c88678a8077ca1256a46c6134139ab584e18aed66316e6563923b9974");
}

static void test_same_bytes_twice(void)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		cleanup_buf struct buf one = BUF(ARCHIVE_MAX);
		cleanup_buf struct buf two = BUF(ARCHIVE_MAX);

		make_sample(&one, gzip);
		make_sample(&two, gzip);
		CU_ASSERT_EQUAL(one.length, two.length);
		CU_ASSERT_EQUAL(memcmp(one.data, two.data, one.length), 0);
	}
}

static void test_gzip_header(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);

	make_sample(&out, true);
	CU_ASSERT(out.length > 10);
	CU_ASSERT_EQUAL(memcmp(out.data, "\x1f\x8b\x08\0\0\0\0\0\x02\x03", 10), 0);
}

static void test_read(void)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		struct ustar_limits limits = plain;
		cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
		cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
		struct error *err = NULL;

		limits.gzip = gzip;
		make_sample(&out, gzip);
		CU_ASSERT_EQUAL(read_bytes(out.data, out.length, &limits, &log, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(log.length, strlen("a.json 600:") + 600 + strlen(";b 0:;"));
		if (log.length < 40)
			continue;
		CU_ASSERT_EQUAL(memcmp(log.data, "a.json 600:abcdefghijklmnopqrstuvwxyzabc", 40), 0);
		CU_ASSERT_STRING_EQUAL(log.data + log.length - 6, ";b 0:;");
	}
}

static void test_round_trip_of_sizes(void)
{
	static const size_t sizes[] = { 1, 511, 512, 513, 1024, 16383, 16384, 16385, 1000000 };
	cleanup_free char *bytes = malloc(1000000);

	for (size_t i = 0; i < 1000000; i++)
		bytes[i] = (char)(i * i >> 7);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ustar_limits limits = plain;
		cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
		cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
		cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, true);
		struct error *err = NULL;

		limits.gzip = true;
		add(writer, "top/x", bytes, sizes[i]);
		finish(writer);
		CU_ASSERT_EQUAL(read_bytes(out.data, out.length, &limits, &log, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(log.length > sizes[i]);
		if (log.length <= sizes[i])
			continue;
		CU_ASSERT_EQUAL(memcmp(log.data + log.length - 1 - sizes[i], bytes, sizes[i]), 0);
	}
}

static void test_folders(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, false);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(ustar_writer_member(writer, "blobs/", '5', 0755, 0, &err), 0);
	CU_ASSERT_EQUAL(ustar_writer_member(writer, "blobs/sha256/", '5', 0755, 0, &err), 0);
	add(writer, "blobs/sha256/x", "1", 1);
	finish(writer);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(out.data[TYPE], '5');
	CU_ASSERT_STRING_EQUAL(out.data + BLOCK, "blobs/sha256/");
	expect_refusal(&out, out.length, &plain, "a member that is no regular file");
}

static void test_writer_promises(void)
{
	static const struct {
		const char *name;
		char type;
		unsigned mode;
		uint64_t size;
		const char *reason;
	} rows[] = {
		{ "top/b", '0', 0644, 0, "names that do not rise" },
		{ "top/a", '0', 0644, 0, "names that do not rise" },
		{ "", '0', 0644, 0, "a name of another form" },
		{ "/z", '0', 0644, 0, "a name of another form" },
		{ "z/", '0', 0644, 0, "a name of another form" },
		{ "z", '5', 0755, 0, "a name of another form" },
		{ "", '5', 0755, 0, "a name of another form" },
		{ "/", '5', 0755, 0, "a name of another form" },
		{ "z//z", '0', 0644, 0, "a name of another form" },
		{ "z/..", '0', 0644, 0, "a name of another form" },
		{ "z/../z", '0', 0644, 0, "a name of another form" },
		{ "./z", '0', 0644, 0, "a name of another form" },
		{ "z z", '0', 0644, 0, "a name of another form" },
		{ "z\xc3\xa9", '0', 0644, 0, "a name of another form" },
		{ "z12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
		  "9",
		  '0', 0644, 0, "a name of another form" },
		{ "z", '2', 0644, 0, "no file or folder" },
		{ "z", '0', 04755, 0, "mode 4755" },
		{ "z/", '5', 0755, 1, "a member of 1 bytes" },
		{ "z", '0', 0644, UINT64_C(1) << 33, "a member of 8589934592 bytes" },
	};
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, false);
	struct error *err = NULL;

	add(writer, "top/b", "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t before = out.length;

		CU_ASSERT(ustar_writer_member(writer, rows[i].name, rows[i].type, rows[i].mode, rows[i].size, &err) <
			  0);
		CU_ASSERT(test_error(&err, ERROR_INTERNAL, rows[i].reason));
		CU_ASSERT_EQUAL(out.length, before);
	}
}

static void test_writer_order_of_calls(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, false);
	struct error *err = NULL;

	CU_ASSERT(ustar_writer_data(writer, "1", 1, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "more bytes than"));
	CU_ASSERT_EQUAL(ustar_writer_member(writer, "a", '0', 0644, 3, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(ustar_writer_data(writer, "1234", 4, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "more bytes than"));
	CU_ASSERT_EQUAL(ustar_writer_data(writer, "12", 2, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(ustar_writer_member(writer, "b", '0', 0644, 0, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "before the end of the last"));
	CU_ASSERT(ustar_writer_finish(writer, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "before the end of the last"));
	CU_ASSERT_EQUAL(ustar_writer_data(writer, "3", 1, &err), 0);
	CU_ASSERT(test_no_error(&err));
	finish(writer);
	CU_ASSERT(ustar_writer_finish(writer, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "ended twice"));
	CU_ASSERT(ustar_writer_member(writer, "b", '0', 0644, 0, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "after the end"));
	ustar_writer_free(NULL);
}

static void test_sink_fails(void)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		cleanup_buf struct buf out = BUF(20);
		cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, gzip);
		struct error *err = NULL;
		int result = ustar_writer_member(writer, "a", '0', 0644, 0, &err);

		if (result == 0)
			result = ustar_writer_finish(writer, &err);
		CU_ASSERT(result < 0);
		CU_ASSERT(test_error(&err, ERROR_LIMIT, "archive"));
	}
}

/* One edit of the sample's bytes each; the checksum of the header is made right again unless `raw`. */
static void test_edited(void)
{
	static const struct {
		size_t at;
		const char *bytes;
		size_t length;
		bool raw;
		const char *reason;
	} rows[] = {
#define EDIT(where, literal, why) { .at = (where), .bytes = (literal), .length = sizeof(literal) - 1, .reason = (why) }
#define RAW(where, literal, why)                                                                                       \
	{                                                                                                              \
		.at = (where), .bytes = (literal), .length = sizeof(literal) - 1, .raw = true, .reason = (why)         \
	}
		EDIT(MAGIC, "ustar  ", "a header that is not ustar"),
		EDIT(MAGIC, "\0", "a header that is not ustar"),
		EDIT(VERSION, "01", "a header that is not ustar"),
		RAW(NAME, "tap/a", "a wrong checksum"),
		RAW(SUM, "000001", "a wrong checksum"),
		RAW(SUM, "     1", "a checksum of another form"),
		RAW(SUM + 6, " ", "a checksum of another form"),
		RAW(SUM + 7, "\0", "a checksum of another form"),
		RAW(SUM, "-00001", "a checksum of another form"),
		EDIT(TYPE, "\0", "no regular file"),
		EDIT(TYPE, "1", "no regular file"),
		EDIT(TYPE, "2", "no regular file"),
		EDIT(TYPE, "3", "no regular file"),
		EDIT(TYPE, "4", "no regular file"),
		EDIT(TYPE, "5", "no regular file"),
		EDIT(TYPE, "6", "no regular file"),
		EDIT(TYPE, "7", "no regular file"),
		EDIT(TYPE, "x", "no regular file"),
		EDIT(TYPE, "g", "no regular file"),
		EDIT(TYPE, "L", "no regular file"),
		EDIT(TYPE, "K", "no regular file"),
		EDIT(TYPE, "S", "no regular file"),
		EDIT(LINK, "b", "a link name"),
		EDIT(LINK + 99, "b", "a link name"),
		EDIT(USER, "root", "an owner's name"),
		EDIT(GROUP + 31, "x", "an owner's name"),
		EDIT(PREFIX, "x", "a name prefix"),
		EDIT(TAIL + 11, "x", "bytes behind the header's fields"),
		EDIT(MODE, "0004755", "a mode with special bits"),
		EDIT(MODE, "0002644", "a mode with special bits"),
		EDIT(MODE, "0001644", "a mode with special bits"),
		EDIT(MODE, "    644", "a number that is not octal"),
		EDIT(MODE, "0000648", "a number that is not octal"),
		EDIT(MODE + 7, " ", "a number that is not octal"),
		EDIT(MODE, "644\0\0\0\0", "a number that is not octal"),
		EDIT(UID, "0000001", "an owner"),
		EDIT(GID, "0000001", "an owner"),
		EDIT(UID, "000000x", "a number that is not octal"),
		EDIT(GID, "000000x", "a number that is not octal"),
		EDIT(SIZE, "\x80\0\0\0\0\0\0\0\0\0\x02\x58", "a number that is not octal"),
		EDIT(SIZE, "      1130 ", "a number that is not octal"),
		EDIT(SIZE, "-0000001130", "a number that is not octal"),
		EDIT(SIZE, "77777777777", "a member that is too large"),
		EDIT(SIZE, "00020000001", "a member that is too large"),
		EDIT(SIZE, "00000000000", "a header that is not ustar"),
		EDIT(SIZE, "00000002001", "padding that is not zero"),
		EDIT(SIZE, "00000001127", "padding that is not zero"),
		EDIT(SIZE, "00000007000", "cut before the end"),
		EDIT(MTIME, "00000000001", "a time"),
		EDIT(MTIME, "0000000000x", "a number that is not octal"),
		EDIT(MAJOR, "0000001", "a device number"),
		EDIT(MINOR, "0000001", "a device number"),
		EDIT(MAJOR, "\0", "a number that is not octal"),
		EDIT(MINOR, "\0", "a number that is not octal"),
		EDIT(NAME, "/op/a", "a name with an empty part"),
		EDIT(NAME, "top//", "a name with an empty part"),
		EDIT(NAME, "top/a/\0\0\0\0", "a name with an empty part"),
		EDIT(NAME, "\0\0\0\0\0\0\0\0\0\0", "a name with an empty part"),
		EDIT(NAME, "top/..\0\0\0\0", "a name with a part of dots"),
		EDIT(NAME, "top/.\0\0\0\0\0", "a name with a part of dots"),
		EDIT(NAME, "../a.json\0", "a name with a part of dots"),
		EDIT(NAME, "top/../x", "a name with a part of dots"),
		EDIT(NAME, "top/a/json", "a name that is too deep"),
		EDIT(NAME, "top\\a", "a name with other characters"),
		EDIT(NAME, "c:p/a", "a name with other characters"),
		EDIT(NAME, "top/a json", "a name with other characters"),
		EDIT(NAME, "top/\xc3\xa9", "a name with other characters"),
		EDIT(NAME, "top/a\n", "a name with other characters"),
		EDIT(NAME, "tap/a", "a name outside the top folder"),
		EDIT(NAME, "to/aa", "a name outside the top folder"),
		EDIT(NAME, "topp/", "a name outside the top folder"),
		EDIT(NAME, "TOP/a", "a name outside the top folder"),
		EDIT(NAME, "topa.json\0", "a name outside the top folder"),
		EDIT(NAME + 4, "b\0\0\0\0\0", "a name twice"),
		EDIT(NAME + 4, "B\0\0\0\0\0", "a name twice but for case"),
		EDIT(NAME + 20, "x", "bytes behind a name"),
		EDIT(NAME + 99, "x", "bytes behind a name"),
		RAW(A_PADDING, "x", "padding that is not zero"),
		RAW(B_HEADER - 1, "x", "padding that is not zero"),
		RAW(ENDING + BLOCK, "x", "a member behind a zero block"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(ARCHIVE_MAX);

		make_sample(&out, false);
		memcpy(out.data + rows[i].at, rows[i].bytes, rows[i].length);
		if (!rows[i].raw)
			set_checksum(out.data);
		expect_refusal(&out, out.length, &plain, rows[i].reason);
	}
}

static void test_long_name(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);

	make_sample(&out, false);
	memset(out.data + 4, 'x', 96);
	set_checksum(out.data);
	expect_refusal(&out, out.length, &plain, "a name that is too long");
}

/* Whatever is cut is missed, in a plain archive at each block and in gzip at each byte. */
static void test_truncated(void)
{
	struct ustar_limits gzip = plain;
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_buf struct buf packed = BUF(ARCHIVE_MAX);

	gzip.gzip = true;
	make_sample(&out, false);
	for (size_t length = 0; length < out.length; length += BLOCK) {
		expect_refusal(&out, length, &plain, "cut before the end");
		expect_refusal(&out, length + 100, &plain, "cut before the end");
	}
	make_sample(&packed, true);
	expect_refusal(&packed, 0, &gzip, "the file is empty");
	for (size_t length = 1; length < packed.length; length++)
		expect_refusal(&packed, length, &gzip, "cut within the gzip");
}

static void test_trailing(void)
{
	struct ustar_limits gzip = plain;
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_buf struct buf one = BUF(ARCHIVE_MAX);
	cleanup_buf struct buf two = BUF(ARCHIVE_MAX);

	gzip.gzip = true;
	make_sample(&out, false);
	CU_ASSERT_EQUAL(buf_add(&out, "\0", 1), 0);
	expect_refusal(&out, out.length, &plain, "bytes behind the end");
	for (size_t i = 1; i < BLOCK; i++)
		CU_ASSERT_EQUAL(buf_add(&out, "\0", 1), 0);
	expect_refusal(&out, out.length, &plain, "bytes behind the end");
	make_sample(&one, true);
	make_sample(&two, true);
	CU_ASSERT_EQUAL(buf_add(&one, two.data, two.length), 0);
	expect_refusal(&one, one.length, &gzip, "bytes behind the gzip member");
	CU_ASSERT_EQUAL(buf_add(&two, "\n", 1), 0);
	expect_refusal(&two, two.length, &gzip, "bytes behind the gzip member");
}

static void test_damaged_gzip(void)
{
	static const struct {
		size_t at;
		const char *reason;
	} rows[] = {
		{ 0, "no gzip file" },
		{ 2, "not packed as harness packs" },
		{ 3, "not packed as harness packs" },
		{ 4, "not packed as harness packs" },
		{ 7, "not packed as harness packs" },
		{ 8, "not packed as harness packs" },
		{ 9, "not packed as harness packs" },
		{ SIZE_MAX - 7, "damaged gzip data" },
		{ SIZE_MAX, "damaged gzip data" },
	};
	struct ustar_limits limits = plain;

	limits.gzip = true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(ARCHIVE_MAX);

		make_sample(&out, true);
		/* Counted from the end when it is near SIZE_MAX: the last eight bytes are CRC and length. */
		out.data[rows[i].at > SIZE_MAX / 2 ? out.length + rows[i].at : rows[i].at] ^= 8;
		expect_refusal(&out, out.length, &limits, rows[i].reason);
	}
}

static uint64_t small_a(const char *name)
{
	return strcmp(name, "a.json") == 0 ? 599 : 0;
}

static uint64_t right_a(const char *name)
{
	return strcmp(name, "a.json") == 0 ? 600 : 0;
}

/* Each maximum: the sample passes at it, and is refused by one less. */
static void test_limits(void)
{
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_buf struct buf packed = BUF(ARCHIVE_MAX);
	struct ustar_limits exact = {
		.top = "top",
		.members = 2,
		.member_bytes = 600,
		.total_bytes = SAMPLE,
		.member_limit = right_a,
	};
	struct error *err = NULL;

	make_sample(&out, false);
	make_sample(&packed, true);
	for (int gzip = 0; gzip < 2; gzip++) {
		const struct buf *archive = gzip ? &packed : &out;
		cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
		struct ustar_limits less;

		exact.gzip = gzip;
		exact.packed_bytes = archive->length;
		CU_ASSERT_EQUAL(read_bytes(archive->data, archive->length, &exact, &log, &err), 0);
		CU_ASSERT(test_no_error(&err));
		less = exact;
		less.members--;
		expect_refusal(archive, archive->length, &less, "too many members");
		less = exact;
		less.member_bytes--;
		expect_refusal(archive, archive->length, &less, "a member that is too large");
		less = exact;
		less.member_limit = small_a;
		expect_refusal(archive, archive->length, &less, "a member that is too large");
		less = exact;
		less.total_bytes--;
		expect_refusal(archive, archive->length, &less, "too many bytes");
		less = exact;
		less.packed_bytes--;
		expect_refusal(archive, archive->length, &less, "too many packed bytes");
	}
}

static void test_ratio(void)
{
	cleanup_free char *zeros = calloc(1, 2 * MIB);
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);
	cleanup_buf struct buf small = BUF(ARCHIVE_MAX);
	cleanup_ustar_writer struct ustar_writer *writer = writer_to(&out, true);
	cleanup_ustar_writer struct ustar_writer *other = writer_to(&small, true);
	cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
	struct ustar_limits limits = plain;
	struct error *err = NULL;

	limits.gzip = true;
	add(writer, "top/zeros", zeros, 2 * MIB);
	finish(writer);
	CU_ASSERT_EQUAL(read_bytes(out.data, out.length, &limits, &log, &err), 0);
	CU_ASSERT(test_no_error(&err));
	limits.ratio = 200;
	expect_refusal(&out, out.length, &limits, "packed too tightly");
	/* Below 1 MiB it does not matter. */
	add(other, "top/zeros", zeros, 512 * KIB);
	finish(other);
	CU_ASSERT_EQUAL(read_bytes(small.data, small.length, &limits, &log, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static int stop(struct error **err, const char *where)
{
	return error_set(err, ERROR_REFUSED, "stopped by %s", where);
}

static int stop_member(void *context, const char *name, uint64_t size, struct error **err)
{
	(void)context, (void)name, (void)size;
	return stop(err, "member");
}

static int stop_data(void *context, const void *bytes, size_t length, struct error **err)
{
	(void)context, (void)bytes, (void)length;
	return stop(err, "data");
}

static int stop_end(void *context, struct error **err)
{
	(void)context;
	return stop(err, "end");
}

static void test_visitor_stops(void)
{
	static const struct {
		struct ustar_visitor visitor;
		const char *reason;
	} rows[] = {
		{ { stop_member, log_data, log_end }, "stopped by member" },
		{ { log_member, stop_data, log_end }, "stopped by data" },
		{ { log_member, log_data, stop_end }, "stopped by end" },
	};
	cleanup_buf struct buf out = BUF(ARCHIVE_MAX);

	make_sample(&out, false);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fd int fd = memfd_create("archive", MFD_CLOEXEC);
		cleanup_buf struct buf log = BUF(ARCHIVE_MAX);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(write(fd, out.data, out.length), (ssize_t)out.length);
		CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_SET), 0);
		CU_ASSERT(ustar_read(fd, &plain, &rows[i].visitor, &log, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, rows[i].reason));
	}
}

static void test_read_error(void)
{
	for (int gzip = 0; gzip < 2; gzip++) {
		cleanup_fd int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cleanup_buf struct buf log = BUF(16);
		struct ustar_limits limits = plain;
		struct error *err = NULL;

		limits.gzip = gzip;
		CU_ASSERT(ustar_read(folder, &limits, &logger, &log, &err) < 0);
		CU_ASSERT_EQUAL(error_number(err), EISDIR);
		CU_ASSERT(test_error(&err, ERROR_SYSTEM, "archive: read"));
	}
}

static CU_TestInfo writer_tests[] = {
	{ "header", test_header },
	{ "same as tar", test_same_as_tar },
	{ "same bytes twice", test_same_bytes_twice },
	{ "gzip header", test_gzip_header },
	{ "folders", test_folders },
	{ "members that are refused", test_writer_promises },
	{ "order of calls", test_writer_order_of_calls },
	{ "sink fails", test_sink_fails },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo reader_tests[] = {
	{ "read", test_read },
	{ "round trip of sizes", test_round_trip_of_sizes },
	{ "edited bytes", test_edited },
	{ "long name", test_long_name },
	{ "truncated", test_truncated },
	{ "trailing bytes", test_trailing },
	{ "damaged gzip", test_damaged_gzip },
	{ "limits", test_limits },
	{ "ratio", test_ratio },
	{ "visitor stops", test_visitor_stops },
	{ "read error", test_read_error },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "writer", .pTests = writer_tests },
	{ .pName = "reader", .pTests = reader_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("ustar", suites);
}
