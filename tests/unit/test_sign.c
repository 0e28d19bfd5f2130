/* Keys, signatures and envelopes: the vectors of their standards, and each way in which a key or an envelope is none.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "reports/base64.h"
#include "reports/dsse.h"
#include "reports/sigstore.h"
#include "reports/sshsig.h"
#include "tests/unit/sign_keys.h"
#include "tests/unit/test.h"

static struct private_key *key_of(const char *pem)
{
	struct private_key *key = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(private_key_parse(pem, strlen(pem), &key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return key;
}

static struct public_key *public_of(const char *pem)
{
	struct public_key *key = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(public_key_parse(pem, strlen(pem), &key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return key;
}

static void from_digits(const char *digits, struct signature *out)
{
	out->length = strlen(digits) / 2;
	for (size_t i = 0; i < out->length; i++) {
		unsigned byte = 0;

		CU_ASSERT_EQUAL(sscanf(digits + 2 * i, "%2x", &byte), 1);
		out->bytes[i] = (unsigned char)byte;
	}
}

/* Ed25519 is deterministic: what we sign is the vector. ECDSA is not: theirs must be taken. */
static void test_vectors(void)
{
	static const struct {
		const char *private, *public, *message, *signature;
	} rows[] = {
		{ KEY_ED25519_PRIVATE, KEY_ED25519_PUBLIC, "",
		  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25b"
		  "f5f0595"
		  "bbe24655141438e7a100b" },
		{ KEY_OTHER_PRIVATE, KEY_OTHER_PUBLIC, "\x72",
		  "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b"
		  "2eaeb43"
		  "02aeeb00d291612bb0c00" },
		{ KEY_P256_PRIVATE, KEY_P256_PUBLIC, "sample",
		  "3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716022100f7cb1c942d657c41d436"
		  "c7a1b6e"
		  "29f65f3e900dbb9aff4064dc4ab2f843acda8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_private_key struct private_key *private = key_of(rows[i].private);
		cleanup_public_key struct public_key *public = public_of(rows[i].public);
		cleanup_buf struct buf one = BUF(KIB);
		const char *message = rows[i].message;
		struct signature theirs, ours;
		struct error *err = NULL;
		bool good = false;

		from_digits(rows[i].signature, &theirs);
		CU_ASSERT_EQUAL(sign_check(public, message, strlen(message), &theirs, &good, &err), 0);
		CU_ASSERT(good);
		CU_ASSERT_EQUAL(sign_bytes(private, message, strlen(message), &ours, &err), 0);
		if (public_key_kind(public) == KEY_ED25519)
			CU_ASSERT(ours.length == theirs.length && memcmp(ours.bytes, theirs.bytes, ours.length) == 0);
		CU_ASSERT_EQUAL(sign_check(public, message, strlen(message), &ours, &good, &err), 0);
		CU_ASSERT(good);
		CU_ASSERT_EQUAL(public_key_write(private_key_public(private), &one, &err), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&one), rows[i].public);
		CU_ASSERT(test_no_error(&err));
	}
}

/* A changed message, a changed signature, a cut one, and another key's. */
static void test_not_good(void)
{
	static const char *const pems[] = { KEY_ED25519_PRIVATE, KEY_P256_PRIVATE };
	cleanup_private_key struct private_key *other = key_of(KEY_OTHER_PRIVATE);
	static const char message[] = "a message";

	for (size_t i = 0; i < ARRAY_SIZE(pems); i++) {
		cleanup_private_key struct private_key *key = key_of(pems[i]);
		const struct public_key *public = private_key_public(key);
		struct signature signature;
		struct error *err = NULL;
		bool good = true;

		CU_ASSERT_EQUAL(sign_bytes(key, message, sizeof(message), &signature, &err), 0);
		CU_ASSERT(sign_check(public, message, sizeof(message) - 1, &signature, &good, &err) == 0 && !good);
		CU_ASSERT(sign_check(private_key_public(other), message, sizeof(message), &signature, &good, &err) ==
				  0 &&
			  !good);
		for (size_t byte = 0; byte < signature.length; byte++) {
			signature.bytes[byte] ^= 1;
			CU_ASSERT(sign_check(public, message, sizeof(message), &signature, &good, &err) == 0 && !good);
			signature.bytes[byte] ^= 1;
		}
		signature.length--;
		CU_ASSERT(sign_check(public, message, sizeof(message), &signature, &good, &err) == 0 && !good);
		signature.length = 0;
		CU_ASSERT(sign_check(public, message, sizeof(message), &signature, &good, &err) == 0 && !good);
		CU_ASSERT(test_no_error(&err));
	}
}

