/* verdicts.json and arms.json: their form, and what is refused when arms.json is read. */
#include "tests/unit/judge_world.h"

static void test_encoding(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(MIB), canonical = BUF(MIB);
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;
	struct error *err = NULL;
	int64_t number = -1;

	CU_ASSERT(world_make(&world, "lifecycle/bridge-killed", 1, NULL));
	forget(&world, see(&world, "lifecycle/bridge-killed", "alive", "state"));
	record_of(&world, "mutation/watchdog")->status = ARM_HARNESS_ERROR;
	set(record_of(&world, "mutation/watchdog")->reason, NAME_MAX_SHORT, "engine-lost");
	CU_ASSERT(world_encode(&world, &text));
	CU_ASSERT_EQUAL(json_canonical(buf_string(&text), text.length, &canonical, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&text), buf_string(&canonical));
	CU_ASSERT_EQUAL(json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	root = json_root(document);
	CU_ASSERT_STRING_EQUAL(json_string(json_member(root, "schema")), "confinement-evidence/verdicts/1");
	CU_ASSERT_STRING_EQUAL(json_string(json_member(root, "overall")), "not_established");
	CU_ASSERT(json_int64(json_member(root, "exitCode"), &number) && number == 3);
	CU_ASSERT_EQUAL(json_count(json_member(root, "cells")), 6);
#define HOLDS(part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), part))
	HOLDS("{\"arm\":\"lifecycle/"
	      "bridge-killed\",\"because\":\"unearned\",\"class\":\"protected\",\"expected\":1000000000,"
	      "\"mutant\":null,\"observation\":\"o-000000\",\"observer\":\"state\",\"op\":\"le\",\"repetition\":1,"
	      "\"subject\":\"loss_to_dead\",\"value\":500000000,\"verdict\":\"not_established\"}");
	HOLDS("{\"arm\":\"lifecycle/bridge-killed\",\"because\":\"missing\",\"class\":\"control\",\"expected\":0,"
	      "\"mutant\":null,\"observation\":null,\"observer\":\"state\",\"op\":\"eq\",\"repetition\":1,"
	      "\"subject\":\"alive\",\"value\":null,\"verdict\":\"not_established\"}");
	HOLDS("{\"because\":\"arm\",\"detected\":false,\"id\":\"mutation/"
	      "watchdog\",\"installed\":false,\"repetition\":1,"
	      "\"verdict\":\"not_established\"}");
	HOLDS("{\"arm\":\"mutation/"
	      "watchdog\",\"reason\":\"engine-lost\",\"repetition\":1,\"status\":\"harness_error\"}");
	HOLDS("{\"arm\":\"lifecycle/bridge-killed\",\"reason\":null,\"repetition\":1,\"status\":\"ok\"}");
	HOLDS("\"counts\":{\"arms\":2,\"armsNotOk\":1,\"cells\":6,\"fail\":0,\"mutations\":1,\"mutationsDetected\":0,"
	      "\"notEstablished\":5,\"pass\":1}");
#undef HOLDS
}

/* A value that no observer stands behind is not shown. */
static void test_encoded_value(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(MIB);

	CU_ASSERT(world_make(&world, "lifecycle/bridge-killed", 1, NULL));
	see(&world, "lifecycle/bridge-killed", "loss_to_dead", "state")->status = OBSERVATION_NOT_OBSERVABLE;
	CU_ASSERT(world_encode(&world, &text));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "\"subject\":\"loss_to_dead\",\"value\":null"));
}

