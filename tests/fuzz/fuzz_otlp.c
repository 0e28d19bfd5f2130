/* An export of spans, as protobuf and as JSON: each error is one of its spans, and what is refused counts nothing. */
#include "observers/otlp.h"

#include "tests/fuzz/fuzz.h"

static void sum_text(void *context, const char *text, size_t length)
{
	uint64_t *sum = context;

	*sum = fuzz_sum(*sum, text, length);
}

FUZZ_TARGET(otlp)
{
	struct otlp_counts counts = { 0 };
	struct error *err = NULL;
	uint64_t sum = FUZZ_SUM;

	if (otlp_read_protobuf(bytes, size, &counts, &err) < 0)
		FUZZ_HOLDS(counts.spans == 0);
	/* A span takes a tag and a length. */
	FUZZ_HOLDS(counts.errors <= counts.spans && counts.spans <= size / 2);
	error_free(err);
	err = NULL;
	if (otlp_read_json((const char *)bytes, size, sum_text, &sum, &counts, &err) < 0)
		FUZZ_HOLDS(counts.spans == 0);
	FUZZ_HOLDS(counts.errors <= counts.spans && counts.spans <= size / 2);
	error_free(err);
}
