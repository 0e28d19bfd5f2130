/* After the last arm: the observations are read back, judged, sealed, and the sealed bundle is verified. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/preflight.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/lines.h"
#include "core/schema_line.h"
#include "reports/bundle.h"
#include "reports/claims.h"
#include "reports/generate.h"
#include "reports/summary.h"
#include "reports/verify.h"
#include "runner/document.h"
#include "runner/environment.h"
#include "runner/paths.h"
#include "runner/run.h"
#include "runner/run_document.h"
#include "runner/run_replay.h"

#define MEMBER_BYTES ((size_t)BUNDLE_FILE_BYTES)
#define SUMMARY_BYTES (4 * MIB)
#define READ_BYTES ((size_t)64 * KIB)

struct seal {
	struct run *run;
	struct buf text[MEMBERS];
	struct bundle_member members[MEMBERS];
	size_t count;
	size_t observations_count;
	struct verdicts *verdicts;
	struct manifest_program programs[MANIFEST_PROGRAMS_MAX];
	size_t programs_count;
	struct manifest_origin origin;
	char finished[CLOCK_TEXT];
	struct manifest_facts facts;
	struct findings findings;
	struct run_statement statement;
	struct bundle_late late;
};

int run_observations(struct run *run, struct error **err)
{
	run->observations =
		openat(run->store.folder, STORE_OBSERVATIONS, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	return run->observations < 0 ? error_errno(err, errno, "the run's observations") : 0;
}

struct reading {
	struct seal *seal;
	struct judgement *judgement;
	struct schema_line form;
};

static int take_line(void *context, const char *line, size_t length, struct error **err)
{
	struct reading *reading = context;
	struct seal *seal = reading->seal;
	struct observation one;
	size_t arm = 0;

	if (seal->observations_count++ == (size_t)seal->run->observations_count)
		return error_set(err, ERROR_INTERNAL, "the observations on disk are more than were written");
	if (!schema_line_read(&reading->form, line, length, &one, sizeof(one)))
		return error_set(err, ERROR_INTERNAL, "an observation on disk is not as it was written");
	if (judgement_arm(reading->judgement, one.arm, one.repetition, &arm) < 0)
		return error_set(err, ERROR_INTERNAL, "an observation on disk is of no arm of the plan");
	return judgement_see(reading->judgement, arm, &one, err);
}

static int each_line(int fd, struct lines *lines, struct error **err)
{
	cleanup_free char *chunk = malloc(READ_BYTES);
	off_t at = 0;
	ssize_t got;

	if (!chunk)
		return error_set(err, ERROR_MEMORY, "no memory to read the observations");
	while ((got = pread(fd, chunk, READ_BYTES, at)) != 0) {
		int result = 0;

		if (got < 0 && errno != EINTR)
			return error_errno(err, errno, "the run's observations");
		if (got > 0)
			result = lines_feed(lines, chunk, (size_t)got, err);
		if (result < 0)
			return result;
		at += got > 0 ? got : 0;
	}
	return lines_cut(lines) ? error_set(err, ERROR_INTERNAL, "the observations on disk end within a line") : 0;
}

/* What is judged is what stands on the disk, not what was in memory. */
static int judge_back(struct seal *seal, struct error **err)
{
	struct run *run = seal->run;
	cleanup_judgement struct judgement *judgement = NULL;
	struct reading reading = { .seal = seal };
	cleanup_lines struct lines lines = LINES(OBSERVATION_LINE_BYTES, take_line, &reading);

	if (fsync(run->observations) < 0)
		return error_errno(err, errno, "the run's observations");
	if (!schema_line_arrange(&reading.form, observation_fields))
		return error_set(err, ERROR_INTERNAL, "observations have no direct form");
	if (judgement_new(run->plan, run->records, run->plan->arms_count, BUNDLE_CELLS_MAX, &judgement, err) < 0)
		return -1;
	reading.judgement = judgement;
	if (each_line(run->observations, &lines, err) < 0)
		return -1;
	if (seal->observations_count != (size_t)run->observations_count)
		return error_set(err, ERROR_INTERNAL, "the observations on disk are fewer than were written");
	return judgement_end(judgement, run->environment_changed, &seal->verdicts, err);
}

static int measure(struct seal *seal, const char *name, const char *path, struct error **err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct manifest_program *program = &seal->programs[seal->programs_count];

	if (fd < 0)
		return error_errno(err, errno, "a program of the run");
	if (seal->programs_count++ == MANIFEST_PROGRAMS_MAX)
		return error_set(err, ERROR_LIMIT, "a manifest has at most %d programs", MANIFEST_PROGRAMS_MAX);
	snprintf(program->name, sizeof(program->name), "%s", name);
	return hash_fd(fd, program->sha256, err);
}

