#include "tests/live/shape.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 256

static const char *const maps[];
static const char *const varying[];

static bool listed(const char *const *list, const char *key)
{
	for (; key && *list; list++)
		if (strcmp(*list, key) == 0)
			return true;
	return false;
}

static bool tell(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return false;
}

/* Go writes what is empty as null or as an empty value. */
static bool same_type(const struct json_node *recorded, const struct json_node *came)
{
	enum json_type one = json_type(recorded), other = json_type(came);

	if (one == other)
		return true;
	return (one == JSON_NULL && (other == JSON_ARRAY || other == JSON_OBJECT)) ||
	       (other == JSON_NULL && (one == JSON_ARRAY || one == JSON_OBJECT));
}

static bool same(const char *path, const struct json_node *recorded, const struct json_node *came, bool exact);

static bool same_member(const char *path, const struct json_node *recorded, const struct json_node *came, bool exact)
{
	char deeper[PATH_BYTES];
	const char *key = json_key(recorded) ? json_key(recorded) : "[]";

	snprintf(deeper, sizeof(deeper), "%s.%s", path, key);
	if (came)
		return same(deeper, recorded, came, exact);
	return listed(varying, key) ? true : tell(deeper, "is not there any more");
}

static bool same_members(const char *path, const struct json_node *recorded, const struct json_node *came, bool exact)
{
	char deeper[PATH_BYTES];
	bool all = true;

	for (const struct json_node *one = json_first(recorded); one; one = json_next(one))
		all &= same_member(path, one, json_member(came, json_key(one)), exact);
	for (const struct json_node *one = json_first(came); exact && one; one = json_next(one)) {
		if (json_member(recorded, json_key(one)) || listed(varying, json_key(one)))
			continue;
		snprintf(deeper, sizeof(deeper), "%s.%s", path, json_key(one));
		all = tell(deeper, "is new");
	}
	return all;
}

/* Where keys are data, and in lists, one value stands for all. */
static bool same(const char *path, const struct json_node *recorded, const struct json_node *came, bool exact)
{
	if (!same_type(recorded, came))
		return tell(path, "is of another type");
	if (json_type(recorded) != json_type(came))
		return true;
	if (json_type(recorded) == JSON_OBJECT && !listed(maps, json_key(recorded)))
		return same_members(path, recorded, came, exact);
	if (json_type(recorded) != JSON_ARRAY && json_type(recorded) != JSON_OBJECT)
		return true;
	return !json_first(recorded) || !json_first(came) ||
	       same_member(path, json_first(recorded), json_first(came), exact);
}

bool shape_same(const char *name, const struct json_node *recorded, const struct json_node *came, bool exact)
{
	return same(name, recorded, came, exact);
}

/* Objects whose keys are data. */
static const char *const maps[] = {
	"Attributes", "Containers", "Data",  "Details",  "IndexConfigs", "Labels",
	"Networks",   "Options",    "Ports", "Runtimes", NULL,
};

/* Members that an engine has or not by its version, its storage, or what the host is. */
static const char *const varying[] = {
	"Bridge",
	"BridgeNfIp6tables",
	"BridgeNfIptables",
	"Cluster",
	"Container",
	"ContainerConfig",
	"DockerVersion",
	"EndpointID",
	"Expected",
	"Gateway",
	"GlobalIPv6Address",
	"GlobalIPv6PrefixLen",
	"HairpinMode",
	"IPAddress",
	"IPPrefixLen",
	"IPv6Gateway",
	"KernelMemory",
	"KernelMemoryTCP",
	"LinkLocalIPv6Address",
	"LinkLocalIPv6PrefixLen",
	"MacAddress",
	"OnBuild",
	"SecondaryIPAddresses",
	"SecondaryIPv6Addresses",
	"VirtualSize",
	NULL,
};
