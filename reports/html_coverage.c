/* What was not tested, what is taken for granted, and how to check the bundle without whoever made it. */
#include "reports/coverage.h"
#include "reports/html_parts.h"

static void put_list(struct buf *out, const char *const *ids)
{
	buf_text(out, "<ul class=\"two\">\n");
	for (; *ids; ids++)
		escape_printf(out, "<li><code>%s</code>: %s\n", *ids, html_statement(*ids));
	buf_text(out, "</ul>\n");
}

static void put_absent(struct buf *out, const struct plan *plan)
{
	static const char *const columns[] = { "Arm", "Cell", "For want of", NULL };

	buf_text(out, "<h3>Cells that this host or gateway could not make</h3>\n");
	if (plan->absent_count == 0) {
		buf_text(out, "<p>None: every cell of the scenarios was planned.</p>\n");
		return;
	}
	buf_text(out, "<details><summary>");
	html_count(out, plan->absent_count, "absent cell", "absent cells");
	buf_text(out, "</summary>\n");
	html_table(out, "x", "Absent cells", columns);
	for (size_t i = 0; i < plan->absent_count; i++) {
		const struct plan_absent *absent = &plan->absent[i];

		escape_printf(out, "<tr><td>%s<th scope=\"row\">%s@%s<td>%s%s%s\n", absent->scenario->id,
			      absent->expectation->subject, absent->expectation->observer,
			      absent->status ? absent->status : "", absent->status ? ": " : "", absent->reason);
	}
	html_table_end(out);
	buf_text(out, "</details>\n");
}

void html_coverage(struct html_page *page)
{
	struct buf *out = page->out;

	buf_text(out, "<h2 id=\"coverage\">What was not tested</h2>\n<h3>Channels that no probe tries</h3>\n");
	put_list(out, coverage_untested());
	buf_text(out, "<h3>What is taken for granted</h3>\n");
	put_list(out, coverage_assumptions());
	put_absent(out, page->findings->plan);
}

void html_verification(struct html_page *page)
{
	buf_text(page->out,
		 "<h2 id=\"verify\">Check it yourself</h2>\n"
		 "<p>This page says nothing that the bundle beside it does not say, and anybody can write such a page. "
		 "Believe the bundle, once you have checked it. No network, no engine and no root are needed.</p>\n"
		 "<ol>\n<li>Every hash and every verdict again, this page byte by byte:\n"
		 "<pre tabindex=\"0\"><code>harness verify confinement-evidence.tar.gz</code></pre>\n"
		 "<li>The hashes without our program:\n"
		 "<pre tabindex=\"0\"><code>tar xzf confinement-evidence.tar.gz\ncd confinement-evidence\n"
		 "sha256sum --strict -c SHA256SUMS</code></pre>\n"
		 "<li>A bundle is named by the SHA-256 of its <code>SHA256SUMS</code>. Whoever vouches for it vouches "
		 "for "
		 "that number:\n<pre tabindex=\"0\"><code>sha256sum SHA256SUMS</code></pre>\n"
		 "<li>An observation by its id, and so each number of this page:\n"
		 "<pre tabindex=\"0\"><code>grep o-000001 observations.jsonl</code></pre>\n</ol>\n");
}
