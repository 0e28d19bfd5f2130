/* The world of claims, with assessors who have real keys: two of them, and one whose key signs the run too. */
#ifndef HARNESS_TESTS_UNIT_ASSESSMENTS_WORLD_H
#define HARNESS_TESTS_UNIT_ASSESSMENTS_WORLD_H

#include <stdlib.h>

#include "reports/assessments.h"
#include "reports/base64.h"
#include "reports/dsse.h"
#include "tests/unit/claims_world.h"
#include "tests/unit/sign_keys.h"
#include "tests/unit/test.h"

/* Nobody's. */
#define KEY_THIRD_PRIVATE                                                                                              \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MC4CAQAwBQYDK2VwBCIEIDuJWDszqsaN0Pl6hnrvXL1QgL0Lw0Ai+YGtQM61bJYs\n"                                           \
	"-----END PRIVATE KEY-----\n"
#define FINGERPRINT_ED25519 "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9"
#define FINGERPRINT_P256 "5a7a78cca4a0f420d9bc62bb669c3c2759e39f723d3ae10dcbe0f0815a07ecd4"

struct assessed_world {
	struct claims_world *claims;
	struct assessors assessors; /* Ed25519, P-256, and the run's */
	struct assessments list;
	struct assessment_ground ground;
	struct error *err;
};

static inline bool assessed_world_assessor(struct assessors *assessors, const char *pem)
{
	struct public_key *key = NULL;
	struct error *err = NULL;

	if (public_key_parse(pem, strlen(pem), &key, &err) == 0 && assessors_add(assessors, key, &err) == 0)
		return true;
	return test_no_error(&err);
}

/* The parts are freed by assessed_world_free(), itself by free(). */
static inline struct assessed_world *assessed_world_new(void)
{
	struct assessed_world *world = calloc(1, sizeof(*world));

	if (!world || !assessed_world_assessor(&world->assessors, KEY_ED25519_PUBLIC) ||
	    !assessed_world_assessor(&world->assessors, KEY_P256_PUBLIC) ||
	    !assessed_world_assessor(&world->assessors, KEY_OTHER_PUBLIC))
		abort();
	world->claims = claims_world_new();
	world->ground = world->claims->input.ground;
	world->ground.keys = (const char(*)[HEX_SHA256])world->assessors.names;
	world->ground.keys_count = world->assessors.count;
	world->ground.run_keys = (const char(*)[HEX_SHA256])world->assessors.names + 2;
	return world;
}

static inline void assessed_world_free(struct assessed_world *world)
{
	free(world->claims);
	assessors_free(&world->assessors);
	assessments_free(&world->list);
	error_free(world->err);
	world->err = NULL;
}

static inline int assessed_world_read(struct assessed_world *world, const struct buf *lines, struct error **err)
{
	return assessments_read(buf_string(lines), lines->length, &world->assessors, &world->list, err);
}

static inline bool assessed_world_sign(const struct assessment *statement, const char *private, struct buf *out)
{
	cleanup_private_key struct private_key *key = NULL;
	struct error *err = NULL;

	(void)(private_key_parse(private, strlen(private), &key, &err) == 0 &&
	       assessment_sign(key, statement, out, &err) == 0);
	return test_no_error(&err);
}

/* Signs and reads; false with world->err set where it is refused. */
static inline bool assessed_world_add(struct assessed_world *world, const struct assessment *statement,
				      const char *private)
{
	cleanup_buf struct buf line = BUF(MIB);

	return assessed_world_sign(statement, private, &line) && assessed_world_read(world, &line, &world->err) == 0;
}

/* Of the last statement; -1 where none is. */
static inline int assessed_world_reason(struct assessed_world *world)
{
	cleanup_free struct assessment *judged = NULL;
	struct error *err = NULL;

	if (world->list.count == 0 ||
	    assessments_judged(&world->list, &world->assessors, &world->ground, &judged, &err) < 0) {
		error_free(err);
		return -1;
	}
	return (int)assessment_judge(&judged[world->list.count - 1], &world->ground);
}

/* The first `from` of a text replaced by `to`. */
static inline bool assessed_world_change(const struct buf *text, const char *from, const char *to, struct buf *out)
{
	const char *at = strstr(buf_string(text), from);

	if (!at)
		return false;
	(void)buf_add(out, text->data, (size_t)(at - text->data));
	(void)buf_text(out, to);
	return buf_text(out, at + strlen(from)) == 0;
}

static inline void assessed_world_signature(const struct buf *payload, const char *private, struct buf *out)
{
	cleanup_private_key struct private_key *key = NULL;
	cleanup_buf struct buf encoding = BUF(MIB);
	struct signature signature = { .length = 0 };
	struct error *err = NULL;

	(void)(private_key_parse(private, strlen(private), &key, &err) == 0 &&
	       dsse_encoding(ASSESSMENT_PAYLOAD_TYPE, buf_string(payload), payload->length, &encoding, &err) == 0 &&
	       sign_bytes(key, encoding.data, encoding.length, &signature, &err) == 0);
	(void)test_no_error(&err);
	base64_encode(signature.bytes, signature.length, out);
}

static inline void assessed_world_open(const struct buf *payload, struct buf *out)
{
	(void)buf_text(out, "{\"payload\":\"");
	base64_encode(buf_string(payload), payload->length, out);
	(void)buf_text(out, "\",\"payloadType\":\"" ASSESSMENT_PAYLOAD_TYPE "\",\"signatures\":[");
}

/* An envelope of any payload. */
static inline bool assessed_world_wrap(const struct buf *payload, const char *private, struct buf *out)
{
	assessed_world_open(payload, out);
	(void)buf_text(out, "{\"sig\":\"");
	assessed_world_signature(payload, private, out);
	return buf_text(out, "\"}]}\n") == 0;
}

/* A letter for each signature: tests/unit/test_assessments.c. */
static inline int assessed_world_add_many(struct assessed_world *world, const char *by, struct error **err)
{
	static const struct {
		char letter;
		const char *private;
	} keys[] = {
		{ 'a', KEY_ED25519_PRIVATE },
		{ 'p', KEY_P256_PRIVATE },
		{ 'r', KEY_OTHER_PRIVATE },
		{ 'x', KEY_THIRD_PRIVATE },
	};
	cleanup_buf struct buf payload = BUF(MIB), line = BUF(MIB);

	if (assessment_encode(&world->claims->statements[WORLD_P4_CONTROL], &payload, err) < 0)
		return -1;
	assessed_world_open(&payload, &line);
	for (const char *at = by; *at; at++) {
		static const char large[512];

		(void)buf_text(&line, at == by ? "{\"sig\":\"" : ",{\"sig\":\"");
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (keys[i].letter == *at)
				assessed_world_signature(&payload, keys[i].private, &line);
		if (*at == '-' || *at == 'L')
			base64_encode(large, *at == 'L' ? sizeof(large) : 64, &line);
		(void)buf_text(&line, "\"}");
	}
	(void)buf_text(&line, "]}\n");
	return assessed_world_read(world, &line, err);
}

#endif
