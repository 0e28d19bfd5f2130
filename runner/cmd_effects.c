/* `harness effects`: what is declared of protected effects, and whether it holds together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"
#include "oracle/effect.h"
#include "runner/assessing.h"
#include "runner/declarations.h"
#include "runner/declared.h"
#include "runner/document.h"
#include "runner/effects_claims.h"
#include "runner/paths.h"
#include "runner/verb.h"

enum word { WORD_LIST, WORD_CHECK, WORD_SHOW, WORD_CLAIMS, WORD_ASSESS };
static const struct word_row {
	const char *name;
	size_t least, most; /* words, itself among them */
} rows[];

static int effects_open(const struct options *options, struct effect **out, size_t *count, struct error **err)
{
	cleanup_free struct scenario *scenarios = NULL;
	size_t scenarios_count = 0;

	if (scenarios_open(options, &scenarios, &scenarios_count, err) < 0)
		return -1;
	return declarations_open(options, scenarios, scenarios_count, out, count, err);
}

static size_t with_scenarios(const struct effect *effect)
{
	size_t count = 0;

	for (size_t i = 0; i < effect->paths_count; i++)
		count += effect->paths[i].scenarios_count > 0;
	return count;
}

static void print_list(const struct effect *effects, size_t count)
{
	if (count == 0)
		printf("no effect is declared\n");
	for (size_t i = 0; i < count; i++)
		printf("%-24s %-20s %-20s %zu of %zu paths have scenarios\n", effects[i].id, effects[i].boundary.id,
		       effects[i].revision, with_scenarios(&effects[i]), effects[i].paths_count);
}

static void print_words(const char *label, const char *words, size_t stride, size_t count)
{
	printf("      %-10s", label);
	for (size_t i = 0; i < count; i++)
		printf(" %s", words + i * stride);
	printf("%s\n", count ? "" : " none");
}

static void print_path(const struct effect_path *path)
{
	printf("  %-5s %s\n", path->id, path->what);
	printf("      %-10s %s side, mediator %s, admits %s, counted as %s\n", "declared",
	       effect_side_names[path->side], path->mediator, effect_admits_names[path->admits], path->subject);
	print_words("observers", path->observers[0], sizeof(path->observers[0]), path->observers_count);
	print_words("scenarios", path->scenarios[0], sizeof(path->scenarios[0]), path->scenarios_count);
	printf("      %-10s %s, by %s: %s\n", "claimed", effect_claims_names[path->coverage.claims],
	       effect_basis_names[path->coverage.basis], path->coverage.why);
}

static void print_observer(const struct effect_observer *observer)
{
	if (!observer->program[0])
		printf("  %-5s one of the harness\n", observer->id);
	else
		printf("  %-5s the program %s, given", observer->id, observer->program);
	for (size_t i = 0; observer->program[0] && i < observer->inputs_count; i++)
		printf(" %s", observer->inputs[i]);
	if (observer->program[0])
		printf("%s\n", observer->inputs_count ? "" : " nothing");
}

static int print_one(const struct effect *effect, struct error **err)
{
	char digest[HEX_SHA256];

	if (effect_digest(effect, digest, err) < 0)
		return -1;
	printf("%s: %s\n", effect->effect, effect->title);
	printf("boundary %s: %s\n", effect->boundary.id, effect->boundary.what);
	printf("revision %s\n", effect->revision);
	printf("declaration sha256:%s\n", digest);
	printf("inventory of %s by %s: %s\n\nobservers of the effect\n", effect->inventory.date,
	       effect_method_names[effect->inventory.method], effect->inventory.what);
	for (size_t i = 0; i < effect->observers_count; i++)
		print_observer(&effect->observers[i]);
	printf("\npaths\n");
	for (size_t i = 0; i < effect->paths_count; i++)
		print_path(&effect->paths[i]);
	printf("\nexcluded\n");
	for (size_t i = 0; i < effect->excluded_count; i++)
		printf("  %s: %s\n", effect->excluded[i].what, effect->excluded[i].reason);
	printf("\nThis is a declaration. It does not show that the set of paths is complete, nor that one of them is "
	       "mediated.\n");
	return EXIT_PASS;
}

static int print_document(const struct effect *effects, size_t count, struct error **err)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &out, "effects", EXIT_PASS);
	json_put_key(&json, "effects");
	json_array(&json);
	for (size_t i = 0; i < count; i++)
		effect_encode(&effects[i], &json);
	json_array_end(&json);
	document_end(&json);
	return document_print(&out, err);
}

