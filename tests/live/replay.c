#include "tests/live/replay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "adapter/engine.h"
#include "adapter/image.h"
#include "adapter/profile.h"
#include "core/clock.h"
#include "core/fd.h"
#include "tests/live/shape.h"
#include "tests/unit/test.h"

#define FOLDER "tests/data/engine"
#define RECORDED_API "1.41"
#define RUN "7e91a47e91a47e91"
#define MISSING_ID "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define FILE_BYTES (1 * MIB)
#define PATH_BYTES 1024
#define CALL_MS 20000

struct peer {
	const char *socket;
	struct engine *engine;
	struct http_client *client;
	struct image image;
	bool loaded; /* by us */
	bool same_version; /* as the recorded one: then no key may be new */
};

/* One row while it is replayed. */
struct replayed {
	const char *name;
	const struct json_node *row;
	char id[CONTAINER_ID_MAX];
	int stream; /* attached, or -1 */
};

/* ---- containers in a state ---- */

static const char *member(const struct json_node *row, const char *object, const char *key)
{
	return json_string(json_member(json_member(row, object), key));
}

static int put_create_body(const struct peer *peer, const char *program, struct buf *out, struct error **err)
{
	const char *const command[] = { program, NULL };
	const struct profile_identity identity = {
		.image = peer->image.id, .run = RUN, .role = "replay", .command = command
	};

	return profile_create_body(&profile_reference, &identity, out, err);
}

static int run_it(const struct peer *peer, struct replayed *replayed, bool to_its_end, struct error **err)
{
	cleanup_buf struct buf rest = BUF(FILE_BYTES);
	struct engine_request *waiting = NULL;
	int64_t code = -1;

	if (engine_attach(peer->engine, replayed->id, &replayed->stream, &rest, err) < 0 ||
	    engine_wait_begin(peer->engine, replayed->id, clock_deadline(CALL_MS), &waiting, err) < 0)
		return -1;
	if (engine_start(peer->engine, replayed->id, err) < 0 || !to_its_end) {
		engine_cancel(peer->engine, waiting);
		return *err ? -1 : 0;
	}
	fd_close(&replayed->stream);
	return engine_wait_finish(peer->engine, waiting, &code, err);
}

static int reach_state(const struct peer *peer, struct replayed *replayed, struct error **err)
{
	const char *state = json_string(json_member(replayed->row, "state"));
	cleanup_buf struct buf body = BUF(FILE_BYTES), warnings = BUF(FILE_BYTES);
	char name[ID_MAX];

	snprintf(replayed->id, sizeof(replayed->id), "%s", MISSING_ID);
	if (!state || strcmp(state, "missing") == 0)
		return 0;
	snprintf(name, sizeof(name), "harness-replay-%.40s", replayed->name);
	if (put_create_body(peer, strcmp(state, "broken") == 0 ? "/absent" : "/agent", &body, err) < 0 ||
	    engine_create(peer->engine, name, body.data, body.length, replayed->id, &warnings, err) < 0)
		return -1;
	if (strcmp(state, "running") == 0 || strcmp(state, "exited") == 0)
		return run_it(peer, replayed, strcmp(state, "exited") == 0, err);
	return 0;
}

/* Whatever bears our label. */
static void remove_all(const struct peer *peer)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	cleanup_json struct json_document *list = NULL;
	struct error *err = NULL;

	if (engine_list(peer->engine, PROFILE_LABEL_RUN "=" RUN, &text, &err) == 0 &&
	    json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &list, &err) == 0)
		for (const struct json_node *one = json_first(json_root(list)); one && !err; one = json_next(one))
			(void)!engine_remove(peer->engine, json_string(json_member(one, "Id")), &err);
	CU_ASSERT(test_no_error(&err));
}

/* ---- requests ---- */

/* {id}, {image}, {start}, {now} */
static void put_template(const struct peer *peer, const struct replayed *replayed, const char *template,
			 struct buf *out)
{
	time_t now = time(NULL);

	while (*template) {
		size_t plain = strcspn(template, "{");

		buf_add(out, template, plain);
		template += plain;
		/* A brace of JSON stands for itself. */
		plain = strcspn(template, "}") + 1;
		if (strncmp(template, "{id}", 4) == 0)
			buf_text(out, replayed->id);
		else if (strncmp(template, "{image}", 7) == 0)
			buf_text(out, peer->image.id);
		else if (strncmp(template, "{start}", 7) == 0)
			buf_printf(out, "%lld", (long long)now - 60);
		else if (strncmp(template, "{now}", 5) == 0)
			buf_printf(out, "%lld", (long long)now + 1);
		else
			buf_add(out, template, plain = *template == '{');
		template += plain;
	}
}

