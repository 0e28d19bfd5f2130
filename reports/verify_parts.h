/* What the files of the verifier share: a bundle in memory, and what its checks leave for the next ones. */
#ifndef HARNESS_REPORTS_VERIFY_PARTS_H
#define HARNESS_REPORTS_VERIFY_PARTS_H

#include <stdint.h>
#include <sys/types.h>

#include "core/hash.h"
#include "core/json_form.h"
#include "core/ustar.h"
#include "reports/claims.h"
#include "reports/generate.h"
#include "reports/manifest.h"
#include "reports/members.h"
#include "reports/shape.h"
#include "reports/verify.h"

struct read_member {
	bool present;
	struct buf text; /* where it is kept: bundle_keeps() */
	uint64_t bytes;
	char sha256[HEX_SHA256];
	bool shape_seen;
	bool foreign; /* a text outside the grammar */
	const char *why; /* it is not canonical JSON; NULL else */
	uint64_t at; /* and where */
};

/* A member that the schema does not have. */
struct stranger {
	char name[USTAR_NAME_MAX + 1];
	char sha256[HEX_SHA256];
};

struct bundle {
	bool plain; /* the archive is not in gzip: for tests */
	bool keep_all; /* whoever opens a bundle for more than to verify it */
	struct read_member members[MEMBERS];
	struct stranger strangers[BUNDLE_MEMBERS];
	size_t strangers_count;
	bool strange_shape; /* one of them holds what has a canary's shape */
	/* Of the format; a newer minor version may say what this program does not know. */
	int major, minor;
	bool other_major, newer;
	bool disordered; /* members that are not sorted */
	/* Of the member that is being read. */
	int current; /* -1: a strange one */
	int last;
	struct hash *hash;
	struct shape shape;
	struct json_form form;
	struct streams *streams; /* while it is read */
	size_t kept_bytes;
	struct buf sealed_words; /* of each cell in verdicts.json, a byte each */
	/* Of each effect in claims.json: the digest of what is said of it, and the word of each claim, -1 for none. */
	struct sealed_claims {
		char sha256[HEX_SHA256];
		int words[CLAIMS];
	} sealed_claims[EFFECTS_MAX];
	size_t sealed_claims_count; /* may be more than EFFECTS_MAX, of which these are the first */
	off_t start; /* of the archive in its file */
	char packed_sha256[HEX_SHA256]; /* of the archive's bytes */
	/* The observations, and the first line that is not one or is not canonical. */
	size_t observations_count;
	size_t lines;
	size_t bad_line; /* from 1; 0: none */
	bool bad_form; /* else it was only not canonical */
	struct judgement
		*judgement; /* of them; NULL once it ended, or where the rest of the bundle is not fit for it */
	/* What was met before its check's turn came: the first of each, or NULL. */
	struct error *unread, *unread_arms; /* check_canonical(): scenarios and plan; arms */
	struct error *loose; /* check_mutations(): the scenarios are no whole set */
	struct error *unfit; /* check_references(): an observation that cannot belong to the run */
	struct error *late; /* check_timelines(): a loss that took another time */
	/* What the checks make of it, each once its own check passed. */
	struct manifest manifest;
	struct scenario *scenarios;
	size_t scenarios_count;
	struct plan *plan;
	struct arm_record *arms;
	size_t arms_count;
	struct arm_pool *pool; /* what their lists stand in */
	struct verdicts *verdicts;
	struct effect *effects; /* NULL of a version that declares none */
	size_t effects_count;
	struct assessing assessing; /* of a bundle that has any */
	struct merge *merge; /* or NULL */
	struct replay *replay; /* or NULL */
	struct manifest_facts facts;
	struct findings findings; /* of what stands above */
};

/* What a reader of bundles takes. */
extern const struct ustar_limits bundle_limits;

/* verify_read.c: the archive, twice: first all but the observations, then these by line. `fd` must have a start to go
 * back to. ERROR_INPUT or ERROR_LIMIT: the archive is not of the form; others: it cannot be read. bundle_close() in any
 * case. */
int bundle_read(int fd, struct bundle *bundle, struct error **err) MUST_CHECK;
void bundle_close(struct bundle *bundle);
/* Whether the member's text stays in memory. The others are hashed, and compared by that. */
bool bundle_keeps(const struct bundle *bundle, int member);
bool bundle_is_json(int member);
/* The first of each kind is kept; memory that is short becomes *err. */
int bundle_keep_first(struct error **kept, struct error **why, struct error **err) MUST_CHECK;
/* 0, or what was kept: it becomes *err. */
int bundle_give(struct error **kept, struct error **err) MUST_CHECK;
/* verify_version.c: out of the manifest, as far as it can be read. */
void bundle_version(struct bundle *bundle);
/* The manifest, with the version of this program in place of a newer minor one. */
int bundle_own_manifest(const struct bundle *bundle, struct buf *out, struct error **err) MUST_CHECK;
/* Whether that is why a check failed: the bundle is of a newer minor version, and says what is not known. */
bool bundle_unknown(const struct bundle *bundle, const struct error *why);
/* verify_streams.c: members that are read as they come by. */
int streams_open(struct bundle *bundle, struct error **err) MUST_CHECK;
bool streams_take(int member);
int streams_feed(struct bundle *bundle, int member, const void *bytes, size_t length, struct error **err) MUST_CHECK;
int streams_end(struct bundle *bundle, struct error **err) MUST_CHECK;
void streams_close(struct bundle *bundle);
/* Onto zeros, of which it touches no more than it must. */
void bundle_copy_scenario(struct scenario *to, const struct scenario *from);
/* verify_lines.c: the second reading. */
int bundle_lines(int fd, struct bundle *bundle, struct error **err) MUST_CHECK;
/* verify.c: every check, over a zeroed bundle, which keeps what it read. bundle_close() in any case. */
int bundle_verify(int fd, const struct verify_options *options, struct bundle *bundle, struct verify_report *out,
		  struct error **err) MUST_CHECK;
