#include "runner/declared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/preflight.h"
#include "core/clock.h"
#include "core/fd.h"
#include "observers/table.h"
#include "runner/store.h"
#include "runner/verb.h"

#define PROGRAM_BYTES (16 * MIB)
#define COPY_MS 5000

/* Where a fault is: file and field of the declaration that brings the observer. */
struct place {
	const struct effect *effect;
	size_t at;
};

static int refuse(const struct place *place, const char *why, struct error **err)
{
	return error_set(err, ERROR_INPUT, "%s.json: observers[%zu].program: '%s' %s", place->effect->id, place->at,
			 place->effect->observers[place->at].program, why);
}

/* ---- the programs ---- */

static bool is_helper(const char *name)
{
	if (strcmp(name, "agent") == 0 || strcmp(name, "harness") == 0)
		return true;
	for (const char *const *helper = preflight_helpers; *helper; helper++)
		if (strcmp(*helper, name) == 0)
			return true;
	return false;
}

/* Whoever owns the file may change it: nobody but root, and who asks for the run, himself or by sudo. */
static bool trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid() || store_is_user(owner);
}

/* Over no link, and nothing that waits. Who may change the file may do as root what the run does. */
static int open_program(int folder, const struct place *place, int *out, struct error **err)
{
	const char *name = place->effect->observers[place->at].program;
	cleanup_fd int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 && errno == ELOOP)
		return refuse(place, "is a link: what runs is a file of that name, beside the declaration", err);
	if (fd < 0 || fstat(fd, &status) < 0)
		return refuse(place, "is no file beside the declaration", err);
	if (!S_ISREG(status.st_mode))
		return refuse(place, "is no regular file", err);
	if (!(status.st_mode & S_IXUSR))
		return refuse(place, "is not executable", err);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(place, "can be changed by others than its owner", err);
	if (!trusted(status.st_uid))
		return refuse(place, "belongs to neither root nor the user who runs it", err);
	*out = steal_fd(&fd);
	return 0;
}

/* The bytes in memory that is sealed: what was measured is what runs. */
static int keep(int from, const struct place *place, char sha256[HEX_SHA256], int *out, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(PROGRAM_BYTES);
	cleanup_fd int fd = memfd_create("observer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_errno(err, errno, "memory for an observer");
	if (fd_read_all(from, &bytes, clock_deadline(COPY_MS), err) < 0)
		return error_wrap(err, "%s.json: observers[%zu].program", place->effect->id, place->at);
	if (bytes.length == 0)
		return refuse(place, "is empty", err);
	if (fd_write_all(fd, bytes.data, bytes.length, clock_deadline(COPY_MS), err) < 0)
		return -1;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		return error_errno(err, errno, "sealing an observer");
	hash_bytes(bytes.data, bytes.length, sha256);
	*out = steal_fd(&fd);
	return 0;
}

static const struct declared_observer *find(const struct declared *declared, const char *id)
{
	for (size_t i = 0; i < declared->count; i++)
		if (strcmp(declared->observers[i].id, id) == 0)
			return &declared->observers[i];
	return NULL;
}

/* A file is read once, whoever brings it: it is one line of the bundle's list. */
static int add(int folder, const struct place *place, struct declared *out, struct error **err)
{
	const struct effect_observer *from = &place->effect->observers[place->at];
	struct declared_observer *to = &out->observers[out->count];
	cleanup_fd int fd = -1;
	int same = -1;

	if (is_helper(from->program))
		return refuse(place, "is a name of the harness's own programs", err);
	if (observer_kind_find(from->id))
		return error_set(err, ERROR_INPUT, "%s.json: observers[%zu].id: '%s' is a name of the harness",
				 place->effect->id, place->at, from->id);
	if (out->count == DECLARED_MAX)
		return error_set(err, ERROR_LIMIT, "declarations bring more than %d observers", DECLARED_MAX);
	if (open_program(folder, place, &fd, err) < 0)
		return -1;
	for (size_t i = 0; i < out->count; i++)
		same = strcmp(out->observers[i].program, from->program) == 0 ? (int)i : same;
	*to = (struct declared_observer){ .inputs_count = from->inputs_count, .measures_count = from->measures_count };
	snprintf(to->id, sizeof(to->id), "%s", from->id);
	snprintf(to->program, sizeof(to->program), "%s", from->program);
	memcpy(to->inputs, from->inputs, sizeof(to->inputs));
	memcpy(to->measures, from->measures, sizeof(to->measures));
	if (same >= 0) {
		memcpy(to->sha256, out->observers[same].sha256, sizeof(to->sha256));
		out->programs[out->count] = fcntl(out->programs[same], F_DUPFD_CLOEXEC, 0);
		if (out->programs[out->count] < 0)
			return error_errno(err, errno, "an observer's program");
	} else if (keep(fd, place, to->sha256, &out->programs[out->count], err) < 0) {
		return -1;
	}
	out->count++;
	return 0;
}

int declared_open(int folder, const struct effect *effects, size_t count, struct declared *out, struct error **err)
{
	*out = (struct declared)DECLARED_NONE;
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at < effects[i].observers_count; at++) {
			const struct place place = { .effect = &effects[i], .at = at };

			if (effects[i].observers[at].program[0] && !find(out, effects[i].observers[at].id) &&
			    add(folder, &place, out, err) < 0)
				return -1;
		}
	return 0;
}

