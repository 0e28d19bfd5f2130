/*
 * The canonical form that the reference gateway hashes: what Python's json.dumps(value, sort_keys=True,
 * separators=(",", ":"), ensure_ascii=True) makes of the value that json.loads gives. Keys by code point, everything
 * outside printable ASCII as \u and lower-case digits, integers of any size as they are, other numbers as repr() of the
 * nearest double. core/json.h has RFC 8785, which differs in all four.
 *
 * What our strict reader refuses has no form here, though Python would take it: duplicate keys, lone surrogates, NUL,
 * NaN. Neither has a number beyond the doubles, nor an integer of more than 4300 digits, which Python refuses.
 */
#ifndef HARNESS_CORE_JSON_PYTHON_H
#define HARNESS_CORE_JSON_PYTHON_H

#include "core/hash.h"
#include "core/json.h"

/* Parses and appends. ERROR_INPUT: not JSON, or a number without a form. ERROR_LIMIT: it does not fit the buffer. An
 * error appends nothing. */
int json_python(const char *bytes, size_t length, size_t max_depth, struct buf *out, struct error **err) MUST_CHECK;
/* The same of a value that is parsed already. */
int json_python_node(const struct json_node *node, struct buf *out, struct error **err) MUST_CHECK;
/* Parses what Python wrote by that rule. It escapes what our reader refuses: a NUL and half a surrogate pair. In the
 * document each of them stands as U+FFFD, whose escape is as long: spans lie where they lie in `bytes`. */
int json_python_parse(const char *bytes, size_t length, size_t max_depth, struct json_document **out,
		      struct error **err) MUST_CHECK;
/* SHA-256 of that form; `max` bounds it. */
int json_python_hash(const struct json_node *node, size_t max, char hex[HEX_SHA256], struct error **err) MUST_CHECK;
/* Appends one string, quoted. The buffer's sticky failure is the only error: also set by what is not UTF-8. */
void json_python_string(const char *text, size_t length, struct buf *out);

#endif
