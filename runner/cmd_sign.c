/* `harness sign`: a sealed bundle, signed beside it; a merged one, say, or by a second party. */
#include <stdio.h>

#include "runner/beside.h"
#include "runner/store.h"
#include "runner/verb.h"

static int run(const struct options *options, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;

	if (options->words_count != 2)
		return error_set(err, ERROR_USAGE, "sign takes a key and a bundle: harness sign KEY runs/latest/%s",
				 BUNDLE_NAME);
	if (private_key_open(options->words[0], &key, err) < 0 || beside_sign_path(options->words[1], key, err) < 0)
		return -1;
	printf("signed: the statement and its sigstore bundle are beside the archive\n");
	return EXIT_PASS;
}

const struct verb verb_sign = {
	.name = "sign",
	.words = "KEY BUNDLE",
	.title = "sign a sealed bundle, beside it, once it has verified",
	.text = "KEY is a private key of P-256 or Ed25519 in PKCS#8 PEM, without a passphrase and for its owner alone "
		"(chmod\n"
		"600), or fd:N. Writes BUNDLE.intoto.jsonl (DSSE over an in-toto test result) and "
		"BUNDLE.sigstore.json, and of\n"
		"an Ed25519 key SHA256SUMS and SHA256SUMS.sig for ssh-keygen. The statement says what the bundle says, "
		"a fail\n"
		"too; a bundle that does not verify is not signed. Nothing is overwritten.",
	.run = run,
};
