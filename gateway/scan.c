#include "gateway/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/error.h"

/* One pattern: whether it matches somewhere in the text. */
struct pattern {
	const char *id;
	bool (*matches)(const char *text, size_t length);
};

static const struct pattern argument_patterns[6], response_patterns[9];

/* ---- pieces ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
	return is_digit(c) || is_letter(c) || c == '_';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t run(const char *text, size_t length, bool (*of)(char))
{
	size_t count = 0;

	while (count < length && of(text[count]))
		count++;
	return count;
}

static bool has(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

static const char *find_any_case(const char *text, size_t length, const char *part)
{
	size_t size = strlen(part);

	for (size_t i = 0; i + size <= length; i++)
		if (strncasecmp(text + i, part, size) == 0)
			return text + i;
	return NULL;
}

/* Groups of digits at word boundaries, the first beginning with `first` (0: any digit). Between two stands a hyphen, or
 * where `bare` says so nothing or a space as well. */
static bool has_digits(const char *text, size_t length, const size_t *groups, bool bare, char first)
{
	for (size_t i = 0; i < length; i++) {
		size_t at = i;
		bool whole = (first ? text[i] == first : is_digit(text[i])) && (i == 0 || !is_word(text[i - 1]));

		for (size_t group = 0; groups[group] && whole; group++) {
			bool apart = group && at < length && (text[at] == '-' || (bare && text[at] == ' '));

			whole = group == 0 || apart || bare;
			at += apart;
			for (size_t k = 0; k < groups[group] && whole; k++, at++)
				whole = at < length && is_digit(text[at]);
		}
		if (whole && (at == length || !is_word(text[at])))
			return true;
	}
	return false;
}

/* ---- patterns ---- */

static bool is_social_security_number(const char *text, size_t length)
{
	static const size_t groups[] = { 3, 2, 4, 0 };

	return has_digits(text, length, groups, false, 0);
}

static bool is_sixteen_digits(const char *text, size_t length)
{
	static const size_t groups[] = { 4, 4, 4, 4, 0 };

	return has_digits(text, length, groups, true, 0);
}

static bool is_card(const char *text, size_t length)
{
	static const size_t groups[] = { 4, 4, 4, 4, 0 };

	return has_digits(text, length, groups, true, '4') || has_digits(text, length, groups, true, '5');
}

static bool is_removal(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		size_t at = i + 1;

		if (text[i] != ';')
			continue;
		at += run(text + at, length - at, is_space);
		if (at + 2 <= length && memcmp(text + at, "rm", 2) == 0 && (at + 2 == length || !is_word(text[at + 2])))
			return true;
	}
	return false;
}

static bool is_substitution(const char *text, size_t length)
{
	const char *start = memmem(text, length, "$(", 2);

	return start && memchr(start, ')', length - (size_t)(start - text));
}

static bool is_backticks(const char *text, size_t length)
{
	const char *start = memchr(text, '`', length), *next = start;

	/* Two beside each other hold nothing, but the second may begin something. */
	while (next && next == start) {
		size_t rest = length - (size_t)(start - text) - 1;

		next = memchr(start + 1, '`', rest);
		start += next == start + 1;
	}
	return next != NULL;
}

static bool is_local(char c)
{
	return is_word(c) || c == '.' || c == '+' || c == '-' || c == '%';
}

static bool is_domain(char c)
{
	return (is_word(c) && c != '_') || c == '.' || c == '-';
}

static bool is_mail(const char *text, size_t length)
{
	for (size_t i = 1; i + 1 < length; i++) {
		size_t domain;

		if (text[i] != '@' || !is_local(text[i - 1]))
			continue;
		domain = run(text + i + 1, length - i - 1, is_domain);
		for (size_t dot = i + 2; dot < i + 1 + domain; dot++)
			if (text[dot] == '.' && run(text + dot + 1, length - dot - 1, is_letter) >= 2)
				return true;
	}
	return false;
}

