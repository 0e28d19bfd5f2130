/*
 * Verifies a bundle offline: read-only, in memory, without root, engine or network. Every hash and every verdict is
 * made again from the bundle's own bytes. What is not checked is said, and never counted as passed.
 */
#ifndef HARNESS_REPORTS_VERIFY_H
#define HARNESS_REPORTS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/limits.h"
#include "oracle/judge.h"
#include "oracle/plan.h"

enum check_result { CHECK_PASS, CHECK_FAIL, CHECK_NOT_CHECKED };
extern const char *const check_result_names[]; /* index = value */

struct verify_check {
	const char *id; /* archive, members, sums, manifest, canonical, ... */
	enum check_result result;
	char reason[200]; /* fixed text, numbers, names from our own tables; of a pass "" or a remark */
};
#define VERIFY_CHECKS_MAX 32
/* The check that asks whose the keys of assessors are. */
#define VERIFY_ASSESSORS "assessors"

/* A scenario to compare with: what verify_scenario_of() says of it. */
struct verify_scenario {
	char id[ID_MAX];
	char sha256[HEX_SHA256]; /* of its text, as scenario_encode() writes it */
	bool of_all; /* the word "all" selects it */
};
/* A declaration of an effect to compare with: effect_digest() of it. */
struct verify_declaration {
	char id[ID_MAX];
	char sha256[HEX_SHA256];
};
/* Of a bundle of which something was not checked for that alone. */
#define VERIFY_NEWER "a newer version of the format says what this program does not know"

struct public_key; /* reports/sign.h */
struct assessors; /* reports/assessments.h */

struct verify_options {
	bool require_signature;
	const struct public_key *key; /* whose signature is asked for, or NULL: without one it is not established */
	const struct assessors *assessors; /* whose statements count, or NULL: nobody's were asked for */
	const char *beside; /* the envelope that was shipped beside the archive, or NULL */
	size_t beside_length;
	const char *sigstore; /* the same as a sigstore bundle, or NULL: who signed it is asked for assessors alone */
	size_t sigstore_length;
	const char *sums_signature; /* an SSHSIG of SHA256SUMS, or NULL: likewise */
	size_t sums_signature_length;
	const struct verify_scenario *shipped; /* those that came with this program, or NULL: none is known */
	size_t shipped_count;
	const struct verify_declaration *declared; /* likewise of declarations */
	size_t declared_count;
};

/* What the bundle is, besides what was checked of it; of one whose verdicts were made again. */
struct verify_remarks {
	struct plan_shard shard; /* of 1: the whole plan */
	size_t merged; /* from so many shards, or 0 */
	bool replay, replay_part; /* it repeats a run, or one scenario of it */
	char replay_of[NAME_MAX_SHORT + 1];
	const char *replay_outcome; /* as it says itself */
	size_t scenarios;
	bool compared; /* with those that were given */
	size_t same, differ, own; /* word for word; of the same id; of an id that none of those has */
	bool all; /* the run was of all */
	size_t lacking; /* and these of "all" are not in it */
	struct verify_declared { /* the declarations of effects */
		size_t count;
		bool compared;
		size_t same, own; /* as above */
		char differ[EFFECTS_MAX][ID_MAX]; /* the ids of those of which another text came with the program */
		size_t differ_count;
	} declared;
};

struct verify_report {
	struct verify_check checks[VERIFY_CHECKS_MAX];
	size_t count;
	bool recomputed; /* the verdict below was made again */
	enum verdict verdict;
	size_t pass, fail, not_established;
	size_t arms, mutations, absent; /* absent: cells that host or gateway could not make */
	bool newer; /* of a newer minor version of the format: what is not known of it is not checked, and nothing
		       failed */
	bool unclaimed; /* of a version of the format from before there were claims */
	bool unvouched; /* somebody else composed the gateway */
	struct verify_assessor { /* whose statements the bundle brings */
		char key[HEX_SHA256]; /* the fingerprint */
		bool named; /* by who verifies it */
		bool signs; /* the bundle too, so that nothing counts that it states */
		size_t statements; /* that count by the bundle's own word, and that it signed */
	} assessors[ASSESSORS_MAX];
	size_t assessors_count;
	struct verify_statement { /* that counts by the bundle's own word */
		char id[ID_MAX];
		int kind; /* assessment_kind_names */
		char path[NAME_MAX_SHORT];
		char what[EFFECT_TEXT_MAX]; /* in its signer's words */
	} statements[CLAIM_STATEMENTS_MAX];
	size_t statements_count;
	bool signature_asked; /* by who verifies it */
	bool unassessed; /* a statement counts by the bundle's word that does not by that of who verifies it */
	struct verify_remarks remarks; /* where recomputed */
	char sums_sha256[HEX_SHA256], archive_sha256[HEX_SHA256];
	int exit_code; /* 0, 1, 2 or 3: design section 10 */
};

/* Reads from `fd`, a regular file, to its end, and again; with at most 64 MiB of memory. Negative only when it cannot
 * be read at all, or memory is short: a bad bundle is a report. */
int verify_bundle(int fd, const struct verify_options *options, struct verify_report *out,
		  struct error **err) MUST_CHECK;
/* What is compared of a scenario that came with the program. */
int verify_scenario_of(const struct scenario *scenario, struct verify_scenario *out, struct error **err) MUST_CHECK;
/* One line a check and the verdict, for the terminal. `quiet`: what failed, and the verdict. */
void verify_text(const struct verify_report *report, bool quiet, struct buf *out);

#endif
