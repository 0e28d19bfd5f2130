/* An Aho-Corasick automaton, as a table of states, over what the encoded forms of all canaries have in common. */
#include <string.h>

#include "core/canary.h"
#include "core/canary_encodings.h"
#include "core/fd.h"

#define LEAST "canary-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define MOST "canary-pppppppppppppppppppppppppppppppp"

_Static_assert(CANARY_ENCODED_MAX <= CANARY_WINDOW && CANARY_ENCODED_MAX < 256, "a form fits the window and a byte");
_Static_assert(CANARY_STATES <= 256 && CANARY_CLASSES <= 256, "states and classes are bytes");
_Static_assert(CANARY_ENCODINGS <= 32, "a bit for each row");

/* What is the same in the form of every canary: at its start, or at its end where the text stands backwards. `a` and
 * `p` differ in the highest bit in which any two letters do, so two forms tell. */
struct shared {
	char form[CANARY_ENCODED_MAX];
	size_t length, begin, end;
};

static void share(const struct encoding *row, struct shared *out)
{
	char most[CANARY_ENCODED_MAX];

	out->length = row->encode(row, LEAST, out->form);
	(void)row->encode(row, MOST, most);
	out->begin = out->end = 0;
	while (out->end < out->length && out->form[out->end] == most[out->end])
		out->end++;
	if (out->end > 0)
		return;
	out->begin = out->end = out->length;
	while (out->begin > 0 && out->form[out->begin - 1] == most[out->begin - 1])
		out->begin--;
}

struct making {
	struct canary_finder *finder;
	size_t states, classes;
};

static uint8_t class_of(struct making *making, unsigned char byte)
{
	uint8_t *class = &making->finder->classes[byte];

	if (!*class && making->classes < CANARY_CLASSES)
		*class = (uint8_t)making->classes++;
	return *class;
}

static void add(struct making *making, size_t index)
{
	const struct encoding *row = &canary_encoding_rows[index];
	struct canary_finder *finder = making->finder;
	struct shared shared;
	size_t state = 0;

	share(row, &shared);
	finder->lengths[index] = (uint8_t)shared.length;
	finder->behind[index] = (uint8_t)(shared.length - shared.end);
	for (size_t i = shared.begin; i < shared.end; i++) {
		uint8_t *next = &finder->next[state][class_of(making, (unsigned char)shared.form[i])];

		if (!*next && making->states < CANARY_STATES)
			*next = (uint8_t)making->states++;
		state = *next;
	}
	finder->ends[state] |= (uint32_t)1 << index;
	finder->start = (uint8_t)shared.form[shared.begin];
	finder->starts_count += !finder->starts[finder->start];
	finder->starts[finder->start] = true;
}

/* Breadth first, so that the state that a state falls back to is complete: where it has no child, the fallback's child
 * takes its place. */
static void link_states(struct making *making)
{
	struct canary_finder *finder = making->finder;
	uint8_t queue[CANARY_STATES], fallback[CANARY_STATES] = { 0 };
	size_t head = 0, tail = 0;

	for (size_t class = 0; class < making->classes; class ++)
		if (finder->next[0][class])
			queue[tail++] = finder->next[0][class];
	while (head < tail) {
		size_t state = queue[head++];

		finder->ends[state] |= finder->ends[fallback[state]];
		for (size_t class = 0; class < making->classes; class ++) {
			uint8_t other = finder->next[fallback[state]][class];
			uint8_t *next = &finder->next[state][class];

			if (!*next) {
				*next = other;
				continue;
			}
			fallback[*next] = other;
			queue[tail++] = *next;
		}
	}
}

static void make(struct canary_finder *finder, bool encode)
{
	struct making making = { .finder = finder, .states = 1, .classes = 1 };

	for (size_t i = 0; i < (encode ? CANARY_ENCODINGS : 1); i++)
		if (!canary_encoding_rows[i].again)
			add(&making, i);
	link_states(&making);
	finder->made = true;
}

/* One call of canary_find(). */
struct finding {
	struct canary_finder *finder;
	const char *bytes;
	canary_found found;
	void *context;
};

