#include "reports/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "reports/base64.h"

#define PEM_BYTES ((size_t)16 * KIB)
#define READ_MS 10000
#define DESCRIPTOR "fd:"
#define DESCRIPTOR_FIRST 3
#define DESCRIPTOR_LAST 1023
#define OTHERS 0077
#define GROUP_NAME_BYTES 64
#define P256_GROUP "prime256v1"
#define SHA256_BYTES 32
#define P25519_LOW 0xed /* the lowest byte of 2^255 - 19 */
#define PRIVATE_LINE "-----BEGIN PRIVATE KEY-----"
#define PUBLIC_LINE "-----BEGIN PUBLIC KEY-----"
#define GZIP_MAGIC "\x1f\x8b"
#define PATH_SHOWN 160
#define NAME_BYTES (PATH_SHOWN + 24)

struct public_key {
	EVP_PKEY *pkey;
	enum key_kind kind;
};
struct private_key {
	struct public_key own; /* both halves */
};

/* What a PEM file holds instead of what was wanted, and what to say. */
struct other_pem {
	const char *line;
	const char *says;
};
static const struct other_pem other_privates[], other_publics[];
static const unsigned char eighths[2][ED25519_PUBLIC_BYTES];

static void context_cleanup(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}
static void bio_cleanup(BIO **bio)
{
	BIO_free(*bio);
}
#define cleanup_context __attribute__((cleanup(context_cleanup)))
#define cleanup_bio __attribute__((cleanup(bio_cleanup)))

/* Without openssl.cnf: what a signature is does not depend on a file of the host or on the environment. */
static int library(struct error **err)
{
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1)
		return 0;
	return error_set(err, ERROR_SYSTEM, "libcrypto cannot be used");
}

/* The library's own texts may quote what it read: they are dropped. */
static int failed(enum error_code code, const char *what, struct error **err)
{
	ERR_clear_error();
	return error_set(err, code, "%s", what);
}

static int no_passphrase(char *out, int size, int writing, void *context)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)context;
	return -1;
}

/* Whether the little-endian number without its uppermost bit, the sign of x, is that of a point of small order, or is
 * not below p: then a signature may hold for anything, or a key has two names. */
static bool is_weak(const unsigned char y[ED25519_PUBLIC_BYTES])
{
	unsigned char last = y[ED25519_PUBLIC_BYTES - 1] & 0x7f;
	bool high = last == 0x7f, low = last == 0;

	for (size_t i = 1; i < ED25519_PUBLIC_BYTES - 1; i++) {
		high &= y[i] == 0xff;
		low &= y[i] == 0;
	}
	if ((high && y[0] >= P25519_LOW - 1) || (low && y[0] <= 1))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(eighths); i++)
		if (memcmp(y, eighths[i], ED25519_PUBLIC_BYTES - 1) == 0 &&
		    last == eighths[i][ED25519_PUBLIC_BYTES - 1])
			return true;
	return false;
}

static int check_ed25519(const EVP_PKEY *pkey, struct error **err)
{
	unsigned char y[ED25519_PUBLIC_BYTES];
	size_t length = sizeof(y);

	if (EVP_PKEY_get_raw_public_key(pkey, y, &length) != 1 || length != sizeof(y))
		return failed(ERROR_REFUSED, "it cannot be read", err);
	return is_weak(y)
		       ? error_set(err, ERROR_REFUSED, "it is an Ed25519 key of small order, or in no canonical form")
		       : 0;
}

/* A curve that is written out, or a point that is compressed, is another text of a key, and would have a fingerprint of
 * its own. */
static int make_canonical(EVP_PKEY *pkey, struct error **err)
{
	int explicit = 0;

	(void)EVP_PKEY_get_int_param(pkey, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit);
	if (explicit)
		return failed(ERROR_REFUSED, "its curve is written out, and not named", err);
	if (EVP_PKEY_set_utf8_string_param(pkey, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
					   OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED) == 1)
		return 0;
	return failed(ERROR_SYSTEM, "its point cannot be written out", err);
}

