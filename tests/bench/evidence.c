/*
 * What evidence costs: verifying and sealing a bundle of 10^4, 10^5 and 10^6 observations, beside the plain tools on
 * the same bytes. Needs no engine.
 *
 *   bench-evidence            measures, prints the table, and docs/performance.md keeps it
 *   bench-evidence --print    only prints
 *   bench-evidence --peak PROGRAM WORD..    runs it, and writes the most memory that it had, in KiB, to standard error
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "tests/bench/bench.h"
#include "tests/unit/bundle_big.h"

#define PAGE "docs/performance.md"
#define FOLDER "/tmp/harness-bench-XXXXXX"
#define ROUNDS 3
#define LIVE 4000
#define TABLE_BYTES (16 * KIB)
#define PATIENCE_MS (10 * 60 * 1000)

/* Ratios in hundredths, memory in KiB. */
enum { GOAL_VERIFY = 300, GOAL_SEAL = 200, GOAL_KIB = 64 * KIB, GOAL_LINEAR = 120 };

static const size_t sizes[] = { 10000, 100000, 1000000 };
#define SIZES ARRAY_SIZE(sizes)
static const char *const size_names[SIZES] = { "10^4", "10^5", "10^6" };

struct numbers {
	int64_t verify, hashed; /* ns, the fastest of the rounds */
	int64_t seal, packed;
	int64_t peak_kib;
};

struct contest {
	char folder[PATH_MAX];
	int directory;
	struct fixture fixture;
	struct canary *live;
	struct numbers numbers[SIZES];
};

/* What one command says to standard error goes to `said`, if given. */
static int run(const char *const *argv, int64_t *wall, int said, int expected, struct error **err)
{
	cleanup_child struct child child = CHILD_NONE;
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *const environment[] = { path, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = argv[0], .argv = (char *const *)(uintptr_t)argv,
					 .envp = environment };
	int64_t start = clock_now();
	int status = -1;

	options.fds[options.fds_count++] = (struct spawn_fd){ .from = said >= 0 ? said : 2, .to = 2 };
	if (spawn(&options, &child, err) < 0 || child_wait(&child, clock_deadline(PATIENCE_MS), &status, err) < 0)
		return -1;
	if (wall && (*wall == 0 || clock_now() - start < *wall))
		*wall = clock_now() - start;
	return status == expected ? 0 : error_set(err, ERROR_INTERNAL, "'%s' ended with %d", argv[0], status);
}

static int shell(const struct contest *contest, const char *command, int64_t *wall, struct error **err)
{
	char line[2 * PATH_MAX];
	const char *const argv[] = { "/bin/sh", "-c", line, NULL };

	snprintf(line, sizeof(line), "cd '%s' && %s", contest->folder, command);
	return run(argv, wall, -1, 0, err);
}

