/* Fixed texts of the page: a sentence or a word for each id that the evidence names. */
#include <string.h>

#include "reports/html_parts.h"

struct word {
	const char *id, *text;
};
static const struct word statements[], events[], observers[];

static const char *word_of(const struct word *words, const char *id)
{
	for (; words->id; words++)
		if (strcmp(words->id, id) == 0)
			return words->text;
	return NULL;
}

const char *html_statement(const char *id)
{
	const char *text = word_of(statements, id);

	return text ? text : "";
}

const char *html_event(const char *name)
{
	const char *text = word_of(events, name);

	return text ? text : name;
}

const char *html_observer(const char *name)
{
	const char *text = word_of(observers, name);

	return text ? text : "";
}

static const struct word statements[] = {
	{ "timing", "what an agent can tell by when it acts" },
	{ "traffic-shape", "sizes and pauses of what is permitted" },
	{ "resource-contention", "load that others notice" },
	{ "shared-hardware", "caches, memory and branch predictors" },
	{ "covert-channels", "any channel that was not built as one" },
	{ "kernel-interfaces", "whatever of the kernel no probe names" },
	{ "other-encodings", "observers count canaries as they are; what is encoded shows as connections and bytes" },
	{ "swap", "memory that the host writes to disk" },
	{ "host-debugger", "whoever may read the memory of processes" },
	{ "host-crash-service", "programs that the host starts for a core file" },
	{ "memory-erasure", "what stays in memory after the end" },
	{ "audit-exporters", "collectors and plug-ins of a deployment" },
	{ "trusted-host-kernel", "the observers stand on the host's kernel" },
	{ "trusted-engine", "and on what the container engine says" },
	{ "trusted-runner", "whoever runs the harness could forge everything" },
	{ "untampered-observers", "the observers' programs are those whose digests the manifest lists" },
	{ "one-host", "all arms of a run share host, boot and image" },
	{ "bridge-or-watchdog-survives", "with both lost at once the agent lives until its arm ends" },
	{ "non-bypassability", "that no other way out exists: only the declared paths were tried" },
	{ "universal-effect-mediation", "that every effect of the agent passes a mediator" },
	{ "path-set-completeness", "that the declared set of paths is complete" },
	{ "publisher-authorization", "who made the agent's image: its id is its content" },
	{ "tee-measurement", "that the hardware was measured" },
	{ "exactly-once", "that each call is delivered exactly once" },
	{ "host-wide-recovery", "that the host recovers from anything outside of one session" },
	{ "deployment-custody", "that what is deployed is what was run here" },
	{ .id = NULL },
};

/* Names of arms.json that are not words by themselves. */
static const struct word events[] = {
	{ "created", "container created" },
	{ "attached", "attached to its streams" },
	{ "ready", "observers ready" },
	{ "started", "process started" },
	{ "admitted", "admitted" },
	{ "waived", "refused, and waived" },
	{ "armed", "watchdog armed" },
	{ "unarmed", "no watchdog" },
	{ "first-frame", "first frame" },
	{ "delivered", "call delivered" },
	{ "done", "agent done" },
	{ "checkpoint", "agent stopped to wait" },
	{ "resumed", "agent let go on" },
	{ "barrier", "observers reported" },
	{ "part-lost", "part lost" },
	{ "window", "watch for death begins" },
	{ "window-closed", "watch for death ends" },
	{ "watchdog-fired", "watchdog fired" },
	{ "watchdog-dead", "watchdog saw the death" },
	{ "watchdog-stopped", "watchdog stopped" },
	{ "ended", "session ended" },
	{ "dead", "agent dead" },
	{ "exited", "engine saw the exit" },
	{ "evidence", "evidence fetched" },
	{ "collected", "evidence counted" },
	{ "removed", "container removed" },
	{ "left", "container left behind" },
	{ "policy-applied", "update applied" },
	{ "policy-stale", "update refused: older" },
	{ "policy-invalid", "update refused: invalid" },
	{ .id = NULL },
};

static const struct word observers[] = {
	{ "tcp4", "a listener on the host's IPv4 loopback" },
	{ "tcp6", "a listener on the host's IPv6 loopback" },
	{ "tcp4-nic", "a listener on the host's bridge address" },
	{ "dns", "a resolver on the host's loopback" },
	{ "capture-host", "packets on every interface of the host" },
	{ "capture-netns", "packets in the container's network namespace, but its loopback" },
	{ "attempts", "what the agent tried on its own loopback" },
	{ "files-archive", "the engine's archive of the container" },
	{ "files-changes", "the engine's list of changed files" },
	{ "files-upper", "the writable layer on the host's disk" },
	{ "files-root", "the root of the container's process" },
	{ "logs-api", "the engine's log stream" },
	{ "logs-disk", "the engine's log files on disk" },
	{ "deliveries", "what the measured tool received" },
	{ "decisions", "what the gateway decided" },
	{ "client", "another client of the engine" },
	{ "state", "process, limits and counters of the container" },
	{ "audit", "the gateway's audit records" },
	{ "audit-intent", "audit records before an effect" },
	{ "audit-bytes", "the bytes of the audit database" },
	{ "output", "what the gateway wrote to its outputs" },
	{ "spans", "spans that a collector received" },
	{ "children", "programs that the gateway started" },
	{ "correlation", "calls, audit entries and orders, joined" },
	{ "correlation-pg", "the same, with the orders in PostgreSQL" },
	{ "orders", "rows of the order service's database" },
	{ "orders-pg", "rows of the order service's database in PostgreSQL" },
	{ .id = NULL },
};
