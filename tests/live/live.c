#include "tests/live/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/engine.h"
#include "core/clock.h"
#include "core/fd.h"

#define WORDS_MAX 16
#define NOBODY 65534

static bool ready(char why[256])
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_error struct error *error = NULL;

	snprintf(why, 256, "needs root");
	if (geteuid() != 0)
		return false;
	if (engine_open(LIVE_SOCKET, &engine, &error) < 0 || engine_negotiate(engine, &error) < 0) {
		snprintf(why, 256, "%s", error_text(error));
		return false;
	}
	return true;
}

int live_main(const char *name, CU_SuiteInfo *suites)
{
	unsigned count = 0;
	char why[256];

	if (ready(why))
		return test_main(name, suites);
	for (const CU_SuiteInfo *suite = suites; suite->pName; suite++)
		for (const CU_TestInfo *test = suite->pTests; test->pName; test++, count++)
			printf("%s: skipped: %s: %s\n", name, test->pName, why);
	printf("%s: 0 passed, 0 failed, %u skipped\n", name, count);
	return 0;
}

void live_folder_make(struct live_folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/harness-live.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder->path));
	CU_ASSERT_EQUAL(chmod(folder->path, 0755), 0);
}

void live_folder_remove(struct live_folder *folder)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, folder->path, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

void live_file(const struct live_folder *folder, const char *name, const char *text)
{
	char path[PATH_MAX + 64];
	struct error *err = NULL;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	for (char *slash = strchr(path + strlen(folder->path) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, text, strlen(text), 0644, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

int live_shell(const char *script, const char *const *words, bool ordinary, int64_t milliseconds, struct buf *out)
{
	int64_t deadline = clock_deadline(milliseconds);
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int read_end = -1, write_end = -1;
	struct error *err = NULL;
	char *argv[WORDS_MAX + 4] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(script), (char[]){ "sh" } };
	char *envp[] = { (char[]){ "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" }, NULL };
	int status = -1;

	for (size_t i = 0; words && words[i] && i < WORDS_MAX - 1; i++)
		argv[4 + i] = strdup(words[i]);

	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = "/bin/sh", .argv = argv, .envp = envp, .drop_privileges = ordinary,
		.uid = NOBODY,  .gid = NOBODY,
	};
	if (fd_pipe(&read_end, &write_end, &err) == 0) {
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = write_end, .to = 1 };
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = write_end, .to = 2 };
		if (spawn(&options, &child, &err) == 0) {
			fd_close(&write_end);
			if (fd_read_all(read_end, out, deadline, &err) == 0 &&
			    child_wait(&child, deadline, &status, &err) < 0)
				status = -1;
		}
	}
	CU_ASSERT(test_no_error(&err));
	free(argv[2]);
	for (size_t i = 4; argv[i]; i++)
		free(argv[i]);
	return status;
}
