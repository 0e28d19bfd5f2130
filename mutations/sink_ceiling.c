/* The public sink's ceiling raised to confidential: the gateway lets the confidential session through to it. */
#include <string.h>

#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	for (size_t i = 0; i < options->ceilings_count; i++)
		if (strcmp(options->ceilings[i].tool, "public.tool") == 0)
			memcpy(options->ceilings[i].max, "confidential", sizeof("confidential"));
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "gateway.ceiling.public.tool", NULL };

const struct mutation mutation_sink_ceiling = {
	.id = "sink-ceiling",
	.title = "the public sink may receive confidential data",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
