#include "reports/members.h"

#include <string.h>

#include "reports/bundle.h"

int member_find(const char *name)
{
	for (int i = 0; i < MEMBERS; i++)
		if (strcmp(member_kinds[i].name, name) == 0)
			return i;
	return -1;
}

bool member_known(int member, int minor)
{
	return member_kinds[member].since <= minor;
}

bool member_needed(int member, int minor)
{
	return member_known(member, minor) && !member_kinds[member].optional;
}

bool member_in_sums(int member)
{
	return member >= 0 && member < MEMBERS && !member_kinds[member].unlisted;
}

bool member_in_manifest(int member)
{
	return member != MEMBER_MANIFEST && member_in_sums(member);
}

const struct member_kind member_kinds[MEMBERS] = {
	[MEMBER_SUMS] = { .name = BUNDLE_SUMS, .unlisted = true },
	[MEMBER_ARMS] = { .name = "arms.json" },
	[MEMBER_ASSESSMENTS] = { .name = "assessments.json", .since = 1, .optional = true },
	[MEMBER_CLAIMS] = { .name = "claims.json", .since = 1 },
	[MEMBER_COVERAGE] = { .name = "coverage.json" },
	[MEMBER_CTRF] = { .name = "ctrf.json" },
	[MEMBER_ENGINE_TEXT] = { .name = "docker-version.txt" },
	[MEMBER_EFFECTS] = { .name = "effects.json", .since = 1 },
	[MEMBER_ENVIRONMENT] = { .name = "environment.json" },
	[MEMBER_JUNIT] = { .name = "junit.xml" },
	[MEMBER_KERNEL_TEXT] = { .name = "kernel.txt" },
	[MEMBER_MANIFEST] = { .name = "manifest.json" },
	[MEMBER_MERGE] = { .name = "merge.json", .optional = true },
	[MEMBER_OBSERVATIONS] = { .name = "observations.jsonl" },
	[MEMBER_PROFILE] = { .name = "profile.json" },
	[MEMBER_REPLAY] = { .name = "replay.json", .optional = true },
	[MEMBER_REPORT] = { .name = "report.html" },
	[MEMBER_SCENARIOS] = { .name = "scenarios.json" },
	[MEMBER_STATEMENT] = { .name = "statement.intoto.jsonl", .optional = true, .unlisted = true },
	[MEMBER_VERDICTS] = { .name = "verdicts.json" },
};
