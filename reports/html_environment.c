/* What the run stood on: each fact of environment.json, and whether it changed. */
#include <inttypes.h>
#include <string.h>

#include "core/json.h"
#include "core/limits.h"
#include "reports/environment.h"
#include "reports/html_parts.h"

static void put_fact(struct buf *out, const struct json_node *node)
{
	const char *text = json_string(node);
	int64_t number;
	bool truth;

	if (json_int64(node, &number))
		escape_printf(out, "%" PRId64, number);
	else if (json_bool(node, &truth))
		buf_text(out, truth ? "yes" : "no");
	else if (text)
		escape_text(out, text);
	for (const struct json_node *one = json_first(node); one; one = json_next(one))
		escape_printf(out, "%s%s", one == json_first(node) ? "" : ", ", json_string(one));
}

static const char *reason_of(const struct json_node *root, const char *field)
{
	const struct json_node *list = json_member(root, "unavailable");

	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		if (json_text_is(json_member(one, "field"), field))
			return json_string(json_member(one, "reason"));
	return "not said";
}

static bool same(const struct json_node *a, const struct json_node *b)
{
	return b && json_raw(a).length == json_raw(b).length &&
	       memcmp(json_raw(a).bytes, json_raw(b).bytes, json_raw(a).length) == 0;
}

static void put_value(struct buf *out, const struct json_node *root, const char *field, const struct json_node *value)
{
	if (json_is_null(value))
		escape_printf(out, "not known: %s", reason_of(root, field));
	else
		put_fact(out, value);
}

static void put_row(struct buf *out, const struct json_node *root, const struct json_node *before)
{
	const struct json_node *after = json_member(json_member(root, "after"), json_key(before));

	escape_printf(out, "<tr><th scope=\"row\">%s<td>", json_key(before));
	put_value(out, root, json_key(before), before);
	if (!same(before, after)) {
		buf_text(out, environment_fact_varies(json_key(before)) ? " before; after: "
									: " <b class=\"n\">before; changed:</b> ");
		put_value(out, root, json_key(before), after);
	}
	buf_text(out, "\n");
}

int html_environment(struct html_page *page, struct error **err)
{
	static const char *const columns[] = { "Fact", "Before the first arm and after the last", NULL };
	const struct findings *findings = page->findings;
	cleanup_json struct json_document *document = NULL;
	struct buf *out = page->out;
	int result = json_parse(findings->environment, findings->environment_length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, "environment.json");
	buf_text(out, "<h2 id=\"environment\">Environment</h2>\n"
		      "<p>Read before the first arm and after the last. If anything differs but what changes by "
		      "itself, nothing passes.</p>\n");
	html_table(out, "e", "Facts of host and engine", columns);
	for (const struct json_node *fact = json_first(json_member(json_root(document), "before")); fact;
	     fact = json_next(fact))
		put_row(out, json_root(document), fact);
	html_table_end(out);
	buf_text(out, "<details><summary>Programs that took part, by their SHA-256</summary>\n<dl class=\"facts\">\n");
	for (size_t i = 0; i < findings->manifest->programs_count; i++)
		escape_printf(out, "<dt>%s<dd><code>%s</code>\n", findings->manifest->programs[i].name,
			      findings->manifest->programs[i].sha256);
	buf_text(out, "</dl></details>\n");
	return 0;
}
