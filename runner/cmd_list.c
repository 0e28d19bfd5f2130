/* `harness list`: what there is to run, to take away, and to watch with. */
#include <stdio.h>
#include <stdlib.h>

#include "core/fd.h"
#include "mutations/mutation.h"
#include "observers/table.h"
#include "oracle/scenario.h"
#include "runner/paths.h"
#include "runner/verb.h"

static int run(const struct options *options, struct error **err)
{
	cleanup_free struct scenario *scenarios = NULL;
	size_t count = 0;

	if (options->words_count)
		return error_set(err, ERROR_USAGE, "list takes no words");
	if (scenarios_open(options, &scenarios, &count, err) < 0)
		return -1;
	printf("scenarios\n");
	for (size_t i = 0; i < count; i++)
		printf("  %-28s %s\n", scenarios[i].id, scenarios[i].title);
	printf("\nmutations (protections that a scenario can take away)\n");
	for (size_t i = 0; mutations[i]; i++)
		printf("  %-28s %s\n", mutations[i]->id, mutations[i]->title);
	printf("\nobservers\n");
	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++)
		printf("  %-28s %s\n", kind->id, kind->title);
	return EXIT_PASS;
}

const struct verb verb_list = {
	.name = "list",
	.words = "",
	.title = "scenarios, mutations and observers, one line each",
	.text = "Needs neither root nor an engine. The ids are what `harness run` takes.",
	.run = run,
};
