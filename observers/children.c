/*
 * libexec/observer-children: what the gateway hands to its upstreams beside their pipes: variables of the environment,
 * descriptors, and canaries in the environment or on the command line (a token that is a canary is found likewise).
 * Inputs: "gateway" (its /proc folder: its children are looked at, but for our own helpers) or "upstream" (the /proc
 * folder of one upstream; may come several times). It looks whenever a report is asked for, so one must be while the
 * gateway lives; what was seen once stays. A child that could not be read is no zero.
 *
 * Its positive control is a child of its own, with the phase's marker in its environment and a descriptor too many.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "observers/children_look.h"
#include "observers/observer.h"

#define VIEW 0
#define UPSTREAMS_MAX 8
#define CONTROL "control"
#define CONTROL_MS 2000
#define CONTROL_EXTRA 9 /* the number of the descriptor that is too many */

struct known {
	struct child_id id;
	int64_t environment, descriptors;
	bool told[ARM_SUBJECTS_MAX]; /* its canary was found in this one */
};

struct children {
	bool opened;
	int gateway;
	int upstreams[UPSTREAMS_MAX];
	bool upstreams_read[UPSTREAMS_MAX];
	size_t upstreams_count;
	bool looked; /* at least once all was to be seen */
	struct known known[CHILDREN_MAX];
	size_t count;
	struct child_look look;
};

static const struct sensor sensor;
static const char *const helpers[];

/* ---- looking ---------------------------------------------------------------------------------- */

/* The one seen before; `born` 0: whoever had the pid last. */
static struct known *find_known(struct children *children, const struct child_id *id)
{
	for (size_t i = children->count; i > 0; i--) {
		struct known *known = &children->known[i - 1];

		if (known->id.pid == id->pid && (id->born == 0 || known->id.born == id->born))
			return known;
	}
	return NULL;
}

static int keep(struct observer *observer, struct error **err)
{
	struct children *children = observer->state;
	const struct child_look *look = &children->look;
	struct known *known = find_known(children, &look->id);
	uint64_t hits[OBSERVER_HITS] = { 0 };
	int r = 0;

	if (!known && children->count == CHILDREN_MAX)
		return observer_blind(observer, VIEW, WIRE_REASON_LIMIT, err);
	if (!known) {
		known = &children->known[children->count++];
		known->id = look->id;
	}
	if (look->environment > known->environment)
		known->environment = look->environment;
	if (look->descriptors > known->descriptors)
		known->descriptors = look->descriptors;
	observer_find(observer, buf_string(&look->text), look->text.length, hits);
	for (size_t i = 0; i < observer->count && r == 0; i++) {
		if (observer->subjects[i].marker || known->told[i] || hits[i] == 0)
			continue;
		known->told[i] = true;
		r = observer_count(observer, VIEW, i, hits[i], err);
	}
	return r;
}

static bool is_helper(pid_t pid)
{
	for (const char *const *name = helpers; *name; name++) {
		cleanup_error struct error *missing = NULL;
		cleanup_fd int program = -1;
		char path[PATH_MAX];

		if (spawn_helper_path(*name, path, sizeof(path), &missing) < 0)
			continue;
		program = open(path, O_PATH | O_CLOEXEC);
		if (child_runs(pid, program))
			return true;
	}
	return false;
}

static int look_at_child(struct observer *observer, pid_t pid, pid_t parent, struct error **err)
{
	struct children *children = observer->state;
	const struct child_id gone = { .pid = pid };

	if (is_helper(pid))
		return 0;
	if (child_look(pid, parent, &children->look))
		return keep(observer, err);
	/* One that ended after it was read was read. */
	return find_known(children, &gone) ? 0 : observer_blind(observer, VIEW, WIRE_REASON_INPUT_INVALID, err);
}

