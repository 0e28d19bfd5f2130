#include "reports/opened.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/lines.h"
#include "core/ustar.h"
#include "reports/verify_parts.h"

struct opened {
	struct bundle bundle;
};

int opened_new(int fd, const struct verify_options *options, struct verify_report *report, struct opened **out,
	       struct error **err)
{
	cleanup_opened struct opened *opened = calloc(1, sizeof(*opened));
	int result;

	*out = NULL;
	if (!opened)
		return error_set(err, ERROR_MEMORY, "no memory for a bundle");
	opened->bundle.keep_all = true;
	result = bundle_verify(fd, options, &opened->bundle, report, err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_FAIL)
			return 0;
	/* Where a newer version left a check open, there is less than its readers rely on. */
	if (opened->bundle.verdicts)
		*out = steal_pointer(&opened);
	return 0;
}

int opened_judged(int fd, struct verify_report *report, struct opened **out, struct error **err)
{
	const struct verify_options options = { .require_signature = false };
	cleanup_opened struct opened *opened = calloc(1, sizeof(*opened));
	int result;

	*out = NULL;
	if (!opened)
		return error_set(err, ERROR_MEMORY, "no memory for a bundle");
	opened->bundle.keep_all = true;
	result = bundle_verify(fd, &options, &opened->bundle, report, err);
	if (result >= 0 && opened->bundle.verdicts)
		*out = steal_pointer(&opened);
	return result;
}

void opened_free(struct opened *opened)
{
	if (opened)
		bundle_close(&opened->bundle);
	free(opened);
}

const struct manifest *opened_manifest(const struct opened *opened)
{
	return &opened->bundle.manifest;
}

const struct findings *opened_findings(const struct opened *opened)
{
	return &opened->bundle.findings;
}

const struct scenario *opened_scenarios(const struct opened *opened, size_t *count)
{
	*count = opened->bundle.scenarios_count;
	return opened->bundle.scenarios;
}

const char *opened_text(const struct opened *opened, int member, size_t *length)
{
	const struct read_member *read = &opened->bundle.members[member];

	*length = read->text.length;
	return read->present && member != MEMBER_OBSERVATIONS ? buf_string(&read->text) : NULL;
}

/* One reading for the lines alone. */
struct reading {
	struct lines lines;
	bool wanted; /* the current member has them */
};

static int begin_member(void *context, const char *name, uint64_t size, struct error **err)
{
	struct reading *reading = context;

	(void)size;
	(void)err;
	reading->wanted = member_find(name) == MEMBER_OBSERVATIONS;
	return 0;
}

static int take_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct reading *reading = context;

	return reading->wanted ? lines_feed(&reading->lines, bytes, length, err) : 0;
}

static int end_member(void *context, struct error **err)
{
	(void)context;
	(void)err;
	return 0;
}

int opened_observations(int fd, opened_line take, void *context, struct error **err)
{
	static const struct ustar_visitor visitor = { .member = begin_member, .data = take_data, .end = end_member };
	struct reading reading = { .lines = LINES(OBSERVATION_LINE_BYTES, take, context) };
	int result;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, errno, "the bundle cannot be read twice");
	result = ustar_read(fd, &bundle_limits, &visitor, &reading, err);
	lines_free(&reading.lines);
	return result;
}
