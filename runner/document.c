#include "runner/document.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/utf8.h"

#define ERROR_BYTES (16 * KIB)

void document_begin(struct json_writer *json, struct buf *out, const char *verb, int exit_code)
{
	json_begin(json, out);
	json_object(json);
	json_member_int(json, "schemaVersion", DOCUMENT_VERSION);
	json_member_string(json, "verb", verb);
	json_member_int(json, "exitCode", exit_code);
}

void document_end(struct json_writer *json)
{
	json_object_end(json);
	(void)buf_text(json->out, "\n");
}

int document_print(const struct buf *document, struct error **err)
{
	if (buf_check(document, "the document of --json", err) < 0)
		return -1;
	if (fwrite(document->data, 1, document->length, stdout) != document->length || fflush(stdout) != 0)
		return error_errno(err, errno, "the document of --json");
	return 0;
}

int document_error(const char *verb, int exit_code, const char *text)
{
	cleanup_error struct error *error = NULL;
	cleanup_buf struct buf out = BUF(ERROR_BYTES);
	struct json_writer json;
	char safe[ERROR_BYTES / 2];

	document_begin(&json, &out, verb, exit_code);
	json_member_string(&json, "error", error_safe(text, safe, sizeof(safe)));
	document_end(&json);
	return document_print(&out, &error);
}

void document_optional(struct json_writer *json, const char *key, const char *text)
{
	json_put_key(json, key);
	if (*text)
		json_put_string(json, text);
	else
		json_put_null(json);
}

void document_path(struct json_writer *json, const char *key, const char *path)
{
	size_t length = strlen(path), at = 0, step = 1;
	char safe[PATH_MAX];

	while (at < length && (step = utf8_sequence(path + at, length - at)) > 0)
		at += step;
	json_member_string(json, key, step > 0 ? path : error_safe(path, safe, sizeof(safe)));
}
