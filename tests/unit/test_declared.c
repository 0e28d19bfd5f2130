/* Observers that declarations bring: their files, the example's program on its wire, and programs that misbehave. */
#include "adapter/image.h"
#include "core/json.h"
#include "observers/table.h"
#include "runner/verb.h"
#include "tests/unit/declared_world.h"
#include "tests/unit/test.h"

/* ---- files ---- */

/* Each makes the file one that is not taken. */
static void spoil_missing(int folder)
{
	CU_ASSERT_EQUAL(unlinkat(folder, SCRIPT, 0), 0);
}
static void spoil_link(int folder)
{
	CU_ASSERT_EQUAL(renameat(folder, SCRIPT, folder, "other"), 0);
	CU_ASSERT_EQUAL(symlinkat("other", folder, SCRIPT), 0);
}
static void spoil_folder(int folder)
{
	spoil_missing(folder);
	CU_ASSERT_EQUAL(mkdirat(folder, SCRIPT, 0755), 0);
}
static void spoil_pipe(int folder)
{
	spoil_missing(folder);
	CU_ASSERT_EQUAL(mkfifoat(folder, SCRIPT, 0755), 0);
}
static void spoil_mode(int folder)
{
	CU_ASSERT_EQUAL(fchmodat(folder, SCRIPT, 0644, 0), 0);
}
static void spoil_group(int folder)
{
	CU_ASSERT_EQUAL(fchmodat(folder, SCRIPT, 0775, 0), 0);
}
static void spoil_others(int folder)
{
	CU_ASSERT_EQUAL(fchmodat(folder, SCRIPT, 0757, 0), 0);
}
static void spoil_bytes(int folder)
{
	put_text(folder, SCRIPT, "", 0, 0755);
}

static void refused_files(void)
{
	static const struct {
		void (*spoil)(int folder);
		const char *says;
	} rows[] = {
		{ spoil_missing, "is no file beside the declaration" },
		{ spoil_link, "is a link: what runs is a file of that name" },
		{ spoil_folder, "is no regular file" },
		{ spoil_pipe, "is no regular file" },
		{ spoil_mode, "is not executable" },
		{ spoil_group, "can be changed by others than its owner" },
		{ spoil_others, "can be changed by others than its owner" },
		{ spoil_bytes, "is empty" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		DECLARED_WORLD(world);
		struct error *err = NULL;

		declared_world_open(&world);
		rows[i].spoil(world.fd);
		CU_ASSERT(declared_open(world.fd, world.effects, 2, &world.declared, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].says));
		CU_ASSERT_EQUAL(world.declared.count, 0);
	}
}

/* Root's own is taken, and that of the user behind sudo; anybody else may change what is to run as root. */
static void of_somebody_else(void)
{
	static const struct {
		uid_t owner;
		const char *sudo;
		bool taken;
	} rows[] = {
		{ 0, NULL, true },
		{ 65534, NULL, false },
		{ 65534, "65533", false },
		{ 65534, "65534", true },
	};

	/* Who is not root can give no file to others, and owns this one. */
	for (size_t i = 0; i < (geteuid() == 0 ? ARRAY_SIZE(rows) : 0); i++) {
		DECLARED_WORLD(world);
		struct error *err = NULL;
		int status;

		if (rows[i].sudo)
			CU_ASSERT(setenv("SUDO_UID", rows[i].sudo, 1) == 0 && setenv("SUDO_GID", "65534", 1) == 0);
		declared_world_open(&world);
		CU_ASSERT_EQUAL(fchownat(world.fd, SCRIPT, rows[i].owner, (gid_t)-1, 0), 0);
		status = declared_open(world.fd, world.effects, 2, &world.declared, &err);
		CU_ASSERT_EQUAL(unsetenv("SUDO_UID") + unsetenv("SUDO_GID"), 0);
		CU_ASSERT_EQUAL(status == 0, rows[i].taken);
		CU_ASSERT(rows[i].taken
				  ? test_no_error(&err)
				  : test_error(&err, ERROR_INPUT, "belongs to neither root nor the user who runs it"));
	}
}

