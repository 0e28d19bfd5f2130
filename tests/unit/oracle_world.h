/* The scenarios of the tree, loaded for the oracle's tests, with the names that they may use. */
#ifndef HARNESS_TESTS_UNIT_ORACLE_WORLD_H
#define HARNESS_TESTS_UNIT_ORACLE_WORLD_H

#include <fcntl.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/scenario.h"

static const char *const world_probes[] = { "tcp4", "tcp4-child", "tcp6",      "dns",    "tcp4-nic",
					    "file", "stderr",     "permitted", "denied", NULL };
static const char *const world_measures[] = { "interfaces",      "packets-other", "core-limit-soft",
					      "core-limit-hard", "restarts",      "starts",
					      "alive",           "loss_to_dead",  NULL };
static const char *const world_observers[] = {
	"tcp4",          "tcp6",          "dns",         "tcp4-nic",   "capture-host", "capture-netns", "attempts",
	"files-archive", "files-changes", "files-upper", "files-root", "logs-api",     "logs-disk",     "deliveries",
	"decisions",     "state",         NULL
};
static const char *const world_mutations[] = { "network",      "network-bridge", "read-only", "log-driver",
					       "sink-ceiling", "watchdog",       "ack",       NULL };
static const struct scenario_names world_names = {
	.probes = world_probes,
	.measures = world_measures,
	.observers = world_observers,
	.mutations = world_mutations,
};

/* Tests run at the root of the tree. */
static inline int world_load(struct scenario **scenarios, size_t *count, struct error **err)
{
	cleanup_fd int directory = open("scenarios", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return error_set(err, ERROR_INPUT, "no folder 'scenarios': run the tests at the root of the tree");
	return scenario_load_all(directory, &world_names, scenarios, count, err);
}

/* A scenario with every kind of field, and its mutant. */
static const char control_text[] =
	"{\"title\":\"t\",\"profile\":\"reference\",\"probes\":[\"tcp4\",\"dns\",\"permitted\"],\"tries\":2,\"hold\":"
	"true,"
	"\"windowMs\":5000,\"faults\":[{\"role\":\"bridge\",\"action\":\"kill\",\"trigger\":\"permitted\",\"undo\":"
	"false}],"
	"\"updates\":[{\"trigger\":\"permitted\",\"revision\":1,\"revoke\":\"public.tool\",\"restore\":null}],"
	"\"expect\":["
	"{\"subject\":\"tcp4\",\"observer\":\"tcp4\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"},"
	"{\"subject\":\"loss_to_dead\",\"observer\":\"state\",\"op\":\"le\",\"value\":9,\"class\":\"protected\"},"
	"{\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1,\"class\":\"control\"},"
	"{\"subject\":\"dns\",\"observer\":\"attempts\",\"op\":\"ge\",\"value\":1,\"class\":\"control\","
	"\"needs\":\"ipv6-loopback\"}]}";

static const char mutant_text[] =
	"{\"title\":\"m\",\"control\":\"base\",\"removes\":[\"network\",\"ack\"],\"profile\":\"reference\","
	"\"probes\":[\"tcp4\",\"dns\",\"permitted\"],\"tries\":2,\"hold\":true,"
	"\"windowMs\":5000,\"faults\":[{\"role\":\"bridge\",\"action\":\"kill\",\"trigger\":\"permitted\",\"undo\":"
	"false}],"
	"\"updates\":[{\"trigger\":\"permitted\",\"revision\":1,\"revoke\":\"public.tool\",\"restore\":null}],"
	"\"expect\":["
	"{\"subject\":\"tcp4\",\"observer\":\"tcp4\",\"op\":\"ge\",\"value\":1,\"class\":\"protected\",\"flips\":true},"
	"{\"subject\":\"loss_to_dead\",\"observer\":\"state\",\"op\":\"ge\",\"value\":10,\"class\":\"protected\","
	"\"flips\":true},"
	"{\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1,\"class\":\"control\"},"
	"{\"subject\":\"dns\",\"observer\":\"attempts\",\"op\":\"ge\",\"value\":1,\"class\":\"control\","
	"\"needs\":\"ipv6-loopback\"}]}";

/* Decodes `text` with the first `from` replaced by `to`. */
static inline int world_decode(const char *id, const char *text, const char *from, const char *to, struct scenario *out,
			       struct error **err)
{
	cleanup_buf struct buf edited = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	const char *at = from ? strstr(text, from) : NULL;
	int result;

	if (from && !at)
		return error_set(err, ERROR_INTERNAL, "the text to replace is not there");
	if (at) {
		buf_add(&edited, text, (size_t)(at - text));
		buf_text(&edited, to);
		buf_text(&edited, at + strlen(from));
	} else {
		buf_text(&edited, text);
	}
	result = json_parse(edited.data, edited.length, JSON_DEPTH, &document, err);
	return result < 0 ? result : scenario_decode(id, json_root(document), &world_names, out, err);
}

#endif
