#include "runner/routes_check.h"

#include <string.h>

#include "adapter/admission.h"
#include "adapter/probe.h"
#include "mutations/mutation.h"
#include "observers/table.h"

struct route_names route_names_of(const struct scenario *scenarios, size_t count)
{
	return (struct route_names){
		.probes = probe_ids,
		.measures = measure_ids,
		.observers = observer_ids,
		.mutations = mutation_ids,
		.scenarios = scenarios,
		.scenarios_count = count,
	};
}

static int refuse(struct error **err, const struct route *route, const char *word, const char *why)
{
	return error_set(err, ERROR_INTERNAL, "route %s: %s: %s", route->id, word, why);
}

static bool is_rule(const char *id)
{
	struct rule_set set = { .bits = { 0 } };

	return rule_set_add_id(&set, id);
}

/* Of a list: each word is in one of the two tables. */
static int known(const struct route *route, const char *const *list, const char *const *table, const char *const *other,
		 const char *why, struct error **err)
{
	for (; list && *list; list++)
		if (!route_has(table, *list) && !route_has(other, *list))
			return refuse(err, route, *list, why);
	return 0;
}

static int known_rules(const struct route *route, struct error **err)
{
	for (const char *const *rule = route->rules; rule && *rule; rule++)
		if (!is_rule(*rule))
			return refuse(err, route, *rule, "no such rule of admission");
	return 0;
}

static bool looks(const struct route *route, const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (route_has(route->observers, scenario->expect[i].observer))
			return true;
	return false;
}

static bool has_subject(const struct scenario *scenario, const char *subject)
{
	if (scenario_tries(scenario, subject) || scenario_after(scenario, subject))
		return true;
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (strcmp(scenario->expect[i].subject, subject) == 0)
			return true;
	return false;
}

/* It takes the mutation away, and by that a cell of the route turns. */
static bool shows(const struct route *route, const struct scenario *scenario, const char *mutation)
{
	bool removes = false;

	for (size_t i = 0; i < scenario->removes_count; i++)
		removes |= strcmp(scenario->removes[i], mutation) == 0;
	for (size_t i = 0; removes && i < scenario->expect_count; i++)
		if (scenario->expect[i].flips && route_has(route->observers, scenario->expect[i].observer))
			return true;
	return false;
}

static int check_scenarios(const struct route *route, const struct route_names *names, struct error **err)
{
	for (const char *const *id = route->scenarios; id && *id; id++) {
		const struct route one = { .scenarios = (const char *const[]){ *id, NULL } };
		size_t found = 0;

		for (size_t i = 0; i < names->scenarios_count; i++) {
			if (!route_has_scenario(&one, names->scenarios[i].id))
				continue;
			found++;
			if (!looks(route, &names->scenarios[i]))
				return refuse(err, route, names->scenarios[i].id,
					      "looks at none of the route's observers");
		}
		if (found == 0)
			return refuse(err, route, *id, "no such scenario");
	}
	return 0;
}

static bool tried_by(const struct route *route, const struct route_names *names, const char *subject)
{
	for (size_t i = 0; i < names->scenarios_count; i++)
		if ((!route || route_has_scenario(route, names->scenarios[i].id)) &&
		    has_subject(&names->scenarios[i], subject))
			return true;
	return false;
}

/* A route without scenarios is one that only a user's own declaration exercises: no scenario here tries its probes.
 * What is a finding where it is not planned, a measure, needs no scenario that plans it. */
static int check_subjects(const struct route *route, const struct route_names *names, struct error **err)
{
	for (const char *const *subject = route->subjects; subject && *subject; subject++) {
		if (route_has(names->measures, *subject))
			continue;
		if (!route->scenarios && tried_by(NULL, names, *subject))
			return refuse(err, route, *subject, "a scenario tries it, and the route has none");
		if (route->scenarios && !tried_by(route, names, *subject))
			return refuse(err, route, *subject, "none of the route's scenarios tries it");
	}
	return 0;
}

static int check_observers(const struct route *route, const struct route_names *names, struct error **err)
{
	for (const char *const *observer = route->observers; observer && *observer; observer++) {
		const struct route one = { .observers = (const char *const[]){ *observer, NULL } };
		bool found = false;

		for (size_t i = 0; i < names->scenarios_count && !found; i++)
			found = route_has_scenario(route, names->scenarios[i].id) && looks(&one, &names->scenarios[i]);
		if (!found)
			return refuse(err, route, *observer, "none of the route's scenarios looks at it");
	}
	return 0;
}

static int check_mutations(const struct route *route, const struct route_names *names, struct error **err)
{
	for (const char *const *id = route->mutations; id && *id; id++) {
		const struct mutation *mutation = mutation_find(*id);
		bool shown = false;

		for (size_t i = 0; i < names->scenarios_count && !shown; i++)
			shown = route_has_scenario(route, names->scenarios[i].id) &&
				shows(route, &names->scenarios[i], *id);
		if (!shown)
			return refuse(err, route, *id,
				      "none of the route's scenarios takes it away and turns a cell of its observers");
		for (size_t i = 0; mutation && mutation->must_fail[i]; i++)
			if (!route_has(route->rules, mutation->must_fail[i]))
				return refuse(err, route, mutation->must_fail[i],
					      "a rule that the route's mutation must fail is none of the route's");
	}
	return 0;
}

static int check_route(const struct route *route, const struct route_names *names, struct error **err)
{
	if (known(route, route->subjects, names->probes, names->measures, "no such probe or measure", err) < 0 ||
	    known(route, route->observers, names->observers, NULL, "no such observer", err) < 0 ||
	    known(route, route->mutations, names->mutations, NULL, "no such mutation", err) < 0 ||
	    known_rules(route, err) < 0 || check_scenarios(route, names, err) < 0 ||
	    check_subjects(route, names, err) < 0 || check_observers(route, names, err) < 0)
		return -1;
	return check_mutations(route, names, err);
}

typedef const char *const *list_of(const struct route *route);

static const char *const *subjects_of(const struct route *route)
{
	return route->subjects;
}

static const char *const *observers_of(const struct route *route)
{
	return route->observers;
}

static const char *const *mutations_of(const struct route *route)
{
	return route->mutations;
}

static const char *const *rules_of(const struct route *route)
{
	return route->rules;
}

static int in_a_route(const struct route *table, list_of *list, const char *id, const char *what, struct error **err)
{
	for (; table->id; table++)
		if (route_has(list(table), id))
			return 0;
	return error_set(err, ERROR_INTERNAL, "%s %s stands in no route: add it to reports/routes.c", what, id);
}

static int all_in_routes(const struct route *table, list_of *list, const char *const *ids, const char *what,
			 struct error **err)
{
	for (; *ids; ids++)
		if (in_a_route(table, list, *ids, what, err) < 0)
			return -1;
	return 0;
}

int routes_check(const struct route *table, const struct route_names *names, struct error **err)
{
	for (const struct route *route = table; route->id; route++)
		if (check_route(route, names, err) < 0)
			return -1;
	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (in_a_route(table, rules_of, admission_rule_id(rule), "rule", err) < 0)
			return -1;
	if (all_in_routes(table, subjects_of, names->probes, "probe", err) < 0 ||
	    all_in_routes(table, subjects_of, names->measures, "measure", err) < 0 ||
	    all_in_routes(table, observers_of, names->observers, "observer", err) < 0)
		return -1;
	return all_in_routes(table, mutations_of, names->mutations, "mutation", err);
}
