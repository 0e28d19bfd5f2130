#include "reports/schema.h"

#include "oracle/judge.h"
#include "reports/assessments_member.h"
#include "reports/claims.h"
#include "reports/coverage.h"
#include "reports/environment.h"
#include "reports/manifest.h"
#include "reports/members.h"
#include "reports/merge.h"
#include "reports/replay.h"
#include "reports/verify_parts.h"

typedef int (*schema_printer)(struct buf *out, struct error **err);
static const schema_printer printers[MEMBERS];

static int print_observation(struct buf *out, struct error **err)
{
	return schema_print(observation_fields, "a line of observations.jsonl of a bundle, version 1", out, err);
}

bool member_has_schema(int member)
{
	return printers[member] != NULL;
}

int member_schema(int member, struct buf *out, struct error **err)
{
	int result = printers[member](out, err);

	buf_text(out, "\n");
	return result < 0 ? result : buf_check(out, member_kinds[member].name, err);
}

static const schema_printer printers[MEMBERS] = {
	[MEMBER_ARMS] = arm_records_schema,  [MEMBER_ASSESSMENTS] = assessing_schema,
	[MEMBER_CLAIMS] = claims_schema,     [MEMBER_COVERAGE] = coverage_schema,
	[MEMBER_EFFECTS] = effects_schema,   [MEMBER_ENVIRONMENT] = environment_schema,
	[MEMBER_MANIFEST] = manifest_schema, [MEMBER_OBSERVATIONS] = print_observation,
	[MEMBER_PROFILE] = profile_schema,   [MEMBER_MERGE] = merge_schema,
	[MEMBER_REPLAY] = replay_schema,     [MEMBER_SCENARIOS] = scenarios_schema,
	[MEMBER_VERDICTS] = verdicts_schema,
};
