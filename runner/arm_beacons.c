/* The markers that the arm sends from outside to what listens, and the wait until each was seen. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/beacon.h"
#include "runner/arm.h"

/* A helper inside the container's namespace sends the marker there: one datagram on its own loopback. */
static int beacon_netns(struct arm *arm, struct observer_process *observer, enum wire_phase phase, struct error **err)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int read_end = -1, write_end = -1;
	char path[PATH_MAX], name[] = "netns-beacon", port[8];
	char *argv[] = { name, port, NULL };
	int status = -1;

	snprintf(port, sizeof(port), "%u", observer_port(observer, arm_marker_names[phase]));
	if (spawn_helper_path("netns-beacon", path, sizeof(path), err) < 0 || fd_pipe(&read_end, &write_end, err) < 0 ||
	    fd_write_all(write_end, arm->markers[phase].text, CANARY_LENGTH, clock_deadline(ARM_BEACON_MS), err) < 0)
		return -1;
	fd_close(&write_end);

	struct spawn_options options = {
		SPAWN_DEFAULTS, .path = path, .argv = argv, .fds = { { .from = read_end, .to = 0 } }, .fds_count = 1,
	};
	options.netns = arm->session.netns >= 0 ? arm->session.netns : arm->netns;
	if (spawn(&options, &child, err) < 0 || child_wait(&child, clock_deadline(ARM_BEACON_MS), &status, err) < 0)
		return -1;
	return status == 0 ? 0 : error_set(err, ERROR_PROTOCOL, "the beacon in the container's namespace failed");
}

static int send_beacon(struct arm *arm, struct observer_process *observer, enum wire_phase phase, struct error **err)
{
	const struct observer_kind *kind = observer_kind(observer);
	const struct canary *marker = &arm->markers[phase];
	int64_t deadline = clock_deadline(ARM_BEACON_MS);

	if (strcmp(kind->id, "spans") == 0)
		return beacon_spans(kind->argument, observer_port(observer, arm_marker_names[phase]), marker, deadline,
				    err);
	if (strcmp(kind->id, "capture-netns") == 0)
		return beacon_netns(arm, observer, phase, err);
	if (strcmp(kind->id, "capture-host") == 0)
		return beacon_udp("127.0.0.1", observer_port(observer, arm_marker_names[phase]), marker, err);
	for (size_t i = 0; i < arm->subjects_count; i++) {
		const struct arm_subject *subject = &arm->subjects[i];

		if (!subject->route->observer || strcmp(subject->route->observer, kind->id) != 0 || subject->port == 0)
			continue;
		if (strcmp(kind->program, "observer-udp") == 0)
			return beacon_dns(kind->argument, subject->port, marker, err);
		if (strcmp(kind->program, "observer-tcp") == 0 &&
		    beacon_tcp((kind->needs & OBSERVER_NIC) ? arm->context.nic : kind->argument, subject->port, marker,
			       deadline, err) < 0)
			return -1;
	}
	return 0;
}

static bool has_beacon(const struct observer_kind *kind)
{
	return strcmp(kind->program, "observer-tcp") == 0 || strcmp(kind->program, "observer-udp") == 0 ||
	       strcmp(kind->program, "observer-capture") == 0 || strcmp(kind->id, "spans") == 0;
}

/* What a gateway still has to send comes behind the marker of the others. */
static bool sends_now(const struct arm *arm, const struct observer_kind *kind, enum wire_phase phase)
{
	return has_beacon(kind) && (strcmp(kind->id, "spans") != 0 || phase == WIRE_BEFORE || !arm->gateway.pid);
}

/* All are sent before the first is waited for. */
void arm_observers_beacon(struct arm *arm, enum wire_phase phase)
{
	int64_t deadline;

	for (size_t i = 0; i < arm->observers_count; i++) {
		cleanup_error struct error *ignored = NULL;

		if (sends_now(arm, observer_kind(arm->observers[i]), phase) && !observer_lost(arm->observers[i]) &&
		    !observer_seen(arm->observers[i], NULL, phase) &&
		    send_beacon(arm, arm->observers[i], phase, &ignored) < 0)
			arm_note(arm, "beacon-lost", observer_kind(arm->observers[i])->id, clock_now());
	}
	deadline = clock_deadline(ARM_BEACON_MS);
	for (size_t i = 0; i < arm->observers_count; i++) {
		cleanup_error struct error *ignored = NULL;

		if (sends_now(arm, observer_kind(arm->observers[i]), phase) &&
		    observer_wait_seen(arm->observers[i], NULL, phase, deadline, &ignored) < 0)
			arm_note(arm, "beacon-lost", observer_kind(arm->observers[i])->id, clock_now());
	}
}