static void refused_names(void)
{
	static const struct {
		const char *id, *program, *says;
	} rows[] = {
		{ "kept", "observer-tcp", "first.json: observers[0].program: 'observer-tcp' is a name of the harness" },
		{ "kept", "agent", "first.json: observers[0].program: 'agent' is a name of the harness" },
		{ "files", SCRIPT, "first.json: observers[0].id: 'files' is a name of the harness" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		DECLARED_WORLD(world);
		struct error *err = NULL;

		declared_world_open(&world);
		snprintf(world.effects[0].observers[0].id, NAME_MAX_SHORT, "%s", rows[i].id);
		snprintf(world.effects[0].observers[0].program, NAME_MAX_SHORT, "%s", rows[i].program);
		put_text(world.fd, rows[i].program, "x", 1, 0755);
		CU_ASSERT(declared_open(world.fd, world.effects, 1, &world.declared, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].says));
	}
}

/* One observer that two declarations bring is one; a second one with the same file is the same bytes. What was measured
 * nobody can write any more. */
static void measured_once(void)
{
	DECLARED_WORLD(world);
	char sha256[HEX_SHA256];
	struct error *err = NULL;

	declared_world_open(&world);
	CU_ASSERT_EQUAL(declared_open(world.fd, world.effects, 2, &world.declared, &err), 0);
	CU_ASSERT_EQUAL(world.declared.count, 1);
	CU_ASSERT_EQUAL(hash_fd(world.declared.programs[0], sha256, &err), 0);
	CU_ASSERT_STRING_EQUAL(world.declared.observers[0].sha256, sha256);
	CU_ASSERT(write(world.declared.programs[0], "x", 1) < 0);
	CU_ASSERT(ftruncate(world.declared.programs[0], 0) < 0);
	declared_close(&world.declared);
	snprintf(world.effects[1].observers[0].id, NAME_MAX_SHORT, "other");
	CU_ASSERT_EQUAL(declared_open(world.fd, world.effects, 2, &world.declared, &err), 0);
	CU_ASSERT_EQUAL(world.declared.count, 2);
	CU_ASSERT_STRING_EQUAL(world.declared.observers[1].sha256, sha256);
	CU_ASSERT_STRING_EQUAL(world.declared.observers[1].id, "other");
	CU_ASSERT_TRUE(fd_same(world.declared.programs[0], world.declared.programs[1]));
	CU_ASSERT(test_no_error(&err));
}

