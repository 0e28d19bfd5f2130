/* The members of a bundle, version 1 of the format: one table that writer, reader and generator share. */
#ifndef HARNESS_REPORTS_MEMBERS_H
#define HARNESS_REPORTS_MEMBERS_H

#include <stdbool.h>

/* In the order of their names, which is that of the archive. */
enum member {
	MEMBER_SUMS,
	MEMBER_ARMS,
	MEMBER_ASSESSMENTS,
	MEMBER_CLAIMS,
	MEMBER_COVERAGE,
	MEMBER_CTRF,
	MEMBER_ENGINE_TEXT,
	MEMBER_EFFECTS,
	MEMBER_ENVIRONMENT,
	MEMBER_JUNIT,
	MEMBER_KERNEL_TEXT,
	MEMBER_MANIFEST,
	MEMBER_MERGE,
	MEMBER_OBSERVATIONS,
	MEMBER_PROFILE,
	MEMBER_REPLAY,
	MEMBER_REPORT,
	MEMBER_SCENARIOS,
	MEMBER_STATEMENT,
	MEMBER_VERDICTS,
	MEMBERS
};

struct member_kind {
	const char *name;
	int since; /* the minor version of the format from which on a bundle has it */
	bool optional; /* a bundle may be without it */
	bool unlisted; /* neither SHA256SUMS nor the manifest has its digest: it speaks of them */
};
extern const struct member_kind member_kinds[MEMBERS];

/* The member of that name, or -1. */
int member_find(const char *name);
/* Whether a bundle of this minor version can have the member, and whether it must. */
bool member_known(int member, int minor);
bool member_needed(int member, int minor);
/* Whether SHA256SUMS, or the manifest, has to have the digest of a member that is there; false of -1. */
bool member_in_sums(int member);
bool member_in_manifest(int member);

#endif
