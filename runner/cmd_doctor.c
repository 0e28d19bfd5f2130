/* `harness doctor`: each need of this host, and how to mend what is missing. Changes nothing. */
#include <stdio.h>

#include "adapter/preflight.h"
#include "runner/verb.h"

#define FINDINGS_MAX 32

static int run(const struct options *options, struct error **err)
{
	struct preflight_finding findings[FINDINGS_MAX];
	size_t count, missing = 0;

	if (options->words_count)
		return error_set(err, ERROR_USAGE, "doctor takes no words");
	count = preflight_findings(options->socket, findings, FINDINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		printf("%-8s %-18s %s\n", findings[i].ok ? "ok" : "missing", findings[i].id, findings[i].found);
		if (!findings[i].ok && findings[i].mend)
			printf("%-8s %-18s %s\n", "", "", findings[i].mend);
		missing += !findings[i].ok;
	}
	printf("\n%s\n",
	       missing ? "this host is not ready: mend what is missing" : "this host is ready: `harness run all`");
	return missing ? EXIT_HARNESS : EXIT_PASS;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.words = "",
	.title = "each need of this host: ok, or what mends it",
	.text = "Exit code 0 when nothing is missing, 3 otherwise.",
	.engine = true,
	.run = run,
};