static int find_kind(EVP_PKEY *pkey, enum key_kind *out, struct error **err)
{
	char group[GROUP_NAME_BYTES];

	if (EVP_PKEY_is_a(pkey, "ED25519")) {
		*out = KEY_ED25519;
		return check_ed25519(pkey, err);
	}
	*out = KEY_P256;
	if (EVP_PKEY_is_a(pkey, "EC") && EVP_PKEY_get_group_name(pkey, group, sizeof(group), NULL) == 1 &&
	    strcmp(group, P256_GROUP) == 0)
		return make_canonical(pkey, err);
	return failed(ERROR_REFUSED, "it is neither P-256 nor Ed25519", err);
}

/* Whether the text begins as it must; else what it holds is named. */
static int check_pem(const char *pem, const char *wanted, const struct other_pem *others, struct error **err)
{
	if (strstr(pem, wanted))
		return 0;
	for (; others->line; others++)
		if (strstr(pem, others->line))
			return error_set(err, ERROR_REFUSED, "%s", others->says);
	return error_set(err, ERROR_REFUSED, "it is no PEM: there is no line \"%s\"", wanted);
}

/* A PKCS#8 key may state a public half that is not its own. */
static int check_halves(const struct private_key *key, struct error **err)
{
	static const char message[] = "whether both halves belong together";
	struct signature signature;
	bool good = false;
	int result = sign_bytes(key, message, sizeof(message), &signature, err);

	if (result == 0)
		result = sign_check(&key->own, message, sizeof(message), &signature, &good, err);
	if (result < 0 || good)
		return result;
	return error_set(err, ERROR_REFUSED, "its halves do not belong together");
}

int private_key_parse(const char *pem, size_t length, struct private_key **out, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;
	cleanup_bio BIO *bio = NULL;
	int result = library(err);

	*out = NULL;
	if (result == 0)
		result = check_pem(pem, PRIVATE_LINE, other_privates, err);
	if (result < 0)
		return result;
	key = calloc(1, sizeof(*key));
	bio = BIO_new_mem_buf(pem, (int)length);
	if (!key || !bio)
		return failed(ERROR_MEMORY, "no memory for a key", err);
	key->own.pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	if (!key->own.pkey)
		return failed(ERROR_REFUSED, "it cannot be read", err);
	result = find_kind(key->own.pkey, &key->own.kind, err);
	if (result == 0)
		result = check_halves(key, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&key);
	return 0;
}

void private_key_free(struct private_key *key)
{
	if (key)
		EVP_PKEY_free(key->own.pkey);
	free(key);
}

const struct public_key *private_key_public(const struct private_key *key)
{
	return &key->own;
}

static int descriptor_of(const char *text, int *out, struct error **err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < DESCRIPTOR_FIRST || value > DESCRIPTOR_LAST)
		return error_set(err, ERROR_USAGE, "a key's descriptor is fd:%d to fd:%d", DESCRIPTOR_FIRST,
				 DESCRIPTOR_LAST);
	if (fcntl((int)value, F_GETFD) < 0)
		return error_errno(err, errno, "the key's descriptor %ld", value);
	*out = (int)value;
	return 0;
}

/* "the private key 'PATH'"; what was given may be shown, what stands in it not. */
static const char *name_of(const char *role, const char *where, char out[NAME_BYTES])
{
	char safe[PATH_SHOWN];

	snprintf(out, NAME_BYTES, "the %s key '%s'", role, error_safe(where, safe, sizeof(safe)));
	return out;
}

static int open_key(const char *role, const char *where, int *out, struct error **err)
{
	char name[NAME_BYTES];

	if (strncmp(where, DESCRIPTOR, strlen(DESCRIPTOR)) == 0)
		return descriptor_of(where + strlen(DESCRIPTOR), out, err);
	/* O_NONBLOCK so that a FIFO that nobody writes cannot hold us up. */
	*out = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return *out < 0 ? error_errno(err, errno, "%s", name_of(role, where, name)) : 0;
}

