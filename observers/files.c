/*
 * libexec/observer-files: the container's files, seen four ways, since each is blind to something: the engine's archive
 * of its root, the engine's list of changes, the upper directory on the host, and the root of its process. Inputs:
 *
 *   archive           pipe: the archive of "/"
 *   changes           pipe: the answer to changes, null or an array
 *   control-changes   pipe: the same of a container that did change a file: the positive control
 *   upper, lower      folders: the overlay's upper directory, and the last lower one, which holds the marker file
 *   root              folder: the root of the container's process, opened while it lived
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"
#include "observers/counter.h"
#include "observers/document.h"
#include "observers/files_archive.h"
#include "observers/observer.h"
#include "observers/stream.h"
#include "observers/tree.h"

#define SPOOL_MS 5000
#define MARKER_PATH "export/marker"
#define MARKER_TEXT "harness-files-marker-1\n"

/* The rows of the kind "files", in its order. */
enum { VIEW_ARCHIVE, VIEW_CHANGES, VIEW_UPPER, VIEW_ROOT, VIEWS };

/* What the walks of one view found: the largest of each, since a file may go between two walks. */
struct found {
	uint64_t records[ARM_SUBJECTS_MAX];
	uint64_t hits[ARM_SUBJECTS_MAX];
	uint64_t bytes;
	uint64_t cores; /* files that are cores */
	enum wire_reason reason;
};

/* The first bytes of an entry, as far as they tell a core file: its magic, and its type behind the identification. */
#define CORE_HEAD 18
struct head {
	unsigned char bytes[CORE_HEAD];
	size_t length;
};

/* The archive's marker file, compared as it comes. */
struct marker {
	bool inside; /* the current entry is the marker file */
	bool differs;
	size_t matched;
	bool found;
};

struct files {
	struct observer *observer;
	struct counter counter; /* of the walk under way */
	struct counter raw; /* over the bytes of the archive as one record */
	struct marker marker;
	struct head head;
	uint64_t cores; /* of the walk under way */
	struct stream archive;
	int spool; /* the archive: libarchive pulls, a pipe pushes */
	struct document changes;
	struct document control;
	int upper, lower, root;
	struct found found[VIEWS];
};

/* ---- what a walk meets ---------------------------------------------------------------------------------------------
 */

static int on_entry(void *context, const char *name, const char *link, struct error **err)
{
	struct files *files = context;

	(void)err;
	counter_apart(&files->counter, name, strlen(name));
	counter_apart(&files->counter, link, strlen(link));
	files->marker.inside = strcmp(name, MARKER_PATH) == 0;
	files->marker.differs = false;
	files->marker.matched = 0;
	files->head.length = 0;
	return 0;
}

static int on_attribute(void *context, const void *bytes, size_t length, struct error **err)
{
	struct files *files = context;

	(void)err;
	counter_apart(&files->counter, bytes, length);
	return 0;
}

static void take_head(struct head *head, const void *bytes, size_t length)
{
	size_t room = CORE_HEAD - head->length;
	size_t taken = length < room ? length : room;

	memcpy(&head->bytes[head->length], bytes, taken);
	head->length += taken;
}

static bool is_core(const struct head *head)
{
	uint16_t type;

	if (head->length < CORE_HEAD || memcmp(head->bytes, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&type, &head->bytes[EI_NIDENT], sizeof(type));
	return type == ET_CORE;
}

static int on_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct files *files = context;
	struct marker *marker = &files->marker;

	(void)err;
	counter_bytes(&files->counter, bytes, length);
	take_head(&files->head, bytes, length);
	if (!marker->inside || marker->differs)
		return 0;
	if (length > strlen(MARKER_TEXT) - marker->matched || memcmp(&MARKER_TEXT[marker->matched], bytes, length) != 0)
		marker->differs = true;
	else
		marker->matched += length;
	return 0;
}

static int on_end(void *context, struct error **err)
{
	struct files *files = context;
	struct marker *marker = &files->marker;

	(void)err;
	counter_end(&files->counter);
	files->cores += is_core(&files->head);
	if (marker->inside && !marker->differs && marker->matched == strlen(MARKER_TEXT))
		marker->found = true;
	return 0;
}

static const struct tree_visitor visitor = {
	.entry = on_entry, .attribute = on_attribute, .data = on_data, .end = on_end
};

static void begin_walk(struct files *files)
{
	counter_clear(&files->counter);
	files->cores = 0;
}

