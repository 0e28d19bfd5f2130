/*
 * The order service of an arm, where a cell asks for orders: the service, who imports files, and another service of the
 * deployment, each a program of its own on one database: a file in the arm's folder, or one of a PostgreSQL cluster.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/schema.h"
#include "observers/tree.h"
#include "runner/arm.h"

#define ORDERS_MS 3000
#define LINE_BYTES (32 + ID_MAX)
#define DECIMAL 10
#define READY "ready "

/* "ready PORT REVISION"; who says no revision runs an unknown one. */
static bool read_ready(char *line, uint16_t *port, char revision[ID_MAX])
{
	char *end = NULL;
	unsigned long value =
		strncmp(line, READY, strlen(READY)) == 0 ? strtoul(line + strlen(READY), &end, DECIMAL) : 0;

	if (value == 0 || value > UINT16_MAX || (*end && *end != ' '))
		return false;
	*port = (uint16_t)value;
	if (*end && (strlen(end + 1) >= ID_MAX || !schema_matches(PATTERN_ID, end + 1, strlen(end + 1))))
		return false;
	snprintf(revision, ID_MAX, "%s", *end ? end + 1 : "");
	return true;
}

/* It says its port once it listens, and has made its table by then. */
static int await_ready(struct arm *arm, int from, struct error **err)
{
	char line[LINE_BYTES] = "";
	int64_t deadline = clock_deadline(ORDERS_MS);
	size_t length = 0;

	while (length < sizeof(line) - 1 && (length == 0 || line[length - 1] != '\n'))
		if (fd_read_exact(from, &line[length++], 1, deadline, err) < 0)
			return -1;
	if (line[length - 1] != '\n')
		return error_set(err, ERROR_PROTOCOL, "an order service that says no port");
	line[length - 1] = '\0';
	if (!read_ready(line, &arm->orders.port, arm->result->room.record.deployment_revision))
		return error_set(err, ERROR_PROTOCOL, "an order service that says no port, or no revision's name");
	return 0;
}

static int start_service(struct arm *arm, struct error **err)
{
	cleanup_fd int in_read = -1, out_read = -1, out_write = -1;
	char path[PATH_MAX], name[] = "order-service", http[] = "http";
	char *argv[] = { name, arm->orders.database, http, NULL };

	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&in_read, &arm->orders.life, err) < 0 ||
	    fd_pipe(&out_read, &out_write, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = path,
		.argv = argv,   .fds = { { .from = in_read, .to = 0 }, { .from = out_write, .to = 1 } },
		.fds_count = 2,
	};
	if (spawn(&options, &arm->orders.service, err) < 0)
		return -1;
	fd_close(&out_write);
	return await_ready(arm, out_read, err);
}

