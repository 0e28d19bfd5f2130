/* The host's network namespace instead of none: every address of the host is in reach. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.network_mode = "host";
}

static const char *const must_fail[] = { "network-mode", "networks", "ns-net", "interfaces", NULL };
static const char *const may_differ[] = {
	"inspect.HostConfig.NetworkMode",
	"inspect.NetworkSettings.Networks",
	"kernel.ns.net",
	"kernel.interfaces",
	NULL,
};

const struct mutation mutation_network = {
	.id = "network",
	.title = "the container shares the host's network namespace",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
