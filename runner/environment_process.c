/* This process: with what it was built, and the CI that started it. Of its environment only listed names are read. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/limits.h"
#include "runner/environment_facts.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* A variable by which a CI is known. */
static const struct {
	const char *variable, *provider;
} providers[] = {
	{ "GITHUB_ACTIONS", "github" }, { "GITLAB_CI", "gitlab" }, { "JENKINS_URL", "jenkins" }, { "CI", "other" }
};

static const struct {
	const char *field, *variable;
} ci_facts[] = {
	{ "ci.runId", "GITHUB_RUN_ID" },          { "ci.attempt", "GITHUB_RUN_ATTEMPT" },
	{ "ci.workflow", "GITHUB_WORKFLOW_REF" }, { "ci.sha", "GITHUB_SHA" },
	{ "ci.runnerOs", "RUNNER_OS" },           { "ci.runnerArch", "RUNNER_ARCH" },
	{ "ci.runner", "RUNNER_ENVIRONMENT" },    { "ci.image", "ImageOS" },
	{ "ci.imageVersion", "ImageVersion" },
};

static const char *provider(char *(*get)(const char *name))
{
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++) {
		const char *value = get(providers[i].variable);

		if (value && *value && strcmp(value, "false") != 0)
			return providers[i].provider;
	}
	return "none";
}

void facts_process(struct facts *facts, char *(*get)(const char *name))
{
	char libc[FACT_TEXT_MAX] = "";

	(void)confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc));
	fact_text(facts, "build.libc", libc);
	fact_text(facts, "build.compiler", COMPILER);
	fact_flag(facts, "process.ldPreloadSet", get("LD_PRELOAD") != NULL);
	fact_flag(facts, "process.dockerHostSet", get("DOCKER_HOST") != NULL);
	fact_text(facts, "ci.provider", provider(get));
	for (size_t i = 0; i < ARRAY_SIZE(ci_facts); i++)
		fact_text(facts, ci_facts[i].field, get(ci_facts[i].variable));
}
