/* Another command in the container is not watched for. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_EXEC;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.exec", NULL };

const struct mutation mutation_watch_exec = {
	.id = "watch-exec",
	.title = "nobody watches whether another command runs in the container",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
