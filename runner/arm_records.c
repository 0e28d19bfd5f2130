/*
 * What the gateway writes down, where a cell asks for it: its folders, the collector of spans that it is told, the
 * inputs of the observers that read all that, and their markers. An arm without such a cell has nothing of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/sink.h"
#include "runner/arm_steps.h"

#define MARKER_MS 2000
#define PORT_BYTES 16
#define DECIMAL 10

/* Those that look at what is written while it is. */
static const char *const lookers[] = { "children", "audit", "audit-bytes", "output", NULL };

static bool kept(const struct arm *arm)
{
	bool any = arm_observers_wanted(arm, "spans") || arm->scenario.peer.at == PEER_AUDIT ||
		   arm->scenario.peer.at == PEER_COLLECTOR;

	for (size_t i = 0; lookers[i]; i++)
		any = any || arm_observers_wanted(arm, lookers[i]);
	/* Of a gateway that somebody else composed nobody can say where they are. */
	return any && arm->context.gateway.kind != GATEWAY_URL;
}

static int open_folder(const struct arm *arm, const char *name, int *out, struct error **err)
{
	if (mkdirat(arm->folder, name, 0700) < 0)
		return error_errno(err, errno, "a folder of the gateway's records");
	*out = openat(arm->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *out < 0 ? error_errno(err, errno, "a folder of the gateway's records") : 0;
}

/* One that refuses all: it says its port once it listens. */
static int start_hostile(struct arm *arm, struct error **err)
{
	cleanup_fd int text_read = -1, text_write = -1, port_read = -1, port_write = -1;
	cleanup_buf struct buf line = BUF(PORT_BYTES);
	char path[PATH_MAX], name[] = "hostile-collector";
	char *argv[] = { name, NULL };
	int64_t deadline = clock_deadline(MARKER_MS);
	unsigned long port = 0;

	if (arm_gateway_files(arm, err) < 0 || spawn_helper_path(name, path, sizeof(path), err) < 0 ||
	    fd_pipe(&text_read, &text_write, err) < 0 || fd_pipe(&port_read, &port_write, err) < 0 ||
	    fd_write_all(text_write, arm->subjects[0].canary.text, CANARY_LENGTH, deadline, err) < 0)
		return -1;
	fd_close(&text_write);

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = { { .from = text_read, .to = 0 },
			 { .from = port_write, .to = 1 },
			 { .from = arm->recorder, .to = SINK_FD } },
		.fds_count = 3,
	};
	if (spawn(&options, &arm->records.hostile, err) < 0)
		return -1;
	fd_close(&port_write);
	while (!memchr(buf_string(&line), '\n', line.length)) {
		char *to = buf_reserve(&line, 1);

		if (!to)
			return error_set(err, ERROR_PROTOCOL, "a collector that says no port");
		if (fd_read_exact(port_read, to, 1, deadline, err) < 0)
			return -1;
		buf_commit(&line, 1);
	}
	port = strtoul(buf_string(&line), NULL, DECIMAL);
	arm->records.collector = port <= UINT16_MAX ? (uint16_t)port : 0;
	return 0;
}

