#include "core/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "core/limits.h"

#define COPY_CHUNK (64 * KIB)
#define PATH_ROOM (PATH_MAX + 64)
/* Where SQLite's connections lock the file ("pending", "reserved" and "shared"). */
#define LOCKS_AT 0x40000000
#define LOCKS_LENGTH 512
#define COPY_NAME "copy"

/* The files that make up a database at rest. */
static const char *const parts[] = { "", "-wal", "-journal" };
#define PARTS 3

struct database {
	sqlite3 *connection;
	int folder;
	char name[NAME_MAX + 1];
	bool in_place; /* under SQLite's locks */
	struct stat before[PARTS]; /* st_ino is 0 where there was none */
};

/* ---- its files -----------------------------------------------------------------------------------------------------
 */

/* The regular file, or -1. */
static int open_part(const struct database *database, size_t part, struct stat *about)
{
	char name[NAME_MAX + 16];
	cleanup_fd int fd = -1;

	snprintf(name, sizeof(name), "%s%s", database->name, parts[part]);
	fd = openat(database->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, about) < 0 || !S_ISREG(about->st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return steal_fd(&fd);
}

static int look(const struct database *database, struct stat found[PARTS], bool *live, struct error **err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKS_AT, .l_len = LOCKS_LENGTH };

	memset(found, 0, PARTS * sizeof(*found));
	for (size_t i = 0; i < PARTS; i++) {
		cleanup_fd int fd = open_part(database, i, &found[i]);

		if (fd < 0 && (i == 0 || errno != ENOENT))
			return error_set(err, ERROR_INPUT, "a database that cannot be read: %s",
					 strerrorname_np(errno));
		if (i == 0 && fcntl(fd, F_GETLK, &lock) < 0)
			return error_errno(err, errno, "asking for a database's locks");
	}
	*live = lock.l_type != F_UNLCK;
	return 0;
}

static int copy_bytes(int from, int to, struct error **err)
{
	cleanup_free char *chunk = malloc(COPY_CHUNK);
	off_t at = 0;

	if (!chunk)
		return error_set(err, ERROR_MEMORY, "no memory to copy a database");
	for (;;) {
		ssize_t got = pread(from, chunk, COPY_CHUNK, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "reading a database");
		if (got == 0)
			return 0;
		if (at + got > DATABASE_BYTES)
			return error_set(err, ERROR_LIMIT, "a database of more than %lld bytes", DATABASE_BYTES);
		if (pwrite(to, chunk, (size_t)got, at) != got)
			return error_errno(err, errno, "copying a database");
		at += got;
	}
}

static int copy_part(const struct database *database, size_t part, int to, struct error **err)
{
	struct stat about;
	cleanup_fd int from = open_part(database, part, &about), copy = -1;
	char name[sizeof(COPY_NAME) + 16];

	if (from < 0)
		return part > 0 && errno == ENOENT ? 0 : error_errno(err, errno, "opening a database");
	snprintf(name, sizeof(name), COPY_NAME "%s", parts[part]);
	copy = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return copy < 0 ? error_errno(err, errno, "copying a database") : copy_bytes(from, copy, err);
}

/* ---- opening -------------------------------------------------------------------------------------------------------
 */

const char *database_reason(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return "the disk is full";
	case SQLITE_IOERR:
		return "input or output failed";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
		return "it is damaged, or no database";
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return "somebody else holds it";
	case SQLITE_READONLY:
		return "it is read-only";
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return "it cannot be opened";
	case SQLITE_NOMEM:
		return "no memory";
	case SQLITE_TOOBIG:
		return "a row is too large";
	default:
		return "SQLite refused";
	}
}

/* Percent-encodes for a URI's path. */
static void put_path(const char *path, struct buf *out)
{
	for (; *path; path++) {
		if (strchr("%?#", *path))
			(void)buf_printf(out, "%%%02X", (unsigned char)*path);
		else
			(void)buf_add(out, path, 1);
	}
}