static int open_file(struct arm *arm, struct error **err)
{
	struct arm_orders *orders = &arm->orders;

	if (mkdirat(arm->folder, ARM_ORDERS, 0700) < 0)
		return error_errno(err, errno, "the folder of the orders");
	orders->folder = openat(arm->folder, ARM_ORDERS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (orders->folder < 0)
		return error_errno(err, errno, "the folder of the orders");
	snprintf(orders->database, sizeof(orders->database), "%s/" ARM_ORDERS "/" ARM_ORDERS_DATABASE, arm->path);
	return 0;
}

bool arm_orders_wanted(const struct arm *arm)
{
	return arm_observers_wanted(arm, "orders") || arm_observers_wanted(arm, "orders-pg");
}

int arm_orders_open(struct arm *arm, struct error **err)
{
	const struct arm_orders *orders = &arm->orders;

	if (!arm_orders_wanted(arm))
		return 0;
	if ((arm_observers_wanted(arm, "orders-pg") ? arm_orders_pg_open(arm, err) : open_file(arm, err)) < 0)
		return -1;
	if (start_service(arm, err) < 0)
		return error_wrap(err, "the order service");
	for (size_t i = 0; i < arm->subjects_count; i++)
		if (arm->subjects[i].route->address == PROBE_SERVICE)
			arm->subjects[i].port = orders->port;
	return 0;
}

/* Runs a program on the database to its end, with `in` as its standard input. */
static int run_on(const struct arm *arm, const char *program, int in, struct error **err)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char path[PATH_MAX], name[NAME_MAX_SHORT], database[sizeof(arm->orders.database)];
	char *argv[] = { name, database, NULL };
	int status = -1;

	snprintf(database, sizeof(database), "%s", arm->orders.database);
	snprintf(name, sizeof(name), "%s", program);
	if (spawn_helper_path(program, path, sizeof(path), err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = path,
		.argv = argv,   .fds = { { .from = in, .to = 0 }, { .from = nowhere, .to = 1 } },
		.fds_count = 2,
	};
	if (spawn(&options, &child, err) < 0 || child_wait(&child, clock_deadline(ORDERS_MS), &status, err) < 0)
		return -1;
	return status == 0 ? 0 : error_set(err, ERROR_PROTOCOL, "%s made no order", program);
}

static int write_order(const struct arm *arm, const struct canary *canary, struct error **err)
{
	cleanup_fd int read_end = -1, write_end = -1;

	if (fd_pipe(&read_end, &write_end, err) < 0 ||
	    fd_write_all(write_end, canary->text, CANARY_LENGTH, clock_deadline(ORDERS_MS), err) < 0)
		return -1;
	fd_close(&write_end);
	return run_on(arm, "order-writer", read_end, err);
}

static void mark(struct arm *arm, enum wire_phase phase)
{
	cleanup_error struct error *lost = NULL;

	if (write_order(arm, &arm->markers[phase], &lost) < 0)
		arm_note(arm, "beacon-lost", "orders", clock_now());
}

void arm_orders_inputs(struct arm *arm)
{
	if (arm->orders.folder < 0)
		return;
	arm_observers_give(arm, arm->orders.made ? "orders-pg" : "orders", "folder", arm->orders.folder);
	arm_observers_give(arm, arm->orders.made ? "correlation-pg" : "correlation", "orders", arm->orders.folder);
	mark(arm, WIRE_BEFORE);
}

/* What the agent wrote is opened as nothing of an agent's is: below its root, over no link, a regular file alone. */
static int import_files(const struct arm *arm, const char *target, struct error **err)
{
	cleanup_fd int root = openat(arm->session.proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return error_errno(err, errno, "the container's root");
	for (int64_t try = 1; try <= arm->scenario.tries; try++) {
		char path[128];
		cleanup_fd int file = -1;

		snprintf(path, sizeof(path), "%s-%lld", target + 1, (long long)try);
		file = tree_open(root, path);
		if (file >= 0 && run_on(arm, "order-import", file, err) < 0)
			return -1;
	}
	return 0;
}

/* What is there now must still be there at the end. */
static int look(struct arm *arm, struct error **err)
{
	static const char *const lookers[] = { "orders", "correlation", "orders-pg", "correlation-pg" };

	for (size_t i = 0; i < ARRAY_SIZE(lookers); i++)
		if (arm_observers_ask(arm, lookers[i], WIRE_BEFORE, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(lookers); i++)
		if (arm_observers_take(arm, lookers[i], WIRE_BEFORE, err) < 0)
			return -1;
	return 0;
}

static int work(struct arm *arm, struct error **err)
{
	for (size_t i = 0; i < arm->subjects_count; i++) {
		const struct arm_subject *subject = &arm->subjects[i];

		if (strcmp(subject->route->id, "order-file") == 0 && !arm->told.dead &&
		    import_files(arm, subject->route->target, err) < 0)
			return -1;
		if (subject->route->address == PROBE_DEPLOYMENT && write_order(arm, &subject->canary, err) < 0)
			return -1;
	}
	return look(arm, err);
}

void arm_orders_work(struct arm *arm)
{
	cleanup_error struct error *late = NULL;

	if (arm->orders.folder < 0 || work(arm, &late) == 0)
		return;
	arm->orders.missed = true;
	arm_note(arm, "barrier-missed", "orders", clock_now());
}

/* It has its time to make what it took on, and ends by itself: then nothing of it comes later. */
static bool end_service(struct arm *arm)
{
	cleanup_error struct error *late = NULL;
	int status = -1;

	fd_close(&arm->orders.life);
	return child_wait(&arm->orders.service, clock_deadline(ORDERS_MS), &status, &late) == 0 && status == 0;
}

void arm_orders_finish(struct arm *arm)
{
	if (arm->orders.folder < 0)
		return;
	arm_gateway_end(arm);
	/* Of one that was gone before, or has to be killed, nobody knows which orders it would have made; nor of those
	 * that were not let make theirs. */
	if (child_running(&arm->orders.service) && end_service(arm) && !arm->orders.missed)
		mark(arm, WIRE_AFTER);
	else
		arm_note(arm, "beacon-lost", "orders", clock_now());
	child_end(&arm->orders.service);
}

void arm_orders_close(struct arm *arm)
{
	fd_close(&arm->orders.life);
	child_end(&arm->orders.service);
	arm_orders_pg_close(arm);
	fd_close(&arm->orders.folder);
}
