#include "reports/sshsig.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "core/limits.h"
#include "reports/base64.h"

#define MAGIC "SSHSIG"
#define VERSION 1
#define KEY_TYPE "ssh-ed25519"
#define HASH "sha512"
#define BLOB_BYTES KIB
#define LINE_LETTERS 70
#define ARMOR_BEGIN "-----BEGIN SSH SIGNATURE-----"
#define ARMOR_END "-----END SSH SIGNATURE-----"
#define SIGNATURE_BYTES 64 /* of Ed25519 */

static void put_number(struct buf *out, size_t number)
{
	uint32_t word = htonl((uint32_t)number);

	(void)buf_add(out, &word, sizeof(word));
}

static void put_string(struct buf *out, const void *bytes, size_t length)
{
	put_number(out, length);
	(void)buf_add(out, bytes, length);
}

/* A key, and a signature, is a string that holds its type and its bytes. */
static void put_typed(struct buf *out, const void *bytes, size_t length)
{
	put_number(out, 4 + strlen(KEY_TYPE) + 4 + length);
	put_string(out, KEY_TYPE, strlen(KEY_TYPE));
	put_string(out, bytes, length);
}

/* Namespace, the reserved string and the name of the hash: in what is signed and in the signature alike. */
static void put_terms(struct buf *out)
{
	put_string(out, SSHSIG_NAMESPACE, strlen(SSHSIG_NAMESPACE));
	put_string(out, "", 0);
	put_string(out, HASH, strlen(HASH));
}

static int put_signed(const void *message, size_t length, struct buf *out, struct error **err)
{
	unsigned char digest[SHA512_BYTES];
	int result = sign_sha512(message, length, digest, err);

	if (result < 0)
		return result;
	buf_text(out, MAGIC);
	put_terms(out);
	put_string(out, digest, sizeof(digest));
	return buf_check(out, "what is signed", err);
}

static int sign_message(const struct private_key *key, const void *message, size_t length, struct signature *out,
			struct error **err)
{
	cleanup_buf struct buf text = BUF(BLOB_BYTES);
	int result = put_signed(message, length, &text, err);

	return result < 0 ? result : sign_bytes(key, text.data, text.length, out, err);
}

/* All of it but the signature. */
static void put_head(struct buf *out, const unsigned char key[ED25519_PUBLIC_BYTES])
{
	buf_text(out, MAGIC);
	put_number(out, VERSION);
	put_typed(out, key, ED25519_PUBLIC_BYTES);
	put_terms(out);
}

static int put_armor(const struct buf *blob, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(4 * BLOB_BYTES);

	base64_encode(buf_string(blob), blob->length, &text);
	buf_text(out, ARMOR_BEGIN "\n");
	for (size_t at = 0; at < text.length; at += LINE_LETTERS) {
		size_t left = text.length - at;

		(void)buf_add(out, text.data + at, left < LINE_LETTERS ? left : LINE_LETTERS);
		buf_text(out, "\n");
	}
	buf_text(out, ARMOR_END "\n");
	return buf_check(out, "a signature", err);
}

int sshsig_write(const struct private_key *key, const void *message, size_t length, struct buf *out, struct error **err)
{
	cleanup_buf struct buf blob = BUF(BLOB_BYTES);
	unsigned char raw[ED25519_PUBLIC_BYTES];
	struct signature signature = { .length = 0 };
	int result = public_key_raw(private_key_public(key), raw, err);

	if (result == 0)
		result = sign_message(key, message, length, &signature, err);
	if (result < 0)
		return result;
	put_head(&blob, raw);
	put_typed(&blob, signature.bytes, signature.length);
	result = buf_check(&blob, "a signature", err);
	return result < 0 ? result : put_armor(&blob, out, err);
}

/* What stands between its two lines. */
static bool read_armor(const char *armor, size_t length, struct buf *out)
{
	cleanup_buf struct buf text = BUF(4 * BLOB_BYTES);
	cleanup_error struct error *ignored = NULL;
	const char *begin = memmem(armor, length, ARMOR_BEGIN, strlen(ARMOR_BEGIN));
	const char *at = begin ? begin + strlen(ARMOR_BEGIN) : NULL;
	const char *end = at ? memmem(at, (size_t)(armor + length - at), ARMOR_END, strlen(ARMOR_END)) : NULL;

	if (!end)
		return false;
	for (; at < end; at++)
		if (*at != '\n' && *at != '\r')
			(void)buf_add(&text, at, 1);
	return !text.failed && base64_decode(buf_string(&text), text.length, out, &ignored) == 0;
}

int sshsig_check(const struct public_key *key, const void *message, size_t length, const char *armor,
		 size_t armor_length, bool *good, struct error **err)
{
	cleanup_buf struct buf blob = BUF(BLOB_BYTES), wanted = BUF(BLOB_BYTES), text = BUF(BLOB_BYTES);
	unsigned char raw[ED25519_PUBLIC_BYTES];
	struct signature signature = { .length = SIGNATURE_BYTES };

	*good = false;
	if (public_key_kind(key) != KEY_ED25519 || !read_armor(armor, armor_length, &blob) ||
	    blob.length < SIGNATURE_BYTES)
		return 0;
	memcpy(signature.bytes, blob.data + blob.length - SIGNATURE_BYTES, SIGNATURE_BYTES);
	if (public_key_raw(key, raw, err) < 0)
		return -1;
	put_head(&wanted, raw);
	put_typed(&wanted, signature.bytes, SIGNATURE_BYTES);
	if (buf_check(&wanted, "a signature", err) < 0 || put_signed(message, length, &text, err) < 0)
		return -1;
	if (wanted.length != blob.length || memcmp(wanted.data, blob.data, blob.length) != 0)
		return 0;
	return sign_check(key, text.data, text.length, &signature, good, err);
}
