/* What the arms of programs that may start others leave behind where an arm was killed: the run ends it behind the last
 * arm. The watchdog of such an arm is let do its work. */
#include <limits.h>
#include <string.h>

#include "core/clock.h"
#include "runner/run.h"

#define END_MS 3000

static bool wanted(const struct run *run)
{
	for (size_t i = 0; i < run->plan->arms_count; i++) {
		const struct scenario *scenario = run->plan->arms[i].scenario;

		for (size_t cell = 0; cell < scenario->expect_count; cell++)
			if (strncmp(scenario->expect[cell].observer, "orders", strlen("orders")) == 0)
				return true;
	}
	return run->declared.count > 0;
}

int run_strays_adopt(const struct run *run, struct strays *out, struct error **err)
{
	*out = (struct strays){ .adopts = false };
	return wanted(run) ? strays_adopt(out, err) : 0;
}

void run_strays_end(const struct strays *strays)
{
	cleanup_error struct error *ignored = NULL;
	char watchdog[PATH_MAX];

	if (spawn_helper_path("watchdog", watchdog, sizeof(watchdog), &ignored) == 0)
		(void)strays_end(strays, watchdog, clock_deadline(END_MS));
}