/* `--peak` in a process of its own: its parent's memory would count as the child's. */
static int peak(const struct contest *contest, const char *bundle, int64_t *kib, struct error **err)
{
	const char *const argv[] = { BENCH_PROGRAM, "--peak", BENCH_HARNESS, "verify", "--quiet", bundle, NULL };
	cleanup_fd int said = openat(contest->directory, "peak", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char text[32] = "";

	if (said < 0 || run(argv, NULL, said, 0, err) < 0)
		return said < 0 ? error_errno(err, errno, "a file for the peak") : -1;
	if (pread(said, text, sizeof(text) - 1, 0) <= 0)
		return error_set(err, ERROR_INTERNAL, "no peak was said");
	*kib = strtoll(text, NULL, 10);
	return 0;
}

static int run_peak(char **words)
{
	cleanup_error struct error *err = NULL;
	struct rusage usage;

	if (run((const char *const *)words, NULL, -1, 0, &err) < 0 || getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return EXIT_HARNESS;
	fprintf(stderr, "%ld\n", usage.ru_maxrss);
	return 0;
}

static int measure_size(struct contest *contest, size_t size, struct numbers *out, struct error **err)
{
	char bundle[PATH_MAX + sizeof(BUNDLE_ARCHIVE)];
	const char *const verify[] = { BENCH_HARNESS, "verify", "--quiet", bundle, NULL };
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	cleanup_fd int fd = big_observations(&contest->fixture, sizes[size], contest->directory);
	size_t count = 0;

	snprintf(bundle, sizeof(bundle), "%s/" BUNDLE_ARCHIVE, contest->folder);
	if (fd < 0 || big_members(&contest->fixture, sizes[size], fd, members, &count, err) < 0)
		return fd < 0 ? error_set(err, ERROR_SYSTEM, "the observations cannot be written") : -1;
	for (int round = 0; round < (size == SIZES - 1 ? 1 : ROUNDS); round++) {
		int64_t start = clock_now();

		if (bundle_seal(contest->directory, members, count, contest->live, LIVE, &identity, err) < 0)
			return -1;
		if (out->seal == 0 || clock_now() - start < out->seal)
			out->seal = clock_now() - start;
		if (shell(contest, "rm -rf x && mkdir x && tar xzf " BUNDLE_ARCHIVE " -C x", NULL, err) < 0 ||
		    shell(contest, "tar cf - -C x . | gzip -9 >y && rm y", &out->packed, err) < 0)
			return -1;
	}
	for (int round = 0; round < ROUNDS; round++)
		if (shell(contest, "gzip -dc " BUNDLE_ARCHIVE " | sha256sum >sum", &out->hashed, err) < 0 ||
		    run(verify, &out->verify, -1, 0, err) < 0)
			return -1;
	return peak(contest, bundle, &out->peak_kib, err);
}

static int measure(struct contest *contest, struct error **err)
{
	char path[] = FOLDER;

	if (!mkdtemp(path))
		return error_errno(err, errno, "a folder below /tmp");
	snprintf(contest->folder, sizeof(contest->folder), "%s", path);
	contest->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	contest->live = calloc(LIVE, sizeof(*contest->live));
	if (contest->directory < 0 || !contest->live || !fixture_make(&contest->fixture, "all"))
		return error_set(err, ERROR_INTERNAL, "the bundle cannot be made");
	for (size_t i = 0; i < LIVE; i++)
		if (canary_new(&contest->live[i], err) < 0)
			return -1;
	for (size_t size = 0; size < SIZES; size++)
		if (measure_size(contest, size, &contest->numbers[size], err) < 0)
			return -1;
	return 0;
}

static void rows(const struct contest *contest, struct bench_report *report, char names[][96])
{
	size_t used = 0;

	for (size_t size = 0; size < SIZES; size++) {
		const struct numbers *one = &contest->numbers[size];
		char *verify = names[used++], *seal = names[used++], *most = names[used++];

		snprintf(verify, sizeof(names[0]), "%s observations: verify, against `gzip -dc \\| sha256sum`",
			 size_names[size]);
		snprintf(most, sizeof(names[0]), "the most memory of it");
		snprintf(seal, sizeof(names[0]), "seal, against `tar \\| gzip -9`");
		report_row(report, &(struct bench_row){ .what = verify,
							.unit = BENCH_MS,
							.ours = one->verify,
							.bare = one->hashed,
							.goal = GOAL_VERIFY });
		report_row(report, &(struct bench_row){
					   .what = most, .unit = BENCH_KIB, .ours = one->peak_kib, .goal = GOAL_KIB });
		report_row(report, &(struct bench_row){ .what = seal,
							.unit = BENCH_MS,
							.ours = one->seal,
							.bare = one->packed,
							.goal = GOAL_SEAL });
	}
	for (size_t size = 1; size < SIZES; size++) {
		snprintf(names[used], sizeof(names[0]), "verify of %s, against ten times that of %s", size_names[size],
			 size_names[size - 1]);
		report_row(report, &(struct bench_row){ .what = names[used++],
							.unit = BENCH_MS,
							.ours = contest->numbers[size].verify,
							.bare = 10 * contest->numbers[size - 1].verify,
							.goal = GOAL_LINEAR });
	}
}

static int tell(const struct contest *contest, bool keep, struct error **err)
{
	cleanup_buf struct buf text = BUF(TABLE_BYTES);
	struct bench_report report = { .rows_count = 0 };
	char names[SIZES * 4][96];

	rows(contest, &report, names);
	report_machine(NULL, &text);
	report_table(&report, "harness", "tools", &text);
	if (buf_check(&text, "the table", err) < 0)
		return -1;
	printf("%s", buf_string(&text));
	return keep ? report_keep(PAGE, "evidence", &text, err) : 0;
}

static int end(struct contest *contest, struct error **err)
{
	fixture_free(&contest->fixture);
	free(contest->live);
	fd_close(&contest->directory);
	return contest->folder[0] ? fd_remove_tree(AT_FDCWD, contest->folder, err) : 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	cleanup_free struct contest *contest = calloc(1, sizeof(*contest));
	bool keep = argc == 1;
	struct error *late = NULL;

	if (argc > 2 && strcmp(argv[1], "--peak") == 0)
		return run_peak(argv + 2);
	if (!keep && (argc != 2 || strcmp(argv[1], "--print") != 0)) {
		fprintf(stderr, "bench-evidence [--print]\n");
		return EXIT_USAGE;
	}
	if (!contest)
		return EXIT_HARNESS;
	contest->directory = -1;
	if (process_harden(false, 0, &err) == 0 && measure(contest, &err) == 0)
		(void)!tell(contest, keep, &err);
	if (end(contest, &late) < 0)
		error_keep_first(&err, &late);
	if (!err)
		return 0;
	fprintf(stderr, "bench-evidence: %s\n", error_text(err));
	return EXIT_HARNESS;
}
