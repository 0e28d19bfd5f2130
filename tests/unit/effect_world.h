/* A declaration with every kind of path, for the tests of effects and of claims, and what it may name. */
#ifndef HARNESS_TESTS_UNIT_EFFECT_WORLD_H
#define HARNESS_TESTS_UNIT_EFFECT_WORLD_H

#include <stdlib.h>

#include "oracle/effect.h"
#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

#define EFFECT_PATH(id, side, mediator, admits, subject, scenarios, claims, basis)                                     \
	"{\"id\":\"" id "\",\"side\":\"" side "\",\"what\":\"w\",\"mediator\":\"" mediator "\",\"admits\":\"" admits   \
	"\",\"subject\":\"" subject "\",\"observers\":[\"orders\",\"mine\"],\"scenarios\":[" scenarios                 \
	"],\"coverage\":{\"claims\":\"" claims "\",\"basis\":\"" basis "\",\"why\":\"y\"}}"

#define EFFECT_P1                                                                                                      \
	EFFECT_PATH("P1", "agent", "gateway", "authorised", "order-gateway", "\"base\"", "mediated", "scenarios")
#define EFFECT_P2 EFFECT_PATH("P2", "agent", "network", "nothing", "tcp4", "\"base\",\"cut\"", "mediated", "scenarios")
#define EFFECT_P4 EFFECT_PATH("P4", "deployment", "reviewer", "anything", "other", "", "mediated", "statements")
#define EFFECT_P5 EFFECT_PATH("P5", "deployment", "none", "anything", "host", "", "none", "none")

static const char effect_text[] =
	"{\"effect\":\"order_create\",\"title\":\"t\",\"boundary\":{\"id\":\"b\",\"what\":\"w\"},\"revision\":\"r1\","
	"\"inventory\":{\"method\":\"source-review\",\"date\":\"2026-01-02T03:04:05Z\",\"what\":\"w\"},"
	"\"observers\":[{\"id\":\"mine\",\"program\":\"observer-orders\",\"sees\":[\"effect\"]},"
	"{\"id\":\"orders\",\"program\":null,\"sees\":[\"effect\"]}],\"paths\":"
	"[" EFFECT_P1 "," EFFECT_P2 "," EFFECT_P4 "," EFFECT_P5 "],"
	"\"excluded\":[{\"what\":\"w\",\"reason\":\"r\"}]}";

static const char effect_scenario_text[] =
	"{\"title\":\"t\",\"probes\":[\"tcp4\",\"dns\",\"order-gateway\",\"permitted\"],\"expect\":["
	"{\"subject\":\"tcp4\",\"observer\":\"orders\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"},"
	"{\"subject\":\"order-gateway\",\"observer\":\"orders\",\"op\":\"eq\",\"value\":1,\"class\":\"control\"},"
	"{\"subject\":\"dns\",\"observer\":\"dns\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"},"
	"{\"subject\":\"audit-chain\",\"observer\":\"audit\",\"op\":\"eq\",\"value\":0,\"class\":\"control\"}]}";

/* Its mutant, without the network's protection. */
static inline void effect_world_mutant(const struct scenario *base, struct scenario *out)
{
	*out = *base;
	snprintf(out->id, sizeof(out->id), "cut");
	snprintf(out->control, sizeof(out->control), "%s", base->id);
	snprintf(out->removes[0], sizeof(out->removes[0]), "network");
	out->removes_count = 1;
	out->expect[0].flips = true;
	out->expect[0].value = 1;
}

/* Decodes effect_text with the first `from` replaced by `to`, against the scenario "base" and its mutant (or without
 * names, when `scenario` is NULL). */
static inline int effect_world_decode(const char *from, const char *to, const struct scenario *scenario,
				      struct effect *out, struct error **err)
{
	cleanup_free struct scenario *both = calloc(2, sizeof(*both));
	const struct effect_names names = { .observers = observer_ids,
					    .inputs = observer_inputs,
					    .measures = measure_ids,
					    .scenarios = both,
					    .scenarios_count = 2 };
	const char *at = from ? strstr(effect_text, from) : effect_text;
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	int result;

	if (!at || !both)
		return error_set(err, ERROR_INTERNAL, "the text to replace is not there");
	if (scenario) {
		both[0] = *scenario;
		effect_world_mutant(scenario, &both[1]);
	}
	(void)buf_add(&text, effect_text, (size_t)(at - effect_text));
	(void)buf_text(&text, from ? to : "");
	(void)buf_text(&text, at + (from ? strlen(from) : 0));
	result = json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, err);
	return result < 0 ? result : effect_decode("order", json_root(document), scenario ? &names : NULL, out, err);
}

static inline struct scenario *base_scenario(void)
{
	struct scenario *scenario = calloc(1, sizeof(*scenario));
	struct error *err = NULL;

	CU_ASSERT(scenario && world_decode("base", effect_scenario_text, NULL, NULL, scenario, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	return scenario;
}

/* A bundle holds it as it is. */
static inline void effect_world_round_trip(const struct effect *effect)
{
	cleanup_free struct effect *back = calloc(1, sizeof(*back));
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	struct json_writer writer;
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(back);
	if (!back)
		return;
	json_begin(&writer, &text);
	effect_encode(effect, &writer);
	CU_ASSERT_EQUAL(json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT_EQUAL(effect_decode_sealed(json_root(document), "effects.json", back, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(back, effect, sizeof(*back)), 0);
}

#endif
