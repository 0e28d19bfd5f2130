#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/fd.h"
#include "gateway/decisions.h"
#include "tests/unit/test.h"

static const unsigned char first_row[DECISIONS_ROW_BYTES + 1] = "HDR1\0\0\0\0\0\0\0\1"
								"permitted.tool\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
								"\0\0\0\1\0\0\0\1\1\2\3\4\5\6\7\10\r\n\r\n";

static int new_file(int flags)
{
	int fd = memfd_create("decisions", MFD_CLOEXEC);

	CU_ASSERT(fd >= 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, flags), 0);
	return fd;
}

static void test_row(void)
{
	cleanup_fd int fd = new_file(O_APPEND);
	unsigned char rows[3 * DECISIONS_ROW_BYTES];
	struct decisions decisions;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(decisions_open(fd, &decisions, &err), 0);
	CU_ASSERT_EQUAL(decisions_append(&decisions, "permitted.tool", RULE_ALLOW, 0x0102030405060708, &err), 0);
	CU_ASSERT_EQUAL(decisions_append(&decisions, NULL, RULE_CATALOG_MISS, 0, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(pread(fd, rows, sizeof(rows), 0), 2 * DECISIONS_ROW_BYTES);
	CU_ASSERT_EQUAL(memcmp(rows, first_row, DECISIONS_ROW_BYTES), 0);
	CU_ASSERT_EQUAL(memcmp(rows + DECISIONS_ROW_BYTES, "HDR1\0\0\0\0\0\0\0\2?\0", 14), 0);
	CU_ASSERT_EQUAL(memcmp(rows + DECISIONS_ROW_BYTES + 44, "\0\0\0\2\0\0\0\3", 8), 0);
}

static void test_continues(void)
{
	cleanup_fd int fd = new_file(O_APPEND);
	unsigned char row[DECISIONS_ROW_BYTES];
	struct decisions decisions;
	struct error *err = NULL;

	for (unsigned i = 1; i <= 3; i++) {
		CU_ASSERT_EQUAL(decisions_open(fd, &decisions, &err), 0);
		CU_ASSERT_EQUAL(decisions_append(&decisions, "t", RULE_ALLOW, 0, &err), 0);
		CU_ASSERT_EQUAL(pread(fd, row, sizeof(row), (i - 1) * DECISIONS_ROW_BYTES), DECISIONS_ROW_BYTES);
		CU_ASSERT_EQUAL(row[11], i);
	}
	CU_ASSERT(test_no_error(&err));
}

struct foreign_row {
	size_t at; /* byte of the last row that is another one */
	size_t length;
	const char *says;
};

static const struct foreign_row foreign_rows[] = {
	{ .at = 0, .length = DECISIONS_ROW_BYTES, .says = "none of ours" },
	{ .at = 11, .length = DECISIONS_ROW_BYTES, .says = "none of ours" },
	{ .at = 63, .length = DECISIONS_ROW_BYTES, .says = "none of ours" },
	{ .at = 20, .length = DECISIONS_ROW_BYTES - 1, .says = "within a row" },
	{ .at = 20, .length = 1, .says = "within a row" },
	{ .length = 0 },
};

static void test_foreign(void)
{
	struct error *err = NULL;

	for (const struct foreign_row *row = foreign_rows; row->length; row++) {
		cleanup_fd int fd = new_file(O_APPEND);
		unsigned char bytes[DECISIONS_ROW_BYTES];
		struct decisions decisions;

		memcpy(bytes, first_row, sizeof(bytes));
		bytes[row->at] ^= 1;
		CU_ASSERT_EQUAL(write(fd, bytes, row->length), (ssize_t)row->length);
		CU_ASSERT(decisions_open(fd, &decisions, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, row->says));
	}
}

static void test_not_a_file(void)
{
	cleanup_fd int plain = new_file(0), one = -1, other = -1;
	struct decisions decisions;
	struct error *err = NULL;

	CU_ASSERT(decisions_open(plain, &decisions, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "append"));
	CU_ASSERT_EQUAL(fd_pipe(&one, &other, &err), 0);
	CU_ASSERT(decisions_open(other, &decisions, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "append"));
	CU_ASSERT(decisions_open(-1, &decisions, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "decisions"));
}

/* A disk that is full in the middle of a row: this row fails, and so does every later one, also when there is room. */
static void test_full(void)
{
	cleanup_fd int fd = -1;
	char path[] = "/tmp/test-decisions-XXXXXX";
	struct rlimit before, small = { 0, 0 };
	struct decisions decisions;
	struct error *err = NULL;

	fd = mkostemp(path, O_APPEND | O_CLOEXEC);
	CU_ASSERT(fd >= 0);
	unlink(path);
	CU_ASSERT_EQUAL(decisions_open(fd, &decisions, &err), 0);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = DECISIONS_ROW_BYTES + 10;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	CU_ASSERT_EQUAL(decisions_append(&decisions, "t", RULE_ALLOW, 0, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(decisions_append(&decisions, "t", RULE_ALLOW, 0, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "part of a row"));
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
	CU_ASSERT(decisions_append(&decisions, "t", RULE_ALLOW, 0, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_CLOSED, "failed before"));
}

static CU_TestInfo tests[] = {
	{ "the bytes of a row", test_row },
	{ "rows that are there are continued", test_continues },
	{ "a file of something else is refused", test_foreign },
	{ "it must be a file to append to", test_not_a_file },
	{ "a row that was not written whole is the last", test_full },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "decisions", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	return test_main("decisions", suites);
}
