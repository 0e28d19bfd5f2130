/* The bridge does not check the watchdog's acknowledgments: a paused watchdog goes unnoticed. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->acknowledge = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.acknowledge", NULL };

const struct mutation mutation_ack = {
	.id = "ack",
	.title = "the watchdog's acknowledgments are not checked",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
