/* observer-children, the real program, with shells that play a gateway and its upstreams. */
#include <fcntl.h>
#include <signal.h>

#include "observers/children_look.h"
#include "tests/unit/child.h"
#include "tests/unit/observing.h"

/* Says that it runs, and lives until the pipe at descriptor 3 is closed. */
#define STAYS "sh -c 'echo; read x' <&3"
#define SCRIPT_BYTES 1024

struct gateway {
	struct child child;
	struct pipe life;
	int proc;
};

static void gateway_end(struct gateway *gateway)
{
	pipe_close(&gateway->life);
	fd_close(&gateway->proc);
	child_end(&gateway->child);
}
#define GATEWAY(name) __attribute__((cleanup(gateway_end))) struct gateway name = { CHILD_NONE, { -1, -1 }, -1 }

/* Starts the script, $1 being the canary and $2 the folder of our helpers, and waits for so many lines. */
static void gateway_start(struct gateway *gateway, const char *script, const struct canary *canary, size_t lines)
{
	PIPE(said);
	struct error *err = NULL;
	char text[SCRIPT_BYTES], first[CANARY_LENGTH + 1], helpers[PATH_MAX], path[64], line;
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, text, (char[]){ "gateway" }, first, helpers, NULL };
	char *envp[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/sh", .argv = argv, .envp = envp };

	snprintf(text, sizeof(text), "%s", script);
	snprintf(first, sizeof(first), "%s", canary->text);
	CU_ASSERT_EQUAL(spawn_helper_path("otlp-export", helpers, sizeof(helpers), &err), 0);
	*strrchr(helpers, '/') = '\0';
	pipe_open(&gateway->life);
	pipe_open(&said);
	map(&options, said.writer, 1);
	map(&options, gateway->life.reader, 3);
	CU_ASSERT_EQUAL(spawn(&options, &gateway->child, &err), 0);
	fd_close(&said.writer);
	fd_close(&gateway->life.reader);
	for (size_t i = 0; i < lines; i++)
		CU_ASSERT_EQUAL(fd_read_exact(said.reader, &line, 1, guard(), &err), 0);
	snprintf(path, sizeof(path), "/proc/%d", (int)gateway->child.pid);
	gateway->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(test_no_error(&err));
}

static bool start(struct observing *observing, struct canary *canary)
{
	return observing_start(observing, "children", NULL) && observing_expect(observing, "token", NULL, canary) &&
	       observing_ready(observing);
}

static const struct wire_record *record(const struct observing *observing, const char *subject)
{
	return observing_record(observing, "children", subject);
}

static const struct row {
	const char *name, *script;
	size_t lines;
	int64_t children, environment, descriptors, hits;
	enum wire_reason reason; /* of all but the number of children, where it is MISSING */
} rows[] = {
	{ "clean", "env -i " STAYS " & wait", 1, 1, 0, 0, 0, WIRE_REASON_NONE },
	{ "two clean", "env -i " STAYS " & env -i " STAYS " & wait", 2, 2, 0, 0, 0, WIRE_REASON_NONE },
	{ "environment", "env -i A=1 B= C=3 " STAYS " & wait", 1, 1, 3, 0, 0, WIRE_REASON_NONE },
	{ "inherited", STAYS " & wait", 1, 1, 2, 0, 0, WIRE_REASON_NONE },
	{ "descriptors", "env -i " STAYS " 4<&3 7<&3 & wait", 1, 1, 0, 2, 0, WIRE_REASON_NONE },
	{ "token in the environment", "env -i T=\"Bearer $1\" " STAYS " & wait", 1, 1, 1, 0, 1, WIRE_REASON_NONE },
	{ "token as an argument", "env -i sh -c 'echo; read x' x \"$1\" <&3 & wait", 1, 1, 0, 0, 1, WIRE_REASON_NONE },
	{ "one of two", "env -i " STAYS " & env -i A=1 T=$1 " STAYS " 9<&3 & wait", 2, 2, 2, 1, 1, WIRE_REASON_NONE },
	{ "our helper beside it",
	  "env -i A=1 $2/otlp-export http://127.0.0.1:9 x 9<&3 </proc/self/fd/3 >/dev/null & "
	  "until [ \"$(readlink /proc/$!/exe)\" = \"$(readlink -f $2/otlp-export)\" ]; do :; done; env -i " STAYS
	  " & wait",
	  1, 1, 0, 0, 0, WIRE_REASON_NONE },
	{ "nobody", "echo; read x <&3", 1, 0, 0, 0, 0, WIRE_REASON_INPUT_MISSING },
};

static void looks(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_observing struct observing observing = { 0 };
		GATEWAY(gateway);
		const struct row *row = &rows[i];
		struct canary canary;

		CU_ASSERT(start(&observing, &canary));
		gateway_start(&gateway, row->script, &canary, row->lines);
		CU_ASSERT(observing_give(&observing, "gateway", gateway.proc));
		CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
		if (record(&observing, "upstream-children")->value != row->children ||
		    record(&observing, "upstream-environment")->value != row->environment ||
		    record(&observing, "upstream-descriptors")->value != row->descriptors ||
		    record(&observing, "token")->value != row->hits)
			fprintf(stderr, "row: %s\n", row->name);
		CU_ASSERT_EQUAL(record(&observing, "upstream-children")->value, row->children);
		CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->value, row->environment);
		CU_ASSERT_EQUAL(record(&observing, "upstream-descriptors")->value, row->descriptors);
		CU_ASSERT_EQUAL(record(&observing, "token")->value, row->hits);
		CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->reason, row->reason);
		CU_ASSERT_EQUAL(record(&observing, "upstream-descriptors")->reason, row->reason);
		CU_ASSERT_EQUAL(record(&observing, "token")->reason, row->reason);
		CU_ASSERT_EQUAL(record(&observing, "upstream-children")->reason,
				row->reason == WIRE_REASON_INPUT_MISSING ? WIRE_REASON_NONE : row->reason);
		CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->beacon_before, 1);
	}
}

