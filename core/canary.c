/* Canaries, the table of encodings, and an Aho-Corasick automaton over the encoded set. */
#include "core/canary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/fd.h"

#define PREFIX "canary-"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)
#define RANDOM_BYTES 16
#define ENCODED_MAX (2 * CANARY_LENGTH)
#define SET_MAX 4096

_Static_assert(PREFIX_LENGTH + 2 * RANDOM_BYTES == CANARY_LENGTH, "a canary is its prefix and two letters a byte");

struct encoding {
	const char *name;
	/* Writes the encoded form, at most ENCODED_MAX bytes, without a NUL; returns its length. */
	size_t (*encode)(const struct encoding *encoding, const char *text, char *out);
	const char *digits;
	size_t offset;
};

#define ENCODINGS 8
static const struct encoding encodings[ENCODINGS];

/* Few nodes have more than one child, so children are a list; the root, where nearly all bytes end, has a table. */
struct node {
	uint32_t child;
	uint32_t sibling;
	uint32_t fallback; /* the longest proper suffix that is in the trie */
	uint32_t pattern; /* 1 + the canary's index; 0: no pattern ends here */
	unsigned char byte;
};

struct canary_scanner {
	uint32_t state;
	uint32_t first[256]; /* children of the root */
	unsigned starts; /* how many there are, */
	unsigned char start; /* and the byte of the latest */
	uint32_t count;
	struct node nodes[];
};

int canary_new(struct canary *out, struct error **err)
{
	unsigned char bytes[RANDOM_BYTES];
	size_t filled = 0;

	while (filled < sizeof(bytes)) {
		ssize_t got = getrandom(bytes + filled, sizeof(bytes) - filled, 0);

		if (got < 0 && errno != EINTR)
			return error_errno(err, errno, "getrandom");
		if (got > 0)
			filled += (size_t)got;
	}
	memcpy(out->text, PREFIX, PREFIX_LENGTH);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		out->text[PREFIX_LENGTH + 2 * i] = (char)('a' + (bytes[i] >> 4));
		out->text[PREFIX_LENGTH + 2 * i + 1] = (char)('a' + (bytes[i] & 15));
	}
	out->text[CANARY_LENGTH] = '\0';
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

bool canary_valid(const char *text, size_t length)
{
	if (length != CANARY_LENGTH || memcmp(text, PREFIX, PREFIX_LENGTH) != 0)
		return false;
	for (size_t i = PREFIX_LENGTH; i < length; i++) {
		if (text[i] < 'a' || text[i] > 'p')
			return false;
	}
	return true;
}

size_t canary_encodings(void)
{
	return ENCODINGS;
}

const char *canary_encoding_name(size_t index)
{
	return index < ENCODINGS ? encodings[index].name : NULL;
}

static uint32_t child_of(const struct canary_scanner *scanner, uint32_t state, unsigned char byte)
{
	uint32_t child;

	if (!state)
		return scanner->first[byte];
	child = scanner->nodes[state].child;
	while (child && scanner->nodes[child].byte != byte)
		child = scanner->nodes[child].sibling;
	return child;
}

static uint32_t step(const struct canary_scanner *scanner, uint32_t state, unsigned char byte)
{
	uint32_t child = child_of(scanner, state, byte);

	while (!child && state) {
		state = scanner->nodes[state].fallback;
		child = child_of(scanner, state, byte);
	}
	return child;
}

static uint32_t add_child(struct canary_scanner *scanner, uint32_t state, unsigned char byte)
{
	uint32_t child = scanner->count++;
	struct node *node = &scanner->nodes[child];

	*node = (struct node){ .byte = byte };
	if (!state) {
		scanner->first[byte] = child;
		scanner->starts++;
		scanner->start = byte;
		return child;
	}
	node->sibling = scanner->nodes[state].child;
	scanner->nodes[state].child = child;
	return child;
}

static int add_pattern(struct canary_scanner *scanner, const char *bytes, size_t length, size_t canary,
		       struct error **err)
{
	uint32_t state = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		uint32_t child = child_of(scanner, state, byte);

		state = child ? child : add_child(scanner, state, byte);
	}
	if (scanner->nodes[state].pattern)
		return error_set(err, ERROR_INTERNAL, "canaries %u and %zu of a set are the same",
				 scanner->nodes[state].pattern - 1, canary);
	scanner->nodes[state].pattern = (uint32_t)canary + 1;
	return 0;
}

/* Sets the fallback of `child`, a child of `parent` which has its own already. No encoded canary stands inside another
 * one: if a new row of the table broke that, hits would be lost, so it is refused. */
static int link_child(struct canary_scanner *scanner, uint32_t parent, uint32_t child, struct error **err)
{
	struct node *node = &scanner->nodes[child];

	node->fallback = step(scanner, scanner->nodes[parent].fallback, node->byte);
	if (scanner->nodes[node->fallback].pattern)
		return error_set(err, ERROR_INTERNAL, "an encoded canary stands inside another one");
	return 0;
}

/* Breadth first: a fallback is always nearer to the root. */
static int link_nodes(struct canary_scanner *scanner, struct error **err)
{
	cleanup_free uint32_t *queue = calloc(scanner->count, sizeof(*queue));
	size_t head = 0, tail = 0;
	int result = 0;

	if (!queue)
		return error_set(err, ERROR_MEMORY, "no memory for a canary scanner");
	for (size_t byte = 0; byte < ARRAY_SIZE(scanner->first); byte++) {
		if (scanner->first[byte])
			queue[tail++] = scanner->first[byte];
	}
	while (result == 0 && head < tail) {
		uint32_t parent = queue[head++];
		uint32_t child = scanner->nodes[parent].child;

		for (; result == 0 && child; child = scanner->nodes[child].sibling) {
			result = link_child(scanner, parent, child, err);
			queue[tail++] = child;
		}
	}
	return result;
}