static int connect_to(struct database *database, int folder, const char *name, const char *option, struct error **err)
{
	cleanup_buf struct buf uri = BUF(PATH_ROOM);
	char path[PATH_ROOM];
	int code;

	/* SQLite follows this link of ours, and gives the files beside it the real name. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", folder, name);
	(void)buf_text(&uri, "file:");
	put_path(path, &uri);
	(void)buf_text(&uri, option);
	if (buf_check(&uri, "a database's path", err) < 0)
		return -error_code(*err);
	code = sqlite3_open_v2(uri.data, &database->connection,
			       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
			       NULL);
	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(database->connection, DATABASE_BUSY_MS);
	if (code == SQLITE_OK)
		(void)sqlite3_limit(database->connection, SQLITE_LIMIT_LENGTH, DATABASE_ROW_BYTES);
	if (code == SQLITE_OK)
		code = sqlite3_exec(database->connection,
				    "PRAGMA trusted_schema=OFF;PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;"
				    "SELECT count(*) FROM sqlite_schema",
				    NULL, NULL, NULL);
	if (code == SQLITE_OK)
		return 0;
	return error_set(err, (code & 0xff) == SQLITE_BUSY ? ERROR_TIMEOUT : ERROR_INPUT, "reading a database: %s",
			 database_reason(code));
}

static void remove_copy(int folder, const char *path)
{
	static const char *const left[] = { COPY_NAME, COPY_NAME "-wal", COPY_NAME "-shm", COPY_NAME "-journal" };

	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		(void)unlinkat(folder, left[i], 0);
	(void)rmdir(path);
}

/* The connection has its files open once it has read, and they need no names any more. */
static int connect_to_copy(struct database *database, struct error **err)
{
	char path[] = "/tmp/harness-database-XXXXXX";
	cleanup_fd int folder = -1;
	int status = 0;

	if (!mkdtemp(path))
		return error_errno(err, errno, "making a folder for a copy");
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		status = error_errno(err, errno, "opening a folder for a copy");
	for (size_t i = 0; i < PARTS && !status; i++)
		status = copy_part(database, i, folder, err);
	if (!status)
		status = connect_to(database, folder, COPY_NAME, "", err);
	remove_copy(folder, path);
	return status;
}

static int open_database(struct database *database, struct error **err)
{
	int status = look(database, database->before, &database->in_place, err);

	if (status)
		return status;
	if (database->in_place)
		return connect_to(database, database->folder, database->name, "", err);
	for (size_t i = 1; i < PARTS; i++) {
		if (database->before[i].st_size > 0)
			return connect_to_copy(database, err);
	}
	return connect_to(database, database->folder, database->name, "?immutable=1", err);
}

int database_open(int folder, const char *name, struct database **out, struct error **err)
{
	cleanup_database struct database *database = calloc(1, sizeof(*database));
	int status;

	if (!database)
		return error_set(err, ERROR_MEMORY, "no memory for a database");
	database->folder = -1;
	if (strlen(name) >= sizeof(database->name) || strchr(name, '/'))
		return error_set(err, ERROR_INPUT, "a database's name that is none");
	snprintf(database->name, sizeof(database->name), "%s", name);
	database->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (database->folder < 0)
		return error_errno(err, errno, "opening a database's folder");
	status = open_database(database, err);
	if (status)
		return status;
	*out = steal_pointer(&database);
	return 0;
}

struct sqlite3 *database_connection(const struct database *database)
{
	return database->connection;
}

static bool same(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_size == other->st_size &&
	       one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

int database_unchanged(const struct database *database, struct error **err)
{
	struct stat now[PARTS];
	bool live = false, differs = false;
	int status;

	if (database->in_place)
		return 0;
	status = look(database, now, &live, err);
	if (status)
		return status;
	for (size_t i = 0; i < PARTS; i++)
		differs = differs || !same(&database->before[i], &now[i]);
	return differs ? error_set(err, ERROR_INPUT, "a database was written to while it was read") : 0;
}

void database_close(struct database *database)
{
	if (!database)
		return;
	(void)sqlite3_close(database->connection);
	fd_close(&database->folder);
	free(database);
}
