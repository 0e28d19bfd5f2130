/* Which engine it is, and whose socket: nothing here asks the engine, and nothing changes the host. */
#include "adapter/preflight.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/preflight_internal.h"
#include "core/fd.h"
#include "core/proc.h"

#define PATTERN_BYTES 4096
#define ENGINE_COMM "dockerd"

enum core_class core_pattern_class(const char *pattern)
{
	/* Kernels look at the first byte alone; a blank before it is nobody's intention and tells of a hand-made
	 * setting. */
	switch (pattern[strspn(pattern, " \t\r\n")]) {
	case '\0':
		return CORE_EMPTY;
	case '|':
		return CORE_PIPE;
	case '@':
		return CORE_SOCKET;
	default:
		return CORE_FILE;
	}
}

bool core_pattern_relative(const char *pattern)
{
	return core_pattern_class(pattern) == CORE_FILE && pattern[0] != '/';
}

static int read_pattern(struct buf *out, struct error **err)
{
	if (fd_read_file(AT_FDCWD, "/proc/sys/kernel/core_pattern", PATTERN_BYTES, out, err) < 0)
		return error_wrap(err, "the host's core pattern");
	return 0;
}

bool preflight_core_relative(void)
{
	cleanup_buf struct buf text = BUF(PATTERN_BYTES);
	cleanup_error struct error *unread = NULL;

	return read_pattern(&text, &unread) == 0 && core_pattern_relative(buf_string(&text));
}

int core_pattern_read(enum core_class *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(PATTERN_BYTES);

	if (read_pattern(&text, err) < 0)
		return -1;
	*out = core_pattern_class(buf_string(&text));
	return 0;
}

/* ---- what it says of itself ---- */

static bool has_component(const struct json_node *version, const char *name)
{
	const struct json_node *components = json_member(version, "Components");

	for (const struct json_node *item = json_first(components); item; item = json_next(item)) {
		const char *found = json_string(json_member(item, "Name"));

		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/* "name=NAME", alone or followed by a comma. */
static bool has_option(const struct json_node *info, const char *name)
{
	const struct json_node *options = json_member(info, "SecurityOptions");
	size_t length = strlen(name);

	for (const struct json_node *item = json_first(options); item; item = json_next(item)) {
		const char *text = json_string(item);

		if (text && strncmp(text, "name=", 5) == 0 && strncmp(text + 5, name, length) == 0 &&
		    (text[5 + length] == '\0' || text[5 + length] == ','))
			return true;
	}
	return false;
}

static bool text_holds(const struct json_node *node, const char *part)
{
	const char *text = json_string(node);

	return text && strcasestr(text, part);
}

bool preflight_foreign_kernel(const char *release)
{
	return strcasestr(release, "microsoft") || strcasestr(release, "linuxkit");
}

static bool is_podman(const struct json_node *version, const struct json_node *info)
{
	(void)info;
	return has_component(version, "Podman Engine");
}

static bool is_desktop(const struct json_node *version, const struct json_node *info)
{
	return text_holds(json_member(info, "OperatingSystem"), "Docker Desktop") ||
	       text_holds(json_member(json_member(version, "Platform"), "Name"), "Docker Desktop");
}

static bool is_not_linux(const struct json_node *version, const struct json_node *info)
{
	const char *type = json_string(json_member(info, "OSType"));

	(void)version;
	return !type || strcmp(type, "linux") != 0;
}

static bool is_foreign(const struct json_node *version, const struct json_node *info)
{
	const char *release = json_string(json_member(info, "KernelVersion"));

	(void)version;
	return !release || preflight_foreign_kernel(release);
}

static bool is_not_docker(const struct json_node *version, const struct json_node *info)
{
	(void)info;
	return !has_component(version, "Engine");
}

static bool is_rootless(const struct json_node *version, const struct json_node *info)
{
	(void)version;
	return has_option(info, "rootless");
}

static bool is_remapped(const struct json_node *version, const struct json_node *info)
{
	(void)version;
	return has_option(info, "userns");
}

static bool is_silent(const struct json_node *version, const struct json_node *info)
{
	const struct json_node *options = json_member(info, "SecurityOptions");

	(void)version;
	return !options || json_type(options) != JSON_ARRAY;
}

/* In order: the first that is the case names the engine. */
static const struct {
	bool (*is)(const struct json_node *version, const struct json_node *info);
	const char *text;
} refused[] = {
	{ is_podman, "this is Podman, whose containers are configured in another way: use Docker Engine" },
	{ is_desktop,
	  "this is Docker Desktop, whose containers run in a virtual machine: use Docker Engine on Linux itself" },
	{ is_not_linux, "the engine does not run Linux containers: use Docker Engine on Linux" },
	{ is_foreign, "the engine's kernel is that of a virtual machine for Linux programs: use Linux itself" },
	{ is_not_docker, "this is not Docker Engine" },
	{ is_rootless,
	  "the engine is rootless: use one that runs as root, as with DOCKER_HOST=unix:///var/run/docker.sock" },
	{ is_remapped, "the engine maps user ids (userns-remap): start it without --userns-remap" },
	{ is_silent, "the engine does not say what its security options are" },
};

int preflight_engine(const struct json_node *version, const struct json_node *info, struct error **err)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (refused[i].is(version, info))
			return error_set(err, ERROR_REFUSED, "%s", refused[i].text);
	return 0;
}

/* ---- who listens ---- */

static bool is_engine(int proc, int pid)
{
	cleanup_fd int process = -1;
	char path[32];

	snprintf(path, sizeof(path), "%d", pid);
	process = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return proc_named(process, ENGINE_COMM);
}

/* A process's folder; 0 when the name is none. */
static int process_number(const char *name)
{
	int number = 0;

	if (strlen(name) > 9)
		return 0;
	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return 0;
		number = number * 10 + (*name - '0');
	}
	return number;
}

