/*
 * The real watchdog: behind the real bridge where parts of the chain of life are taken away, behind a played one where
 * its own manners are looked at.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/unit/bridge_world.h"

#define LEASE "250"
#define LONG_LEASE "4000"
#define TRY "100"
#define TRY_MS 100
#define STOPS "/bin/true"
#define FAILS "/bin/false"
#define MISSING "/nowhere/stop"

/* A part of a whole chain is killed or paused; the process must die of it. */
struct loss_row {
	const char *what;
	bool watchdog; /* else the bridge */
	int signal;
	enum control_reason fired; /* by the watchdog; NONE: it is the bridge that ends the session */
	int64_t within_ms; /* dead */
};

struct stop_row {
	const char *program;
	int64_t tries;
	enum control_reason reason;
};

struct usage_row {
	const char *words[7]; /* behind the program's name */
};

static const struct loss_row loss_rows[];
static const struct stop_row stop_rows[];
static const struct usage_row usage_rows[];

static bool exits(struct child *child, int expected)
{
	cleanup_error struct error *err = NULL;
	int status = -1;

	return child_wait(child, clock_deadline(WORLD_GUARD_MS), &status, &err) == 0 && status == expected;
}

static void pulse(struct world *world)
{
	struct error *err = NULL;
	char byte;

	CU_ASSERT_EQUAL(fd_write_all(world->pulse, "", 1, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(fd_read_exact(world->acknowledge_fd, &byte, 1, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void arm(struct world *world, const char *lease, const char *stop, int cgroup)
{
	world_watchdog(world, lease, TRY, stop, cgroup);
	pulse(world);
	CU_ASSERT_EQUAL(world_watchdog_told(world, CONTROL_ARMED).type, CONTROL_ARMED);
}

static void start_armed(struct world *world, const char *lease, const char *stop, int cgroup)
{
	world_init(world);
	arm(world, lease, stop, cgroup);
}

static bool fired(struct world *world, enum control_reason reason)
{
	struct control_message message = world_watchdog_told(world, CONTROL_FIRED);

	if (message.type == CONTROL_FIRED && message.reason == reason)
		return true;
	fprintf(stderr, "expected '%s', got '%s'\n", control_reason_names[reason],
		message.type ? control_reason_names[message.reason] : "nothing");
	return false;
}

static bool stopped(struct world *world, int64_t tries, enum control_reason reason)
{
	struct control_message message = world_watchdog_told(world, CONTROL_STOPPED);

	return message.type == CONTROL_STOPPED && message.value == tries && message.reason == reason;
}

/* ---- the whole chain ---- */

static void lose(const struct loss_row *row)
{
	cleanup_world struct world world;
	struct control_message dead;
	struct child *part;
	int64_t lost;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_guard_real(&world, LEASE, TRY, STOPS);
	part = row->watchdog ? &world.watchdog : &world.bridge;
	/* It holds while nothing is lost. */
	CU_ASSERT_FALSE(world_dead(&world.container, WORLD_ACKNOWLEDGE_MS + 5 * WORLD_HEARTBEAT_MS));
	lost = clock_now();
	child_signal(part, row->signal);
	CU_ASSERT(world_dead(&world.container, row->within_ms));
	if (row->fired == CONTROL_REASON_NONE) {
		CU_ASSERT(world_ended(&world, CONTROL_REASON_WATCHDOG_LOST));
		child_signal(&world.watchdog, SIGCONT);
		return;
	}
	CU_ASSERT(fired(&world, row->fired));
	dead = world_watchdog_told(&world, CONTROL_DEAD);
	CU_ASSERT_EQUAL(dead.type, CONTROL_DEAD);
	CU_ASSERT(dead.time > lost && dead.time < lost + row->within_ms * NS_PER_MS);
	CU_ASSERT(world_dead(&world.bridge, WORLD_GUARD_MS));
	CU_ASSERT(stopped(&world, 1, CONTROL_REASON_NONE));
	CU_ASSERT(exits(&world.watchdog, 0));
}

static void test_losses(void)
{
	for (const struct loss_row *row = loss_rows; row->what; row++)
		lose(row);
}

/* An agent that ends by itself: the watchdog keeps still until the arm says that all is in order. */
static void test_order(void)
{
	cleanup_world struct world world;
	struct control_message disarm = { .type = CONTROL_DISARM };
	struct error *err = NULL;

	world_init(&world);
	world_start(&world, GATEWAY_REAL);
	world_guard_real(&world, LEASE, TRY, STOPS);
	world_payload(&world, "", 0);
	world_order(&world, CONTROL_GO);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_FIRST_FRAME).type, CONTROL_FIRST_FRAME);
	child_signal(&world.container, SIGKILL);
	CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
	fd_close(&world.attach);
	CU_ASSERT(world_ended(&world, CONTROL_REASON_STREAM_END));
	CU_ASSERT_EQUAL(
		fd_wait(world.watchdog_control, POLLIN, clock_deadline(WORLD_LEASE_MS + 5 * WORLD_HEARTBEAT_MS), &err),
		0);
	CU_ASSERT_EQUAL(control_send(world.watchdog_control, &disarm, NULL, 0, clock_deadline(WORLD_GUARD_MS), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(exits(&world.watchdog, 0));
}

/* ---- the watchdog alone ---- */

static void test_disarm(void)
{
	cleanup_world struct world world;
	struct control_message disarm = { .type = CONTROL_DISARM };
	struct error *err = NULL;

	start_armed(&world, LONG_LEASE, STOPS, -1);
	CU_ASSERT_EQUAL(control_send(world.watchdog_control, &disarm, NULL, 0, clock_deadline(WORLD_GUARD_MS), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	fd_close(&world.pulse);
	CU_ASSERT(exits(&world.watchdog, 0));
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
	CU_ASSERT_FALSE(world_dead(&world.holder, 0));
}

/* Only that one word disarms: no other, none of another form, no signal but the last. */
static void test_not_disarmed(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT };
	cleanup_world struct world world;
	struct control_message other = { .type = CONTROL_END };
	struct error *err = NULL;

	start_armed(&world, LONG_LEASE, STOPS, -1);
	CU_ASSERT_EQUAL(control_send(world.watchdog_control, &other, NULL, 0, clock_deadline(WORLD_GUARD_MS), &err), 0);
	CU_ASSERT_EQUAL(write(world.watchdog_control, "disarm", 6), 6);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		child_signal(&world.watchdog, signals[i]);
	for (int i = 0; i < 3; i++)
		pulse(&world);
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
	fd_close(&world.pulse);
	CU_ASSERT(fired(&world, CONTROL_REASON_BRIDGE_LOST));
	CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
	CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
	CU_ASSERT(exits(&world.watchdog, 0));
}

/* The lease counts from the start, and anew from each pulse. */
static void test_lease(void)
{
	for (int armed = 0; armed <= 1; armed++) {
		cleanup_world struct world world;
		int64_t start = clock_now();

		world_init(&world);
		world_watchdog(&world, LEASE, TRY, STOPS, -1);
		for (int i = 0; armed && i < 8; i++) {
			start = clock_now();
			pulse(&world);
			CU_ASSERT_FALSE(world_dead(&world.container, 50));
		}
		CU_ASSERT(fired(&world, CONTROL_REASON_LEASE));
		CU_ASSERT(clock_now() - start >= strtoll(LEASE, NULL, 10) * NS_PER_MS);
		CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
		CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
	}
}

/* The arm's end does not disarm; and a bridge that pulses on without an arm is given a lease. */
static void test_arm_gone(void)
{
	cleanup_world struct world world;

	start_armed(&world, LEASE, STOPS, -1);
	fd_close(&world.watchdog_control);
	for (int i = 0; i < 20 && !world_dead(&world.container, 50); i++)
		CU_ASSERT_EQUAL(write(world.pulse, "", 1), 1);
	CU_ASSERT(world_dead(&world.container, 0));
	CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
	CU_ASSERT(exits(&world.watchdog, 0));
}

static void test_all_gone(void)
{
	for (int own_death = 0; own_death <= 1; own_death++) {
		cleanup_world struct world world;

		start_armed(&world, LONG_LEASE, STOPS, -1);
		if (own_death)
			child_signal(&world.container, SIGKILL);
		fd_close(&world.watchdog_control);
		fd_close(&world.pulse);
		CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
		CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
		CU_ASSERT(exits(&world.watchdog, 0));
	}
}

/* Acknowledgments that nobody reads are not waited for. */
static void test_full_pipe(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;

	start_armed(&world, LONG_LEASE, STOPS, -1);
	for (size_t i = 0; i < 80; i++) {
		static const char pulses[KIB];

		CU_ASSERT_EQUAL(fd_write_all(world.pulse, pulses, sizeof(pulses), clock_deadline(WORLD_GUARD_MS), &err),
				0);
	}
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
	fd_close(&world.pulse);
	CU_ASSERT(fired(&world, CONTROL_REASON_BRIDGE_LOST));
}

/* One that was given no process ends none: it asks the engine at once, and says of no death. */
static void test_unheld(void)
{
	cleanup_world struct world world;
	int64_t start;

	world_init(&world);
	world.unheld = true;
	arm(&world, LONG_LEASE, STOPS, -1);
	start = clock_now();
	fd_close(&world.pulse);
	CU_ASSERT(fired(&world, CONTROL_REASON_BRIDGE_LOST));
	CU_ASSERT(stopped(&world, 1, CONTROL_REASON_NONE));
	CU_ASSERT(clock_now() - start < NS_PER_S);
	CU_ASSERT(exits(&world.watchdog, 0));
	CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
	CU_ASSERT_FALSE(world_dead(&world.container, 0));
}

/* ---- proof of death ---- */

/* A folder that stands for a cgroup: what counts is which processes cgroup.procs names. */
struct folder {
	char path[64];
	int fd;
};

static void folder_put(const struct folder *folder, const char *file, const char *text)
{
	cleanup_fd int fd = openat(folder->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void folder_write(const struct folder *folder, const char *text)
{
	folder_put(folder, "cgroup.procs", text);
}

static void folder_remove(const struct folder *folder)
{
	unlinkat(folder->fd, "cgroup.procs", 0);
	unlinkat(folder->fd, "cgroup.freeze", 0);
	unlinkat(folder->fd, "freezer.state", 0);
	rmdir(folder->path);
}

static void folder_open(struct folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/test_watchdog.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder->path));
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder_write(folder, "123\n");
}

static void folder_close(struct folder *folder)
{
	folder_remove(folder);
	fd_close(&folder->fd);
}

/* Dead is said only when the cgroup holds no process: emptied, or gone after it was there. */
static void test_cgroup(void)
{
	for (int gone = 0; gone <= 1; gone++) {
		cleanup_world struct world world;
		__attribute__((cleanup(folder_close))) struct folder folder = { .fd = -1 };
		struct error *err = NULL;
		int64_t emptied;

		folder_open(&folder);
		start_armed(&world, LONG_LEASE, STOPS, folder.fd);
		fd_close(&world.pulse);
		CU_ASSERT(fired(&world, CONTROL_REASON_BRIDGE_LOST));
		CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
		CU_ASSERT_EQUAL(fd_wait(world.watchdog_control, POLLIN, clock_deadline(100), &err), 0);
		CU_ASSERT(test_no_error(&err));
		emptied = clock_now();
		if (gone)
			folder_remove(&folder);
		else
			folder_write(&folder, "");
		CU_ASSERT(world_watchdog_told(&world, CONTROL_DEAD).time >= emptied);
		CU_ASSERT(exits(&world.watchdog, 0));
	}
}

/* A cgroup that stays full: no death is claimed, and yet it ends. */
static void test_unproven(void)
{
	cleanup_world struct world world;
	__attribute__((cleanup(folder_close))) struct folder folder = { .fd = -1 };

	folder_open(&folder);
	start_armed(&world, LONG_LEASE, STOPS, folder.fd);
	fd_close(&world.pulse);
	CU_ASSERT_EQUAL(world_watchdog_told(&world, CONTROL_DEAD).type, 0);
	CU_ASSERT(exits(&world.watchdog, 0));
}

/* A container that is held still is let go to its end, in either version. */
static void test_frozen(void)
{
	static const struct {
		const char *file, *frozen, *thawed;
	} rows[] = {
		{ "cgroup.freeze", "1", "0" },
		{ "freezer.state", "FROZEN", "THAWED" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_world struct world world;
		__attribute__((cleanup(folder_close))) struct folder folder = { .fd = -1 };
		cleanup_buf struct buf state = BUF(KIB);
		struct error *err = NULL;

		folder_open(&folder);
		folder_put(&folder, rows[i].file, rows[i].frozen);
		world_init(&world);
		world.freezer = folder.fd;
		arm(&world, LONG_LEASE, STOPS, -1);
		fd_close(&world.pulse);
		CU_ASSERT(fired(&world, CONTROL_REASON_BRIDGE_LOST));
		CU_ASSERT(world_dead(&world.container, WORLD_GUARD_MS));
		CU_ASSERT(exits(&world.watchdog, 0));
		CU_ASSERT_EQUAL(fd_read_file(folder.fd, rows[i].file, KIB, &state, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&state), rows[i].thawed);
		world.freezer = -1;
	}
}

/* ---- the stop program ---- */

static void write_script(char path[64], const char *text)
{
	int fd;

	snprintf(path, 64, "/tmp/test_watchdog.XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_EQUAL(fchmod(fd, 0700), 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fd_close(&fd);
}

static void test_stops(void)
{
	for (const struct stop_row *row = stop_rows; row->program; row++) {
		cleanup_world struct world world;

		start_armed(&world, LONG_LEASE, row->program, -1);
		fd_close(&world.pulse);
		CU_ASSERT_EQUAL(world_watchdog_told(&world, CONTROL_DEAD).type, CONTROL_DEAD);
		CU_ASSERT(stopped(&world, row->tries, row->reason));
		CU_ASSERT(exits(&world.watchdog, 0));
	}
}

/* A stop program that hangs is killed, three times, and no try outlasts its time. */
static void test_hanging_stop(void)
{
	cleanup_world struct world world;
	cleanup_buf struct buf pids = BUF(KIB);
	char path[64], seen[80], text[256];
	int64_t start;
	size_t lines = 0;

	/* The script names a file beside itself, so that its path comes first. */
	write_script(path, "");
	snprintf(seen, sizeof(seen), "%s.seen", path);
	snprintf(text, sizeof(text), "#!/bin/sh\necho \"$$ $# $1 $2\" >>%s\nexec /bin/sleep 60\n", seen);
	unlink(path);
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	fd_close(&fd);
	start_armed(&world, LONG_LEASE, path, -1);
	start = clock_now();
	fd_close(&world.pulse);
	CU_ASSERT(stopped(&world, STOP_TRIES, CONTROL_REASON_STOP_FAILED));
	CU_ASSERT(clock_now() - start >= STOP_TRIES * TRY_MS * NS_PER_MS);
	CU_ASSERT(clock_now() - start < 10 * STOP_TRIES * TRY_MS * NS_PER_MS);
	CU_ASSERT(exits(&world.watchdog, 0));
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, seen, KIB, &pids, NULL), 0);
	for (char *rest = pids.data, *line; rest && (line = strsep(&rest, "\n")) && *line; lines++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(line, " 2 /nowhere/engine.sock 0123456789abcdef"));
		CU_ASSERT_NOT_EQUAL(kill((pid_t)strtol(line, NULL, 10), 0), 0);
	}
	CU_ASSERT_EQUAL(lines, STOP_TRIES);
	unlink(path);
	unlink(seen);
}

/* The arm may still say that all is in order, and is heard. */
static void test_disarm_stop(void)
{
	cleanup_world struct world world;
	struct control_message disarm = { .type = CONTROL_DISARM };
	struct error *err = NULL;
	char path[64];

	write_script(path, "#!/bin/sh\nexec /bin/sleep 60\n");
	world_init(&world);
	world_watchdog(&world, LONG_LEASE, "4000", path, -1);
	pulse(&world);
	fd_close(&world.pulse);
	CU_ASSERT_EQUAL(world_watchdog_told(&world, CONTROL_DEAD).type, CONTROL_DEAD);
	CU_ASSERT(world_dead(&world.holder, WORLD_GUARD_MS));
	CU_ASSERT_EQUAL(control_send(world.watchdog_control, &disarm, NULL, 0, clock_deadline(WORLD_GUARD_MS), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(world_watchdog_told(&world, CONTROL_STOPPED).type, 0);
	CU_ASSERT(exits(&world.watchdog, 0));
	unlink(path);
}

static void test_usage(void)
{
	for (const struct usage_row *row = usage_rows; row->words[0]; row++) {
		char path[RIG_PATH_BYTES], words[8][24] = { "watchdog" };
		char *argv[9] = { words[0] };
		struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(row->words) && row->words[i]; i++) {
			snprintf(words[i + 1], sizeof(words[0]), "%s", row->words[i]);
			argv[i + 1] = words[i + 1];
		}
		CU_ASSERT_EQUAL(spawn_helper_path("watchdog", path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(exits(&child, 4));
	}
}

static const struct loss_row loss_rows[] = {
	{ "watchdog paused", true, SIGSTOP, CONTROL_REASON_NONE, 1000 },
	{ "watchdog killed", true, SIGKILL, CONTROL_REASON_NONE, 500 },
	{ "bridge killed", false, SIGKILL, CONTROL_REASON_BRIDGE_LOST, 500 },
	{ "bridge paused", false, SIGSTOP, CONTROL_REASON_LEASE, 1500 },
	{ .what = NULL },
};

static const struct stop_row stop_rows[] = {
	{ STOPS, 1, CONTROL_REASON_NONE },
	{ FAILS, STOP_TRIES, CONTROL_REASON_STOP_FAILED },
	{ MISSING, STOP_TRIES, CONTROL_REASON_STOP_FAILED },
	{ .program = NULL },
};

static const struct usage_row usage_rows[] = {
	{ { "1" } },
	{ { "1", "1", "id", "stop" } },
	{ { "0", "1", "id", "stop", "socket" } },
	{ { "1", "-1", "id", "stop", "socket" } },
	{ { "1x", "1", "id", "stop", "socket" } },
	{ { "", "1", "id", "stop", "socket" } },
	{ { "1", "99999999999999999999", "id", "stop", "socket" } },
	{ { "1", "1", "id", "stop", "socket", "more" } },
	{ { NULL } },
};

static CU_TestInfo chain_tests[] = {
	{ "losses", test_losses },
	{ "order", test_order },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo alone_tests[] = {
	{ "disarmed", test_disarm },
	{ "not disarmed", test_not_disarmed },
	{ "lease", test_lease },
	{ "arm gone", test_arm_gone },
	{ "all gone", test_all_gone },
	{ "full pipe", test_full_pipe },
	{ "usage", test_usage },
	{ "unheld", test_unheld },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo proof_tests[] = {
	{ "cgroup", test_cgroup },
	{ "unproven", test_unproven },
	{ "frozen", test_frozen },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo stop_tests[] = {
	{ "programs", test_stops },
	{ "hanging", test_hanging_stop },
	{ "disarmed", test_disarm_stop },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "chain", NULL, NULL, NULL, NULL, chain_tests },
	{ "alone", NULL, NULL, NULL, NULL, alone_tests },
	{ "proof", NULL, NULL, NULL, NULL, proof_tests },
	{ "stop", NULL, NULL, NULL, NULL, stop_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("watchdog", suites);
}
