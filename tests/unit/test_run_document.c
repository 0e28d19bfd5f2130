/* The documents of `run --json`: exactly these members, and the numbers of the verdicts. */
#include "runner/run_document.h"

#include "core/fd.h"
#include "runner/document.h"
#include "tests/unit/judge_world.h"

static const struct summary_facts facts = {
	.bundle = "runs/x/bundle.tar.gz", .sha256 = "00ff", .wall_ns = 123, .seed = 7
};

/* An object has exactly these members, of these types. */
struct key {
	const char *name;
	enum json_type type;
};
static void has_keys(const struct json_node *object, const struct key *keys, size_t count)
{
	CU_ASSERT_EQUAL(json_count(object), count);
	for (size_t i = 0; i < count; i++) {
		const struct json_node *member = json_member(object, keys[i].name);

		CU_ASSERT(member && json_type(member) == keys[i].type);
		if (!member || json_type(member) != keys[i].type)
			fprintf(stderr, "'%s' is missing, or of another type\n", keys[i].name);
	}
}
#define KEYS(object, ...)                                                                                              \
	has_keys(object, (const struct key[]){ __VA_ARGS__ },                                                          \
		 sizeof((const struct key[]){ __VA_ARGS__ }) / sizeof(struct key))

/* One line that is one document, by the strict reader: no key twice, UTF-8. */
static struct json_document *parse(const struct buf *text)
{
	struct json_document *document = NULL;
	struct error *error = NULL;

	CU_ASSERT_FALSE(text->failed);
	CU_ASSERT(text->length > 0 && strchr(buf_string(text), '\n') == buf_string(text) + text->length - 1);
	CU_ASSERT_EQUAL(json_parse(buf_string(text), text->length - 1, JSON_DEPTH, &document, &error), 0);
	CU_ASSERT(test_no_error(&error));
	return document;
}

static const char *text_of(const struct json_node *object, const char *key)
{
	const char *text = json_string(json_member(object, key));

	return text ? text : "";
}

static int64_t number_of(const struct json_node *object, const char *key)
{
	int64_t number = -1;

	CU_ASSERT(json_int64(json_member(object, key), &number));
	return number;
}

static const struct json_node *nth(const struct json_node *array, size_t index)
{
	const struct json_node *one = json_first(array);

	while (one && index-- > 0)
		one = json_next(one);
	return one;
}

static bool flag_of(const struct json_node *object, const char *key)
{
	bool flag = false;

	CU_ASSERT(json_bool(json_member(object, key), &flag));
	return flag;
}

static struct json_document *verdict(struct world *world, const struct effect *declared)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct manifest_facts of = { .finished = "2026-01-02T03:04:05Z" };
	struct findings findings = { .manifest = &of, .plan = world->plan, .arms = world->arms };
	struct error *err = NULL;

	if (!world_judge(world))
		return NULL;
	findings.verdicts = world->verdicts;
	findings.effects = declared;
	findings.effects_count = declared ? 1 : 0;
	CU_ASSERT(run_document_verdict(&findings, &facts, &out, &err) == 0 && test_no_error(&err));
	return parse(&out);
}

static void check_document(const struct json_node *root)
{
	KEYS(root, { "schemaVersion", JSON_NUMBER }, { "verb", JSON_STRING }, { "exitCode", JSON_NUMBER },
	     { "dryRun", JSON_BOOL }, { "verdict", JSON_STRING }, { "cells", JSON_OBJECT }, { "failed", JSON_ARRAY },
	     { "notEstablished", JSON_ARRAY }, { "arms", JSON_ARRAY }, { "mutations", JSON_ARRAY },
	     { "notPlanned", JSON_ARRAY }, { "claims", JSON_ARRAY }, { "bundle", JSON_STRING },
	     { "sha256", JSON_STRING }, { "seed", JSON_NUMBER }, { "wallNs", JSON_NUMBER });
	KEYS(json_member(root, "cells"), { "pass", JSON_NUMBER }, { "fail", JSON_NUMBER },
	     { "notEstablished", JSON_NUMBER });
}

