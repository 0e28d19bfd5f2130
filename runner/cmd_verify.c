/* `harness verify`: a bundle, checked offline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/fd.h"
#include "reports/verify.h"
#include "runner/store.h"
#include "runner/verb.h"

#define TEXT_BYTES (64 * KIB)

static int run(const struct options *options, struct error **err)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct verify_options how = { .require_signature = options->require_signature };
	struct verify_report report;
	cleanup_fd int fd = -1;
	struct stat status;
	char safe[128];

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE,
				 "verify takes one bundle: harness verify runs/latest/confinement-evidence.tar.gz");
	/* O_NONBLOCK so that a FIFO cannot hold us up before fstat() sees it. */
	fd = open(options->words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &status) < 0)
		return error_errno(err, errno, "the bundle");
	if (fd >= 0 && S_ISDIR(status.st_mode))
		return error_set(err, ERROR_USAGE, "that is a folder: verify takes the bundle in it, %s", BUNDLE_NAME);
	if (fd >= 0 && !S_ISREG(status.st_mode))
		return error_set(err, ERROR_INPUT, "the bundle '%s' is no regular file",
				 error_safe(options->words[0], safe, sizeof(safe)));
	if (fd < 0)
		return error_errno(err, errno, "the bundle '%s'", error_safe(options->words[0], safe, sizeof(safe)));
	if (verify_bundle(fd, &how, &report, err) < 0)
		return -1;
	verify_text(&report, options->quiet, &text);
	fputs(buf_string(&text), stdout);
	return report.exit_code;
}

const struct verb verb_verify = {
	.name = "verify",
	.words = "BUNDLE",
	.title = "check a bundle offline: every hash and every verdict again",
	.text = "Read-only; needs neither root, engine nor network. Exit code 0, 1 or 2 is the verdict made again from "
		"an intact\n"
		"bundle; 1 also when any check fails; 3 when the file cannot be opened. Nobody vouches for an unsigned "
		"bundle:\n"
		"that is said, and with --require-signature it is not established (2).",
	.run = run,
};