/* Whether each child of the process is dead and not waited for. */
static bool all_dead(int process)
{
	pid_t pids[CHILDREN_MAX];
	int count = children_list(process, pids, CHILDREN_MAX);

	for (int i = 0; i < count; i++) {
		char path[64];
		cleanup_fd int folder = -1;
		struct child_id id;

		snprintf(path, sizeof(path), "/proc/%d", (int)pids[i]);
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (child_identify(folder, &id))
			return false;
	}
	return count > 0;
}

/* One that ended before anybody looked has an environment of no bytes, which is no zero. */
static void dead_child(void)
{
	cleanup_observing struct observing observing = { 0 };
	GATEWAY(gateway);
	struct canary canary;
	int64_t deadline = guard();

	CU_ASSERT(start(&observing, &canary));
	gateway_start(&gateway, "echo & exec cat <&3", &canary, 1);
	while (!all_dead(gateway.proc) && clock_now() < deadline)
		;
	CU_ASSERT(observing_give(&observing, "gateway", gateway.proc));
	CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->reason, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(record(&observing, "upstream-descriptors")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(record(&observing, "upstream-children")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(record(&observing, "token")->status, WIRE_NOT_OBSERVABLE);
}

/* What was seen while the gateway lived holds, and is not counted twice. */
static void stays_known(void)
{
	cleanup_observing struct observing observing = { 0 };
	GATEWAY(gateway);
	struct canary canary;
	struct error *err = NULL;
	int status;

	CU_ASSERT(start(&observing, &canary));
	gateway_start(&gateway, "env -i A=1 T=$1 " STAYS " 5<&3 & wait", &canary, 1);
	CU_ASSERT(observing_give(&observing, "gateway", gateway.proc));
	for (int i = 0; i < 2; i++) {
		CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
		CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->beacon_after, 0);
	}
	fd_close(&gateway.life.writer);
	CU_ASSERT_EQUAL(child_wait(&gateway.child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&observing, "upstream-children")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->value, 2);
	CU_ASSERT_EQUAL(record(&observing, "upstream-descriptors")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "token")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "token")->hits, 1);
	CU_ASSERT_EQUAL(record(&observing, "token")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&observing, "token")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&observing, "token")->beacon_after, 1);
}

/* The folder of an upstream itself, which may be no child of a gateway of ours. */
static void given_upstream(void)
{
	cleanup_observing struct observing observing = { 0 };
	GATEWAY(one);
	GATEWAY(dead);
	struct canary canary;

	CU_ASSERT(start(&observing, &canary));
	gateway_start(&one, "exec env -i A=$1 " STAYS " 5<&3", &canary, 1);
	CU_ASSERT(observing_give(&observing, "upstream", one.proc));
	CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&observing, "upstream-children")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&observing, "upstream-descriptors")->value, 1);
	CU_ASSERT_EQUAL(record(&observing, "token")->value, 1);
	gateway_start(&dead, "echo; exec 1>&-; read x <&3", &canary, 1);
	child_end(&dead.child);
	CU_ASSERT(observing_give(&observing, "upstream", dead.proc));
	CU_ASSERT(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->reason, WIRE_REASON_INPUT_INVALID);
}

/* Without an input, or with the folder of one that is gone, there is nothing to say, and no zero. */
static void nothing_to_see(void)
{
	static const enum wire_reason reasons[] = { WIRE_REASON_INPUT_MISSING, WIRE_REASON_INPUT_INVALID };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		cleanup_observing struct observing observing = { 0 };
		GATEWAY(gateway);
		struct canary canary;

		CU_ASSERT(start(&observing, &canary));
		gateway_start(&gateway, "echo; read x <&3", &canary, 1);
		child_end(&gateway.child);
		if (i == 1)
			CU_ASSERT(observing_give(&observing, "gateway", gateway.proc));
		CU_ASSERT(observing_report(&observing, WIRE_BEFORE));
		CU_ASSERT_EQUAL(record(&observing, "upstream-environment")->reason, reasons[i]);
		CU_ASSERT_EQUAL(record(&observing, "upstream-children")->reason, reasons[i]);
		CU_ASSERT_EQUAL(record(&observing, "token")->reason, reasons[i]);
		CU_ASSERT_EQUAL(record(&observing, "token")->status, WIRE_NOT_OBSERVABLE);
	}
}

static CU_TestInfo tests[] = {
	{ "looks", looks },
	{ "a dead child", dead_child },
	{ "stays known", stays_known },
	{ "a given upstream", given_upstream },
	{ "nothing to see", nothing_to_see },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "observer-children", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_children", suites);
}
