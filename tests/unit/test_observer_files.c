/* The files observer as a process, over folders; test_observer_files_answers.c has the engine's answers. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "tests/unit/files_world.h"

static void test_clean(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);

	world_open(&world);
	put_marker(&world);
	add_marker(&archive);
	end_archive(&archive);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_give(&observing, "upper", world.root);
	watching_give(&observing, "lower", world.root);
	watching_report(&observing, WIRE_BEFORE);
	CU_ASSERT_EQUAL(observing.count, 6);
	watching_pour(&observing, "archive", archive.data, archive.length, false);
	watching_text(&observing, "changes", "null\n");
	watching_text(&observing, "control-changes", "[{\"Path\":\"/a\",\"Kind\":1}]\n");
	watching_report(&observing, WIRE_AFTER);
	CU_ASSERT_EQUAL(observing.count, 11);
	check(&observing, "files-archive", "file", 0, WIRE_REASON_NONE, 1);
	check(&observing, "files-changes", "file", 0, WIRE_REASON_NONE, 1);
	check(&observing, "files-upper", "file", 0, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "file", 0, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "stderr", 0, WIRE_REASON_NONE, 1);
}

static void test_leak(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);
	char twice[2 * CANARY_LENGTH + 1];

	world_open(&world);
	put_marker(&world);
	put_file(&world, "export/leak", "x", world.canary.text);
	put_folder(&world, "export/deep");
	put_file(&world, "export/deep/leak", world.canary.text, world.canary.text);
	snprintf(twice, sizeof(twice), "%s%s", world.canary.text, world.canary.text);
	add_marker(&archive);
	add_member(&archive, "/export/leak", '0', "", twice, strlen(twice));
	end_archive(&archive);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_pour(&observing, "archive", archive.data, archive.length, false);
	watching_text(&observing, "changes",
		      "[{\"Path\":\"/export\",\"Kind\":0},{\"Path\":\"/export/leak\",\"Kind\":1}]");
	watching_text(&observing, "control-changes", "[{}]");
	report_all(&observing);
	check(&observing, "files-archive", "file", 1, WIRE_REASON_NONE, 1);
	check(&observing, "files-archive", "stderr", 0, WIRE_REASON_NONE, 1);
	check(&observing, "files-changes", "file", 2, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "file", 2, WIRE_REASON_NONE, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-archive", "file")->hits, 2);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-root", "file")->hits, 3);
}

/* A core file is told by its form, wherever it lies and whatever its name; a program of the same format is none. */
static void test_cores(void)
{
	static const char core[] = "\x7f"
				   "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0and what follows";
	static const char program[] = "\x7f"
				      "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0and what follows";
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);
	cleanup_fd int file = -1;

	world_open(&world);
	put_marker(&world);
	file = openat(world.root, "export/anything", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_EQUAL(write(file, core, sizeof(core)), (ssize_t)sizeof(core));
	add_marker(&archive);
	add_member(&archive, "/export/anything", '0', "", core, sizeof(core));
	add_member(&archive, "/agent", '0', "", program, sizeof(program));
	add_member(&archive, "/short", '0', "", core, 17);
	end_archive(&archive);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_pour(&observing, "archive", archive.data, archive.length, false);
	report_all(&observing);
	check(&observing, "files-archive", "core-files", 1, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "core-files", 1, WIRE_REASON_NONE, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-upper", "core-files")->reason, WIRE_REASON_INPUT_MISSING);
}

/* What the process removed again before its end was there while it lived. */
static void test_removed_again(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	put_marker(&world);
	put_file(&world, "leak", "", world.canary.text);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_report(&observing, WIRE_BEFORE);
	CU_ASSERT_EQUAL(unlinkat(world.root, "leak", 0), 0);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "files-root", "file", 1, WIRE_REASON_NONE, 1);
}

/* Names and targets of links bear canaries too; nothing is followed or opened that is no file. */
static void test_odd_entries(void)
{
	WORLD(world);
	WORLD(outside);
	cleanup_observing struct observing observing = { .process = NULL };
	char path[128];

	world_open(&world);
	world_open(&outside);
	put_marker(&world);
	put_file(&world, world.canary.text, "", "");
	put_folder(&world, world.other.text);
	CU_ASSERT_EQUAL(symlinkat(world.canary.text, world.root, "link"), 0);
	put_file(&outside, "secret", "", world.canary.text);
	snprintf(path, sizeof(path), "%s/secret", outside.folder);
	CU_ASSERT_EQUAL(symlinkat(path, world.root, "out"), 0);
	CU_ASSERT_EQUAL(symlinkat(outside.folder, world.root, "out-folder"), 0);
	CU_ASSERT_EQUAL(mkfifoat(world.root, "fifo", 0600), 0);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	report_all(&observing);
	check(&observing, "files-root", "file", 2, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "stderr", 1, WIRE_REASON_NONE, 1);
}