static void put_path(const struct peer *peer, const struct replayed *replayed, const char *template, struct buf *out)
{
	if (strncmp(template, "/_ping", 6) != 0)
		buf_printf(out, "/v%s", engine_api(peer->engine));
	put_template(peer, replayed, template, out);
}

/* `given`: the row's own, or NULL. */
static int put_body(const struct peer *peer, const char *path, const char *given, struct buf *body,
		    struct http_call *call, struct error **err)
{
	bool creates = strncmp(path, "/containers/create", 18) == 0, loads = strncmp(path, "/images/load", 12) == 0;

	if (creates && put_create_body(peer, "/agent", body, err) < 0)
		return -1;
	call->content_type = loads ? "application/x-tar" : "application/json";
	call->body = loads ? peer->image.archive.data : body->data;
	call->body_length = loads ? peer->image.archive.length : body->length;
	if (!creates && !loads && !given)
		call->content_type = NULL;
	return 0;
}

/* The body's only image is one that no engine has. */
static void spoil_image(struct buf *body)
{
	char *digest = memmem(body->data, body->length, "sha256:", 7);

	for (size_t i = 0; digest && i < 64; i++)
		digest[7 + i] = '0';
}

static int request(const struct peer *peer, const struct replayed *replayed, const char *object,
		   struct http_answer *answer, struct error **err)
{
	const char *path = member(replayed->row, object, "path"), *given = member(replayed->row, object, "body");
	cleanup_buf struct buf target = BUF(PATH_BYTES), body = BUF(FILE_BYTES);
	cleanup_fd int stream = -1;
	struct http_call call = { .method = member(replayed->row, object, "method"),
				  .body_fd = -1,
				  .deadline = clock_deadline(CALL_MS),
				  .body_max = FILE_BYTES };

	put_path(peer, replayed, path, &target);
	call.path = buf_string(&target);
	if (strstr(path, "/attach"))
		return http_hijack(peer->socket, &call, &stream, answer, err);
	if (given)
		put_template(peer, replayed, given, &body);
	if (put_body(peer, path, given, &body, &call, err) < 0)
		return -1;
	if (strcmp(replayed->name, "create-no-image") == 0)
		spoil_image(&body);
	return http_do(peer->client, &call, answer, err);
}

/* ---- comparison ---- */

static bool same_head(const struct replayed *replayed, const struct http_answer *answer)
{
	const struct json_node *recorded = json_member(replayed->row, "answer");
	const char *type = json_string(json_member(json_member(recorded, "headers"), "Content-Type"));
	int64_t status = 0;

	if (json_int64(json_member(recorded, "status"), &status) && status == answer->status &&
	    strcmp(type ? type : "", answer->content_type) == 0)
		return true;
	fprintf(stderr, "%s: recorded %d '%s', came %ld '%s'\n", replayed->name, (int)status, type ? type : "",
		answer->status, answer->content_type);
	return false;
}

/* A value, or the first of several lines. */
static bool same_body(const struct peer *peer, const struct replayed *replayed, const struct http_answer *answer)
{
	const struct json_node *recorded = json_member(replayed->row, "answer");
	const struct json_node *lines = json_member(recorded, "lines"), *json = json_member(recorded, "json");
	const char *text = buf_string(&answer->body);
	size_t length = lines ? strcspn(text, "\n") : answer->body.length;
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;

	if (!lines && !json)
		return (answer->body.length != 0) == (json_member(recorded, "text") || json_member(recorded, "file"));
	if (json_parse(text, length, JSON_ENGINE_DEPTH, &document, &err) < 0) {
		fprintf(stderr, "%s: %s\n", replayed->name, error_text(err));
		return false;
	}
	return shape_same(replayed->name, lines ? json_first(lines) : json, json_root(document), peer->same_version);
}

static bool replay_row(const struct peer *peer, struct replayed *replayed)
{
	cleanup_answer struct http_answer before = { .status = 0 }, answer = { .status = 0 };
	struct error *err = NULL;
	bool same;

	if (reach_state(peer, replayed, &err) == 0 &&
	    (!json_member(replayed->row, "before") || request(peer, replayed, "before", &before, &err) == 0))
		(void)!request(peer, replayed, "expect", &answer, &err);
	if (err) {
		fprintf(stderr, "%s: %s\n", replayed->name, error_text(err));
		error_free(err);
		return false;
	}
	same = same_head(replayed, &answer);
	return same_body(peer, replayed, &answer) && same;
}

