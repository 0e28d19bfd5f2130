/* Observations: their line, its limits, and when an observer counts as live. */
#include "oracle/observation.h"

#include <stdlib.h>

#include "core/fd.h"
#include "tests/unit/test.h"

static const struct observation sample = {
	.id = "o-000001",
	.arm = "mutation/network",
	.repetition = 2,
	.subject = "tcp4",
	.observer = "capture-host",
	.kind = OBSERVATION_COUNT,
	.status = OBSERVATION_OBSERVED,
	.reason = OBSERVATION_REASON_NONE,
	.unit = "records",
	.value = 3,
	.attempts = 4,
	.connections = 5,
	.bytes = 6,
	.canary_hits = 7,
	.dropped = 8,
	.beacon_before = 9,
	.beacon_after = 10,
	.start_ns = 11,
	.duration_ns = EVIDENCE_INT_MAX,
};

static const char sample_line[] =
	"{\"arm\":\"mutation/"
	"network\",\"attempts\":4,\"beaconAfter\":10,\"beaconBefore\":9,\"bytes\":6,\"canaryHits\":7,"
	"\"connections\":5,\"dropped\":8,\"durationNs\":9007199254740991,\"id\":\"o-000001\",\"kind\":\"count\","
	"\"observer\":\"capture-host\",\"reason\":\"none\",\"repetition\":2,\"startNs\":11,\"status\":\"observed\","
	"\"subject\":\"tcp4\",\"unit\":\"records\",\"value\":3}\n";

static void test_line(void)
{
	cleanup_buf struct buf out = BUF(4096);
	struct observation back;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(observation_write(&sample, &out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), sample_line);
	CU_ASSERT_EQUAL(observation_read(sample_line, sizeof(sample_line) - 2, &back, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(&back, &sample, sizeof(back)), 0);
}

/* Each name of each list goes out and comes back as the same value. */
static void test_names(void)
{
	static const struct {
		const char *const *names;
		size_t offset;
		int count;
	} lists[] = {
		{ observation_kind_names, offsetof(struct observation, kind), OBSERVATION_STATE + 1 },
		{ observation_status_names, offsetof(struct observation, status), OBSERVATION_OBSERVER_ERROR + 1 },
		{ observation_reason_names, offsetof(struct observation, reason), OBSERVATION_REASON_LOST + 1 },
	};

	for (size_t list = 0; list < ARRAY_SIZE(lists); list++) {
		CU_ASSERT_PTR_NULL(lists[list].names[lists[list].count]);
		for (int value = 0; value < lists[list].count; value++) {
			cleanup_buf struct buf out = BUF(4096);
			struct observation one = sample, back;
			struct error *err = NULL;

			memcpy((char *)&one + lists[list].offset, &value, sizeof(value));
			CU_ASSERT_EQUAL(observation_write(&one, &out, &err), 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_EQUAL(observation_read(buf_string(&out), out.length - 1, &back, &err), 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_EQUAL(memcmp(&back, &one, sizeof(back)), 0);
		}
	}
}

static void test_refused_lines(void)
{
	static const struct {
		const char *from, *to, *part;
	} rows[] = {
		{ "\"value\":3", "\"value\":3.0", "value" },
		{ "\"value\":3", "\"value\":9007199254740992", "value" },
		{ "\"value\":3", "\"value\":\"3\"", "value" },
		{ "\"value\":3", "\"value\":3,\"value\":3", "an observation" },
		{ "\"value\":3", "\"value\":3,\"note\":\"x\"", "note" },
		{ ",\"value\":3", "", "value: missing" },
		{ "\"beaconAfter\":10,", "", "beaconAfter: missing" },
		{ "\"dropped\":8", "\"dropped\":-1", "dropped" },
		{ "\"reason\":\"none\"", "\"reason\":\"unheard\"", "reason: unknown value" },
		{ "\"status\":\"observed\"", "\"status\":\"seen\"", "status: unknown value" },
		{ "\"subject\":\"tcp4\"", "\"subject\":\"Tcp4\"", "subject" },
		{ "\"subject\":\"tcp4\"", "\"subject\":\"\"", "subject" },
		{ "\"unit\":\"records\"", "\"unit\":\"records-and-more-of-it\"", "unit" },
		{ "{\"arm\"", "[{\"arm\"", "an observation" },
		{ "\"value\":3}", "\"value\":3}}", "an observation" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf line = BUF(4096);
		const char *at = strstr(sample_line, rows[i].from);
		struct observation back;
		struct error *err = NULL;

		CU_ASSERT_PTR_NOT_NULL(at);
		if (!at)
			continue;
		buf_add(&line, sample_line, (size_t)(at - sample_line));
		buf_text(&line, rows[i].to);
		buf_text(&line, at + strlen(rows[i].from));
		CU_ASSERT(observation_read(line.data, line.length - 1, &back, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
	}
}

static void test_limits(void)
{
	cleanup_free char *long_line = malloc(OBSERVATION_LINE_BYTES + 1);
	cleanup_buf struct buf small = BUF(sizeof(sample_line) - 2);
	struct observation back, wide = sample;
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(long_line);
	if (!long_line)
		return;
	memset(long_line, ' ', OBSERVATION_LINE_BYTES + 1);
	CU_ASSERT(observation_read(long_line, OBSERVATION_LINE_BYTES + 1, &back, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "more than"));
	CU_ASSERT(observation_write(&sample, &small, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, ""));
	wide.value = EVIDENCE_INT_MAX + 1;
	buf_free(&small);
	CU_ASSERT(observation_write(&wide, &small, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "an observation"));
}

static void test_live(void)
{
	struct observation good = sample;

	good.dropped = 0;
	CU_ASSERT_TRUE(observation_live(&good));
#define DEAD(change)                                                                                                   \
	do {                                                                                                           \
		struct observation one = good;                                                                         \
		one.change;                                                                                            \
		CU_ASSERT_FALSE(observation_live(&one));                                                               \
	} while (0)
	DEAD(dropped = 1);
	DEAD(beacon_before = 0);
	DEAD(beacon_after = 0);
	DEAD(value = -1);
	DEAD(status = OBSERVATION_NOT_OBSERVABLE);
	DEAD(status = OBSERVATION_OBSERVER_ERROR);
#undef DEAD
	for (int reason = 0; reason <= OBSERVATION_REASON_LOST; reason++) {
		bool fine = reason == OBSERVATION_REASON_NONE || reason == OBSERVATION_REASON_CENSORED;

		good.reason = reason;
		CU_ASSERT_EQUAL(observation_live(&good), fine);
	}
}

static CU_TestInfo tests[] = {
	{ "one line, canonical, and back", test_line },
	{ "each name of each list", test_names },
	{ "refused lines", test_refused_lines },
	{ "limits", test_limits },
	{ "live", test_live },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "observation", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observation", suites);
}
