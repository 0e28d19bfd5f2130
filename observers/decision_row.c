#include "observers/decision_row.h"

#include <endian.h>
#include <string.h>

#define MAGIC_AT 0
#define SEQUENCE_AT 4
#define TOOL_AT 12
#define TOOL_BYTES 32
#define DECISION_AT 44
#define RULE_AT 48
#define TIME_AT 52
#define END_AT 60

static uint32_t number32(const char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return be32toh(number);
}

static uint64_t number64(const char *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return be64toh(number);
}

bool decision_row_parse(const char *bytes, struct decision_row *out)
{
	struct decision_row row = { 0 };
	size_t length = strnlen(bytes + TOOL_AT, TOOL_BYTES);

	if (memcmp(bytes + MAGIC_AT, "HDR1", 4) != 0 || memcmp(bytes + END_AT, "\r\n\r\n", 4) != 0)
		return false;
	if (length == 0)
		return false;
	for (size_t i = length; i < TOOL_BYTES; i++)
		if (bytes[TOOL_AT + i] != '\0')
			return false;
	memcpy(row.tool, bytes + TOOL_AT, length);
	row.sequence = number64(bytes + SEQUENCE_AT);
	row.decision = number32(bytes + DECISION_AT);
	row.rule = number32(bytes + RULE_AT);
	row.time = number64(bytes + TIME_AT);
	if (row.decision < DECISION_ALLOW || row.decision > DECISION_FAULT)
		return false;
	*out = row;
	return true;
}
