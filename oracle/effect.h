/*
 * A declaration: a protected effect, the boundary that is to hold it, and the paths that could produce it. A path that
 * is listed is listed: what it is worth is derived from a run (oracle/claims.h). Loaded from effects/ID.json; its id is
 * the name without ".json".
 */
#ifndef HARNESS_ORACLE_EFFECT_H
#define HARNESS_ORACLE_EFFECT_H

#include "oracle/scenario.h"

/* Where a path begins: in the agent's enforcement domain, or elsewhere in the deployment. */
enum effect_side { EFFECT_AGENT, EFFECT_DEPLOYMENT };
/* What may happen on it: nothing; what the mediator authorised; or whatever somebody outside the boundary does. */
enum effect_admits { EFFECT_ADMITS_NOTHING, EFFECT_ADMITS_AUTHORISED, EFFECT_ADMITS_ANYTHING };
/* What the declaration says is covered: nothing; that what happens is seen; that the mediator decides. */
enum effect_claims { EFFECT_CLAIMS_NONE, EFFECT_CLAIMS_OBSERVED, EFFECT_CLAIMS_MEDIATED };
/* On what basis: nothing; scenarios of this harness; statements of an assessor. */
enum effect_basis { EFFECT_BASIS_NONE, EFFECT_BASIS_SCENARIOS, EFFECT_BASIS_STATEMENTS };
/* How the paths were found. */
enum effect_method { EFFECT_ILLUSTRATION, EFFECT_SOURCE_REVIEW, EFFECT_CONFIGURATION, EFFECT_TRACING };
/* What an observer of the effect itself can tell. */
enum effect_sight { EFFECT_SEES_EFFECT, EFFECT_SEES_TRANSACTION, EFFECT_SEES_ROLE };

struct effect_path {
	char id[NAME_MAX_SHORT];
	int side;
	char what[EFFECT_TEXT_MAX];
	char mediator[NAME_MAX_SHORT]; /* "none" where nobody stands in between */
	int admits;
	char subject[NAME_MAX_SHORT]; /* under which its effects are counted */
	char observers[EFFECT_OBSERVERS_MAX][NAME_MAX_SHORT];
	size_t observers_count;
	char scenarios[EFFECT_SCENARIOS_MAX][ID_MAX];
	size_t scenarios_count; /* 0: declared, and not exercised */
	struct effect_coverage {
		int claims;
		int basis;
		char why[EFFECT_TEXT_MAX];
	} coverage;
};

struct effect {
	char id[ID_MAX]; /* of the file */
	char effect[NAME_MAX_SHORT];
	char title[EFFECT_TEXT_MAX];
	struct effect_boundary {
		char id[NAME_MAX_SHORT];
		char what[EFFECT_TEXT_MAX];
	} boundary;
	char revision[ID_MAX]; /* of the deployment that the paths were looked for in */
	struct effect_inventory {
		int method;
		char date[32];
		char what[EFFECT_TEXT_MAX];
	} inventory;
	struct effect_observer { /* of the effect itself: who looks at what was done, and not at who did it */
		char id[NAME_MAX_SHORT];
		/* "" where the id is one of the harness; else it speaks the wire of docs/observer-protocol.md. */
		char program[NAME_MAX_SHORT];
		/* What the arm gives to a program of the declaration's own, and what that reports beside the probes. */
		char inputs[EFFECT_INPUTS_MAX][NAME_MAX_SHORT];
		size_t inputs_count;
		char measures[EFFECT_MEASURES_MAX][NAME_MAX_SHORT];
		size_t measures_count;
		int sees[EFFECT_SIGHTS_MAX];
		size_t sees_count;
	} observers[EFFECT_OBSERVERS_MAX];
	size_t observers_count;
	struct effect_path paths[EFFECT_PATHS_MAX];
	size_t paths_count;
	struct effect_excluded {
		char what[EFFECT_TEXT_MAX];
		char reason[EFFECT_TEXT_MAX];
	} excluded[EFFECT_EXCLUDED_MAX];
	size_t excluded_count;
};

extern const struct schema_field effect_fields[]; /* without the id, which is the file's name */
extern const struct schema_field effect_sealed_fields[]; /* with it: as a bundle holds it */
extern const char *const effect_side_names[]; /* each NULL-terminated, index = value */
extern const char *const effect_admits_names[];
extern const char *const effect_claims_names[];
extern const char *const effect_basis_names[];
extern const char *const effect_method_names[];
extern const char *const effect_sight_names[];

