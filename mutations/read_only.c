/* A writable root file system: /export, which the image makes writable for everybody, takes files. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.read_only_root = false;
}

static const char *const must_fail[] = { "read-only-root", "writable-mounts", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.ReadonlyRootfs", "kernel.mounts", NULL };

const struct mutation mutation_read_only = {
	.id = "read-only",
	.title = "the container's root file system is writable",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