static void test_arm_records(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(MIB), again = BUF(MIB);
	cleanup_arm_pool struct arm_pool *pool = NULL;
	cleanup_free struct arm_record *back = NULL;
	struct arm_record *record;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	CU_ASSERT_EQUAL(arm_pool_new(&pool, &err), 0);
	record = record_of(&world, "mutation/network");
	set(record->events[0].name, NAME_MAX_SHORT, "delivered");
	set(record->events[0].subject, NAME_MAX_SHORT, "permitted");
	set(record->events[1].name, NAME_MAX_SHORT, "dead");
	record->events[1].at_ns = 5;
	record->events_count = 2;
	snprintf(record->deployment_revision, sizeof(record->deployment_revision), "example-1");
	record->agent_attempts = -1;
	record->status = ARM_NOT_RUN;
	record->image[0] = record->boot[0] = '\0';
	memset(record->image, 0, sizeof(record->image));
	memset(record->boot, 0, sizeof(record->boot));
	CU_ASSERT_EQUAL(arm_records_encode(world.arms, world.arms_count, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(arm_records_decode(buf_string(&text), text.length, pool, &back, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(count, world.arms_count);
	/* What arms share stands once. */
	CU_ASSERT_PTR_EQUAL(back[0].effective[0], back[1].effective[0]);
	CU_ASSERT_PTR_NOT_EQUAL(back[0].effective, back[1].effective);
	CU_ASSERT_EQUAL(arm_records_encode(back, count, &again, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&text), buf_string(&again));
	/* Of arms without a deployment nothing stands there, as in what was written before there was one. */
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "\"deploymentRevision\":\"example-1\""));
	CU_ASSERT_PTR_NULL(strstr(strstr(buf_string(&text), "deploymentRevision") + 1, "deploymentRevision"));
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_STRING_EQUAL(back[i].deployment_revision, world.arms[i].deployment_revision);
}

/* However much the arms of a run say, what is kept of them is bounded. */
static void test_pool(void)
{
	cleanup_free struct arm_room *room = calloc(1, sizeof(*room));
	cleanup_arm_pool struct arm_pool *pool = NULL;
	struct arm_record kept;
	struct error *err = NULL;
	size_t arms = 0;
	int result = 0;

	CU_ASSERT_EQUAL(arm_pool_new(&pool, &err), 0);
	arm_room_open(room);
	room->record.effective_count = ARM_EFFECTIVE_MAX;
	/* The same values again cost little. */
	for (; arms < 1000 && result == 0; arms++)
		result = arm_pool_keep(pool, &room->record, &kept, &err);
	CU_ASSERT_EQUAL(result, 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_PTR_EQUAL(kept.effective[0], kept.effective[1]);
	for (; result == 0 && arms < 2000; arms++) {
		for (size_t i = 0; i < ARM_EFFECTIVE_MAX; i++)
			snprintf(room->effective[i].field, ARM_FIELD_MAX, "a.%zu.%zu", arms, i);
		result = arm_pool_keep(pool, &room->record, &kept, &err);
	}
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "the arms of a run say more than"));
	CU_ASSERT(arms < 1000 + ARM_POOL_BYTES / (ARM_EFFECTIVE_MAX * sizeof(struct effective_value)));
}

static void test_refused_records(void)
{
	static const struct {
		const char *from, *to, *part;
	} edits[] = {
		{ "{\"arms\":[", "{\"more\":1,\"arms\":[", "the array 'arms' alone" },
		{ "{\"arms\":[", "{\"legs\":[", "the array 'arms' alone" },
		{ "\"status\":\"ok\"", "\"status\":\"fine\"", "arms.json: status: unknown value" },
		{ "\"repetition\":1", "\"repetition\":0", "arms.json: repetition" },
		{ "\"mayDiffer\":[\"protection.watchdog.*\"", "\"mayDiffer\":[\"protection.*.watchdog\"",
		  "arms.json: mayDiffer[0]" },
		{ "\"mayDiffer\":[\"protection.watchdog.*\"", "\"mayDiffer\":[\"a word or two\"",
		  "arms.json: mayDiffer[0]" },
		{ "\"mayDiffer\":[\"protection.watchdog.*\"", "\"mayDiffer\":[\"\"", "arms.json: mayDiffer[0]" },
		{ "\"mayDiffer\":[\"protection.watchdog.*\"", "\"mayDiffer\":[\"*\"", "arms.json: mayDiffer[0]" },
		{ "\"image\":\"a", "\"image\":\"", "arms.json: image" },
		{ "\"boot\":\"b", "\"boot\":\"", "arms.json: boot" },
		{ "\"sha256\":\"0", "\"sha256\":\"", "arms.json: effective[0].sha256" },
		{ "\"agentAttempts\":9,", "", "arms.json: agentAttempts: missing" },
		{ "\"agentAttempts\":9", "\"agentAttempts\":-2", "arms.json: agentAttempts" },
		{ "\"agentAttempts\":9", "\"deploymentRevision\":\"\",\"agentAttempts\":9",
		  "arms.json: deploymentRevision" },
		{ "\"agentAttempts\":9", "\"deploymentRevision\":\"two words\",\"agentAttempts\":9",
		  "arms.json: deploymentRevision" },
		{ "]}]}", "]}]}x", "arms.json" },
	};
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(MIB);
	struct error *err = NULL;

	CU_ASSERT(world_make(&world, "lifecycle/bridge-killed", 1, NULL));
	CU_ASSERT_EQUAL(arm_records_encode(world.arms, world.arms_count, &text, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		cleanup_buf struct buf edited = BUF(MIB);
		cleanup_arm_pool struct arm_pool *pool = NULL;
		cleanup_free struct arm_record *back = NULL;
		const char *at = strstr(buf_string(&text), edits[i].from);
		size_t count = 0;

		CU_ASSERT_EQUAL(arm_pool_new(&pool, &err), 0);
		if (!at && strcmp(edits[i].from, "]}]}") == 0)
			at = buf_string(&text) + text.length;
		CU_ASSERT_PTR_NOT_NULL(at);
		if (!at)
			continue;
		buf_add(&edited, text.data, (size_t)(at - text.data));
		buf_text(&edited, edits[i].to);
		if (*at)
			buf_text(&edited, at + strlen(edits[i].from));
		CU_ASSERT(arm_records_decode(edited.data, edited.length, pool, &back, &count, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, edits[i].part));
	}
}

static CU_TestInfo tests[] = {
	{ "verdicts.json", test_encoding },
	{ "a value nobody stands behind", test_encoded_value },
	{ "arms.json", test_arm_records },
	{ "refused arms.json", test_refused_records },
	{ "the pool of records is bounded", test_pool },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "verdicts", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verdicts", suites);
}