static void test_passed(void)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct json_node *arms, *rows;
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;

	CU_ASSERT(world_make(&world, "all", 2, NULL));
	record_of(&world, "baseline")->duration_ns = 456;
	document = verdict(&world, NULL);
	root = json_root(document);
	check_document(root);
	CU_ASSERT_FALSE(flag_of(root, "dryRun"));
	CU_ASSERT_EQUAL(number_of(root, "schemaVersion"), DOCUMENT_VERSION);
	CU_ASSERT_STRING_EQUAL(text_of(root, "verb"), "run");
	CU_ASSERT_EQUAL(number_of(root, "exitCode"), 0);
	CU_ASSERT_STRING_EQUAL(text_of(root, "verdict"), "pass");
	CU_ASSERT_STRING_EQUAL(text_of(root, "bundle"), facts.bundle);
	CU_ASSERT_STRING_EQUAL(text_of(root, "sha256"), facts.sha256);
	CU_ASSERT_EQUAL(number_of(root, "wallNs"), 123);
	CU_ASSERT_EQUAL(number_of(root, "seed"), 7);
	CU_ASSERT_EQUAL(number_of(json_member(root, "cells"), "pass"), (int64_t)world.verdicts->pass);
	CU_ASSERT_EQUAL(json_count(json_member(root, "failed")), 0);
	CU_ASSERT_EQUAL(json_count(json_member(root, "notEstablished")), 0);

	arms = json_member(root, "arms");
	CU_ASSERT_EQUAL(json_count(arms), world.plan->arms_count);
	for (size_t i = 0; i < json_count(arms); i++) {
		const struct json_node *arm = nth(arms, i);

		KEYS(arm, { "id", JSON_STRING }, { "repetition", JSON_NUMBER }, { "status", JSON_STRING },
		     { "reason", JSON_NULL }, { "durationNs", JSON_NUMBER });
		CU_ASSERT_STRING_EQUAL(text_of(arm, "id"), world.plan->arms[i].scenario->id);
		CU_ASSERT_EQUAL(number_of(arm, "repetition"), world.plan->arms[i].repetition);
		CU_ASSERT_STRING_EQUAL(text_of(arm, "status"), "ok");
	}
	CU_ASSERT_EQUAL(number_of(nth(arms, 0), "durationNs"), 456);
	rows = json_member(root, "mutations");
	CU_ASSERT_EQUAL(json_count(rows), world.verdicts->mutations_count);
	for (size_t i = 0; i < json_count(rows); i++) {
		const struct json_node *mutation = nth(rows, i);

		KEYS(mutation, { "id", JSON_STRING }, { "repetition", JSON_NUMBER }, { "verdict", JSON_STRING },
		     { "installed", JSON_BOOL }, { "detected", JSON_BOOL }, { "reason", JSON_STRING });
		CU_ASSERT(flag_of(mutation, "installed") && flag_of(mutation, "detected"));
		CU_ASSERT_STRING_EQUAL(text_of(mutation, "verdict"), "pass");
		CU_ASSERT_STRING_EQUAL(text_of(mutation, "reason"), "met");
	}
}

static void check_cell(const struct json_node *cell, const char *arm, const char *subject, int64_t value,
		       const char *reason)
{
	KEYS(cell, { "arm", JSON_STRING }, { "repetition", JSON_NUMBER }, { "subject", JSON_STRING },
	     { "observer", JSON_STRING }, { "op", JSON_STRING }, { "expected", JSON_NUMBER },
	     { "value", value < 0 ? JSON_NULL : JSON_NUMBER }, { "reason", JSON_STRING });
	CU_ASSERT_STRING_EQUAL(text_of(cell, "arm"), arm);
	CU_ASSERT_EQUAL(number_of(cell, "repetition"), 1);
	CU_ASSERT_STRING_EQUAL(text_of(cell, "subject"), subject);
	CU_ASSERT_STRING_EQUAL(text_of(cell, "observer"), subject);
	CU_ASSERT_STRING_EQUAL(text_of(cell, "op"), "eq");
	CU_ASSERT_EQUAL(number_of(cell, "expected"), 0);
	CU_ASSERT_STRING_EQUAL(text_of(cell, "reason"), reason);
	if (value >= 0)
		CU_ASSERT_EQUAL(number_of(cell, "value"), value);
}

static void test_failed(void)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct json_node *failed, *open;
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	see(&world, "baseline", "dns", "dns")->value = 2;
	forget(&world, see(&world, "baseline", "tcp4", "tcp4"));
	record_of(&world, "mutation/ack")->status = ARM_TIMEOUT;
	set(record_of(&world, "mutation/ack")->reason, NAME_MAX_SHORT, "step-failed");
	document = verdict(&world, NULL);
	root = json_root(document);
	check_document(root);
	CU_ASSERT_FALSE(flag_of(root, "dryRun"));
	CU_ASSERT_STRING_EQUAL(text_of(root, "verdict"), "fail");
	CU_ASSERT_EQUAL(number_of(root, "exitCode"), 1);
	failed = json_member(root, "failed");
	open = json_member(root, "notEstablished");
	CU_ASSERT_EQUAL(json_count(failed), 1);
	CU_ASSERT_EQUAL((int64_t)json_count(failed), number_of(json_member(root, "cells"), "fail"));
	CU_ASSERT_EQUAL((int64_t)json_count(open), number_of(json_member(root, "cells"), "notEstablished"));
	check_cell(nth(failed, 0), "baseline", "dns", 2, "value");
	check_cell(nth(open, 0), "baseline", "tcp4", -1, "missing");
	for (size_t i = 0; i < world.plan->arms_count; i++) {
		const struct json_node *arm = nth(json_member(root, "arms"), i);
		bool late = strcmp(text_of(arm, "id"), "mutation/ack") == 0;

		CU_ASSERT_STRING_EQUAL(text_of(arm, "status"), late ? "timeout" : "ok");
		CU_ASSERT_STRING_EQUAL(text_of(arm, "reason"), late ? "step-failed" : "");
	}
}

