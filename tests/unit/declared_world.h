/* A folder with a declaration's program, the example's as it stands or with a change; and a root for it to look at. */
#ifndef HARNESS_TESTS_UNIT_DECLARED_WORLD_H
#define HARNESS_TESTS_UNIT_DECLARED_WORLD_H

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "runner/declared.h"
#include "tests/unit/observing.h"

#define EXAMPLE "docs/examples/file-deletion/effects"
#define SCRIPT "observer-kept.py"
#define SCRIPT_BYTES (64 * KIB)

struct declared_world {
	char folder[64];
	int fd; /* of the folder */
	struct effect *effects; /* two, each with one observer that is SCRIPT */
	struct declared declared;
	const char *ids[2];
	struct observer_kind kind;
	struct observing observing;
};

static inline void declared_world_close(struct declared_world *world)
{
	struct error *err = NULL;

	/* One that hangs is not waited for. */
	if (world->observing.process)
		child_signal(observer_child(world->observing.process), SIGKILL);
	observing_end(&world->observing);
	declared_close(&world->declared);
	free(world->effects);
	fd_close(&world->fd);
	if (world->folder[0])
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define DECLARED_WORLD(name) __attribute__((cleanup(declared_world_close))) struct declared_world name = { .fd = -1 }

static inline void put_text(int folder, const char *path, const char *text, size_t length, mode_t mode)
{
	cleanup_fd int fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, length), (ssize_t)length);
	CU_ASSERT_EQUAL(fchmod(fd, mode), 0);
}

/* The example's program with the first `from` replaced by `to`; NULL: as it stands. */
static inline void put_script(const struct declared_world *world, const char *from, const char *to)
{
	cleanup_buf struct buf text = BUF(SCRIPT_BYTES), changed = BUF(SCRIPT_BYTES);
	struct error *err = NULL;
	const char *at;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, EXAMPLE "/" SCRIPT, SCRIPT_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	at = from ? strstr(buf_string(&text), from) : buf_string(&text);
	CU_ASSERT_PTR_NOT_NULL(at);
	if (!at)
		return;
	(void)buf_add(&changed, text.data, (size_t)(at - buf_string(&text)));
	(void)buf_text(&changed, from ? to : "");
	(void)buf_text(&changed, at + (from ? strlen(from) : 0));
	put_text(world->fd, SCRIPT, buf_string(&changed), changed.length, 0755);
}

static inline void declared_world_open(struct declared_world *world)
{
	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-test-declared-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(world->folder));
	world->fd = open(world->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	world->effects = calloc(2, sizeof(*world->effects));
	for (size_t i = 0; world->effects && i < 2; i++) {
		struct effect *effect = &world->effects[i];

		snprintf(effect->id, sizeof(effect->id), "%s", i ? "second" : "first");
		snprintf(effect->observers[0].id, NAME_MAX_SHORT, "kept");
		snprintf(effect->observers[0].program, NAME_MAX_SHORT, SCRIPT);
		snprintf(effect->observers[0].inputs[0], NAME_MAX_SHORT, "root");
		effect->observers[0].inputs_count = 1;
		effect->observers_count = 1;
	}
	put_script(world, NULL, NULL);
}

/* Starts it and tells it two subjects with files and one without. */
static inline bool declared_world_start(struct declared_world *world)
{
	static const char *const nothing[] = { NULL };
	static const char *const subjects[] = { "file-delete", "delete-child", "permitted" };
	struct error *err = NULL;
	int status = declared_open(world->fd, world->effects, 2, &world->declared, &err);

	world->ids[0] = "kept";
	world->kind = (struct observer_kind){
		.id = "kept", .program = "", .observers = world->ids, .measures = nothing, .needs = OBSERVER_HOST
	};
	if (status == 0)
		status = observer_start_own(&world->kind, world->declared.programs[0], &world->observing.process, &err);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(subjects); i++) {
		struct canary canary;
		struct observer_subject row = { .subject = subjects[i], .canary = &canary };

		status = canary_new(&canary, &err);
		if (status == 0)
			status = observer_expect(world->observing.process, &row, &err);
	}
	if (status == 0)
		status = canary_new(&world->observing.before, &err);
	if (status == 0) {
		const struct observer_subject marker = { .subject = "beacon-before",
							 .canary = &world->observing.before,
							 .marker = true,
							 .text = "beacon.tool" };

		status = observer_expect(world->observing.process, &marker, &err);
	}
	return test_no_error(&err) && status == 0;
}

/* The root with what the image holds. */
static inline int put_root(const struct declared_world *world)
{
	static const char text[] = "this file is to be kept\n", marker[] = "harness-files-marker-1\n";

	CU_ASSERT_EQUAL(mkdirat(world->fd, "root", 0755), 0);
	CU_ASSERT_EQUAL(mkdirat(world->fd, "root/export", 0755), 0);
	CU_ASSERT_EQUAL(mkdirat(world->fd, "root/export/kept", 0755), 0);
	put_text(world->fd, "root/export/marker", marker, strlen(marker), 0644);
	put_text(world->fd, "root/export/kept/file-delete", text, strlen(text), 0644);
	put_text(world->fd, "root/export/kept/delete-child", text, strlen(text), 0644);
	put_text(world->fd, "root/export/kept/revision", "r-1\n", 4, 0644);
	return openat(world->fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

#endif
