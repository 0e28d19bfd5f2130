#include "observers/logs_disk.h"

#include <string.h>

#include "core/fd.h"
#include "core/json.h"

/* A message of the json-file driver has up to 16 KiB, each byte escaped at the worst; an engine may raise that. */
#define LOG_LINE_BYTES (1 * MIB)
#define LOG_LINE_DEPTH 4

struct disk {
	struct logs_lines *lines;
	bool json; /* the current file is the json-file driver's */
	struct buf line; /* of it */
	bool overlong; /* the current line passed the buffer */
	enum wire_reason reason;
};

/* A line of the json-file driver: its message goes to its stream's lines, since a long one is cut over several. What
 * cannot be read so is searched as it stands. */
static void take_line(struct disk *disk)
{
	static const char *const names[LOGS_STREAMS] = { "stdin", "stdout", "stderr" };
	cleanup_json struct json_document *json = NULL;
	cleanup_error struct error *fault = NULL;
	const char *log = NULL, *stream = NULL;
	const struct json_node *message;

	if (json_parse(buf_string(&disk->line), disk->line.length, LOG_LINE_DEPTH, &json, &fault) == 0) {
		message = json_member(json_root(json), "log");
		log = json_string(message);
		stream = json_string(json_member(json_root(json), "stream"));
		for (size_t i = 0; log && stream && i < LOGS_STREAMS; i++) {
			if (strcmp(stream, names[i]) != 0)
				continue;
			counter_lines(&disk->lines->streams[i], log, json_string_length(message));
			return;
		}
	}
	counter_bytes(&disk->lines->raw, buf_string(&disk->line), disk->line.length);
	counter_end(&disk->lines->raw);
}

static void end_line(struct disk *disk)
{
	if (disk->overlong)
		counter_end(&disk->lines->raw);
	else if (disk->line.length)
		take_line(disk);
	disk->overlong = false;
	buf_consume(&disk->line, disk->line.length);
}

static int add_line(struct disk *disk, const char *bytes, size_t length, struct error **err)
{
	if (!disk->overlong && length > disk->line.max - disk->line.length) {
		disk->overlong = true;
		disk->reason = WIRE_REASON_LIMIT;
		counter_bytes(&disk->lines->raw, buf_string(&disk->line), disk->line.length);
		buf_consume(&disk->line, disk->line.length);
	}
	if (disk->overlong)
		counter_bytes(&disk->lines->raw, bytes, length);
	else if (buf_add(&disk->line, bytes, length) < 0)
		return buf_check(&disk->line, "a line of a log", err);
	return 0;
}

static int on_entry(void *context, const char *name, const char *link, struct error **err)
{
	static const char driver[] = "-json.log";
	struct disk *disk = context;
	const char *suffix = strstr(name, driver);

	(void)err;
	/* The driver's own file, and those that it rotated but did not compress. */
	disk->json = suffix && !strstr(suffix, ".gz");
	if (!disk->json) {
		counter_apart(&disk->lines->raw, name, strlen(name));
		counter_apart(&disk->lines->raw, link, strlen(link));
	}
	return 0;
}

static int on_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct disk *disk = context;
	const char *at = bytes;
	int status = 0;

	if (!disk->json) {
		counter_bytes(&disk->lines->raw, bytes, length);
		return 0;
	}
	while (length && !status) {
		const char *feed = memchr(at, '\n', length);
		size_t line = feed ? (size_t)(feed - at) : length;

		status = add_line(disk, at, line, err);
		if (feed)
			end_line(disk);
		line += feed != NULL;
		at += line;
		length -= line;
	}
	return status;
}

static int on_end(void *context, struct error **err)
{
	struct disk *disk = context;

	(void)err;
	if (disk->json)
		end_line(disk);
	logs_lines_end(disk->lines);
	return 0;
}

static const struct tree_visitor visitor = { .entry = on_entry, .data = on_data, .end = on_end };

int logs_disk_count(int folder, struct logs_lines *lines, struct tree_result *out, struct error **err)
{
	struct disk disk = { .lines = lines, .line = BUF(LOG_LINE_BYTES) };
	int status;

	logs_lines_clear(lines);
	memset(out, 0, sizeof(*out));
	if (folder < 0) {
		out->reason = WIRE_REASON_INPUT_MISSING;
		return 0;
	}
	status = tree_walk(folder, &visitor, &disk, out, err);
	if (out->reason == WIRE_REASON_NONE)
		out->reason = disk.reason;
	buf_wipe(&disk.line);
	return status;
}

bool logs_disk_is_engines(int folder)
{
	cleanup_fd int fd = folder < 0 ? -1 : tree_open(folder, "config.v2.json");
	char byte;

	return fd >= 0 && read(fd, &byte, 1) == 1;
}