/* A gateway that ended has no children any more: what was seen before holds. */
static int look_at_gateway(struct observer *observer, struct error **err)
{
	struct children *children = observer->state;
	pid_t pids[CHILDREN_MAX];
	struct child_id gateway;
	int count, r = 0;

	if (!child_identify(children->gateway, &gateway))
		return 0;
	count = children_list(children->gateway, pids, CHILDREN_MAX);
	if (count < 0)
		return child_identify(children->gateway, &gateway)
			       ? observer_blind(observer, VIEW, WIRE_REASON_INPUT_INVALID, err)
			       : 0;
	children->looked = true;
	for (int i = 0; i < count && r == 0; i++)
		r = look_at_child(observer, pids[i], gateway.pid, err);
	return r;
}

static int look_at_upstream(struct observer *observer, size_t index, struct error **err)
{
	struct children *children = observer->state;

	if (child_look_at(children->upstreams[index], &children->look)) {
		children->looked = true;
		children->upstreams_read[index] = true;
		return keep(observer, err);
	}
	return children->upstreams_read[index] ? 0 : observer_blind(observer, VIEW, WIRE_REASON_INPUT_INVALID, err);
}

static int look(struct observer *observer, struct error **err)
{
	struct children *children = observer->state;
	int r = children->gateway < 0 ? 0 : look_at_gateway(observer, err);

	for (size_t i = 0; i < children->upstreams_count && r == 0; i++)
		r = look_at_upstream(observer, i, err);
	buf_wipe(&children->look.text);
	return r;
}

/* ---- the control ------------------------------------------------------------------------------ */

/* The child: it stays readable, unlike each other program of ours, and says when its environment is its own. */
static int be_control(void)
{
	cleanup_error struct error *ignored = NULL;

	if (fd_write_all(STDOUT_FILENO, "", 1, clock_deadline(CONTROL_MS), &ignored) < 0)
		return 1;
	return fd_wait(STDIN_FILENO, POLLIN, clock_deadline(HELPER_LIFE_MS), &ignored) < 0;
}

/* Starts the child, which lives until *life is closed. */
static int start_control(const struct canary *marker, struct child *child, int *life, struct error **err)
{
	char program[] = "observer-children", word[] = CONTROL, variable[sizeof("MARKER=") + CANARY_LENGTH], ready;
	char *argv[] = { program, word, NULL }, *envp[] = { variable, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/proc/self/exe", .argv = argv, .envp = envp };
	cleanup_fd int in = -1, said = -1, out = -1;
	int r = fd_pipe(&in, life, err);

	if (r == 0)
		r = fd_pipe(&said, &out, err);
	if (r < 0)
		return r;
	snprintf(variable, sizeof(variable), "MARKER=%s", marker->text);
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = in, .to = STDIN_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = in, .to = CONTROL_EXTRA };
	r = spawn(&options, child, err);
	explicit_bzero(variable, sizeof(variable));
	fd_close(&out);
	return r < 0 ? r : fd_read_exact(said, &ready, 1, clock_deadline(CONTROL_MS), err);
}

