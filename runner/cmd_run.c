/* `harness run`: plan, preflight, arms, judgement, bundle. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/cluster.h"
#include "runner/document.h"
#include "runner/run.h"
#include "runner/run_document.h"
#include "runner/run_replay.h"
#include "runner/sweep.h"

void run_init(struct run *run, const struct options *options)
{
	*run = (struct run){
		.options = options,
		.before = BUF(ENGINE_HEADER_BYTES * 4),
		.after = BUF(ENGINE_HEADER_BYTES * 4),
		.observations = -1,
		.store = { .out = -1, .folder = -1, .lock = -1, .sign = -1 },
		.start = clock_now(),
	};
}

void run_free(struct run *run)
{
	engine_close(run->engine);
	private_key_free(run->key);
	json_free(run->version);
	json_free(run->info);
	json_free(run->image_inspect);
	buf_free(&run->before);
	buf_free(&run->after);
	fd_close(&run->observations);
	if (run->canaries)
		explicit_bzero(run->canaries, run->canaries_count * sizeof(*run->canaries));
	free(run->canaries);
	free(run->records);
	replay_free(run->replay);
	arm_pool_free(run->pool);
	plan_free(run->plan);
	free(run->scenarios);
	free(run->effects);
	assessing_free(&run->assessing);
	declared_close(&run->declared);
}

/* From here on a signal waits until what was begun is taken away again. */
static int hold_signals(struct error **err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? error_errno(err, errno, "blocking signals") : 0;
}

/* Between two steps; while the arms run, their loop takes the signals. */
static int go_on(struct error **err)
{
	sigset_t waiting;

	if (sigpending(&waiting) < 0)
		return error_errno(err, errno, "looking for signals");
	if (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) || sigismember(&waiting, SIGHUP))
		return error_set(err, ERROR_INTERRUPTED, "interrupted: no bundle was written");
	return 0;
}

/* Everything that has something to take away again. */
static int arms(struct run *run, struct error **err)
{
	struct error *late = NULL;
	unsigned left = 0, folders = 0, databases = 0;
	int status;

	progress_step(&run->progress, "loading the agent's image");
	status = run_image(run, err);
	if (status == 0)
		status = go_on(err);
	if (status == 0) {
		progress_step(&run->progress, "starting the control container");
		status = run_control_start(run, err);
	}
	if (status == 0)
		status = run_arms(run, err);
	/* What the last arm did to it comes before what is still asked of it. */
	if (status == 0)
		status = run_engine_again(run, err);
	if (run_control_end(run, &late) < 0)
		error_keep_first(err, &late);
	if (run->engine && sweep_run(run->engine, run->context.run, &left, &late) < 0) {
		error_keep_first(err, &late);
		error_wrap(err, "what the run began may stay, run `harness clean`");
	}
	if (run->context.postgres && cluster_sweep(run->context.cluster, run->context.run, &databases, &late) < 0)
		error_keep_first(err, &late);
	if (store_sweep_arms(STORE_TEMPORARY, run->store.run, &folders, &late) < 0)
		error_keep_first(err, &late);
	if (left)
		fprintf(stderr, "harness: %u containers that arms had left were removed\n", left);
	return *err ? -1 : status;
}

/* Of a run that is made again: what the engine lacks may have changed the plan. */
static int same_plan(const struct run *run, struct error **err)
{
	if (!run->replayed || run_replay_plan(run) == REPLAY_READY)
		return 0;
	return error_set(err, ERROR_REFUSED, "this host cannot make the same cells");
}

int run_whole(struct run *run, int *code, struct error **err)
{
	bool sealed = false;
	int status;

	if (geteuid() != 0)
		return error_set(err, ERROR_REFUSED,
				 "run needs root (namespaces, captures, the engine's folders): use sudo");
	status = hold_signals(err);
	if (status == 0)
		status = store_open(run->options->out, &run->store, err);
	if (status == 0)
		status = run_preflight(run, err);
	if (status == 0)
		status = go_on(err);
	if (status == 0)
		status = same_plan(run, err);
	if (status == 0)
		status = run_observations(run, err);
	if (status == 0)
		status = arms(run, err);
	if (status == 0)
		status = go_on(err);
	if (status == 0)
		status = run_seal(run, code, err);
	sealed = status == 0;
	store_close(&run->store, sealed);
	return status;
}

static int print_plan(const struct run *run, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);

	run_document_plan(run->plan, run->options, &run->declared, run->seed, &document);
	return document_print(&document, err);
}

static int run_verb(const struct options *options, struct error **err)
{
	struct run run;
	int code = EXIT_PASS;
	int status;

	run_init(&run, options);
	status = run_plan(&run, err);
	if (status == 0)
		status = run_key(&run, err);
	if (status == 0)
		status = run_assessing(&run, err);
	progress_open(&run.progress, options);
	run.progress.plan = run.plan;
	run.progress.ground = &run.ground;
	run.progress.declared = &run.declared;
	run.progress.seed = run.seed;
	if (status == 0)
		progress_plan(&run.progress);
	if (status == 0 && !options->dry_run)
		status = run_whole(&run, &code, err);
	else if (status == 0 && options->json)
		status = print_plan(&run, err);
	run_free(&run);
	return status < 0 ? status : code;
}

const struct verb verb_run = {
	.name = "run",
	.words = "[SCENARIO|GROUP|all]...",
	.title = "run scenarios with the mutants that their zeros need, and seal a bundle",
	.text = "Words are scenario ids (`baseline`, `mutation/network`), groups (`mutation`) or `all`; without a "
		"word: all.\n"
		"The planner adds the mutants that the selected cells need, and each mutant's control, and prints the "
		"plan.\n"
		"Needs root and a local Docker Engine; --dry-run needs neither. The bundle is OUT/latest/" BUNDLE_NAME
		".\n"
		"--sign KEY (PEM, P-256 or Ed25519, a path or fd:N) signs what the bundle says, in it and beside it.\n"
		"--shard I/N runs a part of the plan on one of several machines, --repeat N each arm N times; --seed N "
		"draws "
		"the\norder of the arms, and when within its range a fault strikes: the manifest has it.\n"
		"On a terminal each running arm has one line that is taken back when it ends; TERM=dumb and a pipe "
		"have none,\n"
		"and a NO_COLOR that holds anything switches colours off. With --json the document comes at the end, "
		"or, with\n"
		"--dry-run, is the plan. Exit codes: 0 pass, 1 fail, 2 not established, 3 an error of the harness, 4 "
		"usage.",
	.engine = true,
	.run = run_verb,
};
