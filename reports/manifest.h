/* manifest.json: what the bundle holds, who made it, and what it does not claim. */
#ifndef HARNESS_REPORTS_MANIFEST_H
#define HARNESS_REPORTS_MANIFEST_H

#include "core/buf.h"
#include "oracle/ground.h"
#include "oracle/judge.h"
#include "reports/bundle.h"

/* Of the bundle, as major.minor. */
#define MANIFEST_SCHEMA "confinement-evidence/1.1"
#define MANIFEST_MINOR 1 /* earlier ones are read, and not written but where one is made again */
#define MANIFEST_TEXT 128
#define GIT_DIGITS 41 /* 40 hexadecimal digits and a NUL */

struct manifest_program {
	char name[NAME_MAX_SHORT];
	char sha256[HEX_SHA256];
};

/* What stood between the agent and the tools. A bundle from before there were kinds says nothing: the embedded one. */
struct manifest_gateway {
	int kind; /* enum gateway_kind */
	char version[NAME_MAX_SHORT]; /* "" where nothing is said; "unknown" of one that we did not compose */
	char sha256[HEX_SHA256]; /* of its program, or of the list of what was installed; "" unknown */
	bool composed; /* by the run: its configuration is known; else nothing vouches for it */
	bool raised; /* of one that was not composed: there was one with the raised ceiling too */
};

/* What a build knows of itself; "" where it was built outside of a repository. */
struct manifest_build {
	char commit[GIT_DIGITS], tree[GIT_DIGITS];
	bool dirty; /* the files were not those of the commit */
	char id[HEX_SHA256]; /* digest of all that the program was linked from */
	char compiler[MANIFEST_TEXT];
};

/* Who ran it. */
enum manifest_executor { EXECUTOR_LOCAL, EXECUTOR_CI };

/* A bundle that this one was made from. */
struct manifest_source {
	char run[NAME_MAX_SHORT + 1];
	char sums[HEX_SHA256]; /* of its SHA256SUMS: the bundle's identity */
};

/* How the run came about: with what, by whom, and what it was told. */
struct manifest_origin {
	struct manifest_build build;
	int executor; /* enum manifest_executor */
	char executor_id[ID_MAX]; /* of the job, or "" */
	char image_config[HEX_SHA256]; /* of the image's configuration, whatever the engine names it by */
	int image_store; /* index into manifest_image_stores */
	char architecture[NAME_MAX_SHORT];
	char selection[PLAN_SELECTORS_MAX][ID_MAX]; /* scenarios and groups, as they were said */
	size_t selection_count;
	char plan[HEX_SHA256]; /* coverage_digest() of the whole plan, whatever the shard */
	int64_t seed, repeat;
	struct plan_shard shard;
	struct manifest_source merged[PLAN_SHARDS_MAX]; /* by shard, from the first */
	size_t merged_count;
	struct manifest_source replay_of; /* run "": it is none */
};
extern const char *const manifest_image_stores[]; /* NULL-terminated; the first is unknown */

struct manifest_facts {
	int minor; /* of the format: MANIFEST_MINOR of a new bundle */
	const char *run; /* 32 hexadecimal digits */
	const char *started, *finished; /* RFC 3339 */
	const char *version; /* of harness */
	const char *image; /* 64 hexadecimal digits */
	struct manifest_gateway gateway;
	const struct manifest_program *programs;
	size_t programs_count;
	size_t canaries; /* how many were live */
	const struct verdicts *verdicts;
	size_t arms, observations;
	const struct manifest_origin *origin; /* or NULL: nothing is known of it */
};

/* Appends it, canonical. `members`: every member but manifest.json and SHA256SUMS. */
int manifest_encode(const struct manifest_facts *facts, const struct bundle_member *members, size_t count,
		    struct buf *out, struct error **err) MUST_CHECK;

/* A member as the manifest lists it. */
struct manifest_file {
	char path[NAME_MAX_SHORT];
	int64_t bytes;
	char sha256[HEX_SHA256];
};
#define MANIFEST_FILES_MAX 32
#define MANIFEST_PROGRAMS_MAX 64
/* Those whose digests every run of this version writes down, in this order; NULL-terminated. */
extern const char *const manifest_program_names[];

/* manifest.json, read. What follows from the other members (counts, claims) is not kept: it is made again. */
struct manifest {
	int minor; /* of the format */
	char run[NAME_MAX_SHORT + 1];
	char started[NAME_MAX_SHORT], finished[NAME_MAX_SHORT];
	char version[NAME_MAX_SHORT];
	char image[HEX_SHA256];
	struct manifest_gateway gateway;
	struct manifest_origin origin;
	struct manifest_program programs[MANIFEST_PROGRAMS_MAX];
	size_t programs_count;
	struct manifest_file files[MANIFEST_FILES_MAX];
	size_t files_count;
	int64_t canaries;
};
int manifest_decode(const char *bytes, size_t length, struct manifest *out, struct error **err) MUST_CHECK;
/* manifest_encode() over members that were measured before. Sorted by path. */
int manifest_write(const struct manifest_facts *facts, const struct manifest_file *files, size_t count, struct buf *out,
		   struct error **err) MUST_CHECK;

/* The JSON Schema of manifest.json, appended. */
int manifest_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
