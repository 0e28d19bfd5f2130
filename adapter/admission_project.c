/* The effective configuration as hashes of named fields, equal in two containers of one profile. */
#include <stdio.h>
#include <string.h>

#include "adapter/admission_rules.h"
#include "core/fd.h"
#include "core/hash.h"

#define FIELD_BYTES 128
#define VALUE_BYTES (256 * KIB)
#define MOUNTS_MAX 512
#define INTERFACES_MAX 64

struct projection {
	effective_take take;
	void *context;
};

/* Members that are projected one by one, below an object of inspect. */
struct members {
	const char *path;
	const char *const *names;
};
static const struct members members_projected[];
static const size_t members_projected_count;
static const char *const host_split[];

static int put_text(const struct projection *projection, const char *field, const char *bytes, size_t length,
		    struct error **err)
{
	char sha256[HEX_SHA256];

	hash_bytes(bytes, length, sha256);
	return projection->take(projection->context, field, sha256, err);
}

static int put_buf(const struct projection *projection, const char *field, const struct buf *value, struct error **err)
{
	if (buf_check(value, "a value of the effective configuration", err) < 0)
		return -1;
	return put_text(projection, field, buf_string(value), value->length, err);
}

/* Canonical where it has a canonical form; a number beyond it is taken as the engine wrote it. */
static int put_json(const struct projection *projection, const char *field, const struct json_node *node,
		    struct error **err)
{
	cleanup_buf struct buf canonical = BUF(VALUE_BYTES);
	cleanup_error struct error *unsuited = NULL;
	struct json_span raw;

	if (json_blank(node))
		return put_text(projection, field, "null", 4, err);
	raw = json_raw(node);
	if (json_canonical(raw.bytes, raw.length, &canonical, &unsuited) < 0)
		return put_text(projection, field, raw.bytes, raw.length, err);
	return put_text(projection, field, canonical.data, canonical.length, err);
}

/* "inspect.PATH.KEY" */
static int field_name(char out[FIELD_BYTES], const char *path, const char *key, struct error **err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	int length = snprintf(out, FIELD_BYTES, "inspect.%s.%s", path, key);

	if (length >= FIELD_BYTES || !*key || key[strspn(key, letters)])
		return error_set(err, ERROR_INPUT, "the engine's configuration has a member with an unusual name");
	return 0;
}

static int put_member(const struct projection *projection, const char *path, const char *key,
		      const struct json_node *value, struct error **err)
{
	char field[FIELD_BYTES];

	if (field_name(field, path, key, err) < 0)
		return -1;
	return put_json(projection, field, value, err);
}

static bool is_split(const char *key)
{
	for (size_t i = 0; host_split[i]; i++)
		if (strcmp(host_split[i], key) == 0)
			return true;
	return false;
}

/* Whatever the engine lists there, so that a member that no rule knows still makes a difference. */
static int put_host(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	const struct json_node *host = json_member(inspect, "HostConfig");

	for (const struct json_node *member = json_first(host); member; member = json_next(member))
		if (!is_split(json_key(member)) &&
		    put_member(projection, "HostConfig", json_key(member), member, err) < 0)
			return -1;
	return 0;
}

static int put_members(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	for (size_t i = 0; i < members_projected_count; i++) {
		const struct members *members = &members_projected[i];
		const struct json_node *object = json_at(inspect, members->path);

		for (const char *const *name = members->names; *name; name++)
			if (put_member(projection, members->path, *name, json_member(object, *name), err) < 0)
				return -1;
	}
	return 0;
}

/* Run and role differ between the containers of a run by design; their names still count. */
static int put_labels(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	cleanup_buf struct buf text = BUF(VALUE_BYTES);
	cleanup_buf struct buf canonical = BUF(VALUE_BYTES);
	const struct json_node *labels = json_at(inspect, "Config.Labels");
	struct json_writer json;

	json_begin(&json, &text);
	json_object(&json);
	for (const struct json_node *label = json_first(labels); label; label = json_next(label)) {
		bool ours = strcmp(json_key(label), PROFILE_LABEL_RUN) == 0 ||
			    strcmp(json_key(label), PROFILE_LABEL_ROLE) == 0;

		json_put_key(&json, json_key(label));
		if (ours || !json_string(label))
			json_put_null(&json);
		else
			json_put_bytes(&json, json_string(label), json_string_length(label));
	}
	json_object_end(&json);
	if (buf_check(&text, "the labels", err) < 0 || json_canonical(text.data, text.length, &canonical, err) < 0)
		return -1;
	return put_buf(projection, "inspect.Config.Labels", &canonical, err);
}

