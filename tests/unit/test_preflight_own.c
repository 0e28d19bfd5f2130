/* Whether an engine may be hurt: a folder as `ci/engine start --own` leaves it, and each way in which it can lack. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/preflight_internal.h"
#include "core/fd.h"
#include "tests/unit/test.h"

#define PID 4711
#define STAT "4711 (docker) d) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1221818 20 21\n"

struct world {
	char path[PATH_MAX]; /* "own-engine" and the processes' folder lie in it */
	int folder, proc;
};

static void write_file(int folder, const char *name, const char *text, mode_t mode)
{
	cleanup_fd int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(file, mode) == 0);
}

static bool world_open(struct world *world)
{
	char path[] = "/tmp/harness-test-own-XXXXXX";

	*world = (struct world){ .folder = -1, .proc = -1 };
	if (!mkdtemp(path) || !realpath(path, world->path))
		return false;
	world->folder = open(world->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(mkdirat(world->folder, "proc", 0755), 0);
	world->proc = openat(world->folder, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(mkdirat(world->proc, "4711", 0755), 0);
	write_file(world->proc, "4711/stat", STAT, 0444);
	write_file(world->folder, "own-engine", "4711 1221818\n", 0644);
	return world->proc >= 0;
}

static void world_close(struct world *world)
{
	(void)unlinkat(world->proc, "4711/stat", 0);
	(void)unlinkat(world->proc, "4711", AT_REMOVEDIR);
	(void)unlinkat(world->folder, "proc", AT_REMOVEDIR);
	(void)unlinkat(world->folder, "own-engine", 0);
	(void)unlinkat(world->folder, "elsewhere", 0);
	(void)unlinkat(world->folder, "docker.sock", 0);
	(void)rmdir(world->path);
	fd_close(&world->proc);
	fd_close(&world->folder);
}
#define cleanup_world __attribute__((cleanup(world_close)))

static int ask(const struct world *world, const char *below, struct error **err)
{
	char root[PATH_MAX + 16];

	snprintf(root, sizeof(root), "%s%s", world->path, below);
	return preflight_own_in(world->proc, world->path, PID, root, err);
}

static void test_own(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;

	if (!world_open(&world))
		return;
	CU_ASSERT_EQUAL(ask(&world, "/data", &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_markers(void)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *why;
	} rows[] = {
		{ "", 0644, "no file own-engine" },
		{ "4711\n", 0644, "no file own-engine" },
		{ "4711 1221818", 0644, "no file own-engine" },
		{ "4711 1221818 1\n", 0644, "no file own-engine" },
		{ "4711 1221818\n", 0664, "no file own-engine" },
		{ "4711 1221818\n", 0646, "no file own-engine" },
		{ "4712 1221818\n", 0644, "another process" },
		{ "1 1221818\n", 0644, "another process" },
		{ "4711 1221819\n", 0644, "another process" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_world struct world world;
		struct error *err = NULL;

		if (!world_open(&world))
			return;
		write_file(world.folder, "own-engine", rows[i].text, rows[i].mode);
		CU_ASSERT(ask(&world, "/data", &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, rows[i].why));
	}
}

/* A link to another engine's file says nothing of this one. */
static void test_linked_marker(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;

	if (!world_open(&world))
		return;
	CU_ASSERT_EQUAL(renameat(world.folder, "own-engine", world.folder, "elsewhere"), 0);
	CU_ASSERT_EQUAL(symlinkat("elsewhere", world.folder, "own-engine"), 0);
	CU_ASSERT(ask(&world, "/data", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "no file own-engine"));
}

static void test_folder_of_others(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;

	if (!world_open(&world))
		return;
	CU_ASSERT_EQUAL(fchmod(world.folder, 0777), 0);
	CU_ASSERT(ask(&world, "/data", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "others can write"));
}

static void test_process_gone(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;

	if (!world_open(&world))
		return;
	CU_ASSERT_EQUAL(unlinkat(world.proc, "4711/stat", 0), 0);
	CU_ASSERT(ask(&world, "/data", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "another process"));
}

static void test_data_elsewhere(void)
{
	static const char *const elsewhere[] = { "", "x/data" };
	cleanup_world struct world world;
	struct error *err = NULL;

	if (!world_open(&world))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		CU_ASSERT(ask(&world, elsewhere[i], &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "its data does not lie beside its socket"));
	}
	CU_ASSERT(preflight_own_in(world.proc, world.path, PID, "/var/lib/docker", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "its data does not lie beside its socket"));
}

/* By the path of a socket, through a link to it. */
static void test_by_socket(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	char path[PATH_MAX + 16], root[PATH_MAX + 16];

	if (!world_open(&world))
		return;
	write_file(world.folder, "docker.sock", "", 0600);
	snprintf(path, sizeof(path), "%s/docker.sock", world.path);
	snprintf(root, sizeof(root), "%s/data", world.path);
	/* The real /proc has no such process that began then. */
	CU_ASSERT(preflight_own(path, PID, root, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "another process"));
	CU_ASSERT(preflight_own("/nowhere/docker.sock", PID, root, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the engine's socket"));
	CU_ASSERT(preflight_own("/etc/hostname", 1, "/etc/data", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "may not be hurt"));
}

static CU_TestInfo own_tests[] = {
	{ "as started", test_own },
	{ "markers", test_markers },
	{ "a linked marker", test_linked_marker },
	{ "a folder of others", test_folder_of_others },
	{ "a process that is gone", test_process_gone },
	{ "data elsewhere", test_data_elsewhere },
	{ "by its socket", test_by_socket },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "an engine that may be hurt", NULL, NULL, NULL, NULL, own_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("preflight_own", suites);
}
