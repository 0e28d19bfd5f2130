/* What no run shows, each with its reason. */
#include "reports/html_parts.h"
#include "reports/limits.h"

static void put_kind(struct buf *out, enum limit_kind kind)
{
	static const char *const columns[] = { "Not shown", "Why", "Shown all the same", NULL };
	size_t count = 0;

	for (const struct limit *limit = limits; limit->id; limit++)
		count += limit->kind == kind;
	escape_printf(out, "<details><summary>%s<span class=\"soft\">%zu</span></summary>\n", limit_kind_titles[kind],
		      count);
	html_table(out, "x", limit_kind_titles[kind], columns);
	for (const struct limit *limit = limits; limit->id; limit++)
		if (limit->kind == kind)
			escape_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s\n", limit->title, limit->reason,
				      limit->beside ? limit->beside : "");
	html_table_end(out);
	buf_text(out, "</details>\n");
}

void html_limits(struct html_page *page)
{
	escape_printf(
		page->out,
		"<h2 id=\"limits\">Limits</h2>\n<p>%zu things that no run shows, each with its reason. cgroup v2, "
		"AppArmor, SELinux and arm64 were not tested.</p>\n",
		limits_count());
	for (int kind = 0; kind < LIMIT_KINDS; kind++)
		put_kind(page->out, (enum limit_kind)kind);
}
