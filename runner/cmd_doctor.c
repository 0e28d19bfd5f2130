/* `harness doctor`: each need of this host, and how to mend what is missing. Changes nothing. */
#include <stdio.h>

#include "adapter/engine.h"
#include "adapter/preflight.h"
#include "core/fd.h"
#include "runner/verb.h"

#define FINDINGS_MAX 32

/* What only an engine that answers can say. */
static bool ask_engine(const struct options *options, struct error **err)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_buf struct buf version = BUF(ENGINE_ANSWER_BYTES);
	cleanup_buf struct buf info = BUF(ENGINE_ANSWER_BYTES);
	cleanup_json struct json_document *version_json = NULL;
	cleanup_json struct json_document *info_json = NULL;

	return engine_open(options->socket, &engine, err) == 0 && engine_negotiate(engine, err) == 0 &&
	       engine_version(engine, &version, err) == 0 && engine_info(engine, &info, err) == 0 &&
	       json_parse(buf_string(&version), version.length, JSON_ENGINE_DEPTH, &version_json, err) == 0 &&
	       json_parse(buf_string(&info), info.length, JSON_ENGINE_DEPTH, &info_json, err) == 0 &&
	       preflight_engine(json_root(version_json), json_root(info_json), err) == 0;
}

static int run(const struct options *options, struct error **err)
{
	struct preflight_finding findings[FINDINGS_MAX];
	cleanup_error struct error *refused = NULL;
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
	if (ask_engine(options, &refused)) {
		printf("%-8s %-18s %s\n", "ok", "engine", "it answers, and is of a kind and version that can be watched");
	} else {
		printf("%-8s %-18s %s\n", "missing", "engine", error_text(refused));
		missing++;
	}
	printf("\n%s\n", missing ? "this host is not ready: mend what is missing" : "this host is ready: `harness run all`");
	return missing ? EXIT_HARNESS : EXIT_PASS;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.words = "",
	.title = "each need of this host: ok, or what mends it",
	.text = "Exit code 0 when nothing is missing, 3 otherwise.",
	.run = run,
};
