/* Scenarios: those of the tree, each refusal by file and field, reading a folder, and the schema. */
#include "oracle/scenario.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

static void test_tree(void)
{
	static const char *const ids[] = {
		"baseline",           "baseline-again",        "lifecycle/bridge-killed", "lifecycle/watchdog-paused",
		"mutation/ack",       "mutation/log-driver",   "mutation/network",        "mutation/network-bridge",
		"mutation/read-only", "mutation/sink-ceiling", "mutation/watchdog",
	};
	cleanup_free struct scenario *scenarios = NULL;
	const struct scenario *baseline, *again;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(count, ARRAY_SIZE(ids));
	if (count != ARRAY_SIZE(ids))
		return;
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_STRING_EQUAL(scenarios[i].id, ids[i]);
	baseline = scenario_find(scenarios, count, "baseline");
	again = scenario_find(scenarios, count, "baseline-again");
	CU_ASSERT_PTR_EQUAL(baseline, &scenarios[0]);
	CU_ASSERT_PTR_EQUAL(again, &scenarios[1]);
	CU_ASSERT_PTR_NULL(scenario_find(scenarios, count, "mutation"));
	CU_ASSERT_STRING_NOT_EQUAL(baseline->title, again->title);
	CU_ASSERT_EQUAL(memcmp((const char *)baseline + offsetof(struct scenario, control),
			       (const char *)again + offsetof(struct scenario, control),
			       sizeof(*baseline) - offsetof(struct scenario, control)),
			0);
	CU_ASSERT_STRING_EQUAL(baseline->profile, "reference");
	CU_ASSERT_EQUAL(baseline->tries, 1);
}