/* What is no file has a name all the same: each counts, and none is opened. */
static void test_nodes(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int64_t nodes = 2;
	char name[64];

	world_open(&world);
	put_marker(&world);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s-%s", world.folder, world.canary.text);
	CU_ASSERT_EQUAL(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	snprintf(name, sizeof(name), "f-%s", world.canary.text);
	CU_ASSERT_EQUAL(mkfifoat(world.root, name, 0600), 0);
	snprintf(name, sizeof(name), "d-%s", world.canary.text);
	if (geteuid() == 0 && mknodat(world.root, name, S_IFCHR | 0600, makedev(1, 3)) == 0)
		nodes++;
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_give(&observing, "upper", world.root);
	watching_give(&observing, "lower", world.root);
	report_all(&observing);
	check(&observing, "files-root", "file", nodes, WIRE_REASON_NONE, 1);
	check(&observing, "files-upper", "file", nodes, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "stderr", 0, WIRE_REASON_NONE, 1);
}

static bool put_attribute(const struct world *world, const char *path, const char *name, const char *value)
{
	char whole[160];

	snprintf(whole, sizeof(whole), "%s/%s", world->folder, path);
	return lsetxattr(whole, name, value, strlen(value), 0) == 0;
}

/* Names and values of attributes, of files, folders and links: one record an entry, however many it has. */
static void test_attributes(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	char named[64];
	int64_t others = 1;

	world_open(&world);
	put_marker(&world);
	put_file(&world, "valued", "", "");
	put_folder(&world, "folder");
	put_file(&world, "named", "", "");
	CU_ASSERT_EQUAL(symlinkat("nowhere", world.root, "link"), 0);
	snprintf(named, sizeof(named), "user.%s", world.other.text);
	if (!put_attribute(&world, "valued", "user.first", world.canary.text)) {
		puts("observer_files: not tried, no attributes of users in /tmp");
		return;
	}
	CU_ASSERT_TRUE(put_attribute(&world, "valued", "user.second", world.canary.text));
	CU_ASSERT_TRUE(put_attribute(&world, "valued", "user.third", ""));
	CU_ASSERT_TRUE(put_attribute(&world, "folder", "user.first", world.canary.text));
	CU_ASSERT_TRUE(put_attribute(&world, "named", named, "x"));
	/* Only root may give one to a link, and only a trusted one. */
	if (geteuid() == 0 && put_attribute(&world, "link", "trusted.harness", world.other.text))
		others++;
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_give(&observing, "upper", world.root);
	watching_give(&observing, "lower", world.root);
	report_all(&observing);
	check(&observing, "files-root", "file", 2, WIRE_REASON_NONE, 1);
	check(&observing, "files-upper", "file", 2, WIRE_REASON_NONE, 1);
	check(&observing, "files-root", "stderr", others, WIRE_REASON_NONE, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-root", "file")->hits, 3);
}

static void test_other_mounts(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	char path[128];

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0) {
		puts("observer_files: not tried, a mount needs root");
		return;
	}
	world_open(&world);
	put_marker(&world);
	put_folder(&world, "mounted");
	snprintf(path, sizeof(path), "%s/mounted", world.folder);
	CU_ASSERT_EQUAL(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CU_ASSERT_EQUAL(mount("tmpfs", path, "tmpfs", 0, NULL), 0);
	put_file(&world, "mounted/leak", "", world.canary.text);
	if (watching_start(&observing, "files", -1, world.subjects, 2)) {
		watching_give(&observing, "root", world.root);
		report_all(&observing);
		check(&observing, "files-root", "file", 0, WIRE_REASON_NONE, 1);
	}
	CU_ASSERT_EQUAL(umount2(path, MNT_DETACH), 0);
}

static void test_depth(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	char path[2 * OBSERVER_TREE_DEPTH + 2] = "d";

	world_open(&world);
	put_marker(&world);
	put_folder(&world, path);
	for (int i = 0; i < OBSERVER_TREE_DEPTH; i++) {
		strcat(path, "/d");
		put_folder(&world, path);
	}
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	report_all(&observing);
	check(&observing, "files-root", "file", 0, WIRE_REASON_LIMIT, 1);
	for (size_t end = strlen(path); end > 1; end -= 2) {
		CU_ASSERT_EQUAL(unlinkat(world.root, path, AT_REMOVEDIR), 0);
		path[end - 2] = '\0';
	}
}

/* A file larger than what is read of a tree, as a hole. */
static void test_size(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_fd int fd = -1;

	world_open(&world);
	put_marker(&world);
	fd = openat(world.root, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_EQUAL(ftruncate(fd, OBSERVER_TREE_BYTES + 1), 0);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_give(&observing, "root", world.root);
	watching_report(&observing, WIRE_AFTER);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-root", "file")->reason, WIRE_REASON_LIMIT);
}

/* A marker that is no exact file of that name proves nothing. */
static void test_marker(void)
{
	static const struct {
		const char *text;
		bool link, folder;
		int64_t beacons;
	} rows[] = {
		{ .text = MARKER, .beacons = 1 },
		{ .text = MARKER "x", .beacons = 0 },
		{ .text = "harness-files-marker-1", .beacons = 0 },
		{ .text = "", .beacons = 0 },
		{ .link = true, .beacons = 0 },
		{ .folder = true, .beacons = 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };
		cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);

		world_open(&world);
		put_folder(&world, "export");
		put_file(&world, "export/true", "", MARKER);
		if (rows[i].link) {
			CU_ASSERT_EQUAL(symlinkat("true", world.root, "export/marker"), 0);
			add_member(&archive, "export/marker", '2', "true", "", 0);
		} else if (rows[i].folder) {
			put_folder(&world, "export/marker");
			add_member(&archive, "export/marker", '5', "", "", 0);
		} else {
			put_file(&world, "export/marker", "", rows[i].text);
			add_member(&archive, "./export/marker", '0', "", rows[i].text, strlen(rows[i].text));
		}
		end_archive(&archive);
		if (!watching_start(&observing, "files", -1, world.subjects, 2))
			return;
		watching_give(&observing, "root", world.root);
		watching_give(&observing, "upper", world.root);
		watching_give(&observing, "lower", world.root);
		watching_pour(&observing, "archive", archive.data, archive.length, false);
		report_all(&observing);
		check(&observing, "files-root", "file", 0, WIRE_REASON_NONE, rows[i].beacons);
		check(&observing, "files-upper", "file", 0, WIRE_REASON_NONE, rows[i].beacons);
		check(&observing, "files-archive", "file", 0, WIRE_REASON_NONE, rows[i].beacons);
	}
}

static void test_missing(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	report_all(&observing);
	check(&observing, "files-archive", "file", 0, WIRE_REASON_INPUT_MISSING, 0);
	check(&observing, "files-changes", "file", 0, WIRE_REASON_INPUT_MISSING, 0);
	check(&observing, "files-upper", "file", 0, WIRE_REASON_INPUT_MISSING, 0);
	check(&observing, "files-root", "file", 0, WIRE_REASON_INPUT_MISSING, 0);
}

/* A writer that never closes its end. */
static void test_held(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_fd int writer = -1;

	world_open(&world);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	writer = watching_pour(&observing, "changes", "null", 4, true);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "files-changes", "file", 0, WIRE_REASON_TIMEOUT, 0);
}

static void test_unknown_input(void)
{
	static const char *const names[] = { "archives", "" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };
		struct error *err = NULL;
		int status;

		world_open(&world);
		if (!watching_start(&observing, "files", -1, world.subjects, 2))
			return;
		watching_give(&observing, names[i], world.root);
		status = observer_ask(observing.process, WIRE_AFTER, &err);
		if (!status)
			status = observer_collect(observing.process, WIRE_AFTER, observing_take, &observing,
						  watching_deadline(), &err);
		CU_ASSERT_EQUAL(status, -ERROR_CLOSED);
		CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer files"));
	}
}

static CU_TestInfo files_tests[] = {
	{ "clean", test_clean },
	{ "leak", test_leak },
	{ "cores", test_cores },
	{ "removed again", test_removed_again },
	{ "inputs missing", test_missing },
	{ "an input that never ends", test_held },
	{ "unknown input", test_unknown_input },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo tree_tests[] = {
	{ "names, links, pipes", test_odd_entries },
	{ "sockets, pipes, devices", test_nodes },
	{ "attributes", test_attributes },
	{ "other mounts", test_other_mounts },
	{ "depth", test_depth },
	{ "size", test_size },
	{ "marker", test_marker },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "files", NULL, NULL, NULL, NULL, files_tests },
	{ "tree", NULL, NULL, NULL, NULL, tree_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_files", suites);
}
