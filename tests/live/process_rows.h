/* What `run all` must bring out of the arms whose process crashes, leaves, stalls, goes silent or takes too much. */
#ifndef HARNESS_TESTS_LIVE_PROCESS_ROWS_H
#define HARNESS_TESTS_LIVE_PROCESS_ROWS_H

#include "tests/live/peer_rows.h"

#define PROCESS_MIB (INT64_C(1) << 20)

/* What the baseline's probes brought out before it. */
#define PROCESS_SINKS                                                                                                  \
	{ "permitted", "deliveries", '=', 1, false }, { "denied", "deliveries", '=', 0, false },                       \
		{ "tcp4", "tcp4", '=', 0, false }, { "dns", "dns", '=', 0, false },                                    \
		{ "tcp4-nic", "capture-host", '=', 0, false }, { "file", "files-upper", '=', 0, false },               \
		{ "file", "files-root", '=', 0, false }, { "stderr", "logs-disk", '=', 0, false },                     \
		{ "starts", "state", '=', 1, false },                                                                  \
	{                                                                                                              \
		"alive", "state", '=', 0, false                                                                        \
	}
#define PROCESS_DEAD(seconds)                                                                                          \
	{ "loss_to_dead", "state", '<', (seconds)*PEER_S, false },                                                     \
	{                                                                                                              \
		"loss_to_dead", "state", '>', 1, false                                                                 \
	}
#define PROCESS_LEFT(code)                                                                                             \
	PROCESS_SINKS, PROCESS_DEAD(1), { "restarts", "state", '=', 0, false },                                        \
		{ "exit-code", "state", '=', (code), false },                                                          \
	{                                                                                                              \
		.subject = NULL                                                                                        \
	}

static const struct row process_segv[] = {
	{ "core-files", "files-archive", '=', 0, false },
	{ "core-files", "files-upper", '=', 0, false },
	PROCESS_LEFT(139),
};
static const struct row process_abrt[] = { PROCESS_LEFT(134) };
static const struct row process_quit[] = { PROCESS_LEFT(131) };
static const struct row process_early[] = { PROCESS_LEFT(7) };
static const struct row process_restarted[] = {
	{ "restarts", "state", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_core[] = {
	{ "core-files", "files-archive", '=', 1, false },
	{ "core-files", "files-upper", '=', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_stalls[] = {
	PROCESS_SINKS,
	PROCESS_DEAD(3),
	{ "after", "deliveries", '=', 0, false },
	{ "descriptors", "state", '=', 3, false },
	{ .subject = NULL },
};
static const struct row process_stalls_longer[] = {
	{ "after", "deliveries", '=', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_silent[] = {
	PROCESS_SINKS,
	PROCESS_DEAD(3),
	{ "descriptors", "state", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_deaf[] = {
	PROCESS_SINKS,
	PROCESS_DEAD(3),
	{ "term-ignored", "state", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_unheard[] = { PROCESS_SINKS, PROCESS_DEAD(1), { .subject = NULL } };
static const struct row process_lives_four[] = {
	{ "loss_to_dead", "state", '>', 4 * PEER_S, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_lives_two[] = {
	{ "loss_to_dead", "state", '>', 2 * PEER_S, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_forks[] = {
	PROCESS_SINKS,
	{ "processes", "state", '<', 32, false },
	{ "processes", "state", '>', 31, false },
	{ "process-limit", "state", '>', 1, false },
	{ .subject = NULL },
};
static const struct row process_forks_more[] = {
	{ "processes", "state", '>', 65, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
static const struct row process_allocates[] = {
	PROCESS_SINKS,
	{ "memory", "state", '<', 128 * PROCESS_MIB, false },
	{ "memory", "state", '>', 120 * PROCESS_MIB, false },
	{ "oom-kills", "state", '>', 1, false },
	{ .subject = NULL },
};
static const struct row process_allocates_more[] = {
	{ "memory", "state", '>', 192 * PROCESS_MIB, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};
#define PROCESS_ARMS                                                                                                   \
	{ "failure/crash-segv", process_segv }, { "failure/crash-abrt", process_abrt },                                \
		{ "failure/crash-quit", process_quit }, { "failure/exits-early", process_early },                      \
		{ "failure/crash-segv-restarted", process_restarted },                                                 \
		{ "failure/crash-abrt-restarted", process_restarted },                                                 \
		{ "failure/crash-quit-restarted", process_restarted },                                                 \
		{ "failure/exits-early-restarted", process_restarted }, { "failure/crash-segv-core", process_core },   \
		{ "failure/stalls", process_stalls }, { "failure/stalls-longer", process_stalls_longer },              \
		{ "failure/closes-output", process_silent }, { "failure/closes-output-longer", process_lives_four },   \
		{ "failure/ignores-signals", process_deaf }, { "failure/ignores-signals-longer", process_lives_four }, \
		{ "failure/ignores-end", process_unheard }, { "failure/ignores-end-unwatched", process_lives_two },    \
		{ "failure/forks", process_forks }, { "failure/forks-more", process_forks_more },                      \
		{ "failure/allocates", process_allocates },                                                            \
	{                                                                                                              \
		"failure/allocates-more", process_allocates_more                                                       \
	}

#define PROCESS_RESTART "inspect.HostConfig.RestartPolicy.Name inspect.HostConfig.RestartPolicy.MaximumRetryCount "

#define PROCESS_DIFFERENCES                                                                                            \
	{ "failure/crash-segv-restarted", "failure/crash-segv", PROCESS_RESTART },                                     \
		{ "failure/exits-early-restarted", "failure/exits-early", PROCESS_RESTART },                           \
		{ "failure/crash-segv-core", "failure/crash-segv",                                                     \
		  "inspect.HostConfig.ReadonlyRootfs inspect.HostConfig.Ulimits inspect.Config.WorkingDir "            \
		  "kernel.limits kernel.mounts " },                                                                    \
		{ "failure/stalls-longer", "failure/stalls", "session.limits.session-ms " },                           \
		{ "failure/forks-more", "failure/forks", "inspect.HostConfig.PidsLimit kernel.cgroup.pids " },         \
	{                                                                                                              \
		"failure/ignores-end-unwatched", "failure/ignores-end", "session.watchdog "                            \
	}

#endif
