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

#define ARM_PREFIX "harness-arm-"
#define LOCK_NAME "lock"
#define SIGN_PREFIX "harness-run-"
#define LATEST_PREFIX ".latest-"
#define PATH_SHOWN 160
#define SHORT_ID 8 /* digits of a run's id, in the names of its folders */

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

bool store_is_user(uid_t user)
{
	uid_t uid;
	gid_t gid;

	return sudo_user(&uid, &gid) && uid == user;
}

void store_give(int directory, const char *path)
{
	uid_t uid;
	gid_t gid;

	if (sudo_user(&uid, &gid))
		(void)!fchownat(directory, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

/* `shown` is the path as the caller of the program knows it. */
static int make_folder(int directory, const char *path, const char *shown, struct error **err)
{
	char safe[PATH_SHOWN];

	if (mkdirat(directory, path, 0755) == 0) {
		store_give(directory, path);
		return 0;
	}
	if (errno == EEXIST)
		return 0;
	return error_errno(err, errno, "cannot make the folder '%s': choose another with --out",
			   error_safe(shown, safe, sizeof(safe)));
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

/* Whether a run that is under way has an id that begins so. */
static bool sign_held(const char *beginning, size_t length)
{
	cleanup_file FILE *sockets = fopen("/proc/net/unix", "re");
	char line[512], name[64];
	bool held = false;

	snprintf(name, sizeof(name), " @" SIGN_PREFIX "%.*s", (int)length, beginning);
	while (sockets && !held && fgets(line, sizeof(line), sockets))
		held = strstr(line, name) != NULL;
	return held;
}

bool store_run_held(const char *run)
{
	return run ? strlen(run) == RUN_ID_MAX - 1 && sign_held(run, RUN_ID_MAX - 1) : sign_held("", 0);
}

int store_open(const char *out, struct store *store, struct error **err)
{
	char stamp[CLOCK_STAMP], safe[PATH_SHOWN];

	*store = (struct store){ .out = -1, .folder = -1, .lock = -1, .sign = -1 };
	if (new_run_id(store->run, err) < 0 || take_sign(store->run, &store->sign, err) < 0 ||
	    make_folder(AT_FDCWD, out, out, err) < 0)
		return -1;
	clock_stamp(stamp);
	clock_wall(store->started);
	snprintf(store->name, sizeof(store->name), "%s-%.*s", stamp, SHORT_ID, store->run);
	if (snprintf(store->path, sizeof(store->path), "%s/%s", out, store->name) >= (int)sizeof(store->path))
		return error_set(err, ERROR_USAGE, "the path of --out is too long");
	store->out = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->out < 0)
		return error_errno(err, errno, "the folder '%s': choose another with --out",
				   error_safe(out, safe, sizeof(safe)));
	if (make_folder(store->out, store->name, store->path, err) < 0)
		return -1;
	store->folder = openat(store->out, store->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (store->folder < 0)
		return error_errno(err, errno, "the run's folder '%s'", error_safe(store->path, safe, sizeof(safe)));
	return take_lock(store->folder, &store->lock, err);
}

int store_latest(const struct store *store, struct error **err)
{
	char temporary[80];

	snprintf(temporary, sizeof(temporary), LATEST_PREFIX "%.*s", SHORT_ID, store->run);
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

/* By its known contents first: where descriptors are short, that needs none. */
static void remove_unsealed(const struct store *store)
{
	cleanup_error struct error *ignored = NULL;

	(void)unlinkat(store->folder, STORE_OBSERVATIONS, 0);
	if (unlinkat(store->out, store->name, AT_REMOVEDIR) < 0)
		(void)!fd_remove_tree(store->out, store->name, &ignored);
}

void store_close(struct store *store, bool sealed)
{
	if (store->folder >= 0) {
		(void)unlinkat(store->folder, LOCK_NAME, 0);
		if (!sealed)
			remove_unsealed(store);
	} else if (store->out >= 0 && store->name[0]) {
		(void)unlinkat(store->out, store->name, AT_REMOVEDIR);
	}
	fd_close(&store->lock);
	fd_close(&store->folder);
	fd_close(&store->out);
	fd_close(&store->sign);
}

int store_arm_folder(const char *run, int *folder, int *lock, char path[PATH_MAX], struct error **err)
{
	snprintf(path, PATH_MAX, "%s/%s%.*s-XXXXXX", STORE_TEMPORARY, ARM_PREFIX, SHORT_ID, run);
	if (!mkdtemp(path))
		return error_errno(err, errno, "a temporary folder in %s", STORE_TEMPORARY);
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
	cleanup_dir DIR *list = opendir(STORE_TEMPORARY);
	const struct dirent *entry;
	int status = 0;

	if (!list)
		return error_errno(err, errno, "the folder %s", STORE_TEMPORARY);
	while (status == 0 && (entry = readdir(list))) {
		char path[PATH_MAX];
		struct stat found;

		if (strncmp(entry->d_name, ARM_PREFIX, strlen(ARM_PREFIX)) != 0 ||
		    fstatat(dirfd(list), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(found.st_mode) ||
		    found.st_uid != geteuid() || (found.st_mode & 0077) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", STORE_TEMPORARY, entry->d_name);
		status = each(context, entry->d_name + strlen(ARM_PREFIX), path, err);
	}
	return status;
}

/* Whether nobody holds the lock of this folder; one without a lock file is one whose maker died over it. */
static bool unlocked(int parent, const char *name)
{
	cleanup_fd int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fd int lock = folder < 0 ? -1 : openat(folder, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return folder >= 0 && (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0);
}

/* Of a run that is under way a folder may still be without its lock; of an arm that was started by hand, which shows no
 * sign, the lock alone speaks. */
static bool abandoned(int parent, const char *name, const char *digits, size_t length)
{
	return !sign_held(digits, length) && unlocked(parent, name);
}

static bool is_arm_folder(int parent, const char *name)
{
	struct stat status;

	return strncmp(name, ARM_PREFIX, strlen(ARM_PREFIX)) == 0 &&
	       fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid();
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

static bool is_sealed(int parent, const char *name)
{
	char bundle[128];

	snprintf(bundle, sizeof(bundle), "%s/%s", name, BUNDLE_NAME);
	return faccessat(parent, bundle, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Ours, and held by nobody. */
static bool run_abandoned(int parent, const char *name)
{
	return is_run_name(name) && abandoned(parent, name, strrchr(name, '-') + 1, SHORT_ID);
}

/* A link that its run died over before it got its name. */
static bool wanted_link(const char *name)
{
	size_t length = strlen(LATEST_PREFIX);

	return strncmp(name, LATEST_PREFIX, length) == 0 && strlen(name) == length + SHORT_ID &&
	       !sign_held(name + length, SHORT_ID);
}

typedef int (*sweep_each)(int folder, const char *name, const char *run, unsigned *count, struct error **err);

static int sweep(const char *path, sweep_each each, const char *run, unsigned *count, struct error **err)
{
	cleanup_fd int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	cleanup_dir DIR *list = NULL;
	int status = 0;

	*count = 0;
	if (folder < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "a folder to clean");
	list = fdopendir(dup(folder));
	if (!list)
		return error_errno(err, errno, "a folder to clean");
	while (status == 0 && (entry = readdir(list)))
		status = each(folder, entry->d_name, run, count, err);
	return status;
}

static int remove_counted(int folder, const char *name, unsigned *count, struct error **err)
{
	int status = fd_remove_tree(folder, name, err);

	*count += status == 0;
	return status;
}

static int sweep_arm(int folder, const char *name, const char *run, unsigned *count, struct error **err)
{
	const char *digits = name + strlen(ARM_PREFIX);
	bool wanted = is_arm_folder(folder, name);

	if (wanted && run)
		wanted = strncmp(digits, run, SHORT_ID) == 0 && digits[SHORT_ID] == '-' && unlocked(folder, name);
	else if (wanted)
		wanted = abandoned(folder, name, digits, strcspn(digits, "-"));
	return wanted ? remove_counted(folder, name, count, err) : 0;
}

/* What stands beside a bundle whose run died between sealing it and tidying up. */
static int tidy_sealed(int parent, const char *name, struct error **err)
{
	static const char *const beside[] = { STORE_OBSERVATIONS, LOCK_NAME };
	cleanup_fd int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		if (folder >= 0 && unlinkat(folder, beside[i], 0) < 0 && errno != ENOENT)
			return error_errno(err, errno, "tidying a sealed run's folder");
	return 0;
}

static int sweep_run_folder(int out, const char *name, const char *run, unsigned *count, struct error **err)
{
	(void)run;
	if (wanted_link(name))
		return fd_remove_tree(out, name, err);
	if (!run_abandoned(out, name))
		return 0;
	return is_sealed(out, name) ? tidy_sealed(out, name, err) : remove_counted(out, name, count, err);
}

int store_sweep_arms(const char *temporary, const char *run, unsigned *count, struct error **err)
{
	return sweep(temporary, sweep_arm, run, count, err);
}

int store_sweep_runs(const char *out, unsigned *count, struct error **err)
{
	return sweep(out, sweep_run_folder, NULL, count, err);
}
