/* What the files of the page share: the findings with an index over them, and one function for each of its sections. */
#ifndef HARNESS_REPORTS_HTML_PARTS_H
#define HARNESS_REPORTS_HTML_PARTS_H

#include "reports/escape.h"
#include "reports/generate.h"

/* Of one arm: everything about it. */
struct html_arm {
	const struct verdict_arm *arm;
	const struct arm_record *record; /* or NULL */
	const struct verdict_mutation *mutation; /* of a mutant, else NULL */
	const struct verdict_cell *const *cells; /* in the verdicts' order */
	size_t cells_count;
	size_t counts[VERDICT_NOT_ESTABLISHED + 1]; /* of its cells, by verdict */
	size_t earned; /* of a mutant: cells that rest on it */
	size_t number; /* in the plan: its anchor is "a" and this */
};

/* Arms of one folder of scenarios, with neighbours of the same name beside each other. */
struct html_group {
	const struct html_arm *const *arms;
	size_t arms_count;
	size_t cells_count;
	size_t well; /* arms of which html_is_well() */
	char name[ID_MAX]; /* "baseline", which the mutations are with; "failure", ... */
	bool core; /* the baseline and the mutations of its protections: the page shows them first */
};
#define HTML_GROUPS_MAX 64

struct html_page {
	struct buf *out;
	const struct findings *findings;
	struct html_arm *arms; /* in the plan's order */
	size_t arms_count;
	const struct verdict_cell **cells; /* of the first arm, of the second, ... */
	const struct html_arm **sorted; /* by group, then by id and repetition */
	const struct html_arm **named; /* by id and repetition */
	struct html_group groups[HTML_GROUPS_MAX];
	size_t groups_count;
};

/* html_index.c. html_close() in any case. */
int html_open(const struct findings *findings, struct buf *out, struct html_page *page, struct error **err) MUST_CHECK;
void html_close(struct html_page *page);
/* NULL if there is none of that name. The repetition, if it has that id; else its first. */
const struct html_arm *html_find(const struct html_page *page, const char *id, int64_t repetition);
/* A cell's anchor is "c" and this: its place in verdicts.json. */
size_t html_cell_number(const struct html_page *page, const struct verdict_cell *cell);
bool html_is_well(const struct html_arm *arm); /* it ended well, and no cell nor mutation of it is but a pass */

/* html_words.c: fixed texts for what the evidence names by an id. Never NULL: "" where there is none. */
const char *html_statement(const char *id); /* of coverage.json's three lists */
const char *html_event(const char *name); /* the name itself where there is no other word */
const char *html_observer(const char *name);

/* html_values.c */
void html_name(struct buf *out, const struct verdict_arm *arm); /* "baseline #2" */
void html_arm_link(struct buf *out, const struct html_arm *arm);
void html_ms(struct buf *out, int64_t ns); /* "12.3" */
/* What was seen; `brief`: many bytes as MiB. */
void html_seen(struct buf *out, const struct observation *seen, bool brief);
void html_expected(struct buf *out, const struct verdict_cell *cell);
/* "pass", "fail" or "not established", the last two emphasised. */
void html_verdict(struct buf *out, enum verdict verdict);
/* "1 cell", "2 cells" */
void html_count(struct buf *out, size_t count, const char *one, const char *many);
/* A table that scrolls in its own container, up to the end of its header; `columns` ends with NULL. html_table_end().
 */
void html_table(struct buf *out, const char *class, const char *caption, const char *const *columns);
void html_table_end(struct buf *out);

/* The sections, in the page's order. */
void html_head(struct html_page *page); /* html_head.c: all before <body>'s content */
void html_verdict_section(struct html_page *page); /* html_verdict.c: the verdict, and what it does not prove */
void html_troubles(struct html_page *page); /* html_troubles.c: what failed, and what is not established */
void html_mutations(struct html_page *page);
/* html_claims.c: what is claimed of effects; of a version of the format that claims something of them. */
bool html_has_claims(const struct html_page *page);
int html_claims(struct html_page *page, struct error **err) MUST_CHECK;
int html_matrix(struct html_page *page, struct error **err) MUST_CHECK; /* html_matrix.c */
void html_arms(struct html_page *page); /* html_arms.c */
void html_timeline(struct html_page *page, const struct html_arm *arm); /* html_timeline.c */
int html_environment(struct html_page *page, struct error **err) MUST_CHECK; /* html_environment.c */
void html_coverage(struct html_page *page); /* html_coverage.c: what was not tested */
void html_routes(struct html_page *page); /* html_routes.c */
void html_limits(struct html_page *page); /* html_limits.c: what no run shows */
void html_verification(struct html_page *page); /* how to check the bundle offline */

#endif