/* verify_meaning.c: facts and findings, once the verdicts were made again. */
void bundle_findings(struct bundle *bundle);

/* verify_remarks.c: what is said of a bundle whose verdicts were made again, and as lines in front of the verdict. */
int verify_remark(const struct bundle *bundle, const struct verify_options *options, struct verify_remarks *out,
		  struct error **err) MUST_CHECK;
void verify_remarks_text(const struct verify_remarks *remarks, bool quiet, struct buf *out);

/* verify_signature.c: the last check, which adds itself to the report. */
int verify_signature(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report,
		     struct error **err) MUST_CHECK;

/* A check returns 0 when it passed. ERROR_MEMORY and ERROR_SYSTEM end the verification; the text of any other is why it
 * failed. */
typedef int (*bundle_check)(struct bundle *bundle, struct error **err);

/* verify_form.c: the bundle as files */
int check_members(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_sums(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_manifest(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_canonical(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_grammar(struct bundle *bundle, struct error **err) MUST_CHECK;
/* The JSON Schema of profile.json, appended. */
int profile_schema(struct buf *out, struct error **err) MUST_CHECK;
/* Scenarios, plan and arms out of their members, for the observations to be read against. What is wrong is kept for
 * check_canonical() and check_references(); only memory is an error. */
int bundle_prepare(struct bundle *bundle, struct error **err) MUST_CHECK;

/* verify_references.c: whether its parts can belong to one run */
int check_references(struct bundle *bundle, struct error **err) MUST_CHECK;
/* Of it: the records are in the order of the plan, one an arm. */
int check_records(const struct bundle *bundle, struct error **err) MUST_CHECK;
/* The row of a cell that is absent, or NULL. */
const struct plan_absent *bundle_absent(const struct plan *plan, const struct scenario *scenario,
					const struct expectation *cell);

/* verify_origin.c: of check_references(): whether the plan is the one that the manifest says, whole or in shards. */
int check_origin(const struct bundle *bundle, struct error **err) MUST_CHECK;
/* Of check_canonical(): merge.json and replay.json, where they are. */
int check_optional(struct bundle *bundle, struct error **err) MUST_CHECK;
/* Of check_environment(): the boot in which each arm ran. */
int check_boots(const struct bundle *bundle, struct error **err) MUST_CHECK;
/* Whether the environment changed during the run, or that of any shard. */
int bundle_changed(const struct bundle *bundle, bool *out, struct error **err) MUST_CHECK;

/* verify_timeline.c: of check_references(), once arms.json is known to follow the plan: what the arms that ended well
 * lived through. */
int check_timelines(struct bundle *bundle, struct error **err) MUST_CHECK;
/* Whether a time to death that was measured, of the arm with that index, is the one between its two events. */
int check_loss(const struct bundle *bundle, size_t index, const struct observation *loss,
	       struct error **err) MUST_CHECK;

/* verify_meaning.c: what it says */
int check_set(const struct bundle *bundle, struct error **err) MUST_CHECK;
int check_environment(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_verdicts(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_mutations(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_generated(struct bundle *bundle, struct error **err) MUST_CHECK;
/* By size and digest, so that neither is held: whether the member is what `make` makes. */
typedef int (*bundle_maker)(const struct bundle *bundle, int member, struct buf *out, struct error **err);
int bundle_made_alike(const struct bundle *bundle, int member, bundle_maker make, bool *alike,
		      struct error **err) MUST_CHECK;
int bundle_make(const struct bundle *bundle, int member, struct buf *out, struct error **err) MUST_CHECK;

/* verify_claims.c: what was declared, and what follows from it */
int check_effects(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_claims(struct bundle *bundle, struct error **err) MUST_CHECK;

/* verify_assessments.c: of check_effects(): assessments.json, where it is. */
int check_assessments(struct bundle *bundle, struct error **err) MUST_CHECK;
/* The check of whose the assessors' keys are, which adds itself to the report of a bundle that has assessments. */
int verify_assessors(const struct bundle *bundle, const struct verify_options *options, struct verify_report *report,
		     struct error **err) MUST_CHECK;

#endif
