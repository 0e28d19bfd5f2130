/*
 * Fuzz targets: one for each reader of bytes that nobody vouches for. A target is a function over bytes. libFuzzer
 * calls it in a program of its own (`make fuzz`), and a unit test calls all of them with the files of tests/data/fuzz.
 */
#ifndef HARNESS_TESTS_FUZZ_FUZZ_H
#define HARNESS_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One for each tests/fuzz/fuzz_NAME.c and folder tests/data/fuzz/NAME. */
#define FUZZ_TARGETS(EACH)                                                                                             \
	EACH(assessments)                                                                                              \
	EACH(canary)                                                                                                   \
	EACH(catalog)                                                                                                  \
	EACH(decision_row)                                                                                             \
	EACH(demux)                                                                                                    \
	EACH(dns)                                                                                                      \
	EACH(dsse)                                                                                                     \
	EACH(effect)                                                                                                   \
	EACH(environment)                                                                                              \
	EACH(frame)                                                                                                    \
	EACH(gateway_config)                                                                                           \
	EACH(http_answer)                                                                                              \
	EACH(http_body)                                                                                                \
	EACH(inspect)                                                                                                  \
	EACH(json)                                                                                                     \
	EACH(json_form)                                                                                                \
	EACH(json_python)                                                                                              \
	EACH(logs_frames)                                                                                              \
	EACH(manifest)                                                                                                 \
	EACH(mcp_http)                                                                                                 \
	EACH(merge)                                                                                                    \
	EACH(observation)                                                                                              \
	EACH(otlp)                                                                                                     \
	EACH(packet)                                                                                                   \
	EACH(replay)                                                                                                   \
	EACH(rpc)                                                                                                      \
	EACH(span_record)                                                                                              \
	EACH(ustar)                                                                                                    \
	EACH(verify)                                                                                                   \
	EACH(wire)

#define FUZZ_DECLARE(name) void fuzz_##name(const uint8_t *bytes, size_t size);
FUZZ_TARGETS(FUZZ_DECLARE)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Opens the one function of a target's file. libFuzzer's own entry is weak, so that one program can hold all targets.
 */
#define FUZZ_TARGET(name)                                                                                              \
	__attribute__((weak)) int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)                            \
	{                                                                                                              \
		fuzz_##name(bytes, size);                                                                              \
		return 0;                                                                                              \
	}                                                                                                              \
	void fuzz_##name(const uint8_t *bytes, size_t size)

/* What must hold for every input. */
#define FUZZ_HOLDS(condition)                                                                                          \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                 \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A sum over bytes in order (FNV-1a), to compare two ways to the same bytes. Starts as FUZZ_SUM. */
#define FUZZ_SUM UINT64_C(0xcbf29ce484222325)
static inline uint64_t fuzz_sum(uint64_t sum, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#endif
