/* A gateway behind HTTP: the bridge speaks to a relay of ours by its two pipes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "runner/arm.h"

#define RELAY_FD_TOKEN 3
#define CALL_MS_MAX (60 * 60 * 1000)

/* The bridge gives a call up first, and says so. */
static long long call_ms(const struct arm *arm)
{
	int64_t ms = 2 * arm->options.limits.gateway_call_ms;

	return ms > CALL_MS_MAX ? CALL_MS_MAX : (long long)ms;
}

int gateway_http_relay(struct arm *arm, const char *url, int token, struct error **err)
{
	cleanup_fd int in_read = -1, out_write = -1, none = -1;
	char path[PATH_MAX], name[] = "mcp-http", address[GATEWAY_URL_BYTES], time[24];
	char *argv[] = { name, address, time, NULL };

	snprintf(address, sizeof(address), "%s", url);
	snprintf(time, sizeof(time), "%lld", call_ms(arm));
	if (token < 0) {
		none = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (none < 0)
			return error_errno(err, errno, "no token");
	}
	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || fd_pipe(&in_read, &arm->gateway_in, err) < 0 ||
	    fd_pipe(&arm->gateway_out, &out_write, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = {
			{ .from = in_read, .to = 0 },
			{ .from = out_write, .to = 1 },
			{ .from = token < 0 ? none : token, .to = RELAY_FD_TOKEN },
		},
		.fds_count = 3,
	};
	options.cpu = arm->session.cpu;
	return spawn(&options, &arm->relay, err) < 0 ? error_wrap(err, "the gateway's relay") : 0;
}

/* Whether a ceiling of this arm is another than the reference session's: the mutant's. */
static bool is_raised(const struct arm *arm)
{
	struct session_options reference;

	session_options_reference(&reference);
	return arm->options.ceilings_count != reference.ceilings_count ||
	       memcmp(arm->options.ceilings, reference.ceilings, sizeof(reference.ceilings)) != 0;
}

int gateway_url_start(struct arm *arm, struct error **err)
{
	const struct arm_gateway_choice *choice = &arm->context.gateway;
	const char *url = is_raised(arm) ? choice->raised : choice->url;
	cleanup_fd int token = -1;

	if (!url[0])
		return error_set(err, ERROR_INTERNAL, "the arm needs the gateway with the raised ceiling");
	if (choice->token[0]) {
		token = open(choice->token, O_RDONLY | O_CLOEXEC);
		if (token < 0)
			return error_errno(err, errno, "the file of the gateway's token");
	}
	return gateway_http_relay(arm, url, token, err);
}
