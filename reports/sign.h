/*
 * Keys and signatures: P-256 (ECDSA over SHA-256, DER) and Ed25519, by OpenSSL's libcrypto. A private key is read once,
 * stays in this process, is never written, and no part of it enters a message; what it was read from is overwritten.
 */
#ifndef HARNESS_REPORTS_SIGN_H
#define HARNESS_REPORTS_SIGN_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/limits.h"

enum key_kind { KEY_P256, KEY_ED25519 };

#define ED25519_PUBLIC_BYTES 32
#define SHA512_BYTES 64
#define SIGNATURE_BYTES_MAX 80
struct signature {
	unsigned char bytes[SIGNATURE_BYTES_MAX];
	size_t length;
};

struct private_key;
struct public_key;

/* `where`: the path of a PEM file, or "fd:N", a descriptor from 3 on, which is closed. PKCS#8 ("BEGIN PRIVATE KEY")
 * without a passphrase. ERROR_REFUSED for any other kind of key, and for a file that others than its owner may read;
 * a pipe has no such bits. Links are followed: what counts is the file behind them. What the file is, is looked at
 * before whose it is; the error names `where`. */
int private_key_open(const char *where, struct private_key **out, struct error **err) MUST_CHECK;
/* The same of a PEM text, which the caller overwrites. */
int private_key_parse(const char *pem, size_t length, struct private_key **out, struct error **err) MUST_CHECK;
/* Accepts NULL. */
void private_key_free(struct private_key *key);
static inline void private_key_cleanup(struct private_key **key)
{
	private_key_free(*key);
}
#define cleanup_private_key __attribute__((cleanup(private_key_cleanup)))

/* The public half; lives as long as the key. */
const struct public_key *private_key_public(const struct private_key *key);

/* A PEM file ("BEGIN PUBLIC KEY") and its text. ERROR_REFUSED for another kind of key, a private one
 * above all; for a curve that is written out instead of named; for an Ed25519 key of small order. However its point is
 * written, a key has one fingerprint and one text. */
int public_key_open(const char *path, struct public_key **out, struct error **err) MUST_CHECK;
int public_key_parse(const char *pem, size_t length, struct public_key **out, struct error **err) MUST_CHECK;
void public_key_free(struct public_key *key);
static inline void public_key_cleanup(struct public_key **key)
{
	public_key_free(*key);
}
#define cleanup_public_key __attribute__((cleanup(public_key_cleanup)))

enum key_kind public_key_kind(const struct public_key *key);
/* Appends base64 of the SHA-256 of the SubjectPublicKeyInfo in DER: what a sigstore bundle calls a key by. */
int public_key_hint(const struct public_key *key, struct buf *out, struct error **err) MUST_CHECK;
/* The same digest as hexadecimal digits: openssl pkey -pubin -in FILE -outform DER | sha256sum. */
int public_key_fingerprint(const struct public_key *key, char out[HEX_SHA256], struct error **err) MUST_CHECK;
/* Appends it as PEM. */
int public_key_write(const struct public_key *key, struct buf *out, struct error **err) MUST_CHECK;
/* Of an Ed25519 key alone: its 32 bytes. */
int public_key_raw(const struct public_key *key, unsigned char out[ED25519_PUBLIC_BYTES],
		   struct error **err) MUST_CHECK;

int sign_bytes(const struct private_key *key, const void *bytes, size_t length, struct signature *out,
	       struct error **err) MUST_CHECK;
/* *good: whether the signature is that of the key over these bytes. */
int sign_check(const struct public_key *key, const void *bytes, size_t length, const struct signature *signature,
	       bool *good, struct error **err) MUST_CHECK;
int sign_sha512(const void *bytes, size_t length, unsigned char out[SHA512_BYTES], struct error **err) MUST_CHECK;

#endif