static int open_folder(const char *path, int *out, struct error **err)
{
	char safe[128];

	*out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *out < 0 ? error_errno(err, errno, "the declarations' folder '%s'", error_safe(path, safe, sizeof(safe)))
			: 0;
}

int declared_of(const struct options *options, const struct effect *effects, size_t count, struct declared *out,
		struct error **err)
{
	cleanup_fd int folder = -1;

	*out = (struct declared)DECLARED_NONE;
	if (!options->effects)
		return 0;
	return open_folder(options->effects, &folder, err) < 0 ? -1 : declared_open(folder, effects, count, out, err);
}

void declared_close(struct declared *declared)
{
	while (declared->count)
		fd_close(&declared->programs[--declared->count]);
}

void declared_says(const struct declared_observer *observer, char out[DECLARED_TEXT])
{
	snprintf(out, DECLARED_TEXT, "the program %s (SHA-256 %.12s) runs as root, as observer %s", observer->program,
		 observer->sha256, observer->id);
}

/* ---- the names ---- */

static size_t length_of(const char *const *list)
{
	size_t length = 0;

	while (list[length])
		length++;
	return length;
}

static void add_observer(const struct effect_observer *observer, struct declared_names *out, size_t *observers,
			 size_t *measures)
{
	out->observers[(*observers)++] = observer->id;
	for (size_t i = 0; i < observer->measures_count; i++)
		out->measures[(*measures)++] = observer->measures[i];
}

int declared_names(const struct options *options, struct declared_names *out, struct error **err)
{
	size_t observers = length_of(observer_ids), measures = length_of(measure_ids), count, most;
	const struct effect *effects;

	*out = (struct declared_names){ .observers = NULL };
	if (options->effects) {
		cleanup_fd int folder = -1;

		if (open_folder(options->effects, &folder, err) < 0 ||
		    effect_load_all(folder, NULL, &out->effects, &out->effects_count, err) < 0)
			return -1;
	}
	effects = out->effects;
	count = out->effects_count;
	most = count * EFFECT_OBSERVERS_MAX;
	out->observers = calloc(observers + most + 1, sizeof(char *));
	out->measures = calloc(measures + most * EFFECT_MEASURES_MAX + 1, sizeof(char *));
	if (!out->observers || !out->measures)
		return error_set(err, ERROR_MEMORY, "no memory for the names of observers");
	memcpy(out->observers, observer_ids, observers * sizeof(char *));
	memcpy(out->measures, measure_ids, measures * sizeof(char *));
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at < effects[i].observers_count; at++)
			if (effects[i].observers[at].program[0])
				add_observer(&effects[i].observers[at], out, &observers, &measures);
	return 0;
}

void declared_names_free(struct declared_names *names)
{
	free(names->effects);
	free(names->observers);
	free(names->measures);
	*names = (struct declared_names){ .observers = NULL };
}

/* ---- to an arm ---- */

static const struct schema_field declared_fields[];

void declared_encode(const struct declared *declared, struct json_writer *json)
{
	json_put_key(json, "declared");
	json_array(json);
	for (size_t i = 0; i < declared->count; i++)
		schema_encode(declared_fields, &declared->observers[i], json);
	json_array_end(json);
}

/* A number that is not open there is nobody's program, and may become anybody's. */
int declared_decode(const struct json_node *node, int first, struct declared *out, struct error **err)
{
	*out = (struct declared)DECLARED_NONE;
	if (json_count(node) > DECLARED_MAX)
		return error_set(err, ERROR_LIMIT, "the plan of an arm has too many observers");
	for (const struct json_node *one = json_first(node); one; one = json_next(one)) {
		int fd = first + (int)out->count;

		if (schema_decode(declared_fields, one, "declared", &out->observers[out->count],
				  sizeof(out->observers[0]), err) < 0)
			return -1;
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return error_set(err, ERROR_INPUT, "the plan of an arm comes without an observer's program");
		out->programs[out->count++] = fd;
	}
	return 0;
}

#define OF(member) .required = true, .offset = offsetof(struct declared_observer, member)
#define NAME(member)                                                                                                   \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = sizeof(((struct declared_observer *)0)->member),         \
	OF(member)
#define NAMES(member, most)                                                                                            \
	.type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = NAME_MAX_SHORT, .array_max = (most),                     \
	.count_offset = offsetof(struct declared_observer, member##_count), OF(member)

static const struct schema_field declared_fields[] = {
	{ .key = "id", NAME(id) },
	{ .key = "program", NAME(program) },
	{ .key = "sha256",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_HEX,
	  .min = HEX_SHA256 - 1,
	  .size = HEX_SHA256,
	  OF(sha256) },
	{ .key = "inputs", NAMES(inputs, EFFECT_INPUTS_MAX) },
	{ .key = "measures", NAMES(measures, EFFECT_MEASURES_MAX) },
	{ .key = NULL },
};
