/* The registry of mutations. */
#include <string.h>

#include "mutations/mutation.h"

const struct mutation *mutation_find(const char *id)
{
	for (size_t i = 0; mutations[i]; i++)
		if (strcmp(mutations[i]->id, id) == 0)
			return mutations[i];
	return NULL;
}

int mutations_apply(const char (*removes)[NAME_MAX_SHORT], size_t count, struct session_options *options,
		    struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		const struct mutation *mutation = mutation_find(removes[i]);

		if (!mutation)
			return error_set(err, ERROR_INTERNAL, "no mutation removes this protection");
		mutation->apply(options);
		for (size_t rule = 0; mutation->must_fail[rule]; rule++)
			if (!rule_set_add_id(&options->must_fail, mutation->must_fail[rule]))
				return error_set(err, ERROR_INTERNAL,
						 "mutation %s names a rule that admission does not have", mutation->id);
	}
	return 0;
}

const char *const mutation_ids[] = {
	"network",
	"network-bridge",
	"read-only",
	"log-driver",
	"sink-ceiling",
	"watchdog",
	"ack",
	"strict-frames",
	"frame-limit",
	"stdout-limit",
	"stderr-limit",
	"call-limit",
	"session-limit",
	"pids",
	"memory",
	"restart",
	"core",
	"fail-closed",
	"gateway-deadline",
	"policy",
	"policy-lock",
	"watch-network",
	"watch-update",
	"watch-exec",
	"watch-attach",
	"watch-rename",
	"watch-interface",
	"watch-core-pattern",
	"watchdog-pidfd",
	"mutant-log",
	"mutant-span",
	"mutant-row",
	"mutant-error-text",
	"mutant-ceiling-once",
	"mutant-no-response-ceiling",
	"mutant-falls",
	"mutant-unscanned",
	"mutant-audit-open",
	"mutant-unmeasured",
	"mutant-environment",
	"mutant-descriptors",
	NULL,
};

const struct mutation *const mutations[] = {
	&mutation_network,
	&mutation_network_bridge,
	&mutation_read_only,
	&mutation_log_driver,
	&mutation_sink_ceiling,
	&mutation_watchdog,
	&mutation_ack,
	&mutation_strict_frames,
	&mutation_frame_limit,
	&mutation_stdout_limit,
	&mutation_stderr_limit,
	&mutation_call_limit,
	&mutation_session_limit,
	&mutation_pids,
	&mutation_memory,
	&mutation_restart,
	&mutation_core,
	&mutation_fail_closed,
	&mutation_gateway_deadline,
	&mutation_policy,
	&mutation_policy_lock,
	&mutation_watch_network,
	&mutation_watch_update,
	&mutation_watch_exec,
	&mutation_watch_attach,
	&mutation_watch_rename,
	&mutation_watch_interface,
	&mutation_watch_core_pattern,
	&mutation_watchdog_pidfd,
	&mutation_gateway_log,
	&mutation_gateway_span,
	&mutation_gateway_row,
	&mutation_gateway_error_text,
	&mutation_gateway_ceiling_once,
	&mutation_gateway_no_response_ceiling,
	&mutation_gateway_falls,
	&mutation_gateway_unscanned,
	&mutation_gateway_audit_open,
	&mutation_gateway_unmeasured,
	&mutation_gateway_environment,
	&mutation_gateway_descriptors,
	NULL,
};
