/* The engine's bridge network instead of none: the host's address on that network is in reach, its loopback is not. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.network_mode = "bridge";
}

static const char *const must_fail[] = { "network-mode", "networks", "interfaces", NULL };
static const char *const may_differ[] = {
	"inspect.HostConfig.NetworkMode",
	"inspect.NetworkSettings.Networks",
	"kernel.interfaces",
	NULL,
};

const struct mutation mutation_network_bridge = {
	.id = "network-bridge",
	.title = "the container is on the engine's bridge network",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
