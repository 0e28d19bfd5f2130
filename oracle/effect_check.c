/* The sense of a declaration, and between several. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"
#include "oracle/effect.h"

#define NOBODY "none"
#define LOOKS_ELSEWHERE "'%s' does not look for '%s' at an observer of this path"

struct checking {
	const struct effect *effect;
	const struct effect_names *names; /* or NULL */
	const char *file;
	struct error **err;
};

static int refuse(const struct checking *check, const char *format, ...) PRINTF_LIKE(2, 3);
static int refuse(const struct checking *check, const char *format, ...)
{
	char text[320];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(check->err, ERROR_INPUT, "%s: %s", check->file, text);
}

static const struct effect_observer *own_observer(const struct effect *effect, const char *id)
{
	for (size_t i = 0; i < effect->observers_count; i++)
		if (strcmp(effect->observers[i].id, id) == 0)
			return &effect->observers[i];
	return NULL;
}

static int check_words(const struct checking *check, size_t at, const char *field, const char (*words)[NAME_MAX_SHORT],
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t before = 0; before < i; before++)
			if (strcmp(words[before], words[i]) == 0)
				return refuse(check, "observers[%zu].%s[%zu]: '%s' stands there twice", at, field, i,
					      words[i]);
	return 0;
}

/* What a program of the declaration's own is, and what it is given. */
static int check_program(const struct checking *check, size_t at)
{
	const struct effect_observer *one = &check->effect->observers[at];
	const struct effect_names *names = check->names;
	int result;

	if (!one->program[0] && (one->inputs_count || one->measures_count))
		return refuse(check, "observers[%zu].program: none, so that nobody takes inputs or reports measures",
			      at);
	if (one->program[0] == '.' || strchr(one->program, '/'))
		return refuse(check, "observers[%zu].program: the name of a file beside the declaration, and no path",
			      at);
	result = check_words(check, at, "inputs", one->inputs, one->inputs_count);
	if (result >= 0)
		result = check_words(check, at, "measures", one->measures, one->measures_count);
	for (size_t i = 0; result >= 0 && names && names->inputs && i < one->inputs_count; i++)
		if (schema_enum(names->inputs, one->inputs[i]) < 0)
			return refuse(check, "observers[%zu].inputs[%zu]: no arm gives '%s'", at, i, one->inputs[i]);
	for (size_t i = 0; result >= 0 && names && names->measures && i < one->measures_count; i++)
		if (schema_enum(names->measures, one->measures[i]) >= 0)
			return refuse(check, "observers[%zu].measures[%zu]: '%s' is one of the harness", at, i,
				      one->measures[i]);
	return result;
}

/* One of the harness is known by its id, and sees effects; any other has a program. */
static int check_whose(const struct checking *check, size_t at)
{
	const struct effect_observer *one = &check->effect->observers[at];
	bool sees = schema_enum(effect_observer_ids, one->id) >= 0;
	bool known = sees || schema_enum(effect_other_ids, one->id) >= 0;
	bool ours = check->names ? schema_enum(check->names->observers, one->id) >= 0 : known;

	if (one->program[0] && ours)
		return refuse(check, "observers[%zu].program: '%s' is one of the harness, and brings no program", at,
			      one->id);
	if (!one->program[0] && !sees)
		return refuse(check,
			      "observers[%zu].program: '%s' is no observer of the harness that sees effects: name the "
			      "program beside the declaration that does",
			      at, one->id);
	return 0;
}

static int check_observers(const struct checking *check)
{
	const struct effect *effect = check->effect;

	for (size_t i = 0; i < effect->observers_count; i++) {
		const struct effect_observer *one = &effect->observers[i];

		if (own_observer(effect, one->id) != one)
			return refuse(check, "observers[%zu].id: '%s' stands there twice", i, one->id);
		if (check_program(check, i) < 0 || check_whose(check, i) < 0)
			return -1;
	}
	return 0;
}

