/*
 * What an engine and a kernel said of containers of the reference profile and of the mutants, as recorded in
 * tests/data/admission, and weakened copies of it.
 */
#ifndef HARNESS_TESTS_UNIT_ADMISSION_FIXTURE_H
#define HARNESS_TESTS_UNIT_ADMISSION_FIXTURE_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "adapter/admission.h"
#include "core/fd.h"
#include "core/json.h"
#include "tests/unit/test.h"

#define RECORDED "tests/data/admission"
#define RECORDED_RUN "0123456789abcdef"

enum recorded_text {
	TEXT_STATUS,
	TEXT_LIMITS,
	TEXT_CGROUP,
	TEXT_NET_DEV,
	TEXT_MOUNTINFO,
	TEXT_DESCRIPTORS,
	TEXT_NAMESPACES,
	TEXT_PIDS_MAX,
	TEXT_MEMORY_MAX,
	TEXT_MEMORY_SWAP_MAX,
	TEXT_SWAP_MAX,
	TEXTS
};

/* One container, as recorded. */
struct recorded {
	struct json_document *inspect, *image, *info, *version;
	struct buf texts[TEXTS];
	char image_id[80], container_id[80];
	struct profile_identity identity;
	struct admission_declared declared;
	struct admission_effective effective;
};