/* The only process of that name; two could not be told apart. */
static int find_engine(int proc, int *out, struct error **err)
{
	cleanup_dir DIR *folder = NULL;
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
	const struct dirent *entry;

	folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder) {
		int number = errno;

		fd_close(&fd);
		return error_errno(err, number, "/proc");
	}
	for (errno = 0; (entry = readdir(folder)); errno = 0) {
		int pid = process_number(entry->d_name);

		if (pid <= 0 || !is_engine(proc, pid))
			continue;
		if (found)
			return error_set(err, ERROR_REFUSED,
					 "the socket is opened by pid 1 for one of several " ENGINE_COMM
					 " processes: stop the others, "
					 "or name the socket that an engine itself listens on with --socket");
		found = pid;
	}
	if (errno != 0)
		return error_errno(err, errno, "/proc");
	if (!found)
		return error_set(err, ERROR_REFUSED,
				 "no " ENGINE_COMM " runs here: the engine behind the socket is not local");
	*out = found;
	return 0;
}

static int same_network(int proc, int pid, struct error **err)
{
	struct stat ours, theirs;
	char path[40];

	snprintf(path, sizeof(path), "%d/ns/net", pid);
	if (fstatat(proc, "self/ns/net", &ours, 0) < 0 || fstatat(proc, path, &theirs, 0) < 0)
		return error_errno(err, errno, "the engine's network namespace");
	if (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		return 0;
	return error_set(
		err, ERROR_REFUSED,
		"the engine is in another network namespace than we are: run this with `nsenter --net=/proc/%d/ns/net`",
		pid);
}

int preflight_peer_in(int proc, int pid, unsigned uid, int64_t *engine, struct error **err)
{
	int found = pid;

	if (uid != 0)
		return error_set(err, ERROR_REFUSED,
				 "the socket's peer is user %u, not root: a rootless engine is not accepted", uid);
	if (pid <= 0)
		return error_set(err, ERROR_REFUSED,
				 "the socket's peer is in another PID namespace: the engine is not local");
	if (!is_engine(proc, pid)) {
		if (pid != 1)
			return error_set(err, ERROR_REFUSED, "the socket's peer, process %d, is not " ENGINE_COMM, pid);
		if (find_engine(proc, &found, err) < 0)
			return -1;
	}
	if (same_network(proc, found, err) < 0)
		return -1;
	*engine = found;
	return 0;
}

int preflight_peer(int pid, unsigned uid, int64_t *engine, struct error **err)
{
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0)
		return error_errno(err, errno, "/proc");
	return preflight_peer_in(proc, pid, uid, engine, err);
}

const char *const core_class_names[] = {
	[CORE_FILE] = "file", [CORE_PIPE] = "pipe", [CORE_SOCKET] = "socket", [CORE_EMPTY] = "empty", NULL,
};
