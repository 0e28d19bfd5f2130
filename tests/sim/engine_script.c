/* The recorded answers, and the script that overrides them. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "tests/sim/engine_parts.h"

#define FILE_BYTES (1 * MIB)

int sim_data(const struct sim *sim, const char *name, struct buf *out, struct error **err)
{
	cleanup_fd int folder = open(sim->options.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return error_errno(err, errno, "the folder of recorded answers");
	if (!name || strchr(name, '/'))
		return error_set(err, ERROR_INPUT, "a recorded answer has a name");
	return fd_read_file(folder, name, FILE_BYTES, out, err);
}

const struct json_node *sim_document(struct sim *sim, const char *name)
{
	cleanup_error struct error *err = NULL;
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	struct sim_document *document = sim->documents;
	char file[ID_MAX + 8];

	for (; document < sim->documents + SIM_DOCUMENTS && document->json; document++)
		if (strcmp(document->name, name) == 0)
			return json_root(document->json);
	snprintf(file, sizeof(file), "%s.json", name);
	if (document == sim->documents + SIM_DOCUMENTS || sim_data(sim, file, &text, &err) < 0 ||
	    json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, &document->json, &err) < 0) {
		fprintf(stderr, "sim-engine: %s: %s\n", name, err ? error_text(err) : "too many");
		return NULL;
	}
	snprintf(document->name, sizeof(document->name), "%s", name);
	return json_root(document->json);
}

const struct json_node *sim_answer(struct sim *sim, const char *name)
{
	return json_member(sim_document(sim, name), "answer");
}

/* ---- the script ---- */

/* A word that is not known would silently script nothing. */
static bool take_member(struct sim_row *row, const struct json_node *member)
{
	const char *key = json_key(member);

	if (strcmp(key, "expect") == 0) {
		row->method = json_string(json_member(member, "method"));
		row->path = json_string(json_member(member, "path"));
		return row->method && row->path && json_count(member) == 2;
	}
	if (strcmp(key, "answer") == 0) {
		row->answer = member;
		return json_type(member) == JSON_OBJECT;
	}
	if (strcmp(key, "delay_ms") == 0)
		return json_int64(member, &row->delay_ms) && row->delay_ms > 0;
	if (strcmp(key, "hold") == 0)
		return json_bool(member, &row->hold);
	if (strcmp(key, "cut") == 0)
		return json_bool(member, &row->cut);
	if (strcmp(key, "garble") == 0)
		return json_bool(member, &row->garble);
	return false;
}

int sim_script_read(struct sim *sim, const char *path, struct error **err)
{
	cleanup_buf struct buf text = BUF(FILE_BYTES);

	if (fd_read_file(AT_FDCWD, path, FILE_BYTES, &text, err) < 0 ||
	    json_parse(buf_string(&text), text.length, JSON_DEPTH, &sim->script, err) < 0)
		return error_wrap(err, "the script");
	if (json_type(json_root(sim->script)) != JSON_ARRAY)
		return error_set(err, ERROR_INPUT, "the script is no array");
	for (const struct json_node *one = json_first(json_root(sim->script)); one; one = json_next(one)) {
		struct sim_row *row = &sim->rows[sim->rows_count];

		if (sim->rows_count++ == SIM_ROWS)
			return error_set(err, ERROR_LIMIT, "the script has more than %d rows", SIM_ROWS);
		for (const struct json_node *member = json_first(one); member; member = json_next(member))
			if (!take_member(row, member))
				return error_set(err, ERROR_INPUT, "the script: row %zu: a member is off",
						 sim->rows_count);
		if (!row->path)
			return error_set(err, ERROR_INPUT, "the script: row %zu: expects nothing", sim->rows_count);
	}
	return 0;
}

static bool fits(const struct sim_row *row, const struct sim_connection *connection)
{
	char pattern[2 * SIM_PATH_BYTES], target[2 * SIM_PATH_BYTES];

	snprintf(pattern, sizeof(pattern), "%s*", row->path);
	snprintf(target, sizeof(target), "%s%s%s", connection->path, connection->query[0] ? "?" : "",
		 connection->query);
	return strcmp(row->method, connection->method) == 0 && fnmatch(pattern, target, FNM_NOESCAPE) == 0;
}

const struct sim_row *sim_script_take(struct sim *sim, const struct sim_connection *connection)
{
	for (size_t i = 0; i < sim->rows_count; i++) {
		struct sim_row *row = &sim->rows[i];

		if (row->used || !fits(row, connection))
			continue;
		row->used = true;
		return row;
	}
	return NULL;
}
