/*
 * A mutation takes one protection away: it changes a copy of the session's options, names the admission rules that must
 * then refuse, and the fields of the effective configuration that may differ from the control's. Nothing else may.
 */
#ifndef HARNESS_MUTATIONS_MUTATION_H
#define HARNESS_MUTATIONS_MUTATION_H

#include "adapter/session.h"

struct mutation {
	const char *id; /* the protection that is taken away */
	const char *title; /* one line for `harness list` */
	void (*apply)(struct session_options *options);
	const char *const *must_fail; /* admission rules, NULL-terminated; empty when admission does not look there */
	const char *const *may_differ; /* fields of the effective configuration; a trailing '*' matches a prefix */
};

extern const struct mutation mutation_network;
extern const struct mutation mutation_network_bridge;
extern const struct mutation mutation_read_only;
extern const struct mutation mutation_log_driver;
extern const struct mutation mutation_sink_ceiling;
extern const struct mutation mutation_watchdog;
extern const struct mutation mutation_ack;
extern const struct mutation mutation_strict_frames;
extern const struct mutation mutation_frame_limit;
extern const struct mutation mutation_stdout_limit;
extern const struct mutation mutation_stderr_limit;
extern const struct mutation mutation_call_limit;
extern const struct mutation mutation_session_limit;
extern const struct mutation mutation_pids;
extern const struct mutation mutation_memory;
extern const struct mutation mutation_restart;
extern const struct mutation mutation_core;
extern const struct mutation mutation_fail_closed;
extern const struct mutation mutation_gateway_deadline;
extern const struct mutation mutation_policy;
extern const struct mutation mutation_policy_lock;
extern const struct mutation mutation_watch_network;
extern const struct mutation mutation_watch_update;
extern const struct mutation mutation_watch_exec;
extern const struct mutation mutation_watch_attach;
extern const struct mutation mutation_watch_rename;
extern const struct mutation mutation_watch_interface;
extern const struct mutation mutation_watch_core_pattern;
extern const struct mutation mutation_watchdog_pidfd;
extern const struct mutation mutation_gateway_log;
extern const struct mutation mutation_gateway_span;
extern const struct mutation mutation_gateway_row;
extern const struct mutation mutation_gateway_error_text;
extern const struct mutation mutation_gateway_ceiling_once;
extern const struct mutation mutation_gateway_no_response_ceiling;
extern const struct mutation mutation_gateway_falls;
extern const struct mutation mutation_gateway_unscanned;
extern const struct mutation mutation_gateway_audit_open;
extern const struct mutation mutation_gateway_unmeasured;
extern const struct mutation mutation_gateway_environment;
extern const struct mutation mutation_gateway_descriptors;

/* Every mutation, NULL-terminated, and their ids. */
extern const struct mutation *const mutations[];
extern const char *const mutation_ids[];
const struct mutation *mutation_find(const char *id);

/* Applies each protection of `removes` to the options and adds its rules to options->must_fail. An unknown protection
 * or rule is ERROR_INTERNAL: the scenario loader has checked the names. */
int mutations_apply(const char (*removes)[NAME_MAX_SHORT], size_t count, struct session_options *options,
		    struct error **err) MUST_CHECK;

#endif