/* A small file or pipe, whole. What else it is, is said before anything of its rights: it may be the wrong file. */
static int read_key(int fd, struct buf *out, struct error **err)
{
	cleanup_error struct error *why = NULL;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_errno(err, errno, "looking at it");
	if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
		return error_set(err, ERROR_REFUSED, "it is neither a regular file nor a pipe");
	if (fd_read_all(fd, out, clock_deadline(READ_MS), &why) < 0 && error_code(why) != ERROR_LIMIT) {
		error_keep_first(err, &why);
		return -1;
	}
	if (out->length >= strlen(GZIP_MAGIC) && memcmp(out->data, GZIP_MAGIC, strlen(GZIP_MAGIC)) == 0)
		return error_set(err, ERROR_REFUSED, "it is a gzip file, as a bundle is, and no key");
	if (why || out->length == 0 || memchr(buf_string(out), '\0', out->length))
		return error_set(err, ERROR_REFUSED, "it is no PEM");
	return 0;
}

static int check_rights(int fd, struct error **err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_errno(err, errno, "looking at it");
	if (S_ISREG(status.st_mode) && (status.st_mode & OTHERS))
		return error_set(err, ERROR_REFUSED, "others than its owner have rights on the file: chmod 600");
	return 0;
}

int private_key_open(const char *where, struct private_key **out, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;
	cleanup_fd int fd = -1;
	struct buf pem = BUF(PEM_BYTES);
	char name[NAME_BYTES];
	int result;

	*out = NULL;
	if (open_key("private", where, &fd, err) < 0)
		return -1;
	result = read_key(fd, &pem, err);
	if (result == 0)
		result = private_key_parse(buf_string(&pem), pem.length, &key, err);
	if (result == 0)
		result = check_rights(fd, err);
	buf_wipe(&pem);
	if (result < 0)
		return error_wrap(err, "%s", name_of("private", where, name));
	*out = steal_pointer(&key);
	return 0;
}

int public_key_open(const char *path, struct public_key **out, struct error **err)
{
	cleanup_fd int fd = -1;
	struct buf pem = BUF(PEM_BYTES);
	char name[NAME_BYTES];
	int result;

	*out = NULL;
	if (open_key("public", path, &fd, err) < 0)
		return -1;
	result = read_key(fd, &pem, err);
	if (result == 0)
		result = public_key_parse(buf_string(&pem), pem.length, out, err);
	buf_wipe(&pem); /* it may have been the wrong half */
	return result < 0 ? error_wrap(err, "%s", name_of("public", path, name)) : 0;
}

int public_key_parse(const char *pem, size_t length, struct public_key **out, struct error **err)
{
	cleanup_public_key struct public_key *key = NULL;
	cleanup_bio BIO *bio = NULL;
	int result = library(err);

	*out = NULL;
	if (result == 0)
		result = check_pem(pem, PUBLIC_LINE, other_publics, err);
	if (result < 0)
		return result;
	key = calloc(1, sizeof(*key));
	bio = BIO_new_mem_buf(pem, (int)length);
	if (!key || !bio)
		return failed(ERROR_MEMORY, "no memory for a key", err);
	key->pkey = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
	if (!key->pkey)
		return failed(ERROR_REFUSED, "it cannot be read", err);
	result = find_kind(key->pkey, &key->kind, err);
	if (result == 0)
		*out = steal_pointer(&key);
	return result;
}

void public_key_free(struct public_key *key)
{
	if (key)
		EVP_PKEY_free(key->pkey);
	free(key);
}

enum key_kind public_key_kind(const struct public_key *key)
{
	return key->kind;
}

static int key_digest(const struct public_key *key, unsigned char out[SHA256_BYTES], struct error **err)
{
	unsigned char *der = NULL;
	int length = i2d_PUBKEY(key->pkey, &der);
	int hashed = length > 0 ? EVP_Digest(der, (size_t)length, out, NULL, EVP_sha256(), NULL) : 0;

	OPENSSL_free(der);
	return hashed == 1 ? 0 : failed(ERROR_MEMORY, "no digest of the public key", err);
}

int public_key_hint(const struct public_key *key, struct buf *out, struct error **err)
{
	unsigned char digest[SHA256_BYTES];
	int result = key_digest(key, digest, err);

	if (result < 0)
		return result;
	base64_encode(digest, sizeof(digest), out);
	return buf_check(out, "the hint of a key", err);
}

