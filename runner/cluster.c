#include "runner/cluster.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "core/spawn.h"
#include "runner/store.h"

#define HELPER "order-database"
#define PREFIX "harness_"
#define RUN_DIGITS (RUN_ID_MAX - 1)
#define SAYS_BYTES (256 * KIB)
#define HELPER_MS 15000

/* Runs the helper to its end; what it says is appended to `says`, and its words of failure are its own. */
static int ask(const char *folder, const char *verb, const char *name, struct buf *says, struct error **err)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int read_end = -1, write_end = -1;
	char path[PATH_MAX], program[] = HELPER, where[CLUSTER_FOLDER_BYTES], what[NAME_MAX_SHORT],
			     whose[CLUSTER_NAME_BYTES];
	char *argv[] = { program, where, what, name ? whose : NULL, NULL };
	int64_t deadline = clock_deadline(HELPER_MS);
	int status = -1;

	if (strlen(folder) >= sizeof(where))
		return error_set(err, ERROR_USAGE, "the folder of a PostgreSQL socket has at most %zu bytes",
				 sizeof(where) - 1);
	snprintf(where, sizeof(where), "%s", folder);
	snprintf(what, sizeof(what), "%s", verb);
	snprintf(whose, sizeof(whose), "%s", name ? name : "");
	if (spawn_helper_path(HELPER, path, sizeof(path), err) < 0 || fd_pipe(&read_end, &write_end, err) < 0)
		return -1;

	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv,
					 .fds = { { .from = write_end, .to = 1 } }, .fds_count = 1 };
	if (spawn(&options, &child, err) < 0)
		return -1;
	fd_close(&write_end);
	if (fd_read_all(read_end, says, deadline, err) < 0 || child_wait(&child, deadline, &status, err) < 0)
		return -1;
	return status == 0 ? 0 : error_set(err, ERROR_REFUSED, "the PostgreSQL cluster did not do what was asked");
}

const char *cluster_folder(const char *named)
{
	return named ? named : POSTGRES_FOLDER;
}

bool cluster_there(const char *folder)
{
	char path[PATH_MAX];
	struct stat found;

	snprintf(path, sizeof(path), "%s/" POSTGRES_SOCKET, folder);
	return stat(path, &found) == 0 && S_ISSOCK(found.st_mode);
}

void cluster_version(const char *folder, char out[CLUSTER_VERSION_BYTES])
{
	cleanup_buf struct buf says = BUF(SAYS_BYTES);
	cleanup_error struct error *absent = NULL;

	out[0] = '\0';
	if (!cluster_there(folder) || ask(folder, "version", NULL, &says, &absent) < 0)
		return;
	snprintf(out, CLUSTER_VERSION_BYTES, "%.*s", (int)strcspn(buf_string(&says), "\n"), buf_string(&says));
}

void cluster_name(const char *run, const char *path, char out[CLUSTER_NAME_BYTES])
{
	const char *id = strrchr(path, '-');

	snprintf(out, CLUSTER_NAME_BYTES, PREFIX "%.*s_%.20s", RUN_DIGITS, run, id ? id + 1 : "");
}

int cluster_create(const char *folder, const char *name, struct error **err)
{
	cleanup_buf struct buf says = BUF(SAYS_BYTES);

	return ask(folder, "create", name, &says, err) < 0 ? error_wrap(err, "a database of orders") : 0;
}

int cluster_drop(const char *folder, const char *name, struct error **err)
{
	cleanup_buf struct buf says = BUF(SAYS_BYTES);

	return ask(folder, "drop", name, &says, err) < 0 ? error_wrap(err, "removing a database of orders") : 0;
}

/* Of the run, or of one that is over. */
static bool is_left(const char *name, const char *run)
{
	char of[RUN_ID_MAX];
	const char *digits = name + strlen(PREFIX);

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	snprintf(of, sizeof(of), "%.*s", (int)strcspn(digits, "_"), digits);
	return run ? strcmp(of, run) == 0 : !store_run_held(of);
}

int cluster_sweep(const char *folder, const char *run, unsigned *count, struct error **err)
{
	cleanup_buf struct buf says = BUF(SAYS_BYTES);
	cleanup_error struct error *absent = NULL;
	struct error *first = NULL;

	if (!cluster_there(folder) || ask(folder, "list", NULL, &says, &absent) < 0)
		return 0;
	for (const char *at = buf_string(&says); *at;) {
		char name[CLUSTER_NAME_BYTES];
		size_t length = strcspn(at, "\n");
		struct error *stuck = NULL;

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		at += length + (at[length] == '\n');
		if (!is_left(name, run))
			continue;
		if (cluster_drop(folder, name, &stuck) < 0)
			error_keep_first(&first, &stuck);
		else
			++*count;
	}
	if (!first)
		return 0;
	error_keep_first(err, &first);
	return -1;
}
