#include "tests/unit/frame_rows.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/fd.h"

#define FILE_MAX MIB
#define ROW_MAX MIB
#define TIMES_MAX 1000000

struct reader {
	const char *at, *end; /* what is left of the row */
	struct buf *out;
};

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Behind a backslash. */
static bool take_escape(struct reader *reader)
{
	static const char names[] = "nrt\\{}", bytes[] = "\n\r\t\\{}";
	char letter = reader->at < reader->end ? *reader->at++ : '\0', byte;
	const char *name = letter ? strchr(names, letter) : NULL;

	if (name) {
		byte = bytes[name - names];
	} else {
		if (letter != 'x' || reader->end - reader->at < 2 || hex_digit(reader->at[0]) < 0 ||
		    hex_digit(reader->at[1]) < 0)
			return false;
		byte = (char)(hex_digit(reader->at[0]) * 16 + hex_digit(reader->at[1]));
		reader->at += 2;
	}
	return buf_add(reader->out, &byte, 1) == 0;
}

static bool take_byte(struct reader *reader)
{
	char byte = *reader->at++;

	if (byte == '\\')
		return take_escape(reader);
	return byte >= ' ' && byte <= '~' && buf_add(reader->out, &byte, 1) == 0;
}

/* "{N*" at the reader's place: N, with the place moved behind it; else 0. */
static unsigned long take_times(struct reader *reader)
{
	char *behind = NULL;
	unsigned long times;

	if (reader->end - reader->at < 3 || reader->at[0] != '{' || reader->at[1] < '1' || reader->at[1] > '9')
		return 0;
	times = strtoul(reader->at + 1, &behind, 10);
	if (*behind != '*' || times > TIMES_MAX)
		return 0;
	reader->at = behind + 1;
	return times;
}

static bool take_repeat(struct reader *reader, unsigned long times)
{
	cleanup_buf struct buf text = BUF(ROW_MAX);
	struct reader inner = { .at = reader->at, .end = reader->end, .out = &text };

	while (inner.at < inner.end && *inner.at != '}')
		if (!take_byte(&inner))
			return false;
	if (inner.at == inner.end || text.length == 0)
		return false;
	reader->at = inner.at + 1;
	while (times-- > 0)
		if (buf_add(reader->out, text.data, text.length) < 0)
			return false;
	return true;
}

static bool take_row(struct reader *reader)
{
	while (reader->at < reader->end) {
		unsigned long times = take_times(reader);

		if (!(times ? take_repeat(reader, times) : take_byte(reader)))
			return false;
	}
	return true;
}

static int read_row(struct frame_row *row, const char *line, size_t length, frame_row_take take, void *context,
		    struct error **err)
{
	cleanup_buf struct buf bytes = BUF(ROW_MAX);
	const char *space = memchr(line, ' ', length);
	struct reader reader = { .at = space ? space + 1 : NULL, .end = line + length, .out = &bytes };

	if (!space || space == line || (size_t)(space - line) >= sizeof(row->word) || reader.at == reader.end ||
	    !take_row(&reader))
		return error_set(err, ERROR_INPUT, "line %zu is no row", row->line);
	memcpy(row->word, line, (size_t)(space - line));
	row->word[space - line] = '\0';
	row->bytes = bytes.data;
	row->length = bytes.length;
	return take(context, row, err);
}

int frame_rows_read(const char *path, frame_row_take take, void *context, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_MAX);
	struct frame_row row = { .line = 0 };
	const char *line, *end;
	int result = fd_read_file(AT_FDCWD, path, FILE_MAX, &text, err);

	line = buf_string(&text);
	end = line + text.length;
	while (result == 0 && line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));

		row.line++;
		if (!feed)
			return error_set(err, ERROR_INPUT, "line %zu has no end", row.line);
		if (feed > line && *line != '#')
			result = read_row(&row, line, (size_t)(feed - line), take, context, err);
		line = feed + 1;
	}
	return result;
}
