#include "reports/html.h"

#include "reports/html_parts.h"

static int put_page(struct html_page *page, struct error **err)
{
	int result;

	html_head(page);
	html_verdict_section(page);
	html_troubles(page);
	html_mutations(page);
	result = html_claims(page, err);
	if (result >= 0)
		result = html_matrix(page, err);
	if (result < 0)
		return result;
	html_arms(page);
	result = html_environment(page, err);
	if (result < 0)
		return result;
	html_coverage(page);
	html_routes(page);
	html_limits(page);
	html_verification(page);
	buf_text(page->out, "</main>\n</body>\n</html>\n");
	return buf_check(page->out, "report.html", err);
}

int html_encode(const struct findings *findings, struct buf *out, struct error **err)
{
	struct html_page page;
	int result = html_open(findings, out, &page, err);

	if (result >= 0)
		result = put_page(&page, err);
	html_close(&page);
	return result;
}
