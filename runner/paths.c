#include "runner/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int program_folder(char *out, size_t size, struct error **err)
{
	ssize_t length = readlink("/proc/self/exe", out, size - 1);
	char *slash;

	if (length < 0)
		return error_errno(err, errno, "the program's own path");
	out[length] = '\0';
	slash = strrchr(out, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

/* The first of the places below the program's folder that exists. */
static int find(const char *const *places, const char *name, char *out, size_t size, struct error **err)
{
	char folder[PATH_MAX];

	if (program_folder(folder, sizeof(folder), err) < 0)
		return -1;
	for (; *places; places++)
		if (snprintf(out, size, "%s/%s%s", folder, *places, name) < (int)size && access(out, F_OK) == 0)
			return 0;
	return error_set(err, ERROR_SYSTEM, "%s is missing beside the program: was all of it built or installed?",
			 name);
}

int path_data(const char *name, char *out, size_t size, struct error **err)
{
	static const char *const places[] = { "../", "../share/harness/", NULL };

	return find(places, name, out, size, err);
}

int path_cmcp(const char *name, char *out, size_t size, struct error **err)
{
	static const char *const places[] = { "cmcp/bin/", "../build/cmcp/bin/", NULL };

	return find(places, name, out, size, err);
}

int path_agent(char *out, size_t size, struct error **err)
{
	static const char *const places[] = { "", "../libexec/harness/", NULL };

	return find(places, "agent", out, size, err);
}
