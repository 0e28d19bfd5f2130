/* UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF. */
#ifndef HARNESS_CORE_UTF8_H
#define HARNESS_CORE_UTF8_H

#include <stddef.h>

/* Bytes of the sequence at `text` (1 to 4), or 0 when what stands there within `length` is none. */
static inline size_t utf8_sequence(const char *text, size_t length)
{
	const unsigned char *byte = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (!length)
		return 0;
	if (byte[0] < 0x80)
		return 1;
	if (byte[0] >= 0xc2 && byte[0] <= 0xdf)
		need = 2;
	else if (byte[0] >= 0xe0 && byte[0] <= 0xef)
		need = 3;
	else if (byte[0] >= 0xf0 && byte[0] <= 0xf4)
		need = 4;
	else
		return 0;
	if (length < need)
		return 0;
	/* The second byte's range is what keeps overlong forms, surrogates and U+110000 out. */
	if (byte[0] == 0xe0)
		low = 0xa0;
	else if (byte[0] == 0xed)
		high = 0x9f;
	else if (byte[0] == 0xf0)
		low = 0x90;
	else if (byte[0] == 0xf4)
		high = 0x8f;
	if (byte[1] < low || byte[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	}
	return need;
}

#endif
