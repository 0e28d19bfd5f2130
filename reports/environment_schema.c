/* The JSON Schema of environment.json, from its lists: a snapshot is an object of listed facts, not of fields. */
#include "reports/environment.h"

static void put_snapshot(struct buf *out)
{
	const char *fact;

	buf_text(out, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
	for (size_t i = 0; (fact = environment_fact(i)); i++) {
		buf_printf(out, "%s\"%s\":", i ? "," : "", fact);
		environment_fact_schema(i, out);
	}
	buf_text(out, "},\"required\":[");
	for (size_t i = 0; (fact = environment_fact(i)); i++)
		if (!environment_fact_later(fact))
			buf_printf(out, "%s\"%s\"", i ? "," : "", fact);
	buf_text(out, "]}");
}

int environment_schema(struct buf *out, struct error **err)
{
	const char *fact;

	buf_text(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
		      "\"title\":\"environment.json of a bundle, version 1\","
		      "\"type\":\"object\",\"additionalProperties\":false,"
		      "\"required\":[\"schema\",\"before\",\"after\",\"unavailable\"],\"properties\":{"
		      "\"schema\":{\"enum\":[\"" ENVIRONMENT_SCHEMA "\"]},"
		      "\"before\":{\"$ref\":\"#/$defs/snapshot\"},\"after\":{\"$ref\":\"#/$defs/snapshot\"},"
		      "\"unavailable\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
		      "\"additionalProperties\":false,\"required\":[\"field\",\"reason\"],"
		      "\"properties\":{\"field\":{\"enum\":[");
	for (size_t i = 0; (fact = environment_fact(i)); i++)
		buf_printf(out, "%s\"%s\"", i ? "," : "", fact);
	buf_text(out, "]},\"reason\":{\"enum\":[");
	for (size_t i = 0; environment_reasons[i]; i++)
		buf_printf(out, "%s\"%s\"", i ? "," : "", environment_reasons[i]);
	buf_text(out, "]}}}}},\"$defs\":{\"snapshot\":");
	put_snapshot(out);
	buf_text(out, "}}");
	return buf_check(out, "JSON Schema", err);
}
