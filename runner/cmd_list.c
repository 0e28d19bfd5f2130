/* `harness list`: what there is to run, to take away, and to watch with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "mutations/mutation.h"
#include "observers/table.h"
#include "oracle/scenario.h"
#include "runner/declared.h"
#include "runner/document.h"
#include "runner/paths.h"
#include "runner/verb.h"

/* What each observer that declarations bring is: its id, and the program behind it. */
typedef void (*each_declared)(void *context, const char *id, const char *title);
static void for_declared(const struct declared_names *names, each_declared each, void *context)
{
	for (size_t i = 0; i < names->effects_count; i++)
		for (size_t at = 0; at < names->effects[i].observers_count; at++) {
			const struct effect_observer *one = &names->effects[i].observers[at];
			char title[TITLE_MAX];

			snprintf(title, sizeof(title), "%s, brought by %s", one->program, names->effects[i].id);
			if (one->program[0])
				each(context, one->id, title);
		}
}

static void print_declared(void *context, const char *id, const char *title)
{
	(void)context;
	printf("  %-28s %s\n", id, title);
}

static void print_text(const struct scenario *scenarios, size_t count, const struct declared_names *names)
{
	printf("scenarios\n");
	for (size_t i = 0; i < count; i++)
		printf("  %-28s %s\n", scenarios[i].id, scenarios[i].title);
	printf("\nmutations (protections that a scenario can take away)\n");
	for (size_t i = 0; mutations[i]; i++)
		printf("  %-28s %s\n", mutations[i]->id, mutations[i]->title);
	printf("\nobservers\n");
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		printf("  %-28s %s\n", kind->id, kind->title);
	for_declared(names, print_declared, NULL);
}

static void put_names(struct json_writer *json, const char *key, const char (*names)[NAME_MAX_SHORT], size_t count)
{
	json_put_key(json, key);
	json_array(json);
	for (size_t i = 0; i < count; i++)
		json_put_string(json, names[i]);
	json_array_end(json);
}

static void put_scenario(struct json_writer *json, const struct scenario *scenario)
{
	const char *end = strchr(scenario->id, '/');
	char group[ID_MAX];

	snprintf(group, sizeof(group), "%.*s", end ? (int)(end - scenario->id) : 0, scenario->id);
	json_object(json);
	json_member_string(json, "id", scenario->id);
	json_member_string(json, "title", scenario->title);
	document_optional(json, "group", group);
	document_optional(json, "control", scenario->control);
	put_names(json, "removes", scenario->removes, scenario->removes_count);
	put_names(json, "probes", scenario->probes, scenario->probes_count);
	put_names(json, "after", scenario->after, scenario->after_count);
	json_object_end(json);
}

static void put_row(struct json_writer *json, const char *id, const char *title)
{
	json_object(json);
	json_member_string(json, "id", id);
	json_member_string(json, "title", title);
	json_object_end(json);
}

static void put_declared(void *context, const char *id, const char *title)
{
	put_row(context, id, title);
}

static int print_document(const struct scenario *scenarios, size_t count, const struct declared_names *names,
			  struct error **err)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &out, "list", EXIT_PASS);
	json_put_key(&json, "scenarios");
	json_array(&json);
	for (size_t i = 0; i < count; i++)
		put_scenario(&json, &scenarios[i]);
	json_array_end(&json);
	json_put_key(&json, "mutations");
	json_array(&json);
	for (size_t i = 0; mutations[i]; i++)
		put_row(&json, mutations[i]->id, mutations[i]->title);
	json_array_end(&json);
	json_put_key(&json, "observers");
	json_array(&json);
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		put_row(&json, kind->id, kind->title);
	for_declared(names, put_declared, &json);
	json_array_end(&json);
	document_end(&json);
	return document_print(&out, err);
}

static int run(const struct options *options, struct error **err)
{
	cleanup_declared_names struct declared_names names = { .observers = NULL };
	cleanup_free struct scenario *scenarios = NULL;
	size_t count = 0;

	if (options->words_count)
		return error_set(err, ERROR_USAGE, "list takes no words");
	if (scenarios_open(options, &scenarios, &count, err) < 0 || declared_names(options, &names, err) < 0)
		return -1;
	if (options->json)
		return print_document(scenarios, count, &names, err);
	print_text(scenarios, count, &names);
	return EXIT_PASS;
}

const struct verb verb_list = {
	.name = "list",
	.words = "",
	.title = "scenarios, mutations and observers, one line each",
	.text = "Needs neither root nor an engine. The ids are what `harness run` takes.",
	.run = run,
};
