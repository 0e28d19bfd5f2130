/* What the rules of claims look at: cells, findings and statements of one path. Private to oracle/claims*. */
#ifndef HARNESS_ORACLE_CLAIMS_LOOK_H
#define HARNESS_ORACLE_CLAIMS_LOOK_H

#include "oracle/claims.h"

typedef bool path_filter(const struct effect_path *path);

/* Whether the path is taken in the scenario, or in that of which it is a mutant. */
bool takes(const struct effect_path *path, const struct scenario *scenario);
/* The next cell of the path, from *at on, whatever protection was away. */
const struct verdict_cell *next_of_any_arm(const struct claim_input *input, const struct effect_path *path, size_t *at);
/* With every protection in place: that it would be seen without one is in the cell's verdict. */
const struct verdict_cell *next_cell(const struct claim_input *input, const struct effect_path *path, size_t *at);
/* What the deployment of the cell's arm said of itself, or "". */
const char *revision_of(const struct claim_input *input, const struct verdict_cell *cell);
/* Whether the mutant that earned it ran in another deployment than the declared one, in any of its arms. */
bool earned_elsewhere(const struct claim_input *input, const struct verdict_cell *cell);
/* That nobody proved that he could see it. Unearned is another matter: the observer saw, and nothing shows that there
 * was anything to see. */
bool is_blind(const struct verdict_cell *cell);
/* Whether each scenario of the path was run, with somebody who saw, and an agent that was at work; mutants earn, and
 * take no path, but were caught. The claim then rests on what was observed there. */
bool exercised(const struct claim_input *input, const struct effect_path *path, struct claim *claim);
bool is_authorised(const struct effect_path *path);
bool is_closed(const struct effect_path *path);
const struct effect_path *paths_end(const struct claim_input *input);
/* The finding's path, or NULL: of a row that bears no canary of a declared path. */
const struct effect_path *path_of(const struct claim_input *input, const struct correlate_finding *finding);
/* Each finding of this kind on such a path refutes by `what`, or leaves the obligation `what` unmet. */
void each_finding(const struct claim_input *input, int kind, path_filter *filter, struct claim *claim, int what,
		  bool refutes);
bool is_counted(const struct claim_input *input, const struct assessment *statement, enum assessment_kind kind);

#endif
