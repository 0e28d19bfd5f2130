/* Rows of the gateway's file of decisions. */
#include "observers/decision_row.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(decision_row)
{
	for (; size >= DECISION_ROW_BYTES; bytes += DECISION_ROW_BYTES, size -= DECISION_ROW_BYTES) {
		struct decision_row row;

		if (!decision_row_parse((const char *)bytes, &row))
			continue;
		FUZZ_HOLDS(row.tool[0] && strlen(row.tool) <= NAME_MAX_SHORT);
		FUZZ_HOLDS(row.decision >= DECISION_ALLOW && row.decision <= DECISION_FAULT);
	}
}
