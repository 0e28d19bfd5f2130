/* `harness verify`: a bundle, checked offline. */
#include <stdio.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/verify.h"
#include "runner/beside.h"
#include "runner/bundle_file.h"
#include "runner/store.h"
#include "runner/verb.h"

#define TEXT_BYTES (64 * KIB)

/* What is asked for besides the bundle; borrowed by the options of the verification. */
struct signers {
	struct public_key *key;
	struct private_key *attest;
	struct buf beside;
};

static void signers_free(struct signers *signers)
{
	public_key_free(signers->key);
	private_key_free(signers->attest);
	buf_free(&signers->beside);
}

static int open_signers(const struct options *options, struct signers *signers, struct verify_options *how,
			struct error **err)
{
	bool found = false;

	if (options->key && public_key_open(options->key, &signers->key, err) < 0)
		return -1;
	if (options->attest && private_key_open(options->attest, &signers->attest, err) < 0)
		return -1;
	if (beside_read(options->words[0], options->attestation, &signers->beside, &found, err) < 0)
		return error_wrap(err, "the statement beside the bundle");
	how->key = signers->key;
	how->beside = found ? buf_string(&signers->beside) : NULL;
	how->beside_length = signers->beside.length;
	return 0;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct verify_options how = { .require_signature = options->require_signature };
	__attribute__((cleanup(signers_free))) struct signers signers = { .beside = BUF(DSSE_LINE_BYTES) };
	struct verify_report report;
	cleanup_fd int fd = -1;

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE,
				 "verify takes one bundle: harness verify runs/latest/confinement-evidence.tar.gz");
	if (bundle_file(options->words[0], "verify", &fd, err) < 0)
		return -1;
	if (open_signers(options, &signers, &how, err) < 0 || verify_bundle(fd, &how, &report, err) < 0)
		return -1;
	verify_text(&report, options->quiet, &text);
	fputs(buf_string(&text), stdout);
	if (signers.attest && report.exit_code == EXIT_PASS &&
	    beside_attest(options->words[0], &how, signers.attest, err) < 0)
		return -1;
	if (signers.attest && report.exit_code != EXIT_PASS)
		fprintf(stderr, "harness: nothing was attested: verification did not pass\n");
	return report.exit_code;
}

const struct verb verb_verify = {
	.name = "verify",
	.words = "BUNDLE",
	.title = "check a bundle offline: every hash and every verdict again",
	.text = "Read-only; needs neither root, engine nor network. Exit code 0, 1 or 2 is the verdict made again from "
		"an intact\n"
		"bundle; 1 also when any check fails; 3 when the file cannot be opened. Nobody vouches for an unsigned "
		"bundle:\n"
		"that is said, and with --require-signature it is not established (2). --key asks whether the key's "
		"owner signed\n"
		"it, in the bundle or beside it: by another is a fail, and by nobody is not established. --attest "
		"signs "
		"what passed.",
	.run = run,
};
