/* Values of the page: numbers with their units, names, verdicts, and tables. */
#include <inttypes.h>
#include <string.h>

#include "core/clock.h"
#include "core/limits.h"
#include "reports/html_parts.h"

#define BRIEF_MAX 99999

void html_name(struct buf *out, const struct verdict_arm *arm)
{
	escape_text(out, arm->scenario->id);
	if (arm->repetition > 1)
		escape_printf(out, " #%" PRId64, arm->repetition);
}

void html_arm_link(struct buf *out, const struct html_arm *arm)
{
	escape_printf(out, "<a href=\"#a%zu\">", arm->number);
	html_name(out, arm->arm);
	buf_text(out, "</a>");
}

static void put_fraction(struct buf *out, int64_t value, int64_t unit, const char *name)
{
	int64_t tenths = value / (unit / 10 > 0 ? unit / 10 : 1);

	escape_printf(out, "%" PRId64 ".%" PRId64 "%s", tenths / 10, tenths % 10, name);
}

void html_ms(struct buf *out, int64_t ns)
{
	put_fraction(out, ns, NS_PER_MS, "");
}

static void put_value(struct buf *out, const struct observation *of, int64_t value, bool brief)
{
	if (of && of->kind == OBSERVATION_DURATION)
		put_fraction(out, value, NS_PER_MS, " ms");
	else if (brief && value > BRIEF_MAX && of && strcmp(of->unit, "bytes") == 0)
		put_fraction(out, value, MIB, " MiB");
	else
		escape_printf(out, "%" PRId64, value);
}

void html_seen(struct buf *out, const struct observation *seen, bool brief)
{
	if (!seen)
		buf_text(out, "none");
	else if (seen->status != OBSERVATION_OBSERVED)
		buf_text(out, "not seen");
	else
		put_value(out, seen, seen->value, brief);
}

void html_expected(struct buf *out, const struct verdict_cell *cell)
{
	static const char *const signs[] = { [OP_EQ] = "= ", [OP_GE] = "&ge; ", [OP_LE] = "&le; " };

	buf_text(out, signs[cell->expectation->op]);
	put_value(out, cell->observation, cell->expectation->value, false);
}

void html_verdict(struct buf *out, enum verdict verdict)
{
	static const char *const words[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "<b class=\"f\">fail</b>",
		[VERDICT_NOT_ESTABLISHED] = "<b class=\"n\">not established</b>",
	};

	buf_text(out, words[verdict]);
}

void html_count(struct buf *out, size_t count, const char *one, const char *many)
{
	escape_printf(out, "%zu %s", count, count == 1 ? one : many);
}

void html_table(struct buf *out, const char *class, const char *caption, const char *const *columns)
{
	escape_printf(out,
		      "<div class=\"t\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table class=\"%s\">"
		      "<caption>%s</caption><thead><tr>",
		      caption, class, caption);
	for (; *columns; columns++)
		escape_printf(out, "<th scope=\"col\">%s", *columns);
	buf_text(out, "<tbody>\n");
}

void html_table_end(struct buf *out)
{
	buf_text(out, "</table></div>\n");
}
