#include "runner/declarations.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "core/fd.h"
#include "observers/table.h"
#include "runner/paths.h"

int declarations_open(const struct options *options, const struct scenario *scenarios, size_t scenarios_count,
		      struct effect **out, size_t *count, struct error **err)
{
	struct effect_names names = {
		.observers = observer_ids,
		.inputs = observer_inputs,
		.measures = measure_ids,
		.scenarios = scenarios,
		.scenarios_count = scenarios_count,
	};
	cleanup_fd int folder = -1;
	char path[PATH_MAX], safe[128];

	/* The two folders of somebody's own go together. */
	if (options->effects && !options->scenarios)
		names.elsewhere = ": --scenarios FOLDER names yours, and is not given";
	if (options->scenarios && !options->effects)
		names.elsewhere = ": --effects FOLDER names your declarations, and is not given";
	if (options->effects)
		snprintf(path, sizeof(path), "%s", options->effects);
	else if (path_data("effects", path, sizeof(path), err) < 0)
		return -1;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_errno(err, errno, "the declarations' folder '%s'", error_safe(path, safe, sizeof(safe)));
	return effect_load_all(folder, &names, out, count, err);
}
