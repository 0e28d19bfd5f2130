/*
 * Every frame that an agent could hope to get through, each in a fresh parser, whole and cut anywhere: refused, for the
 * reason that the file states, with nothing of the frame in what is said about it. And the good frames beside them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "adapter/bridge_config.h"
#include "adapter/frame.h"
#include "core/fd.h"
#include "core/hash.h"
#include "tests/unit/frame_rows.h"
#include "tests/unit/test.h"

#define FOLDER "tests/data/frames/"
#define ROWS_MAX 1024
#define HOSTILE_MIN 580
#define GOOD_MIN 45
#define LONG_BYTES 2048 /* a longer frame is cut at some of its bytes only */
#define LONG_STEP 1021 /* a prime, so that the cuts fall everywhere in what repeats */

struct met {
	char sha256[ROWS_MAX][HEX_SHA256];
	size_t rows;
	size_t reasons[CONTROL_REASON_INTERNAL + 1];
	size_t texts[32]; /* by json_texts */
	size_t wrong;
};

struct outcome {
	enum control_reason reason;
	size_t taken;
	char operation[NAME_MAX_SHORT]; /* of the last frame that was taken */
};

static const struct bridge_config config;
static const char *const json_texts[];

/* ---- as the bridge reads ---- */

static enum control_reason take_line(struct json_span line, struct outcome *outcome)
{
	cleanup_frame struct frame frame = { .document = NULL };
	enum control_reason reason = frame_parse(line, &frame);
	const struct bridge_alias *alias;

	if (reason != CONTROL_REASON_NONE) {
		CU_ASSERT_PTR_NULL(frame.document);
		return reason;
	}
	alias = bridge_config_alias(&config, frame.operation, frame.operation_length);
	if (!alias)
		return CONTROL_REASON_OPERATION;
	memcpy(outcome->operation, alias->operation, sizeof(outcome->operation));
	outcome->taken++;
	return CONTROL_REASON_NONE;
}

static enum control_reason take_piece(struct frame_reader *reader, const char *bytes, size_t length,
				      struct outcome *outcome)
{
	enum control_reason reason = frame_reader_feed(reader, bytes, length);
	struct json_span line;

	while (reason == CONTROL_REASON_NONE && frame_reader_next(reader, &line))
		reason = take_line(line, outcome);
	return reason;
}

/* In a fresh parser: first `first` bytes, then pieces of `step`. */
static struct outcome play(const struct frame_row *row, size_t first, size_t step)
{
	struct outcome outcome = { .reason = CONTROL_REASON_NONE };
	struct frame_reader reader;
	size_t length = first;

	frame_reader_init(&reader, FRAME_BYTES, STDOUT_BYTES);
	for (size_t at = 0; at < row->length && outcome.reason == CONTROL_REASON_NONE; at += length, length = step) {
		if (length > row->length - at)
			length = row->length - at;
		outcome.reason = take_piece(&reader, row->bytes + at, length, &outcome);
	}
	if (outcome.reason == CONTROL_REASON_NONE)
		outcome.reason =
			frame_reader_partial(&reader) ? CONTROL_REASON_PARTIAL_FRAME : CONTROL_REASON_STREAM_END;
	frame_reader_free(&reader);
	return outcome;
}

static enum control_reason reason_of(const char *word)
{
	for (int i = 0; control_reason_names[i]; i++)
		if (strcmp(control_reason_names[i], word) == 0)
			return (enum control_reason)i;
	return CONTROL_REASON_NONE;
}

/* Whether it comes out so, wherever it is cut. */
static bool comes_out(const struct frame_row *row, enum control_reason reason, size_t taken, const char *operation)
{
	size_t step = row->length > LONG_BYTES ? LONG_STEP : 1;

	for (size_t cut = 0; cut <= row->length; cut += step) {
		/* The last round in pieces of one step: all cuts at once. */
		size_t rest = cut + step > row->length ? step : row->length;
		struct outcome outcome = play(row, cut ? cut : rest, rest);

		if (outcome.reason != reason || outcome.taken != taken || strcmp(outcome.operation, operation) != 0) {
			fprintf(stderr, "line %zu, cut at %zu: %s, %zu frames taken\n", row->line, cut,
				control_reason_names[outcome.reason], outcome.taken);
			return false;
		}
	}
	return true;
}

/* ---- what is said of it ---- */

/* "JSON: TEXT at byte N" with a text of ours: then no byte of the frame is in it. */
static bool text_is_fixed(const char *text, size_t length, struct met *met)
{
	static const char before[] = "JSON: ", behind[] = " at byte ";

	if (strncmp(text, before, sizeof(before) - 1) != 0)
		return false;
	text += sizeof(before) - 1;
	for (size_t i = 0; json_texts[i]; i++) {
		size_t known = strlen(json_texts[i]);
		const char *number = text + known + sizeof(behind) - 1;
		char *end = NULL;

		if (strncmp(text, json_texts[i], known) != 0 ||
		    strncmp(text + known, behind, sizeof(behind) - 1) != 0 || *number < '0' || *number > '9')
			continue;
		met->texts[i]++;
		return strtoumax(number, &end, 10) <= length && *end == '\0';
	}
	return false;
}

