/*
 * The members that grow with a run, read as they come by: arms.json and scenarios.json an element at a time, and of
 * verdicts.json the word of each cell. What is wrong is kept for the check whose turn it is.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/coverage.h"
#include "reports/verify_elements.h"
#include "reports/verify_parts.h"

#define ELEMENT_BYTES (512 * KIB)
#define CLAIMS_BYTES (1 * MIB) /* of one effect */
#define BLANK_BYTES 512

struct streams {
	struct elements of[MEMBERS]; /* without `begin`: a member that is not streamed */
	struct arm_room *room; /* for one arm at a time */
	struct scenario *scenario; /* for one scenario */
	size_t arms_room;
};

/* The array is taken as zeros that nobody touched: only pages of it that hold something take memory. */
static void copy_sparse(void *to, const void *from, size_t size)
{
	static const char blank[BLANK_BYTES];

	for (size_t at = 0; at < size; at += BLANK_BYTES) {
		size_t part = size - at < BLANK_BYTES ? size - at : BLANK_BYTES;

		if (memcmp((const char *)from + at, blank, part) != 0)
			memcpy((char *)to + at, (const char *)from + at, part);
	}
}

void bundle_copy_scenario(struct scenario *to, const struct scenario *from)
{
	copy_sparse(to, from, sizeof(*to));
}

static int more_arms(struct bundle *bundle, struct error **err)
{
	size_t room = bundle->streams->arms_room ? 2 * bundle->streams->arms_room : 64;
	struct arm_record *grown = reallocarray(bundle->arms, room, sizeof(*grown));

	if (!grown)
		return error_set(err, ERROR_MEMORY, "no memory for %zu arm records", room);
	bundle->arms = grown;
	bundle->streams->arms_room = room;
	return 0;
}

static int read_arm(struct bundle *bundle, const char *element, size_t length, struct error **err)
{
	struct arm_room *room = bundle->streams->room;
	int result = 0;

	if (bundle->arms_count == PLAN_ARMS_MAX)
		return error_set(err, ERROR_LIMIT, "arms.json: more than %d arms", PLAN_ARMS_MAX);
	if (bundle->arms_count == bundle->streams->arms_room)
		result = more_arms(bundle, err);
	if (result >= 0)
		result = arm_record_read(element, length, room, err);
	if (result >= 0)
		result = arm_pool_keep(bundle->pool, &room->record, &bundle->arms[bundle->arms_count], err);
	if (result < 0)
		return error_wrap(err, "arm record %zu", bundle->arms_count);
	bundle->arms_count++;
	return 0;
}

static int take_arm(void *context, const char *element, size_t length, struct error **err)
{
	struct bundle *bundle = context;
	cleanup_error struct error *why = NULL;

	if (bundle->unread_arms || read_arm(bundle, element, length, &why) >= 0)
		return 0;
	return bundle_keep_first(&bundle->unread_arms, &why, err);
}

static int read_scenario(struct bundle *bundle, const char *element, size_t length, struct error **err)
{
	struct scenario *one = bundle->streams->scenario;
	size_t count = bundle->scenarios_count;
	int result;

	if (count == PLAN_SCENARIOS_MAX)
		return error_set(err, ERROR_LIMIT, "scenarios.json: more than %d scenarios", PLAN_SCENARIOS_MAX);
	result = scenario_read(element, length, one, err);
	if (result < 0)
		return result;
	if (count > 0 && strcmp(bundle->scenarios[count - 1].id, one->id) >= 0)
		return error_set(err, ERROR_INPUT, "scenarios.json: scenarios[%zu]: not sorted by id, or twice", count);
	bundle_copy_scenario(&bundle->scenarios[bundle->scenarios_count++], one);
	return 0;
}

static int take_scenario(void *context, const char *element, size_t length, struct error **err)
{
	struct bundle *bundle = context;
	cleanup_error struct error *why = NULL;

	if (bundle->unread || read_scenario(bundle, element, length, &why) >= 0)
		return 0;
	return bundle_keep_first(&bundle->unread, &why, err);
}

/* "verdict" is the last key of a cell. What stands for none of the words is kept as the byte 255. */
static int take_cell(void *context, const char *element, size_t length, struct error **err)
{
	static const char key[] = "\"verdict\":\"";
	struct bundle *bundle = context;
	unsigned char word = UINT8_MAX;

	(void)err;
	for (int i = 0; verdict_names[i]; i++) {
		size_t name = strlen(verdict_names[i]), tail = sizeof(key) - 1 + name + 2;

		if (length >= tail && memcmp(element + length - tail, key, sizeof(key) - 1) == 0 &&
		    memcmp(element + length - name - 2, verdict_names[i], name) == 0)
			word = (unsigned char)i;
	}
	/* More cells than a run has are told by the digest. */
	(void)buf_add(&bundle->sealed_words, &word, 1);
	return 0;
}