static int refuse_observer(const struct checking *check, size_t at, size_t i)
{
	const char *word = check->effect->paths[at].observers[i];
	struct nearest nearest = { .word = word };

	for (size_t own = 0; own < check->effect->observers_count; own++)
		nearest_offer(&nearest, check->effect->observers[own].id);
	if (nearest.name[0])
		return refuse(check, "paths[%zu].observers[%zu]: '%s' is none of 'observers': did you mean '%s'?", at,
			      i, word, nearest.name);
	return refuse(check, "paths[%zu].observers[%zu]: '%s' is none of 'observers', which see the effect", at, i,
		      word);
}

static int check_path_observers(const struct checking *check, size_t at)
{
	const struct effect_path *path = &check->effect->paths[at];

	if (path->observers_count == 0)
		return refuse(check, "paths[%zu].observers: none: nobody would see the effect", at);
	for (size_t i = 0; i < path->observers_count; i++) {
		for (size_t before = 0; before < i; before++)
			if (strcmp(path->observers[before], path->observers[i]) == 0)
				return refuse(check, "paths[%zu].observers[%zu]: '%s' stands there twice", at, i,
					      path->observers[i]);
		if (!own_observer(check->effect, path->observers[i]))
			return refuse_observer(check, at, i);
	}
	return 0;
}

static bool looks(const struct scenario *scenario, const struct effect_path *path)
{
	for (size_t i = 0; i < path->observers_count; i++)
		if (scenario_cell(scenario, path->subject, path->observers[i]))
			return true;
	return false;
}

static int check_path_scenarios(const struct checking *check, size_t at)
{
	const struct effect_path *path = &check->effect->paths[at];

	for (size_t i = 0; i < path->scenarios_count; i++) {
		const struct scenario *scenario;

		for (size_t before = 0; before < i; before++)
			if (strcmp(path->scenarios[before], path->scenarios[i]) == 0)
				return refuse(check, "paths[%zu].scenarios[%zu]: '%s' stands there twice", at, i,
					      path->scenarios[i]);
		if (!check->names)
			continue;
		scenario = scenario_find(check->names->scenarios, check->names->scenarios_count, path->scenarios[i]);
		if (!scenario)
			return refuse(check, "paths[%zu].scenarios[%zu]: no scenario is '%s'%s", at, i,
				      path->scenarios[i], check->names->elsewhere ? check->names->elsewhere : "");
		if (!looks(scenario, path))
			return refuse(check, "paths[%zu].scenarios[%zu]: " LOOKS_ELSEWHERE, at, i, path->scenarios[i],
				      path->subject);
	}
	return 0;
}

/* Whether the scenario shows an effect on the path that is none without it. */
static bool shows(const struct scenario *scenario, const struct effect_path *path)
{
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (scenario->expect[i].flips && strcmp(scenario->expect[i].subject, path->subject) == 0 &&
		    effect_path_observer(path, scenario->expect[i].observer))
			return true;
	return false;
}

/* What a path that admits nothing is closed by, a mutant takes away, and the path's own cell flips; and what is
 * authorised, by whom. */
static bool is_mediator(const struct effect_path *path, const struct scenario *scenarios, size_t count,
			struct nearest *nearest)
{
	static const char *const authorities[] = { "gateway", "bridge" };

	for (size_t i = 0; path->admits == EFFECT_ADMITS_AUTHORISED && i < ARRAY_SIZE(authorities); i++) {
		if (strcmp(authorities[i], path->mediator) == 0)
			return true;
		nearest_offer(nearest, authorities[i]);
	}
	for (size_t i = 0; path->admits != EFFECT_ADMITS_AUTHORISED && i < path->scenarios_count; i++) {
		const struct scenario *scenario = scenario_find(scenarios, count, path->scenarios[i]);

		for (size_t n = 0; scenario && shows(scenario, path) && n < scenario->removes_count; n++) {
			if (strcmp(scenario->removes[n], path->mediator) == 0)
				return true;
			nearest_offer(nearest, scenario->removes[n]);
		}
	}
	return false;
}

