#include "observers/table.h"

#include <string.h>

const struct observer_kind *observer_kind_of(const char *observer)
{
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		for (const char *const *id = kind->observers; *id; id++)
			if (strcmp(*id, observer) == 0)
				return kind;
	return NULL;
}

const struct observer_kind *observer_kind_find(const char *id)
{
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		if (strcmp(kind->id, id) == 0)
			return kind;
	return NULL;
}

static const char *const nothing[] = { NULL };
static const char *const tcp4[] = { "tcp4", NULL };
static const char *const tcp6[] = { "tcp6", NULL };
static const char *const tcp4_nic[] = { "tcp4-nic", NULL };
static const char *const dns[] = { "dns", NULL };
static const char *const capture_host[] = { "capture-host", NULL };
static const char *const capture_netns[] = { "capture-netns", "attempts", NULL };
static const char *const capture_netns_measures[] = { "interfaces", "packets-other", NULL };
static const char *const files[] = { "files-archive", "files-changes", "files-upper", "files-root", NULL };
static const char *const files_measures[] = { "core-files", NULL };
static const char *const logs[] = { "logs-api", "logs-disk", NULL };
static const char *const deliveries[] = { "deliveries", "decisions", NULL };
static const char *const deliveries_measures[] = { "peer-acted", "late", NULL };
static const char *const client[] = { "client", NULL };
static const char *const audit[] = { "audit", NULL };
static const char *const audit_measures[] = { "audit-allow",  "audit-deny",  "audit-fault",
					      "audit-intent", "audit-chain", NULL };
static const char *const audit_bytes[] = { "audit-bytes", NULL };
static const char *const output[] = { "output", NULL };
static const char *const state[] = { "state", NULL };
static const char *const state_measures[] = {
	"core-limit-soft",  "core-limit-hard", "restarts",      "starts",       "exit-code",
	"processes",        "memory",          "process-limit", "oom-kills",    "alive",
	"written",          "attempted",       "loss_to_dead",  "renamed",      "limits-changed",
	"networks-changed", "core-pattern",    "descriptors",   "term-ignored", NULL
};
static const char *const spans[] = { "spans", NULL };
static const char *const spans_measures[] = { "spans", "spans-error", NULL };
static const char *const orders[] = { "orders", NULL };
static const char *const orders_measures[] = { "orders", "orders-other", NULL };
static const char *const orders_pg[] = { "orders-pg", NULL };
static const char *const orders_pg_measures[] = { "orders", "orders-other", "roles-other", "transactions", NULL };
static const char *const correlation[] = { "correlation", NULL };
static const char *const correlation_pg[] = { "correlation-pg", NULL };
static const char *const correlation_measures[] = { "joined",     "row-without-call", "call-without-row",
						    "row-again",  "copied-id",        "row-of-denied",
						    "call-again", "row-without-id",   NULL };
static const char *const children[] = { "children", NULL };
static const char *const children_measures[] = { "upstream-environment", "upstream-descriptors", "upstream-children",
						 NULL };