static bool is_listed(const struct seal *seal, const char *name)
{
	for (size_t i = 0; i < seal->programs_count; i++)
		if (strcmp(seal->programs[i].name, name) == 0)
			return true;
	return false;
}

/* What the arms ran is what was measured before the first of them. */
static int list_declared(struct seal *seal, struct error **err)
{
	const struct declared *declared = &seal->run->declared;

	for (size_t i = 0; i < declared->count; i++) {
		struct manifest_program *program = &seal->programs[seal->programs_count];

		if (is_listed(seal, declared->observers[i].program))
			continue;
		if (seal->programs_count == MANIFEST_PROGRAMS_MAX)
			return error_set(err, ERROR_LIMIT, "a manifest has at most %d programs", MANIFEST_PROGRAMS_MAX);
		snprintf(program->name, sizeof(program->name), "%s", declared->observers[i].program);
		memcpy(program->sha256, declared->observers[i].sha256, sizeof(program->sha256));
		seal->programs_count++;
	}
	return 0;
}

static int measure_programs(struct seal *seal, struct error **err)
{
	char path[PATH_MAX];

	if (path_agent(path, sizeof(path), err) < 0 || measure(seal, "agent", path, err) < 0)
		return -1;
	for (const char *const *name = preflight_helpers; *name; name++)
		if (spawn_helper_path(*name, path, sizeof(path), err) < 0 || measure(seal, *name, path, err) < 0)
			return -1;
	if (measure(seal, "harness", "/proc/self/exe", err) < 0)
		return -1;
	return list_declared(seal, err);
}

/* Every member that is made from the others; those that stand already are left. */
static int write_members(struct seal *seal, const struct findings *findings, struct error **err)
{
	if (profile_encode(&profile_reference, &seal->text[MEMBER_PROFILE], err) < 0)
		return -1;
	for (int i = 0; i < MEMBERS; i++)
		if (generated(i) && generate(i, findings, &seal->text[i], err) < 0)
			return -1;
	return 0;
}

/* What was written so far, and the observations. */
static void list_members(struct seal *seal)
{
	seal->count = 0;
	for (int i = 0; i < MEMBERS; i++)
		if (seal->text[i].length)
			seal->members[seal->count++] = (struct bundle_member){
				.name = member_kinds[i].name,
				.bytes = buf_string(&seal->text[i]),
				.length = seal->text[i].length,
				.fd = -1,
			};
	seal->members[seal->count++] =
		(struct bundle_member){ .name = member_kinds[MEMBER_OBSERVATIONS].name, .fd = seal->run->observations };
}

/* Made once SHA256SUMS is known. */
static void list_statement(struct seal *seal)
{
	seal->statement = (struct run_statement){
		.key = seal->run->key,
		.manifest = &seal->text[MEMBER_MANIFEST],
		.verdicts = seal->verdicts,
	};
	seal->late = (struct bundle_late){ .make = run_statement, .context = &seal->statement };
	if (seal->run->key)
		seal->members[seal->count++] = (struct bundle_member){
			.name = member_kinds[MEMBER_STATEMENT].name,
			.fd = -1,
			.late = &seal->late,
		};
}

/* What is known once the run was judged. */
static void find(struct seal *seal)
{
	struct run *run = seal->run;

	seal->facts = (struct manifest_facts){
		.minor = MANIFEST_MINOR,
		.run = run->store.run,
		.started = run->store.started,
		.finished = seal->finished,
		.version = HARNESS_VERSION,
		.image = run->context.image + strlen("sha256:"),
		.programs = seal->programs,
		.canaries = run->canaries_count,
		.verdicts = seal->verdicts,
		.arms = run->plan->arms_count,
		.observations = seal->observations_count,
		.origin = &seal->origin,
	};
	seal->findings = (struct findings){
		.manifest = &seal->facts,
		.plan = run->plan,
		.arms = run->records,
		.arms_count = run->plan->arms_count,
		.verdicts = seal->verdicts,
		.effects = run->effects,
		.effects_count = run->effects_count,
		.assessing = run->assessing.assessors.count > 0 ? &run->assessing : NULL,
		.environment = buf_string(&seal->text[MEMBER_ENVIRONMENT]),
		.environment_length = seal->text[MEMBER_ENVIRONMENT].length,
	};
}

