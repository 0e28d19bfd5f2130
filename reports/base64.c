#include "reports/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *bytes, size_t length, struct buf *out)
{
	const unsigned char *at = bytes;

	for (; length > 0; at += 3) {
		size_t taken = length < 3 ? length : 3;
		uint32_t word =
			(uint32_t)at[0] << 16 | (taken > 1 ? (uint32_t)at[1] << 8 : 0) | (taken > 2 ? at[2] : 0);
		char four[4] = { digits[word >> 18], digits[word >> 12 & 63], digits[word >> 6 & 63],
				 digits[word & 63] };

		if (taken < 3)
			four[3] = '=';
		if (taken < 2)
			four[2] = '=';
		(void)buf_add(out, four, sizeof(four));
		length -= taken;
	}
}

static int digit(char letter)
{
	const char *at = letter ? strchr(digits, letter) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Four digits, of which the last ones may be "=" where `last`; negative when they are none. */
static int decode_four(const char *four, bool last, struct buf *out)
{
	size_t padding = !last || four[3] != '=' ? 0 : four[2] != '=' ? 1 : 2;
	uint32_t word = 0;
	unsigned char three[3];

	for (size_t i = 0; i < 4; i++) {
		int value = i >= 4 - padding ? 0 : digit(four[i]);

		if (value < 0)
			return -1;
		word = word << 6 | (uint32_t)value;
	}
	if ((padding == 1 && (word & 0xff)) || (padding == 2 && (word & 0xffff)))
		return -1;
	three[0] = (unsigned char)(word >> 16);
	three[1] = (unsigned char)(word >> 8);
	three[2] = (unsigned char)word;
	(void)buf_add(out, three, 3 - padding);
	return 0;
}

int base64_decode(const char *text, size_t length, struct buf *out, struct error **err)
{
	if (memchr(text, '-', length) || memchr(text, '_', length))
		return error_set(err, ERROR_INPUT, "in the URL-safe alphabet of base64, not the standard one");
	if (length % 4 != 0)
		return error_set(err, ERROR_INPUT, "no whole base64: a cut group or no padding");
	for (size_t i = 0; i < length; i += 4)
		if (decode_four(text + i, i + 4 == length, out) < 0)
			return error_set(err, ERROR_INPUT, "no base64, at offset %zu", i);
	return buf_check(out, "what base64 holds", err);
}