const struct observer_kind observer_kinds[] = {
	{ .id = "tcp4",
	  .program = "observer-tcp",
	  .argument = "127.0.0.1",
	  .observers = tcp4,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "TCP connections to the host's IPv4 loopback" },
	{ .id = "tcp6",
	  .program = "observer-tcp",
	  .argument = "::1",
	  .observers = tcp6,
	  .measures = nothing,
	  .needs = OBSERVER_HOST | OBSERVER_IPV6,
	  .title = "TCP connections to the host's IPv6 loopback" },
	{ .id = "tcp4-nic",
	  .program = "observer-tcp",
	  .observers = tcp4_nic,
	  .measures = nothing,
	  .needs = OBSERVER_HOST | OBSERVER_NIC,
	  .title = "TCP connections to the host's address on the engine's bridge network" },
	{ .id = "dns",
	  .program = "observer-udp",
	  .argument = "127.0.0.1",
	  .observers = dns,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "DNS questions and other datagrams to the host's IPv4 loopback" },
	{ .id = "capture-host",
	  .program = "observer-capture",
	  .argument = "host",
	  .observers = capture_host,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "packets on every interface of the host" },
	{ .id = "capture-netns",
	  .program = "observer-capture",
	  .argument = "netns",
	  .observers = capture_netns,
	  .measures = capture_netns_measures,
	  .needs = OBSERVER_NETNS,
	  .title = "packets, attempts and interfaces in the container's network namespace" },
	{ .id = "files",
	  .program = "observer-files",
	  .observers = files,
	  .measures = files_measures,
	  .needs = OBSERVER_HOST,
	  .title = "the container's files by archive, changes, upper directory and root" },
	{ .id = "logs",
	  .program = "observer-logs",
	  .observers = logs,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "the container's log by the engine's API and in the engine's folder" },
	{ .id = "deliveries",
	  .program = "observer-deliveries",
	  .observers = deliveries,
	  .measures = deliveries_measures,
	  .needs = OBSERVER_HOST,
	  .title = "calls that reached the upstream tool, and the gateway's decisions" },
	{ .id = "state",
	  .program = "observer-state",
	  .observers = state,
	  .measures = state_measures,
	  .needs = OBSERVER_HOST,
	  .title = "the container's process: alive, limits, starts, restarts, time to its end" },
	{ .id = "client",
	  .program = "observer-client",
	  .observers = client,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "what the container says to another client of the engine than the bridge" },
	{ .id = "spans",
	  .program = "observer-spans",
	  .argument = "127.0.0.1",
	  .observers = spans,
	  .measures = spans_measures,
	  .needs = OBSERVER_HOST,
	  .title = "spans that the gateway sends to a collector" },
	{ .id = "children",
	  .program = "observer-children",
	  .observers = children,
	  .measures = children_measures,
	  .needs = OBSERVER_HOST,
	  .title = "environment and descriptors of the gateway's upstreams" },
	{ .id = "orders",
	  .program = "observer-orders",
	  .argument = "orders.db",
	  .observers = orders,
	  .measures = orders_measures,
	  .needs = OBSERVER_HOST,
	  .title = "rows of the order service's database: the effect itself" },
	{ .id = "orders-pg",
	  .program = "observer-orders-pg",
	  .observers = orders_pg,
	  .measures = orders_pg_measures,
	  .needs = OBSERVER_HOST | OBSERVER_POSTGRES,
	  .title = "rows of the order service's database in PostgreSQL, with role and transaction" },
	{ .id = "correlation",
	  .program = "observer-correlation",
	  .observers = correlation,
	  .measures = correlation_measures,
	  .needs = OBSERVER_HOST,
	  .title = "calls of the order service's tool, their entries in the audit chain, and the orders, joined" },
	{ .id = "correlation-pg",
	  .program = "observer-correlation-pg",
	  .observers = correlation_pg,
	  .measures = correlation_measures,
	  .needs = OBSERVER_HOST | OBSERVER_POSTGRES,
	  .title = "the same, with the orders in PostgreSQL" },
	{ .id = "audit",
	  .program = "observer-audit",
	  .argument = "audit.db",
	  .observers = audit,
	  .measures = audit_measures,
	  .needs = OBSERVER_HOST,
	  .title = "the gateway's audit chain: rows of each outcome, and whether it holds" },
	{ .id = "audit-bytes",
	  .program = "observer-bytes",
	  .observers = audit_bytes,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "every byte of the audit database, its log and its index" },
	{ .id = "output",
	  .program = "observer-bytes",
	  .observers = output,
	  .measures = nothing,
	  .needs = OBSERVER_HOST,
	  .title = "every byte that gateway and upstream wrote to files, standard output and standard error" },
	{ .id = NULL },
};

const char *const observer_ids[] = {
	"tcp4",           "tcp6",     "tcp4-nic",      "dns",           "capture-host",
	"capture-netns",  "attempts", "files-archive", "files-changes", "files-upper",
	"files-root",     "logs-api", "logs-disk",     "deliveries",    "decisions",
	"state",          "client",   "spans",         "children",      "audit",
	"audit-bytes",    "output",   "orders",        "correlation",   "orders-pg",
	"correlation-pg", NULL,
};

const char *const observer_inputs[] = { "root", "upper", "lower", "proc", "cgroup", "pidfd", NULL };

const char *const measure_ids[] = {
	"interfaces",
	"packets-other",
	"core-limit-soft",
	"core-limit-hard",
	"restarts",
	"starts",
	"exit-code",
	"processes",
	"memory",
	"process-limit",
	"oom-kills",
	"alive",
	"loss_to_dead",
	"peer-acted",
	"late",
	"renamed",
	"limits-changed",
	"networks-changed",
	"core-pattern",
	"core-files",
	"written",
	"attempted",
	"descriptors",
	"term-ignored",
	"spans",
	"spans-error",
	"upstream-environment",
	"upstream-descriptors",
	"upstream-children",
	"audit-allow",
	"audit-deny",
	"audit-fault",
	"audit-intent",
	"audit-chain",
	"orders",
	"orders-other",
	"roles-other",
	"transactions",
	"joined",
	"row-without-call",
	"call-without-row",
	"row-again",
	"copied-id",
	"row-of-denied",
	"call-again",
	"row-without-id",
	NULL,
};
