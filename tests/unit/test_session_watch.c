/* What the watch over a session reads: an event, an answer about the container, a link of its namespace. */
#include "adapter/session_watch_parts.h"

#include "tests/unit/admission_fixture.h"
#include "tests/unit/netns_world.h"

#define OURS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define OF(id, action)                                                                                                 \
	"{\"Type\":\"container\",\"Action\":\"" action "\",\"Actor\":{\"ID\":\"" id "\",\"Attributes\":{}}}"
#define AT(id, action, time)                                                                                           \
	"{\"Type\":\"container\",\"Action\":\"" action "\",\"Actor\":{\"ID\":\"" id "\"},\"timeNano\":" time "}"
#define NETWORK(id, action)                                                                                            \
	"{\"Type\":\"network\",\"Action\":\"" action                                                                   \
	"\",\"Actor\":{\"ID\":\"net\",\"Attributes\":{\"container\":\"" id "\",\"name\":\"none\"}}}"

/* ---- events ---- */

struct told_row {
	const char *line;
	enum watch_kind kind;
};
static const struct told_row told_rows[];
static const size_t told_rows_count;

static void events_in_order(void)
{
	struct watch_told told = { .started = false };

	for (size_t i = 0; i < told_rows_count; i++) {
		enum watch_kind kind = watch_take_event(&told, OURS, told_rows[i].line, strlen(told_rows[i].line));

		if (kind != told_rows[i].kind)
			fprintf(stderr, "event %zu: kind %d\n", i, (int)kind);
		CU_ASSERT_EQUAL(kind, told_rows[i].kind);
	}
}

/* What an engine tells twice has the same time; a second client's attach has another, or none. */
static void attach_told_twice(void)
{
	static const char own[] = AT(OURS, "attach", "1790000000000000001");
	static const char *const others[] = { AT(OURS, "attach", "1790000000000000002"), AT(OURS, "attach", "0"),
					      AT(OURS, "attach", "\"1790000000000000001\""), OF(OURS, "attach") };
	struct watch_told told = { .started = false };

	CU_ASSERT_EQUAL(watch_take_event(&told, OURS, own, strlen(own)), WATCH_KINDS);
	CU_ASSERT_EQUAL(watch_take_event(&told, OURS, own, strlen(own)), WATCH_KINDS);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CU_ASSERT_EQUAL(watch_take_event(&told, OURS, others[i], strlen(others[i])), WATCH_ATTACH);
	/* Without a time two are two. */
	told = (struct watch_told){ .started = false };
	CU_ASSERT_EQUAL(watch_take_event(&told, OURS, others[3], strlen(others[3])), WATCH_KINDS);
	CU_ASSERT_EQUAL(watch_take_event(&told, OURS, others[3], strlen(others[3])), WATCH_ATTACH);
}

/* ---- inspection ---- */

struct compared_row {
	const char *path, *value;
	unsigned kinds;
};
static const struct compared_row compared_rows[];
static const size_t compared_rows_count;

static void answers_compared(void)
{
	static struct watch_admitted admitted;

	for (size_t i = 0; i < compared_rows_count; i++) {
		const struct compared_row *row = &compared_rows[i];
		cleanup_recorded struct recorded recorded;
		struct error *err = NULL;
		unsigned kinds;

		recorded_open(&recorded, "reference");
		CU_ASSERT_EQUAL(watch_admit(json_root(recorded.inspect), &admitted, &err), 0);
		CU_ASSERT(test_no_error(&err));
		if (row->path)
			fixture_weaken(&recorded.inspect, row->path, row->value);
		kinds = watch_compare(&admitted, json_root(recorded.inspect));
		if (kinds != row->kinds)
			fprintf(stderr, "%s: kinds %x\n", row->path ? row->path : "-", kinds);
		CU_ASSERT_EQUAL(kinds, row->kinds);
	}
}

static void answers_incomplete(void)
{
	static const char *const lacking[] = { "{}", "{\"Name\":\"/x\"}", "{\"Name\":\"/x\",\"State\":{\"Pid\":1}}" };
	static struct watch_admitted admitted;

	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++) {
		cleanup_json struct json_document *document = fixture_parse(lacking[i], strlen(lacking[i]));
		struct error *err = NULL;

		CU_ASSERT(watch_admit(json_root(document), &admitted, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "lacks the container's name or process"));
	}
}

/* ---- links ---- */