static inline struct json_document *fixture_parse(const char *bytes, size_t length)
{
	struct json_document *document = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(bytes, length, JSON_ENGINE_DEPTH, &document, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	return document;
}

static inline void fixture_read(const char *folder, const char *name, struct buf *out)
{
	struct error *err = NULL;
	char path[160];

	snprintf(path, sizeof(path), RECORDED "%s%s/%s", *folder ? "/" : "", folder, name);
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, path, 4 * MIB, out, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static inline struct json_document *fixture_document(const char *folder, const char *name)
{
	cleanup_buf struct buf text = BUF(4 * MIB);

	fixture_read(folder, name, &text);
	return fixture_parse(buf_string(&text), text.length);
}

/* "NAME OWN THEIRS" a line. */
static inline void fixture_namespaces(struct recorded *recorded)
{
	struct admission_effective *files = &recorded->effective;
	const char *rest = buf_string(&recorded->texts[TEXT_NAMESPACES]);
	int used = 0;

	while (files->namespaces_count < ARRAY_SIZE(files->namespaces) &&
	       sscanf(rest, "%15s %" SCNu64 " %" SCNu64 "%n", files->namespaces[files->namespaces_count].name,
		      &files->namespaces[files->namespaces_count].own,
		      &files->namespaces[files->namespaces_count].theirs, &used) == 3) {
		files->namespaces_count++;
		rest += used;
	}
}

static inline void fixture_view(struct recorded *recorded)
{
	struct admission_effective *files = &recorded->effective;

	files->status = buf_string(&recorded->texts[TEXT_STATUS]);
	files->limits = buf_string(&recorded->texts[TEXT_LIMITS]);
	files->cgroup = buf_string(&recorded->texts[TEXT_CGROUP]);
	files->net_dev = buf_string(&recorded->texts[TEXT_NET_DEV]);
	files->mountinfo = buf_string(&recorded->texts[TEXT_MOUNTINFO]);
	files->descriptors = buf_string(&recorded->texts[TEXT_DESCRIPTORS]);
	files->pids_max = buf_string(&recorded->texts[TEXT_PIDS_MAX]);
	files->memory_max = buf_string(&recorded->texts[TEXT_MEMORY_MAX]);
	files->memory_swap_max = buf_string(&recorded->texts[TEXT_MEMORY_SWAP_MAX]);
	files->swap_max = buf_string(&recorded->texts[TEXT_SWAP_MAX]);
	files->container_id = recorded->container_id;
	files->profile = &profile_reference;
	recorded->declared.inspect = json_root(recorded->inspect);
	recorded->declared.image = json_root(recorded->image);
	recorded->declared.info = json_root(recorded->info);
	recorded->declared.image_id = recorded->image_id;
	recorded->declared.container_id = recorded->container_id;
	recorded->declared.profile = &profile_reference;
	recorded->declared.identity = &recorded->identity;
}

/* `name`: "reference", "again", or a mutant's. recorded_close() afterwards. */
static inline void recorded_open(struct recorded *out, const char *name)
{
	static const char *const command[] = { "/agent", NULL };
	/* Recorded where cgroups are of version 1: no file has swap alone. */
	static const char *const names[TEXTS] = {
		[TEXT_STATUS] = "status",
		[TEXT_LIMITS] = "limits",
		[TEXT_CGROUP] = "cgroup",
		[TEXT_NET_DEV] = "net_dev",
		[TEXT_MOUNTINFO] = "mountinfo",
		[TEXT_DESCRIPTORS] = "descriptors",
		[TEXT_NAMESPACES] = "namespaces",
		[TEXT_PIDS_MAX] = "pids.max",
		[TEXT_MEMORY_MAX] = "memory.limit_in_bytes",
		[TEXT_MEMORY_SWAP_MAX] = "memory.memsw.limit_in_bytes",
	};
	const char *id;

	*out = (struct recorded){ .inspect = fixture_document(name, "inspect.json"),
				  .image = fixture_document("", "image.json"),
				  .info = fixture_document("", "info.json"),
				  .version = fixture_document("", "version.json") };
	for (size_t i = 0; i < TEXTS; i++) {
		out->texts[i].max = MIB;
		if (names[i])
			fixture_read(name, names[i], &out->texts[i]);
	}
	id = json_string(json_member(json_root(out->image), "Id"));
	snprintf(out->image_id, sizeof(out->image_id), "%s", id ? id : "");
	id = json_string(json_member(json_root(out->inspect), "Id"));
	snprintf(out->container_id, sizeof(out->container_id), "%s", id ? id : "");
	out->identity = (struct profile_identity){
		.image = out->image_id, .run = RECORDED_RUN, .role = "arm", .command = command
	};
	fixture_namespaces(out);
	fixture_view(out);
}

static inline void recorded_close(struct recorded *recorded)
{
	json_free(recorded->inspect);
	json_free(recorded->image);
	json_free(recorded->info);
	json_free(recorded->version);
	for (size_t i = 0; i < TEXTS; i++)
		buf_free(&recorded->texts[i]);
}
#define cleanup_recorded __attribute__((cleanup(recorded_close)))

/* Writes `node` with the value at the path (keys between '.') replaced by `value`, added where it is not there, left
 * out when `value` is NULL. */
static inline void fixture_edit(struct json_writer *json, const struct json_node *node, const char *path,
				const char *value)
{
	size_t length = path ? strcspn(path, ".") : 0;
	const char *rest = path && path[length] ? path + length + 1 : NULL;
	bool found = false;

	json_object(json);
	for (const struct json_node *member = json_first(node); member; member = json_next(member)) {
		const char *key = json_key(member);
		struct json_span raw = json_raw(member);
		bool here = strlen(key) == length && strncmp(key, path, length) == 0;

		found = found || here;
		if (here && !rest && !value)
			continue;
		json_put_key(json, key);
		if (here && rest)
			fixture_edit(json, member, rest, value);
		else if (here)
			json_put_raw(json, value, strlen(value));
		else
			json_put_raw(json, raw.bytes, raw.length);
	}
	if (!found && !rest && value) {
		json_put_key(json, path);
		json_put_raw(json, value, strlen(value));
	}
	json_object_end(json);
}

/* Puts a weakened copy in the document's place. */
static inline void fixture_weaken(struct json_document **document, const char *path, const char *value)
{
	cleanup_buf struct buf text = BUF(4 * MIB);
	struct json_document *weakened;
	struct json_writer json;

	json_begin(&json, &text);
	fixture_edit(&json, json_root(*document), path, value);
	CU_ASSERT_FALSE(text.failed);
	weakened = fixture_parse(buf_string(&text), text.length);
	json_free(*document);
	*document = weakened;
}

/* Replaces the only place of `old` in a text. */
static inline void fixture_replace(struct buf *text, const char *old, const char *with)
{
	const char *all = buf_string(text), *place = strstr(all, old);
	struct buf edited = BUF(MIB);

	CU_ASSERT_PTR_NOT_NULL(place);
	if (!place)
		return;
	(void)buf_add(&edited, all, (size_t)(place - all));
	(void)buf_text(&edited, with);
	(void)buf_text(&edited, place + strlen(old));
	CU_ASSERT_FALSE(edited.failed);
	buf_free(text);
	*text = edited;
}

/* Whether exactly the rules of these ids (NULL-terminated) are in the set; says which ones else. */
static inline bool failed_exactly(const char *what, const struct rule_set *failed, const char *const *ids)
{
	struct rule_set expected = { { 0 } };

	for (; *ids; ids++)
		CU_ASSERT_TRUE(rule_set_add_id(&expected, *ids));
	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (rule_set_has(failed, rule) != rule_set_has(&expected, rule))
			fprintf(stderr, "%s: %s %s\n", what, admission_rule_id(rule),
				rule_set_has(failed, rule) ? "was refused" : "was not refused");
	return rule_set_equal(failed, &expected);
}

#endif
