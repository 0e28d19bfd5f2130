/* Signed statements: one that is read has one form, and what holds by a key holds over that form and no other. */
#include "reports/assessments.h"

#include <string.h>

#include "reports/dsse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sign_keys.h"

static void add(struct assessors *assessors, const char *pem)
{
	struct public_key *key = NULL;
	cleanup_error struct error *err = NULL;

	FUZZ_HOLDS(public_key_parse(pem, strlen(pem), &key, &err) == 0);
	FUZZ_HOLDS(assessors_add(assessors, key, &err) == 0);
}

static bool is_signed(const struct assessed *one, const struct assessors *assessors, size_t by)
{
	cleanup_buf struct buf payload = BUF(ASSESSMENT_BYTES), encoding = BUF(2 * ASSESSMENT_BYTES);
	cleanup_error struct error *err = NULL;
	bool good = false;

	FUZZ_HOLDS(assessment_encode(&one->statement, &payload, &err) == 0);
	FUZZ_HOLDS(dsse_encoding(ASSESSMENT_PAYLOAD_TYPE, payload.data, payload.length, &encoding, &err) == 0);
	FUZZ_HOLDS(sign_check(assessors->keys[by], encoding.data, encoding.length, &one->signatures[by], &good, &err) ==
		   0);
	return good;
}

static void check_statement(struct assessed *one, const struct assessors *assessors)
{
	FUZZ_HOLDS(one->statement.key[0] == '\0');
	for (size_t i = 0; i < assessors->count; i++) {
		if (!one->holds[i])
			continue;
		FUZZ_HOLDS(is_signed(one, assessors, i));
		one->statement.kind = (one->statement.kind + 1) % (ASSESSMENT_OBSERVATION + 1);
		FUZZ_HOLDS(!is_signed(one, assessors, i));
		one->statement.kind = (one->statement.kind + ASSESSMENT_OBSERVATION) % (ASSESSMENT_OBSERVATION + 1);
	}
}

FUZZ_TARGET(assessments)
{
	cleanup_assessors struct assessors assessors = { .count = 0 };
	cleanup_assessments struct assessments list = { .list = NULL };
	cleanup_error struct error *err = NULL;

	add(&assessors, KEY_ED25519_PUBLIC);
	add(&assessors, KEY_P256_PUBLIC);
	if (assessments_read((const char *)bytes, size, &assessors, &list, &err) < 0)
		FUZZ_HOLDS(error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT);
	FUZZ_HOLDS(list.count <= CLAIM_STATEMENTS_MAX);
	for (size_t i = 0; i < list.count; i++)
		check_statement(&list.list[i], &assessors);
}
