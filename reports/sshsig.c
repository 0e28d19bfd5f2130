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

static int sign_message(const struct private_key *key, const void *message, size_t length, struct signature *out,
			struct error **err)
{
	cleanup_buf struct buf text = BUF(BLOB_BYTES);
	unsigned char digest[SHA512_BYTES];
	int result = sign_sha512(message, length, digest, err);

	if (result < 0)
		return result;
	buf_text(&text, MAGIC);
	put_terms(&text);
	put_string(&text, digest, sizeof(digest));
	result = buf_check(&text, "what is signed", err);
	return result < 0 ? result : sign_bytes(key, text.data, text.length, out, err);
}

static int put_armor(const struct buf *blob, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(4 * BLOB_BYTES);

	base64_encode(buf_string(blob), blob->length, &text);
	buf_text(out, "-----BEGIN SSH SIGNATURE-----\n");
	for (size_t at = 0; at < text.length; at += LINE_LETTERS) {
		size_t left = text.length - at;

		(void)buf_add(out, text.data + at, left < LINE_LETTERS ? left : LINE_LETTERS);
		buf_text(out, "\n");
	}
	buf_text(out, "-----END SSH SIGNATURE-----\n");
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
	buf_text(&blob, MAGIC);
	put_number(&blob, VERSION);
	put_typed(&blob, raw, sizeof(raw));
	put_terms(&blob);
	put_typed(&blob, signature.bytes, signature.length);
	result = buf_check(&blob, "a signature", err);
	return result < 0 ? result : put_armor(&blob, out, err);
}
