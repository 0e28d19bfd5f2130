/* Envelopes: one that is read is written as the same bytes, and what holds its payload together with the key holds no
 * more once a byte of it is another. */
#include "reports/dsse.h"

#include <string.h>

#include "core/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sign_keys.h"

static void check_form(const struct dsse *envelope, const uint8_t *bytes, size_t size)
{
	cleanup_buf struct buf again = BUF(DSSE_LINE_BYTES);
	cleanup_error struct error *err = NULL;

	FUZZ_HOLDS(envelope->signature.length > 0 && envelope->signature.length <= SIGNATURE_BYTES_MAX);
	FUZZ_HOLDS(envelope->payload.length <= DSSE_PAYLOAD_BYTES);
	FUZZ_HOLDS(dsse_write(envelope, &again, &err) == 0 && buf_text(&again, "\n") == 0);
	FUZZ_HOLDS(again.length == size && memcmp(again.data, bytes, size) == 0);
}

static void check_signature(struct dsse *envelope)
{
	cleanup_public_key struct public_key *key = NULL;
	cleanup_error struct error *err = NULL;
	bool good = false;

	FUZZ_HOLDS(public_key_parse(KEY_ED25519_PUBLIC, strlen(KEY_ED25519_PUBLIC), &key, &err) == 0);
	FUZZ_HOLDS(dsse_check(envelope, key, &good, &err) == 0);
	if (!good)
		return;
	FUZZ_HOLDS(buf_text(&envelope->payload, " ") == 0);
	FUZZ_HOLDS(dsse_check(envelope, key, &good, &err) == 0 && !good);
}

FUZZ_TARGET(dsse)
{
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	cleanup_error struct error *err = NULL;

	if (dsse_read((const char *)bytes, size, &envelope, &err) < 0) {
		FUZZ_HOLDS(error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT);
		return;
	}
	check_form(&envelope, bytes, size);
	check_signature(&envelope);
}
