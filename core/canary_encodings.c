/* The table of encodings. */
#include "core/canary_encodings.h"

#include <string.h>

static size_t encode_raw(const struct encoding *encoding, const char *text, char *out)
{
	(void)encoding;
	memcpy(out, text, CANARY_LENGTH);
	return CANARY_LENGTH;
}

static void decode_raw(const struct encoding *encoding, const char *bytes, size_t length, char *out)
{
	(void)encoding;
	memcpy(out, bytes, length);
}

static size_t encode_reversed(const struct encoding *encoding, const char *text, char *out)
{
	(void)encoding;
	for (size_t i = 0; i < CANARY_LENGTH; i++)
		out[i] = text[CANARY_LENGTH - 1 - i];
	return CANARY_LENGTH;
}

static void decode_reversed(const struct encoding *encoding, const char *bytes, size_t length, char *out)
{
	(void)encoding;
	for (size_t i = 0; i < length; i++)
		out[i] = bytes[length - 1 - i];
}

/* From the first non-zero byte to the last one, which both byte orders have in common. */
static size_t encode_utf16(const struct encoding *encoding, const char *text, char *out)
{
	(void)encoding;
	for (size_t i = 0; i < CANARY_LENGTH; i++) {
		out[2 * i] = text[i];
		out[2 * i + 1] = '\0';
	}
	return (size_t)2 * CANARY_LENGTH - 1;
}

static void decode_utf16(const struct encoding *encoding, const char *bytes, size_t length, char *out)
{
	(void)encoding;
	for (size_t i = 0; i < length; i += 2)
		out[i / 2] = bytes[i];
}

static size_t encode_percent(const struct encoding *encoding, const char *text, char *out)
{
	for (size_t i = 0; i < CANARY_LENGTH; i++) {
		out[3 * i] = '%';
		out[3 * i + 1] = encoding->digits[(unsigned char)text[i] >> 4];
		out[3 * i + 2] = encoding->digits[text[i] & 15];
	}
	return (size_t)3 * CANARY_LENGTH;
}

static int digit_of(const struct encoding *encoding, char byte)
{
	const char *at = byte ? strchr(encoding->digits, byte) : NULL;

	return at ? (int)(at - encoding->digits) : 0;
}

static void decode_percent(const struct encoding *encoding, const char *bytes, size_t length, char *out)
{
	for (size_t i = 0; i < length; i += 3)
		out[i / 3] = (char)(digit_of(encoding, bytes[i + 1]) << 4 | digit_of(encoding, bytes[i + 2]));
}

/* The first bit of the canary that a digit begins with, where `offset` unknown bytes stand before it. Only digits all
 * of whose bits are the canary's are taken. */
static size_t first_bit(const struct encoding *encoding)
{
	size_t begin = (size_t)8 * encoding->offset;

	return (begin + encoding->bits - 1) / encoding->bits * encoding->bits - begin;
}

static size_t encode_digits(const struct encoding *encoding, const char *text, char *out)
{
	size_t length = 0;

	for (size_t bit = first_bit(encoding); bit + encoding->bits <= (size_t)8 * CANARY_LENGTH;
	     bit += encoding->bits) {
		unsigned value = 0;

		for (size_t i = bit; i < bit + encoding->bits; i++)
			value = value << 1 | ((unsigned char)text[i / 8] >> (7 - i % 8) & 1);
		out[length++] = encoding->digits[value];
	}
	return length;
}

static void decode_digits(const struct encoding *encoding, const char *bytes, size_t length, char *out)
{
	size_t bit = first_bit(encoding);

	for (size_t i = 0; i < length; i++) {
		int value = digit_of(encoding, bytes[i]);

		for (unsigned left = encoding->bits; left-- > 0; bit++) {
			unsigned char mask = (unsigned char)(0x80 >> bit % 8);

			out[bit / 8] = (char)(value >> left & 1 ? out[bit / 8] | mask : out[bit / 8] & ~mask);
		}
	}
}

#define LOWER "0123456789abcdef"
#define UPPER "0123456789ABCDEF"
#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define BASE32 "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

#define DIGITS(alphabet, width) .encode = encode_digits, .decode = decode_digits, .digits = (alphabet), .bits = (width)
#define PERCENT(alphabet) .encode = encode_percent, .decode = decode_percent, .digits = (alphabet)
#define UTF16 .encode = encode_utf16, .decode = decode_utf16

/* A canary's bits never make the values 62 and 63, so that its base64url is its base64. */
const struct encoding canary_encoding_rows[CANARY_ENCODINGS] = {
	{ .name = "raw", .encode = encode_raw, .decode = decode_raw },
	{ .name = "hex", DIGITS(LOWER, 4) },
	{ .name = "hex-upper", DIGITS(UPPER, 4) },
	{ .name = "percent", PERCENT(LOWER) },
	{ .name = "percent-upper", PERCENT(UPPER) },
	{ .name = "base64-0", DIGITS(ALPHANUMERIC "+/", 6), .offset = 0 },
	{ .name = "base64-1", DIGITS(ALPHANUMERIC "+/", 6), .offset = 1 },
	{ .name = "base64-2", DIGITS(ALPHANUMERIC "+/", 6), .offset = 2 },
	{ .name = "base64url-0", DIGITS(ALPHANUMERIC "-_", 6), .offset = 0, .again = true },
	{ .name = "base64url-1", DIGITS(ALPHANUMERIC "-_", 6), .offset = 1, .again = true },
	{ .name = "base64url-2", DIGITS(ALPHANUMERIC "-_", 6), .offset = 2, .again = true },
	{ .name = "base32-0", DIGITS(BASE32, 5), .offset = 0 },
	{ .name = "base32-1", DIGITS(BASE32, 5), .offset = 1 },
	{ .name = "base32-2", DIGITS(BASE32, 5), .offset = 2 },
	{ .name = "base32-3", DIGITS(BASE32, 5), .offset = 3 },
	{ .name = "base32-4", DIGITS(BASE32, 5), .offset = 4 },
	{ .name = "utf16le", UTF16 },
	{ .name = "utf16be", UTF16, .again = true },
	{ .name = "reversed", .encode = encode_reversed, .decode = decode_reversed },
};
