#include "runner/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS 80
#define ROWS 24

void terminal_open(struct terminal *terminal, FILE *out, const char *term, const char *no_color)
{
	bool able = isatty(fileno(out)) && term && *term && strcmp(term, "dumb") != 0;

	*terminal = (struct terminal){
		.out = out,
		.moves = able,
		.colours = able && !(no_color && *no_color),
		.columns = COLUMNS,
		.rows = ROWS,
	};
}

void terminal_clear(struct terminal *terminal)
{
	if (terminal->drawn) {
		/* Up, and away with all below: a line that was cut never wraps, so that the count holds. */
		fprintf(terminal->out, "\x1b[%uA\x1b[J", terminal->drawn);
		fflush(terminal->out);
	}
	terminal->drawn = 0;
}

/* Asked each time: a window changes its size. */
static void measure(const struct terminal *terminal, unsigned *columns, unsigned *rows)
{
	struct winsize size = { 0 };

	*columns = terminal->columns;
	*rows = terminal->rows;
	if (ioctl(fileno(terminal->out), TIOCGWINSZ, &size) < 0)
		return;
	*columns = size.ws_col ? size.ws_col : *columns;
	*rows = size.ws_row ? size.ws_row : *rows;
}

void terminal_draw(struct terminal *terminal, const char *line)
{
	unsigned columns, rows;

	if (!terminal->moves)
		return;
	measure(terminal, &columns, &rows);
	/* The cursor stands in the row below the last line. */
	if (terminal->drawn + 1 >= rows)
		return;
	fprintf(terminal->out, "%.*s\n", (int)columns - 1, line);
	fflush(terminal->out);
	terminal->drawn++;
}
