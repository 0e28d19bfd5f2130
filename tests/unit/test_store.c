/* What clean takes away and what it leaves, without an engine: runner/store.c. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "runner/store.h"
#include "tests/unit/test.h"

#define DEAD "0123456789abcdef0123456789abcdef"
#define DEAD8 "01234567"
#define DEAD_NAME "20260102T030405Z-01234567"

/* A folder of runs in which one is under way, and where arms would be. */
struct place {
	char top[32];
	int folder;
	struct store store;
};

static void place_open(struct place *place)
{
	struct error *err = NULL;
	char out[64];

	*place = (struct place){ .top = "/tmp/test_store.XXXXXX", .folder = -1 };
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(place->top));
	place->folder = open(place->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(out, sizeof(out), "%s/runs", place->top);
	CU_ASSERT_EQUAL(store_open(out, &place->store, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void place_close(struct place *place)
{
	struct error *err = NULL;

	store_close(&place->store, false);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, place->top, &err), 0);
	CU_ASSERT(test_no_error(&err));
	fd_close(&place->folder);
}
#define cleanup_place __attribute__((cleanup(place_close)))

static void put(const struct place *place, const char *path)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_atomic(place->folder, path, "x", 1, 0600, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static bool there(const struct place *place, const char *path)
{
	return faccessat(place->folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void sweep(const struct place *place, unsigned arms, unsigned runs)
{
	struct error *err = NULL;
	unsigned count = 0;
	char out[64];

	CU_ASSERT_EQUAL(store_sweep_arms(place->top, NULL, &count, &err), 0);
	CU_ASSERT_EQUAL(count, arms);
	snprintf(out, sizeof(out), "%s/runs", place->top);
	CU_ASSERT_EQUAL(store_sweep_runs(out, &count, &err), 0);
	CU_ASSERT_EQUAL(count, runs);
	CU_ASSERT(test_no_error(&err));
}

/* One that was killed before its folder was locked goes, also while another run is under way, whose own stay. */
static void test_arms(void)
{
	cleanup_place struct place place;
	char held[96], locked[128];

	place_open(&place);
	snprintf(held, sizeof(held), "harness-arm-%.8s-abcdef", place.store.run);
	mkdirat(place.folder, "harness-arm-" DEAD8 "-abcdef", 0700);
	mkdirat(place.folder, "harness-arm-" DEAD8 "-locked", 0700);
	put(&place, "harness-arm-" DEAD8 "-locked/lock");
	mkdirat(place.folder, held, 0700);
	put(&place, "harness-arm-file");
	sweep(&place, 2, 0);
	CU_ASSERT_FALSE(there(&place, "harness-arm-" DEAD8 "-abcdef"));
	CU_ASSERT_FALSE(there(&place, "harness-arm-" DEAD8 "-locked"));
	CU_ASSERT(there(&place, held));
	CU_ASSERT(there(&place, "harness-arm-file"));
	/* A lock file that is not held yet. */
	snprintf(locked, sizeof(locked), "%s/lock", held);
	put(&place, locked);
	sweep(&place, 0, 0);
	CU_ASSERT(there(&place, held));
}

/* A run takes away what its own arms left, and no other's. */
static void test_own_arms(void)
{
	cleanup_place struct place place;
	struct error *err = NULL;
	unsigned count = 0;
	char own[96];

	place_open(&place);
	snprintf(own, sizeof(own), "harness-arm-%.8s-abcdef", place.store.run);
	mkdirat(place.folder, own, 0700);
	mkdirat(place.folder, "harness-arm-" DEAD8 "-abcdef", 0700);
	CU_ASSERT_EQUAL(store_sweep_arms(place.top, place.store.run, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_FALSE(there(&place, own));
	CU_ASSERT(there(&place, "harness-arm-" DEAD8 "-abcdef"));
}

static void test_arm_folder(void)
{
	cleanup_place struct place place;
	struct error *err = NULL;
	char path[PATH_MAX] = "", expected[96];
	int folder = -1, lock = -1;

	place_open(&place);
	CU_ASSERT_EQUAL(store_arm_folder(place.store.run, &folder, &lock, path, &err), 0);
	CU_ASSERT(test_no_error(&err));
	snprintf(expected, sizeof(expected), "/tmp/harness-arm-%.8s-", place.store.run);
	CU_ASSERT_EQUAL(strncmp(path, expected, strlen(expected)), 0);
	store_arm_remove(&folder, &lock, path);
	CU_ASSERT(access(path, F_OK) != 0);
}

static void test_runs(void)
{
	cleanup_place struct place place;
	char own[96], link[64];

	place_open(&place);
	snprintf(own, sizeof(own), "runs/%s", place.store.name);
	snprintf(link, sizeof(link), "runs/.latest-%.8s", place.store.run);
	mkdirat(place.folder, "runs/" DEAD_NAME, 0755);
	put(&place, "runs/" DEAD_NAME "/observations.jsonl");
	put(&place, "runs/" DEAD_NAME "/.confinement-evidence.tar.gz.tmp");
	CU_ASSERT_EQUAL(symlinkat(DEAD_NAME, place.folder, "runs/.latest-01234567"), 0);
	CU_ASSERT_EQUAL(symlinkat(place.store.name, place.folder, link), 0);
	put(&place, "runs/.latest-of-mine");
	mkdirat(place.folder, "runs/notes", 0755);
	sweep(&place, 0, 1);
	CU_ASSERT_FALSE(there(&place, "runs/" DEAD_NAME));
	CU_ASSERT_FALSE(there(&place, "runs/.latest-01234567"));
	CU_ASSERT(there(&place, link));
	CU_ASSERT(there(&place, "runs/.latest-of-mine"));
	CU_ASSERT(there(&place, "runs/notes"));
	CU_ASSERT(there(&place, own));
}

/* Killed behind its last write: the bundle stays, and nothing beside it. */
static void test_sealed(void)
{
	cleanup_place struct place place;

	place_open(&place);
	mkdirat(place.folder, "runs/" DEAD_NAME, 0755);
	put(&place, "runs/" DEAD_NAME "/" BUNDLE_NAME);
	put(&place, "runs/" DEAD_NAME "/observations.jsonl");
	put(&place, "runs/" DEAD_NAME "/lock");
	sweep(&place, 0, 0);
	CU_ASSERT(there(&place, "runs/" DEAD_NAME "/" BUNDLE_NAME));
	CU_ASSERT_FALSE(there(&place, "runs/" DEAD_NAME "/observations.jsonl"));
	CU_ASSERT_FALSE(there(&place, "runs/" DEAD_NAME "/lock"));
}

static void test_closed_unsealed(void)
{
	cleanup_place struct place place;
	char path[96];

	place_open(&place);
	snprintf(path, sizeof(path), "runs/%s/observations.jsonl", place.store.name);
	put(&place, path);
	snprintf(path, sizeof(path), "runs/%s", place.store.name);
	store_close(&place.store, false);
	CU_ASSERT_FALSE(there(&place, path));
	CU_ASSERT_FALSE(store_run_held(place.store.run));
}

static void test_held(void)
{
	cleanup_place struct place place;

	place_open(&place);
	CU_ASSERT(store_run_held(place.store.run));
	CU_ASSERT(store_run_held(NULL));
	CU_ASSERT_FALSE(store_run_held(DEAD));
	/* A label without a run's id is nobody's. */
	CU_ASSERT_FALSE(store_run_held(""));
	place.store.run[8] = '\0';
	CU_ASSERT_FALSE(store_run_held(place.store.run));
}

/* The folder that was given is named, and not only the run's own below it. */
static void test_nowhere(void)
{
	struct store store;
	struct error *err = NULL;

	CU_ASSERT(store_open("/proc/self", &store, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "cannot make the folder '/proc/self/20"));
	store_close(&store, false);
	CU_ASSERT(store_open("/proc/self/none", &store, &err) < 0);
	CU_ASSERT(
		test_error(&err, ERROR_SYSTEM, "cannot make the folder '/proc/self/none': choose another with --out"));
	store_close(&store, false);
}

static CU_TestInfo tests[] = {
	{ "folders of arms", test_arms },
	{ "folders of a run's own arms", test_own_arms },
	{ "an arm's folder", test_arm_folder },
	{ "folders of runs", test_runs },
	{ "beside a sealed bundle", test_sealed },
	{ "an unsealed run's end", test_closed_unsealed },
	{ "a run that is under way", test_held },
	{ "nowhere to write", test_nowhere },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "store", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("store", suites);
}