static void test_round_trip(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_free struct scenario *back = calloc(1, sizeof(*back));
	cleanup_free struct scenario *rich = calloc(1, sizeof(*rich));
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT(rich && back && world_load_whole(&scenarios, &count, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(world_decode("rich", control_text, NULL, NULL, rich, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i <= count; i++) {
		const struct scenario *one = i < count ? &scenarios[i] : rich;
		cleanup_buf struct buf text = BUF(SCENARIO_BYTES), canonical = BUF(SCENARIO_BYTES);
		cleanup_json struct json_document *document = NULL;
		struct json_writer writer;

		json_begin(&writer, &text);
		scenario_encode(one, &writer);
		CU_ASSERT_EQUAL(json_canonical(buf_string(&text), text.length, &canonical, &err), 0);
		CU_ASSERT_EQUAL(json_parse(buf_string(&canonical), canonical.length, JSON_DEPTH, &document, &err), 0);
		CU_ASSERT_EQUAL(scenario_decode_sealed(json_root(document), "scenarios.json", back, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(memcmp(back, one, sizeof(*back)), 0);
	}
}

static void test_values(void)
{
	cleanup_free struct scenario *one = calloc(1, sizeof(*one));
	struct error *err = NULL;

	CU_ASSERT(one && world_decode("base", control_text, NULL, NULL, one, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(one->id, "base");
	CU_ASSERT_EQUAL(one->tries, 2);
	CU_ASSERT_STRING_EQUAL(one->ending, "hold");
	CU_ASSERT_EQUAL(one->window_ms, 5000);
	CU_ASSERT_EQUAL(one->faults[0].role, FAULT_BRIDGE);
	CU_ASSERT_EQUAL(one->faults[0].action, FAULT_KILL);
	CU_ASSERT_STRING_EQUAL(one->updates[0].revoke, "public.tool");
	CU_ASSERT_EQUAL(one->expect_count, 4);
	CU_ASSERT_EQUAL(one->expect[1].op, OP_LE);
	CU_ASSERT_EQUAL(one->expect[2].class, CELL_CONTROL);
	CU_ASSERT_FALSE(one->expect[0].flips);
	CU_ASSERT_STRING_EQUAL(one->expect[3].needs, "ipv6-loopback");
	CU_ASSERT_PTR_EQUAL(scenario_cell(one, "dns", "attempts"), &one->expect[3]);
	CU_ASSERT_PTR_NULL(scenario_cell(one, "dns", "dns"));
	CU_ASSERT_TRUE(scenario_selected(one, "all"));
	CU_ASSERT_TRUE(scenario_selected(one, "base"));
	CU_ASSERT_FALSE(scenario_selected(one, "bas"));
	CU_ASSERT_FALSE(scenario_selected(one, ""));
}

static void test_refused_documents(void)
{
	static const struct {
		const char *text, *from, *to, *part;
	} rows[] = {
		{ control_text, "\"title\":\"t\",", "", "base.json: title: missing" },
		{ control_text, "\"title\":\"t\"", "\"title\":\"\"", "base.json: title" },
		{ control_text, "\"ending\":\"hold\"", "\"holds\":true", "base.json: unknown key 'holds'" },
		{ control_text, "\"ending\":\"hold\"", "\"ending\":\"dance\"", "base.json: ending: unknown 'dance'" },
		{ control_text, "\"ending\"", "\"after\":[\"denied\"],\"ending\"",
		  "base.json: after: there is no misbehaviour" },
		{ control_text, "\"ending\"", "\"misbehaviour\":{\"id\":\"raw\"},\"after\":[\"tcp4\"],\"ending\"",
		  "base.json: after[0]: 'tcp4' is one of the probes" },
		{ control_text, "\"ending\"", "\"misbehaviour\":{\"id\":\"raw\",\"bytes\":\"abc\"},\"ending\"",
		  "base.json: misbehaviour.bytes: two digits are a byte" },
		{ control_text, "\"ending\"", "\"misbehaviour\":{\"id\":\"crush\"},\"ending\"",
		  "base.json: misbehaviour.id: unknown 'crush': did you mean 'crash'?" },
		{ control_text, "\"ending\"", "\"misbehaviour\":{\"id\":\"raw\",\"bytes\":\"no\"},\"ending\"",
		  "base.json: misbehaviour.bytes" },
		{ control_text, "\"ending\"", "\"peer\":{\"at\":\"gateway\"},\"ending\"", "base.json: peer.does" },
		{ control_text, "\"ending\"", "\"peer\":{\"at\":\"audit\",\"does\":\"dies\"},\"ending\"",
		  "base.json: peer.does: a database or a collector" },
		{ control_text, "\"ending\"", "\"labels\":{\"tool\":\"pii\"},\"ending\"", "base.json: labels" },
		{ control_text, "\"ending\"", "\"limits\":{\"calls\":-1},\"ending\"", "base.json: limits.calls" },
		{ control_text, "\"tcp4\",\"dns\",\"permitted\"", "", "base.json: probes" },
		{ control_text, "\"dns\",\"perm", "\"ping\",\"perm", "base.json: probes[1]: unknown 'ping'" },
		{ control_text, "\"dns\",\"perm", "\"tcp4\",\"perm",
		  "base.json: probes[1]: 'tcp4' stands there twice" },
		{ control_text, "\"tries\":2", "\"tries\":0", "base.json: tries" },
		/* a zero at a way out is no control */
		{ control_text, "\"op\":\"eq\",\"value\":1,\"class\":\"control\"",
		  "\"op\":\"eq\",\"value\":0,\"class\":\"control\"", "class: nothing at 'deliveries'" },
		{ control_text, "\"op\":\"eq\",\"value\":1,\"class\":\"control\"",
		  "\"op\":\"le\",\"value\":1,\"class\":\"control\"", "class: nothing at 'deliveries'" },
		{ control_text, "\"tries\":2", "\"tries\":1001", "base.json: tries" },
		{ control_text, "\"windowMs\":5000,", "", "base.json: windowMs: death is watched for" },
		{ control_text,
		  "\"faults\":[{\"role\":\"bridge\",\"action\":\"kill\",\"trigger\":\"permitted\",\"undo\":false}],",
		  "", "base.json: windowMs: death is watched for" },
		{ control_text, "\"bridge\"", "\"moon\"", "base.json: faults[0].role: unknown value" },
		{ control_text, "\"kill\"", "\"poke\"", "base.json: faults[0].action: unknown value" },
		{ control_text, "\"kill\"", "\"rename\"", "base.json: faults[0].action: nothing of its role" },
		{ control_text, "\"kill\"", "\"interface\"", "base.json: faults[0].action: nothing of its role" },
		{ control_text, "\"bridge\"", "\"operator\"", "base.json: faults[0].action: nothing of its role" },
		{ control_text, "\"bridge\"", "\"namespace\"", "base.json: faults[0].action: nothing of its role" },
		{ control_text, "\"bridge\"", "\"host\"", "base.json: faults[0].action: nothing of its role" },
		{ control_text, "\"trigger\":\"permitted\",\"undo\"", "\"trigger\":\"denied\",\"undo\"",
		  "base.json: faults[0].trigger: 'denied' is no probe of this scenario" },
		{ control_text, "\"undo\":false", "\"undo\":true", "base.json: faults[0].undo: only a pause" },
		{ control_text, "\"trigger\":\"permitted\",\"revision\"", "\"trigger\":\"denied\",\"revision\"",
		  "base.json: updates[0].trigger: 'denied' is no probe" },
		{ control_text, "\"trigger\":\"permitted\",\"revision\"", "\"revision\"",
		  "base.json: updates[0].trigger: missing" },
		{ control_text, "\"revision\":1", "\"revision\":-1", "base.json: updates[0].revision" },
		{ control_text, "\"revision\":1", "\"outcome\":\"refused\",\"revision\":1",
		  "base.json: updates[0].outcome: unknown value" },
		{ control_text, "\"restore\":null", "\"restore\":\"x\"",
		  "base.json: updates[0]: either revoke or restore" },
		{ control_text, "\"revoke\":\"public.tool\",", "", "base.json: updates[0]: either revoke or restore" },
		{ control_text, "\"restore\":null", "\"document\":\"{}\"",
		  "base.json: updates[0].document: says all by itself" },
		{ control_text, "\"updates\":[",
		  "\"updates\":[{\"trigger\":\"permitted\",\"document\":\"x\"},"
		  "{\"trigger\":\"dns\",\"document\":\"x\"},",
		  "base.json: updates[1].trigger: comes before that of the update before it" },
		{ control_text, "\"updates\":[",
		  "\"misbehaviour\":{\"id\":\"raw\"},\"updates\":[{\"trigger\":\"dns\","
		  "\"pause\":true,\"document\":\"x\"},",
		  "base.json: updates[0].pause: the agent stops for its misbehaviour" },
		{ control_text, "\"subject\":\"tcp4\"", "\"subject\":\"tcp6\"",
		  "base.json: expect[0].subject: 'tcp6' is no probe of this scenario and no measure" },
		{ control_text, "\"observer\":\"tcp4\"", "\"observer\":\"moon\"",
		  "base.json: expect[0].observer: unknown 'moon'" },
		{ control_text, "\"op\":\"eq\"", "\"op\":\"lt\"", "base.json: expect[0].op: unknown value" },
		{ control_text, "\"op\":\"eq\"", "\"op\":\"ge\"",
		  "base.json: expect[0].value: at least 0 cannot fail" },
		{ control_text, "\"op\":\"eq\",\"value\":0", "\"op\":\"ge\",\"value\":2",
		  "base.json: expect[0].op: a protected cell is 'eq' 0 or a bound" },
		/* a count is never loosened to a bound */
		{ control_text, "\"role\":\"bridge\"", "\"role\":\"engine\"",
		  "base.json: faults[0].role: only scenarios of the group 'engine' hurt the engine" },
		{ control_text, "\"role\":\"bridge\"", "\"role\":\"shim\"",
		  "base.json: faults[0].role: only scenarios of the group 'engine' hurt the engine" },
		{ control_text, "\"kill\"", "\"fill\"", "base.json: faults[0].action: nothing of its role does that" },
		{ control_text, "\"op\":\"eq\",\"value\":0", "\"op\":\"le\",\"value\":0",
		  "base.json: expect[0].op: a bound 'le' is for a measure that has a limit" },
		{ control_text, "\"op\":\"eq\",\"value\":0", "\"op\":\"eq\",\"value\":1",
		  "base.json: expect[0].op: a protected cell is 'eq' 0 or a bound" },
		{ control_text, "\"value\":0", "\"value\":-1", "base.json: expect[0].value" },
		{ control_text, "\"class\":\"protected\"", "\"class\":\"precious\"",
		  "base.json: expect[0].class: unknown value" },
		{ control_text, ",\"class\":\"protected\"", "", "base.json: expect[0].class: missing" },
		{ control_text, "ipv6-loopback", "moonlight", "base.json: expect[3].needs: unknown 'moonlight'" },
		{ control_text, "\"subject\":\"dns\",\"observer\":\"attempts\"",
		  "\"subject\":\"tcp4\",\"observer\":\"tcp4\"", "base.json: expect[3]: a second expectation" },
		{ control_text, "\"class\":\"protected\"", "\"class\":\"protected\",\"flips\":true",
		  "base.json: expect[0].flips: there is no control" },
		{ control_text, "\"ending\"", "\"removes\":[\"ack\"],\"ending\"", "base.json: control: missing" },
		{ control_text, "\"ending\"", "\"control\":\"base\",\"ending\"", "base.json: removes: empty" },
		{ mutant_text, "\"ack\"", "\"gravity\"", "base.json: removes[1]: unknown 'gravity'" },
		{ mutant_text, "\"ack\"", "\"akc\"", "base.json: removes[1]: unknown 'akc': did you mean 'ack'?" },
		{ control_text, "\"dns\",\"perm", "\"dsn\",\"perm", "probes[1]: unknown 'dsn': did you mean 'dns'?" },
		{ control_text, "\"observer\":\"tcp4\"", "\"observer\":\"tpc4\"",
		  "expect[0].observer: unknown 'tpc4': did you mean 'tcp4'?" },
		{ control_text, "\"ending\":\"hold\"", "\"ending\":\"hodl\"",
		  "ending: unknown 'hodl': did you mean 'hold'?" },
		{ mutant_text, "\"ack\"", "\"network\"", "base.json: removes[1]: 'network' stands there twice" },
		{ mutant_text,
		  "{\"subject\":\"tcp4\",\"observer\":\"tcp4\",\"op\":\"ge\",\"value\":1,\"class\":\"protected\","
		  "\"flips\":true},"
		  "{\"subject\":\"loss_to_dead\",\"observer\":\"state\",\"op\":\"ge\",\"value\":10,\"class\":"
		  "\"protected\","
		  "\"flips\":true},",
		  "", "base.json: expect: no cell flips" },
		{ mutant_text, "\"value\":1,\"class\":\"protected\",\"flips\":true",
		  "\"value\":1,\"class\":\"protected\"", "base.json: expect[0].flips: missing: a protected cell" },
	};
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;

		CU_ASSERT(world_decode("base", rows[i].text, rows[i].from, rows[i].to, out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
	}
}

/* A zero of the audit chain's own measures is no zero at a way out; that of what a probe sent is one. */
static void test_zeros(void)
{
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(world_decode("base", control_text,
				     "\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1",
				     "\"subject\":\"audit-chain\",\"observer\":\"audit\",\"op\":\"eq\",\"value\":0",
				     out, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(world_decode("base", control_text,
			       "\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1",
			       "\"subject\":\"permitted\",\"observer\":\"audit\",\"op\":\"eq\",\"value\":0", out,
			       &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "class: nothing at 'audit'"));
}

/* A number above zero at a way out is no sign that something works, whatever class it is given. */
static void test_controls(void)
{
	static const struct {
		const char *subject, *observer;
		bool may;
	} rows[] = {
		{ "permitted", "tcp4", false },     { "tcp4", "tcp6", false },
		{ "dns", "tcp4-nic", false },       { "dns", "dns", false },
		{ "tcp4", "capture-host", false },  { "interfaces", "capture-netns", false },
		{ "dns", "files-archive", false },  { "dns", "logs-api", false },
		{ "permitted", "audit", false },    { "permitted", "output", false },
		{ "permitted", "spans", false },    { "permitted", "children", false },
		{ "dns", "deliveries", false },     { "limits-changed", "state", false },
		{ "memory", "state", false },       { "permitted", "deliveries", true },
		{ "permitted", "decisions", true }, { "permitted", "attempts", true },
		{ "audit-allow", "audit", true },   { "spans", "spans", true },
		{ "starts", "state", true },        { "upstream-children", "children", true },
		{ "permitted", "orders", false },   { "orders-other", "orders", false },
		{ "orders", "orders", true },       { "joined", "correlation", true },
	};
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));

	CU_ASSERT_PTR_NOT_NULL(out);
	for (size_t i = 0; out && i < ARRAY_SIZE(rows); i++)
		for (size_t op = 0; op < 2; op++) {
			char to[160];
			struct error *err = NULL;
			int result;

			snprintf(to, sizeof(to), "\"subject\":\"%s\",\"observer\":\"%s\",\"op\":\"%s\",\"value\":1",
				 rows[i].subject, rows[i].observer, op ? "ge" : "eq");
			result = world_decode(
				"base", control_text,
				"\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1", to,
				out, &err);
			CU_ASSERT_EQUAL(result == 0, rows[i].may);
			CU_ASSERT(rows[i].may ? test_no_error(&err)
					      : test_error(&err, ERROR_INPUT, "is a way out, and no control"));
		}
}

/* What hurts the engine stands in a group of its own, which is not selected by "all". */
static void test_hurting(void)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "\"role\":\"bridge\"", "\"role\":\"engine\"" },
		{ "\"role\":\"bridge\"", "\"role\":\"shim\"" },
		{ "\"role\":\"bridge\",\"action\":\"kill\"", "\"role\":\"engine\",\"action\":\"terminate\"" },
		{ "\"role\":\"bridge\",\"action\":\"kill\"", "\"role\":\"watchdog\",\"action\":\"fill\"" },
	};
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(world_decode("engine/lost", control_text, rows[i].from, rows[i].to, out, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(scenario_hurts_engine(out));
		CU_ASSERT(scenario_selected(out, "engine/lost"));
		CU_ASSERT(scenario_selected(out, "engine"));
		CU_ASSERT_FALSE(scenario_selected(out, "all"));
	}
	CU_ASSERT_EQUAL(world_decode("engines/lost", control_text, NULL, NULL, out, &err), 0);
	CU_ASSERT_FALSE(scenario_hurts_engine(out));
	CU_ASSERT(scenario_selected(out, "all"));
}

/* A list of profiles is asked when there is one; and a struct is checked as well as a text. */
static void test_profiles(void)
{
	static const char *const profiles[] = { "strict", NULL };
	struct scenario_names names = world_names;
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));
	struct error *err = NULL;

	names.profiles = profiles;
	CU_ASSERT_EQUAL(json_parse(control_text, sizeof(control_text) - 1, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(scenario_decode("base", json_root(document), &names, out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "base.json: profile: unknown 'reference'"));
}

/* Sealed: form and sense, but no names; the id is part of it. */
static void test_refused_sealed(void)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "{\"title\":\"t\",\"probes\":[\"x\"],\"expect\":[]}", "scenarios.json: id: missing" },
		{ "{\"id\":\"../up\",\"title\":\"t\",\"probes\":[\"x\"],\"expect\":[]}", "scenarios.json: id" },
		{ "{\"id\":\"a\",\"title\":\"t\",\"probes\":[\"x\"],\"expect\":[{\"subject\":\"x\",\"observer\":\"y\","
		  "\"op\":\"ge\",\"value\":0,\"class\":\"control\"}]}",
		  "scenarios.json: expect[0].value" },
	};
	cleanup_free struct scenario *out = calloc(1, sizeof(*out));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json struct json_document *document = NULL;
		struct error *err = NULL;

		CU_ASSERT_EQUAL(json_parse(rows[i].text, strlen(rows[i].text), JSON_DEPTH, &document, &err), 0);
		CU_ASSERT(scenario_decode_sealed(json_root(document), "scenarios.json", out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
	}
}

static int put(int directory, const char *path, const char *text, struct error **err)
{
	return fd_write_atomic(directory, path, text, strlen(text), 0600, err);
}

/* Loads a folder that holds base.json, mutation/mutant.json and one more file. */
static int load_with(const char *path, const char *text, struct scenario **out, size_t *count, struct error **err)
{
	char folder[] = "/tmp/harness-scenarios-XXXXXX";
	cleanup_fd int directory = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	cleanup_error struct error *ignored = NULL;
	int result;

	if (directory < 0 || mkdirat(directory, "mutation", 0700) < 0 || mkdirat(directory, "effects", 0700) < 0)
		return error_set(err, ERROR_SYSTEM, "no temporary folder");
	result = put(directory, "base.json", control_text, err);
	if (result >= 0)
		result = put(directory, "mutation/mutant.json", mutant_text, err);
	if (result >= 0)
		result = put(directory, path, text, err);
	if (result >= 0)
		result = scenario_load_all(directory, &world_names, out, count, err);
	if (fd_remove_tree(AT_FDCWD, folder, &ignored) < 0)
		CU_FAIL("the temporary folder stays");
	return result;
}

static void test_folder(void)
{
	static const struct {
		const char *path, *text, *part;
	} rows[] = {
		{ "schema.json", "no JSON at all", NULL },
		{ "effects/a.json", "no JSON at all", "effects/a.json" },
		{ "README.md", "no JSON at all", NULL },
		{ ".hidden.json", "no JSON at all", NULL },
		{ "mutation/schema.json", "no JSON at all", "mutation/schema.json" },
		{ "broken.json", "{", "broken.json" },
		{ "twice.json", "{\"title\":\"a\",\"title\":\"b\"}", "twice.json" },
		{ "mutation/odd.json", "{\"title\":\"a\",\"moon\":1}", "mutation/odd.json: unknown key 'moon'" },
		{ "Upper.json", "{}", "Upper.json: a scenario's name" },
		{ "a-name-that-is-longer-than-any-id-may-be-which-is-sixty-three-bytes-long.json", "{}",
		  "a scenario's name" },
		{ "lone.json", mutant_text, "lone.json" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free struct scenario *scenarios = NULL;
		struct error *err = NULL;
		size_t count = 0;
		int result;

		if (strcmp(rows[i].path, "lone.json") == 0) {
			cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
			const char *at = strstr(rows[i].text, "\"base\"");

			buf_add(&text, rows[i].text, (size_t)(at - rows[i].text));
			buf_text(&text, "\"nobody\"");
			buf_text(&text, at + strlen("\"base\""));
			result = load_with(rows[i].path, text.data, &scenarios, &count, &err);
		} else {
			result = load_with(rows[i].path, rows[i].text, &scenarios, &count, &err);
		}
		CU_ASSERT_EQUAL(result == 0, rows[i].part == NULL);
		CU_ASSERT(rows[i].part ? test_error(&err, ERROR_INPUT, rows[i].part) : test_no_error(&err));
		if (result == 0)
			CU_ASSERT_EQUAL(count, 2);
		if (count == 2) {
			CU_ASSERT_STRING_EQUAL(scenarios[0].id, "base");
			CU_ASSERT_STRING_EQUAL(scenarios[1].id, "mutation/mutant");
		}
	}
}

static void test_empty_folder(void)
{
	char folder[] = "/tmp/harness-scenarios-XXXXXX";
	cleanup_fd int directory = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT(scenario_load_all(directory, &world_names, &scenarios, &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "holds none"));
	CU_ASSERT_EQUAL(rmdir(folder), 0);
	CU_ASSERT(scenario_load_all(-1, &world_names, &scenarios, &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the folder of scenarios"));
}

static int print_schema(struct buf *out, struct error **err)
{
	int result = schema_print(scenario_fields, "A scenario of harness", out, err);

	buf_text(out, "\n");
	return result;
}

/* scenarios/schema.json is what the field table prints; `test_scenario schema` prints it. */
static void test_schema(void)
{
	cleanup_buf struct buf printed = BUF(SCENARIO_BYTES), stored = BUF(SCENARIO_BYTES);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(print_schema(&printed, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, "scenarios/schema.json", SCENARIO_BYTES, &stored, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&stored), buf_string(&printed));
}

static CU_TestInfo tests[] = {
	{ "the scenarios of the tree", test_tree },
	{ "round trip", test_round_trip },
	{ "values", test_values },
	{ "refused documents", test_refused_documents },
	{ "zeros that need not be earned", test_zeros },
	{ "where a control may stand", test_controls },
	{ "what hurts the engine", test_hurting },
	{ "profiles", test_profiles },
	{ "refused in a bundle", test_refused_sealed },
	{ "a folder", test_folder },
	{ "an empty folder, and none", test_empty_folder },
	{ "schema", test_schema },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "scenario", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	cleanup_buf struct buf schema = BUF(SCENARIO_BYTES);
	cleanup_error struct error *err = NULL;

	if (argc != 2 || strcmp(argv[1], "schema") != 0)
		return test_main("scenario", suites);
	if (print_schema(&schema, &err) < 0 || fputs(buf_string(&schema), stdout) == EOF)
		return 1;
	return 0;
}
