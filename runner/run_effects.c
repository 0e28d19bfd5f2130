/* What a run declares before its first arm: its claims are derived from that, and no declaration can come later. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/claims.h"
#include "runner/declarations.h"
#include "runner/run.h"

/* The declarations of the run that is repeated, if it had any. */
static int take_sealed(struct run *run, struct error **err)
{
	const struct findings *findings = opened_findings(run->replayed);

	run->effects = calloc(findings->effects_count + 1, sizeof(*run->effects));
	if (!run->effects)
		return error_set(err, ERROR_MEMORY, "no memory for declarations");
	if (findings->effects_count > 0)
		memcpy(run->effects, findings->effects, findings->effects_count * sizeof(*run->effects));
	run->effects_count = findings->effects_count;
	return 0;
}

/* What no bundle holds is refused before anything runs. */
static int check_size(const struct run *run, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);

	return effects_encode(run->effects, run->effects_count, &text, err);
}

int run_effects(struct run *run, struct error **err)
{
	const struct options *options = run->options;

	if (run->replayed)
		return take_sealed(run, err);
	/* Ours are of our scenarios. */
	if (options->scenarios && !options->effects)
		return 0;
	if (declarations_open(options, run->scenarios, run->scenarios_count, &run->effects, &run->effects_count, err) <
	    0)
		return -1;
	return check_size(run, err);
}
