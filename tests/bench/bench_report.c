#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "core/fd.h"
#include "tests/bench/bench.h"

#define PAGE_BYTES (256 * KIB)
#define MARK "<!-- %s: %s -->\n"
#define MARK_BYTES 64
#define HUNDRED 100

static int compare(const void *left, const void *right)
{
	int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;

	return (one > other) - (one < other);
}

int64_t percentile(int64_t *values, size_t count, unsigned percent)
{
	size_t rank = (count * percent + HUNDRED - 1) / HUNDRED;

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), compare);
	return values[rank ? rank - 1 : 0];
}

void report_row(struct bench_report *report, const struct bench_row *row)
{
	if (report->rows_count < BENCH_ROWS_MAX)
		report->rows[report->rows_count++] = *row;
}

/* In integers: VALUE is in the smallest unit that is shown. */
static void put_value(enum bench_unit unit, int64_t value, char *out, size_t size)
{
	const long long number = (long long)value;

	switch (unit) {
	case BENCH_MS:
		snprintf(out, size, "%lld ms", (number + 500000) / 1000000);
		break;
	case BENCH_US:
		snprintf(out, size, "%lld µs", (number + 500) / 1000);
		break;
	case BENCH_NS:
		snprintf(out, size, "%lld ns", number);
		break;
	case BENCH_KIB:
		snprintf(out, size, "%lld.%lld MiB", number / 1024, number % 1024 * 10 / 1024);
		break;
	case BENCH_PER_SECOND:
		snprintf(out, size, "%lld", number);
		break;
	}
}

static void put_ratio(int64_t hundredths, char *out, size_t size)
{
	snprintf(out, size, "%lld.%02lld", (long long)hundredths / HUNDRED, (long long)hundredths % HUNDRED);
}

/* Rounded so that a ratio that misses its goal is never shown as equal to it. */
static int64_t ratio_of(const struct bench_row *row)
{
	return (row->ours * HUNDRED + (row->at_least ? 0 : row->bare - 1)) / row->bare;
}

static bool meets(const struct bench_row *row)
{
	int64_t value = row->bare ? ratio_of(row) : row->ours;

	return row->at_least ? value >= row->goal : value <= row->goal;
}

static void put_row(const struct bench_row *row, struct buf *out)
{
	char ours[32], bare[32] = "", ratio[32] = "", goal[40] = "", limit[32];
	const char *met = "";

	put_value(row->unit, row->ours, ours, sizeof(ours));
	if (row->bare) {
		put_value(row->unit, row->bare, bare, sizeof(bare));
		put_ratio(ratio_of(row), ratio, sizeof(ratio));
	}
	if (row->goal) {
		if (row->bare)
			put_ratio(row->goal, limit, sizeof(limit));
		else
			put_value(row->unit, row->goal, limit, sizeof(limit));
		snprintf(goal, sizeof(goal), "%s %s", row->at_least ? "≥" : "≤", limit);
		met = meets(row) ? "met" : "missed";
	}
	(void)buf_printf(out, "| %s | %s | %s | %s | %s | %s |\n", row->what, ours, bare, ratio, goal, met);
}

/* The numbers that a version starts with: what a vendor put behind them says nothing about speed. */
static const char *version_of(const char *text, char *out, size_t size)
{
	snprintf(out, size, "%.*s", (int)strspn(text, "0123456789."), text);
	return out;
}

void report_machine(const struct bench *bench, struct buf *out)
{
	const char *engine = bench ? json_string(json_member(json_root(bench->run.version), "Version")) : NULL;
	struct utsname kernel = { .release = "" };
	struct sysinfo memory = { .totalram = 0 };
	char engine_version[32], kernel_version[32];

	(void)uname(&kernel);
	(void)sysinfo(&memory);
	(void)buf_printf(out, "Machine: %d processors, %llu GiB of memory, Linux %s", get_nprocs(),
			 (unsigned long long)memory.totalram * memory.mem_unit / MIB / KIB,
			 version_of(kernel.release, kernel_version, sizeof(kernel_version)));
	if (bench)
		(void)buf_printf(out, ", Docker Engine %s (API %s)",
				 version_of(engine ? engine : "", engine_version, sizeof(engine_version)),
				 engine_api(bench->run.engine));
	(void)buf_text(out, ".\n\n");
}

void report_table(const struct bench_report *report, const char *ours, const char *other, struct buf *out)
{
	(void)buf_printf(out, "| what | %s | %s | ratio | goal | |\n|---|---:|---:|---:|---:|---|\n", ours, other);
	for (size_t i = 0; i < report->rows_count; i++)
		put_row(&report->rows[i], out);
}

int report_text(const struct bench *bench, const struct bench_report *report, struct buf *out, struct error **err)
{
	report_machine(bench, out);
	report_table(report, "harness", "bare engine", out);
	(void)buf_add(out, buf_string(&report->notes), report->notes.length);
	return buf_check(out, "the report", err);
}

int report_keep(const char *path, const char *mark, const struct buf *text, struct error **err)
{
	cleanup_buf struct buf page = BUF(PAGE_BYTES);
	cleanup_buf struct buf changed = BUF(2 * PAGE_BYTES);
	char first[MARK_BYTES], last[MARK_BYTES];
	const char *begin, *end;

	snprintf(first, sizeof(first), MARK, mark, "begin");
	snprintf(last, sizeof(last), MARK, mark, "end");
	if (fd_read_file(AT_FDCWD, path, PAGE_BYTES, &page, err) < 0)
		return error_wrap(err, "the page of measurements");
	begin = strstr(buf_string(&page), first);
	end = begin ? strstr(begin, last) : NULL;
	if (!end)
		return error_set(err, ERROR_INPUT, "the page of measurements has lost its markers");
	(void)buf_add(&changed, page.data, (size_t)(begin - page.data) + strlen(first));
	(void)buf_add(&changed, text->data, text->length);
	(void)buf_text(&changed, end);
	if (buf_check(&changed, "the page of measurements", err) < 0 ||
	    fd_write_atomic(AT_FDCWD, path, changed.data, changed.length, 0644, err) < 0)
		return -1;
	store_give(AT_FDCWD, path);
	return 0;
}
