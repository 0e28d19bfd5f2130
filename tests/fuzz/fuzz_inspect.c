/*
 * What an engine and a kernel say of a container, up to its refusal: never a crash, and the same refusals each time.
 * The input is the parts in the order below, with a NUL between them: none of them can hold one.
 */
#include <string.h>

#include "adapter/admission.h"
#include "core/fd.h"
#include "core/hash.h"
#include "tests/fuzz/fuzz.h"

enum part {
	INSPECT,
	IMAGE,
	INFO,
	STATUS,
	LIMITS,
	CGROUP,
	NET_DEV,
	MOUNTINFO,
	DESCRIPTORS,
	PIDS_MAX,
	MEMORY_MAX,
	MEMORY_SWAP_MAX,
	SWAP_MAX,
	PARTS
};

#define DOCUMENTS (INFO + 1)

static struct json_document *parse(const char *text)
{
	cleanup_error struct error *err = NULL;
	struct json_document *document = NULL;

	if (json_parse(text, strlen(text), JSON_ENGINE_DEPTH, &document, &err) < 0)
		return NULL;
	return document;
}

static const char *id_of(const struct json_document *document)
{
	const char *id = json_string(json_member(json_root(document), "Id"));

	return id ? id : "";
}

static int take(void *context, const char *field, const char *sha256, struct error **err)
{
	uint64_t *sum = context;

	(void)err;
	FUZZ_HOLDS(*field && strlen(sha256) == HEX_SHA256 - 1);
	*sum = fuzz_sum(fuzz_sum(*sum, field, strlen(field)), sha256, HEX_SHA256);
	return 0;
}

static uint64_t project(const struct admission_declared *documents, const struct admission_effective *files)
{
	cleanup_error struct error *err = NULL;
	uint64_t sum = FUZZ_SUM;
	int result = admission_project(documents, files, take, &sum, &err);

	FUZZ_HOLDS((result < 0) == (err != NULL));
	return sum;
}

static void admit(const struct admission_declared *documents, const struct admission_effective *files)
{
	struct rule_set once = { { 0 } }, again = { { 0 } };

	admission_declared(documents, &once);
	admission_effective(files, &once);
	admission_declared(documents, &again);
	admission_effective(files, &again);
	FUZZ_HOLDS(rule_set_equal(&once, &again));
	/* No namespace is named here. */
	FUZZ_HOLDS(!rule_set_empty(&once));
	FUZZ_HOLDS(project(documents, files) == project(documents, files));
}

static void look(const char *const parts[PARTS])
{
	static const char *const command[] = { "/agent", NULL };
	cleanup_json struct json_document *inspect = parse(parts[INSPECT]), *image = parse(parts[IMAGE]);
	cleanup_json struct json_document *info = parse(parts[INFO]);
	const struct profile_identity identity = {
		.image = id_of(image), .run = "0123456789abcdef", .role = "arm", .command = command
	};
	const struct admission_declared documents = {
		.inspect = json_root(inspect),
		.image = json_root(image),
		.info = json_root(info),
		.image_id = id_of(image),
		.container_id = id_of(inspect),
		.profile = &profile_reference,
		.identity = &identity,
	};
	const struct admission_effective files = {
		.status = parts[STATUS],
		.limits = parts[LIMITS],
		.cgroup = parts[CGROUP],
		.net_dev = parts[NET_DEV],
		.mountinfo = parts[MOUNTINFO],
		.descriptors = parts[DESCRIPTORS],
		.pids_max = parts[PIDS_MAX],
		.memory_max = parts[MEMORY_MAX],
		.memory_swap_max = parts[MEMORY_SWAP_MAX],
		.swap_max = parts[SWAP_MAX],
		.container_id = id_of(inspect),
		.profile = &profile_reference,
	};

	admit(&documents, &files);
}

FUZZ_TARGET(inspect)
{
	cleanup_free char *text = malloc(size + 1);
	const char *parts[PARTS], *at = text;

	FUZZ_HOLDS(text);
	if (size > 0)
		memcpy(text, bytes, size);
	text[size] = '\0';
	for (size_t i = 0; i < PARTS; i++) {
		parts[i] = at;
		at += strlen(at);
		at += at < text + size;
	}
	look(parts);
}
