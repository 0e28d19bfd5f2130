/* Images that a session must not be created from, on the real engine: each is refused by the name of its rule. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapter/engine.h"
#include "adapter/image.h"
#include "adapter/session.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/ustar.h"
#include "runner/sweep.h"
#include "tests/live/live.h"

#define REPOSITORY "harness/agent-test"
#define RUN "0123456789abcdef0123456789abcdef"
#define ARCHIVE_BYTES (4 * MIB)
#define LOAD_MS 30000

/* One image: what its configuration says beside the entrypoint, and the rules that refuse it, as the error lists them.
 */
struct row {
	const char *name;
	const char *configuration;
	const char *refused; /* NULL: admitted */
	bool tag; /* the session names it by its tag */
};
static const struct row rows[];
static const size_t rows_count;

struct member {
	const char *name;
	const struct buf *bytes;
};

static int pack(const struct member *members, size_t count, struct buf *out, struct error **err)
{
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	int status = ustar_writer_new(false, ustar_sink_buf, out, &writer, err);

	for (size_t i = 0; status == 0 && i < count; i++) {
		status = ustar_writer_member(writer, members[i].name, '0', 0755, members[i].bytes->length, err);
		if (status == 0)
			status = ustar_writer_data(writer, members[i].bytes->data, members[i].bytes->length, err);
	}
	return status == 0 ? ustar_writer_finish(writer, err) : status;
}

/* An image archive of one layer with the agent, as `docker save` writes it. */
static int build(const struct row *row, struct buf *archive, struct error **err)
{
	cleanup_buf struct buf agent = BUF(ARCHIVE_BYTES), layer = BUF(ARCHIVE_BYTES);
	cleanup_buf struct buf config = BUF(4 * KIB), manifest = BUF(4 * KIB);
	char sha256[HEX_SHA256], name[HEX_SHA256 + 8];
	int status;

	if (fd_read_file(AT_FDCWD, TEST_BUILD "/agent", ARCHIVE_BYTES, &agent, err) < 0)
		return -1;
	status = pack(&(struct member){ "agent", &agent }, 1, &layer, err);
	if (status < 0)
		return status;
	hash_bytes(layer.data, layer.length, sha256);
	(void)buf_printf(&config,
			 "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Entrypoint\":[\"/agent\"]%s},"
			 "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:%s\"]}}",
			 image_architecture(), row->configuration, sha256);
	hash_bytes(config.data, config.length, sha256);
	snprintf(name, sizeof(name), "%s.json", sha256);
	(void)buf_printf(&manifest,
			 "[{\"Config\":\"%s\",\"RepoTags\":[\"" REPOSITORY ":%s\"],\"Layers\":[\"layer.tar\"]}]", name,
			 row->name);

	const struct member members[] = { { name, &config }, { "layer.tar", &layer }, { "manifest.json", &manifest } };

	return pack(members, ARRAY_SIZE(members), archive, err);
}

static int load(struct engine *engine, const struct row *row, const char *tag, struct json_document **out,
		struct error **err)
{
	cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES), answer = BUF(ENGINE_ANSWER_BYTES);
	cleanup_fd int file = memfd_create("image", MFD_CLOEXEC);
	bool found = false;

	if (build(row, &archive, err) < 0 ||
	    fd_write_all(file, archive.data, archive.length, clock_deadline(LOAD_MS), err) < 0 ||
	    engine_image_load(engine, file, archive.length, err) < 0 ||
	    engine_image_inspect(engine, tag, &answer, &found, err) < 0)
		return -1;
	return json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, out, err);
}

static int take_info(struct engine *engine, struct json_document **out, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);

	if (engine_info(engine, &answer, err) < 0)
		return -1;
	return json_parse(buf_string(&answer), answer.length, JSON_ENGINE_DEPTH, out, err);
}

