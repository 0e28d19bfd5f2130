/* What goes into an arm's process and what comes out of it: two documents, read as strictly as any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "runner/arm_steps.h"

static const struct schema_field canary_fields[] = {
	{ .key = "text",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .pattern = PATTERN_ID,
	  .offset = offsetof(struct canary, text),
	  .size = sizeof(((struct canary *)0)->text) },
	{ .key = NULL },
};

int arm_input_encode(const struct arm_context *context, const struct scenario *scenario,
		     const struct declared *declared, int64_t repetition, struct json_span info,
		     struct json_span image_inspect, struct buf *out, struct error **err)
{
	struct json_writer json;

	json_begin(&json, out);
	json_object(&json);
	json_put_key(&json, "context");
	schema_encode(arm_context_fields, context, &json);
	json_put_key(&json, "scenario");
	scenario_encode(scenario, &json);
	declared_encode(declared, &json);
	json_member_int(&json, "repetition", repetition);
	json_put_key(&json, "info");
	json_put_raw(&json, info.bytes, info.length);
	json_put_key(&json, "image");
	json_put_raw(&json, image_inspect.bytes, image_inspect.length);
	json_object_end(&json);
	return buf_check(out, "the plan of an arm", err);
}

int arm_input_decode(struct arm *arm, struct error **err)
{
	const struct json_node *root = json_root(arm->input);

	if (schema_decode(arm_context_fields, json_member(root, "context"), "context", &arm->context,
			  sizeof(arm->context), err) < 0 ||
	    scenario_decode_sealed(json_member(root, "scenario"), "scenario", &arm->scenario, err) < 0)
		return -1;
	if (!json_int64(json_member(root, "repetition"), &arm->repetition))
		return error_set(err, ERROR_INPUT, "the plan of an arm has no repetition");
	if (declared_decode(json_member(root, "declared"), ARM_FD_PROGRAMS, &arm->declared, err) < 0)
		return -1;
	arm_declared_kinds(arm);
	return 0;
}

int arm_result_encode(const struct arm_result *result, struct buf *out, struct error **err)
{
	struct json_writer json;

	json_begin(&json, out);
	json_object(&json);
	json_put_key(&json, "record");
	schema_encode(arm_record_fields, &result->room, &json);
	json_put_key(&json, "observations");
	json_array(&json);
	for (size_t i = 0; i < result->observations_count; i++)
		schema_encode(observation_fields, &result->observations[i], &json);
	json_array_end(&json);
	json_put_key(&json, "canaries");
	json_array(&json);
	for (size_t i = 0; i < result->canaries_count; i++)
		schema_encode(canary_fields, &result->canaries[i], &json);
	json_array_end(&json);
	json_put_key(&json, "said");
	json_array(&json);
	for (size_t i = 0; i < result->said_count; i++)
		json_put_string(&json, result->said[i]);
	json_array_end(&json);
	json_member_string(&json, "error", result->error);
	json_object_end(&json);
	return buf_check(out, "the result of an arm", err);
}

static int decode_lists(const struct json_node *root, struct arm_result *result, struct error **err)
{
	const struct json_node *observations = json_member(root, "observations");
	const struct json_node *canaries = json_member(root, "canaries");

	if (json_count(observations) > ARM_OBSERVATIONS_MAX || json_count(canaries) > ARM_SUBJECTS_MAX)
		return error_set(err, ERROR_LIMIT, "the result of an arm is too long");
	result->observations = calloc(json_count(observations) + 1, sizeof(*result->observations));
	if (!result->observations)
		return error_set(err, ERROR_MEMORY, "no memory for observations");
	for (const struct json_node *one = json_first(observations); one; one = json_next(one))
		if (schema_decode(observation_fields, one, "observation",
				  &result->observations[result->observations_count++], sizeof(*result->observations),
				  err) < 0)
			return -1;
	for (const struct json_node *one = json_first(canaries); one; one = json_next(one))
		if (schema_decode(canary_fields, one, "canary", &result->canaries[result->canaries_count++],
				  sizeof(*result->canaries), err) < 0)
			return -1;
	return 0;
}

static int decode_error(const struct json_node *node, struct arm_result *result, struct error **err)
{
	const char *text = json_string(node);

	if (!text || strlen(text) >= sizeof(result->error) || !schema_matches(PATTERN_ASCII, text, strlen(text)))
		return error_set(err, ERROR_INPUT, "the result of an arm: its error is no line of text");
	snprintf(result->error, sizeof(result->error), "%s", text);
	return 0;
}

static int decode_said(const struct json_node *node, struct arm_result *result, struct error **err)
{
	if (json_count(node) > ARM_SAID_MAX)
		return error_set(err, ERROR_LIMIT, "the result of an arm says too much");
	for (const struct json_node *one = json_first(node); one; one = json_next(one)) {
		const char *text = json_string(one);

		if (!text || strlen(text) >= ARM_SAID_BYTES || !schema_matches(PATTERN_ASCII, text, strlen(text)))
			return error_set(err, ERROR_INPUT, "the result of an arm: what was said is no line of text");
		snprintf(result->said[result->said_count++], ARM_SAID_BYTES, "%s", text);
	}
	return 0;
}

bool arm_step_valid(const struct arm_event *event)
{
	size_t name = strnlen(event->name, sizeof(event->name));
	size_t subject = strnlen(event->subject, sizeof(event->subject));

	return name < sizeof(event->name) && schema_matches(PATTERN_ID, event->name, name) &&
	       subject < sizeof(event->subject) &&
	       (subject == 0 || schema_matches(PATTERN_ID, event->subject, subject)) && event->at_ns >= 0;
}

int arm_result_decode(const char *bytes, size_t length, struct arm_result *result, struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	*result = (struct arm_result){ .observations = NULL };
	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0 ||
	    schema_decode(arm_record_fields, json_member(json_root(document), "record"), "record", &result->room,
			  sizeof(result->room), err) < 0)
		return error_wrap(err, "the result of an arm");
	arm_room_open(&result->room);
	if (decode_error(json_member(json_root(document), "error"), result, err) < 0 ||
	    decode_said(json_member(json_root(document), "said"), result, err) < 0)
		return -1;
	return decode_lists(json_root(document), result, err);
}

void arm_result_free(struct arm_result *result)
{
	free(result->observations);
	result->observations = NULL;
	result->observations_count = 0;
	explicit_bzero(result->canaries, sizeof(result->canaries));
}

#define TEXT(name, member, kind)                                                                                       \
	{                                                                                                              \
		.key = name, .type = SCHEMA_STRING, .required = true, .nullable = true, .pattern = kind,               \
		.offset = offsetof(struct arm_context, member), .size = sizeof(((struct arm_context *)0)->member)      \
	}

#define OF_GATEWAY(name, member)                                                                                       \
	{                                                                                                              \
		.key = name, .type = SCHEMA_STRING, .required = true, .nullable = true, .pattern = PATTERN_ASCII,      \
		.offset = offsetof(struct arm_gateway_choice, member),                                                 \
		.size = sizeof(((struct arm_gateway_choice *)0)->member)                                               \
	}

const struct schema_field arm_gateway_fields[] = {
	{ .key = "kind",
	  .type = SCHEMA_ENUM,
	  .required = true,
	  .names = gateway_kind_names,
	  .offset = offsetof(struct arm_gateway_choice, kind) },
	OF_GATEWAY("url", url),
	OF_GATEWAY("raised", raised),
	OF_GATEWAY("token", token),
	OF_GATEWAY("sink", sink),
	OF_GATEWAY("python", python),
	OF_GATEWAY("program", program),
	{ .key = NULL },
};

const struct schema_field arm_context_fields[] = {
	TEXT("socket", socket, PATTERN_ASCII),
	TEXT("api", api, PATTERN_ASCII),
	TEXT("run", run, PATTERN_HEX),
	TEXT("image", image, PATTERN_ASCII),
	TEXT("nic", nic, PATTERN_ASCII),
	TEXT("boot", boot, PATTERN_HEX),
	TEXT("root", root, PATTERN_ASCII),
	TEXT("control", control, PATTERN_HEX),
	{ .key = "controlMarker",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct arm_context, control_marker),
	  .size = sizeof(struct canary),
	  .fields = canary_fields },
	{ .key = "gateway",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .offset = offsetof(struct arm_context, gateway),
	  .size = sizeof(struct arm_gateway_choice),
	  .fields = arm_gateway_fields },
	{ .key = "enginePid",
	  .type = SCHEMA_INT,
	  .required = true,
	  .offset = offsetof(struct arm_context, engine_pid),
	  .min = 1,
	  .max = INT32_MAX },
	{ .key = "userXattr",
	  .type = SCHEMA_BOOL,
	  .required = true,
	  .offset = offsetof(struct arm_context, user_xattr) },
	{ .key = "ipv6", .type = SCHEMA_BOOL, .required = true, .offset = offsetof(struct arm_context, ipv6) },
	{ .key = "postgres", .type = SCHEMA_BOOL, .required = true, .offset = offsetof(struct arm_context, postgres) },
	TEXT("cluster", cluster, PATTERN_ASCII),
	{ .key = NULL },
};