/* The `length` bytes that end with byte `i`, some of which may be of calls before; NULL: so many there were not. */
static const char *window(const struct finding *finding, size_t i, size_t length, char out[CANARY_WINDOW])
{
	const struct canary_finder *finder = finding->finder;
	size_t old = i + 1 < length ? length - (i + 1) : 0;

	if (!old)
		return finding->bytes + i + 1 - length;
	if (old > finder->last_length)
		return NULL;
	memcpy(out, finder->last + finder->last_length - old, old);
	memcpy(out + old, finding->bytes, length - old);
	return out;
}

/* Whether the bytes are a canary's form is decided by encoding what they say once more. */
static void settle(const struct finding *finding, size_t index, size_t i)
{
	const struct encoding *row = &canary_encoding_rows[index];
	size_t length = finding->finder->lengths[index];
	char room[CANARY_WINDOW], again[CANARY_ENCODED_MAX];
	const char *bytes = window(finding, i, length, room);
	struct canary canary = { .text = LEAST };

	if (!bytes)
		return;
	row->decode(row, bytes, length, canary.text);
	canary.text[CANARY_LENGTH] = '\0';
	for (int letter = 'a'; letter <= 'p'; letter++) {
		canary.text[CANARY_LENGTH - 1] = (char)letter;
		if (canary_valid(canary.text, CANARY_LENGTH) && row->encode(row, canary.text, again) == length &&
		    memcmp(again, bytes, length) == 0)
			finding->found(finding->context, &canary);
	}
}

static void settle_due(const struct finding *finding, size_t i)
{
	uint32_t *due = &finding->finder->due[finding->finder->at];

	for (size_t row = 0; row < CANARY_ENCODINGS; row++)
		if (*due >> row & 1) {
			finding->finder->waiting--;
			settle(finding, row, i);
		}
	*due = 0;
}

static void take_ends(const struct finding *finding, uint32_t ends)
{
	struct canary_finder *finder = finding->finder;

	for (size_t row = 0; row < CANARY_ENCODINGS; row++)
		if (ends >> row & 1) {
			finder->due[(uint8_t)(finder->at + finder->behind[row])] |= (uint32_t)1 << row;
			finder->waiting++;
		}
}

/* The first byte from `i` on that begins something, or `length`. */
static size_t skip(const struct canary_finder *finder, const char *bytes, size_t i, size_t length)
{
	if (finder->starts_count == 1) {
		const char *found = memchr(bytes + i, finder->start, length - i);

		return found ? (size_t)(found - bytes) : length;
	}
	while (i < length && !finder->starts[(unsigned char)bytes[i]])
		i++;
	return i;
}

static void keep_last(struct canary_finder *finder, const char *bytes, size_t length)
{
	size_t old = finder->last_length;

	if (length >= CANARY_WINDOW) {
		bytes += length - CANARY_WINDOW;
		length = CANARY_WINDOW;
	}
	if (old > CANARY_WINDOW - length)
		old = CANARY_WINDOW - length;
	memmove(finder->last, finder->last + finder->last_length - old, old);
	memcpy(finder->last + old, bytes, length);
	finder->last_length = old + length;
}

void canary_find(struct canary_finder *finder, bool encode, const void *bytes, size_t length, canary_found found,
		 void *context)
{
	const struct finding finding = { .finder = finder, .bytes = bytes, .found = found, .context = context };
	const unsigned char *byte = bytes;
	uint8_t state;

	if (!length)
		return;
	if (!finder->made)
		make(finder, encode);
	state = finder->state;
	for (size_t i = 0; i < length; i++) {
		if (!state && !finder->waiting) {
			size_t to = skip(finder, bytes, i, length);

			finder->at = (uint8_t)(finder->at + (to - i));
			i = to;
			if (i == length)
				break;
		}
		state = finder->next[state][finder->classes[byte[i]]];
		finder->at++;
		if (finder->ends[state])
			take_ends(&finding, finder->ends[state]);
		if (finder->waiting && finder->due[finder->at])
			settle_due(&finding, i);
	}
	finder->state = state;
	keep_last(finder, bytes, length);
}

void canary_find_reset(struct canary_finder *finder)
{
	finder->state = 0;
	finder->last_length = 0;
	if (finder->waiting)
		memset(finder->due, 0, sizeof(finder->due));
	finder->waiting = 0;
}
