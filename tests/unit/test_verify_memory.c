/*
 * Memory while verifying stays below 64 MiB whatever the bundle: each row makes one that is as bad as it can be for a
 * reader, and the program itself verifies it. VERIFY_MEMORY_WHOLE=1: as large as a reader takes, else an eighth of it.
 *
 *   test_verify_memory --peak PROGRAM WORD..   runs it, and says its exit code and the most memory that it had, in KiB
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/spawn.h"
#include "reports/claims.h"
#include "tests/unit/bundle_big.h"

#define HARNESS TEST_BUILD "/harness"
#define PEAK_KIB (64 * KIB)
#define PATIENCE_MS 120000
#define PIECE_BYTES ((size_t)64 * KIB)

#if defined(__SANITIZE_ADDRESS__)
#define MEASURED false
#else
#define MEASURED true
#endif

/* ---- a program that is measured ---- */

static int run(const char *const *argv, int in, int out, int *status)
{
	cleanup_child struct child child = CHILD_NONE;
	struct spawn_options options = { SPAWN_DEFAULTS, .path = argv[0], .argv = (char *const *)(uintptr_t)argv };
	struct error *err = NULL;

	if (in >= 0)
		options.fds[options.fds_count++] = (struct spawn_fd){ .from = in, .to = 0 };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = out, .to = 1 };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = 2, .to = 2 };
	if (spawn(&options, &child, &err) == 0)
		(void)!child_wait(&child, clock_deadline(PATIENCE_MS), status, &err);
	return test_no_error(&err);
}