static int compare_texts(const void *one, const void *other)
{
	const struct text *a = one, *b = other;
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->bytes, b->bytes, shorter);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int put_sorted(const struct projection *projection, const char *field, struct text *texts, size_t count,
		      struct error **err)
{
	cleanup_buf struct buf value = BUF(VALUE_BYTES);

	qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++) {
		(void)buf_add(&value, texts[i].bytes, texts[i].length);
		(void)buf_text(&value, "\n");
	}
	return put_buf(projection, field, &value, err);
}

/* Names alone: ids and addresses are of this container. */
static int put_networks(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	const struct json_node *networks = json_at(inspect, "NetworkSettings.Networks");
	struct text names[INTERFACES_MAX];
	size_t count = 0;

	for (const struct json_node *network = json_first(networks); network; network = json_next(network)) {
		const char *name = json_key(network);

		if (count == ARRAY_SIZE(names) || !name)
			return error_set(err, ERROR_LIMIT, "the container is on too many networks");
		names[count++] = (struct text){ name, strlen(name) };
	}
	return put_sorted(projection, "inspect.NetworkSettings.Networks", names, count, err);
}

/* Where something is mounted and whether it can be written; sources and names are of this container. */
static int put_mount_points(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	static const char *const kept[] = { "Type", "Destination", "RW" };
	cleanup_buf struct buf value = BUF(VALUE_BYTES);

	for (const struct json_node *mount = json_first(json_member(inspect, "Mounts")); mount;
	     mount = json_next(mount)) {
		for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
			const struct json_node *member = json_member(mount, kept[i]);
			struct json_span raw = member ? json_raw(member) : (struct json_span){ "null", 4 };

			(void)buf_add(&value, raw.bytes, raw.length);
			(void)buf_text(&value, i + 1 < ARRAY_SIZE(kept) ? " " : "\n");
		}
	}
	return put_buf(projection, "inspect.Mounts", &value, err);
}

static int put_inspect(const struct projection *projection, const struct json_node *inspect, struct error **err)
{
	if (put_host(projection, inspect, err) < 0 || put_members(projection, inspect, err) < 0 ||
	    put_labels(projection, inspect, err) < 0 || put_networks(projection, inspect, err) < 0 ||
	    put_mount_points(projection, inspect, err) < 0 ||
	    put_json(projection, "inspect.AppArmorProfile", json_member(inspect, "AppArmorProfile"), err) < 0 ||
	    put_json(projection, "inspect.Driver", json_member(inspect, "Driver"), err) < 0 ||
	    put_json(projection, "inspect.Image", json_member(inspect, "Image"), err) < 0)
		return -1;
	return put_json(projection, "inspect.Platform", json_member(inspect, "Platform"), err);
}

/* ---- the kernel ---- */

static int put_status(const struct projection *projection, const char *field, const char *status, const char *name,
		      struct error **err)
{
	struct text value = { "", 0 };

	(void)status_value(status, name, &value);
	return put_text(projection, field, value.bytes, value.length, err);
}

static int put_capabilities(const struct projection *projection, const char *status, struct error **err)
{
	cleanup_buf struct buf value = BUF(VALUE_BYTES);

	for (size_t i = 0; capability_sets[i]; i++) {
		struct text set = { "", 0 };

		(void)status_value(status, capability_sets[i], &set);
		(void)buf_printf(&value, "%s ", capability_sets[i]);
		(void)buf_add(&value, set.bytes, set.length);
		(void)buf_text(&value, "\n");
	}
	return put_buf(projection, "kernel.capabilities", &value, err);
}

static int put_namespaces(const struct projection *projection, const struct admission_effective *files,
			  struct error **err)
{
	for (size_t i = 0; i < files->namespaces_count; i++) {
		const char *whose = files->namespaces[i].own == files->namespaces[i].theirs ? "own" : "other";
		char field[FIELD_BYTES];

		snprintf(field, sizeof(field), "kernel.ns.%s", files->namespaces[i].name);
		if (put_text(projection, field, whose, strlen(whose), err) < 0)
			return -1;
	}
	return 0;
}

static int put_interfaces(const struct projection *projection, const char *net_dev, struct error **err)
{
	struct text names[INTERFACES_MAX];
	size_t count = 0;

	for (struct text name; net_dev_next(&net_dev, &name);) {
		/* A host's own namespace may have any number of them: what matters is that there are more than one. */
		if (count == ARRAY_SIZE(names))
			break;
		names[count++] = name;
	}
	return put_sorted(projection, "kernel.interfaces", names, count, err);
}