/* Which status stands there, or -1. */
static int status_at(const char *bytes, size_t length)
{
	for (int word = 0; claim_status_names[word]; word++) {
		size_t name = strlen(claim_status_names[word]);

		if (length > name && memcmp(bytes, claim_status_names[word], name) == 0 && bytes[name] == '"')
			return word;
	}
	return -1;
}

/* Of an effect "status" stands once in each claim, and the claims come before all else that has one. */
static int take_claims(void *context, const char *element, size_t length, struct error **err)
{
	static const char key[] = "\"status\":\"";
	struct bundle *bundle = context;
	struct sealed_claims *sealed;
	size_t from = 0;

	(void)err;
	if (bundle->sealed_claims_count++ >= EFFECTS_MAX)
		return 0;
	sealed = &bundle->sealed_claims[bundle->sealed_claims_count - 1];
	hash_bytes(element, length, sealed->sha256);
	for (size_t id = 0; id < CLAIMS; id++) {
		const char *at = memmem(element + from, length - from, key, sizeof(key) - 1);

		from = at ? (size_t)(at - element) + sizeof(key) - 1 : length;
		sealed->words[id] = status_at(element + from, length - from);
	}
	return 0;
}

int streams_open(struct bundle *bundle, struct error **err)
{
	struct streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return error_set(err, ERROR_MEMORY, "no memory to read a bundle");
	bundle->streams = streams;
	bundle->sealed_words = (struct buf)BUF(BUNDLE_CELLS_MAX);
	streams->room = calloc(1, sizeof(*streams->room));
	streams->scenario = calloc(1, sizeof(*streams->scenario));
	bundle->scenarios = calloc(PLAN_SCENARIOS_MAX, sizeof(*bundle->scenarios));
	if (!streams->room || !streams->scenario || !bundle->scenarios)
		return error_set(err, ERROR_MEMORY, "no memory to read a bundle");
	streams->of[MEMBER_ARMS] = (struct elements)ELEMENTS("{\"arms\":[", "]}", ELEMENT_BYTES, take_arm, bundle);
	streams->of[MEMBER_SCENARIOS] =
		(struct elements)ELEMENTS(SCENARIOS_BEGIN, SCENARIOS_END, ELEMENT_BYTES, take_scenario, bundle);
	streams->of[MEMBER_CLAIMS] = (struct elements)ELEMENTS(CLAIMS_BEGIN, NULL, CLAIMS_BYTES, take_claims, bundle);
	streams->of[MEMBER_VERDICTS] =
		(struct elements)ELEMENTS("{\"cells\":[", NULL, ELEMENT_BYTES, take_cell, bundle);
	return arm_pool_new(&bundle->pool, err);
}

bool streams_take(int member)
{
	return member == MEMBER_ARMS || member == MEMBER_CLAIMS || member == MEMBER_SCENARIOS ||
	       member == MEMBER_VERDICTS;
}

int streams_feed(struct bundle *bundle, int member, const void *bytes, size_t length, struct error **err)
{
	int result = elements_feed(&bundle->streams->of[member], bytes, length, err);

	return result == -ERROR_LIMIT ? error_wrap(err, "%s", member_kinds[member].name) : result;
}

static int blame_frame(const struct streams *streams, int member, struct error **kept, struct error **err)
{
	cleanup_error struct error *why = NULL;

	if (*kept || elements_whole(&streams->of[member]))
		return 0;
	/* That it is canonical JSON at all is asked before. */
	(void)error_unlisted(&why, "%s is not in its canonical form, or has an unknown key", member_kinds[member].name);
	return bundle_keep_first(kept, &why, err);
}

int streams_end(struct bundle *bundle, struct error **err)
{
	int result = blame_frame(bundle->streams, MEMBER_SCENARIOS, &bundle->unread, err);

	return result < 0 ? result : blame_frame(bundle->streams, MEMBER_ARMS, &bundle->unread_arms, err);
}

void streams_close(struct bundle *bundle)
{
	if (!bundle->streams)
		return;
	for (int i = 0; i < MEMBERS; i++)
		elements_free(&bundle->streams->of[i]);
	free(bundle->streams->room);
	free(bundle->streams->scenario);
	free(bundle->streams);
	bundle->streams = NULL;
}
