/*
 * Whether the container is connected to a network, or disconnected, is not watched: neither by events, nor by
 * inspection, nor by the interface that comes with a network.
 */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_NETWORK;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.network", NULL };

const struct mutation mutation_watch_network = {
	.id = "watch-network",
	.title = "nobody watches whether the container is connected to a network",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
