#include "reports/verify_elements.h"

enum state { IN_BEGIN, FIRST, NEXT, IN_ELEMENT, BEHIND, IN_END, WHOLE };

static bool take_frame(struct elements *elements, const char *frame, char byte, enum state then)
{
	if (frame[elements->at] != byte)
		return false;
	if (!frame[++elements->at]) {
		elements->at = 0;
		elements->state = then;
	}
	return true;
}

/* The bracket that closes the array is the first byte of the end. */
static bool take_close(struct elements *elements, char byte)
{
	if (byte != ']')
		return false;
	elements->at = 1;
	elements->state = !elements->end || !elements->end[1] ? WHOLE : IN_END;
	return true;
}

static int take_part(struct elements *elements, char byte, struct error **err)
{
	if (buf_add(&elements->element, &byte, 1) < 0)
		return buf_check(&elements->element, "an element", err);
	if (elements->in_string) {
		elements->in_string = elements->escaped || byte != '"';
		elements->escaped = !elements->escaped && byte == '\\';
		return 0;
	}
	elements->in_string = byte == '"';
	elements->depth += byte == '{' || byte == '[';
	elements->depth -= byte == '}' || byte == ']';
	if (elements->depth > 0)
		return 0;
	elements->state = BEHIND;
	return elements->take(elements->context, buf_string(&elements->element), elements->element.length, err);
}

static bool begin_element(struct elements *elements, char byte)
{
	if (byte != '{')
		return false;
	elements->element.length = 0;
	elements->state = IN_ELEMENT;
	return true;
}

/* What is between elements. */
static bool take_between(struct elements *elements, char byte)
{
	switch ((enum state)elements->state) {
	case IN_BEGIN:
		return take_frame(elements, elements->begin, byte, FIRST);
	case FIRST:
		return begin_element(elements, byte) || take_close(elements, byte);
	case NEXT:
		return begin_element(elements, byte);
	case BEHIND:
		if (byte != ',')
			return take_close(elements, byte);
		elements->state = NEXT;
		return true;
	case IN_END:
		return take_frame(elements, elements->end, byte, WHOLE);
	case WHOLE:
		return !elements->end;
	case IN_ELEMENT:
		break;
	}
	return true;
}

int elements_feed(struct elements *elements, const void *bytes, size_t length, struct error **err)
{
	const char *byte = bytes;

	for (size_t i = 0; i < length && !elements->broken; i++) {
		int result;

		if (elements->state != IN_ELEMENT && !take_between(elements, byte[i]))
			elements->broken = true;
		if (elements->state != IN_ELEMENT)
			continue;
		result = take_part(elements, byte[i], err);
		if (result < 0)
			return result;
	}
	return 0;
}

bool elements_whole(const struct elements *elements)
{
	return !elements->broken && elements->state == WHOLE;
}

void elements_free(struct elements *elements)
{
	buf_free(&elements->element);
}
