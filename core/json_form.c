#include "core/json_form.h"

#include <string.h>

#define SAFE_INTEGER ((UINT64_C(1) << 53) - 1)
#define DIGITS_MAX 16

enum state { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, STRING, NUMBER, LITERAL, BEHIND };

static bool refuse(struct json_form *form, const char *why)
{
	form->why = why;
	return false;
}

void json_form_begin(struct json_form *form, size_t max_depth)
{
	*form = (struct json_form){ .state = VALUE,
				    .max_depth = max_depth < JSON_FORM_DEPTH ? max_depth : JSON_FORM_DEPTH };
}

static bool open_container(struct json_form *form, bool object)
{
	if (form->depth >= form->max_depth)
		return refuse(form, "nested too deeply");
	form->depth++;
	form->object[form->depth] = object;
	form->keys[form->depth].any = false;
	form->state = object ? KEY_OR_END : VALUE_OR_END;
	return true;
}

static bool close_container(struct json_form *form, bool object)
{
	if (form->depth == 0 || form->object[form->depth] != object)
		return refuse(form, "a bracket that closes nothing");
	form->depth--;
	form->state = BEHIND;
	return true;
}

/* ---- strings ---- */

static bool begin_string(struct json_form *form, bool in_key)
{
	form->state = STRING;
	form->in_key = in_key;
	form->length = 0;
	form->key.length = 0;
	return true;
}

static unsigned utf16_rank(unsigned char byte)
{
	return byte == 0xee || byte == 0xef ? byte + 0x10u : byte;
}

/* As json_canonical() sorts. */
static int compare_keys(const struct json_form_key *one, const struct json_form_key *other)
{
	for (size_t i = 0; i < one->length && i < other->length; i++) {
		unsigned a = utf16_rank((unsigned char)one->text[i]), b = utf16_rank((unsigned char)other->text[i]);

		if (a != b)
			return a < b ? -1 : 1;
	}
	return (one->length > other->length) - (one->length < other->length);
}

static bool end_key(struct json_form *form)
{
	struct json_form_key *last = &form->keys[form->depth];
	int order = last->any ? compare_keys(last, &form->key) : -1;

	if (order == 0)
		return refuse(form, "a key twice");
	if (order > 0)
		return refuse(form, "keys in another order");
	*last = form->key;
	last->any = true;
	form->state = COLON;
	return true;
}

static bool end_string(struct json_form *form)
{
	if (form->length > JSON_FORM_TEXT)
		form->foreign = true;
	if (form->in_key)
		return end_key(form);
	form->state = BEHIND;
	return true;
}

/* One byte of the decoded string. */
static bool add_byte(struct json_form *form, unsigned char byte)
{
	form->length++;
	if (byte < ' ' || byte > '~')
		form->foreign = true;
	if (!form->in_key)
		return true;
	if (form->key.length == JSON_FORM_TEXT)
		return refuse(form, "a key that is too long");
	form->key.text[form->key.length++] = (char)byte;
	return true;
}

