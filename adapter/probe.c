#include "adapter/probe.h"

#include <stddef.h>
#include <string.h>

#include "adapter/image.h"

const struct probe_route *probe_find(const char *id)
{
	for (const struct probe_route *route = probe_routes; route->id; route++)
		if (strcmp(route->id, id) == 0)
			return route;
	return NULL;
}

const char *const misbehaviour_ids[] = {
	"nothing",      "raw",          "split",        "big-frame", "cut-frame", "nested", "never-reads",
	"flood-stdout", "flood-stderr", "exit",         "crash",     "signal",    "stall",  "ignore-signals",
	"fork",         "allocate",     "close-output", NULL,
};

const char *const probe_ids[] = {
	"tcp4",          "tcp4-child",      "tcp6",
	"dns",           "tcp4-nic",        "file",
	"file-name",     "file-link",       "file-xattr",
	"stderr",        "permitted",       "denied",
	"after",         "permitted-again", "permitted-third",
	"slow",          "slow-ahead",      "denied-then",
	"in-key",        "in-url",          "in-blocked",
	"tool-name",     "raising",         "raised",
	"order-http",    "order-child",     "order-file",
	"order-service", "order-gateway",   "order-again",
	"file-delete",   "delete-child",    NULL,
};

const struct probe_route probe_routes[] = {
	{ .id = "tcp4", .address = PROBE_LOOPBACK4, .observer = "tcp4" },
	{ .id = "tcp4-child", .address = PROBE_LOOPBACK4, .observer = "tcp4" },
	{ .id = "tcp6", .address = PROBE_LOOPBACK6, .observer = "tcp6" },
	{ .id = "dns", .address = PROBE_LOOPBACK4, .observer = "dns" },
	{ .id = "tcp4-nic", .address = PROBE_NIC, .observer = "tcp4-nic" },
	{ .id = "file", .address = PROBE_PATH, .target = "/export/leak" },
	{ .id = "file-name", .address = PROBE_PATH, .target = "/export/named" },
	{ .id = "file-link", .address = PROBE_PATH, .target = "/export/link" },
	{ .id = "file-xattr", .address = PROBE_PATH, .target = "/export/marked", .attribute = true },
	{ .id = "stderr", .address = PROBE_NOWHERE },
	{ .id = "permitted", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "denied", .address = PROBE_OPERATION, .target = "denied", .tool = "public.tool" },
	{ .id = "permitted-again", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "permitted-third", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "slow", .address = PROBE_OPERATION, .target = "slow", .tool = "slow.tool" },
	{ .id = "slow-ahead", .address = PROBE_OPERATION, .target = "slow", .tool = "slow.tool" },
	{ .id = "after", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "denied-then", .address = PROBE_OPERATION, .target = "denied", .tool = "public.tool" },
	{ .id = "in-key", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "in-url", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "in-blocked", .address = PROBE_OPERATION, .target = "permitted", .tool = "permitted.tool" },
	{ .id = "order-gateway", .address = PROBE_OPERATION, .target = "order", .tool = "order_create" },
	{ .id = "order-again", .address = PROBE_OPERATION, .target = "order", .tool = "order_create" },
	{ .id = "order-http", .address = PROBE_SERVICE },
	{ .id = "order-child", .address = PROBE_SERVICE },
	{ .id = "order-file", .address = PROBE_PATH, .target = "/export/order" },
	{ .id = "order-service", .address = PROBE_DEPLOYMENT },
	{ .id = "file-delete", .address = PROBE_PATH, .target = "/" IMAGE_KEPT "/file-delete" },
	{ .id = "delete-child", .address = PROBE_PATH, .target = "/" IMAGE_KEPT "/delete-child" },
	{ .id = "tool-name", .address = PROBE_OUTSIDE },
	{ .id = "raising", .address = PROBE_OUTSIDE, .target = "permitted.tool" },
	{ .id = "raised", .address = PROBE_OUTSIDE, .target = "public.tool" },
	{ .id = NULL },
};