/* Of a path of the agent's side whose scenarios show that somebody mediates. */
static int check_mediator(const struct checking *check, size_t at, const struct scenario *scenarios, size_t count)
{
	const struct effect_path *path = &check->effect->paths[at];
	struct nearest nearest = { .word = path->mediator };
	const char *what = path->admits == EFFECT_ADMITS_AUTHORISED ? "does not authorise calls, 'gateway' does"
								    : "is nothing that a listed scenario removes";

	if (path->side != EFFECT_AGENT || path->coverage.claims != EFFECT_CLAIMS_MEDIATED ||
	    path->coverage.basis != EFFECT_BASIS_SCENARIOS || is_mediator(path, scenarios, count, &nearest))
		return 0;
	if (nearest.name[0])
		return refuse(check, "paths[%zu].mediator: '%s' %s: did you mean '%s'?", at, path->mediator, what,
			      nearest.name);
	return refuse(check, "paths[%zu].mediator: '%s' %s", at, path->mediator, what);
}

static bool is_measure(const struct effect *effect, const char *subject)
{
	for (size_t i = 0; i < effect->observers_count; i++)
		for (size_t n = 0; n < effect->observers[i].measures_count; n++)
			if (strcmp(effect->observers[i].measures[n], subject) == 0)
				return true;
	return false;
}

/* Who tries it, and whether anybody can authorise it. Where names are not checked, another version may know it. */
static int check_subject(const struct checking *check, size_t at)
{
	const struct effect_path *path = &check->effect->paths[at];
	const struct effect_probe *probe = effect_probe_find(path->subject);
	bool known = probe || check->names || is_measure(check->effect, path->subject);

	if (probe && probe->from == EFFECT_FROM_AGENT && path->side != EFFECT_AGENT)
		return refuse(check, "paths[%zu].side: the agent tries '%s', and nobody on the deployment's side", at,
			      path->subject);
	if (probe && probe->from == EFFECT_FROM_DEPLOYMENT && path->side != EFFECT_DEPLOYMENT)
		return refuse(check, "paths[%zu].side: '%s' begins on the deployment's side, and not with the agent",
			      at, path->subject);
	if (path->admits == EFFECT_ADMITS_AUTHORISED && known && !(probe && probe->call))
		return refuse(check, "paths[%zu].admits: '%s' is no call through the gateway: nobody authorises it", at,
			      path->subject);
	return 0;
}

int effect_check_ran(const struct effect *effect, const struct scenario *scenarios, size_t count, const char *file,
		     struct error **err)
{
	const struct checking check = { .effect = effect, .file = file, .err = err };

	for (size_t at = 0; at < effect->paths_count; at++) {
		const struct effect_path *path = &effect->paths[at];
		size_t found = 0;

		for (size_t i = 0; i < path->scenarios_count; i++) {
			const struct scenario *scenario = scenario_find(scenarios, count, path->scenarios[i]);

			found += scenario != NULL;
			if (scenario && !looks(scenario, path))
				return refuse(&check, "paths[%zu].scenarios[%zu]: " LOOKS_ELSEWHERE, at, i,
					      path->scenarios[i], path->subject);
		}
		if (found == path->scenarios_count && check_mediator(&check, at, scenarios, count) < 0)
			return -1;
	}
	return 0;
}

/* What may stand on which basis, and on which side. */
static int check_coverage(const struct checking *check, size_t at)
{
	const struct effect_path *path = &check->effect->paths[at];
	const struct effect_coverage *coverage = &path->coverage;
	bool agent = path->side == EFFECT_AGENT, mediated = coverage->claims == EFFECT_CLAIMS_MEDIATED;

	if ((coverage->claims == EFFECT_CLAIMS_NONE) != (coverage->basis == EFFECT_BASIS_NONE))
		return refuse(check, "paths[%zu].coverage.basis: goes with a claim, and a claim with it", at);
	if (agent && coverage->basis == EFFECT_BASIS_STATEMENTS)
		return refuse(
			check,
			"paths[%zu].coverage.basis: a path of the agent's side is exercised by scenarios, and not "
			"stated by an assessor",
			at);
	if (coverage->basis == EFFECT_BASIS_SCENARIOS && path->scenarios_count == 0)
		return refuse(check, "paths[%zu].coverage.basis: 'scenarios', and this path lists none", at);
	if (coverage->basis != EFFECT_BASIS_SCENARIOS && path->scenarios_count > 0)
		return refuse(check,
			      "paths[%zu].coverage.basis: this path lists scenarios: then 'scenarios' is its basis",
			      at);
	if (!agent && mediated && coverage->basis == EFFECT_BASIS_SCENARIOS)
		return refuse(check,
			      "paths[%zu].coverage.claims: what the agent's confinement does covers no path of the "
			      "deployment's side",
			      at);
	if (mediated && strcmp(path->mediator, NOBODY) == 0)
		return refuse(check, "paths[%zu].coverage.claims: mediated by nobody", at);
	if (mediated && agent && path->admits == EFFECT_ADMITS_ANYTHING)
		return refuse(check, "paths[%zu].coverage.claims: who lets anything pass mediates nothing", at);
	return 0;
}

