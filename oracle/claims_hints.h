/* What an obligation of a claim means to whoever finds it unmet, and what meets it. */
#ifndef HARNESS_ORACLE_CLAIMS_HINTS_H
#define HARNESS_ORACLE_CLAIMS_HINTS_H

#include "oracle/claims.h"

struct claim_hint {
	const char *means; /* that it is unmet */
	const char *meets;
};
/* Never NULL for one of enum claim_obligation; else NULL. */
const struct claim_hint *claim_hint(int obligation);

#endif
