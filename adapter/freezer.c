#include "adapter/freezer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"

/* By what the folder holds: version 2, then version 1. */
static const struct {
	const char *file, *freeze, *thaw;
} versions[] = {
	{ .file = "cgroup.freeze", .freeze = "1", .thaw = "0" },
	{ .file = "freezer.state", .freeze = "FROZEN", .thaw = "THAWED" },
};

bool freezer_set(int folder, bool frozen)
{
	for (size_t i = 0; folder >= 0 && i < ARRAY_SIZE(versions); i++) {
		cleanup_fd int file = openat(folder, versions[i].file, O_WRONLY | O_CLOEXEC);
		const char *text = frozen ? versions[i].freeze : versions[i].thaw;

		if (file >= 0)
			return write(file, text, strlen(text)) == (ssize_t)strlen(text);
	}
	return false;
}