int arm_records_open(struct arm *arm, struct error **err)
{
	struct arm_records *records = &arm->records;

	if (!kept(arm))
		return 0;
	if (open_folder(arm, ARM_RECORDS, &records->folder, err) < 0 ||
	    open_folder(arm, ARM_AUDIT, &records->audit, err) < 0)
		return -1;
	records->errors = openat(records->folder, "stderr",
				 O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (records->errors < 0)
		return error_errno(err, errno, "the file behind the gateway's standard error");
	if (arm->scenario.peer.at == PEER_COLLECTOR)
		return start_hostile(arm, err);
	records->collector = arm_observers_collector(arm);
	return 0;
}

/* A file of a folder that is looked at: the positive control of who looks at every byte there. */
static int write_marker(int folder, const char *name, const struct canary *marker, struct error **err)
{
	cleanup_fd int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_errno(err, errno, "a marker beside the gateway's records");
	return fd_write_all(fd, marker->text, strlen(marker->text), clock_deadline(MARKER_MS), err);
}

static void mark(struct arm *arm, enum wire_phase phase)
{
	static const char *const names[] = { [WIRE_BEFORE] = "beacon-before", [WIRE_AFTER] = "beacon-after" };
	cleanup_error struct error *lost = NULL;

	if (write_marker(arm->records.folder, names[phase], &arm->markers[phase], &lost) < 0 ||
	    write_marker(arm->records.audit, names[phase], &arm->markers[phase], &lost) < 0)
		arm_note(arm, "beacon-lost", "output", clock_now());
}

void arm_records_inputs(struct arm *arm)
{
	const struct arm_records *records = &arm->records;
	cleanup_fd int process = -1;
	char path[32];

	if (records->folder < 0)
		return;
	mark(arm, WIRE_BEFORE);
	arm_observers_give(arm, "audit", "folder", records->audit);
	arm_observers_give(arm, "audit-bytes", "folder", records->audit);
	arm_observers_give(arm, "correlation", "audit", records->audit);
	arm_observers_give(arm, "correlation-pg", "audit", records->audit);
	arm_observers_give(arm, "output", "folder", records->folder);
	snprintf(path, sizeof(path), "/proc/%d", (int)arm->gateway.pid);
	process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	arm_observers_give(arm, "children", "gateway", process);
}

int arm_records_look(struct arm *arm, struct error **err)
{
	for (size_t i = 0; lookers[i]; i++)
		if (arm_observers_ask(arm, lookers[i], WIRE_BEFORE, err) < 0)
			return -1;
	for (size_t i = 0; lookers[i]; i++)
		if (arm_observers_take(arm, lookers[i], WIRE_BEFORE, err) < 0)
			return -1;
	return 0;
}

/* The gateway opened its database by now, and its own marker is there. One that is started anew would refuse it. */
int arm_records_trap(const struct arm *arm, bool set, struct error **err)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int read_end = -1, write_end = -1;
	char path[PATH_MAX], name[] = "audit-trap", database[PATH_MAX + sizeof("/" ARM_AUDIT "/audit.db")];
	char *argv[] = { name, database, NULL };
	int status = -1;

	if (arm->scenario.peer.at != PEER_AUDIT)
		return 0;
	snprintf(database, sizeof(database), "%s/" ARM_AUDIT "/audit.db", arm->path);
	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&read_end, &write_end, err) < 0 ||
	    fd_write_all(write_end, arm->subjects[0].canary.text, set ? CANARY_LENGTH : 0, clock_deadline(MARKER_MS),
			 err) < 0)
		return -1;
	fd_close(&write_end);

	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = path, .argv = argv, .fds = { { .from = read_end, .to = 0 } }, .fds_count = 1,
	};
	if (spawn(&options, &child, err) < 0 || child_wait(&child, clock_deadline(MARKER_MS), &status, err) < 0)
		return -1;
	return status == 0 ? 0 : error_set(err, ERROR_PROTOCOL, "the audit database took no trap");
}

int arm_records_behind(struct arm *arm, struct error **err)
{
	cleanup_fd int file = -1, out_read = -1, out_write = -1;
	char path[PATH_MAX], name[] = "refusals";
	char *argv[] = { name, NULL };

	if (arm->records.folder < 0)
		return 0;
	file = openat(arm->records.folder, "answers", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return error_errno(err, errno, "the file of the gateway's refusals");
	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&out_read, &out_write, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = { { .from = arm->gateway_out, .to = 0 },
			 { .from = out_write, .to = 1 },
			 { .from = file, .to = 3 } },
		.fds_count = 3,
	};
	child_end(&arm->records.refusals);
	if (spawn(&options, &arm->records.refusals, err) < 0)
		return -1;
	fd_close(&arm->gateway_out);
	arm->gateway_out = steal_fd(&out_read);
	return 0;
}

void arm_records_finish(struct arm *arm)
{
	if (arm->records.folder < 0)
		return;
	arm_gateway_end(arm);
	mark(arm, WIRE_AFTER);
	arm_observers_beacon(arm, WIRE_AFTER);
}

void arm_records_close(struct arm *arm)
{
	struct arm_records *records = &arm->records;

	child_end(&records->hostile);
	child_end(&records->refusals);
	fd_close(&records->folder);
	fd_close(&records->audit);
	fd_close(&records->errors);
}
