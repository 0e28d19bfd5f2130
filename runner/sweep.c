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
#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"
#include "core/proc.h"
#include "core/spawn.h"
#include "runner/store.h"

#define STUCK_MS 10000

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
	const char *label;
	unsigned *count, *kept; /* kept NULL: a run that is under way is no reason */
	struct error *stuck; /* of a pass: the first that could not be removed */
};

static int remove_one(void *context, const char *id, const char *run, struct error **err)
{
	struct removal *removal = context;
	struct error *stuck = NULL, *late = NULL;

	(void)err;
	if (removal->kept && store_run_held(run)) {
		++*removal->kept;
		return 0;
	}
	/* A removal that a killed run asked for may still be under way, and the engine refuses another one of the same.
	 */
	if (engine_remove(removal->engine, id, &stuck) < 0 &&
	    engine_await_removal(removal->engine, id, clock_deadline(STUCK_MS), &late) < 0) {
		error_keep_first(&removal->stuck, &stuck);
		error_free(late);
		return 0;
	}
	error_free(stuck);
	++*removal->count;
	return 0;
}

static int remove_containers(struct removal *removal, struct error **err)
{
	if (removal->kept)
		*removal->kept = 0;
	return for_each(removal->engine, removal->label, remove_one, removal, err);
}

static int remove_images(struct removal *removal, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *document = NULL;

	if (engine_images_by_reference(removal->engine, IMAGE_REPOSITORY, &answer, err) < 0 ||
	    json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, &document, err) < 0)
		return -1;
	for (const struct json_node *one = json_first(json_root(document)); one; one = json_next(one)) {
		const char *id = json_string(json_member(one, "Id"));
		struct error *stuck = NULL;

		if (!id)
			continue;
		if (engine_image_remove(removal->engine, id, &stuck) < 0)
			error_keep_first(&removal->stuck, &stuck);
		else
			++*removal->count;
	}
	return 0;
}

/* All are tried; the first that stays is the error. */
static int sweep_all(int (*pass)(struct removal *removal, struct error **err), struct removal *removal,
		     struct error **err)
{
	int status = pass(removal, err);

	error_keep_first(err, &removal->stuck);
	return *err ? -1 : status;
}

int sweep_containers(struct engine *engine, struct swept *swept, struct error **err)
{
	struct removal removal = {
		.engine = engine, .label = PROFILE_LABEL_RUN, .count = &swept->containers, .kept = &swept->kept
	};

	return sweep_all(remove_containers, &removal, err);
}

int sweep_run(struct engine *engine, const char *run, unsigned *count, struct error **err)
{
	char label[96];
	struct removal removal = { .engine = engine, .label = label, .count = count };

	if (!run[0])
		return 0;
	snprintf(label, sizeof(label), "%s=%s", PROFILE_LABEL_RUN, run);
	return sweep_all(remove_containers, &removal, err);
}

int sweep_images(struct engine *engine, struct swept *swept, struct error **err)
{
	struct removal removal = { .engine = engine, .count = &swept->images };

	return store_run_held(NULL) ? 0 : sweep_all(remove_images, &removal, err);
}

static bool program_of(int proc, char path[PATH_MAX])
{
	ssize_t length = readlinkat(proc, "exe", path, PATH_MAX - 1);

	path[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

static bool below(const char *path, const char *folder, size_t length)
{
	return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* A helper that outlived its arm has lost its parent: it was adopted by init, or by another process that is none of
 * ours, neither this program nor one that was built beside the helpers. */
static bool orphan(int list, int proc, const char *folder)
{
	char path[PATH_MAX], self[PATH_MAX], parent_name[16];
	const char *slash = strrchr(folder, '/');
	cleanup_fd int parent = -1, own = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!program_of(proc, path) || !below(path, folder, strlen(folder)) || !program_of(own, self))
		return false;
	snprintf(parent_name, sizeof(parent_name), "%d", proc_parent(proc));
	parent = openat(list, parent_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Of a program that was built anew meanwhile the path goes on: " (deleted)". */
	return parent >= 0 && program_of(parent, path) && strncmp(path, self, strlen(self)) != 0 &&
	       !below(path, folder, slash ? (size_t)(slash - folder) : strlen(folder));
}

int sweep_processes(unsigned *count, struct error **err)
{
	char folder[PATH_MAX];
	const struct dirent *entry;
	char *slash;
	cleanup_dir DIR *list = NULL;

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
		if (pidfd >= 0 && proc >= 0 && orphan(dirfd(list), proc, folder) &&
		    pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0)
			++*count;
	}
	return 0;
}
