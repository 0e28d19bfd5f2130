/* The reference's canonical form: printable ASCII, JSON again, its own form, and the same value by its reader. */
#include <string.h>

#include "core/json_python.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

#define FORM_MAX (8 * MIB)

/* As the reader gives them, their bytes are UTF-8, which sorts as code points do. */
static void check_order(const struct json_node *object)
{
	for (const struct json_node *child = json_first(object); child; child = json_next(child)) {
		const struct json_node *next = json_next(child);

		FUZZ_HOLDS(!next || !json_key(child) || strcmp(json_key(child), json_key(next)) < 0);
		check_order(child);
	}
}

static size_t count_values(const struct json_node *node)
{
	size_t count = 1;

	for (const struct json_node *child = json_first(node); child; child = json_next(child))
		count += count_values(child);
	return count;
}

static void check_form(const struct json_node *root, const struct buf *form)
{
	cleanup_buf struct buf again = BUF(FORM_MAX);
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;

	for (size_t i = 0; i < form->length; i++)
		FUZZ_HOLDS(form->data[i] >= ' ' && form->data[i] <= '~');
	FUZZ_HOLDS(json_parse(form->data, form->length, JSON_ENGINE_DEPTH, &document, &err) == 0);
	FUZZ_HOLDS(json_type(json_root(document)) == json_type(root));
	FUZZ_HOLDS(count_values(json_root(document)) == count_values(root));
	check_order(json_root(document));
	FUZZ_HOLDS(json_python_node(json_root(document), &again, &err) == 0);
	FUZZ_HOLDS(again.length == form->length && memcmp(again.data, form->data, form->length) == 0);
}

/* Nothing is mended in what the strict reader takes. */
static void check_parse(const char *text, size_t size, const struct json_node *root)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;
	struct json_span raw, strict = json_raw(root);
	int status = json_python_parse(text, size, JSON_ENGINE_DEPTH, &document, &err);

	raw = json_raw(json_root(document));
	FUZZ_HOLDS(!root ||
		   (status == 0 && raw.length == strict.length && memcmp(raw.bytes, strict.bytes, raw.length) == 0));
	FUZZ_HOLDS(status < 0 || raw.length <= size);
}

FUZZ_TARGET(json_python)
{
	int status;

	cleanup_buf struct buf form = BUF(FORM_MAX);
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;

	status = json_parse((const char *)bytes, size, JSON_ENGINE_DEPTH, &document, &err);
	check_parse((const char *)bytes, size, json_root(document));
	if (status < 0)
		return;
	if (json_python_node(json_root(document), &form, &err) < 0) {
		FUZZ_HOLDS(form.length == 0 && (error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT));
		return;
	}
	check_form(json_root(document), &form);
}
