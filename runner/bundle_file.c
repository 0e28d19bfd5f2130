#include "runner/bundle_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "runner/store.h"

int bundle_file(const char *path, const char *verb, int *out, struct error **err)
{
	cleanup_fd int fd = -1;
	struct stat status;
	char safe[128];

	/* O_NONBLOCK so that a FIFO cannot hold us up before fstat() sees it. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_errno(err, errno, "the bundle '%s'", error_safe(path, safe, sizeof(safe)));
	if (fstat(fd, &status) < 0)
		return error_errno(err, errno, "the bundle");
	if (S_ISDIR(status.st_mode))
		return error_set(err, ERROR_USAGE, "that is a folder: %s takes the bundle in it, %s", verb,
				 BUNDLE_NAME);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_INPUT, "the bundle '%s' is no regular file",
				 error_safe(path, safe, sizeof(safe)));
	*out = steal_fd(&fd);
	return 0;
}

int bundle_file_open(const char *path, const char *verb, int *fd, struct verify_report *report, struct opened **opened,
		     struct error **err)
{
	const struct verify_options how = { .require_signature = false };

	if (bundle_file(path, verb, fd, err) < 0)
		return -1;
	return opened_new(*fd, &how, report, opened, err);
}

int bundle_file_spared(const char *path, struct error **err)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b };
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char begin[sizeof(gzip)];
	char safe[128];

	/* What cannot be read is no bundle of the caller's; whether it can be written is found out by writing. */
	if (fd < 0 || pread(fd, begin, sizeof(begin), 0) != sizeof(begin) || memcmp(begin, gzip, sizeof(gzip)) != 0)
		return 0;
	return error_set(err, ERROR_USAGE, "--out '%s' is a bundle, which is not written over: name another file",
			 error_safe(path, safe, sizeof(safe)));
}

const struct verify_check *bundle_file_failed(const struct verify_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_FAIL)
			return &report->checks[i];
	return NULL;
}

const struct verify_check *bundle_file_unchecked(const struct verify_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_NOT_CHECKED && strcmp(report->checks[i].id, "signature") != 0 &&
		    strcmp(report->checks[i].id, VERIFY_ASSESSORS) != 0)
			return &report->checks[i];
	return NULL;
}

void bundle_file_why(const struct verify_report *report, char out[BUNDLE_FILE_WHY])
{
	const struct verify_check *check = bundle_file_failed(report);

	if (!check && report->newer) {
		snprintf(out, BUNDLE_FILE_WHY, "%s", VERIFY_NEWER);
		return;
	}
	check = check ? check : bundle_file_unchecked(report);
	snprintf(out, BUNDLE_FILE_WHY, "%s: %s", check ? check->id : "", check ? check->reason : "");
}
