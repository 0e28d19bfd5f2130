/* The observers of a run that its declarations bring. */
#include "runner/run.h"

int run_declared(struct run *run, struct error **err)
{
	return declared_of(run->options, run->effects, run->effects_count, &run->declared, err);
}