static void test_refused_keys(void)
{
	static const struct {
		const char *pem, *says;
		bool public;
	} rows[] = {
		{ KEY_P384_PRIVATE, "neither P-256 nor Ed25519", false },
		{ KEY_X25519_PRIVATE, "neither P-256 nor Ed25519", false },
		{ KEY_ENCRYPTED, "has a passphrase", false },
		{ KEY_TRADITIONAL, "not in PKCS#8", false },
		{ KEY_MISMATCHED, "its halves do not belong together", false },
		{ KEY_P256_PUBLIC, "that is a public key", false },
		{ "-----BEGIN OPENSSH PRIVATE KEY-----\n", "OpenSSH's own form", false },
		{ "-----BEGIN RSA PRIVATE KEY-----\n", "neither P-256 nor Ed25519", false },
		{ "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n", "cannot be read", false },
		{ "no key", "it is no PEM", false },
		{ KEY_P256_EXPLICIT, "its curve is written out, and not named", true },
		{ KEY_P384_PUBLIC, "neither P-256 nor Ed25519", true },
		{ KEY_P256_PRIVATE, "that is a private key", true },
		{ "-----BEGIN CERTIFICATE-----\n", "that is a certificate", true },
		{ "-----BEGIN PUBLIC KEY-----\nMC4=\n-----END PUBLIC KEY-----\n", "cannot be read", true },
		{ "no key", "it is no PEM", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct private_key *private = NULL;
		struct public_key *public = NULL;
		struct error *err = NULL;
		size_t length = strlen(rows[i].pem);

		CU_ASSERT((rows[i].public ? public_key_parse(rows[i].pem, length, &public, &err)
					  : private_key_parse(rows[i].pem, length, &private, &err)) < 0);
		CU_ASSERT_PTR_NULL(private);
		CU_ASSERT_PTR_NULL(public);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, rows[i].says));
	}
}

/* One key has one fingerprint, and one text. */
static void test_one_form(void)
{
	static const char *const pems[] = { KEY_P256_COMPRESSED, KEY_P256_HYBRID, KEY_P256_PUBLIC };

	for (size_t i = 0; i < ARRAY_SIZE(pems); i++) {
		cleanup_public_key struct public_key *key = public_of(pems[i]);
		cleanup_buf struct buf text = BUF(KIB);
		char name[HEX_SHA256];
		struct error *err = NULL;

		CU_ASSERT(public_key_fingerprint(key, name, &err) == 0 && test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(name, "5a7a78cca4a0f420d9bc62bb669c3c2759e39f723d3ae10dcbe0f0815a07ecd4");
		CU_ASSERT(public_key_write(key, &text, &err) == 0 && test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&text), KEY_P256_PUBLIC);
	}
}

