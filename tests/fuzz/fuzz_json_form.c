/* The canonical form, of bytes that stream by in pieces: taken exactly where the writer of that form gives the same. */
#include "core/json_form.h"

#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

static bool canonical(const char *text, size_t length)
{
	cleanup_buf struct buf again = BUF(MIB);
	cleanup_error struct error *err = NULL;
	cleanup_json struct json_document *document = NULL;

	return json_parse(text, length, JSON_DEPTH, &document, &err) == 0 &&
	       json_canonical(text, length, &again, &err) == 0 && again.length == length &&
	       memcmp(buf_string(&again), text, length) == 0;
}

FUZZ_TARGET(json_form)
{
	struct json_form form;
	size_t cut = size > 0 ? bytes[size - 1] % size : 0;
	bool taken;

	json_form_begin(&form, JSON_DEPTH);
	(void)json_form_feed(&form, bytes, cut);
	(void)json_form_feed(&form, bytes + cut, size - cut);
	taken = json_form_end(&form);
	FUZZ_HOLDS(taken == !form.why);
	/* It takes no long keys; else they say the same. */
	FUZZ_HOLDS(taken == canonical((const char *)bytes, size) ||
		   (form.why && strcmp(form.why, "a key that is too long") == 0));
}