int canary_scanner_new(const struct canary *set, size_t count, bool encode, struct canary_scanner **out,
		       struct error **err)
{
	cleanup_canary_scanner struct canary_scanner *scanner = NULL;
	size_t rows = encode ? ENCODINGS : 1;
	size_t capacity;
	char encoded[ENCODED_MAX];
	int result = 0;

	if (count > SET_MAX)
		return error_set(err, ERROR_LIMIT, "%zu canaries in a set of at most %d", count, SET_MAX);
	capacity = 1 + count * rows * ENCODED_MAX;
	scanner = calloc(1, sizeof(*scanner) + capacity * sizeof(scanner->nodes[0]));
	if (!scanner)
		return error_set(err, ERROR_MEMORY, "no memory for a canary scanner");
	scanner->count = 1;
	for (size_t i = 0; result == 0 && i < count; i++) {
		if (!canary_valid(set[i].text, strnlen(set[i].text, sizeof(set[i].text))))
			result = error_set(err, ERROR_INTERNAL, "canary %zu of a set is none", i);
		for (size_t row = 0; result == 0 && row < rows; row++) {
			size_t length = encodings[row].encode(&encodings[row], set[i].text, encoded);

			result = add_pattern(scanner, encoded, length, i, err);
		}
	}
	explicit_bzero(encoded, sizeof(encoded));
	if (result == 0)
		result = link_nodes(scanner, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&scanner);
	return 0;
}

/* At the root nearly every byte leads back to it: the first one from `i` on that does not, or `length`. */
static size_t skip(const struct canary_scanner *scanner, const unsigned char *byte, size_t i, size_t length)
{
	if (scanner->starts == 1) {
		const unsigned char *found = memchr(byte + i, scanner->start, length - i);

		return found ? (size_t)(found - byte) : length;
	}
	while (i < length && !scanner->first[byte[i]])
		i++;
	return i;
}

void canary_scanner_feed(struct canary_scanner *scanner, const void *bytes, size_t length, uint64_t *hits)
{
	const unsigned char *byte = bytes;
	uint32_t state = scanner->state;

	for (size_t i = 0; i < length; i++) {
		if (!state)
			i = skip(scanner, byte, i, length);
		if (i == length)
			break;
		state = step(scanner, state, byte[i]);
		if (scanner->nodes[state].pattern)
			hits[scanner->nodes[state].pattern - 1]++;
	}
	scanner->state = state;
}

void canary_scanner_reset(struct canary_scanner *scanner)
{
	scanner->state = 0;
}

void canary_scanner_free(struct canary_scanner *scanner)
{
	if (!scanner)
		return;
	explicit_bzero(scanner->nodes, scanner->count * sizeof(scanner->nodes[0]));
	explicit_bzero(scanner->first, sizeof(scanner->first));
	free(scanner);
}

static size_t encode_raw(const struct encoding *encoding, const char *text, char *out)
{
	(void)encoding;
	memcpy(out, text, CANARY_LENGTH);
	return CANARY_LENGTH;
}

static size_t encode_hex(const struct encoding *encoding, const char *text, char *out)
{
	for (size_t i = 0; i < CANARY_LENGTH; i++) {
		out[2 * i] = encoding->digits[(unsigned char)text[i] >> 4];
		out[2 * i + 1] = encoding->digits[text[i] & 15];
	}
	return (size_t)2 * CANARY_LENGTH;
}

/* `offset` unknown bytes stand before the canary; only characters whose six bits all are the canary's are taken. */
static size_t encode_base64(const struct encoding *encoding, const char *text, char *out)
{
	size_t begin = 8 * encoding->offset;
	size_t end = begin + (size_t)8 * CANARY_LENGTH;
	size_t length = 0;

	for (size_t bit = (begin + 5) / 6 * 6; bit + 6 <= end; bit += 6) {
		unsigned value = 0;

		for (size_t i = bit - begin; i < bit - begin + 6; i++)
			value = value << 1 | ((unsigned char)text[i / 8] >> (7 - i % 8) & 1);
		out[length++] = encoding->digits[value];
	}
	return length;
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

static size_t encode_reversed(const struct encoding *encoding, const char *text, char *out)
{
	(void)encoding;
	for (size_t i = 0; i < CANARY_LENGTH; i++)
		out[i] = text[CANARY_LENGTH - 1 - i];
	return CANARY_LENGTH;
}

/* A canary's bits never make the values 62 and 63, so base64url is the same text. */
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

static const struct encoding encodings[] = {
	{ .name = "raw", .encode = encode_raw },
	{ .name = "hex", .encode = encode_hex, .digits = "0123456789abcdef" },
	{ .name = "hex-upper", .encode = encode_hex, .digits = "0123456789ABCDEF" },
	{ .name = "base64-0", .encode = encode_base64, .digits = BASE64, .offset = 0 },
	{ .name = "base64-1", .encode = encode_base64, .digits = BASE64, .offset = 1 },
	{ .name = "base64-2", .encode = encode_base64, .digits = BASE64, .offset = 2 },
	{ .name = "utf16", .encode = encode_utf16 },
	{ .name = "reversed", .encode = encode_reversed },
};

_Static_assert(ARRAY_SIZE(encodings) == ENCODINGS, "ENCODINGS counts the rows");