/* Points under which a signature may hold for any message, and numbers that are another name of a point. */
static void test_weak_keys(void)
{
	static const struct {
		unsigned char bytes[ED25519_PUBLIC_BYTES]; /* little-endian */
	} rows[] = {
		{ { 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 } },
		{ { 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 } },
		{ { 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f } },
		{ { 0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f } },
		{ { 0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f } },
		{ { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
		    0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 } },
		{ { 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
		    0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a } },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		unsigned char bytes[ED25519_PUBLIC_BYTES];
		cleanup_buf struct buf pem = BUF(KIB);
		struct public_key *key = NULL;
		struct error *err = NULL;

		memcpy(bytes, rows[i / 2].bytes, sizeof(bytes));
		bytes[sizeof(bytes) - 1] |= i % 2 ? 0x80 : 0;
		(void)buf_text(&pem, "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA");
		base64_encode(bytes, sizeof(bytes), &pem);
		(void)buf_text(&pem, "\n-----END PUBLIC KEY-----\n");
		CU_ASSERT(public_key_parse(buf_string(&pem), pem.length, &key, &err) < 0 && !key);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "Ed25519 key of small order, or in no canonical form"));
	}
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, text, strlen(text), mode, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Who else may read the file decides, also behind a link; what is no file or pipe is refused. */
static void test_files(void)
{
	char folder[] = "/tmp/sign-test-XXXXXX", path[64], link[64];
	static char large[20 * KIB];
	static const struct {
		const char *text, *says;
		bool public;
	} others[] = {
		{ KEY_P256_PUBLIC, "/key.pem': that is a public key: signing takes the private one", false },
		{ "\x1f\x8b\x08", "/key.pem': it is a gzip file, as a bundle is, and no key", false },
		{ "no key", "/key.pem': it is no PEM", false },
		{ "", "/key.pem': it is no PEM", false },
		{ KEY_P256_PRIVATE, "the public key '/tmp/sign-test-", true },
		{ KEY_P256_PRIVATE, "/key.pem': that is a private key", true },
	};
	static const mode_t modes[] = { 0640, 0604, 0620, 0660, 0644 };
	struct private_key *key = NULL;
	struct public_key *public = NULL;
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/key.pem", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	CU_ASSERT_EQUAL(symlink("key.pem", link), 0);
	CU_ASSERT(private_key_open(path, &key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the private key '/tmp/sign-test-"));
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		write_file(path, KEY_P256_PRIVATE, modes[i]);
		CU_ASSERT(private_key_open(i % 2 ? link : path, &key, &err) < 0);
		CU_ASSERT_PTR_NULL(key);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "others than its owner"));
	}
	write_file(path, KEY_P256_PRIVATE, 0400);
	CU_ASSERT_EQUAL(private_key_open(link, &key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	private_key_free(key);
	CU_ASSERT(private_key_open(folder, &key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "neither a regular file nor a pipe"));
	/* Swapped words: the rights of what is no private key are not the trouble. */
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		write_file(path, others[i].text, 0644);
		CU_ASSERT((others[i].public ? public_key_open(path, &public, &err)
					    : private_key_open(path, &key, &err)) < 0);
		CU_ASSERT(!key && !public && test_error(&err, ERROR_REFUSED, others[i].says));
	}
	/* More than a key can be. */
	memset(large, 'x', sizeof(large) - 1);
	write_file(path, large, 0644);
	CU_ASSERT(private_key_open(path, &key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "/key.pem': it is no PEM"));
	memcpy(large, "\x1f\x8b", 2);
	write_file(path, large, 0644);
	CU_ASSERT(private_key_open(path, &key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "/key.pem': it is a gzip file"));
	write_file(path, KEY_P256_PUBLIC, 0644);
	CU_ASSERT_EQUAL(public_key_open(path, &public, &err), 0);
	CU_ASSERT(test_no_error(&err));
	public_key_free(public);
	CU_ASSERT_EQUAL(unlink(path) + unlink(link) + rmdir(folder), 0);
}