/* To an arm and back: its programs are the descriptors from one number on, and none may lack. */
static void to_an_arm(void)
{
	DECLARED_WORLD(world);
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	struct declared back;
	struct json_writer json;
	struct error *err = NULL;
	const struct json_node *node;

	declared_world_open(&world);
	snprintf(world.effects[0].observers[0].measures[0], NAME_MAX_SHORT, "kept-other");
	world.effects[0].observers[0].measures_count = 1;
	CU_ASSERT_EQUAL(declared_open(world.fd, world.effects, 1, &world.declared, &err), 0);
	json_begin(&json, &text);
	json_object(&json);
	declared_encode(&world.declared, &json);
	json_object_end(&json);
	CU_ASSERT_EQUAL(json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, &err), 0);
	node = json_member(json_root(document), "declared");
	CU_ASSERT_EQUAL(declared_decode(node, world.declared.programs[0], &back, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(back.count, 1);
	CU_ASSERT_EQUAL(memcmp(&back.observers[0], &world.declared.observers[0], sizeof(back.observers[0])), 0);
	CU_ASSERT_EQUAL(back.programs[0], world.declared.programs[0]);
	CU_ASSERT(declared_decode(node, 900, &back, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "without an observer's program"));
}

static bool has(const char **list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static void names(void)
{
	const struct options own = { .effects = EXAMPLE }, none = { .effects = NULL }, lost = { .effects = "/nowhere" };
	struct error *err = NULL;
	cleanup_declared_names struct declared_names with = { .observers = NULL };
	cleanup_declared_names struct declared_names without = { .observers = NULL };
	cleanup_declared_names struct declared_names missing = { .observers = NULL };

	CU_ASSERT_EQUAL(declared_names(&own, &with, &err), 0);
	CU_ASSERT_EQUAL(declared_names(&none, &without, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_TRUE(has(with.observers, "kept") && has(with.observers, "tcp4") && has(with.measures, "alive"));
	CU_ASSERT_FALSE(has(without.observers, "kept"));
	CU_ASSERT_TRUE(has(without.observers, "tcp4"));
	CU_ASSERT(declared_names(&lost, &missing, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the declarations' folder"));
}

/* ---- the example's program ---- */

static bool ready(struct declared_world *world)
{
	declared_world_open(world);
	return declared_world_start(world) && observing_ready(&world->observing);
}

static void sees(struct declared_world *world, int64_t own, int64_t child, int64_t after)
{
	static const char *const subjects[] = { "file-delete", "delete-child" };
	const int64_t values[] = { own, child };

	CU_ASSERT_TRUE(observing_report(&world->observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(world->observing.count, 2);
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		const struct wire_record *record = observing_record(&world->observing, "kept", subjects[i]);

		CU_ASSERT_EQUAL(record->value, values[i]);
		CU_ASSERT_EQUAL(record->status, WIRE_OBSERVED);
		CU_ASSERT_EQUAL(record->reason, WIRE_REASON_NONE);
		CU_ASSERT_STRING_EQUAL(record->unit, "files");
		CU_ASSERT_EQUAL(record->beacon_before, 1);
		CU_ASSERT_EQUAL(record->beacon_after, after);
	}
}

static void example_counts(void)
{
	DECLARED_WORLD(world);
	cleanup_fd int root = -1;

	CU_ASSERT_TRUE(ready(&world));
	root = put_root(&world);
	CU_ASSERT_TRUE(observing_give(&world.observing, "root", root));
	CU_ASSERT_TRUE(observing_seen(&world.observing, "kept", WIRE_BEFORE));
	CU_ASSERT_STRING_EQUAL(observer_revision(world.observing.process), "r-1");
	sees(&world, 0, 0, 1);
	CU_ASSERT_EQUAL(unlinkat(world.fd, "root/export/kept/file-delete", 0), 0);
	sees(&world, 1, 0, 2);
	/* another file of its name, and a link to what it was, are not what was to be kept */
	put_text(world.fd, "root/export/kept/delete-child", "other", 5, 0644);
	CU_ASSERT_EQUAL(symlinkat("/etc/hostname", world.fd, "root/export/kept/file-delete"), 0);
	sees(&world, 1, 1, 3);
	/* and with the marker its sight is gone */
	CU_ASSERT_EQUAL(unlinkat(world.fd, "root/export/marker", 0), 0);
	sees(&world, 1, 1, 3);
}

/* A folder that became a link to one of the host's is not followed. */
static void example_follows_no_link(void)
{
	DECLARED_WORLD(world);
	cleanup_fd int root = -1;

	CU_ASSERT_TRUE(ready(&world));
	root = put_root(&world);
	CU_ASSERT_TRUE(observing_give(&world.observing, "root", root));
	CU_ASSERT_TRUE(observing_seen(&world.observing, "kept", WIRE_BEFORE));
	CU_ASSERT_EQUAL(renameat(world.fd, "root/export/kept", world.fd, "root/export/moved"), 0);
	CU_ASSERT_EQUAL(symlinkat("moved", world.fd, "root/export/kept"), 0);
	sees(&world, 1, 1, 1);
}

static void example_without_its_input(void)
{
	DECLARED_WORLD(world);

	CU_ASSERT_TRUE(ready(&world));
	CU_ASSERT_TRUE(observing_report(&world.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(world.observing.count, 3);
	CU_ASSERT_EQUAL(observing_record(&world.observing, "kept", "file-delete")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(observing_record(&world.observing, "kept", "file-delete")->reason, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT_EQUAL(observing_record(&world.observing, "kept", "file-delete")->beacon_before, 0);
}

/* The files that it looks at are those of the image. */
static void example_of_the_image(void)
{
	static const char marker[] = "\"harness-files-marker-1\\n\"";
	cleanup_buf struct buf text = BUF(SCRIPT_BYTES);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, EXAMPLE "/" SCRIPT, SCRIPT_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "\"" IMAGE_KEPT "/\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), marker));
	CU_ASSERT_EQUAL(strncmp(IMAGE_MARKER, &marker[1], strlen(IMAGE_MARKER) - 1), 0);
}

/* It has two descriptors of nothing, one to say what it likes on, its wire and itself, and no environment: the one
 * variable is Python's own. */
static void inherits_nothing(void)
{
	DECLARED_WORLD(world);
	cleanup_fd int root = -1;

	declared_world_open(&world);
	put_script(&world, "value = int(deleted(",
		   "here = set(os.listdir('/proc/self/fd'))\n"
		   "            nulls = [os.readlink('/proc/self/fd/%d' % n) == '/dev/null' for n in range(2)]\n"
		   "            value = int(len(here - set('01234')) <= 3 and all(nulls) and set(os.environ) <= "
		   "{'LC_CTYPE'} or deleted(");
	CU_ASSERT_TRUE(declared_world_start(&world) && observing_ready(&world.observing));
	root = put_root(&world);
	CU_ASSERT_TRUE(observing_give(&world.observing, "root", root));
	sees(&world, 1, 1, 1);
}

/* ---- programs that misbehave ---- */

static void cannot_run(void)
{
	DECLARED_WORLD(world);
	struct error *err = NULL;

	declared_world_open(&world);
	put_script(&world, "#!/usr/bin/python3", "#!/nowhere");
	CU_ASSERT_EQUAL(declared_open(world.fd, world.effects, 2, &world.declared, &err), 0);
	CU_ASSERT(observer_start_own(observer_kind_find("state"), world.declared.programs[0], &world.observing.process,
				     &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "starting observer state"));
}

enum end { NEVER_READY, LOST_THEN, NO_RECORD, NO_BEACON };

static void misbehaves(void)
{
	static const struct {
		const char *what, *from, *to;
		enum end end;
		int code;
		const char *says;
	} rows[] = {
		/* Not before: whether it is told its subjects at all would be a matter of time. */
		{ "dies when it is to begin", "if kind == EXPECT",
		  "if kind == BEGIN:\n                raise SystemExit(0)\n            if kind == EXPECT", NEVER_READY,
		  ERROR_CLOSED, "went away" },
		{ "hangs", "if kind == EXPECT",
		  "if kind == BEGIN:\n                time.sleep(60)\n            if kind == EXPECT", NEVER_READY,
		  ERROR_TIMEOUT, "no READY in time" },
		{ "does not tell hits from misses", "return now != first", "return True", NEVER_READY, ERROR_REFUSED,
		  "wrong known answers" },
		{ "finds nothing", "return now != first", "return False", NEVER_READY, ERROR_REFUSED,
		  "wrong known answers" },
		{ "speaks another version", "MESSAGE.pack(1,", "MESSAGE.pack(2,", NEVER_READY, ERROR_PROTOCOL,
		  "another version" },
		{ "another type", "READY, SEEN, HIT, RECORD, END, BLIND, REVISION = range(33, 40)",
		  "READY, SEEN, HIT, RECORD, END, BLIND, REVISION = range(49, 56)", NEVER_READY, ERROR_PROTOCOL,
		  "an unknown type" },
		{ "garbage", "        self.wire.send(MESSAGE",
		  "        self.wire.send(b'?' * 144)\n        self.wire.send(MESSAGE", NEVER_READY, ERROR_PROTOCOL,
		  "another version" },
		{ "a short packet",
		  "MESSAGE.pack(1, kind, MESSAGE.size, subject, text, b\"\", 0, phase, 0, 0, *known, 0)", "b'?'",
		  NEVER_READY, ERROR_PROTOCOL, "shorter than its header" },
		{ "never stops talking", "self.tell(READY, known=known_answers())",
		  "while True:\n                    self.tell(SEEN, text=self.id)", NEVER_READY, ERROR_LIMIT,
		  "more than 65536 messages" },
		{ "forgets its records", "                self.record(subject, phase)", "                pass",
		  NO_RECORD, 0, "" },
		{ "forgets the end", "        self.tell(END, phase=phase)", "        return", LOST_THEN, ERROR_TIMEOUT,
		  "no report" },
		{ "dies within a report", "        self.tell(END, phase=phase)", "        sys.exit(0)", LOST_THEN,
		  ERROR_CLOSED, "went away" },
		{ "hangs within a report", "        self.look_for_marker(phase)\n        for",
		  "        time.sleep(60)\n        for", LOST_THEN, ERROR_TIMEOUT, "no report" },
		{ "reports for another observer", "RECORDS.size, self.id", "RECORDS.size, b'tcp4'", LOST_THEN,
		  ERROR_PROTOCOL, "a record of another observer" },
		{ "of an unknown subject", "self.id, subject, COUNT", "self.id, b'nobody', COUNT", LOST_THEN,
		  ERROR_PROTOCOL, "a record of an unknown subject" },
		{ "of another phase", "status, reason, phase, b\"files\"", "status, reason, 0, b\"files\"", LOST_THEN,
		  ERROR_PROTOCOL, "a record that nobody asked for" },
		{ "less than nothing", "numbers = value, 0, 0", "numbers = value, -1, 0", LOST_THEN, ERROR_PROTOCOL,
		  "outside its range" },
		{ "more than can be held", "numbers = value,", "numbers = 1 << 60,", LOST_THEN, ERROR_PROTOCOL,
		  "outside its range" },
		{ "in no unit", "b\"files\"", "b\"\"", LOST_THEN, ERROR_PROTOCOL, "outside its range" },
		{ "unasked", "self.tell(READY, known=known_answers())",
		  "self.tell(END, phase=1)\n                self.tell(READY, known=known_answers())", NEVER_READY,
		  ERROR_PROTOCOL, "a report that nobody asked for" },
		{ "never looks for its marker",
		  "        if self.root is not None and read(self.root, MARKER[0]) == MARKER[1]:", "        if False:",
		  NO_BEACON, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		DECLARED_WORLD(world);
		cleanup_fd int root = -1;
		struct error *err = NULL;
		int64_t patience = clock_deadline(rows[i].code == ERROR_TIMEOUT ? 300 : OBSERVING_MS);
		const struct wire_record *record;
		int status;

		declared_world_open(&world);
		put_script(&world, rows[i].from, rows[i].to);
		CU_ASSERT_TRUE(declared_world_start(&world));
		status = observer_begin(world.observing.process, &err);
		if (status == 0)
			status = observer_wait_ready(world.observing.process, patience, &err);
		if (rows[i].end == NEVER_READY) {
			CU_ASSERT(status < 0);
			if (!test_error(&err, rows[i].code, rows[i].says))
				CU_FAIL(rows[i].what);
			CU_ASSERT(rows[i].code == ERROR_TIMEOUT || observer_lost(world.observing.process));
			continue;
		}
		root = put_root(&world);
		if (status == 0)
			status = observer_give(world.observing.process, "root", root, &err);
		if (status == 0)
			status = observer_ask(world.observing.process, WIRE_AFTER, &err);
		if (status == 0)
			status = observer_collect(world.observing.process, WIRE_AFTER, observing_take, &world.observing,
						  patience, &err);
		record = observing_record(&world.observing, "kept", "file-delete");
		if (rows[i].end == LOST_THEN) {
			CU_ASSERT(status < 0);
			if (!test_error(&err, rows[i].code, rows[i].says) || world.observing.count != 0)
				CU_FAIL(rows[i].what);
			continue;
		}
		CU_ASSERT(status == 0 && test_no_error(&err));
		CU_ASSERT_EQUAL(world.observing.count, rows[i].end == NO_RECORD ? 0 : 2);
		CU_ASSERT(rows[i].end == NO_RECORD || record->beacon_before == 0);
	}
}

static CU_TestInfo files_tests[] = {
	{ "a file that is not taken", refused_files },
	{ "one of somebody else", of_somebody_else },
	{ "names of the harness", refused_names },
	{ "each file is measured once, and stays as it was", measured_once },
	{ "to an arm and back", to_an_arm },
	{ "what scenarios may name", names },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo example_tests[] = {
	{ "it counts what is gone", example_counts },
	{ "it follows no link", example_follows_no_link },
	{ "without its input it sees nothing", example_without_its_input },
	{ "it looks at what the image holds", example_of_the_image },
	{ "it inherits nothing", inherits_nothing },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo misbehaving_tests[] = {
	{ "a program that cannot run", cannot_run },
	{ "a program that misbehaves has seen nothing", misbehaves },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "files", .pTests = files_tests },
	{ .pName = "example", .pTests = example_tests },
	{ .pName = "misbehaving", .pTests = misbehaving_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("declared", suites);
}