/* Takes over what the walk counted; the first reason stays. */
static void keep(struct files *files, size_t view, const struct tree_result *result)
{
	struct found *found = &files->found[view];

	for (size_t i = 0; i < files->observer->count; i++) {
		if (files->counter.records[i] > found->records[i])
			found->records[i] = files->counter.records[i];
		if (files->counter.hits[i] > found->hits[i])
			found->hits[i] = files->counter.hits[i];
	}
	if (result->bytes > found->bytes)
		found->bytes = result->bytes;
	if (files->cores > found->cores)
		found->cores = files->cores;
	if (found->reason == WIRE_REASON_NONE)
		found->reason = result->reason;
}

/* ---- the archive ---------------------------------------------------------------------------------------------------
 */

static int on_archive(void *context, const void *bytes, size_t length, struct error **err)
{
	struct files *files = context;

	counter_bytes(&files->raw, bytes, length);
	return fd_write_all(files->spool, bytes, length, clock_deadline(SPOOL_MS), err);
}

/* The raw bytes decide: a canary in a header that the listing does not show is one file's. */
static void keep_raw(struct files *files)
{
	struct found *found = &files->found[VIEW_ARCHIVE];

	counter_end(&files->raw);
	for (size_t i = 0; i < files->observer->count; i++) {
		found->hits[i] = files->raw.hits[i];
		if (found->records[i] < files->raw.records[i])
			found->records[i] = files->raw.records[i];
	}
}

static int look_at_archive(struct files *files, int64_t deadline, struct error **err)
{
	struct tree_result result = { 0 };
	int status = stream_finish(&files->archive, deadline, err);

	if (status)
		return status;
	files->found[VIEW_ARCHIVE].reason = stream_reason(&files->archive);
	if (files->found[VIEW_ARCHIVE].reason == WIRE_REASON_NONE) {
		begin_walk(files);
		files->marker.found = false;
		status = files_archive_walk(files->spool, &visitor, files, &result, err);
		if (status)
			return status;
		keep(files, VIEW_ARCHIVE, &result);
	}
	keep_raw(files);
	if (!files->marker.found)
		return 0;
	status = observer_beacon(files->observer, VIEW_ARCHIVE, WIRE_BEFORE, 1, err);
	return status ? status : observer_beacon(files->observer, VIEW_ARCHIVE, WIRE_AFTER, 1, err);
}

/* ---- changes -------------------------------------------------------------------------------------------------------
 */

/* The entries of the list whose paths bear a canary. */
static void scan_paths(const struct json_node *list, struct counter *counter)
{
	for (const struct json_node *entry = json_first(list); entry; entry = json_next(entry)) {
		const struct json_node *path = json_member(entry, "Path");

		if (json_string(path))
			counter_apart(counter, json_string(path), json_string_length(path));
		counter_end(counter);
	}
}

/* How many entries the list has, their paths given to `counter`. What is no list is a reason. */
static int count_changes(struct document *document, int64_t deadline, struct counter *counter, uint64_t *out,
			 enum wire_reason *reason, struct error **err)
{
	cleanup_json struct json_document *json = NULL;
	const struct json_node *root;
	int status = stream_finish(&document->stream, deadline, err);

	*out = 0;
	counter_clear(counter);
	if (status)
		return status;
	*reason = stream_reason(&document->stream);
	if (*reason != WIRE_REASON_NONE)
		return 0;
	if (!document_parse(document, &json)) {
		*reason = WIRE_REASON_INPUT_INVALID;
		return 0;
	}
	root = json_root(json);
	scan_paths(root, counter);
	if (json_type(root) == JSON_ARRAY)
		*out = json_count(root);
	else if (json_type(root) != JSON_NULL)
		*reason = WIRE_REASON_INPUT_INVALID;
	return 0;
}

/* The list names no content, so every subject gets the same count; a canary in a path is a hit. */
static int look_at_changes(struct files *files, int64_t deadline, struct error **err)
{
	struct found *found = &files->found[VIEW_CHANGES];
	enum wire_reason control_reason = WIRE_REASON_NONE;
	uint64_t entries = 0, control = 0;
	int status = count_changes(&files->control, deadline, &files->counter, &control, &control_reason, err);

	if (!status)
		status = count_changes(&files->changes, deadline, &files->counter, &entries, &found->reason, err);
	if (status)
		return status;
	for (size_t i = 0; i < files->observer->count; i++) {
		found->records[i] = entries;
		found->hits[i] = files->counter.hits[i];
	}
	found->bytes = files->changes.stream.bytes;
	if (!control)
		return 0;
	status = observer_beacon(files->observer, VIEW_CHANGES, WIRE_BEFORE, control, err);
	return status ? status : observer_beacon(files->observer, VIEW_CHANGES, WIRE_AFTER, control, err);
}

