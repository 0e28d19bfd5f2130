/* reports/schema/ is what the field tables print; `test_schemas write` writes it. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "reports/members.h"
#include "reports/schema.h"
#include "tests/unit/test.h"

#define FOLDER "reports/schema"
#define SCHEMA_BYTES ((size_t)256 * KIB)

/* "FOLDER/arms.json", "FOLDER/observations.json": of a line. */
static void path_of(int member, char *out, size_t size)
{
	const char *name = member_kinds[member].name, *dot = strrchr(name, '.');

	snprintf(out, size, FOLDER "/%.*s.json", (int)(dot - name), name);
}

static bool is_json(int member)
{
	const char *dot = strrchr(member_kinds[member].name, '.');

	return dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".jsonl") == 0);
}

/* What has the form of somebody else, in-toto's or CTRF's, is not ours to describe. */
static bool is_ours(int member)
{
	return member != MEMBER_STATEMENT && member != MEMBER_CTRF;
}

static void test_each_member(void)
{
	for (int i = 0; i < MEMBERS; i++)
		CU_ASSERT_EQUAL(member_has_schema(i), is_json(i) && is_ours(i));
}

static void test_stored(void)
{
	for (int i = 0; i < MEMBERS; i++) {
		cleanup_buf struct buf printed = BUF(SCHEMA_BYTES), stored = BUF(SCHEMA_BYTES);
		struct error *err = NULL;
		char path[64];

		if (!member_has_schema(i))
			continue;
		path_of(i, path, sizeof(path));
		CU_ASSERT_EQUAL(member_schema(i, &printed, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, path, SCHEMA_BYTES, &stored, &err), 0);
		CU_ASSERT(test_no_error(&err));
		if (strcmp(buf_string(&stored), buf_string(&printed)) != 0)
			fprintf(stderr, "%s is stale: build/tests/test_schemas write\n", path);
		CU_ASSERT_STRING_EQUAL(buf_string(&stored), buf_string(&printed));
	}
}

/* Each is strict JSON itself, and closed. */
static void test_form(void)
{
	for (int i = 0; i < MEMBERS; i++) {
		cleanup_buf struct buf printed = BUF(SCHEMA_BYTES);
		cleanup_json struct json_document *document = NULL;
		struct error *err = NULL;
		bool open = true;

		if (!member_has_schema(i))
			continue;
		CU_ASSERT_EQUAL(member_schema(i, &printed, &err), 0);
		CU_ASSERT_EQUAL(json_parse(buf_string(&printed), printed.length, JSON_DEPTH, &document, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(json_bool(json_member(json_root(document), "additionalProperties"), &open) && !open);
	}
}

static int write_all(void)
{
	for (int i = 0; i < MEMBERS; i++) {
		cleanup_buf struct buf printed = BUF(SCHEMA_BYTES);
		cleanup_error struct error *err = NULL;
		char path[64];
		FILE *file;

		if (!member_has_schema(i))
			continue;
		path_of(i, path, sizeof(path));
		file = member_schema(i, &printed, &err) == 0 ? fopen(path, "w") : NULL;
		if (!file || fputs(buf_string(&printed), file) == EOF || fclose(file) == EOF) {
			fprintf(stderr, "%s: %s\n", path, err ? error_text(err) : "cannot be written");
			return 1;
		}
	}
	return 0;
}

static CU_TestInfo tests[] = {
	{ "each member has one", test_each_member },
	{ "what is stored", test_stored },
	{ "their own form", test_form },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "schemas", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "write") == 0 ? write_all() : test_main("schemas", suites);
}
