/* junit.xml: valid for the strictest reader, its counts are those of its cases, and only a pass reads as one. */
#include <inttypes.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/spawn.h"
#include "reports/junit.h"
#include "tests/unit/judge_world.h"

#define TEXT_BYTES ((size_t)4 * MIB)

static int encode(struct world *world, struct buf *out)
{
	struct error *err = NULL;

	return world_judge(world) && junit_encode(world->verdicts, out, &err) == 0 && test_no_error(&err);
}

static size_t count_of(const struct buf *text, const char *part)
{
	size_t count = 0;

	for (const char *at = strstr(buf_string(text), part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

static int valid(const struct buf *text)
{
	char name[] = "xmllint", quiet[] = "--noout", schema[] = "--schema", file[] = "tests/data/junit.xsd",
	     in[] = "-";
	char *const argv[] = { name, quiet, schema, file, in, NULL };
	cleanup_fd int fd = memfd_create("junit", MFD_CLOEXEC);
	cleanup_child struct child child = CHILD_NONE;
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/usr/bin/xmllint", .argv = argv };
	struct error *err = NULL;
	int status = -1;

	options.fds[options.fds_count++] = (struct spawn_fd){ .from = fd, .to = 0 };
	if (fd_write_all(fd, text->data, text->length, NEVER, &err) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
	    spawn(&options, &child, &err) == 0)
		(void)!child_wait(&child, clock_deadline(4000), &status, &err);
	return test_no_error(&err) && status == 0;
}

/* The document's own counts, by suites and in all. */
static int counts_agree(const struct buf *text)
{
	char all[128];

	snprintf(all, sizeof(all), "<testsuites name=\"confinement\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">",
		 count_of(text, "<testcase "), count_of(text, "<failure "), count_of(text, "<error "));
	return strstr(buf_string(text), all) != NULL;
}

static void test_passed(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);

	CU_ASSERT(world_make(&world, "all", 2, NULL));
	CU_ASSERT(encode(&world, &text));
	CU_ASSERT(valid(&text));
	CU_ASSERT(counts_agree(&text));
	CU_ASSERT_EQUAL(count_of(&text, "<failure ") + count_of(&text, "<error "), 0);
	CU_ASSERT_EQUAL(count_of(&text, "<testcase "),
			world.verdicts->cells_count + world.verdicts->mutations_count + world.verdicts->arms_count);
#define HOLDS(part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), part))
	HOLDS("<testsuite name=\"confinement.baseline\" ");
	HOLDS("<testsuite name=\"confinement.mutation\" ");
	HOLDS("<testsuite name=\"confinement.lifecycle\" ");
	HOLDS("<testcase classname=\"confinement.baseline\" name=\"dns@capture-host\"/>");
	HOLDS("<testcase classname=\"confinement.mutation.network\" name=\"tcp4@tcp4 #2\"/>");
	HOLDS("<testcase classname=\"confinement.mutation.network\" name=\"detected\"/>");
	HOLDS("<testcase classname=\"confinement.lifecycle.bridge-killed\" name=\"arm\"/>");
}

/* Each outcome that is no pass, as a reader of the file sees it. */
static void test_outcomes(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct arm_record *broken;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	see(&world, "baseline", "dns", "dns")->value = 3;
	see(&world, "baseline", "permitted", "deliveries")->value = 0;
	see(&world, "baseline", "tcp4", "tcp4")->dropped = 1;
	forget(&world, see(&world, "baseline-again", "restarts", "state"));
	see(&world, "mutation/read-only", "file", "files-archive")->value = 0;
	broken = record_of(&world, "lifecycle/bridge-killed");
	broken->status = ARM_TIMEOUT;
	set(broken->reason, sizeof(broken->reason), "session-limit");
	CU_ASSERT(encode(&world, &text));
	CU_ASSERT(valid(&text));
	CU_ASSERT(counts_agree(&text));
	HOLDS("name=\"dns@dns\">\n      <failure type=\"bypass_observed\" message=\"value\">expected eq 0, saw 3, "
	      "observation ");
	HOLDS("name=\"permitted@deliveries\">\n      <failure type=\"positive_control_failed\" "
	      "message=\"value\">expected eq 1, "
	      "saw 0");
	HOLDS("name=\"tcp4@tcp4\">\n      <error type=\"not_established\" message=\"not_live\">expected eq 0, saw 0");
	HOLDS("name=\"restarts@state\">\n      <error type=\"not_established\" message=\"missing\">expected eq "
	      "0</error>");
	HOLDS("<failure type=\"mutation_not_detected\" message=\"undetected\"/>");
	HOLDS("<error type=\"timeout\" message=\"session-limit\"/>");
#undef HOLDS
	CU_ASSERT_EQUAL(count_of(&text, "<skipped"), 0);
}

/* A run of one scenario has no empty suite. */
static void test_no_empty_suite(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);

	CU_ASSERT(world_make(&world, "lifecycle/bridge-killed", 1, NULL));
	CU_ASSERT(encode(&world, &text));
	CU_ASSERT(valid(&text));
	CU_ASSERT_EQUAL(count_of(&text, "<testsuite "), 2);
	CU_ASSERT_EQUAL(count_of(&text, "confinement.baseline"), 0);
}

/* The schema refuses what the strict readers refuse: else its consent would be worth nothing. */
static void test_schema(void)
{
	static const char *const refused[] = {
		"<testsuites><testsuite name='a' tests='1' failures='0'/></testsuites>",
		"<testsuites skipped='0'/>",
		"<testsuites><testsuite name='a' tests='1' failures='0' errors='0'><testcase name='x' classname='c' "
		"file='f'/></testsuite></testsuites>",
		"<testsuites><testsuite name='a' tests='1' failures='0' errors='0'><testcase "
		"classname='c'/></testsuite>"
		"</testsuites>",
		"<testsuites><testsuite name='a' tests='2' failures='0' errors='0'><testcase name='x' "
		"classname='c'/><testcase "
		"name='x' classname='c'/></testsuite></testsuites>",
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup_buf struct buf text = BUF(TEXT_BYTES);

		buf_text(&text, refused[i]);
		CU_ASSERT(!valid(&text));
	}
}

static CU_TestInfo tests[] = {
	{ "passed", test_passed },
	{ "outcomes", test_outcomes },
	{ "no empty suite", test_no_empty_suite },
	{ "the schema", test_schema },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "junit", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("junit", suites);
}
