/*
 * The timeline of an arm: a table of its events, and beside its rows one drawing of the same, a line from event to
 * event, thick where the agent could act.
 */
#include <inttypes.h>
#include <string.h>

#include "core/clock.h"
#include "reports/html_parts.h"

#define WIDTH 1000

static int64_t place(const struct arm_record *record, int64_t at)
{
	int64_t whole = record->duration_ns > 0 ? record->duration_ns : 1;

	if (at < 0 || whole < 0)
		return 0;
	/* Neither overflows: the evidence has no number of more than 53 bits. */
	return at >= whole ? WIDTH : at / (whole / WIDTH + 1);
}

static const struct arm_event *find(const struct arm_record *record, const char *name)
{
	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, name) == 0)
			return &record->events[i];
	return NULL;
}

static void put_point(struct buf *out, char letter, const struct arm_record *record, size_t i)
{
	escape_printf(out, "%c%" PRId64 " %zu", letter, place(record, record->events[i].at_ns), 2 * i + 1);
}

/* From the first frame to the death, where there are both. */
static void put_acting(struct buf *out, const struct arm_record *record)
{
	const struct arm_event *first = find(record, "first-frame"), *dead = find(record, "dead");

	if (!first || !dead || dead < first)
		return;
	buf_text(out, "<path class=\"u\" d=\"");
	for (const struct arm_event *event = first; event <= dead; event++)
		put_point(out, event == first ? 'M' : 'L', record, (size_t)(event - record->events));
	buf_text(out, "\"/>");
}

static void put_drawing(struct buf *out, const struct html_arm *arm)
{
	const struct arm_record *record = arm->record;
	const struct arm_event *first = find(record, "first-frame"), *dead = find(record, "dead");
	size_t count = record->events_count;

	escape_printf(out,
		      "<td class=\"g\" rowspan=\"%zu\"><svg role=\"img\" viewBox=\"0 0 %d %zu\" height=\"%zu.%drem\" "
		      "preserveAspectRatio=\"none\"><title>Timeline of ",
		      count, WIDTH, 2 * count, count * 3 / 2, count % 2 ? 5 : 0);
	html_name(out, arm->arm);
	buf_text(out, "</title><desc>");
	html_ms(out, record->duration_ns);
	buf_text(out, " ms in all.");
	if (first && dead) {
		buf_text(out, " The agent could act from ");
		html_ms(out, first->at_ns);
		buf_text(out, " to ");
		html_ms(out, dead->at_ns);
		buf_text(out, " ms.");
	}
	buf_text(out, "</desc><path d=\"");
	for (size_t i = 0; i < count; i++)
		put_point(out, i ? 'L' : 'M', record, i);
	buf_text(out, "\"/>");
	put_acting(out, record);
	buf_text(out, "<path class=\"s\" d=\"");
	for (size_t i = 0; i < count; i++) {
		put_point(out, 'M', record, i);
		buf_text(out, "h0");
	}
	buf_text(out, "\"/></svg>");
}

void html_timeline(struct html_page *page, const struct html_arm *arm)
{
	const struct arm_record *record = arm->record;
	struct buf *out = page->out;

	if (!record || record->events_count == 0)
		return;
	escape_printf(out,
		      "<div class=\"t\" tabindex=\"0\" role=\"group\" aria-label=\"Timeline of %s\">"
		      "<table class=\"l\"><caption>Timeline</caption><thead><tr><th scope=\"col\">ms<th "
		      "scope=\"col\">Event<th scope=\"col\">Drawn\n<tbody>\n",
		      arm->arm->scenario->id);
	for (size_t i = 0; i < record->events_count; i++) {
		const struct arm_event *event = &record->events[i];

		buf_text(out, "<tr><td>");
		html_ms(out, event->at_ns);
		escape_printf(out, "<th scope=\"row\">%s", html_event(event->name));
		if (event->subject[0])
			escape_printf(out, "<span class=\"soft\">%s</span>", event->subject);
		if (i == 0)
			put_drawing(out, arm);
		buf_text(out, "\n");
	}
	buf_text(out, "</table></div>\n");
}
