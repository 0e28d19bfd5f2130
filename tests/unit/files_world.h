/* What tests of the files observer share: a folder, archives made member by member, and records to compare. */
#ifndef HARNESS_TESTS_UNIT_FILES_WORLD_H
#define HARNESS_TESTS_UNIT_FILES_WORLD_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "tests/unit/watching.h"

#define ARCHIVE_BYTES (8 * MIB)
#define MARKER "harness-files-marker-1\n"

struct world {
	struct canary canary, other;
	struct observer_subject subjects[2];
	char folder[64];
	int root;
};

static inline void world_open(struct world *world)
{
	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-test-files-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(world->folder));
	world->root = open(world->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	watching_canary(&world->canary);
	watching_canary(&world->other);
	world->subjects[0] = (struct observer_subject){ .subject = "file", .canary = &world->canary };
	world->subjects[1] = (struct observer_subject){ .subject = "stderr", .canary = &world->other };
}

static inline void world_close(struct world *world)
{
	struct error *err = NULL;

	fd_close(&world->root);
	if (world->folder[0])
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define WORLD(name) __attribute__((cleanup(world_close))) struct world name = { .root = -1 }

/* ---- folders -------------------------------------------------------------------------------------------------------
 */

static inline void put_file(const struct world *world, const char *path, const char *before, const char *text)
{
	cleanup_fd int fd = openat(world->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CU_ASSERT_EQUAL(write(fd, before, strlen(before)), (ssize_t)strlen(before));
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static inline void put_folder(const struct world *world, const char *path)
{
	CU_ASSERT_EQUAL(mkdirat(world->root, path, 0755), 0);
}

static inline void put_marker(const struct world *world)
{
	put_folder(world, "export");
	put_file(world, "export/marker", "", MARKER);
}

/* ---- archives ------------------------------------------------------------------------------------------------------
 */

static inline void put_octal(char *field, size_t size, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(field, text, size - 1);
}

/* A header of ustar, and `content` with `length` bytes behind it. */
static inline void add_member(struct buf *out, const char *name, char type, const char *link, const void *content,
			      size_t length)
{
	static const char zeros[512];
	char header[512] = "";
	unsigned sum = 0;

	snprintf(header, 100, "%s", name);
	put_octal(header + 100, 8, 0644);
	put_octal(header + 108, 8, 0);
	put_octal(header + 116, 8, 0);
	put_octal(header + 124, 12, length);
	put_octal(header + 136, 12, 0);
	memset(header + 148, ' ', 8);
	header[156] = type;
	snprintf(header + 157, 100, "%s", link);
	memcpy(header + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < sizeof(header); i++)
		sum += (unsigned char)header[i];
	put_octal(header + 148, 7, sum);
	CU_ASSERT_EQUAL(buf_add(out, header, sizeof(header)), 0);
	CU_ASSERT_EQUAL(buf_add(out, content, length), 0);
	CU_ASSERT_EQUAL(buf_add(out, zeros, (512 - length % 512) % 512), 0);
}

static inline void end_archive(struct buf *out)
{
	static const char zeros[1024];

	CU_ASSERT_EQUAL(buf_add(out, zeros, sizeof(zeros)), 0);
}

static inline void add_marker(struct buf *out)
{
	add_member(out, "/export/marker", '0', "", MARKER, strlen(MARKER));
}

static inline void report_all(struct observing *observing)
{
	watching_report(observing, WIRE_BEFORE);
	watching_report(observing, WIRE_AFTER);
}

static inline void check(const struct observing *observing, const char *observer, const char *subject, int64_t value,
			 enum wire_reason reason, int64_t beacons)
{
	struct wire_record record = *observing_record(observing, observer, subject);

	if (record.value != value || record.reason != (uint32_t)reason)
		fprintf(stderr, "%s at %s: value %lld, reason %u\n", subject, observer, (long long)record.value,
			record.reason);
	CU_ASSERT_EQUAL(record.value, value);
	CU_ASSERT_EQUAL(record.reason, reason);
	CU_ASSERT_EQUAL(record.status, reason == WIRE_REASON_NONE ? WIRE_OBSERVED : WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(record.beacon_before, beacons);
	CU_ASSERT_EQUAL(record.beacon_after, beacons);
}

#endif
