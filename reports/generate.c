#include "reports/generate.h"

#include "reports/assessments_member.h"
#include "reports/claims.h"
#include "reports/coverage.h"
#include "reports/ctrf.h"
#include "reports/environment.h"
#include "reports/html.h"
#include "reports/junit.h"

struct generator {
	int (*make)(const struct findings *findings, struct buf *out, struct error **err);
	bool again;
};
static const struct generator generators[MEMBERS];

static int make_arms(const struct findings *findings, struct buf *out, struct error **err)
{
	return arm_records_encode(findings->arms, findings->arms_count, out, err);
}

static int make_assessments(const struct findings *findings, struct buf *out, struct error **err)
{
	return findings->assessing ? assessing_encode(findings->assessing, out, err) : 0;
}

static int make_coverage(const struct findings *findings, struct buf *out, struct error **err)
{
	return coverage_encode(findings->plan, out, err);
}

static int make_effects(const struct findings *findings, struct buf *out, struct error **err)
{
	return effects_encode(findings->effects, findings->effects_count, out, err);
}

static int make_engine_text(const struct findings *findings, struct buf *out, struct error **err)
{
	return environment_engine_text(findings->environment, findings->environment_length, out, err);
}

static int make_junit(const struct findings *findings, struct buf *out, struct error **err)
{
	return junit_encode(findings->verdicts, out, err);
}

static int make_kernel_text(const struct findings *findings, struct buf *out, struct error **err)
{
	return environment_kernel_text(findings->environment, findings->environment_length, out, err);
}

static int make_merge(const struct findings *findings, struct buf *out, struct error **err)
{
	return findings->merge ? merge_encode(findings->merge, out, err) : 0;
}

static int make_replay(const struct findings *findings, struct buf *out, struct error **err)
{
	return findings->replay ? replay_encode(findings->replay, out, err) : 0;
}

static int make_scenarios(const struct findings *findings, struct buf *out, struct error **err)
{
	return scenarios_encode(findings->plan, out, err);
}

static int make_verdicts(const struct findings *findings, struct buf *out, struct error **err)
{
	return verdicts_encode(findings->verdicts, out, err);
}

bool generated(int member)
{
	return generators[member].make != NULL;
}

bool generated_again(int member)
{
	return generators[member].again;
}

int generate(int member, const struct findings *findings, struct buf *out, struct error **err)
{
	if (member_kinds[member].since > 0 && !member_known(member, findings->manifest->minor))
		return 0;
	return generators[member].make(findings, out, err);
}

/* What has its own check of the verifier is not made again here. */
static const struct generator generators[MEMBERS] = {
	[MEMBER_ARMS] = { .make = make_arms },
	[MEMBER_ASSESSMENTS] = { .make = make_assessments },
	[MEMBER_CLAIMS] = { .make = claims_member },
	[MEMBER_COVERAGE] = { .make = make_coverage },
	[MEMBER_CTRF] = { .make = ctrf_encode, .again = true },
	[MEMBER_EFFECTS] = { .make = make_effects },
	[MEMBER_ENGINE_TEXT] = { .make = make_engine_text, .again = true },
	[MEMBER_JUNIT] = { .make = make_junit, .again = true },
	[MEMBER_KERNEL_TEXT] = { .make = make_kernel_text, .again = true },
	[MEMBER_MERGE] = { .make = make_merge },
	[MEMBER_REPLAY] = { .make = make_replay },
	[MEMBER_REPORT] = { .make = html_encode, .again = true },
	[MEMBER_SCENARIOS] = { .make = make_scenarios },
	[MEMBER_VERDICTS] = { .make = make_verdicts },
};