/* In a process of its own, since that of its parent would count as the child's. */
static int run_peak(char **words)
{
	struct rusage usage = { .ru_maxrss = 0 };
	int status = -1;

	if (!run((const char *const *)words, -1, 1, &status) || getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 1;
	printf("\nstatus %d peak %ld\n", status, usage.ru_maxrss);
	return 0;
}

/* ---- members ---- */

struct content {
	struct fixture *fixture;
	struct ustar_writer *writer; /* NULL: the bytes are counted alone */
	struct buf piece;
	uint64_t written;
	uint32_t random;
	struct error **err;
};

static void flush_piece(struct content *content)
{
	content->written += content->piece.length;
	if (content->writer && !*content->err)
		(void)!ustar_writer_data(content->writer, buf_string(&content->piece), content->piece.length,
					 content->err);
	content->piece.length = 0;
}

static void put(struct content *content, const char *text)
{
	buf_text(&content->piece, text);
	if (content->piece.length >= PIECE_BYTES)
		flush_piece(content);
}

/* What does not pack too tightly. */
static const char *digits(struct content *content)
{
	static char text[9];

	snprintf(text, sizeof(text), "%08x", big_next(&content->random));
	return text;
}

static bool room(const struct content *content, uint64_t most)
{
	return content->written + content->piece.length < most;
}

static void put_digest(struct content *content)
{
	for (int i = 0; i < 8; i++)
		put(content, digits(content));
}

/* Arms whose effective values are all distinct. */
static void many_values(struct content *content, uint64_t most)
{
	char text[256];

	put(content, "{\"arms\":[");
	for (size_t arm = 0; room(content, most); arm++) {
		snprintf(text, sizeof(text),
			 "%s{\"agentAttempts\":1,\"arm\":\"a%zu\",\"boot\":null,\"callsAllowed\":-1,\"callsDenied\":-1,"
			 "\"durationNs\":1,\"effective\":[",
			 arm ? "," : "", arm);
		put(content, text);
		for (size_t i = 0; i < ARM_EFFECTIVE_MAX; i++) {
			snprintf(text, sizeof(text), "%s{\"field\":\"a\",\"sha256\":\"", i ? "," : "");
			put(content, text);
			put_digest(content);
			put(content, "\"}");
		}
		put(content, "],\"events\":[],\"failed\":[],\"image\":null,\"mayDiffer\":[],\"mustFail\":[],"
			     "\"reason\":null,\"repetition\":1,\"shard\":0,\"status\":\"ok\"}");
	}
	put(content, "]}");
}

/* Arms with as many events as there may be. */
static void many_events(struct content *content, uint64_t most)
{
	char text[256];

	put(content, "{\"arms\":[");
	for (size_t arm = 0; room(content, most); arm++) {
		snprintf(text, sizeof(text),
			 "%s{\"agentAttempts\":1,\"arm\":\"a%zu\",\"boot\":null,\"callsAllowed\":-1,\"callsDenied\":-1,"
			 "\"durationNs\":1,\"effective\":[],\"events\":[",
			 arm ? "," : "", arm);
		put(content, text);
		for (size_t i = 0; i < ARM_EVENTS_MAX; i++) {
			snprintf(text, sizeof(text), "%s{\"atNs\":%u,\"name\":\"a\",\"subject\":null}", i ? "," : "",
				 big_next(&content->random));
			put(content, text);
		}
		put(content, "],\"failed\":[],\"image\":null,\"mayDiffer\":[],\"mustFail\":[],"
			     "\"reason\":null,\"repetition\":1,\"shard\":0,\"status\":\"ok\"}");
	}
	put(content, "]}");
}

static void tiny_values(struct content *content, uint64_t most)
{
	put(content, "[1");
	while (room(content, most)) {
		put(content, ",");
		put(content, big_next(&content->random) & 1 ? "1" : "0");
	}
	put(content, "]");
}

static void deep(struct content *content, uint64_t most)
{
	while (room(content, most))
		put(content, big_next(&content->random) & 1 ? "[" : "{\"\":");
}

static void one_string(struct content *content, uint64_t most)
{
	put(content, "[\"");
	while (room(content, most))
		put(content, digits(content));
	put(content, "\"]");
}

static void tiny_cells(struct content *content, uint64_t most)
{
	put(content, "{\"cells\":[{}");
	while (room(content, most))
		put(content, big_next(&content->random) & 1 ? ",{}" : ",{\"verdict\":\"pass\"}");
	put(content, "]}");
}

/* One scenario of the run again and again, under rising ids. */
static void many_scenarios(struct content *content, uint64_t most)
{
	const char *text = buf_string(fixture_text(content->fixture, "scenarios.json"));
	const char *first = text + strlen(SCENARIOS_BEGIN), *last = strstr(first, ",{\"after\"");
	const char *id = strstr(first, "\"id\":\"") + strlen("\"id\":\""), *rest = strchr(id, '"');

	put(content, SCENARIOS_BEGIN);
	for (size_t i = 0; room(content, most) && last; i++) {
		char name[32];

		snprintf(name, sizeof(name), "s%07zu", i);
		buf_text(&content->piece, i ? "," : "");
		buf_add(&content->piece, first, (size_t)(id - first));
		buf_text(&content->piece, name);
		buf_add(&content->piece, rest, (size_t)(last - rest));
		put(content, "");
	}
	put(content, SCENARIOS_END);
}

/* Leaks that nobody planned, more than a run has cells. */
static void many_strays(struct content *content, uint64_t most)
{
	char line[640];

	for (size_t i = 1; room(content, most); i++) {
		snprintf(line, sizeof(line),
			 "{\"arm\":\"baseline\",\"attempts\":0,\"beaconAfter\":1,\"beaconBefore\":1,\"bytes\":0,"
			 "\"canaryHits\":1,\"connections\":0,\"dropped\":0,\"durationNs\":%u,\"id\":\"o-%06zu\","
			 "\"kind\":\"count\",\"observer\":\"client\",\"reason\":\"none\",\"repetition\":1,"
			 "\"startNs\":%u,\"status\":\"observed\",\"subject\":\"tcp4\",\"unit\":\"records\",\"value\":1}"
			 "\n",
			 big_next(&content->random) % 1000000, i, big_next(&content->random) % 1000000);
		put(content, line);
	}
}

/* Claims of effects, each as long as a reader takes. */
static void many_claims(struct content *content, uint64_t most)
{
	put(content, CLAIMS_BEGIN);
	for (size_t effect = 0; room(content, most); effect++) {
		uint64_t end = content->written + content->piece.length + 900 * KIB;

		put(content, effect ? ",{\"claims\":[{}" : "{\"claims\":[{}");
		while (content->written + content->piece.length < end)
			put(content,
			    big_next(&content->random) & 1 ? ",{\"status\":\"established\"}" : ",{\"status\":1}");
		put(content, "]}");
	}
	put(content, CLAIMS_END);
}

static void one_line(struct content *content, uint64_t most)
{
	while (room(content, most))
		put(content, digits(content));
}

/* ---- bundles ---- */

struct row {
	const char *what;
	const char *member; /* the one that is not the fixture's */
	void (*write)(struct content *content, uint64_t most);
	uint64_t most; /* of its bytes, when they are whole */
	const char *check, *reason;
};
static const struct row rows[];
static const size_t rows_count;

static uint64_t scale(const struct row *row)
{
	/* What a reader keeps is as small as it is; and so many leaks are needed. */
	if (row->most <= (uint64_t)BUNDLE_SMALL_BYTES || row->write == many_strays || getenv("VERIFY_MEMORY_WHOLE"))
		return row->most;
	return row->most / 8;
}

static int write_file(void *context, const void *bytes, size_t length, struct error **err)
{
	return fd_write_all(*(int *)context, bytes, length, NEVER, err);
}

static int write_member(struct fixture *fixture, const struct row *row, const char *name, struct ustar_writer *writer,
			struct error **err)
{
	const struct buf *text = fixture_text(fixture, name);
	struct content counted = { .fixture = fixture, .piece = BUF(4 * MIB), .random = 1, .err = err };
	struct content written = counted;
	char path[USTAR_NAME_MAX + 1];

	snprintf(path, sizeof(path), BUNDLE_TOP "/%s", name);
	if (strcmp(name, row->member) != 0)
		return ustar_writer_member(writer, path, '0', 0644, text->length, err) < 0
			       ? -1
			       : ustar_writer_data(writer, buf_string(text), text->length, err);
	row->write(&counted, scale(row));
	flush_piece(&counted);
	buf_free(&counted.piece);
	if (ustar_writer_member(writer, path, '0', 0644, counted.written, err) < 0)
		return -1;
	written.writer = writer;
	row->write(&written, scale(row));
	flush_piece(&written);
	buf_free(&written.piece);
	return *err ? -1 : 0;
}

/* The level is the writer's own by its header alone: packed fast, since that is no matter here. */
static int pack(int plain, int packed)
{
	static const char *const argv[] = { "/bin/gzip", "-n1", NULL };
	int status = -1;

	return lseek(plain, 0, SEEK_SET) == 0 && run(argv, plain, packed, &status) && status == 0 &&
	       pwrite(packed, "\x02", 1, 8) == 1;
}

static int write_bundle(struct fixture *fixture, const struct row *row, int packed)
{
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	char path[] = "/tmp/harness-test-plain-XXXXXX";
	cleanup_fd int plain = mkostemp(path, O_CLOEXEC);
	struct error *err = NULL;
	int result;

	if (plain < 0 || unlink(path) < 0)
		return 0;
	result = ustar_writer_new(false, write_file, &plain, &writer, &err);
	for (size_t i = 0; i < fixture->count && result == 0; i++)
		result = write_member(fixture, row, fixture->members[i].name, writer, &err);
	if (result == 0)
		result = ustar_writer_finish(writer, &err);
	return test_no_error(&err) && result == 0 && pack(plain, packed);
}

static int verify(const char *path, struct buf *said, long *peak, int *status)
{
	const char *const argv[] = { "/proc/self/exe", "--peak", HARNESS, "verify", "--quiet", path, NULL };
	char out[] = "/tmp/harness-test-said-XXXXXX";
	cleanup_fd int fd = mkostemp(out, O_CLOEXEC);
	struct error *err = NULL;
	const char *line;
	int ended = -1;

	if (fd < 0 || unlink(out) < 0 || !run(argv, -1, fd, &ended) || ended != 0 || lseek(fd, 0, SEEK_SET) != 0)
		return 0;
	if (fd_read_all(fd, said, NEVER, &err) < 0)
		return test_no_error(&err);
	line = strstr(buf_string(said), "\nstatus ");
	if (!line)
		return 0;
	*status = (int)strtol(line + strlen("\nstatus "), NULL, 10);
	line = strstr(line, " peak ");
	*peak = line ? strtol(line + strlen(" peak "), NULL, 10) : -1;
	return *peak > 0;
}

static void test_rows(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	for (size_t i = 0; i < rows_count; i++) {
		char path[] = "/tmp/harness-test-bundle-XXXXXX", expected[256];
		cleanup_fd int fd = mkostemp(path, O_CLOEXEC);
		cleanup_buf struct buf said = BUF(64 * KIB);
		long peak = 0;
		int status = -1;

		snprintf(expected, sizeof(expected), "fail        %s: ", rows[i].check);
		CU_ASSERT(fd >= 0 && write_bundle(&fixture, &rows[i], fd));
		CU_ASSERT(verify(path, &said, &peak, &status));
		(void)unlink(path);
		CU_ASSERT_EQUAL(status, 1);
		if (!strstr(buf_string(&said), expected) || !strstr(buf_string(&said), rows[i].reason) ||
		    (MEASURED && peak > PEAK_KIB)) {
			fprintf(stderr, "%s: %ld KiB\n%s", rows[i].what, peak, buf_string(&said));
			CU_FAIL(rows[i].what);
		}
		if (getenv("VERIFY_MEMORY_WHOLE"))
			printf("%6ld KiB  %s\n", peak, rows[i].what);
	}
}

static void fill_text(char *out, size_t size)
{
	memset(out, 'w', size - 1);
}

/* Path `at` of effect `number`, whose scenarios did not run. */
static void fill_path(struct effect_path *path, size_t number, size_t at)
{
	snprintf(path->id, sizeof(path->id), "P%zu", at);
	fill_text(path->what, 128);
	snprintf(path->mediator, sizeof(path->mediator), "network");
	snprintf(path->subject, sizeof(path->subject), "s-%zu-%zu", number, at);
	snprintf(path->observers[0], sizeof(path->observers[0]), "orders");
	for (size_t i = 0; i < EFFECT_SCENARIOS_MAX; i++)
		snprintf(path->scenarios[path->scenarios_count++], ID_MAX, "none/%zu-%zu-%zu", number, at, i);
	path->observers_count = 1;
	path->coverage.claims = EFFECT_CLAIMS_MEDIATED;
	path->coverage.basis = EFFECT_BASIS_SCENARIOS;
	fill_text(path->coverage.why, 128);
}

/* As many declarations as there may be, each as long as there is room for. */
static int declare_long(struct fixture *fixture)
{
	fixture->effects = calloc(EFFECTS_MAX, sizeof(*fixture->effects));
	if (!fixture->effects)
		return 0;
	for (size_t number = 0; number < EFFECTS_MAX; number++) {
		struct effect *effect = &fixture->effects[fixture->effects_count++];

		snprintf(effect->id, sizeof(effect->id), "effect-%02zu", number);
		snprintf(effect->effect, sizeof(effect->effect), "effect-%02zu", number);
		set(effect->title, sizeof(effect->title), "t");
		set(effect->boundary.id, sizeof(effect->boundary.id), "b");
		set(effect->boundary.what, sizeof(effect->boundary.what), "w");
		set(effect->revision, sizeof(effect->revision), "r");
		set(effect->inventory.date, sizeof(effect->inventory.date), "2026-01-02T03:04:05Z");
		set(effect->inventory.what, sizeof(effect->inventory.what), "w");
		set(effect->observers[0].id, sizeof(effect->observers[0].id), "orders");
		effect->observers[0].sees_count = effect->observers_count = 1;
		for (size_t at = 0; at < EFFECT_PATHS_MAX; at++)
			fill_path(&effect->paths[effect->paths_count++], number, at);
	}
	return 1;
}

/* A long run of many arms, with every member that follows from them; it passes. */
static void test_long(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf said = BUF(64 * KIB);
	char folder[] = "/tmp/harness-test-large-XXXXXX", path[PATH_MAX];
	struct error *err = NULL;
	long peak = 0;
	int status = -1;
	cleanup_fd int directory = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	snprintf(path, sizeof(path), "%s/" BUNDLE_ARCHIVE, folder);
	CU_ASSERT(world_make(&fixture.world, "all", getenv("VERIFY_MEMORY_WHOLE") ? 100 : 5, NULL));
	CU_ASSERT(declare_long(&fixture) && fixture_write(&fixture));
	CU_ASSERT(directory >= 0 &&
		  big_seal(&fixture, fixture.world.observations_count, directory, NULL, 0, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(verify(path, &said, &peak, &status));
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(!MEASURED || peak <= PEAK_KIB);
	if (status != 0 || (MEASURED && peak > PEAK_KIB) || getenv("VERIFY_MEMORY_WHOLE"))
		printf("%6ld KiB  %zu cells in %zu arms\n%s", peak, fixture.world.verdicts->cells_count,
		       fixture.world.arms_count, buf_string(&said));
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo tests[] = {
	{ "the worst of each kind", test_rows },
	{ "a long run", test_long },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "verify_memory", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "--peak") == 0)
		return run_peak(argv + 2);
	return test_main("verify_memory", suites);
}

static const struct row rows[] = {
	{ "arms whose values are all distinct", "arms.json", many_values, (uint64_t)BUNDLE_FILE_BYTES - MIB,
	  "canonical", "the arms of a run say more than" },
	{ "arms with many events", "arms.json", many_events, (uint64_t)BUNDLE_FILE_BYTES - MIB, "canonical",
	  "the arms of a run say more than" },
	{ "an arm without end", "arms.json", one_string, (uint64_t)BUNDLE_FILE_BYTES - MIB, "canonical",
	  "arms.json is not in its canonical form" },
	{ "verdicts that nest without end", "verdicts.json", deep, (uint64_t)BUNDLE_FILE_BYTES - MIB, "canonical",
	  "verdicts.json is not in its canonical form: nested too deeply" },
	{ "verdicts of a million tiny cells", "verdicts.json", tiny_cells, (uint64_t)BUNDLE_FILE_BYTES - MIB, "sums",
	  "the digest of verdicts.json" },
	{ "claims that are none", "claims.json", many_claims, (uint64_t)BUNDLE_FILE_BYTES - 2 * MIB, "sums",
	  "the digest of claims.json" },
	{ "declarations that nest without end", "effects.json", deep, (uint64_t)BUNDLE_SMALL_BYTES - KIB, "canonical",
	  "effects.json is not in its canonical form: nested too deeply" },
	{ "a report that is not one", "report.html", one_string, (uint64_t)BUNDLE_FILE_BYTES - MIB, "sums",
	  "the digest of report.html" },
	{ "a plan of a million values", "coverage.json", tiny_values, (uint64_t)BUNDLE_SMALL_BYTES - KIB, "archive",
	  "values in coverage.json" },
	{ "a plan that nests without end", "coverage.json", deep, (uint64_t)BUNDLE_SMALL_BYTES - KIB, "canonical",
	  "coverage.json is not in its canonical form: nested too deeply" },
	{ "an environment of one text", "environment.json", one_string, (uint64_t)BUNDLE_SMALL_BYTES - KIB, "grammar",
	  "environment.json: a text outside the grammar" },
	{ "a scenario too many", "scenarios.json", many_scenarios, (uint64_t)BUNDLE_SMALL_BYTES - 64 * KIB, "canonical",
	  "scenarios.json" },
	{ "leaks without end", "observations.jsonl", many_strays, (uint64_t)40 * MIB, "sums",
	  "the digest of observations.jsonl" },
	{ "an observation without end", "observations.jsonl", one_line, (uint64_t)64 * MIB, "archive",
	  "observations.jsonl" },
};
static const size_t rows_count = ARRAY_SIZE(rows);
