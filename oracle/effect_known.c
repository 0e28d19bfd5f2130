/* What this harness knows of probes and of observers where a declaration names them. */
#include <string.h>

#include "oracle/effect.h"

const struct effect_probe *effect_probe_find(const char *id)
{
	for (const struct effect_probe *probe = effect_probes; probe->id; probe++)
		if (strcmp(probe->id, id) == 0)
			return probe;
	return NULL;
}

const char *const effect_observer_ids[] = { "orders", "orders-pg", NULL };

const char *const effect_other_ids[] = {
	"tcp4",      "tcp6",          "tcp4-nic",      "dns",         "capture-host", "capture-netns",
	"attempts",  "files-archive", "files-changes", "files-upper", "files-root",   "logs-api",
	"logs-disk", "deliveries",    "decisions",     "state",       "client",       "spans",
	"children",  "audit",         "audit-bytes",   "output",      "correlation",  "correlation-pg",
	NULL,
};

const struct effect_probe effect_probes[] = {
	{ .id = "tcp4", .from = EFFECT_FROM_AGENT },
	{ .id = "tcp4-child", .from = EFFECT_FROM_AGENT },
	{ .id = "tcp6", .from = EFFECT_FROM_AGENT },
	{ .id = "dns", .from = EFFECT_FROM_AGENT },
	{ .id = "tcp4-nic", .from = EFFECT_FROM_AGENT },
	{ .id = "file", .from = EFFECT_FROM_AGENT },
	{ .id = "file-name", .from = EFFECT_FROM_AGENT },
	{ .id = "file-link", .from = EFFECT_FROM_AGENT },
	{ .id = "file-xattr", .from = EFFECT_FROM_AGENT },
	{ .id = "stderr", .from = EFFECT_FROM_AGENT },
	{ .id = "permitted", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "denied", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "permitted-again", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "permitted-third", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "slow", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "slow-ahead", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "after", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "denied-then", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "in-key", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "in-url", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "in-blocked", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "order-gateway", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "order-again", .from = EFFECT_FROM_AGENT, .call = true },
	{ .id = "order-http", .from = EFFECT_FROM_AGENT },
	{ .id = "order-child", .from = EFFECT_FROM_AGENT },
	{ .id = "order-file", .from = EFFECT_FROM_AGENT },
	{ .id = "order-service", .from = EFFECT_FROM_DEPLOYMENT },
	{ .id = "file-delete", .from = EFFECT_FROM_AGENT },
	{ .id = "delete-child", .from = EFFECT_FROM_AGENT },
	{ .id = "tool-name", .from = EFFECT_FROM_ARM, .call = true },
	{ .id = "raising", .from = EFFECT_FROM_ARM, .call = true },
	{ .id = "raised", .from = EFFECT_FROM_ARM, .call = true },
	{ .id = NULL },
};
