#include "reports/routes.h"

#include <stddef.h>
#include <string.h>

bool route_has(const char *const *list, const char *id)
{
	for (; list && *list; list++)
		if (strcmp(*list, id) == 0)
			return true;
	return false;
}

static bool stands_for(const char *pattern, const char *id)
{
	size_t length = strlen(pattern);

	if (length && pattern[length - 1] == '*')
		return strncmp(pattern, id, length - 1) == 0;
	return strcmp(pattern, id) == 0;
}

bool route_has_scenario(const struct route *route, const char *id)
{
	for (const char *const *pattern = route->scenarios; pattern && *pattern; pattern++)
		if (stands_for(*pattern, id))
			return true;
	return false;
}

#define IDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const struct route routes[] = {
	{ .id = "initial-input",
	  .title = "the initial frame, which gives the agent its plaintext",
	  .mediator = "Admission, both halves, before the first byte. The session has its label before the agent has "
		      "the frame, and a ceiling stands before each sink.",
	  .missing = "Nothing is sent to a container that admission refuses, or whose watchdog could not be armed. "
		     "Without the ceiling the same frame reaches the public sink.",
	  .rest = "That the label fits the data: whoever composes a session says so.",
	  .subjects = IDS("permitted", "denied"),
	  .observers = IDS("deliveries", "decisions"),
	  .mutations = IDS("sink-ceiling"),
	  .scenarios = IDS("baseline", "baseline-again", "mutation/sink-ceiling"),
	  .rules = IDS("container-id", "create-warnings", "labels") },
	{ .id = "returned-results",
	  .title = "what a tool answers, and what the session may do behind it",
	  .mediator = "The gateway: a ceiling for answers; a session whose label only rises; ceilings that are looked "
		      "at again right before a call goes out.",
	  .missing = "An answer above the ceiling is given; a session that read something confidential reaches the "
		     "public sink.",
	  .subjects = IDS("audit-allow", "audit-deny", "denied-then", "raising", "raised"),
	  .observers = IDS("audit", "deliveries"),
	  .mutations = IDS("mutant-no-response-ceiling", "mutant-falls", "mutant-ceiling-once"),
	  .scenarios = IDS("telemetry/response-ceiling*", "telemetry/stays-raised*", "telemetry/raised-meanwhile*") },
	{ .id = "approved-arguments",
	  .title = "the arguments of approved tools: in a value, a key, a URL, or in what looks like a command",
	  .mediator = "The bridge calls the operator's aliases alone; the gateway decides by labels and ceilings, and "
		      "scans arguments.",
	  .missing = "A dangerous argument goes out. An argument of an approved tool arrives in any case: that is what "
		     "the approval says.",
	  .rest = "What an approved tool does with what it received.",
	  .subjects = IDS("permitted", "permitted-again", "in-key", "in-url", "in-blocked"),
	  .observers = IDS("deliveries", "decisions", "audit"),
	  .mutations = IDS("mutant-unscanned"),
	  .scenarios = IDS("telemetry/arguments", "telemetry/arguments-unscanned", "failure/split-frame") },
	{ .id = "other-tools",
	  .title = "tools that are not approved for these data, a name that no catalog has, a program that nobody "
		   "declared",
	  .mediator = "The gateway: unlisted is denied, a ceiling for each sink, the upstream's program measured "
		      "before it starts.",
	  .missing =
		  "The public sink receives the canary; another program than the declared one is started and called.",
	  .subjects = IDS("denied", "denied-then", "raised", "tool-name"),
	  .observers = IDS("deliveries", "decisions", "audit", "output"),
	  .mutations = IDS("sink-ceiling", "mutant-ceiling-once", "mutant-falls", "mutant-unmeasured"),
	  .scenarios = IDS("baseline", "mutation/sink-ceiling", "telemetry/arguments", "telemetry/raised-meanwhile*",
			   "telemetry/stays-raised*", "telemetry/undeclared*") },
	{ .id = "revoked-tools",
	  .title = "a tool that the operator takes away while the session lives",
	  .mediator = "The policy gate of the bridge: rising revisions, acknowledged behind the calls that were "
		      "admitted before.",
	  .missing = "The revoked tool is reached; or a call that was under way arrives behind the acknowledgment.",
	  .subjects = IDS("permitted-again", "permitted-third", "slow", "slow-ahead", "late"),
	  .observers = IDS("deliveries", "decisions"),
	  .mutations = IDS("policy", "policy-lock"),
	  .scenarios = IDS("policy/*") },
	{ .id = "authorised-effect",
	  .title = "an approved call that makes an effect: an order",
	  .mediator = "The gateway; call, entry of the audit chain and row are joined by an observer that reads both.",
	  .missing = "An order without a call, a second order of one call, a copied call id: each is a finding, and "
		     "fails its arm. In effects/forged-* an order service makes each of them, and each must be found.",
	  .rest = "No mutant takes the gateway away, and no one judges the order of a call that it allows.",
	  .subjects =
		  IDS("order-gateway", "order-again", "transactions", "roles-other", "joined", "row-without-call",
		      "call-without-row", "row-again", "copied-id", "row-of-denied", "call-again", "row-without-id"),
	  .observers = IDS("orders", "orders-pg", "correlation", "correlation-pg", "audit"),
	  .scenarios = IDS("effects/order-gateway", "effects/pg/order-gateway", "effects/order-twice",
			   "effects/forged-again", "effects/forged-answer", "effects/forged-denied",
			   "effects/forged-failure", "effects/forged-id", "effects/forged-id-alike",
			   "effects/forged-own", "effects/forged-rollback") },
	{ .id = "other-endpoints",
	  .title = "the agent's own connections and datagrams: IPv4, IPv6, DNS, the host's address, the endpoint of a "
		   "service",
	  .mediator = "Network none: a network namespace with a loopback alone.",
	  .missing = "Admission refuses. Where that is waived, each probe reaches what listens on the host's loopback, "
		     "or on the engine's bridge.",
	  .subjects = IDS("tcp4", "tcp6", "dns", "tcp4-nic", "order-http", "interfaces", "packets-other"),
	  .observers = IDS("tcp4", "tcp6", "tcp4-nic", "dns", "capture-host", "capture-netns", "attempts", "orders",
			   "orders-pg"),
	  .mutations = IDS("network", "network-bridge"),
	  .scenarios = IDS("baseline", "baseline-again", "mutation/network", "mutation/network-bridge",
			   "effects/order-create", "effects/order-gateway", "effects/order-network",
			   "effects/pg/order-create", "effects/pg/order-gateway", "effects/pg/order-network"),
	  .rules = IDS("network-mode", "networks", "ports", "publish-all", "exposed-ports", "extra-hosts", "dns",
		       "links", "domain-name", "ns-net", "interfaces") },
	{ .id = "network-changes",
	  .title = "a network or an interface that appears while the session lives",
	  .mediator = "The watch over the session: the engine's events, another inspection, link events in the "
		      "container's namespace.",
	  .missing = "The session goes on, and what the agent sends over the new interface arrives.",
	  .subjects = IDS("tcp4-nic", "networks-changed", "loss_to_dead"),
	  .observers = IDS("tcp4-nic", "capture-host", "state"),
	  .mutations = IDS("watch-network", "watch-interface"),
	  .scenarios = IDS("watch/connect*", "watch/disconnect*", "watch/interface*") },
	{ .id = "children",
	  .title = "child processes of the agent",
	  .mediator = "The same namespaces and limits as their parent's; a maximum of processes.",
	  .missing = "Without the network's protection a child connects as its parent does; without the maximum 64 "
		     "children live.",
	  .subjects = IDS("tcp4-child", "order-child", "processes", "process-limit"),
	  .observers = IDS("tcp4", "capture-host", "attempts", "orders", "orders-pg", "state"),
	  .mutations = IDS("network", "pids"),
	  .scenarios = IDS("baseline", "mutation/network", "effects/order-create", "effects/order-network",
			   "effects/pg/order-create", "effects/pg/order-network", "failure/forks*"),
	  .rules = IDS("network-mode", "networks", "ns-net", "interfaces", "pids-limit", "cgroup-pids", "pid-mode",
		       "ns-pid", "init") },
	{ .id = "files",
	  .title = "files: contents, names, links and attributes, also of a file that somebody imports",
	  .mediator = "A read-only root, no mounts, no volumes, no tmpfs; what can be written lies in memory and ends "
		      "with the container.",
	  .missing = "Admission refuses. Where that is waived, the canary is in /export, seen in four ways, and the "
		     "import makes an order of it.",
	  .rest = "Bind mounts, volumes and tmpfs are refused at admission; no mutant adds one. Files in /dev/shm are "
		  "not looked for.",
	  .subjects = IDS("file", "file-name", "file-link", "file-xattr", "order-file"),
	  .observers = IDS("files-archive", "files-changes", "files-upper", "files-root", "orders", "orders-pg"),
	  .mutations = IDS("read-only"),
	  .scenarios = IDS("baseline", "baseline-again", "mutation/read-only", "effects/order-create",
			   "effects/order-read-only", "effects/pg/order-create", "effects/pg/order-read-only"),
	  .rules = IDS("read-only-root", "binds", "mounts", "mount-points", "volumes", "volumes-from", "volume-driver",
		       "tmpfs", "shm-size", "storage-options", "id-file", "image-volumes", "masked-paths",
		       "read-only-paths", "ns-mnt", "writable-mounts", "proc-sys") },
	{ .id = "inherited",
	  .title = "inherited descriptors and environment, of the agent and of the gateway's tools",
	  .mediator = "The agent has descriptors 0, 1 and 2 and no environment; an upstream has what its row of the "
		      "catalog lists.",
	  .missing = "The upstream holds a descriptor, or the environment, of the gateway.",
	  .rest = "The agent's own descriptors and environment are looked at by admission alone.",
	  .subjects = IDS("upstream-descriptors", "upstream-environment", "upstream-children"),
	  .observers = IDS("children"),
	  .mutations = IDS("mutant-descriptors", "mutant-environment"),
	  .scenarios = IDS("telemetry/arguments", "telemetry/descriptors-inherited", "telemetry/environment-inherited"),
	  .rules = IDS("descriptors", "environment") },
	{ .id = "stdout",
	  .title = "standard output: what is no frame, too long, too much, or one call too many",
	  .mediator =
		  "The bridge's parser and its bounds. Nothing of standard output goes on but the arguments of a call.",
	  .missing = "What is no frame is passed over and the agent goes on: its next call is delivered.",
	  .subjects = IDS("after", "written", "attempted"),
	  .observers = IDS("deliveries", "decisions", "state"),
	  .mutations = IDS("strict-frames", "frame-limit", "stdout-limit", "call-limit"),
	  .scenarios = IDS("failure/raw-text*", "failure/hostile-*", "failure/extra-*", "failure/split-frame",
			   "failure/oversized-*", "failure/seventeen-calls*") },
	{ .id = "stderr-and-logs",
	  .title = "standard error, and the log that an engine keeps of a container",
	  .mediator = "Log driver none; the bridge counts standard error and drops it, within a bound.",
	  .missing = "Admission refuses. Where that is waived, the canary is in the container's log, by the engine's "
		     "API and in its folder.",
	  .subjects = IDS("stderr", "written", "after"),
	  .observers = IDS("logs-api", "logs-disk", "state", "deliveries"),
	  .mutations = IDS("log-driver", "stderr-limit"),
	  .scenarios = IDS("baseline", "baseline-again", "mutation/log-driver", "failure/flood-stderr*"),
	  .rules = IDS("log-driver") },
	{ .id = "other-clients",
	  .title = "another client at the container's streams, or another command in it",
	  .mediator =
		  "One holder of the attach stream; the watch over the session ends it at a second attach or an exec.",
	  .missing = "The session goes on, and the second client reads what the agent says.",
	  .subjects = IDS("stderr", "loss_to_dead"),
	  .observers = IDS("client", "state"),
	  .mutations = IDS("watch-attach", "watch-exec"),
	  .scenarios = IDS("watch/attach*", "watch/exec*"),
	  .rules = IDS("tty", "attach-streams", "stdin-open", "stdin-once", "exec-ids") },
	{ .id = "audit",
	  .title = "the gateway's audit chain and its database",
	  .mediator = "Rows hold hashes and decisions, never arguments; a row is on the disk before its call goes out.",
	  .missing = "The canary is in a row and in the bytes of the database; or a call goes out though its row was "
		     "refused.",
	  .rest = "Hashes and metadata stay, and may be sensitive themselves.",
	  .subjects = IDS("audit-allow", "audit-deny", "audit-fault", "audit-intent", "audit-chain"),
	  .observers = IDS("audit", "audit-bytes", "deliveries"),
	  .mutations = IDS("mutant-row", "mutant-audit-open"),
	  .scenarios = IDS("telemetry/arguments", "telemetry/arguments-in-row", "telemetry/audit-fails",
			   "telemetry/audit-fails-open") },
	{ .id = "telemetry",
	  .title = "spans, logs and error texts of gateway and upstream",
	  .mediator = "Spans bear a fixed list of fields; errors have fixed texts; an upstream's standard error goes "
		      "nowhere.",
	  .missing = "The canary is in a span, in what the gateway writes, or in the refusal that its caller gets.",
	  .rest = "Collectors and plug-ins of a deployment.",
	  .subjects = IDS("spans", "spans-error", "in-key", "in-url", "in-blocked", "tool-name"),
	  .observers = IDS("spans", "output"),
	  .mutations = IDS("mutant-span", "mutant-log", "mutant-error-text"),
	  .scenarios = IDS("telemetry/arguments", "telemetry/arguments-in-span", "telemetry/arguments-logged",
			   "telemetry/arguments-in-error", "telemetry/audit-fails-told", "telemetry/upstream-*",
			   "telemetry/collector-fails") },
	{ .id = "crash-of-the-agent",
	  .title = "what a crash of the agent leaves: a core file, or a copy for a program of the host",
	  .mediator = "Core limit 0:0; a host whose core pattern is a pipe, a socket or empty is refused, and read "
		      "again while the session lives.",
	  .missing = "Admission refuses. Where that is waived, the crash leaves one core file, and it is seen.",
	  .rest = "Host crash services are not scanned: a host that has one is refused.",
	  .subjects = IDS("core-files", "core-limit-soft", "core-limit-hard", "core-pattern", "exit-code"),
	  .observers = IDS("files-archive", "files-upper", "state"),
	  .mutations = IDS("core", "watch-core-pattern"),
	  .scenarios = IDS("baseline", "failure/crash-*", "watch/core-pattern*"),
	  .rules = IDS("ulimits", "core-limit", "working-dir", "image-working-dir") },
	{ .id = "crash-of-our-parts",
	  .title = "what a crash of bridge, watchdog, gateway or its tools leaves",
	  .mediator = "Each program sets its core limit to 0 and itself not dumpable; tools inherit the limit. The "
		      "core pattern is no program's.",
	  .missing = "With the pattern of a program the session is ended; without that watch it goes on.",
	  .rest = "No mutant takes the core limit of our own programs away; tests/unit/test_process.c looks at it. A "
		  "tool of somebody else may raise nothing, and stays dumpable.",
	  .subjects = IDS("core-pattern", "peer-acted"),
	  .observers = IDS("state", "deliveries"),
	  .mutations = IDS("watch-core-pattern"),
	  .scenarios = IDS("watch/core-pattern*", "failure/gateway-dies", "failure/upstream-dies") },
	{ .id = "shutdown",
	  .title = "the end: a part is lost or stands still, time is over, the agent does not end",
	  .mediator = "Bridge and watchdog hold the container's process by its pidfd and kill it within a bound; what "
		      "fails closes the session.",
	  .missing = "The process lives on behind its bound.",
	  .rest = "An end when bridge and watchdog are lost at once: the agent lives on, as lifecycle/both-killed "
		  "shows.",
	  .subjects = IDS("loss_to_dead", "alive", "peer-acted", "late", "descriptors", "term-ignored"),
	  .observers = IDS("state", "deliveries"),
	  .mutations = IDS("watchdog", "ack", "watchdog-pidfd", "fail-closed", "gateway-deadline", "session-limit"),
	  .scenarios = IDS("lifecycle/*", "engine/*", "mutation/watchdog", "mutation/ack", "failure/gateway-*",
			   "failure/upstream-*", "failure/ignores-*", "failure/never-reads*", "failure/stalls*",
			   "failure/closes-output*"),
	  .rules = IDS("stop-signal", "stop-timeout") },
	{ .id = "restart",
	  .title = "an agent that is started again, with what it had",
	  .mediator = "Restart policy no; no health check; a session has one container and one start.",
	  .missing = "Admission refuses. Where that is waived, the engine starts the failed agent again.",
	  .subjects = IDS("restarts", "starts", "exit-code"),
	  .observers = IDS("state"),
	  .mutations = IDS("restart"),
	  .scenarios = IDS("baseline", "failure/crash-segv", "failure/crash-segv-restarted", "failure/crash-abrt*",
			   "failure/crash-quit*", "failure/exits-early*"),
	  .rules = IDS("restart-policy", "restart-count", "auto-remove", "healthcheck", "image-healthcheck") },
	{ .id = "changes-from-outside",
	  .title = "limits or a name that somebody changes while the session lives",
	  .mediator = "The watch over the session.",
	  .missing = "The session goes on under other limits, or another name.",
	  .subjects = IDS("limits-changed", "renamed", "loss_to_dead"),
	  .observers = IDS("state"),
	  .mutations = IDS("watch-update", "watch-rename"),
	  .scenarios = IDS("watch/update*", "watch/rename*") },
	{ .id = "resources",
	  .title = "memory and processes, which bound what an agent can keep, start or starve",
	  .mediator = "The cgroup's limits; no swap beside the memory.",
	  .missing = "Admission refuses. Where that is waived, 192 MiB are taken, or 64 children live.",
	  .subjects = IDS("memory", "oom-kills", "processes", "process-limit"),
	  .observers = IDS("state"),
	  .mutations = IDS("memory", "pids"),
	  .scenarios = IDS("failure/allocates*", "failure/forks*"),
	  .rules = IDS("memory", "memory-swap", "cgroup-memory", "cgroup-swap", "memory-swappiness", "oom-kill-disable",
		       "oom-score", "pids-limit", "cgroup-pids", "cgroup-parent", "cgroup", "cgroup-path") },
	{ .id = "privileges",
	  .title = "what the kernel gives to privileged processes, devices and shared namespaces",
	  .mediator = "Admission: user, groups, capabilities, no new privileges, seccomp, devices, kernel parameters, "
		      "namespaces, runtime.",
	  .missing = "Admission refuses, and nothing is sent. No mutant waives these rules.",
	  .rest = "No probe tries to use a privilege: the rules are shown on altered documents "
		  "(tests/unit/test_admission.c), not by a leak.",
	  .rules = IDS("user", "uid", "gid", "groups", "group-add", "privileged", "cap-drop", "cap-add", "capabilities",
		       "security-opt", "no-new-privs", "seccomp", "engine-seccomp", "app-armor", "selinux", "devices",
		       "device-requests", "device-rules", "sysctls", "ipc-mode", "ns-ipc", "uts-mode", "ns-uts",
		       "userns-mode", "cgroupns-mode", "runtime", "isolation", "annotations") },
	{ .id = "another-image",
	  .title = "another program in the place of the agent's image",
	  .mediator = "Admission: an image by its id alone, its entrypoint and arguments as declared.",
	  .missing = "Admission refuses, and nothing is sent. No mutant waives these rules.",
	  .rest = "Who made an image: its id is its content.",
	  .rules = IDS("image-immutable", "image-id", "platform", "on-build", "entrypoint", "command") },
	{ .id = "deleted-files",
	  .title = "a file of the container that the agent, or its child, deletes: an effect that a user declares",
	  .mediator = "A read-only root.",
	  .missing = "The file is gone, and the observer that the declaration brings sees it.",
	  .rest = "No shipped scenario tries it: the scenarios of docs/examples/file-deletion do, with an observer of "
		  "their own.",
	  .subjects = IDS("file-delete", "delete-child"),
	  .rules = IDS("read-only-root", "writable-mounts") },
	{ .id = "deployment",
	  .title = "another service of the deployment that makes the same effect",
	  .mediator = "None: it is outside of the agent's confinement.",
	  .missing = "The order is made in each arm, whatever the agent can do.",
	  .rest = "Who else may write: that takes an assessment of the deployment (docs/effects.md).",
	  .subjects = IDS("order-service", "orders", "orders-other"),
	  .observers = IDS("orders", "orders-pg"),
	  .scenarios = IDS("effects/order-create", "effects/order-network", "effects/order-read-only",
			   "effects/pg/order-create", "effects/pg/order-network", "effects/pg/order-read-only") },
	{ .id = NULL },
};
