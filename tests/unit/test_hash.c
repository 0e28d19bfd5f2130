#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/hash.h"
#include "tests/unit/test.h"

#define MILLION 1000000
#define HEX_MILLION "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

/* The examples of FIPS 180-4. */
static void test_bytes(void)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{ .text = "", .hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ .text = "abc", .hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ .text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  .hex = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[HEX_SHA256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		hash_bytes(rows[i].text, strlen(rows[i].text), hex);
		CU_ASSERT_STRING_EQUAL(hex, rows[i].hex);
	}
}

static void test_pieces(void)
{
	struct hash *hash = hash_new();
	char hex[HEX_SHA256], piece[997];
	size_t left = MILLION;

	CU_ASSERT_PTR_NOT_NULL(hash);
	if (!hash)
		return;
	memset(piece, 'a', sizeof(piece));
	while (left > 0) {
		size_t length = left < sizeof(piece) ? left : sizeof(piece);

		hash_add(hash, piece, length);
		left -= length;
	}
	hash_end(hash, hex);
	CU_ASSERT_STRING_EQUAL(hex, HEX_MILLION);
}

static void test_descriptor(void)
{
	cleanup_fd int fd = memfd_create("hash", MFD_CLOEXEC);
	cleanup_free char *bytes = malloc(MILLION);
	struct error *err = NULL;
	char hex[HEX_SHA256];

	CU_ASSERT_PTR_NOT_NULL(bytes);
	if (!bytes)
		return;
	memset(bytes, 'a', MILLION);
	CU_ASSERT_EQUAL(write(fd, bytes, MILLION), MILLION);
	CU_ASSERT_EQUAL(lseek(fd, 17, SEEK_SET), 17);
	CU_ASSERT_EQUAL(hash_fd(fd, hex, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(hex, HEX_MILLION);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 17);
}

static void test_no_file(void)
{
	cleanup_fd int reader = -1;
	cleanup_fd int writer = -1;
	struct error *err = NULL;
	char hex[HEX_SHA256] = "stale";

	CU_ASSERT_EQUAL(fd_pipe(&reader, &writer, &err), 0);
	CU_ASSERT(hash_fd(reader, hex, &err) < 0);
	CU_ASSERT_EQUAL(error_number(err), ESPIPE);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "hash"));
	CU_ASSERT_STRING_EQUAL(hex, "");
	CU_ASSERT(hash_fd(-1, hex, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "hash"));
}

static void test_digits(void)
{
	static const unsigned char bytes[] = { 0x00, 0x09, 0x0a, 0x7f, 0x80, 0xf0, 0xff };
	char digits[2 * sizeof(bytes) + 2];

	memset(digits, '?', sizeof(digits));
	hash_digits(bytes, sizeof(bytes), digits);
	CU_ASSERT_STRING_EQUAL(digits, "00090a7f80f0ff");
	CU_ASSERT_EQUAL(digits[sizeof(digits) - 1], '?');
	hash_digits(bytes, 0, digits);
	CU_ASSERT_STRING_EQUAL(digits, "");
}

static CU_TestInfo tests[] = {
	{ "known answers", test_bytes },        { "in pieces", test_pieces }, { "of a descriptor", test_descriptor },
	{ "of what is no file", test_no_file }, { "digits", test_digits },    CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "hash", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("hash", suites);
}
