/* Lines of observations.jsonl: what is read is written in one form, which reads as the same. */
#include "oracle/observation.h"

#include <string.h>

#include "core/schema_line.h"
#include "tests/fuzz/fuzz.h"

static void check_form(const struct observation *observation)
{
	cleanup_buf struct buf once = BUF(OBSERVATION_LINE_BYTES), twice = BUF(OBSERVATION_LINE_BYTES);
	cleanup_error struct error *err = NULL;
	struct observation again;

	FUZZ_HOLDS(observation_write(observation, &once, &err) == 0);
	FUZZ_HOLDS(observation_read(once.data, once.length - 1, &again, &err) == 0);
	FUZZ_HOLDS(observation_write(&again, &twice, &err) == 0);
	FUZZ_HOLDS(strcmp(once.data, twice.data) == 0);
	FUZZ_HOLDS(observation_live(observation) == observation_live(&again));
	FUZZ_HOLDS(!observation_live(observation) || observation->value >= 0);
}

/* The direct reader takes the canonical lines, and those alone. */
static void check_direct(const struct schema_line *form, const char *line, size_t length,
			 const struct observation *observation)
{
	cleanup_buf struct buf again = BUF(OBSERVATION_LINE_BYTES);
	cleanup_error struct error *err = NULL;
	struct observation direct;
	bool canonical = observation && observation_write(observation, &again, &err) == 0 &&
			 again.length == length + 1 && memcmp(again.data, line, length) == 0;

	FUZZ_HOLDS(schema_line_read(form, line, length, &direct, sizeof(direct)) == canonical);
	FUZZ_HOLDS(!canonical || memcmp(&direct, observation, sizeof(direct)) == 0);
}

FUZZ_TARGET(observation)
{
	struct schema_line form;
	const char *line = (const char *)bytes, *end = line + size;

	FUZZ_HOLDS(schema_line_arrange(&form, observation_fields));
	while (line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));
		cleanup_error struct error *err = NULL;
		struct observation observation;
		bool read;

		feed = feed ? feed : end;
		read = observation_read(line, (size_t)(feed - line), &observation, &err) == 0;
		check_direct(&form, line, (size_t)(feed - line), read ? &observation : NULL);
		if (read)
			check_form(&observation);
		else
			FUZZ_HOLDS(error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT);
		line = feed + 1;
	}
}