/* ---- folders -------------------------------------------------------------------------------------------------------
 */

/* Walks `folder`; the marker is read through `marked`, which for the upper directory is the layer below it. */
static int look_at_folder(struct files *files, size_t view, int folder, int marked, enum wire_phase phase,
			  struct error **err)
{
	struct tree_result result = { 0 };
	int status;

	if (folder < 0) {
		files->found[view].reason = WIRE_REASON_INPUT_MISSING;
		return 0;
	}
	begin_walk(files);
	status = tree_walk(folder, &visitor, files, &result, err);
	if (status)
		return status;
	keep(files, view, &result);
	if (marked < 0 || !tree_holds(marked, MARKER_PATH, MARKER_TEXT))
		return 0;
	return observer_beacon(files->observer, view, phase, 1, err);
}

/* ---- the sensor ----------------------------------------------------------------------------------------------------
 */

static int files_open(struct observer *observer, struct error **err)
{
	struct files *files = observer->state;
	int status;

	*files = (struct files){
		.observer = observer,
		.archive = STREAM(OBSERVER_TREE_BYTES, on_archive),
		.spool = -1,
		.upper = -1,
		.lower = -1,
		.root = -1,
	};
	files->archive.context = files;
	document_init(&files->changes);
	document_init(&files->control);
	status = counter_open(&files->counter, observer, err);
	if (!status)
		status = counter_open(&files->raw, observer, err);
	if (status)
		return status;
	files->spool = memfd_create("archive", MFD_CLOEXEC);
	return files->spool < 0 ? error_errno(err, errno, "memfd_create") : 0;
}

static int files_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct files *files = observer->state;
	const struct input inputs[] = {
		{ .name = "archive", .stream = &files->archive },
		{ .name = "changes", .stream = &files->changes.stream },
		{ .name = "control-changes", .stream = &files->control.stream },
		{ .name = "upper", .folder = &files->upper },
		{ .name = "lower", .folder = &files->lower },
		{ .name = "root", .folder = &files->root },
	};

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int send_cores(const struct files *files, size_t view, enum wire_phase phase, struct error **err)
{
	const struct found *found = &files->found[view];
	struct wire_record record = {
		.kind = WIRE_COUNT,
		.reason = found->reason,
		.value = (int64_t)found->cores,
		.bytes = (int64_t)found->bytes,
	};

	return observer_record(files->observer, view, "core-files", phase, &record, err);
}

static int send_view(const struct files *files, size_t view, enum wire_phase phase, struct error **err)
{
	const struct found *found = &files->found[view];
	int status = 0;

	for (size_t i = 0; i < files->observer->count && !status; i++) {
		const struct observed *observed = &files->observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = found->reason,
			.value = (int64_t)found->records[i],
			.hits = (int64_t)found->hits[i],
			.bytes = (int64_t)found->bytes,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(files->observer, view, observed->subject, phase, &record, err);
	}
	return status || view == VIEW_CHANGES ? status : send_cores(files, view, phase, err);
}

/* Before the end there are only the folders: the engine's answers come when the process is gone. */
static int files_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct files *files = observer->state;
	int64_t deadline = clock_deadline(OBSERVER_STREAM_MS);
	int status = look_at_folder(files, VIEW_UPPER, files->upper, files->lower, phase, err);

	if (!status)
		status = look_at_folder(files, VIEW_ROOT, files->root, files->root, phase, err);
	if (!status && phase == WIRE_AFTER)
		status = look_at_archive(files, deadline, err);
	if (!status && phase == WIRE_AFTER)
		status = look_at_changes(files, deadline, err);
	for (size_t view = 0; view < VIEWS && !status; view++) {
		if (phase == WIRE_AFTER || view == VIEW_UPPER || view == VIEW_ROOT)
			status = send_view(files, view, phase, err);
	}
	return status;
}

static void files_close(struct observer *observer)
{
	struct files *files = observer->state;

	/* Without an observer it was never opened, and the descriptors of zero are not its own. */
	if (!files->observer)
		return;
	stream_close(&files->archive);
	document_close(&files->changes);
	document_close(&files->control);
	counter_close(&files->counter);
	counter_close(&files->raw);
	fd_close(&files->spool);
	fd_close(&files->upper);
	fd_close(&files->lower);
	fd_close(&files->root);
}

static const struct sensor sensor = {
	.name = "observer-files",
	.state_size = sizeof(struct files),
	.open = files_open,
	.input = files_input,
	.report = files_report,
	.close = files_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
