/* The JSON Schema of environment.json, from its lists: a snapshot is an object of listed facts, not of fields. */
#include <inttypes.h>

#include "core/limits.h"
#include "oracle/observation.h"
#include "reports/environment.h"

static void put_names(struct buf *out, const char *const *names)
{
	buf_text(out, "{\"enum\":[");
	for (size_t i = 0; names[i]; i++)
		buf_printf(out, "%s\"%s\"", i ? "," : "", names[i]);
	buf_text(out, "]}");
}

static void put_snapshot(struct buf *out)
{
	buf_text(out, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
	for (size_t i = 0; environment_facts[i]; i++)
		buf_printf(out, "%s\"%s\":{\"$ref\":\"#/$defs/fact\"}", i ? "," : "", environment_facts[i]);
	buf_text(out, "}}");
}

static void put_fact(struct buf *out)
{
	buf_printf(out,
		   "{\"anyOf\":[{\"type\":[\"null\",\"boolean\"]},{\"type\":\"integer\",\"minimum\":%" PRId64
		   ",\"maximum\":%" PRId64 "},{\"$ref\":\"#/$defs/text\"},{\"type\":\"array\",\"maxItems\":%d,"
		   "\"items\":{\"$ref\":\"#/$defs/text\"}}]}",
		   -EVIDENCE_INT_MAX, EVIDENCE_INT_MAX, ENVIRONMENT_LIST_MAX);
}

int environment_schema(struct buf *out, struct error **err)
{
	buf_text(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
		      "\"title\":\"environment.json of a bundle, version 1\","
		      "\"type\":\"object\",\"additionalProperties\":false,"
		      "\"required\":[\"schema\",\"before\",\"after\",\"unavailable\"],\"properties\":{"
		      "\"schema\":{\"enum\":[\"" ENVIRONMENT_SCHEMA "\"]},"
		      "\"before\":{\"$ref\":\"#/$defs/snapshot\"},\"after\":{\"$ref\":\"#/$defs/snapshot\"},"
		      "\"unavailable\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
		      "\"additionalProperties\":false,\"required\":[\"field\",\"reason\"],"
		      "\"properties\":{\"field\":");
	put_names(out, environment_facts);
	buf_text(out, ",\"reason\":");
	put_names(out, environment_reasons);
	buf_text(out, "}}}},\"$defs\":{\"snapshot\":");
	put_snapshot(out);
	buf_text(out, ",\"fact\":");
	put_fact(out);
	buf_printf(out, ",\"text\":{\"type\":\"string\",\"maxLength\":%d,\"pattern\":\"^[ -~]*$\"}}}",
		   ENVIRONMENT_TEXT_MAX);
	return buf_check(out, "JSON Schema", err);
}