static int show(const struct options *options, const struct effect *effects, size_t count, struct error **err)
{
	const struct effect *one = effect_find(effects, count, options->words[1]);
	struct nearest nearest = { .word = options->words[1] };

	if (!one) {
		for (size_t i = 0; i < count; i++)
			nearest_offer(&nearest, effects[i].id);
		return nearest_error(&nearest, "effect", "see `harness effects list`", err);
	}
	if (options->json)
		return print_document(one, 1, err);
	return print_one(one, err);
}

/* The row of the first word; none is `list`. */
static int find_word(const struct options *options, enum word *out, struct error **err)
{
	const char *word = options->words_count ? options->words[0] : rows[WORD_LIST].name;
	struct nearest nearest = { .word = word };

	for (int i = 0; rows[i].name; i++) {
		nearest_offer(&nearest, rows[i].name);
		if (strcmp(rows[i].name, word) != 0)
			continue;
		if (options->words_count < rows[i].least || options->words_count > rows[i].most)
			return error_set(err, ERROR_USAGE,
					 "effects takes `list`, `check`, `show ID`, `claims BUNDLE` or `assess KEY "
					 "STATEMENT...`");
		*out = (enum word)i;
		return 0;
	}
	return nearest_error(&nearest, "word of effects", "see `harness help effects`", err);
}

static int run(const struct options *options, struct error **err)
{
	cleanup_free struct effect *effects = NULL;
	cleanup_declared struct declared declared = DECLARED_NONE;
	enum word word = WORD_LIST;
	size_t count = 0;

	if (find_word(options, &word, err) < 0)
		return -1;
	if (word != WORD_CLAIMS && options->assessments.count + options->assessors.count > 0)
		return error_set(err, ERROR_USAGE, "--assessment and --assessor are for `harness effects claims`");
	if (options->quiet && word != WORD_CHECK)
		return error_set(err, ERROR_USAGE, "--quiet is for `harness effects check`");
	/* A bundle has its own. */
	if (word == WORD_CLAIMS && !options->effects)
		return effects_claims(options, NULL, 0, err);
	if (effects_open(options, &effects, &count, err) < 0 ||
	    (word == WORD_CHECK && declared_of(options, effects, count, &declared, err) < 0))
		return -1;
	if (word == WORD_CHECK && count == 0)
		return error_set(err, ERROR_INPUT,
				 "there is no declaration to check: one is a file ID.json in the folder of --effects");
	if (word == WORD_SHOW)
		return show(options, effects, count, err);
	if (word == WORD_ASSESS)
		return effects_assess(options, effects, count, err);
	if (word == WORD_CLAIMS)
		return effects_claims(options, effects, count, err);
	if (options->json)
		return print_document(effects, count, err);
	if (word == WORD_CHECK && !options->quiet)
		printf("%zu declaration%s together; what %s worth, a run shows\n", count,
		       count == 1 ? " holds" : "s hold", count == 1 ? "it is" : "they are");
	else if (word == WORD_LIST)
		print_list(effects, count);
	return EXIT_PASS;
}

static const struct word_row rows[] = {
	[WORD_LIST] = { "list", 0, 1 },     [WORD_CHECK] = { "check", 1, 1 },          [WORD_SHOW] = { "show", 2, 2 },
	[WORD_CLAIMS] = { "claims", 2, 2 }, [WORD_ASSESS] = { "assess", 3, SIZE_MAX }, { .name = NULL },
};

const struct verb verb_effects = {
	.name = "effects",
	.words = "[list|check|show ID|claims BUNDLE|assess KEY STATEMENT...]",
	.title = "protected effects, and the paths that are declared for them",
	.text = "Needs neither root nor an engine. `check` reads every declaration against the scenarios and the "
		"observers there are:\n"
		"a fault is named by file and field, and ends with 3. A declaration is a list: it raises no status.\n"
		"`claims` verifies a bundle and derives what its run says of each effect that it was declared with; "
		"with\n"
		"--effects, of the reader's own declarations, and says where these differ. 0 where all is "
		"established, 1\n"
		"where something is refuted or the bundle is not intact, else 2. It counts the statements that "
		"--assessment names\n"
		"and a key of --assessor signed, and says of each other one why not. `assess` checks statements "
		"against the\n"
		"declarations, signs them with KEY (as `harness sign` takes it) and prints an envelope of each, a line "
		"each:\n"
		"docs/effects.md.",
	.run = run,
};
