/* What the files of the verifier share: a bundle in memory, and what its checks leave for the next ones. */
#ifndef HARNESS_REPORTS_VERIFY_PARTS_H
#define HARNESS_REPORTS_VERIFY_PARTS_H

#include <stdint.h>

#include "core/hash.h"
#include "core/ustar.h"
#include "reports/generate.h"
#include "reports/manifest.h"
#include "reports/members.h"
#include "reports/shape.h"
#include "reports/verify.h"

struct read_member {
	bool present;
	struct buf text; /* not of the observations, which are read by line */
	uint64_t bytes;
	char sha256[HEX_SHA256];
	bool shape_seen;
};

struct bundle {
	struct read_member members[MEMBERS];
	bool strange; /* a member that the schema does not have */
	bool disordered; /* members that are not sorted */
	/* Of the member that is being read. */
	int current; /* -1: a strange one */
	int last;
	struct hash *hash;
	struct shape shape;
	/* The observations, and the first line that is not one or is not canonical. */
	struct buf line;
	struct observation *observations;
	size_t observations_count, observations_room;
	size_t lines;
	size_t bad_line; /* from 1; 0: none */
	bool bad_form; /* else it was only not canonical */
	/* What the checks make of it, each once its own check passed. */
	struct manifest manifest;
	struct scenario *scenarios;
	size_t scenarios_count;
	struct plan *plan;
	struct arm_record *arms;
	size_t arms_count;
	struct verdicts *verdicts;
	struct manifest_facts facts;
	struct findings findings; /* of what stands above */
};

/* What a reader of bundles takes. */
extern const struct ustar_limits bundle_limits;

/* verify_read.c: the whole archive into memory. ERROR_INPUT or ERROR_LIMIT: the archive is not of the form; others: it
 * cannot be read. bundle_close() in any case. */
int bundle_read(int fd, struct bundle *bundle, struct error **err) MUST_CHECK;
void bundle_close(struct bundle *bundle);
/* verify.c: every check, over a zeroed bundle, which keeps what it read. bundle_close() in any case. */
int bundle_verify(int fd, const struct verify_options *options, struct bundle *bundle, struct verify_report *out,
		  struct error **err) MUST_CHECK;
/* verify_meaning.c: facts and findings, once the verdicts were made again. */
void bundle_findings(struct bundle *bundle);

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

/* verify_references.c: whether its parts can belong to one run */
int check_references(struct bundle *bundle, struct error **err) MUST_CHECK;

/* verify_origin.c: of check_references(): whether the plan is the one that the manifest says, whole or in shards. */
int check_origin(const struct bundle *bundle, struct error **err) MUST_CHECK;

/* verify_timeline.c: of check_references(), once arms.json is known to follow the plan: what the arms that ended well
 * lived through. */
int check_timelines(const struct bundle *bundle, struct error **err) MUST_CHECK;

/* verify_meaning.c: what it says */
int check_environment(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_verdicts(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_mutations(struct bundle *bundle, struct error **err) MUST_CHECK;
int check_generated(struct bundle *bundle, struct error **err) MUST_CHECK;

#endif
