/* What the engine says of itself. */
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "runner/environment_facts.h"

#define STORE_OF_CONTAINERD "io.containerd.snapshotter.v1"

/* An answer of the engine: which document, and the path of members to the value. */
struct answer_fact {
	const char *field;
	bool from_info;
	const char *component; /* of /version's Components, or NULL */
	const char *member, *inner; /* inner: member of the member, or NULL */
};
static const struct answer_fact answer_facts[];

static const struct json_node *component_of(const struct json_node *version, const char *name)
{
	const struct json_node *list = json_member(version, "Components");

	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		if (json_text_is(json_member(one, "Name"), name))
			return one;
	return NULL;
}

static void put_answer(struct facts *facts, const struct answer_fact *fact, const struct json_node *version,
		       const struct json_node *info)
{
	const struct json_node *node = fact->from_info ? info : version;

	if (fact->component)
		node = component_of(version, fact->component);
	node = json_member(node, fact->member);
	if (fact->inner)
		node = json_member(node, fact->inner);
	fact_answer(facts, fact->field, node);
}

/* The second text of the pair in DriverStatus that begins with `key`. */
static const struct json_node *driver_status(const struct json_node *info, const char *key)
{
	const struct json_node *list = json_member(info, "DriverStatus");

	for (const struct json_node *pair = json_first(list); pair; pair = json_next(pair))
		if (json_text_is(json_first(pair), key))
			return json_next(json_first(pair));
	return NULL;
}

static void put_image_store(struct facts *facts, const struct json_node *info)
{
	static const char field[] = "engine.imageStore";

	if (json_is_null(json_member(info, "DriverStatus")))
		fact_none(facts, field, FACT_ABSENT);
	else
		fact_text(facts, field,
			  json_text_is(driver_status(info, "driver-type"), STORE_OF_CONTAINERD) ? "containerd"
												: "graphdriver");
}

/* null is the engine's way to have none. */
static void put_warnings(struct facts *facts, const struct json_node *info)
{
	static const char field[] = "engine.warnings";
	const struct json_node *list = json_member(info, "Warnings");

	if (!list)
		fact_none(facts, field, FACT_ABSENT);
	else if (json_type(list) != JSON_NULL && json_type(list) != JSON_ARRAY)
		fact_none(facts, field, FACT_UNSUPPORTED);
	else
		fact_count(facts, field, (int64_t)json_count(list));
}

/* null is the engine's way to have none here too. */
static void put_security_options(struct facts *facts, const struct json_node *info)
{
	static const char field[] = "engine.securityOptions";
	const struct json_node *list = json_member(info, "SecurityOptions");

	if (list && json_type(list) == JSON_NULL)
		fact_words(facts, field, "", " ");
	else
		fact_answer(facts, field, list);
}

void facts_engine(struct facts *facts, const struct json_node *version, const struct json_node *info, const char *api)
{
	fact_text(facts, "engine.api", api);
	for (size_t i = 0; answer_facts[i].field; i++)
		put_answer(facts, &answer_facts[i], version, info);
	fact_answer(facts, "engine.backingFilesystem", driver_status(info, "Backing Filesystem"));
	put_security_options(facts, info);
	put_image_store(facts, info);
	/* By their names alone: the rest of a runtime's entry is a path and arguments. */
	fact_keys(facts, "engine.runtimes", json_member(info, "Runtimes"));
	put_warnings(facts, info);
}

static const struct answer_fact answer_facts[] = {
	{ .field = "engine.version", .member = "Version" },
	{ .field = "engine.gitCommit", .member = "GitCommit" },
	{ .field = "engine.apiVersion", .member = "ApiVersion" },
	{ .field = "engine.minApiVersion", .member = "MinAPIVersion" },
	{ .field = "containerd.version", .component = "containerd", .member = "Version" },
	{ .field = "containerd.gitCommit", .component = "containerd", .member = "Details", .inner = "GitCommit" },
	{ .field = "runc.version", .component = "runc", .member = "Version" },
	{ .field = "runc.gitCommit", .component = "runc", .member = "Details", .inner = "GitCommit" },
	{ .field = "dockerInit.version", .component = "docker-init", .member = "Version" },
	{ .field = "dockerInit.gitCommit", .component = "docker-init", .member = "Details", .inner = "GitCommit" },
	{ .field = "engine.storageDriver", .from_info = true, .member = "Driver" },
	{ .field = "engine.cgroupDriver", .from_info = true, .member = "CgroupDriver" },
	{ .field = "engine.cgroupVersion", .from_info = true, .member = "CgroupVersion" },
	{ .field = "engine.defaultRuntime", .from_info = true, .member = "DefaultRuntime" },
	{ .field = "engine.loggingDriver", .from_info = true, .member = "LoggingDriver" },
	{ .field = "engine.liveRestore", .from_info = true, .member = "LiveRestoreEnabled" },
	{ .field = "engine.operatingSystem", .from_info = true, .member = "OperatingSystem" },
	{ .field = "engine.kernelVersion", .from_info = true, .member = "KernelVersion" },
	{ .field = "engine.osType", .from_info = true, .member = "OSType" },
	{ .field = "engine.architecture", .from_info = true, .member = "Architecture" },
	{ .field = "host.cpus", .from_info = true, .member = "NCPU" },
	{ .field = "host.memoryBytes", .from_info = true, .member = "MemTotal" },
	{ .field = NULL },
};
