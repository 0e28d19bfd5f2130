/* Lines of observations.jsonl: what is read is written in one form, which reads as the same. */
#include "oracle/observation.h"

#include <string.h>

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

FUZZ_TARGET(observation)
{
	const char *line = (const char *)bytes, *end = line + size;

	while (line < end) {
		const char *feed = memchr(line, '\n', (size_t)(end - line));
		cleanup_error struct error *err = NULL;
		struct observation observation;

		feed = feed ? feed : end;
		if (observation_read(line, (size_t)(feed - line), &observation, &err) == 0)
			check_form(&observation);
		else
			FUZZ_HOLDS(error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT);
		line = feed + 1;
	}
}
