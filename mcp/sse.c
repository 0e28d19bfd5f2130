#include "mcp/sse.h"

#include <string.h>

static const char field[] = "data";
static const char mark[] = "\xef\xbb\xbf";

void sse_init(struct sse *sse, size_t max, sse_event event, void *context)
{
	*sse = (struct sse){
		.line = BUF(max + sizeof(field) + 1), .data = BUF(max + 1), .event = event, .context = context
	};
}

void sse_free(struct sse *sse)
{
	buf_wipe(&sse->line);
	buf_wipe(&sse->data);
}

static int dispatch(struct sse *sse, struct error **err)
{
	/* The last newline is none of the data's. */
	struct json_span data = { .bytes = buf_string(&sse->data),
				  .length = sse->data.length ? sse->data.length - 1 : 0 };
	int r = sse->any && data.length ? sse->event(sse->context, data, err) : 0;

	sse->any = false;
	buf_consume(&sse->data, sse->data.length);
	return r;
}

static int end_line(struct sse *sse, struct error **err)
{
	const char *line = buf_string(&sse->line), *value;
	size_t length = sse->line.length, name = sizeof(field) - 1;
	int r = 0;

	if (!sse->begun && length >= sizeof(mark) - 1 && memcmp(line, mark, sizeof(mark) - 1) == 0) {
		line += sizeof(mark) - 1;
		length -= sizeof(mark) - 1;
	}
	sse->begun = true;
	if (length == 0) {
		r = dispatch(sse, err);
	} else if (length >= name && memcmp(line, field, name) == 0 && (length == name || line[name] == ':')) {
		value = line + name + (length > name);
		if (value < line + length && *value == ' ')
			value++;
		sse->any = true;
		buf_add(&sse->data, value, (size_t)(line + length - value));
		buf_text(&sse->data, "\n");
		r = buf_check(&sse->data, "an event", err);
	}
	buf_consume(&sse->line, sse->line.length);
	return r;
}

int sse_feed(struct sse *sse, const char *bytes, size_t length, struct error **err)
{
	const char *end = bytes + length;
	int r = 0;

	while (bytes < end && r == 0) {
		const char *stop = bytes;

		if (sse->return_came && *bytes == '\n') {
			sse->return_came = false;
			bytes++;
			continue;
		}
		sse->return_came = false;
		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		buf_add(&sse->line, bytes, (size_t)(stop - bytes));
		r = buf_check(&sse->line, "a line of an event stream", err);
		bytes = stop;
		if (r == 0 && stop < end) {
			sse->return_came = *stop == '\r';
			bytes++;
			r = end_line(sse, err);
		}
	}
	return r;
}
