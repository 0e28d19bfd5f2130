/* A second client at the container's streams is not watched for. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_ATTACH;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.attach", NULL };

const struct mutation mutation_watch_attach = {
	.id = "watch-attach",
	.title = "nobody watches whether another client is at the container's streams",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