/* "POINT ro TYPE" of each; ids, devices, roots and sources name this container. */
static int put_mounts(const struct projection *projection, const char *mountinfo, struct error **err)
{
	cleanup_buf struct buf text = BUF(VALUE_BYTES);
	struct text lines[MOUNTS_MAX], line;
	const char *rest = mountinfo;
	struct mount_line mount;
	size_t count = 0;
	bool known;

	while (mount_next(&rest, &mount, &known)) {
		if (!known)
			return error_set(err, ERROR_INPUT, "the kernel's list of mounts has an unknown form");
		(void)buf_add(&text, mount.point.bytes, mount.point.length);
		(void)buf_text(&text, mount_read_only(&mount) ? " ro " : " rw ");
		(void)buf_add(&text, mount.type.bytes, mount.type.length);
		(void)buf_text(&text, "\n");
	}
	if (buf_check(&text, "the mounts", err) < 0)
		return -1;
	for (rest = buf_string(&text); text_line(&rest, &line);) {
		if (count == ARRAY_SIZE(lines))
			return error_set(err, ERROR_LIMIT, "the container has more than %d mounts", MOUNTS_MAX);
		lines[count++] = line;
	}
	return put_sorted(projection, "kernel.mounts", lines, count, err);
}

static int put_line(const struct projection *projection, const char *field, const char *text, struct error **err)
{
	return put_text(projection, field, text, strlen(text), err);
}

/* What the cgroup limits, in the words of either version. */
static int put_cgroup(const struct projection *projection, const struct admission_effective *files, struct error **err)
{
	if (put_line(projection, "kernel.cgroup.pids", files->pids_max, err) < 0 ||
	    put_line(projection, "kernel.cgroup.memory", files->memory_max, err) < 0 ||
	    put_line(projection, "kernel.cgroup.memory-swap", files->memory_swap_max, err) < 0)
		return -1;
	return put_line(projection, "kernel.cgroup.swap", files->swap_max, err);
}

static int put_kernel(const struct projection *projection, const struct admission_effective *files, struct error **err)
{
	if (put_status(projection, "kernel.uid", files->status, "Uid", err) < 0 ||
	    put_status(projection, "kernel.gid", files->status, "Gid", err) < 0 ||
	    put_status(projection, "kernel.groups", files->status, "Groups", err) < 0 ||
	    put_capabilities(projection, files->status, err) < 0 ||
	    put_status(projection, "kernel.no-new-privs", files->status, "NoNewPrivs", err) < 0 ||
	    put_status(projection, "kernel.seccomp", files->status, "Seccomp", err) < 0 ||
	    put_namespaces(projection, files, err) < 0 || put_interfaces(projection, files->net_dev, err) < 0 ||
	    put_line(projection, "kernel.limits", files->limits, err) < 0 || put_cgroup(projection, files, err) < 0 ||
	    put_mounts(projection, files->mountinfo, err) < 0)
		return -1;
	return put_line(projection, "kernel.descriptors", files->descriptors, err);
}

int admission_project(const struct admission_declared *documents, const struct admission_effective *files,
		      effective_take take, void *context, struct error **err)
{
	const struct projection projection = { .take = take, .context = context };

	if (put_inspect(&projection, documents->inspect, err) < 0)
		return -1;
	return files ? put_kernel(&projection, files, err) : 0;
}

static const char *const host_split[] = { "LogConfig", "RestartPolicy", NULL };

static const char *const log_members[] = { "Type", "Config", NULL };
static const char *const restart_members[] = { "Name", "MaximumRetryCount", NULL };
static const char *const config_members[] = {
	"User",        "Env",       "Entrypoint",      "Cmd",          "WorkingDir",   "Tty",
	"OpenStdin",   "StdinOnce", "AttachStdin",     "AttachStdout", "AttachStderr", "Image",
	"Healthcheck", "Volumes",   "Domainname",      "ExposedPorts", "StopSignal",   "StopTimeout",
	"OnBuild",     "Shell",     "NetworkDisabled", NULL,
};

static const struct members members_projected[] = {
	{ .path = "HostConfig.LogConfig", .names = log_members },
	{ .path = "HostConfig.RestartPolicy", .names = restart_members },
	{ .path = "Config", .names = config_members },
};
static const size_t members_projected_count = ARRAY_SIZE(members_projected);
