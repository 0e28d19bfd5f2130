/* Every file of the fuzz targets' corpus through its target: what was found once stays found. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>

#include "core/fd.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/test.h"

#define FILES_MIN 3 /* of a target */
#define FILE_MAX MIB

static const struct target {
	const char *name;
	void (*run)(const uint8_t *bytes, size_t size);
} targets[];
static const size_t targets_count;

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* In memory of its exact size, so that a sanitizer sees each byte behind it. */
static void replay_bytes(const struct target *target, const struct buf *bytes)
{
	cleanup_free uint8_t *exact = malloc(bytes->length ? bytes->length : 1);

	if (bytes->length)
		memcpy(exact, bytes->data, bytes->length);
	target->run(exact, bytes->length);
}

static bool replay_file(const struct target *target, int folder, const char *name)
{
	cleanup_buf struct buf bytes = BUF(FILE_MAX);
	struct error *err = NULL;

	if (fd_read_file(folder, name, FILE_MAX, &bytes, &err) == 0)
		replay_bytes(target, &bytes);
	return test_no_error(&err);
}

static int replay_folder(const struct target *target)
{
	struct dirent **entries = NULL;
	char path[64];
	int count, folder;

	snprintf(path, sizeof(path), "tests/data/fuzz/%s", target->name);
	count = scandir(path, &entries, is_file, alphasort);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < count; i++) {
		CU_ASSERT(replay_file(target, folder, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	fd_close(&folder);
	return count;
}

static void test_corpus(void)
{
	for (size_t i = 0; i < targets_count; i++) {
		int count = replay_folder(&targets[i]);

		if (count < FILES_MIN)
			fprintf(stderr, "%s: %d files\n", targets[i].name, count);
		CU_ASSERT(count >= FILES_MIN);
	}
}

/* Nothing at all, one byte of each kind, and one kind of byte many times. */
static void test_plain(void)
{
	static const uint8_t nothing[1];
	uint8_t many[700];

	for (size_t i = 0; i < targets_count; i++) {
		targets[i].run(nothing, 0);
		for (unsigned byte = 0; byte < 256; byte++) {
			memset(many, (int)byte, sizeof(many));
			targets[i].run(many, 1);
			targets[i].run(many, sizeof(many));
		}
	}
}

/* A target that no row names would never run here, nor a folder that no target reads. */
static size_t matches(const char *pattern)
{
	glob_t found = { .gl_pathc = 0 };
	size_t count = glob(pattern, GLOB_NOSORT, NULL, &found) == 0 ? found.gl_pathc : 0;

	globfree(&found);
	return count;
}

static void test_complete(void)
{
	CU_ASSERT_EQUAL(matches("tests/fuzz/fuzz_*.c"), targets_count);
	CU_ASSERT_EQUAL(matches("tests/data/fuzz/*"), targets_count);
}

#define TARGET(name) { #name, fuzz_##name },
static const struct target targets[] = { FUZZ_TARGETS(TARGET) };
static const size_t targets_count = ARRAY_SIZE(targets);

static CU_TestInfo tests[] = {
	{ "corpus", test_corpus },
	{ "plain bytes", test_plain },
	{ "complete", test_complete },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "fuzz", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("fuzz", suites);
}
