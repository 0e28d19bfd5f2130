/* A declaration with every kind of path, for the tests of effects and of claims, and what it may name. */
#ifndef HARNESS_TESTS_UNIT_EFFECT_WORLD_H
#define HARNESS_TESTS_UNIT_EFFECT_WORLD_H

#include <stdlib.h>

#include "oracle/effect.h"
#include "tests/unit/oracle_world.h"

#define EFFECT_PATH(id, side, mediator, admits, subject, scenarios, claims, basis)                                     \
	"{\"id\":\"" id "\",\"side\":\"" side "\",\"what\":\"w\",\"mediator\":\"" mediator "\",\"admits\":\"" admits   \
	"\",\"subject\":\"" subject "\",\"observers\":[\"tcp4\",\"deliveries\",\"mine\"],\"scenarios\":[" scenarios    \
	"],\"coverage\":{\"claims\":\"" claims "\",\"basis\":\"" basis "\",\"why\":\"y\"}}"

static const char effect_text[] =
	"{\"effect\":\"order_create\",\"title\":\"t\",\"boundary\":{\"id\":\"b\",\"what\":\"w\"},\"revision\":\"r1\","
	"\"inventory\":{\"method\":\"source-review\",\"date\":\"2026-01-02T03:04:05Z\",\"what\":\"w\"},"
	"\"observers\":[{\"id\":\"mine\",\"program\":\"observer-orders\",\"sees\":[\"effect\"]}],\"paths\":"
	"[" EFFECT_PATH(
		"P1", "agent", "gateway", "authorised", "permitted", "\"base\"", "mediated",
		"scenarios") "," EFFECT_PATH("P2", "agent", "network", "nothing", "tcp4", "\"base\"", "mediated",
					     "scenarios") "," EFFECT_PATH("P4", "deployment", "reviewer", "anything",
									  "other", "", "mediated",
									  "statements") "," EFFECT_PATH("P5",
													"deployment",
													"none",
													"anything",
													"host", "",
													"none",
													"none") "],"
														"\"excl"
														"uded\""
														":[{"
														"\"what"
														"\":"
														"\"w\","
														"\"reas"
														"on\":"
														"\"r\"}"
														"]}";

static const char effect_scenario_text[] =
	"{\"title\":\"t\",\"probes\":[\"tcp4\",\"dns\",\"permitted\"],\"expect\":["
	"{\"subject\":\"tcp4\",\"observer\":\"tcp4\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"},"
	"{\"subject\":\"permitted\",\"observer\":\"deliveries\",\"op\":\"eq\",\"value\":1,\"class\":\"control\"},"
	"{\"subject\":\"dns\",\"observer\":\"dns\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"}]}";

/* Decodes effect_text with the first `from` replaced by `to`, against the scenario "base" (or without names, when
 * `scenario` is NULL). */
static inline int effect_world_decode(const char *from, const char *to, const struct scenario *scenario,
				      struct effect *out, struct error **err)
{
	const struct effect_names names = { .observers = observer_ids,
					    .inputs = observer_inputs,
					    .measures = measure_ids,
					    .scenarios = scenario,
					    .scenarios_count = 1 };
	const char *at = from ? strstr(effect_text, from) : effect_text;
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	int result;

	if (!at)
		return error_set(err, ERROR_INTERNAL, "the text to replace is not there");
	(void)buf_add(&text, effect_text, (size_t)(at - effect_text));
	(void)buf_text(&text, from ? to : "");
	(void)buf_text(&text, at + (from ? strlen(from) : 0));
	result = json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, err);
	return result < 0 ? result : effect_decode("order", json_root(document), scenario ? &names : NULL, out, err);
}

#endif