/* A prefix with at least so many word characters behind it. */
static bool has_key(const char *text, size_t length, const char *prefix, size_t least)
{
	size_t size = strlen(prefix);

	for (size_t i = 0; i + size <= length; i++)
		if (memcmp(text + i, prefix, size) == 0 && (i == 0 || !is_word(text[i - 1])) &&
		    run(text + i + size, length - i - size, is_word) >= least)
			return true;
	return false;
}

static bool is_cloud_key(const char *text, size_t length)
{
	return has_key(text, length, "AKIA", 16);
}

static bool is_service_token(const char *text, size_t length)
{
	static const char *const prefixes[] = { "ghp_", "gho_", "ghu_", "ghs_", "ghr_", NULL };

	for (const char *const *prefix = prefixes; *prefix; prefix++)
		if (has_key(text, length, *prefix, 20))
			return true;
	return has_key(text, length, "sk-", 20);
}

static bool is_private_key(const char *text, size_t length)
{
	return has(text, length, "PRIVATE KEY-----");
}

static bool is_instruction(const char *text, size_t length)
{
	return find_any_case(text, length, "ignore previous instructions") ||
	       find_any_case(text, length, "ignore all previous instructions");
}

static bool is_url_character(char c)
{
	return c > ' ' && c != '"' && c != '\'' && c != '<' && c != '>' && c != 0x7f;
}

static bool is_carrying_url(const char *text, size_t length)
{
	static const char *const words[] = { "token", "data", "payload", "upload", "secret", NULL };

	/* What stands within a URL was looked at with it. */
	for (size_t i = 0, size = 0; i < length; i += size ? size : 1) {
		size_t rest = length - i;

		size = 0;

		if (rest < 8 || (strncasecmp(text + i, "http://", 7) != 0 && strncasecmp(text + i, "https://", 8) != 0))
			continue;
		size = run(text + i, rest, is_url_character);
		for (const char *const *word = words; *word; word++)
			if (find_any_case(text + i, size, *word))
				return true;
	}
	return false;
}

/* ---- over a value ---- */

static const char *scan_text(const struct pattern *patterns, const char *text, size_t length)
{
	for (; patterns->id; patterns++)
		if (patterns->matches(text, length))
			return patterns->id;
	return NULL;
}

/* The parser has bounded the depth. */
static const char *scan(const struct pattern *patterns, const struct json_node *node)
{
	const char *key = json_key(node), *found = key ? scan_text(patterns, key, strlen(key)) : NULL;
	struct json_span raw = json_raw(node);

	if (!found && json_type(node) == JSON_STRING)
		found = scan_text(patterns, json_string(node), json_string_length(node));
	else if (!found && json_type(node) == JSON_NUMBER)
		found = scan_text(patterns, raw.bytes, raw.length);
	for (const struct json_node *child = json_first(node); child && !found; child = json_next(child))
		found = scan(patterns, child);
	return found;
}

const char *scan_arguments(const struct json_node *arguments)
{
	return arguments ? scan(argument_patterns, arguments) : NULL;
}

const char *scan_response(const struct json_node *result)
{
	return result ? scan(response_patterns, result) : NULL;
}

static const struct pattern argument_patterns[] = {
	{ .id = "ssn", .matches = is_social_security_number },
	{ .id = "digits", .matches = is_sixteen_digits },
	{ .id = "removal", .matches = is_removal },
	{ .id = "substitution", .matches = is_substitution },
	{ .id = "backticks", .matches = is_backticks },
	{ .id = NULL },
};

static const struct pattern response_patterns[] = {
	{ .id = "mail", .matches = is_mail },
	{ .id = "ssn", .matches = is_social_security_number },
	{ .id = "card", .matches = is_card },
	{ .id = "cloud-key", .matches = is_cloud_key },
	{ .id = "service-token", .matches = is_service_token },
	{ .id = "private-key", .matches = is_private_key },
	{ .id = "instruction", .matches = is_instruction },
	{ .id = "url", .matches = is_carrying_url },
	{ .id = NULL },
};
