/* `harness sign`: a sealed bundle, signed beside it; a merged one, say, or by a second party. */
#include <stdio.h>

#include "core/fd.h"
#include "runner/beside.h"
#include "runner/bundle_file.h"
#include "runner/store.h"
#include "runner/verb.h"

static int run(const struct options *options, struct error **err)
{
	cleanup_private_key struct private_key *key = NULL;
	cleanup_fd int fd = -1;

	if (options->words_count != 2)
		return error_set(err, ERROR_USAGE, "sign takes a key and a bundle: harness sign KEY runs/latest/%s",
				 BUNDLE_NAME);
	if (bundle_file(options->words[1], "sign", &fd, err) < 0)
		return -1;
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
		"too; a bundle that does not verify, or that this program cannot check wholly, is not signed. Nothing\n"
		"is overwritten. A key is made by\n"
		"  openssl genpkey -algorithm ed25519 -out key.pem && chmod 600 key.pem\n"
		"  openssl pkey -in key.pem -pubout -out pub.pem      (for whoever verifies: verify --key pub.pem)\n"
		"Exit code 0: signed, whatever the verdict. 3: the bundle does not verify, there is a signature "
		"already, or the\n"
		"bundle or the key cannot be opened, read or taken. 4: the words are wrong, or BUNDLE is a folder.",
	.run = run,
};
