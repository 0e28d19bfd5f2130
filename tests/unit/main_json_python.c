/* For test_json_python.sh: each line of standard input in canonical form, or "refused". */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/json_python.h"
#include "core/limits.h"

#define INPUT_MAX (8 * MIB)
#define INPUT_MS 5000

static void print_form(const char *line, size_t length)
{
	cleanup_buf struct buf form = BUF(MIB);
	cleanup_error struct error *err = NULL;

	if (json_python(line, length, JSON_ENGINE_DEPTH, &form, &err) < 0)
		puts("refused");
	else
		puts(buf_string(&form));
}

int main(void)
{
	cleanup_buf struct buf input = BUF(INPUT_MAX);
	cleanup_error struct error *err = NULL;
	const char *at, *end;

	if (fd_read_all(STDIN_FILENO, &input, clock_deadline(INPUT_MS), &err) < 0) {
		fprintf(stderr, "%s\n", error_text(err));
		return 1;
	}
	at = buf_string(&input);
	while ((end = strchr(at, '\n')) != NULL) {
		print_form(at, (size_t)(end - at));
		at = end + 1;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
