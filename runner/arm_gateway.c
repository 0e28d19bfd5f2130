/* The gateway of one arm, of whatever kind, with the recorder behind it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm.h"

#define END_MS 1000
#define WRITTEN_MS 4000

struct gateway_row {
	int (*begin)(struct arm *arm, struct error **err); /* or NULL */
	int (*start)(struct arm *arm, struct error **err);
	void (*end)(struct arm *arm); /* or NULL: the end of its stdin ends it */
	int64_t slow_ms; /* to end and start anew, at most */
	bool decides; /* writes the decisions file */
};
static const struct gateway_row rows[];

static const struct gateway_row *row_of(const struct arm *arm)
{
	return &rows[arm->context.gateway.kind];
}

static int payload_file(const struct arm *arm, const char *name, int *out, struct error **err)
{
	*out = openat(arm->folder, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *out < 0 ? error_errno(err, errno, "a payload file of the arm") : 0;
}

/* They are there before anything is written to them. */
int arm_gateway_files(struct arm *arm, struct error **err)
{
	if ((arm->recorder < 0 && payload_file(arm, "recorder", &arm->recorder, err) < 0) ||
	    (arm->decisions < 0 && payload_file(arm, "decisions", &arm->decisions, err) < 0))
		return -1;
	return 0;
}

int arm_gateway_begin(struct arm *arm, struct error **err)
{
	if (arm_gateway_files(arm, err) < 0)
		return -1;
	return row_of(arm)->begin ? row_of(arm)->begin(arm, err) : 0;
}

int arm_gateway_start(struct arm *arm, struct error **err)
{
	return row_of(arm)->start(arm, err) < 0 ? -1 : arm_records_behind(arm, err);
}

int64_t arm_gateway_slowness(const struct arm *arm)
{
	return row_of(arm)->slow_ms;
}

bool arm_gateway_decides(const struct arm *arm)
{
	return row_of(arm)->decides;
}

int arm_gateway_sink(const struct arm *arm, int *out, struct error **err)
{
	const char *elsewhere = arm->context.gateway.sink;

	*out = elsewhere[0] ? open(elsewhere, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
			    : openat(arm->folder, "recorder", O_RDONLY | O_CLOEXEC);
	return *out < 0 ? error_errno(err, errno, "the recorder's file") : 0;
}

/* The end of its stdin ends each that reads one. */
static void end_child(struct child *child, int64_t milliseconds)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	if (child->pid && child_wait(child, clock_deadline(milliseconds), &status, &ignored) < 0)
		child_signal(child, SIGKILL);
	child_end(child);
}

void arm_gateway_end(struct arm *arm)
{
	fd_close(&arm->gateway_in);
	fd_close(&arm->gateway_out);
	fd_close(&arm->gateway_life);
	if (row_of(arm)->end)
		row_of(arm)->end(arm);
	/* One that writes down what it does has to send the last of it. */
	end_child(&arm->gateway, arm->records.folder < 0 ? END_MS : WRITTEN_MS);
	end_child(&arm->relay, END_MS);
	end_child(&arm->records.refusals, END_MS);
}

static const struct gateway_row rows[] = {
	[GATEWAY_EMBEDDED] = { .start = gateway_embedded_start, .decides = true },
	[GATEWAY_CMCP] = { .begin = gateway_cmcp_begin,
			   .start = gateway_cmcp_start,
			   .end = gateway_cmcp_end,
			   .slow_ms = 6000 },
	[GATEWAY_URL] = { .start = gateway_url_start },
};
