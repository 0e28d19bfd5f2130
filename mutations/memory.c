/* Four times the memory that the profile says, still without swap. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.memory_bytes = 512LL * MIB;
}

static const char *const must_fail[] = { "memory", "memory-swap", "cgroup-memory", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.Memory", "inspect.HostConfig.MemorySwap",
					  "kernel.cgroup.*", NULL };

const struct mutation mutation_memory = {
	.id = "memory",
	.title = "more memory than the profile allows",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