static bool says_nothing(const struct frame_row *row, struct met *met)
{
	cleanup_error struct error *err = NULL;
	cleanup_json struct json_document *document = NULL;
	const char *feed = memchr(row->bytes, '\n', row->length);
	size_t length = feed ? (size_t)(feed - row->bytes) : row->length;

	if (json_parse(row->bytes, length, JSON_DEPTH, &document, &err) == 0)
		return !err;
	if (error_code(err) == ERROR_INPUT && text_is_fixed(error_text(err), length, met))
		return true;
	fprintf(stderr, "line %zu: '%s'\n", row->line, error_text(err));
	return false;
}

/* ---- the files ---- */

static int keep_distinct(struct met *met, const struct frame_row *row, struct error **err)
{
	if (met->rows == ROWS_MAX)
		return error_set(err, ERROR_LIMIT, "more rows than %d", ROWS_MAX);
	hash_bytes(row->bytes, row->length, met->sha256[met->rows]);
	for (size_t i = 0; i < met->rows; i++)
		if (strcmp(met->sha256[i], met->sha256[met->rows]) == 0)
			return error_set(err, ERROR_INPUT, "line %zu holds a frame that an earlier line holds",
					 row->line);
	met->rows++;
	return 0;
}

static int take_hostile(void *context, const struct frame_row *row, struct error **err)
{
	struct met *met = context;
	enum control_reason reason = reason_of(row->word);

	if (reason == CONTROL_REASON_NONE || reason == CONTROL_REASON_STREAM_END)
		return error_set(err, ERROR_INPUT, "line %zu: its first word is no refusal", row->line);
	met->reasons[reason]++;
	met->wrong += !comes_out(row, reason, 0, "") || !says_nothing(row, met);
	return keep_distinct(met, row, err);
}

static int take_good(void *context, const struct frame_row *row, struct error **err)
{
	struct met *met = context;

	met->wrong += !comes_out(row, CONTROL_REASON_STREAM_END, 1, row->word);
	return keep_distinct(met, row, err);
}

static void test_hostile(void)
{
	cleanup_free struct met *met = calloc(1, sizeof(*met));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(frame_rows_read(FOLDER "hostile", take_hostile, met, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(met->rows >= HOSTILE_MIN);
	CU_ASSERT_EQUAL(met->wrong, 0);
	CU_ASSERT(met->reasons[CONTROL_REASON_FRAME_INVALID] >= 300);
	CU_ASSERT(met->reasons[CONTROL_REASON_OPERATION] >= 80);
	CU_ASSERT(met->reasons[CONTROL_REASON_FRAME_LIMIT] >= 12);
	CU_ASSERT(met->reasons[CONTROL_REASON_PARTIAL_FRAME] >= 12);
	CU_ASSERT_EQUAL(met->rows, met->reasons[CONTROL_REASON_FRAME_INVALID] + met->reasons[CONTROL_REASON_OPERATION] +
					   met->reasons[CONTROL_REASON_FRAME_LIMIT] +
					   met->reasons[CONTROL_REASON_PARTIAL_FRAME]);
	/* Each refusal of the scanner is met. */
	for (size_t i = 0; json_texts[i]; i++) {
		if (!met->texts[i])
			fprintf(stderr, "no frame is refused for: %s\n", json_texts[i]);
		CU_ASSERT(met->texts[i] > 0);
	}
}

static void test_good(void)
{
	cleanup_free struct met *met = calloc(1, sizeof(*met));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(frame_rows_read(FOLDER "good", take_good, met, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(met->rows >= GOOD_MIN);
	CU_ASSERT_EQUAL(met->wrong, 0);
}

/* The two checks above can fail. */
static void test_form(void)
{
	static const struct frame_row row = { .line = 1, .bytes = "{\"operation\":\"x\"}\n", .length = 18 };

	CU_ASSERT(comes_out(&row, CONTROL_REASON_FRAME_INVALID, 0, ""));
	CU_ASSERT_FALSE(text_is_fixed("JSON: permitted at byte 1", 10, &(struct met){ .rows = 0 }));
	CU_ASSERT_FALSE(text_is_fixed("JSON: NUL byte at byte 11", 10, &(struct met){ .rows = 0 }));
	CU_ASSERT_FALSE(text_is_fixed("JSON: NUL byte at byte 1 \"permitted\"", 10, &(struct met){ .rows = 0 }));
	CU_ASSERT(text_is_fixed("JSON: NUL byte at byte 10", 10, &(struct met){ .rows = 0 }));
}

static const struct bridge_config config = {
	.aliases = { { .operation = "permitted", .tool = "permitted.tool" },
		     { .operation = "denied", .tool = "public.tool" },
		     { .operation = "done" } },
	.aliases_count = 3,
};

/* All that core/json_scan.c says. */
static const char *const json_texts[] = {
	"NUL byte",
	"byte order mark",
	"bytes after the value",
	"control character in a string",
	"duplicate key in the object that ends",
	"escape without four digits",
	"escaped NUL",
	"expected ',' or ']'",
	"expected ',' or '}'",
	"expected ':'",
	"expected a digit",
	"expected a key",
	"expected a value",
	"invalid UTF-8",
	"lone surrogate",
	"nested too deeply",
	"string without an end",
	"unknown escape",
	NULL,
};

static CU_TestInfo tests[] = {
	{ "hostile frames", test_hostile },
	{ "good frames", test_good },
	{ "the test itself", test_form },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "frames", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("hostile_frames", suites);
}
