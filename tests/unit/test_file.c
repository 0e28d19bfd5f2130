/* Whole files and trees: core/file.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000
#define CHILD_MOUNTED "mounted"
#define EXIT_NO_NAMESPACE 77

/* A scratch folder; its descriptor is what the functions under test work below. */
struct scratch {
	char path[64];
	int fd;
};

static void scratch_open(struct scratch *scratch)
{
	snprintf(scratch->path, sizeof(scratch->path), "/tmp/test_file.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(scratch->path));
	scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(scratch->fd >= 0);
}

static void scratch_close(struct scratch *scratch)
{
	struct error *err = NULL;

	fd_close(&scratch->fd);
	if (scratch->path[0] != '\0')
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, scratch->path, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define SCRATCH __attribute__((cleanup(scratch_close))) struct scratch scratch = { .path = "", .fd = -1 }

static void put(int folder, const char *path, const char *text)
{
	cleanup_fd int fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t length = (ssize_t)strlen(text);

	CU_ASSERT_EQUAL(write(fd, text, (size_t)length), length);
}

static bool exists(int folder, const char *path)
{
	return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static size_t entries(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fdopendir(fd);
	size_t count = 0;

	while (stream && readdir(stream))
		count++;
	if (stream)
		closedir(stream);
	return count - 2;
}

static void test_read(void)
{
	SCRATCH;
	cleanup_buf struct buf out = BUF(100);
	struct error *err = NULL;

	scratch_open(&scratch);
	put(scratch.fd, "file", "12345");
	CU_ASSERT_EQUAL(buf_text(&out, "before "), 0);
	CU_ASSERT_EQUAL(fd_read_file(scratch.fd, "file", 5, &out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "before 12345");
	CU_ASSERT_EQUAL(out.max, 100);
	buf_free(&out);
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, "/proc/self/comm", 64, &out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "test_file\n");
}

static void test_read_refused(void)
{
	SCRATCH;
	cleanup_buf struct buf out = BUF(100);
	cleanup_buf struct buf small = BUF(4);
	struct error *err = NULL;

	scratch_open(&scratch);
	put(scratch.fd, "file", "12345");
	CU_ASSERT(fd_read_file(scratch.fd, "file", 4, &out, &err) < 0);
	CU_ASSERT_EQUAL(out.max, 100);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "file: "));
	CU_ASSERT(fd_read_file(scratch.fd, "file", 50, &small, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "4 bytes"));
	CU_ASSERT(fd_read_file(scratch.fd, "missing", 4, &out, &err) < 0);
	CU_ASSERT_EQUAL(error_number(err), ENOENT);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "missing"));
	CU_ASSERT(fd_read_file(scratch.fd, ".", 4, &out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "not a regular file"));
	CU_ASSERT_EQUAL(mkfifoat(scratch.fd, "fifo", 0600), 0);
	CU_ASSERT(fd_read_file(scratch.fd, "fifo", 4, &out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "not a regular file"));
}

static void check_written(int folder, const char *path, const char *text, mode_t mode)
{
	cleanup_buf struct buf out = BUF(100);
	struct error *err = NULL;
	struct stat info = { 0 };

	CU_ASSERT_EQUAL(fd_read_file(folder, path, 100, &out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), text);
	CU_ASSERT_EQUAL(fstatat(folder, path, &info, 0), 0);
	CU_ASSERT_EQUAL(info.st_mode & 07777, mode);
}

static void test_write(void)
{
	SCRATCH;
	struct error *err = NULL;
	mode_t mask = umask(077);

	scratch_open(&scratch);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "sub", 0700), 0);
	CU_ASSERT_EQUAL(fd_write_atomic(scratch.fd, "file", "one", 3, 0644, &err), 0);
	check_written(scratch.fd, "file", "one", 0644);
	CU_ASSERT_EQUAL(fd_write_atomic(scratch.fd, "file", "", 0, 0600, &err), 0);
	check_written(scratch.fd, "file", "", 0600);
	CU_ASSERT_EQUAL(fd_write_atomic(scratch.fd, "sub//other", "two", 3, 0400, &err), 0);
	check_written(scratch.fd, "sub/other", "two", 0400);
	CU_ASSERT(test_no_error(&err));
	/* A link is replaced, never followed. */
	CU_ASSERT_EQUAL(symlinkat("file", scratch.fd, "link"), 0);
	CU_ASSERT_EQUAL(fd_write_atomic(scratch.fd, "link", "three", 5, 0600, &err), 0);
	CU_ASSERT(test_no_error(&err));
	check_written(scratch.fd, "link", "three", 0600);
	check_written(scratch.fd, "file", "", 0600);
	CU_ASSERT_EQUAL(entries(scratch.fd), 3);
	umask(mask);
}

static void test_write_refused(void)
{
	SCRATCH;
	struct error *err = NULL;

	scratch_open(&scratch);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "folder", 0700), 0);
	CU_ASSERT(fd_write_atomic(scratch.fd, "folder", "one", 3, 0600, &err) < 0);
	CU_ASSERT_EQUAL(error_number(err), EISDIR);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "folder"));
	CU_ASSERT_EQUAL(entries(scratch.fd), 1);
	/* No name of ours, but the one that was given, whole. */
	CU_ASSERT(fd_write_atomic(scratch.fd, "./folder", "one", 3, 0600, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "writing ./folder: Is a directory"));
	CU_ASSERT(fd_write_atomic(AT_FDCWD, "/proc/self/none", "one", 3, 0600, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "writing /proc/self/none: "));
	CU_ASSERT(fd_write_atomic(scratch.fd, "missing/file", "one", 3, 0600, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "missing"));
	CU_ASSERT(fd_write_atomic(scratch.fd, "", "one", 3, 0600, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "path"));
	CU_ASSERT(fd_write_atomic(scratch.fd, "..", "one", 3, 0600, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "path"));
}

