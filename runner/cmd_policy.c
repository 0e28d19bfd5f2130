/* `harness policy`: what may be called in the sessions that are open now, and the operator's changes to it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/policy_channel.h"
#include "runner/store.h"
#include "runner/verb.h"

#define SHOW_MS 2000
/* An update waits for the call under way. */
#define UPDATE_MS 30000
#define DOCUMENT_BYTES 128

static const char *const verbs_of_change[] = { "revoke", "restore", NULL };

static int show(const char *path, struct policy_answer *out, struct error **err)
{
	return policy_ask(path, POLICY_SHOW, strlen(POLICY_SHOW), clock_deadline(SHOW_MS), out, err);
}

static int show_one(void *context, const char *id, const char *path, struct error **err)
{
	cleanup_error struct error *gone = NULL;
	struct policy_answer answer;
	unsigned *shown = context;

	(void)err;
	/* One that does not listen yet or any more has nothing to show. */
	if (show(path, &answer, &gone) < 0)
		return 0;
	if (++*shown == 1)
		printf("%-8s %-32s %8s  %-9s %s\n", "session", "scenario", "revision", "admission", "tools");
	printf("%-8s %-32s %8lld  %-9s", id, answer.scenario, (long long)answer.revision,
	       !answer.open    ? "over"
	       : answer.closed ? "closed"
			       : "open");
	for (size_t i = 0; i < answer.tools_count; i++)
		printf(" %s%s", answer.tools[i].tool, answer.tools[i].revoked ? " (revoked)" : "");
	printf("\n");
	return 0;
}

static int show_all(struct error **err)
{
	unsigned shown = 0;

	if (store_each_arm(show_one, &shown, err) < 0)
		return -1;
	if (shown == 0)
		printf("%s\n", geteuid() == 0
				       ? "no session is open"
				       : "no session of yours is open; those of other users are not shown: use sudo");
	return EXIT_PASS;
}

struct wanted {
	const char *session;
	char path[PATH_MAX];
};

static int find_one(void *context, const char *id, const char *path, struct error **err)
{
	struct wanted *wanted = context;

	(void)err;
	if (strcmp(id, wanted->session) == 0)
		snprintf(wanted->path, sizeof(wanted->path), "%s", path);
	return 0;
}

/* An unknown tool would close admission: it is not sent. */
static int check_tool(const struct policy_answer *state, const char *tool, struct error **err)
{
	cleanup_buf struct buf known = BUF(KIB);
	char safe[64];

	for (size_t i = 0; i < state->tools_count; i++) {
		if (strcmp(state->tools[i].tool, tool) == 0)
			return 0;
		(void)buf_printf(&known, "%s%s", i ? ", " : "", state->tools[i].tool);
	}
	return error_set(err, ERROR_USAGE, "'%s' was not approved for this session; these were: %s",
			 error_safe(tool, safe, sizeof(safe)), buf_string(&known));
}

static int tell(const struct policy_answer *answer, const char *verb, const char *tool, struct error **err)
{
	switch (answer->said) {
	case POLICY_SAID_APPLIED:
		printf("revision %lld: %s is %sd\n", (long long)answer->revision, tool, verb);
		return EXIT_PASS;
	case POLICY_SAID_STALE:
		return error_set(err, ERROR_REFUSED,
				 "another update came first: admission is closed until a newer one; say it again");
	case POLICY_SAID_INVALID:
		return error_set(err, ERROR_REFUSED,
				 "the session refused the update: admission is closed until a valid newer one");
	case POLICY_SAID_BUSY:
		return error_set(err, ERROR_REFUSED, "another update is under way, and nothing was changed: try again");
	case POLICY_SAID_NOT_OPEN:
		return error_set(err, ERROR_REFUSED, "this session makes no more calls: nothing was changed");
	default:
		return error_set(err, ERROR_CLOSED,
				 "the session ended meanwhile: it is not known whether the update took hold");
	}
}

static int change(const struct options *options, struct error **err)
{
	struct wanted wanted = { .session = options->session };
	const char *verb = options->words[0], *tool = options->words[1];
	struct policy_answer answer;
	char document[DOCUMENT_BYTES], safe[64];

	if (!options->session)
		return error_set(err, ERROR_USAGE, "which session? --session ID, as `harness policy show` lists them");
	if (store_each_arm(find_one, &wanted, err) < 0)
		return -1;
	if (!wanted.path[0] || show(wanted.path, &answer, err) < 0) {
		error_free(steal_pointer(err));
		return error_set(err, ERROR_USAGE, "no open session is '%s': see `harness policy show`",
				 error_safe(options->session, safe, sizeof(safe)));
	}
	if (check_tool(&answer, tool, err) < 0)
		return -1;
	snprintf(document, sizeof(document), "{\"revision\":%lld,\"%s\":\"%s\"}", (long long)answer.revision + 1, verb,
		 tool);
	if (policy_ask(wanted.path, document, strlen(document), clock_deadline(UPDATE_MS), &answer, err) < 0)
		return -1;
	return tell(&answer, verb, tool, err);
}

static int run(const struct options *options, struct error **err)
{
	const char *word = options->words_count ? options->words[0] : "";

	if (strcmp(word, "show") == 0 && options->words_count == 1)
		return show_all(err);
	if (options->words_count == 2 && schema_enum(verbs_of_change, word) >= 0)
		return change(options, err);
	return error_set(err, ERROR_USAGE, "policy takes `show`, or `revoke TOOL` or `restore TOOL` with --session ID");
}

const struct verb verb_policy = {
	.name = "policy",
	.words = "show|revoke|restore TOOL",
	.title = "what may be called in the sessions that are open now, and change it",
	.text = "`show` lists the sessions that are open, each with the tools that it was approved. `revoke TOOL "
		"--session "
		"ID` takes\n"
		"one away: when it says so, the calls that were admitted before have finished, and no other gets "
		"through. "
		"`restore`\n"
		"gives it back. Neither changes a ceiling, nor what the session already knows. Only for root and who "
		"runs "
		"the\n"
		"session.",
	.run = run,
};