static void test_plan(void)
{
	static const char *const missing[] = { "ipv6-loopback", NULL };
	const struct declared declared = { .observers = { { .id = "kept", .program = "kept.py", .sha256 = "abc" } },
					   .count = 1 };
	const struct options options = { .jobs = 3, .repeat = 4, .shard = 2, .shards = 5, .out = "runs\xff" };
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	const struct json_node *absent, *touches;
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;

	CU_ASSERT(world_make(&world, "mutation/read-only", 1, missing));
	run_document_plan(world.plan, &options, &declared, 9007199254740991, &out);
	document = parse(&out);
	root = json_root(document);
	KEYS(root, { "schemaVersion", JSON_NUMBER }, { "verb", JSON_STRING }, { "exitCode", JSON_NUMBER },
	     { "dryRun", JSON_BOOL }, { "jobs", JSON_NUMBER }, { "aboutSeconds", JSON_NUMBER },
	     { "repeat", JSON_NUMBER }, { "shard", JSON_OBJECT }, { "seed", JSON_NUMBER }, { "arms", JSON_ARRAY },
	     { "notPlanned", JSON_ARRAY }, { "out", JSON_STRING }, { "touches", JSON_ARRAY });
	CU_ASSERT(flag_of(root, "dryRun"));
	CU_ASSERT_EQUAL(number_of(root, "jobs"), 3);
	CU_ASSERT(number_of(root, "aboutSeconds") > 0);
	CU_ASSERT_EQUAL(number_of(root, "repeat"), 4);
	KEYS(json_member(root, "shard"), { "index", JSON_NUMBER }, { "of", JSON_NUMBER });
	CU_ASSERT_EQUAL(number_of(json_member(root, "shard"), "index"), 2);
	CU_ASSERT_EQUAL(number_of(json_member(root, "shard"), "of"), 5);
	CU_ASSERT_EQUAL(number_of(root, "seed"), 9007199254740991);
	CU_ASSERT_STRING_EQUAL(text_of(root, "out"), "runs?");
	touches = json_member(root, "touches");
	CU_ASSERT(json_count(touches) > 1);
	CU_ASSERT_STRING_EQUAL(json_string(nth(touches, json_count(touches) - 1)),
			       "the program kept.py (SHA-256 abc) runs as root, as observer kept");
	CU_ASSERT_EQUAL(json_count(json_member(root, "arms")), world.plan->arms_count);
	for (size_t i = 0; i < world.plan->arms_count; i++) {
		const struct json_node *arm = nth(json_member(root, "arms"), i);
		bool added = world.plan->arms[i].added;

		KEYS(arm, { "id", JSON_STRING }, { "repetition", JSON_NUMBER }, { "title", JSON_STRING },
		     { "added", JSON_BOOL });
		CU_ASSERT_STRING_EQUAL(text_of(arm, "title"), world.plan->arms[i].scenario->title);
		CU_ASSERT_EQUAL(flag_of(arm, "added"), added);
		CU_ASSERT_EQUAL(added, strcmp(text_of(arm, "id"), "mutation/read-only") != 0);
	}
	absent = json_member(root, "notPlanned");
	CU_ASSERT_EQUAL(json_count(absent), world.plan->absent_count);
	CU_ASSERT(json_count(absent) > 0);
	KEYS(nth(absent, 0), { "arm", JSON_STRING }, { "subject", JSON_STRING }, { "observer", JSON_STRING },
	     { "needs", JSON_STRING });
	CU_ASSERT_STRING_EQUAL(text_of(nth(absent, 0), "needs"), "ipv6-loopback");
}

/* A path that is no UTF-8 would make the whole document unreadable. */
static const struct {
	const char *path, *shown;
} paths[] = {
	{ "runs", "runs" },
	{ "l\xc3\xa4ufe", "l\xc3\xa4ufe" },
	{ "a\"b\\c\nd", "a\"b\\c\nd" },
	{ "runs\xff", "runs?" },
	{ "\xc3", "?" },
	{ "", "" },
};

static void test_paths(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		cleanup_buf struct buf out = BUF(1024);
		struct json_writer json;
		cleanup_json struct json_document *document = NULL;
		const struct json_node *root;

		document_begin(&json, &out, "run", 2);
		document_path(&json, "path", paths[i].path);
		document_optional(&json, "some", "text");
		document_optional(&json, "none", "");
		document_end(&json);
		document = parse(&out);
		root = json_root(document);
		CU_ASSERT_STRING_EQUAL(text_of(root, "path"), paths[i].shown);
		CU_ASSERT_STRING_EQUAL(text_of(root, "some"), "text");
		CU_ASSERT(json_is_null(json_member(root, "none")));
		CU_ASSERT_EQUAL(number_of(root, "exitCode"), 2);
	}
}

static CU_TestInfo tests[] = {
	{ "passed", test_passed }, { "failed", test_failed }, { "plan", test_plan },
	{ "paths", test_paths },   CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "run_document", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("run_document", suites);
}
