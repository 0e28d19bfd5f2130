/*
 * The judge over members of bundles that lie unpacked: `main_judge FOLDER...` prints for each a line, its verdicts.json
 * made again, or "refused" where a member cannot be read. Hashes and references are not looked at, so that a test can
 * alter what it wants.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge.h"
#include "reports/coverage.h"
#include "reports/environment.h"

#define OBSERVATIONS_MAX 100000

struct unpacked {
	struct scenario *scenarios;
	struct plan *plan;
	struct arm_pool *pool;
	struct arm_record *arms;
	struct observation *observations;
	struct verdicts *verdicts;
	size_t scenarios_count, arms_count, observations_count;
};

static void unpacked_free(struct unpacked *unpacked)
{
	verdicts_free(unpacked->verdicts);
	plan_free(unpacked->plan);
	free(unpacked->scenarios);
	free(unpacked->arms);
	arm_pool_free(unpacked->pool);
	free(unpacked->observations);
}

static int read_member(int folder, const char *name, struct buf *out, struct error **err)
{
	return fd_read_file(folder, name, BUNDLE_FILE_BYTES, out, err);
}

static int read_plan(int folder, struct unpacked *out, struct error **err)
{
	cleanup_buf struct buf scenarios = BUF(BUNDLE_FILE_BYTES), coverage = BUF(BUNDLE_FILE_BYTES);
	int result = read_member(folder, "scenarios.json", &scenarios, err);

	if (result >= 0)
		result = read_member(folder, "coverage.json", &coverage, err);
	if (result >= 0)
		result = scenarios_decode(buf_string(&scenarios), scenarios.length, &out->scenarios,
					  &out->scenarios_count, err);
	if (result >= 0)
		result = coverage_decode(buf_string(&coverage), coverage.length, out->scenarios, out->scenarios_count,
					 &out->plan, err);
	return result;
}

static int read_observations(int folder, struct unpacked *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	int result = read_member(folder, "observations.jsonl", &text, err);
	const char *at = buf_string(&text), *end;

	out->observations = calloc(OBSERVATIONS_MAX, sizeof(*out->observations));
	if (result >= 0 && !out->observations)
		return error_set(err, ERROR_MEMORY, "no memory for observations");
	for (; result >= 0 && (end = strchr(at, '\n')); at = end + 1) {
		if (out->observations_count == OBSERVATIONS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d observations", OBSERVATIONS_MAX);
		result = observation_read(at, (size_t)(end - at), &out->observations[out->observations_count++], err);
	}
	return result;
}

static int judge_folder(const char *path, struct buf *line, struct error **err)
{
	__attribute__((cleanup(unpacked_free))) struct unpacked unpacked = { .plan = NULL };
	cleanup_buf struct buf arms = BUF(BUNDLE_FILE_BYTES), environment = BUF(BUNDLE_FILE_BYTES);
	cleanup_fd int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool changed = false;
	int result;

	if (folder < 0)
		return error_set(err, ERROR_INPUT, "no folder %s", path);
	result = read_plan(folder, &unpacked, err);
	if (result >= 0)
		result = read_member(folder, "arms.json", &arms, err);
	if (result >= 0)
		result = arm_pool_new(&unpacked.pool, err);
	if (result >= 0)
		result = arm_records_decode(buf_string(&arms), arms.length, unpacked.pool, &unpacked.arms,
					    &unpacked.arms_count, err);
	if (result >= 0)
		result = read_observations(folder, &unpacked, err);
	if (result >= 0)
		result = read_member(folder, "environment.json", &environment, err);
	if (result >= 0)
		result = environment_differs(buf_string(&environment), environment.length, &changed, err);
	if (result >= 0)
		result = judge(unpacked.plan, unpacked.arms, unpacked.arms_count, unpacked.observations,
			       unpacked.observations_count, changed, &unpacked.verdicts, err);
	return result < 0 ? result : verdicts_encode(unpacked.verdicts, line, err);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		cleanup_buf struct buf line = BUF(BUNDLE_FILE_BYTES);
		cleanup_error struct error *err = NULL;

		if (judge_folder(argv[i], &line, &err) < 0)
			printf("refused %s\n", error_text(err));
		else
			printf("%s\n", buf_string(&line));
	}
	return fflush(stdout) != 0;
}
