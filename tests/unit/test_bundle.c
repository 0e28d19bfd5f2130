/* Sealing: the exact set of members, the scan, the same bytes, and nothing left behind on error. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/canary.h"
#include "tests/unit/bundle_fixture.h"

struct folder {
	int fd;
	char path[64];
};

static void folder_open(struct folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/harness-bundle-XXXXXX");
	folder->fd = mkdtemp(folder->path) ? open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static void folder_close(struct folder *folder)
{
	struct error *err = NULL;

	fd_close(&folder->fd);
	(void)!fd_remove_tree(AT_FDCWD, folder->path, &err);
	error_free(err);
}
#define cleanup_folder __attribute__((cleanup(folder_close)))

static size_t folder_entries(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	size_t count = 0;

	if (!dir)
		return 99;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void test_sealed(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_folder struct folder folder = { .fd = -1 };
	cleanup_buf struct buf packed = BUF(FIXTURE_BYTES), sealed = BUF(FIXTURE_BYTES);
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct canary live[2];
	struct verify_report report;
	struct error *err = NULL;
	struct stat status;
	char sha256[HEX_SHA256];
	size_t count;
	mode_t umask_before = umask(077);

	folder_open(&folder);
	CU_ASSERT(fixture_make(&fixture, "baseline"));
	count = fixture_list(&fixture, members);
	CU_ASSERT_EQUAL(canary_new(&live[0], &err) + canary_new(&live[1], &err), 0);
	CU_ASSERT_EQUAL(bundle_seal(folder.fd, members, count, live, 2, &identity, &err), 0);
	CU_ASSERT(test_no_error(&err));
	(void)umask(umask_before);
	CU_ASSERT_EQUAL(folder_entries(&folder), 1);
	CU_ASSERT_EQUAL(fstatat(folder.fd, BUNDLE_ARCHIVE, &status, AT_SYMLINK_NOFOLLOW), 0);
	CU_ASSERT_EQUAL(status.st_mode, S_IFREG | 0644);
	CU_ASSERT_EQUAL(fd_read_file(folder.fd, BUNDLE_ARCHIVE, FIXTURE_BYTES, &sealed, &err), 0);
	CU_ASSERT(fixture_pack(&fixture, &packed));
	CU_ASSERT_EQUAL(sealed.length, packed.length);
	CU_ASSERT(sealed.length == packed.length && memcmp(sealed.data, packed.data, packed.length) == 0);
	CU_ASSERT_EQUAL(identity.bytes, (int64_t)sealed.length);
	hash_bytes(sealed.data, sealed.length, sha256);
	CU_ASSERT_STRING_EQUAL(identity.archive_sha256, sha256);
	hash_bytes(buf_string(fixture_text(&fixture, BUNDLE_SUMS)), fixture_text(&fixture, BUNDLE_SUMS)->length,
		   sha256);
	CU_ASSERT_STRING_EQUAL(identity.sums_sha256, sha256);
	CU_ASSERT(fixture_verify_bytes(sealed.data, sealed.length, false, &report));
	CU_ASSERT_STRING_EQUAL(report.sums_sha256, identity.sums_sha256);
	CU_ASSERT_STRING_EQUAL(report.archive_sha256, identity.archive_sha256);
	CU_ASSERT_EQUAL(report.exit_code, 0);
}

/* The observations come from a file, wherever its offset stands; an older bundle is replaced. */
static void test_from_descriptor(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_folder struct folder folder = { .fd = -1 };
	cleanup_fd int fd = memfd_create("observations", MFD_CLOEXEC);
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity whole, streamed;
	struct error *err = NULL;
	size_t count;

	folder_open(&folder);
	CU_ASSERT(fixture_make(&fixture, "baseline"));
	count = fixture_list(&fixture, members);
	CU_ASSERT_EQUAL(bundle_seal(folder.fd, members, count, NULL, 0, &whole, &err), 0);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(members[i].name, "observations.jsonl") != 0)
			continue;
		CU_ASSERT_EQUAL(fd_write_all(fd, members[i].bytes, members[i].length, NEVER, &err), 0);
		members[i] = (struct bundle_member){ .name = members[i].name, .fd = fd };
	}
	CU_ASSERT_EQUAL(bundle_seal(folder.fd, members, count, NULL, 0, &streamed, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(whole.archive_sha256, streamed.archive_sha256);
	CU_ASSERT_EQUAL(folder_entries(&folder), 1);
}

/* In each encoding; with so many live canaries that they need more than one batch, the last of them stands there. */
static void test_leaks(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_folder struct folder folder = { .fd = -1 };
	cleanup_free struct canary *live = calloc(4100, sizeof(*live));
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct error *err = NULL;
	char hex[2 * CANARY_LENGTH + 1], reversed[CANARY_LENGTH + 1];
	size_t count;

	folder_open(&folder);
	CU_ASSERT(live && fixture_make(&fixture, "baseline"));
	for (size_t i = 0; i < 4100; i++)
		CU_ASSERT_EQUAL(canary_new(&live[i], &err), 0);
	for (size_t i = 0; i < CANARY_LENGTH; i++) {
		snprintf(hex + 2 * i, 3, "%02x", (unsigned)live[4099].text[i]);
		reversed[i] = live[4099].text[CANARY_LENGTH - 1 - i];
	}
	reversed[CANARY_LENGTH] = '\0';
	const char *const leaks[] = { live[4099].text, hex, reversed, live[0].text };

	for (size_t i = 0; i < ARRAY_SIZE(leaks); i++) {
		fixture_set(&fixture, "kernel.txt", "Linux ");
		buf_text(fixture_text(&fixture, "kernel.txt"), leaks[i]);
		count = fixture_list(&fixture, members);
		CU_ASSERT(bundle_seal(folder.fd, members, count, live, 4100, &identity, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "a live canary stands in kernel.txt"));
		CU_ASSERT_EQUAL(folder_entries(&folder), 0);
	}
	/* A canary that nobody knows is refused for its shape. */
	fixture_set(&fixture, "kernel.txt", "canacanary-abcdefghijklmnopabcdefghijklmnop");
	count = fixture_list(&fixture, members);
	CU_ASSERT(bundle_seal(folder.fd, members, count, live, 1, &identity, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "kernel.txt holds what has a canary's shape"));
	CU_ASSERT_EQUAL(folder_entries(&folder), 0);
	/* One letter less, or another letter, is no shape. */
	fixture_set(&fixture, "kernel.txt",
		    "canary-abcdefghijklmnopabcdefghijklmno canary-abcdefghijklmnopqbcdefghijklmnop\n");
	count = fixture_list(&fixture, members);
	CU_ASSERT_EQUAL(bundle_seal(folder.fd, members, count, live, 1, &identity, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_refused(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_folder struct folder folder = { .fd = -1 };
	cleanup_fd int full = -1;
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct error *err = NULL;
	size_t count;

	folder_open(&folder);
	CU_ASSERT(fixture_make(&fixture, "baseline"));
	count = fixture_list(&fixture, members);
	CU_ASSERT(bundle_seal(folder.fd, members + 1, count - 1, NULL, 0, &identity, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "the bundle lacks arms.json"));
	members[count] = (struct bundle_member){ .name = "tests.txt", .bytes = "", .fd = -1 };
	CU_ASSERT(bundle_seal(folder.fd, members, count + 1, NULL, 0, &identity, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "a member too many"));
	/* A folder that takes no file: one clear error, and no half bundle. */
	full = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(bundle_seal(full, members, count, NULL, 0, &identity, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the bundle cannot be written"));
	CU_ASSERT_EQUAL(folder_entries(&folder), 0);
}

/* Room for a part of the bundle only: what was written of it goes away again. */
static void test_no_room(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_folder struct folder folder = { .fd = -1 };
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct rlimit before, small;
	struct error *err = NULL;
	size_t count;

	folder_open(&folder);
	CU_ASSERT(fixture_make(&fixture, "baseline"));
	count = fixture_list(&fixture, members);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 1000, .rlim_max = before.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	CU_ASSERT(bundle_seal(folder.fd, members, count, NULL, 0, &identity, &err) < 0);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the bundle cannot be written: File too large"));
	CU_ASSERT_EQUAL(folder_entries(&folder), 0);
}

static CU_TestInfo tests[] = {
	{ "sealed, and the same as packed apart", test_sealed },
	{ "observations from a descriptor", test_from_descriptor },
	{ "leaks", test_leaks },
	{ "refused", test_refused },
	{ "no room", test_no_room },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "bundle", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("bundle", suites);
}