static int write_texts(struct seal *seal, struct error **err)
{
	struct run *run = seal->run;

	find(seal);
	if (measure_programs(seal, err) < 0 || run_gateway_facts(&run->context.gateway, &seal->facts.gateway, err) < 0)
		return -1;
	seal->facts.programs_count = seal->programs_count;
	run_origin(run, &seal->origin);
	clock_wall(seal->finished);
	if (run->replayed && run_replay_conclude(run, &seal->findings, err) < 0)
		return -1;
	seal->findings.replay = run->replay;
	if (write_members(seal, &seal->findings, err) < 0)
		return -1;
	list_members(seal);
	return manifest_encode(&seal->facts, seal->members, seal->count, &seal->text[MEMBER_MANIFEST], err);
}

/* The bundle is believed only after the verifier, which knows nothing of this run, has read it from the disk. */
static int verify_sealed(struct seal *seal, int *code, struct error **err)
{
	cleanup_fd int fd = openat(seal->run->store.folder, BUNDLE_ARCHIVE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct verify_options options = { .key = seal->run->key ? private_key_public(seal->run->key) : NULL };
	struct verify_report report;

	if (fd < 0)
		return error_errno(err, errno, "the sealed bundle");
	if (verify_bundle(fd, &options, &report, err) < 0)
		return -1;
	for (size_t i = 0; i < report.count; i++) {
		if (report.checks[i].result != CHECK_FAIL)
			continue;
		return error_set(err, ERROR_INTERNAL, "the sealed bundle does not verify: %s: %s", report.checks[i].id,
				 report.checks[i].reason);
	}
	*code = seal->verdicts->exit_code;
	return 0;
}

static int print_document(const struct seal *seal, const struct summary_facts *facts, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);

	if (run_document_verdict(&seal->findings, facts, &document, err) < 0)
		return -1;
	return document_print(&document, err);
}

static int print_summary(const struct seal *seal, const struct bundle_identity *identity, struct error **err)
{
	const struct run *run = seal->run;
	cleanup_buf struct buf text = BUF(SUMMARY_BYTES);
	char bundle[PATH_MAX + sizeof(BUNDLE_ARCHIVE)];
	struct summary_facts facts = {
		.bundle = bundle,
		.sha256 = identity->archive_sha256,
		.wall_ns = clock_now() - run->start,
		.seed = run->seed,
		.unvouched = run->context.gateway.kind == GATEWAY_URL,
		.quiet = run->options->quiet,
		.verbose = run->options->verbose,
		.colours = run->progress.terminal.colours,
	};
	FILE *out = run->progress.terminal.out;

	snprintf(bundle, sizeof(bundle), "%s/%s", run->store.path, BUNDLE_ARCHIVE);
	summary_text(seal->verdicts, run->plan, &facts, &text);
	if (!facts.quiet && claims_lines(&seal->findings, bundle, &text, err) < 0)
		return -1;
	fputs(buf_string(&text), out);
	fflush(out);
	return run->options->json && !run->replayed ? print_document(seal, &facts, err) : 0;
}

static int judge_run(struct seal *seal, struct error **err)
{
	struct run *run = seal->run;

	if (run_snapshot(run, &run->after, err) < 0 ||
	    environment_encode(&run->before, &run->after, &seal->text[MEMBER_ENVIRONMENT], &run->environment_changed,
			       err) < 0)
		return -1;
	return judge_back(seal, err);
}

static int seal_run(struct seal *seal, int *code, struct error **err)
{
	struct run *run = seal->run;
	struct bundle_identity identity;

	if (judge_run(seal, err) < 0 || write_texts(seal, err) < 0)
		return -1;
	list_members(seal);
	list_statement(seal);
	if (bundle_seal(run->store.folder, seal->members, seal->count, run->canaries, run->canaries_count, &identity,
			err) < 0 ||
	    verify_sealed(seal, code, err) < 0 || run_sign_beside(run, err) < 0)
		return -1;
	store_give(run->store.folder, BUNDLE_ARCHIVE);
	(void)unlinkat(run->store.folder, STORE_OBSERVATIONS, 0);
	if (store_latest(&run->store, err) < 0)
		return -1;
	return print_summary(seal, &identity, err);
}

int run_seal(struct run *run, int *code, struct error **err)
{
	cleanup_free struct seal *seal = calloc(1, sizeof(*seal));
	int status;

	if (!seal)
		return error_set(err, ERROR_MEMORY, "no memory to seal with");
	seal->run = run;
	for (int i = 0; i < MEMBERS; i++)
		seal->text[i] = (struct buf)BUF(MEMBER_BYTES);
	status = seal_run(seal, code, err);
	for (int i = 0; i < MEMBERS; i++)
		buf_free(&seal->text[i]);
	verdicts_free(seal->verdicts);
	return status;
}
