#include "adapter/image.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/ustar.h"

#define AGENT_BYTES (16 * MIB)
#define READ_MS 5000

struct member {
	const char *name;
	char type;
	unsigned mode;
	const char *bytes;
	size_t length;
};

static int pack(const struct member *members, size_t count, struct buf *out, struct error **err)
{
	struct ustar_writer *writer = NULL;
	int status = ustar_writer_new(false, ustar_sink_buf, out, &writer, err);

	for (size_t i = 0; status == 0 && i < count; i++) {
		const struct member *member = &members[i];

		status = ustar_writer_member(writer, member->name, member->type, member->mode, member->length, err);
		if (status == 0 && member->length)
			status = ustar_writer_data(writer, member->bytes, member->length, err);
	}
	if (status == 0)
		status = ustar_writer_finish(writer, err);
	ustar_writer_free(writer);
	return status;
}

#define KEPT(probe)                                                                                                    \
	{                                                                                                              \
		.name = IMAGE_KEPT "/" probe, .type = '0', .mode = 0644, .bytes = IMAGE_KEPT_TEXT,                     \
		.length = strlen(IMAGE_KEPT_TEXT)                                                                      \
	}

static int layer(const struct buf *agent, struct buf *out, struct error **err)
{
	const struct member members[] = {
		{ .name = "agent", .type = '0', .mode = 0755, .bytes = agent->data, .length = agent->length },
		{ .name = "export/", .type = '5', .mode = 01777 },
		{ .name = IMAGE_KEPT "/", .type = '5', .mode = 0777 },
		KEPT("delete-child"),
		KEPT("file-delete"),
		{ .name = IMAGE_KEPT "/revision",
		  .type = '0',
		  .mode = 0644,
		  .bytes = IMAGE_KEPT_REVISION,
		  .length = strlen(IMAGE_KEPT_REVISION) },
		{ .name = "export/marker",
		  .type = '0',
		  .mode = 0644,
		  .bytes = IMAGE_MARKER,
		  .length = strlen(IMAGE_MARKER) },
	};

	return pack(members, ARRAY_SIZE(members), out, err);
}

/* The OCI image configuration, canonical: its digest is the image's id in the classic store. */
static int configuration(const char *architecture, const char *layer_sha256, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(4 * KIB);
	struct json_writer json;
	char diff[IMAGE_ID_MAX];

	snprintf(diff, sizeof(diff), "sha256:%s", layer_sha256);
	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "architecture", architecture);
	json_member_string(&json, "os", "linux");
	json_member_string(&json, "created", "1970-01-01T00:00:00Z");
	json_put_key(&json, "config");
	json_object(&json);
	json_put_key(&json, "Entrypoint");
	json_array(&json);
	json_put_string(&json, "/agent");
	json_array_end(&json);
	json_object_end(&json);
	json_put_key(&json, "rootfs");
	json_object(&json);
	json_member_string(&json, "type", "layers");
	json_put_key(&json, "diff_ids");
	json_array(&json);
	json_put_string(&json, diff);
	json_array_end(&json);
	json_object_end(&json);
	json_object_end(&json);
	if (buf_check(&text, "the image configuration", err) < 0)
		return -ERROR_LIMIT;
	return json_canonical(text.data, text.length, out, err);
}

static int manifest(const char *configuration_name, const char *tag, struct buf *out, struct error **err)
{
	struct json_writer json;

	json_begin(&json, out);
	json_array(&json);
	json_object(&json);
	json_member_string(&json, "Config", configuration_name);
	json_put_key(&json, "RepoTags");
	json_array(&json);
	json_put_string(&json, tag);
	json_array_end(&json);
	json_put_key(&json, "Layers");
	json_array(&json);
	json_put_string(&json, "layer.tar");
	json_array_end(&json);
	json_object_end(&json);
	json_array_end(&json);
	return buf_check(out, "the image manifest", err);
}

int image_build(int agent, const char *architecture, struct image *out, struct error **err)
{
	cleanup_buf struct buf program = BUF(AGENT_BYTES);
	cleanup_buf struct buf layer_tar = BUF(AGENT_BYTES + 64 * KIB);
	cleanup_buf struct buf config_json = BUF(4 * KIB);
	cleanup_buf struct buf manifest_json = BUF(4 * KIB);
	char sha256[HEX_SHA256], config_name[HEX_SHA256 + 8];

	*out = (struct image){ .archive = BUF(AGENT_BYTES + 256 * KIB) };
	if (fd_read_all(agent, &program, clock_deadline(READ_MS), err) < 0)
		return error_wrap(err, "the agent program");
	if (layer(&program, &layer_tar, err) < 0)
		return error_wrap(err, "the image's layer");
	hash_bytes(layer_tar.data, layer_tar.length, sha256);
	if (configuration(architecture, sha256, &config_json, err) < 0)
		return error_wrap(err, "the image's configuration");
	hash_bytes(config_json.data, config_json.length, sha256);
	snprintf(out->id, sizeof(out->id), "sha256:%s", sha256);
	snprintf(out->tag, sizeof(out->tag), IMAGE_REPOSITORY ":%.12s", sha256);
	snprintf(config_name, sizeof(config_name), "%s.json", sha256);
	if (manifest(config_name, out->tag, &manifest_json, err) < 0)
		return error_wrap(err, "the image's manifest");

	const struct member members[] = {
		{ .name = config_name,
		  .type = '0',
		  .mode = 0644,
		  .bytes = config_json.data,
		  .length = config_json.length },
		{ .name = "layer.tar", .type = '0', .mode = 0644, .bytes = layer_tar.data, .length = layer_tar.length },
		{ .name = "manifest.json",
		  .type = '0',
		  .mode = 0644,
		  .bytes = manifest_json.data,
		  .length = manifest_json.length },
	};
	return pack(members, ARRAY_SIZE(members), &out->archive, err);
}

void image_free(struct image *image)
{
	buf_free(&image->archive);
}

const char *image_architecture(void)
{
	static const struct {
		const char *machine, *name;
	} known[] = { { "x86_64", "amd64" }, { "aarch64", "arm64" } };
	struct utsname host;

	if (uname(&host) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (strcmp(host.machine, known[i].machine) == 0)
				return known[i].name;
	return "";
}
