/* Observations: their line, its limits, and when an observer counts as live. */
#include "oracle/observation.h"

#include <stdlib.h>

#include "core/fd.h"
#include "core/schema_line.h"
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

/* ---- the direct reader against the strict one ---- */

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static int64_t some_number(uint32_t *state)
{
	static const int64_t edges[] = {
		0, 1, 9, 10, 4095, INT64_C(4294967296), EVIDENCE_INT_MAX - 1, EVIDENCE_INT_MAX
	};

	return edges[next(state) % ARRAY_SIZE(edges)];
}

static void some_name(uint32_t *state, char *out, size_t size)
{
	static const char letters[] = "abcz09._-";
	size_t length = 1 + next(state) % (size - 1);

	for (size_t i = 0; i < length; i++)
		out[i] = i > 0 && i + 1 < length && next(state) % 9 == 0 && out[i - 1] != '/'
				 ? '/'
				 : letters[next(state) % (sizeof(letters) - 1)];
	out[0] = 'o';
	out[length] = '\0';
}

static void some_observation(uint32_t *state, struct observation *out)
{
	*out = (struct observation){ .kind = (int)(next(state) % 3),
				     .status = (int)(next(state) % 3),
				     .reason = (int)(next(state) % 10),
				     .value = next(state) % 4 ? some_number(state) : -some_number(state) };
	some_name(state, out->id, sizeof(out->id));
	some_name(state, out->arm, sizeof(out->arm));
	some_name(state, out->subject, sizeof(out->subject));
	some_name(state, out->observer, sizeof(out->observer));
	some_name(state, out->unit, sizeof(out->unit));
	for (const struct schema_field *field = observation_fields; field->key; field++) {
		int64_t number = some_number(state);

		if (field->type == SCHEMA_INT && field->min == 0)
			memcpy((char *)out + field->offset, &number, sizeof(number));
	}
}

/* A byte taken out, put in or changed, or what stands twice. */
static void mutate(uint32_t *state, struct buf *line)
{
	static const char bytes[] = "{}[]\",:\\/ 019-+.eEaz\t\0\x7f\xc3u";
	cleanup_buf struct buf out = BUF(4096);
	size_t at = next(state) % line->length, span = next(state) % 12;
	char byte = bytes[next(state) % (sizeof(bytes) - 1)];

	span = at + span > line->length ? line->length - at : span;
	buf_add(&out, line->data, at);
	switch (next(state) % 4) {
	case 0:
		buf_add(&out, line->data + at + 1, line->length - at - 1);
		break;
	case 1:
		buf_add(&out, &byte, 1);
		buf_add(&out, line->data + at, line->length - at);
		break;
	case 2:
		buf_add(&out, &byte, 1);
		buf_add(&out, line->data + at + 1, line->length - at - 1);
		break;
	default:
		buf_add(&out, line->data + at, span);
		buf_add(&out, line->data + at, line->length - at);
		break;
	}
	line->length = 0;
	buf_add(line, buf_string(&out), out.length);
}

/* Whether the direct reader says what the strict reader and the writer say together. */
static bool readers_agree(const struct schema_line *form, const struct buf *line, bool *taken)
{
	cleanup_buf struct buf again = BUF(4096);
	cleanup_error struct error *err = NULL;
	struct observation direct, strict;
	bool canonical = observation_read(buf_string(line), line->length, &strict, &err) == 0 &&
			 observation_write(&strict, &again, &err) == 0 && again.length == line->length + 1 &&
			 memcmp(again.data, line->data, line->length) == 0;

	*taken = schema_line_read(form, buf_string(line), line->length, &direct, sizeof(direct));
	return *taken == canonical && (!*taken || memcmp(&direct, &strict, sizeof(direct)) == 0);
}

static void test_direct(void)
{
	struct schema_line form;
	uint32_t state = 2463534242u;
	size_t taken = 0, refused = 0;

	CU_ASSERT(schema_line_arrange(&form, observation_fields));
	for (int i = 0; i < 20000; i++) {
		cleanup_buf struct buf line = BUF(4096);
		struct observation one;
		struct error *err = NULL;
		bool took = false;

		some_observation(&state, &one);
		if (observation_write(&one, &line, &err) < 0) {
			CU_FAIL("a line that cannot be written");
			break;
		}
		line.length--;
		for (uint32_t changes = next(&state) % 3; changes > 0 && line.length > 0; changes--)
			mutate(&state, &line);
		if (!readers_agree(&form, &line, &took)) {
			fprintf(stderr, "they differ: %.*s\n", (int)line.length, line.data);
			CU_FAIL("the direct reader differs");
			break;
		}
		taken += took;
		refused += !took;
	}
	CU_ASSERT(taken > 5000 && refused > 5000);
}

/* Tables with more than flat required fields are not arranged. */
static void test_not_flat(void)
{
	static const char *const names[] = { "a", NULL };
	static const struct schema_field flat = { .key = "a", .required = true, .type = SCHEMA_ENUM, .names = names };
	struct schema_field fields[SCHEMA_LINE_FIELDS + 2] = { flat };
	struct schema_line form;

	CU_ASSERT(schema_line_arrange(&form, fields));
	fields[0].required = false;
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields));
	fields[0] = flat;
	fields[0].array_max = 2;
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields));
	fields[0] = (struct schema_field){ .key = "a", .required = true, .type = SCHEMA_INT, .max = INT64_MAX };
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields));
	fields[0] = (struct schema_field){
		.key = "a", .required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ASCII, .size = 4
	};
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields));
	for (size_t i = 0; i <= SCHEMA_LINE_FIELDS; i++)
		fields[i] = flat;
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields));
	CU_ASSERT_FALSE(schema_line_arrange(&form, fields + SCHEMA_LINE_FIELDS + 1));
}

static CU_TestInfo tests[] = {
	{ "one line, canonical, and back", test_line },
	{ "each name of each list", test_names },
	{ "refused lines", test_refused_lines },
	{ "limits", test_limits },
	{ "live", test_live },
	{ "the direct reader against the strict one", test_direct },
	{ "tables that the direct reader does not take", test_not_flat },
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