/* Who tries a probe; what the arm itself asks of the gateway is of neither side. */
enum effect_from { EFFECT_FROM_AGENT, EFFECT_FROM_DEPLOYMENT, EFFECT_FROM_ARM };
struct effect_probe {
	const char *id;
	enum effect_from from;
	bool call; /* of a tool, through the gateway */
};
extern const struct effect_probe effect_probes[]; /* of this harness; ended by .id = NULL */
/* NULL: no probe of that id is known, as where another version has one more. */
const struct effect_probe *effect_probe_find(const char *id);
/* The observers of the harness that see effects, and the others, NULL-terminated. Those look for canaries at places
 * where an agent may leave them, or at the harness's own parts: what they count is no effect. */
extern const char *const effect_observer_ids[];
extern const char *const effect_other_ids[];

/* What a declaration may name. */
struct effect_names {
	const char *const *observers; /* of the harness, NULL-terminated */
	const char *const *inputs; /* that an arm can give, NULL-terminated; NULL: not checked */
	const char *const *measures; /* of the harness's own observers, likewise */
	const struct scenario *scenarios;
	size_t scenarios_count;
	const char *elsewhere; /* said behind a scenario that is not there: where it could be; or NULL */
};
/*
 * Decodes one document and checks its sense; ERROR_INPUT names file and field. Refused: a path, an observer or a
 * subject that stands there twice, an observer that nobody declares or that sees no effects, a path without an
 * observer, a scenario that does not exist or does not look for the path's subject at one of its observers, coverage
 * that its basis or its side cannot carry, a mediator that is nobody, and a subject that is of another side than its
 * path or that the gateway authorises nothing of. Paths may share an observer, since each has a subject of its own.
 */
int effect_decode(const char *id, const struct json_node *node, const struct effect_names *names, struct effect *out,
		  struct error **err) MUST_CHECK;
/* As effect_decode(), of the form that effect_encode() writes; names are not checked, sense is. `file` is a name of
 * ours. */
int effect_decode_sealed(const struct json_node *node, const char *file, struct effect *out,
			 struct error **err) MUST_CHECK;
void effect_encode(const struct effect *effect, struct json_writer *writer);
/* As a bundle holds it, canonical. */
int effect_canonical(const struct effect *effect, struct buf *out, struct error **err) MUST_CHECK;
/* Of that text: two declarations are the same where it is. */
int effect_digest(const struct effect *effect, char out[HEX_SHA256], struct error **err) MUST_CHECK;
/* What holds between declarations: an effect is declared once for a boundary, no two effects count the same subject at
 * the same observer, and an observer that two of them bring is one program. ERROR_INPUT names file and field. */
int effect_check_set(const struct effect *effects, size_t count, struct error **err) MUST_CHECK;
/* All declarations of a folder, sorted by id, and checked as a set; *out is an array that the caller frees. An empty
 * folder is no error. What does not end in ".json" or starts with a dot, and schema.json, are passed over. */
int effect_load_all(int directory, const struct effect_names *names, struct effect **out, size_t *count,
		    struct error **err) MUST_CHECK;
const struct effect *effect_find(const struct effect *effects, size_t count, const char *id);
/* The path that counts this subject, or NULL. */
const struct effect_path *effect_path_of(const struct effect *effect, const char *subject);
bool effect_path_observer(const struct effect_path *path, const char *observer);
bool effect_path_scenario(const struct effect_path *path, const char *scenario);
/* Whether each observer of the effect itself that the declaration brings can tell it. */
bool effect_sees(const struct effect *effect, enum effect_sight sight);

/* The sense of one, for effect.c. `names` NULL: names are not checked. */
int effect_check(const struct effect *effect, const struct effect_names *names, const char *file,
		 struct error **err) MUST_CHECK;
/* Of one that is sealed: those of its scenarios that are among these look for the path's subject at an observer of the
 * path, and where all are, one takes the mediator away. The others did not run. */
int effect_check_ran(const struct effect *effect, const struct scenario *scenarios, size_t count, const char *file,
		     struct error **err) MUST_CHECK;

#endif
