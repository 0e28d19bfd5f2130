/* `harness doctor`: each need of this host, and how to mend what is missing. Changes nothing. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/preflight.h"
#include "reports/summary.h"
#include "runner/cluster.h"
#include "runner/document.h"
#include "runner/paths.h"
#include "runner/terminal.h"
#include "runner/verb.h"

#define FINDINGS_MAX 32

static const char *const words[] = {
	[FINDING_MISSING] = "missing",
	[FINDING_OK] = "ok",
	[FINDING_ABSENT] = "absent",
	[FINDING_UNKNOWN] = "unknown",
};

/* What was not looked at is not there for sure. */
static bool is_open(const struct preflight_finding *finding)
{
	return finding->status == FINDING_MISSING || finding->status == FINDING_UNKNOWN;
}

static void find_cmcp(struct preflight_finding *out)
{
	cleanup_error struct error *missing = NULL;
	char path[PATH_MAX];

	bool there = path_cmcp("cmcp", path, sizeof(path), &missing) == 0;

	*out = (struct preflight_finding){ .id = "cmcp",
					   .status = there ? FINDING_OK : FINDING_ABSENT,
					   .mend = there ? NULL : "ci/cmcp installs it" };
	snprintf(out->found, sizeof(out->found), "%s",
		 there ? "the real cMCP, for --gateway cmcp"
		       : "the real cMCP is not installed: only --gateway cmcp needs it");
}

static void find_postgres(const char *folder, struct preflight_finding *out)
{
	char version[CLUSTER_VERSION_BYTES];

	cluster_version(folder, version);
	*out = (struct preflight_finding){
		.id = "postgres",
		.status = version[0] ? FINDING_OK : FINDING_ABSENT,
		.mend = version[0]
				? NULL
				: "in the source, ci/postgres start; without libpq-dev, ci/deps build and make before"
	};
	if (version[0])
		snprintf(out->found, sizeof(out->found), "PostgreSQL %.60s, for effects/pg", version);
	else
		snprintf(out->found, sizeof(out->found),
			 "no cluster with the roles of the orders answers, or harness was built without libpq: only "
			 "effects/pg needs it");
}

static void print_text(const struct preflight_finding *findings, size_t count, size_t missing)
{
	struct terminal terminal;

	terminal_open(&terminal, stdout, getenv("TERM"), getenv("NO_COLOR"));
	for (size_t i = 0; i < count; i++) {
		enum verdict verdict = findings[i].status == FINDING_OK        ? VERDICT_PASS
				       : findings[i].status == FINDING_MISSING ? VERDICT_FAIL
									       : VERDICT_NOT_ESTABLISHED;

		printf("%s%-8s%s %-18s %s\n", verdict_colour(verdict, terminal.colours), words[findings[i].status],
		       terminal.colours ? COLOUR_END : "", findings[i].id, findings[i].found);
		if (findings[i].mend)
			printf("%-8s %-18s %s\n", "", "", findings[i].mend);
	}
	printf("\n%s\n",
	       missing ? "this host is not ready: mend what is missing" : "this host is ready: `harness run all`");
}

static int print_document(const struct preflight_finding *findings, size_t count, size_t missing, struct error **err)
{
	cleanup_buf struct buf out = BUF(DOCUMENT_BYTES);
	struct json_writer json;

	document_begin(&json, &out, "doctor", missing ? EXIT_HARNESS : EXIT_PASS);
	json_member_bool(&json, "ready", missing == 0);
	json_put_key(&json, "checks");
	json_array(&json);
	for (size_t i = 0; i < count; i++) {
		char safe[sizeof(findings[i].found)];

		json_object(&json);
		json_member_string(&json, "id", findings[i].id);
		json_member_string(&json, "status", words[findings[i].status]);
		json_member_string(&json, "what", error_safe(findings[i].found, safe, sizeof(safe)));
		document_optional(&json, "mend", findings[i].mend ? findings[i].mend : "");
		json_object_end(&json);
	}
	json_array_end(&json);
	document_end(&json);
	return document_print(&out, err);
}

static int run(const struct options *options, struct error **err)
{
	struct preflight_finding findings[FINDINGS_MAX];
	size_t count, missing = 0;

	if (options->words_count)
		return error_set(err, ERROR_USAGE, "doctor takes no words");
	count = preflight_findings(options->socket, findings, FINDINGS_MAX - 2);
	find_postgres(cluster_folder(options->postgres), &findings[count++]);
	find_cmcp(&findings[count++]);
	for (size_t i = 0; i < count; i++)
		missing += is_open(&findings[i]);
	if (!options->json)
		print_text(findings, count, missing);
	else if (print_document(findings, count, missing, err) < 0)
		return -1;
	return missing ? EXIT_HARNESS : EXIT_PASS;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.words = "",
	.title = "each need of this host: ok, or what mends it",
	.text = "Exit code 0 when nothing is missing or unknown (it could not be looked at), 3 otherwise. What is "
		"absent,\n"
		"only some cells or runs need.",
	.engine = true,
	.run = run,
};
