/* `harness report`: the page of a bundle, made by this version from a bundle of any that it verifies. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/bundle.h"
#include "reports/opened.h"
#include "runner/bundle_file.h"
#include "runner/store.h"
#include "runner/verb.h"

#define DEFAULT_FORMAT "html"
#define STANDARD_OUTPUT "-"

struct format {
	const char *name;
	int member;
};
static const struct format formats[];

static const struct format *find(const char *name)
{
	for (const struct format *format = formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

static int write_to(const char *path, const struct buf *text, struct error **err)
{
	char safe[128];

	if (strcmp(path, STANDARD_OUTPUT) == 0) {
		/* Whether standard output took it is looked at behind every verb. */
		(void)fwrite(text->data, 1, text->length, stdout);
		return 0;
	}
	if (fd_write_atomic(AT_FDCWD, path, text->data, text->length, 0644, err) < 0)
		return -1;
	fprintf(stderr, "%s\n", error_safe(path, safe, sizeof(safe)));
	return 0;
}

static int run(const struct options *options, struct error **err)
{
	const struct format *format = find(options->format ? options->format : DEFAULT_FORMAT);
	cleanup_buf struct buf text = BUF((size_t)BUNDLE_FILE_BYTES);
	cleanup_opened struct opened *opened = NULL;
	struct verify_report report;
	char why[BUNDLE_FILE_WHY];
	cleanup_fd int fd = -1;

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE,
				 "report takes one bundle: harness report runs/latest/confinement-evidence.tar.gz");
	if (!format)
		return error_set(err, ERROR_USAGE, "--format is html, junit or ctrf");
	if (options->report && strcmp(options->report, STANDARD_OUTPUT) != 0 &&
	    bundle_file_spared(options->report, err) < 0)
		return -1;
	if (bundle_file_open(options->words[0], "report", &fd, &report, &opened, err) < 0)
		return -1;
	bundle_file_why(&report, why);
	if (!opened) {
		fprintf(stderr, "harness: the bundle does not verify: %s\n", why);
		return report.exit_code;
	}
	if (generate(format->member, opened_findings(opened), &text, err) < 0 ||
	    write_to(options->report ? options->report : member_kinds[format->member].name, &text, err) < 0)
		return -1;
	if (!report.newer)
		return EXIT_PASS;
	fprintf(stderr, "harness: not all of the bundle is in it: %s\n", why);
	return EXIT_NOT_ESTABLISHED;
}

static const struct format formats[] = {
	{ DEFAULT_FORMAT, MEMBER_REPORT },
	{ "junit", MEMBER_JUNIT },
	{ "ctrf", MEMBER_CTRF },
	{ .name = NULL },
};

const struct verb verb_report = {
	.name = "report",
	.words = "BUNDLE",
	.title = "write a bundle's page for people, report.html",
	.text = "Verifies the bundle first; of one that does not verify nothing is written, and the exit code is that "
		"of "
		"`harness verify`.\n"
		"A bundle has its page in it already: this makes it as this version does, or the file of another "
		"format "
		"for CI.\n"
		"The exit code is 0 once it is written, whatever the verdict: `harness verify` gives that; 2 where a "
		"newer version of\n"
		"the format says more than this program knows.",
	.run = run,
};
