/* For tests of the audit chain: a folder of their own, and entries as a gateway writes them. */
#ifndef HARNESS_TESTS_UNIT_AUDIT_WORLD_H
#define HARNESS_TESTS_UNIT_AUDIT_WORLD_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/limits.h"
#include "gateway/audit_store.h"
#include "tests/unit/test.h"

#define REFERENCE "tests/data/audit/reference.db"
#define AUDIT_PATH 128

struct audit_world {
	char folder[64];
	char path[AUDIT_PATH]; /* of the database */
};

static inline bool audit_world_open(struct audit_world *world)
{
	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-audit-XXXXXX");
	if (!mkdtemp(world->folder))
		return false;
	snprintf(world->path, sizeof(world->path), "%s/audit.db", world->folder);
	return true;
}

static inline int audit_world_count(const struct audit_world *world)
{
	cleanup_dir DIR *entries = opendir(world->folder);
	int count = 0;

	while (entries && readdir(entries))
		count++;
	return count - 2;
}

static inline void audit_world_close(struct audit_world *world)
{
	cleanup_dir DIR *entries = opendir(world->folder);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)) != NULL)
		(void)unlinkat(dirfd(entries), entry->d_name, 0);
	(void)rmdir(world->folder);
}
#define cleanup_audit_world __attribute__((cleanup(audit_world_close)))

static inline bool audit_copy(const char *from, const char *to)
{
	cleanup_buf struct buf bytes = BUF(16 * MIB);
	struct error *err = NULL;
	cleanup_fd int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status = fd_read_file(AT_FDCWD, from, bytes.max, &bytes, &err);

	return test_no_error(&err) && status == 0 && write(fd, bytes.data, bytes.length) == (ssize_t)bytes.length;
}

static inline void audit_hash_file(const char *path, char hex[HEX_SHA256])
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error *err = NULL;

	hex[0] = '\0';
	if (fd < 0 || hash_fd(fd, hex, &err) < 0)
		snprintf(hex, HEX_SHA256, "none");
	error_free(err);
}

static inline struct audit_entry audit_entry_of(const char *session, const char *type, const char *call)
{
	return (struct audit_entry){
		.session_id = session,
		.entry_type = type,
		.call_id = call,
		.tool_name = call ? "permitted.tool" : NULL,
		.server_identity = call ? "" : NULL,
		.policy_decision = call ? "allow" : "n/a",
		.latency_us = -1,
		.session_sensitivity_after = "public",
		.evidence_class = "hash-only",
	};
}

static inline bool audit_add(struct audit_store *store, const char *session, const char *type, const char *call)
{
	struct audit_entry entry = audit_entry_of(session, type, call);
	struct error *err = NULL;
	int status = audit_store_append(store, &entry, &err);

	return test_no_error(&err) && status == 0;
}

static inline struct audit_store *audit_open(const char *path)
{
	struct audit_store *store = NULL;
	struct error *err = NULL;

	(void)!audit_store_open(path, &store, &err);
	(void)test_no_error(&err);
	return store;
}

static inline bool audit_commit(struct audit_store *store, bool durable)
{
	struct error *err = NULL;
	int status = audit_store_commit(store, durable, &err);

	return test_no_error(&err) && status == 0;
}

static inline bool audit_close(struct audit_store *store)
{
	struct error *err = NULL;
	int status = audit_store_close(store, &err);

	return test_no_error(&err) && status == 0;
}

/* The verdict of a database that can be read. */
static inline struct audit_verdict audit_verdict_of(const char *path)
{
	struct audit_verdict verdict = { .entries = -1 };
	struct error *err = NULL;

	if (audit_verify(path, &verdict, &err) < 0)
		verdict.entries = -1;
	(void)test_no_error(&err);
	return verdict;
}

#endif
