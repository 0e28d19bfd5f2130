/* A declaration of an effect, as a file of effects/ and as a bundle holds it: what is taken is the same when it is
 * written and read again, and holds together by itself. */
#include "oracle/effect.h"

#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

static void check_sense(const struct effect *effect)
{
	for (size_t i = 0; i < effect->paths_count; i++) {
		const struct effect_path *path = &effect->paths[i];

		FUZZ_HOLDS(path->observers_count > 0);
		FUZZ_HOLDS(effect_path_of(effect, path->subject) == path);
		/* Whatever is written: nothing but statements covers the deployment's side. */
		FUZZ_HOLDS(path->side == EFFECT_AGENT || path->coverage.claims != EFFECT_CLAIMS_MEDIATED ||
			   path->coverage.basis == EFFECT_BASIS_STATEMENTS);
	}
}

static void check_again(const struct effect *effect)
{
	cleanup_free struct effect *again = calloc(1, sizeof(*again));
	cleanup_buf struct buf once = BUF(BUNDLE_FILE_BYTES), twice = BUF(BUNDLE_FILE_BYTES);
	cleanup_json struct json_document *document = NULL;
	char digest[HEX_SHA256], same[HEX_SHA256];
	struct error *err = NULL;

	FUZZ_HOLDS(again && effect_canonical(effect, &once, &err) == 0);
	FUZZ_HOLDS(json_parse(buf_string(&once), once.length, JSON_DEPTH, &document, &err) == 0);
	FUZZ_HOLDS(effect_decode_sealed(json_root(document), "effect", again, &err) == 0);
	FUZZ_HOLDS(effect_canonical(again, &twice, &err) == 0);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
	FUZZ_HOLDS(effect_digest(effect, digest, &err) == 0 && effect_digest(again, same, &err) == 0);
	FUZZ_HOLDS(strcmp(digest, same) == 0);
}

FUZZ_TARGET(effect)
{
	static const char *const observers[] = { "orders", "tcp4", NULL };
	const struct effect_names names = { .observers = observers };
	cleanup_free struct effect *effect = calloc(1, sizeof(*effect));
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *file = NULL, *sealed = NULL, *named = NULL;

	FUZZ_HOLDS(effect);
	if (json_parse((const char *)bytes, size, JSON_DEPTH, &document, &file) < 0)
		return;
	if (effect_decode("effect", json_root(document), NULL, effect, &file) == 0) {
		check_sense(effect);
		check_again(effect);
	}
	if (effect_decode_sealed(json_root(document), "effect", effect, &sealed) == 0) {
		check_sense(effect);
		check_again(effect);
	}
	/* There is no scenario that any path could name. */
	if (effect_decode("effect", json_root(document), &names, effect, &named) == 0)
		for (size_t i = 0; i < effect->paths_count; i++)
			FUZZ_HOLDS(effect->paths[i].scenarios_count == 0);
}