static void test_remove(void)
{
	SCRATCH;
	struct error *err = NULL;

	scratch_open(&scratch);
	put(scratch.fd, "kept", "text");
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "other", 0700), 0);
	put(scratch.fd, "other/kept", "text");
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "tree", 0700), 0);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "tree/a", 0700), 0);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "tree/a/b", 0700), 0);
	CU_ASSERT_EQUAL(symlinkat("../../../other", scratch.fd, "tree/a/b/link"), 0);
	CU_ASSERT_EQUAL(symlinkat("nowhere", scratch.fd, "tree/dangling"), 0);
	CU_ASSERT_EQUAL(mkfifoat(scratch.fd, "tree/fifo", 0600), 0);
	for (int i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tree/a/file-%d", i);
		put(scratch.fd, name, "");
	}
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "tree/", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(!exists(scratch.fd, "tree"));
	CU_ASSERT(exists(scratch.fd, "other/kept"));
	/* Missing is removed, at any depth. */
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "tree", &err), 0);
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "tree/a/b", &err), 0);
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "kept", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(!exists(scratch.fd, "kept"));
}

static void test_remove_link(void)
{
	SCRATCH;
	struct error *err = NULL;

	scratch_open(&scratch);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "other", 0700), 0);
	put(scratch.fd, "other/kept", "text");
	CU_ASSERT_EQUAL(symlinkat("other", scratch.fd, "link"), 0);
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "link//", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(!exists(scratch.fd, "link"));
	CU_ASSERT(exists(scratch.fd, "other/kept"));
}

static void test_remove_refused(void)
{
	static const char *const paths[] = { "", "/", ".", "..", "sub/..", "sub/." };
	SCRATCH;
	struct error *err = NULL;

	scratch_open(&scratch);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "sub", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CU_ASSERT(fd_remove_tree(scratch.fd, paths[i], &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the path"));
	}
	CU_ASSERT(exists(scratch.fd, "sub"));
}

static void test_remove_deep(void)
{
	enum { DEPTH = 70 };
	SCRATCH;
	struct error *err = NULL;
	char path[2 * DEPTH + 1] = "";

	scratch_open(&scratch);
	for (size_t i = 0; i < DEPTH; i++) {
		memcpy(path + 2 * i, "d/", 3);
		CU_ASSERT_EQUAL(mkdirat(scratch.fd, path, 0700), 0);
	}
	CU_ASSERT(fd_remove_tree(scratch.fd, "d", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "64 folders"));
	/* In two parts it goes. */
	path[2 * 30] = '\0';
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, path, &err), 0);
	CU_ASSERT_EQUAL(fd_remove_tree(scratch.fd, "d", &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* The child's half of test_remove_mounted(), in a mount namespace of its own. Returns its exit status. */
static int child_mounted(const char *tree)
{
	struct error *err = NULL;
	char point[128], file[160];
	int status = 0;

	snprintf(point, sizeof(point), "%s/point", tree);
	snprintf(file, sizeof(file), "%s/file", point);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", point, "tmpfs", 0, "size=64k") < 0)
		return EXIT_NO_NAMESPACE;
	if (fd_write_atomic(AT_FDCWD, file, "text", 4, 0600, &err) < 0)
		status |= 4;
	if (fd_remove_tree(AT_FDCWD, tree, &err) == 0 || !test_error(&err, ERROR_REFUSED, "file system"))
		status |= 1;
	if (!exists(AT_FDCWD, file))
		status |= 2;
	return status;
}

static void test_remove_mounted(void)
{
	SCRATCH;
	cleanup_child struct child child = CHILD_NONE;
	char path[128] = "";
	char *argv[] = { (char[]){ "test_file" }, (char[]){ CHILD_MOUNTED }, path, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/proc/self/exe", .argv = argv };
	struct error *err = NULL;
	int status = -1;

	scratch_open(&scratch);
	snprintf(path, sizeof(path), "%s/tree", scratch.path);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "tree", 0700), 0);
	CU_ASSERT_EQUAL(mkdirat(scratch.fd, "tree/point", 0700), 0);
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = 2, .to = 2 };
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(GUARD_MS), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	/* Only root may mount; for anyone else it must be that which failed. */
	CU_ASSERT(status == 0 || (status == EXIT_NO_NAMESPACE && geteuid() != 0));
}

static CU_TestInfo read_tests[] = {
	{ "read", test_read },
	{ "read: refused", test_read_refused },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo write_tests[] = {
	{ "write", test_write },
	{ "write: refused", test_write_refused },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo remove_tests[] = {
	{ "remove", test_remove },
	{ "remove: a link", test_remove_link },
	{ "remove: refused", test_remove_refused },
	{ "remove: too deep", test_remove_deep },
	{ "remove: a mount", test_remove_mounted },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "read", .pTests = read_tests },
	{ .pName = "write", .pTests = write_tests },
	{ .pName = "remove", .pTests = remove_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], CHILD_MOUNTED) == 0)
		return child_mounted(argv[2]);
	return test_main("file", suites);
}
