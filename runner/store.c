#include "runner/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/fd.h"

#define TEMPORARY "/tmp"
#define ARM_PREFIX "harness-arm-"
#define LOCK_NAME "lock"
#define SIGN_PREFIX "harness-run-"

static int new_run_id(char out[RUN_ID_MAX], struct error **err)
{
	unsigned char bytes[(RUN_ID_MAX - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_errno(err, errno, "no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static bool sudo_user(uid_t *uid, gid_t *gid)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");

	if (geteuid() != 0 || !user || !group)
		return false;
	*uid = (uid_t)strtoul(user, NULL, 10);
	*gid = (gid_t)strtoul(group, NULL, 10);
	return true;
}

void store_give(int directory, const char *path)
{
	uid_t uid;
	gid_t gid;

	if (sudo_user(&uid, &gid))
		(void)!fchownat(directory, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

static int make_folder(int directory, const char *path, struct error **err)
{
	char safe[128];

	if (mkdirat(directory, path, 0755) == 0) {
		store_give(directory, path);
		return 0;
	}
	if (errno == EEXIST)
		return 0;
	return error_errno(err, errno, "cannot make the folder '%s': choose another with --out",
			   error_safe(path, safe, sizeof(safe)));
}

static int take_lock(int folder, int *lock, struct error **err)
{
	cleanup_fd int fd = openat(folder, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_errno(err, errno, "the lock of a run's folder");
	*lock = steal_fd(&fd);
	return 0;
}

/* The kernel takes the name back when its holder ends, however that comes. */
static int take_sign(const char *run, int *sign, struct error **err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, SIGN_PREFIX "%s", run);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) < 0)
		return error_errno(err, errno, "the sign of a run that is under way");
	*sign = steal_fd(&fd);
	return 0;
}

bool store_run_held(const char *run)
{
	cleanup_file FILE *sockets = fopen("/proc/net/unix", "re");
	char line[512], name[64];
	bool held = false;

	snprintf(name, sizeof(name), " @" SIGN_PREFIX "%s%s", run ? run : "", run ? "\n" : "");
	while (sockets && !held && fgets(line, sizeof(line), sockets))
		held = strstr(line, name) != NULL;
	return held;
}

int store_open(const char *out, struct store *store, struct error **err)
{
	char stamp[CLOCK_STAMP], safe[128];

	*store = (struct store){ .out = -1, .folder = -1, .lock = -1, .sign = -1 };
	if (new_run_id(store->run, err) < 0 || take_sign(store->run, &store->sign, err) < 0 ||
	    make_folder(AT_FDCWD, out, err) < 0)
		return -1;
	clock_stamp(stamp);
	clock_wall(store->started);
	snprintf(store->name, sizeof(store->name), "%s-%.8s", stamp, store->run);
	if (snprintf(store->path, sizeof(store->path), "%s/%s", out, store->name) >= (int)sizeof(store->path))
		return error_set(err, ERROR_USAGE, "the path of --out is too long");
	store->out = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->out < 0)
		return error_errno(err, errno, "the folder '%s'", error_safe(out, safe, sizeof(safe)));
	if (make_folder(store->out, store->name, err) < 0)
		return -1;
	store->folder = openat(store->out, store->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (store->folder < 0)
		return error_errno(err, errno, "the run's folder");
	return take_lock(store->folder, &store->lock, err);
}

int store_latest(const struct store *store, struct error **err)
{
	char temporary[80];

	snprintf(temporary, sizeof(temporary), ".latest-%.8s", store->run);
	if (symlinkat(store->name, store->out, temporary) < 0)
		return error_errno(err, errno, "the link to the latest run");
	store_give(store->out, temporary);
	if (renameat(store->out, temporary, store->out, "latest") < 0) {
		int number = errno;

		unlinkat(store->out, temporary, 0);
		return error_errno(err, number, "the link to the latest run");
	}
	return 0;
}

void store_close(struct store *store, bool sealed)
{
	cleanup_error struct error *ignored = NULL;

	if (store->folder >= 0) {
		(void)unlinkat(store->folder, LOCK_NAME, 0);
		if (!sealed && fd_remove_tree(store->out, store->name, &ignored) < 0)
			error_free(steal_pointer(&ignored));
	}
	fd_close(&store->lock);
	fd_close(&store->folder);
	fd_close(&store->out);
	fd_close(&store->sign);
}

int store_arm_folder(int *folder, int *lock, char path[PATH_MAX], struct error **err)
{
	snprintf(path, PATH_MAX, "%s/%sXXXXXX", TEMPORARY, ARM_PREFIX);
	if (!mkdtemp(path))
		return error_errno(err, errno, "a temporary folder in %s", TEMPORARY);
	*folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (*folder < 0)
		return error_errno(err, errno, "the arm's folder");
	return take_lock(*folder, lock, err);
}

void store_arm_remove(int *folder, int *lock, const char *path)
{
	cleanup_error struct error *ignored = NULL;

	if (*folder >= 0 && fd_remove_tree(AT_FDCWD, path, &ignored) < 0)
		error_free(steal_pointer(&ignored));
	fd_close(lock);
	fd_close(folder);
}

int store_each_arm(store_arm each, void *context, struct error **err)
{
	DIR *list = opendir(TEMPORARY);
	const struct dirent *entry;
	int status = 0;

	if (!list)
		return error_errno(err, errno, "the folder %s", TEMPORARY);
	while (status == 0 && (entry = readdir(list))) {
		char path[PATH_MAX];
		struct stat found;

		if (strncmp(entry->d_name, ARM_PREFIX, strlen(ARM_PREFIX)) != 0 ||
		    fstatat(dirfd(list), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(found.st_mode) ||
		    found.st_uid != geteuid() || (found.st_mode & 0077) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", TEMPORARY, entry->d_name);
		status = each(context, entry->d_name + strlen(ARM_PREFIX), path, err);
	}
	closedir(list);
	return status;
}

/* Whether nobody holds the lock of this folder. A folder without a lock file is one that died while it was made. */
static bool abandoned(int parent, const char *name)
{
	cleanup_fd int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fd int lock = folder < 0 ? -1 : openat(folder, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (folder < 0)
		return false;
	/* One without a lock may be in the making, as long as any run is under way. */
	return lock < 0 ? !store_run_held(NULL) : flock(lock, LOCK_EX | LOCK_NB) == 0;
}

typedef bool (*sweep_wanted)(int parent, const char *name);

static bool wanted_arm(int parent, const char *name)
{
	struct stat status;

	return strncmp(name, ARM_PREFIX, strlen(ARM_PREFIX)) == 0 &&
	       fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() && abandoned(parent, name);
}

/* STAMP-ID8, "20260102T030405Z-0a1b2c3d", and nothing that only looks so: what is swept is gone. */
static bool is_run_name(const char *name)
{
	static const char shape[] = "00000000T000000Z-xxxxxxxx";

	for (size_t i = 0; i < sizeof(shape); i++) {
		bool fits = shape[i] == '0'   ? isdigit((unsigned char)name[i])
			    : shape[i] == 'x' ? isxdigit((unsigned char)name[i])
					      : name[i] == shape[i];

		if (!fits)
			return false;
	}
	return true;
}

/* Ours, with a lock file that nobody holds, and without a sealed bundle. */
static bool wanted_run(int parent, const char *name)
{
	char bundle[128];

	if (!is_run_name(name))
		return false;
	snprintf(bundle, sizeof(bundle), "%s/%s", name, BUNDLE_NAME);
	return faccessat(parent, bundle, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && abandoned(parent, name);
}

static int sweep(const char *path, sweep_wanted wanted, unsigned *count, struct error **err)
{
	cleanup_fd int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	int status = 0;
	DIR *list;

	*count = 0;
	if (folder < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "a folder to clean");
	list = fdopendir(dup(folder));
	if (!list)
		return error_errno(err, errno, "a folder to clean");
	while (status == 0 && (entry = readdir(list))) {
		if (!wanted(folder, entry->d_name))
			continue;
		status = fd_remove_tree(folder, entry->d_name, err);
		*count += status == 0;
	}
	closedir(list);
	return status;
}

int store_sweep(const char *out, unsigned *arms, unsigned *runs, struct error **err)
{
	if (sweep(TEMPORARY, wanted_arm, arms, err) < 0)
		return -1;
	return sweep(out, wanted_run, runs, err);
}