static void replay_file(const struct peer *peer, const char *file)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	cleanup_json struct json_document *document = NULL;
	struct replayed replayed = { .stream = -1 };
	struct error *err = NULL;
	char path[PATH_BYTES], name[ID_MAX];

	snprintf(path, sizeof(path), "%s/%s", FOLDER, file);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(file, "."), file);
	if (fd_read_file(AT_FDCWD, path, FILE_BYTES, &text, &err) == 0 &&
	    json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &document, &err) == 0) {
		replayed.name = name;
		replayed.row = json_root(document);
		CU_ASSERT(replay_row(peer, &replayed));
		fd_close(&replayed.stream);
		remove_all(peer);
	}
	CU_ASSERT(test_no_error(&err));
}

/* ---- the whole ---- */

/* The version that was recorded, or where the engine is too new for it, the one that a run would take. */
static int agree(const struct peer *peer, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	cleanup_error struct error *ignored = NULL;
	char newest[16];

	if (engine_negotiate(peer->engine, err) < 0)
		return -1;
	snprintf(newest, sizeof(newest), "%s", engine_api(peer->engine));
	if (engine_use_version(peer->engine, RECORDED_API, err) < 0)
		return -1;
	return engine_info(peer->engine, &text, &ignored) == 0 ? 0 : engine_use_version(peer->engine, newest, err);
}

/* A text at the top of a recorded answer. */
static int read_recorded(const char *name, const char *key, char out[IMAGE_ID_MAX], struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	cleanup_json struct json_document *document = NULL;
	const char *found;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s.json", FOLDER, name);
	if (fd_read_file(AT_FDCWD, path, FILE_BYTES, &text, err) < 0 ||
	    json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &document, err) < 0)
		return -1;
	found = json_string(json_member(json_member(json_member(json_root(document), "answer"), "json"), key));
	if (!found)
		return error_set(err, ERROR_INPUT, "the recorded answer '%s' is not whole", name);
	snprintf(out, IMAGE_ID_MAX, "%s", found);
	return 0;
}

static int load_image(struct peer *peer, const char *agent, struct error **err)
{
	cleanup_fd int program = -1, archive = memfd_create("image", MFD_CLOEXEC);
	cleanup_buf struct buf json = BUF(FILE_BYTES);
	bool found = false;

	if (!agent)
		return read_recorded("image-inspect", "Id", peer->image.id, err);
	program = open(agent, O_RDONLY | O_CLOEXEC);
	if (program < 0 || archive < 0)
		return error_errno(err, errno, "the agent");
	if (image_build(program, image_architecture(), &peer->image, err) < 0 ||
	    engine_image_inspect(peer->engine, peer->image.id, &json, &found, err) < 0)
		return -1;
	if (found)
		return 0;
	if (fd_write_all(archive, peer->image.archive.data, peer->image.archive.length, clock_deadline(CALL_MS), err) <
	    0)
		return -1;
	peer->loaded = true;
	return engine_image_load(peer->engine, archive, peer->image.archive.length, err);
}

static bool recorded_version(const struct peer *peer)
{
	cleanup_buf struct buf live = BUF(FILE_BYTES);
	cleanup_json struct json_document *came = NULL;
	cleanup_error struct error *err = NULL;
	char recorded[IMAGE_ID_MAX];
	const char *version;

	if (read_recorded("version", "Version", recorded, &err) < 0 || engine_version(peer->engine, &live, &err) < 0 ||
	    json_parse(buf_string(&live), live.length, JSON_ENGINE_DEPTH, &came, &err) < 0)
		return false;
	version = json_string(json_member(json_root(came), "Version"));
	return version && strcmp(version, recorded) == 0;
}

static size_t replay_folder(const struct peer *peer)
{
	DIR *folder = opendir(FOLDER);
	const struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		replay_file(peer, entry->d_name);
		count++;
	}
	if (folder)
		closedir(folder);
	return count;
}

size_t replay(const char *socket, const char *agent)
{
	struct peer peer = { .socket = socket };
	struct error *err = NULL;
	size_t count = 0;

	if (engine_open(socket, &peer.engine, &err) == 0 && agree(&peer, &err) == 0 &&
	    http_client_new(socket, "http://localhost", &peer.client, &err) == 0 &&
	    load_image(&peer, agent, &err) == 0) {
		peer.same_version = recorded_version(&peer);
		remove_all(&peer);
		count = replay_folder(&peer);
		if (peer.loaded)
			(void)!engine_image_remove(peer.engine, peer.image.id, &err);
	}
	CU_ASSERT(test_no_error(&err));
	image_free(&peer.image);
	http_client_free(peer.client);
	engine_close(peer.engine);
	return count;
}
