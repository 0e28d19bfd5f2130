/* scenarios.json: the expectations of a run, and nothing that was seen. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/coverage.h"

#define FILE_NAME "scenarios.json"
#define SCHEMA SCENARIOS_SCHEMA

static const struct schema_field document_fields[];

static int by_id(const void *a, const void *b)
{
	return strcmp((*(const struct scenario *const *)a)->id, (*(const struct scenario *const *)b)->id);
}

/* Sorts, and drops what stands twice. Returns how many remain. */
static size_t sort_unique(const struct scenario **list, size_t count)
{
	size_t kept = 0;

	if (count > 0)
		qsort(list, count, sizeof(*list), by_id);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || list[kept - 1] != list[i])
			list[kept++] = list[i];
	return kept;
}

static int encode_one(const struct scenario *scenario, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	int result = scenario_text(scenario, &text, err);

	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

int scenarios_encode(const struct plan *plan, struct buf *out, struct error **err)
{
	cleanup_free const struct scenario **list =
		calloc(plan->arms_count + plan->absent_count + 1, sizeof(const struct scenario *));
	size_t count = 0;
	int result = 0;

	if (!list)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	for (size_t i = 0; i < plan->arms_count; i++)
		list[count++] = plan->arms[i].scenario;
	for (size_t i = 0; i < plan->absent_count; i++)
		list[count++] = plan->absent[i].scenario;
	count = sort_unique(list, count);
	buf_text(out, SCENARIOS_BEGIN);
	for (size_t i = 0; i < count && result >= 0; i++) {
		buf_text(out, i ? "," : "");
		result = encode_one(list[i], out, err);
	}
	buf_text(out, SCENARIOS_END);
	return result < 0 ? result : buf_check(out, FILE_NAME, err);
}

int scenario_read(const char *bytes, size_t length, struct scenario *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf again = BUF(SCENARIO_BYTES);
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, FILE_NAME);
	result = scenario_decode_sealed(json_root(document), FILE_NAME, out, err);
	if (result >= 0)
		result = encode_one(out, &again, err);
	if (result < 0)
		return result;
	if (again.length != length || memcmp(buf_string(&again), bytes, length) != 0)
		return error_set(err, ERROR_INPUT, "%s is not in its canonical form", FILE_NAME);
	return 0;
}

static int decode_list(const struct json_node *list, struct scenario *out, struct error **err)
{
	size_t i = 0;

	for (const struct json_node *node = json_first(list); node; node = json_next(node), i++) {
		int result = scenario_decode_sealed(node, FILE_NAME, &out[i], err);

		if (result < 0)
			return result;
		if (i > 0 && strcmp(out[i - 1].id, out[i].id) >= 0)
			return error_set(err, ERROR_INPUT, "%s: scenarios[%zu]: not sorted by id, or twice", FILE_NAME,
					 i);
	}
	return 0;
}

int scenarios_decode(const char *bytes, size_t length, struct scenario **out, size_t *count, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct scenario *scenarios = NULL;
	const struct json_node *root, *list;
	const char *schema;
	size_t total;
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, FILE_NAME);
	root = json_root(document);
	schema = json_string(json_member(root, "schema"));
	list = json_member(root, "scenarios");
	if (!schema || strcmp(schema, SCHEMA) != 0 || !list || json_type(list) != JSON_ARRAY || json_count(root) != 2)
		return error_set(err, ERROR_INPUT, "%s: must be an object of 'schema' and 'scenarios' alone",
				 FILE_NAME);
	total = json_count(list);
	if (total == 0 || total > PLAN_ARMS_MAX)
		return error_set(err, ERROR_INPUT, "%s: must have 1 to %d scenarios", FILE_NAME, PLAN_ARMS_MAX);
	scenarios = calloc(total, sizeof(*scenarios));
	if (!scenarios)
		return error_set(err, ERROR_MEMORY, "no memory for %zu scenarios", total);
	result = decode_list(list, scenarios, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&scenarios);
	*count = total;
	return 0;
}

int scenarios_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

static const char *const schema_names[] = { SCHEMA, NULL };

/* For the schema alone: the list is read one scenario at a time. */
static const struct schema_field document_fields[] = {
	{ .key = "schema", .required = true, .type = SCHEMA_ENUM, .names = schema_names },
	{ .key = "scenarios",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = scenario_sealed_fields,
	  .array_min = 1,
	  .array_max = PLAN_ARMS_MAX },
	{ .key = NULL },
};
