/* The scenarios of the tree, loaded for the oracle's tests, with the names that they may use. */
#ifndef HARNESS_TESTS_UNIT_ORACLE_WORLD_H
#define HARNESS_TESTS_UNIT_ORACLE_WORLD_H

#include <fcntl.h>
#include <string.h>

#include "adapter/probe.h"
#include "core/fd.h"
#include "mutations/mutation.h"
#include "observers/table.h"
#include "oracle/scenario.h"

static const struct scenario_names world_names = {
	.probes = probe_ids,
	.measures = measure_ids,
	.observers = observer_ids,
	.mutations = mutation_ids,
	.misbehaviours = misbehaviour_ids,
};

/* Tests run at the root of the tree. */
static inline int world_load_whole(struct scenario **scenarios, size_t *count, struct error **err)
{
	cleanup_fd int directory = open("scenarios", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return error_set(err, ERROR_INPUT, "no folder 'scenarios': run the tests at the root of the tree");
	return scenario_load_all(directory, &world_names, scenarios, count, err);
}

/* The world of most tests: what the baseline needs, and two losses. It does not grow with the tree. */
static inline bool world_has(const struct scenario *scenario)
{
	return !strchr(scenario->id, '/') || strcmp(scenario->id, "lifecycle/bridge-killed") == 0 ||
	       strcmp(scenario->id, "lifecycle/watchdog-paused") == 0 || scenario_selected(scenario, "mutation");
}

static inline int world_load(struct scenario **scenarios, size_t *count, struct error **err)
{
	size_t all = 0;

	*count = 0;
	if (world_load_whole(scenarios, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++)
		if (world_has(&(*scenarios)[i]))
			(*scenarios)[(*count)++] = (*scenarios)[i];
	return 0;
}

/* A scenario with every kind of field, and its mutant. */
static const char control_text[] =
	"{\"title\":\"t\",\"profile\":\"reference\",\"probes\":[\"tcp4\",\"dns\",\"permitted\"],\"tries\":2,\"ending\":"
	"\"hold\","
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
	"\"probes\":[\"tcp4\",\"dns\",\"permitted\"],\"tries\":2,\"ending\":\"hold\","
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