static void links_told(void)
{
	cleanup_fd int outer = -1, inner = -1;
	struct watch_links links = { .fd = -1 };
	struct error *err = NULL;
	unsigned own = if_nametoindex("lo");

	CU_ASSERT(!watch_links_changed(&links));
	make_namespace(&outer, &inner);
	CU_ASSERT_EQUAL(watch_links_open(inner, &links, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(links.count, 1);
	/* This process is back where it was. */
	CU_ASSERT_EQUAL(if_nametoindex("lo"), own);
	CU_ASSERT(!watch_links_changed(&links));
	/* What happens to an interface that was there is no new way out. */
	enter(inner);
	set_up("lo", "127.0.0.1");
	CU_ASSERT(!watch_links_changed(&links));
	add_interfaces();
	enter(outer);
	CU_ASSERT(watch_links_changed(&links));
	fd_close(&links.fd);
	/* Those that are there when it is opened are known, and may still go. */
	CU_ASSERT_EQUAL(watch_links_open(inner, &links, &err), 0);
	CU_ASSERT_EQUAL(links.count, 3);
	CU_ASSERT(!watch_links_changed(&links));
	CU_ASSERT(test_no_error(&err));
	fd_close(&links.fd);
}

static void links_of_no_namespace(void)
{
	cleanup_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct watch_links links;
	struct error *err = NULL;

	CU_ASSERT(watch_links_open(null, &links, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the container's network namespace"));
	CU_ASSERT_EQUAL(links.fd, -1);
}

static void kinds_named(void)
{
	for (int kind = 0; kind < WATCH_KINDS; kind++) {
		CU_ASSERT_PTR_NOT_NULL(watch_kind_names[kind]);
		CU_ASSERT_EQUAL(strncmp(watch_kind_names[kind], "watch-", 6), 0);
		CU_ASSERT(strlen(watch_kind_names[kind]) < NAME_MAX_SHORT);
	}
	CU_ASSERT_PTR_NULL(watch_kind_names[WATCH_KINDS]);
}

/* One after the other: the first attach is the session's own, and so is what the start connects. */
static const struct told_row told_rows[] = {
	{ OF(OURS, "create"), WATCH_KINDS },
	{ OF(OTHER, "attach"), WATCH_KINDS },
	{ OF(OURS, "attach"), WATCH_KINDS },
	{ NETWORK(OURS, "connect"), WATCH_KINDS },
	{ NETWORK(OTHER, "disconnect"), WATCH_KINDS },
	{ OF(OTHER, "start"), WATCH_KINDS },
	{ NETWORK(OURS, "connect"), WATCH_KINDS },
	{ OF(OURS, "start"), WATCH_KINDS },
	{ NETWORK(OURS, "connect"), WATCH_NETWORK },
	{ NETWORK(OURS, "disconnect"), WATCH_NETWORK },
	{ NETWORK(OTHER, "connect"), WATCH_KINDS },
	{ OF(OURS, "attach"), WATCH_ATTACH },
	{ OF(OTHER, "exec_create: /agent"), WATCH_KINDS },
	{ OF(OURS, "exec_create: /agent \\\"x\\\""), WATCH_EXEC },
	{ OF(OURS, "exec_start: /agent"), WATCH_EXEC },
	{ OF(OURS, "exec_created"), WATCH_KINDS },
	{ OF(OURS, "update"), WATCH_UPDATE },
	{ OF(OURS, "rename"), WATCH_RENAME },
	{ OF(OURS, "kill"), WATCH_KINDS },
	{ OF(OURS, "die"), WATCH_KINDS },
	{ "{\"Type\":\"image\",\"Action\":\"attach\",\"Actor\":{\"ID\":\"" OURS "\"}}", WATCH_KINDS },
	{ "{\"Type\":\"container\"}", WATCH_EVENTS_LOST },
	{ "{\"Action\":\"die\"}", WATCH_EVENTS_LOST },
	{ "{\"Type\":\"container\",", WATCH_EVENTS_LOST },
	{ "", WATCH_EVENTS_LOST },
};
static const size_t told_rows_count = ARRAY_SIZE(told_rows);

static const struct compared_row compared_rows[] = {
	{ NULL, NULL, 0 },
	{ "HostConfig.PidsLimit", "64", 1U << WATCH_UPDATE },
	{ "HostConfig.RestartPolicy.Name", "\"always\"", 1U << WATCH_UPDATE },
	{ "HostConfig.Memory", "268435456", 1U << WATCH_UPDATE },
	{ "HostConfig.Memory", NULL, 1U << WATCH_UPDATE },
	{ "HostConfig.Unheard", "1", 1U << WATCH_UPDATE },
	{ "NetworkSettings.Networks", "{}", 1U << WATCH_NETWORK },
	{ "NetworkSettings.Networks.bridge", "{}", 1U << WATCH_NETWORK },
	{ "Name", "\"/renamed\"", 1U << WATCH_RENAME },
	{ "ExecIDs", "[\"a2f48263\"]", 1U << WATCH_EXEC },
	{ "RestartCount", "1", 1U << WATCH_INSPECT },
	{ "State.Pid", "1", 1U << WATCH_INSPECT },
	{ "State.Pid", NULL, 1U << WATCH_INSPECT },
	{ "Config.OpenStdin", "false", 1U << WATCH_INSPECT },
	{ "Image", "\"sha256:0\"", 1U << WATCH_INSPECT },
	/* What comes and goes by itself is no change. */
	{ "State.OOMKilled", "true", 0 },
	{ "State.Status", "\"paused\"", 0 },
};
static const size_t compared_rows_count = ARRAY_SIZE(compared_rows);

static CU_TestInfo watch_tests[] = {
	{ "events in order", events_in_order },
	{ "an attach that is told twice", attach_told_twice },
	{ "answers compared", answers_compared },
	{ "answers that lack something", answers_incomplete },
	{ "links", links_told },
	{ "no namespace", links_of_no_namespace },
	{ "names", kinds_named },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "watch", NULL, NULL, NULL, NULL, watch_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	if (geteuid() == 0)
		return test_main("session_watch", suites);
	puts("session_watch: skipped, a namespace needs root");
	puts("session_watch: 0 passed, 0 failed, 6 skipped");
	return 0;
}
