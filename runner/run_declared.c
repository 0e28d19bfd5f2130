/* The observers of a run that its declarations bring. */
#include <string.h>

#include "runner/run.h"

static bool is_listed(const struct manifest *manifest, const struct declared_observer *observer)
{
	for (size_t i = 0; i < manifest->programs_count; i++)
		if (strcmp(manifest->programs[i].name, observer->program) == 0)
			return strcmp(manifest->programs[i].sha256, observer->sha256) == 0;
	return false;
}

/* Who looks again has to be who looked. */
static int check_again(const struct run *run, struct error **err)
{
	const struct manifest *manifest = opened_manifest(run->replayed);

	for (size_t i = 0; i < run->declared.count; i++)
		if (!is_listed(manifest, &run->declared.observers[i]))
			return error_set(err, ERROR_REFUSED, "the observer's program '%s' is not that of the bundle",
					 run->declared.observers[i].program);
	return 0;
}

int run_declared(struct run *run, struct error **err)
{
	if (declared_of(run->options, run->effects, run->effects_count, &run->declared, err) < 0)
		return -1;
	return run->replayed ? check_again(run, err) : 0;
}