/* Behind the backslash: the short forms alone, and \u00xx where there is none. */
static bool take_escape(struct json_form *form, unsigned char byte)
{
	static const char letters[] = "\"\\bfnrt", bytes[] = "\"\\\b\f\n\r\t";
	const char *found;

	if (form->escape == 1) {
		found = byte ? memchr(letters, byte, sizeof(letters) - 1) : NULL;
		form->escape = byte == 'u' ? 2 : 0;
		form->unit = 0;
		if (byte == 'u')
			return true;
		return found ? add_byte(form, (unsigned char)bytes[found - letters])
			     : refuse(form, "an escape that is not canonical");
	}
	if (!((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f')))
		return refuse(form, "an escape that is not canonical");
	form->unit = form->unit * 16 + (unsigned)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
	if (++form->escape <= 5)
		return true;
	form->escape = 0;
	if (form->unit == 0 || form->unit >= ' ' || memchr("\b\f\n\r\t", (int)form->unit, 5))
		return refuse(form, "an escape that is not canonical");
	return add_byte(form, (unsigned char)form->unit);
}

static bool take_lead(struct json_form *form, unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return refuse(form, "invalid UTF-8");
	form->pending = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	form->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	form->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	return add_byte(form, byte);
}

static bool take_text(struct json_form *form, unsigned char byte)
{
	if (form->escape)
		return take_escape(form, byte);
	if (form->pending) {
		if (byte < form->low || byte > form->high)
			return refuse(form, "invalid UTF-8");
		form->pending--;
		form->low = 0x80;
		form->high = 0xbf;
		return add_byte(form, byte);
	}
	if (byte == '"')
		return end_string(form);
	if (byte == '\\') {
		form->escape = 1;
		return true;
	}
	if (byte < ' ')
		return refuse(form, "a control character in a string");
	return byte < 0x80 ? add_byte(form, byte) : take_lead(form, byte);
}

/* ---- numbers and literals ---- */

static bool end_number(struct json_form *form)
{
	if (form->digits == 0)
		return refuse(form, "a number without digits");
	if (form->number > SAFE_INTEGER)
		return refuse(form, "a number without a canonical form");
	if (form->number == 0 && form->negative)
		return refuse(form, "a number that is not canonical");
	form->state = BEHIND;
	return true;
}

static bool take_digit(struct json_form *form, unsigned char byte)
{
	if (form->digits == DIGITS_MAX || (form->digits > 0 && form->number == 0))
		return refuse(form, "a number that is not canonical");
	form->digits++;
	form->number = form->number * 10 + (uint64_t)(byte - '0');
	return true;
}

static bool begin_number(struct json_form *form, unsigned char byte)
{
	form->state = NUMBER;
	form->negative = byte == '-';
	form->digits = 0;
	form->number = 0;
	return form->negative || take_digit(form, byte);
}

static bool begin_literal(struct json_form *form, const char *rest)
{
	form->state = LITERAL;
	form->literal = rest;
	return true;
}

static bool take_literal(struct json_form *form, unsigned char byte)
{
	if ((unsigned char)*form->literal != byte)
		return refuse(form, "what is no value");
	if (!*++form->literal)
		form->state = BEHIND;
	return true;
}

/* ---- between values ---- */

static bool begin_value(struct json_form *form, unsigned char byte)
{
	form->values++;
	switch (byte) {
	case '{':
		return open_container(form, true);
	case '[':
		return open_container(form, false);
	case '"':
		return begin_string(form, false);
	case 't':
		return begin_literal(form, "rue");
	case 'f':
		return begin_literal(form, "alse");
	case 'n':
		return begin_literal(form, "ull");
	default:
		if (byte == '-' || (byte >= '0' && byte <= '9'))
			return begin_number(form, byte);
		return refuse(form, "what is no value");
	}
}

static bool take_behind(struct json_form *form, unsigned char byte)
{
	if (form->depth == 0)
		return refuse(form, "bytes behind the value");
	if (byte == '}' || byte == ']')
		return close_container(form, byte == '}');
	if (byte != ',')
		return refuse(form, "what is no comma and no end");
	form->state = form->object[form->depth] ? KEY : VALUE;
	return true;
}

static bool take(struct json_form *form, unsigned char byte)
{
	switch ((enum state)form->state) {
	case VALUE_OR_END:
		if (byte == ']')
			return close_container(form, false);
		return begin_value(form, byte);
	case VALUE:
		return begin_value(form, byte);
	case KEY_OR_END:
		if (byte == '}')
			return close_container(form, true);
		return byte == '"' ? begin_string(form, true) : refuse(form, "what is no key");
	case KEY:
		return byte == '"' ? begin_string(form, true) : refuse(form, "what is no key");
	case COLON:
		form->state = VALUE;
		return byte == ':' || refuse(form, "a key without a colon");
	case STRING:
		return take_text(form, byte);
	case NUMBER:
		if (byte >= '0' && byte <= '9')
			return take_digit(form, byte);
		return end_number(form) && take_behind(form, byte);
	case LITERAL:
		return take_literal(form, byte);
	case BEHIND:
		break;
	}
	return take_behind(form, byte);
}

bool json_form_feed(struct json_form *form, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length && !form->why; i++)
		if (take(form, byte[i]))
			form->at++;
	return !form->why;
}

bool json_form_end(struct json_form *form)
{
	if (form->why)
		return false;
	if (form->state == NUMBER && !end_number(form))
		return false;
	return (form->state == BEHIND && form->depth == 0) || refuse(form, "it is cut");
}