static void check_row(struct engine *engine, const struct json_node *info, const struct row *row)
{
	cleanup_json struct json_document *image = NULL;
	struct session_options options;
	struct error *err = NULL;
	struct session session;
	char tag[ID_MAX];
	unsigned left = 0;

	snprintf(tag, sizeof(tag), REPOSITORY ":%s", row->name);
	if (load(engine, row, tag, &image, &err) == 0) {
		const struct session_target target = {
			.socket = LIVE_SOCKET,
			.run = RUN,
			.image = row->tag ? tag : json_string(json_member(json_root(image), "Id")),
			.image_inspect = json_root(image),
			.info = info,
		};
		struct error *refused = NULL;

		session_options_reference(&options);
		session_init(&session, engine, &target, &options);
		if (session_create(&session, "test", &refused) == 0)
			CU_ASSERT_PTR_NULL(row->refused);
		CU_ASSERT(row->refused ? test_error(&refused, ERROR_REFUSED, row->refused) : test_no_error(&refused));
		/* Refused means that it is not there any more once the session ended, and never ran. */
		CU_ASSERT_EQUAL(session.pid, 0);
		CU_ASSERT_EQUAL(session_end(&session, &err), 0);
	}
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(sweep_run(engine, RUN, &left, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(left, 0);
	CU_ASSERT_EQUAL(engine_image_remove(engine, tag, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_images(void)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_json struct json_document *info = NULL;
	struct error *err = NULL;

	if (engine_open(LIVE_SOCKET, &engine, &err) == 0 && engine_negotiate(engine, &err) == 0 &&
	    take_info(engine, &info, &err) == 0)
		for (size_t i = 0; i < rows_count; i++) {
			unsigned failures = CU_get_number_of_failures();

			check_row(engine, json_root(info), &rows[i]);
			if (CU_get_number_of_failures() != failures)
				fprintf(stderr, "the image '%s' was not handled as it must\n", rows[i].name);
		}
	CU_ASSERT(test_no_error(&err));
}

/* An engine that has no such image says so in one line of ours. */
static void test_no_image(void)
{
	cleanup_engine struct engine *engine = NULL;
	const struct session_target target = {
		.socket = LIVE_SOCKET,
		.run = RUN,
		.image = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	};
	struct session_options options;
	struct error *err = NULL;
	struct session session;

	CU_ASSERT(engine_open(LIVE_SOCKET, &engine, &err) == 0 && engine_negotiate(engine, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	session_options_reference(&options);
	session_init(&session, engine, &target, &options);
	CU_ASSERT(session_create(&session, "test", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_ENGINE, "the image is not there"));
	CU_ASSERT_EQUAL(session_end(&session, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo tests[] = {
	{ "images", test_images },
	{ "no image", test_no_image },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "bad image", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

static const struct row rows[] = {
	{ .name = "plain", .configuration = "" },
	{ .name = "tag", .configuration = "", .tag = true, .refused = "admission: image-immutable, image-id" },
	{ .name = "volume",
	  .configuration = ",\"Volumes\":{\"/data\":{}}",
	  .refused = "admission: image-volumes, mount-points, volumes" },
	{ .name = "healthcheck",
	  .configuration = ",\"Healthcheck\":{\"Test\":[\"CMD\",\"/agent\"]}",
	  .refused = "admission: image-healthcheck" },
	{ .name = "workdir",
	  .configuration = ",\"WorkingDir\":\"/proc/self/fd/7\"",
	  .refused = "admission: image-working-dir" },
	{ .name = "environment", .configuration = ",\"Env\":[\"SECRET=1\"]", .refused = "admission: environment" },
	{ .name = "labels", .configuration = ",\"Labels\":{\"other\":\"1\"}", .refused = "admission: labels" },
	{ .name = "ports",
	  .configuration = ",\"ExposedPorts\":{\"80/tcp\":{}}",
	  .refused = "admission: exposed-ports" },
	{ .name = "stopsignal", .configuration = ",\"StopSignal\":\"SIGUSR1\"", .refused = NULL },
};
static const size_t rows_count = ARRAY_SIZE(rows);

int main(void)
{
	return live_main("test_bad_image", suites);
}
