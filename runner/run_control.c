#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/run.h"

#define CONTROL_MS 10000

static const char *const must_fail[] = { "read-only-root", "log-driver" };

/* Kept output and a writable root; confined in everything else, and admitted like any arm. */
static int control_options(struct session_options *options, struct error **err)
{
	session_options_reference(options);
	options->profile.read_only_root = false;
	options->profile.log_driver = "json-file";
	for (size_t i = 0; i < ARRAY_SIZE(must_fail); i++)
		if (!rule_set_add_id(&options->must_fail, must_fail[i]))
			return error_set(err, ERROR_INTERNAL, "the control container's rules are not admission's");
	return 0;
}

static int give_orders(struct session *session, const struct canary *marker, struct error **err)
{
	cleanup_buf struct buf orders = BUF(4 * KIB);
	int status;

	(void)buf_printf(&orders, "probe stderr %s - 0\nprobe file %s /export/control 0\nthen exit\n", marker->text,
			 marker->text);
	status = buf_check(&orders, "the control's orders", err);
	if (status == 0)
		status = fd_write_all(session->attach, orders.data, orders.length, clock_deadline(CONTROL_MS), err);
	buf_wipe(&orders);
	return status;
}

static int converse(struct run *run, struct session *session, struct error **err)
{
	int64_t exit_code = -1;

	if (session_create(session, "control", err) < 0 || session_attach(session, err) < 0 ||
	    session_start(session, err) < 0 || session_started(session, err) < 0 ||
	    give_orders(session, &run->context.control_marker, err) < 0 ||
	    session_exited(session, clock_deadline(CONTROL_MS), &exit_code, err) < 0)
		return -1;
	if (exit_code != 2)
		return error_set(err, ERROR_ENGINE, "the control container made other tries than its two");
	return 0;
}

int run_control_start(struct run *run, struct error **err)
{
	struct session_target target = {
		.socket = run->context.socket,
		.run = run->context.run,
		.image = run->context.image,
		.image_inspect = json_root(run->image_inspect),
		.info = json_root(run->info),
	};
	struct session_options options;
	struct session session;
	int status;

	if (control_options(&options, err) < 0 || canary_new(&run->context.control_marker, err) < 0)
		return -1;
	session_init(&session, run->engine, &target, &options);
	status = converse(run, &session, err);
	if (status == 0) {
		snprintf(run->context.control, sizeof(run->context.control), "%s", session.container);
		session.removed = true; /* it stays for the run: its log and its changes are read by every arm */
	}
	if (session_end(&session, err) < 0 || status < 0)
		return error_wrap(err, "the control container");
	return 0;
}

int run_control_end(struct run *run, struct error **err)
{
	int status;

	if (!run->context.control[0])
		return 0;
	status = engine_remove(run->engine, run->context.control, err);
	run->context.control[0] = '\0';
	return status;
}