int public_key_fingerprint(const struct public_key *key, char out[HEX_SHA256], struct error **err)
{
	unsigned char digest[SHA256_BYTES];
	int result = key_digest(key, digest, err);

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(digest) && result == 0; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return result;
}

int public_key_write(const struct public_key *key, struct buf *out, struct error **err)
{
	cleanup_bio BIO *bio = BIO_new(BIO_s_mem());
	char *text = NULL;
	long length;

	if (!bio || PEM_write_bio_PUBKEY(bio, key->pkey) != 1)
		return failed(ERROR_MEMORY, "no memory for a public key", err);
	length = BIO_get_mem_data(bio, &text);
	(void)buf_add(out, text, (size_t)length);
	return buf_check(out, "a public key", err);
}

int public_key_raw(const struct public_key *key, unsigned char out[ED25519_PUBLIC_BYTES], struct error **err)
{
	size_t length = ED25519_PUBLIC_BYTES;

	if (key->kind == KEY_ED25519 && EVP_PKEY_get_raw_public_key(key->pkey, out, &length) == 1 &&
	    length == ED25519_PUBLIC_BYTES)
		return 0;
	return failed(ERROR_REFUSED, "that takes an Ed25519 key", err);
}

/* Ed25519 hashes by itself. */
static const EVP_MD *digest_of(const struct public_key *key)
{
	return key->kind == KEY_ED25519 ? NULL : EVP_sha256();
}

int sign_bytes(const struct private_key *key, const void *bytes, size_t length, struct signature *out,
	       struct error **err)
{
	cleanup_context EVP_MD_CTX *context = EVP_MD_CTX_new();

	out->length = sizeof(out->bytes);
	if (context && EVP_DigestSignInit(context, NULL, digest_of(&key->own), NULL, key->own.pkey) == 1 &&
	    EVP_DigestSign(context, out->bytes, &out->length, bytes, length) == 1)
		return 0;
	out->length = 0;
	return failed(ERROR_SYSTEM, "the key cannot sign", err);
}

int sign_check(const struct public_key *key, const void *bytes, size_t length, const struct signature *signature,
	       bool *good, struct error **err)
{
	cleanup_context EVP_MD_CTX *context = EVP_MD_CTX_new();

	*good = false;
	if (!context || EVP_DigestVerifyInit(context, NULL, digest_of(key), NULL, key->pkey) != 1)
		return failed(ERROR_MEMORY, "no memory to check a signature", err);
	*good = EVP_DigestVerify(context, signature->bytes, signature->length, bytes, length) == 1;
	ERR_clear_error();
	return 0;
}

int sign_sha512(const void *bytes, size_t length, unsigned char out[SHA512_BYTES], struct error **err)
{
	int result = library(err);

	if (result == 0 && EVP_Digest(bytes, length, out, NULL, EVP_sha512(), NULL) != 1)
		return failed(ERROR_MEMORY, "no memory for a digest", err);
	return result;
}

/* y of the points of order eight, little-endian. */
static const unsigned char eighths[2][ED25519_PUBLIC_BYTES] = {
	{ 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
	  0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
	{ 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
	  0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },
};

#define CONVERT "openssl pkcs8 -topk8 -nocrypt writes it in another way"
static const struct other_pem other_privates[] = {
	{ "-----BEGIN ENCRYPTED PRIVATE KEY-----", "it has a passphrase: " CONVERT },
	{ "-----BEGIN EC PRIVATE KEY-----", "it is not in PKCS#8: " CONVERT },
	{ "-----BEGIN RSA PRIVATE KEY-----", "it is neither P-256 nor Ed25519" },
	{ "-----BEGIN OPENSSH PRIVATE KEY-----", "it is in OpenSSH's own form, not in PKCS#8 PEM" },
	{ PUBLIC_LINE, "that is a public key: signing takes the private one" },
	{ NULL, NULL },
};
static const struct other_pem other_publics[] = {
	{ "PRIVATE KEY-----", "that is a private key: checking takes the public one (openssl pkey -pubout)" },
	{ "-----BEGIN CERTIFICATE-----", "that is a certificate: checking takes its key (openssl x509 -pubkey)" },
	{ NULL, NULL },
};
