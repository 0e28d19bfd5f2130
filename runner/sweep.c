#include "runner/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "adapter/image.h"
#include "adapter/profile.h"
#include "core/fd.h"
#include "core/json.h"
#include "core/spawn.h"

#define STAT_BYTES 4096

typedef int (*each_container)(void *context, const char *id, const char *run, struct error **err);

static int for_each(struct engine *engine, const char *label, each_container each, void *context, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *document = NULL;

	if (engine_list(engine, label, &answer, err) < 0 ||
	    json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, &document, err) < 0)
		return -1;
	for (const struct json_node *one = json_first(json_root(document)); one; one = json_next(one)) {
		const char *id = json_string(json_member(one, "Id"));
		const char *run = json_string(json_member(json_member(one, "Labels"), PROFILE_LABEL_RUN));

		if (id && each(context, id, run ? run : "", err) < 0)
			return -1;
	}
	return 0;
}

struct removal {
	struct engine *engine;
	const char *out;
	unsigned *count, *kept;
};

/* Whether the folder of this run below `out` is locked by its runner. */
static bool under_way(const char *out, const char *run)
{
	cleanup_fd int folder = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	bool held = false;
	DIR *list;

	if (folder < 0 || strlen(run) < 8)
		return false;
	list = fdopendir(dup(folder));
	while (list && !held && (entry = readdir(list))) {
		const char *dash = strrchr(entry->d_name, '-');
		cleanup_fd int lock = -1;
		char path[512];

		if (!dash || strncmp(dash + 1, run, 8) != 0 || dash[9] != '\0')
			continue;
		snprintf(path, sizeof(path), "%s/lock", entry->d_name);
		lock = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		held = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0;
	}
	if (list)
		closedir(list);
	return held;
}

static int remove_one(void *context, const char *id, const char *run, struct error **err)
{
	const struct removal *removal = context;

	if (removal->out && under_way(removal->out, run)) {
		++*removal->kept;
		return 0;
	}
	if (engine_remove(removal->engine, id, err) < 0)
		return -1;
	++*removal->count;
	return 0;
}

int sweep_containers(struct engine *engine, const char *out, struct swept *swept, struct error **err)
{
	struct removal removal = { .engine = engine, .out = out, .count = &swept->containers, .kept = &swept->kept };

	return for_each(engine, PROFILE_LABEL_RUN, remove_one, &removal, err);
}

int sweep_run(struct engine *engine, const char *run, unsigned *count, struct error **err)
{
	struct removal removal = { .engine = engine, .count = count };
	char label[96];

	if (!run[0])
		return 0;
	snprintf(label, sizeof(label), "%s=%s", PROFILE_LABEL_RUN, run);
	return for_each(engine, label, remove_one, &removal, err);
}

int sweep_images(struct engine *engine, struct swept *swept, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *document = NULL;

	if (swept->kept)
		return 0;
	if (engine_images_by_reference(engine, IMAGE_REPOSITORY, &answer, err) < 0 ||
	    json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, &document, err) < 0)
		return -1;
	for (const struct json_node *one = json_first(json_root(document)); one; one = json_next(one)) {
		const char *id = json_string(json_member(one, "Id"));

		if (id && engine_image_remove(engine, id, err) < 0)
			return -1;
		swept->images += id != NULL;
	}
	return 0;
}

/* Field 4 of /proc/PID/stat, behind the program's name, which may hold anything. */
static int parent_of(int proc)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *ignored = NULL;
	const char *end;
	int parent = -1;

	if (fd_read_file(proc, "stat", STAT_BYTES, &text, &ignored) < 0)
		return -1;
	end = strrchr(buf_string(&text), ')');
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return -1;
	return parent;
}

/* A helper of ours that outlived its arm has lost its parent: it belongs to init, or to a process that is none of ours. */
static bool orphan(int proc, const char *folder)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(proc, "exe", path, sizeof(path) - 1);

	if (length < 0)
		return false;
	path[length] = '\0';
	return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/' && parent_of(proc) == 1;
}

int sweep_processes(unsigned *count, struct error **err)
{
	char folder[PATH_MAX];
	const struct dirent *entry;
	char *slash;
	DIR *list;

	if (spawn_helper_path("watchdog", folder, sizeof(folder), err) < 0)
		return -1;
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	list = opendir("/proc");
	if (!list)
		return error_errno(err, errno, "/proc");
	while ((entry = readdir(list))) {
		cleanup_fd int proc = -1, pidfd = -1;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pidfd = pidfd_open((pid_t)strtol(entry->d_name, NULL, 10), 0);
		proc = openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (pidfd >= 0 && proc >= 0 && orphan(proc, folder) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0)
			++*count;
	}
	closedir(list);
	return 0;
}