static int check_path(const struct checking *check, size_t at)
{
	const struct effect *effect = check->effect;
	const struct effect_path *path = &effect->paths[at];
	int result;

	for (size_t before = 0; before < at; before++)
		if (strcmp(effect->paths[before].id, path->id) == 0)
			return refuse(check, "paths[%zu].id: '%s' stands there twice", at, path->id);
	if (effect_path_of(effect, path->subject) != path)
		return refuse(check,
			      "paths[%zu].subject: '%s' is that of another path: what is counted could not be told "
			      "apart",
			      at, path->subject);
	result = check_path_observers(check, at);
	if (result >= 0)
		result = check_path_scenarios(check, at);
	if (result >= 0)
		result = check_coverage(check, at);
	if (result >= 0 && check->names)
		result = check_mediator(check, at, check->names->scenarios, check->names->scenarios_count);
	return result < 0 ? result : check_subject(check, at);
}

int effect_check(const struct effect *effect, const struct effect_names *names, const char *file, struct error **err)
{
	const struct checking check = { .effect = effect, .names = names, .file = file, .err = err };
	int result = check_observers(&check);

	for (size_t i = 0; i < effect->paths_count && result >= 0; i++)
		result = check_path(&check, i);
	return result;
}

static bool share_observer(const struct effect_path *one, const struct effect_path *other)
{
	for (size_t i = 0; i < one->observers_count; i++)
		if (effect_path_observer(other, one->observers[i]))
			return true;
	return false;
}

static bool same_words(const char (*one)[NAME_MAX_SHORT], size_t count, const char (*other)[NAME_MAX_SHORT],
		       size_t other_count)
{
	if (count != other_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(one[i], other[i]) != 0)
			return false;
	return true;
}

static bool same_program(const struct effect_observer *one, const struct effect_observer *other)
{
	return strcmp(one->program, other->program) == 0 &&
	       same_words(one->inputs, one->inputs_count, other->inputs, other->inputs_count) &&
	       same_words(one->measures, one->measures_count, other->measures, other->measures_count);
}

static int check_pair(const struct effect *one, const struct effect *before, struct error **err)
{
	if (strcmp(one->effect, before->effect) == 0 && strcmp(one->boundary.id, before->boundary.id) == 0)
		return error_set(err, ERROR_INPUT, "%s.json: effect: '%s' is declared for '%s' in %s.json too", one->id,
				 one->effect, one->boundary.id, before->id);
	for (size_t i = 0; i < one->observers_count; i++) {
		const struct effect_observer *other = own_observer(before, one->observers[i].id);

		if (other && !same_program(&one->observers[i], other))
			return error_set(err, ERROR_INPUT,
					 "%s.json: observers[%zu]: '%s' is another program in %s.json, or is given "
					 "other inputs there",
					 one->id, i, one->observers[i].id, before->id);
	}
	for (size_t i = 0; i < one->paths_count; i++) {
		const struct effect_path *other = effect_path_of(before, one->paths[i].subject);

		if (other && share_observer(&one->paths[i], other))
			return error_set(
				err, ERROR_INPUT,
				"%s.json: paths[%zu].subject: '%s' is counted by the same observer for %s.json",
				one->id, i, one->paths[i].subject, before->id);
	}
	return 0;
}

int effect_check_set(const struct effect *effects, size_t count, struct error **err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t before = 0; before < i; before++)
			if (check_pair(&effects[i], &effects[before], err) < 0)
				return -1;
	return 0;
}