static bool is_listed(pid_t pid)
{
	cleanup_fd int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pids[CHILDREN_MAX];
	int count = self < 0 ? -1 : children_list(self, pids, CHILDREN_MAX);

	for (int i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* A control that does not succeed is a beacon that was not seen. */
static bool see_control(struct observer *observer, size_t index)
{
	struct children *children = observer->state;
	struct child_look *look = &children->look;
	cleanup_error struct error *ignored = NULL;
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int life = -1;
	uint64_t hits[OBSERVER_HITS] = { 0 };

	if (start_control(&observer->subjects[index].canary, &child, &life, &ignored) < 0)
		return false;
	if (!is_listed(child.pid) || !child_look(child.pid, getpid(), look))
		return false;
	observer_find(observer, buf_string(&look->text), look->text.length, hits);
	return look->environment == 1 && look->descriptors == 1 && hits[index] == 1;
}

static int prove(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct children *children = observer->state;
	int r = 0;

	for (size_t i = 0; i < observer->count && r == 0; i++) {
		const struct observed *observed = &observer->subjects[i];

		if (observed->marker && observed->phase == phase && see_control(observer, i))
			r = observer_count(observer, VIEW, i, 1, err);
	}
	buf_wipe(&children->look.text);
	return r;
}

/* ---- the program ------------------------------------------------------------------------------ */

static int children_open(struct observer *observer, struct error **err)
{
	struct children *children = observer->state;

	children->gateway = -1;
	children->look = (struct child_look)CHILD_LOOK;
	children->opened = true;
	return prove(observer, WIRE_BEFORE, err);
}

static int children_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct children *children = observer->state;

	if (strcmp(name, "gateway") == 0) {
		/* A gateway that was started anew takes the place of the one before. */
		fd_close(&children->gateway);
		children->gateway = fd;
		return 0;
	}
	if (strcmp(name, "upstream") == 0 && children->upstreams_count < UPSTREAMS_MAX) {
		children->upstreams[children->upstreams_count++] = fd;
		return 0;
	}
	fd_close(&fd);
	return error_set(err, ERROR_PROTOCOL, "an input that is unknown or came too often");
}

/* Why nothing can be said of the children; `any`: unless there was one. */
static enum wire_reason reason(const struct children *children, bool any)
{
	if (children->gateway < 0 && children->upstreams_count == 0)
		return WIRE_REASON_INPUT_MISSING;
	if (!children->looked)
		return WIRE_REASON_INPUT_INVALID;
	return any && children->count == 0 ? WIRE_REASON_INPUT_MISSING : WIRE_REASON_NONE;
}

static int report_measures(struct observer *observer, enum wire_phase phase, struct error **err)
{
	const struct children *children = observer->state;
	struct wire_record environment = { .reason = reason(children, true) };
	struct wire_record descriptors = { .reason = reason(children, true) };
	struct wire_record count = { .reason = reason(children, false) };
	int r;

	for (size_t i = 0; i < children->count; i++) {
		environment.value += children->known[i].environment;
		descriptors.value += children->known[i].descriptors;
	}
	count.value = (int64_t)children->count;
	r = observer_record(observer, VIEW, "upstream-environment", phase, &environment, err);
	if (r == 0)
		r = observer_record(observer, VIEW, "upstream-descriptors", phase, &descriptors, err);
	return r < 0 ? r : observer_record(observer, VIEW, "upstream-children", phase, &count, err);
}

static int report_canaries(struct observer *observer, enum wire_phase phase, struct error **err)
{
	const struct children *children = observer->state;
	int r = 0;

	for (size_t i = 0; i < observer->count && r == 0; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = { .value = (int64_t)observed->counts[VIEW].records,
					      .hits = (int64_t)observed->counts[VIEW].hits,
					      .reason = reason(children, true) };

		if (!observed->marker && observed->scanned)
			r = observer_record(observer, VIEW, observed->subject, phase, &record, err);
	}
	return r;
}

static int children_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	int r = look(observer, err);

	if (r == 0 && phase == WIRE_AFTER)
		r = prove(observer, phase, err);
	if (r == 0)
		r = report_measures(observer, phase, err);
	return r < 0 ? r : report_canaries(observer, phase, err);
}

static void children_close(struct observer *observer)
{
	struct children *children = observer->state;

	if (!children->opened)
		return;
	fd_close(&children->gateway);
	for (size_t i = 0; i < children->upstreams_count; i++)
		fd_close(&children->upstreams[i]);
	buf_wipe(&children->look.text);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], CONTROL) == 0)
		return be_control();
	return observer_main(&sensor, argc, argv);
}

/* Those of our own programs that a gateway starts and that are no upstream. */
static const char *const helpers[] = { "otlp-export", "mcp-http", NULL };

static const struct sensor sensor = {
	.name = "observer-children",
	.state_size = sizeof(struct children),
	.open = children_open,
	.input = children_input,
	.report = children_report,
	.close = children_close,
};