static void test_descriptors(void)
{
	static const char *const wrong[] = { "fd:", "fd:2", "fd:x", "fd:4x", "fd:1024", "fd:-1" };
	struct private_key *key = NULL;
	struct error *err = NULL;
	char where[16];
	int read_end = -1, write_end = -1;

	CU_ASSERT_EQUAL(fd_pipe(&read_end, &write_end, &err), 0);
	CU_ASSERT_EQUAL(fd_write_all(write_end, KEY_ED25519_PRIVATE, strlen(KEY_ED25519_PRIVATE), NEVER, &err), 0);
	fd_close(&write_end);
	snprintf(where, sizeof(where), "fd:%d", read_end);
	CU_ASSERT_EQUAL(private_key_open(where, &key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	private_key_free(key);
	/* It is closed. */
	CU_ASSERT(private_key_open(where, &key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the key's descriptor"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		CU_ASSERT(private_key_open(wrong[i], &key, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_USAGE, "fd:3 to fd:1023"));
	}
}

static void test_base64(void)
{
	static const struct {
		const char *text, *bytes;
	} rows[] = { { "", "" },        { "Zg==", "f" },         { "Zm8=", "fo" },
		     { "Zm9v", "foo" }, { "Zm9vYmE=", "fooba" }, { "Zm9vYmFy", "foobar" } };
	static const char *const wrong[] = { "Zg",       "Zg=",    "Zh==", "Zm9=", "Z===", "====",
					     "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "Zm9\x80" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf text = BUF(KIB), bytes = BUF(KIB);
		struct error *err = NULL;

		base64_encode(rows[i].bytes, strlen(rows[i].bytes), &text);
		CU_ASSERT_STRING_EQUAL(buf_string(&text), rows[i].text);
		CU_ASSERT_EQUAL(base64_decode(rows[i].text, strlen(rows[i].text), &bytes, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&bytes), rows[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_buf struct buf bytes = BUF(KIB);
		struct error *err = NULL;

		CU_ASSERT(base64_decode(wrong[i], strlen(wrong[i]), &bytes, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, "base64"));
	}
}

/* The vector of the specification, and every byte once more. */
static void test_encoding(void)
{
	cleanup_buf struct buf vector = BUF(KIB), all = BUF(KIB), again = BUF(KIB);
	struct error *err = NULL;
	char bytes[256];

	CU_ASSERT_EQUAL(dsse_encoding("http://example.com/HelloWorld", "hello world", 11, &vector, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&vector), "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	base64_encode(bytes, sizeof(bytes), &all);
	CU_ASSERT_EQUAL(base64_decode(buf_string(&all), all.length, &again, &err), 0);
	CU_ASSERT(again.length == sizeof(bytes) && memcmp(again.data, bytes, sizeof(bytes)) == 0);
	CU_ASSERT(test_no_error(&err));
}

static void sign_payload(const char *payload, struct buf *line)
{
	cleanup_private_key struct private_key *key = key_of(KEY_ED25519_PRIVATE);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(dsse_sign(key, payload, strlen(payload), &envelope, &err), 0);
	CU_ASSERT_EQUAL(dsse_write(&envelope, line, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static bool starts(const struct buf *text, const char *with)
{
	return strncmp(buf_string(text), with, strlen(with)) == 0;
}

static void test_envelope(void)
{
	cleanup_public_key struct public_key *key = public_of(KEY_ED25519_PUBLIC), *other = public_of(KEY_OTHER_PUBLIC);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	cleanup_buf struct buf line = BUF(4 * KIB);
	struct error *err = NULL;
	bool good = false;

	sign_payload("{}", &line);
	CU_ASSERT(starts(
		&line,
		"{\"payload\":\"e30=\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[{\"sig\":"));
	buf_text(&line, "\n");
	CU_ASSERT_EQUAL(dsse_read(buf_string(&line), line.length, &envelope, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&envelope.payload), "{}");
	CU_ASSERT(dsse_check(&envelope, key, &good, &err) == 0 && good);
	CU_ASSERT(dsse_check(&envelope, other, &good, &err) == 0 && !good);
	buf_text(&envelope.payload, " ");
	CU_ASSERT(dsse_check(&envelope, key, &good, &err) == 0 && !good);
}

struct tampered {
	const char *line, *says;
};
static const struct tampered tampered[];
static const size_t tampered_count;

static void test_tampered(void)
{
	for (size_t i = 0; i < tampered_count; i++) {
		cleanup_dsse struct dsse envelope = DSSE_EMPTY;
		struct error *err = NULL;

		CU_ASSERT(dsse_read(tampered[i].line, strlen(tampered[i].line), &envelope, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, tampered[i].says));
	}
}

/* Any byte of an envelope: it is not read, or not good. */
static void test_changed_byte(void)
{
	cleanup_public_key struct public_key *key = public_of(KEY_ED25519_PUBLIC);
	cleanup_buf struct buf line = BUF(4 * KIB);

	sign_payload("{\"a\":[1,2,3]}", &line);
	buf_text(&line, "\n");
	for (size_t at = 0; at < line.length; at++)
		for (unsigned bit = 1; bit < 256; bit <<= 1) {
			cleanup_dsse struct dsse envelope = DSSE_EMPTY;
			cleanup_error struct error *err = NULL;
			bool good = false;

			line.data[at] ^= (char)bit;
			CU_ASSERT(dsse_read(line.data, line.length, &envelope, &err) < 0 ||
				  (dsse_check(&envelope, key, &good, &err) == 0 && !good));
			line.data[at] ^= (char)bit;
		}
}

static void test_other_forms(void)
{
	cleanup_private_key struct private_key *key = key_of(KEY_ED25519_PRIVATE), *p256 = key_of(KEY_P256_PRIVATE);
	cleanup_buf struct buf armor = BUF(4 * KIB), bundle = BUF(8 * KIB), hint = BUF(KIB);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(sshsig_write(key, "text\n", 5, &armor, &err), 0);
	CU_ASSERT(starts(&armor, "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH"));
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(sshsig_write(p256, "text\n", 5, &armor, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "Ed25519"));
	CU_ASSERT_EQUAL(public_key_hint(private_key_public(p256), &hint, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&hint), "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy+DwgVoH7NQ=");
	CU_ASSERT_EQUAL(dsse_sign(key, "{}", 2, &envelope, &err), 0);
	CU_ASSERT_EQUAL(sigstore_write(&envelope, private_key_public(key), &bundle, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&bundle),
				      "\"publicKey\":{\"hint\":\"BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k=\"}"));
	CU_ASSERT_PTR_NULL(strstr(buf_string(&bundle), "keyid"));
}

#define PAYLOAD "\"payload\":\"e30=\""
#define TYPE "\"payloadType\":\"application/vnd.in-toto+json\""
#define SIGNATURES "\"signatures\":[{\"sig\":\"AA==\"}]"
static const struct tampered tampered[] = {
	{ "", "not exactly one line" },
	{ "\n", "" },
	{ "{" PAYLOAD "," TYPE "," SIGNATURES "}", "not exactly one line" },
	{ "{" PAYLOAD "," TYPE "," SIGNATURES "}\n\n", "not exactly one line" },
	{ "{" PAYLOAD "," TYPE "," SIGNATURES "}\n{" PAYLOAD "," TYPE "," SIGNATURES "}\n", "not exactly one line" },
	{ "[]\n", "has not exactly the members" },
	{ "{" PAYLOAD "," TYPE "}\n", "has not exactly the members" },
	{ "{" PAYLOAD "," TYPE "," SIGNATURES ",\"x\":1}\n", "has not exactly the members" },
	{ "{" PAYLOAD "," PAYLOAD "," TYPE "," SIGNATURES "}\n", "duplicate" },
	{ "{" PAYLOAD ",\"payloadType\":\"application/json\"," SIGNATURES "}\n", "the payload type is not" },
	{ "{" PAYLOAD ",\"payloadType\":\"application/vnd.in-toto+JSON\"," SIGNATURES "}\n",
	  "the payload type is not" },
	{ "{" PAYLOAD ",\"payloadType\":1," SIGNATURES "}\n", "the payload type is not" },
	{ "{\"payload\":1," TYPE "," SIGNATURES "}\n", "payload is no string" },
	{ "{\"payload\":\"e30\"," TYPE "," SIGNATURES "}\n", "payload: no whole base64" },
	{ "{\"payload\":\"e3_-\"," TYPE "," SIGNATURES "}\n", "payload: in the URL-safe alphabet" },
	{ "{\"payload\":\"e31=\"," TYPE "," SIGNATURES "}\n", "payload: no base64" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[]}\n", "not exactly one signature" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":{}}\n", "not exactly one signature" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"sig\":\"AA==\"},{\"sig\":\"AA==\"}]}\n",
	  "not exactly one signature" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"keyid\":\"\",\"sig\":\"AA==\"}]}\n", "has a key id" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"sig\":\"AA==\",\"x\":1}]}\n", "not exactly the member sig" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"sign\":\"AA==\"}]}\n", "sig is no string" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[[]]}\n", "not exactly the member sig" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"sig\":\"\"}]}\n", "sig is empty" },
	{ "{" PAYLOAD "," TYPE ",\"signatures\":[{\"sig\":\"AA_=\"}]}\n", "sig: in the URL-safe alphabet" },
	{ "{" TYPE "," PAYLOAD "," SIGNATURES "}\n", "not in its canonical form" },
	{ "{ " PAYLOAD "," TYPE "," SIGNATURES "}\n", "not in its canonical form" },
	{ "{\"payload\":\"\\u00653\\u0030=\"," TYPE "," SIGNATURES "}\n", "not in its canonical form" },
};
static const size_t tampered_count = ARRAY_SIZE(tampered);

static CU_TestInfo tests[] = {
	{ "the vectors of RFC 8032 and RFC 6979", test_vectors },
	{ "not good", test_not_good },
	{ "refused keys", test_refused_keys },
	{ "one form", test_one_form },
	{ "weak keys", test_weak_keys },
	{ "key files", test_files },
	{ "key descriptors", test_descriptors },
	{ "base64", test_base64 },
	{ "what an envelope signs", test_encoding },
	{ "an envelope", test_envelope },
	{ "tampered envelopes", test_tampered },
	{ "a changed byte", test_changed_byte },
	{ "SSHSIG, sigstore bundle", test_other_forms },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "sign", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("sign", suites);
}
