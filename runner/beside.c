#include "runner/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/bundle.h"
#include "reports/dsse.h"
#include "reports/opened.h"
#include "reports/sigstore.h"
#include "reports/sshsig.h"
#include "reports/statement.h"
#include "runner/bundle_file.h"
#include "runner/store.h"

#define NAME_BYTES 300
#define FILE_MODE 0644
#define STATEMENT_SUFFIX ".intoto.jsonl"
#define SIGSTORE_SUFFIX ".sigstore.json"
#define SUMMARY_SUFFIX ".svr.intoto.jsonl"
#define SUMS_SIGNATURE BUNDLE_SUMS ".sig"

/* A bundle's folder and its name there. */
static int split(const char *path, int *directory, const char **name, struct error **err)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";

	*name = slash ? slash + 1 : path;
	if (slash && snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path) >= (int)sizeof(folder))
		return error_set(err, ERROR_LIMIT, "the bundle's path is too long");
	*directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *directory < 0 ? error_errno(err, errno, "the bundle's folder") : 0;
}

static int beside_name(const char *name, const char *suffix, char out[NAME_BYTES], struct error **err)
{
	if (snprintf(out, NAME_BYTES, "%s%s", name, suffix) >= NAME_BYTES)
		return error_set(err, ERROR_LIMIT, "the bundle's name is too long");
	return 0;
}

int beside_read(const char *path, const char *attestation, struct buf *out, bool *found, struct error **err)
{
	cleanup_fd int directory = -1;
	char name[NAME_BYTES];
	const char *base;

	*found = true;
	if (attestation)
		return fd_read_file(AT_FDCWD, attestation, DSSE_LINE_BYTES, out, err);
	if (split(path, &directory, &base, err) < 0 || beside_name(base, STATEMENT_SUFFIX, name, err) < 0)
		return -1;
	*found = faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return *found ? fd_read_file(directory, name, DSSE_LINE_BYTES, out, err) : 0;
}

static int read_there(int directory, const char *name, struct buf *out, struct error **err)
{
	if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	return fd_read_file(directory, name, DSSE_LINE_BYTES, out, err);
}

int beside_others(const char *path, struct buf *sigstore, struct buf *sums_signature, struct error **err)
{
	cleanup_fd int directory = -1;
	char name[NAME_BYTES];
	const char *base;

	if (split(path, &directory, &base, err) < 0 || beside_name(base, SIGSTORE_SUFFIX, name, err) < 0 ||
	    read_there(directory, name, sigstore, err) < 0)
		return -1;
	return read_there(directory, SUMS_SIGNATURE, sums_signature, err);
}

static int write_beside(int directory, const char *name, const struct buf *text, struct error **err)
{
	int result = fd_write_atomic(directory, name, buf_string(text), text->length, FILE_MODE, err);

	if (result < 0)
		return error_wrap(err, "what is beside the bundle");
	store_give(directory, name);
	return 0;
}

/* Verified and open. What does not verify is not signed, nor what was not wholly checked; a verdict that is no pass is.
 */
static int open_bundle(int directory, const char *name, const struct verify_options *options,
		       struct verify_report *report, struct opened **out, struct error **err)
{
	cleanup_fd int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char why[BUNDLE_FILE_WHY];
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(err, errno, "the bundle");
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_USAGE, "the bundle is no regular file");
	if (opened_new(fd, options, report, out, err) < 0)
		return -1;
	if (*out && !bundle_file_unchecked(report))
		return 0;
	bundle_file_why(report, why);
	return error_set(
		err, ERROR_REFUSED, "%s, and is not signed: %s",
		bundle_file_failed(report) ? "the bundle does not verify" : "not all of the bundle was checked", why);
}

static int sign_text(const struct private_key *key, const struct buf *payload, struct dsse *envelope, struct buf *line,
		     struct error **err)
{
	if (dsse_sign(key, buf_string(payload), payload->length, envelope, err) < 0 ||
	    dsse_write(envelope, line, err) < 0)
		return -1;
	buf_text(line, "\n");
	return buf_check(line, "an envelope", err);
}

static int write_statement(int directory, const char *name, const struct private_key *key, const struct opened *opened,
			   const struct verify_report *report, struct error **err)
{
	cleanup_buf struct buf payload = BUF(DSSE_PAYLOAD_BYTES), line = BUF(DSSE_LINE_BYTES),
			       bundle = BUF(DSSE_LINE_BYTES);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	const struct statement_facts facts = {
		.manifest = opened_manifest(opened),
		.verdicts = opened_findings(opened)->verdicts,
		.sums_sha256 = report->sums_sha256,
		.archive_sha256 = report->archive_sha256,
	};
	char statement[NAME_BYTES], sigstore[NAME_BYTES];

	if (beside_name(name, STATEMENT_SUFFIX, statement, err) < 0 ||
	    beside_name(name, SIGSTORE_SUFFIX, sigstore, err) < 0)
		return -1;
	if (statement_encode(&facts, &payload, err) < 0 || sign_text(key, &payload, &envelope, &line, err) < 0 ||
	    sigstore_write(&envelope, private_key_public(key), &bundle, err) < 0 ||
	    write_beside(directory, sigstore, &bundle, err) < 0)
		return -1;
	return write_beside(directory, statement, &line, err);
}

/* Only an Ed25519 key can be one of OpenSSH's here. */
static int write_sums(int directory, const struct private_key *key, const struct opened *opened, struct error **err)
{
	cleanup_buf struct buf sums = BUF((size_t)BUNDLE_FILE_BYTES), armor = BUF(DSSE_LINE_BYTES);
	size_t length = 0;
	const char *text = opened_text(opened, MEMBER_SUMS, &length);

	if (public_key_kind(private_key_public(key)) != KEY_ED25519)
		return 0;
	(void)buf_add(&sums, text, length);
	if (buf_check(&sums, BUNDLE_SUMS, err) < 0 || sshsig_write(key, text, length, &armor, err) < 0 ||
	    write_beside(directory, BUNDLE_SUMS, &sums, err) < 0)
		return -1;
	return write_beside(directory, SUMS_SIGNATURE, &armor, err);
}

static int refuse_existing(int directory, const char *name, const struct private_key *key, struct error **err)
{
	static const char *const suffixes[] = { STATEMENT_SUFFIX, SIGSTORE_SUFFIX };
	static const char *const others[] = { BUNDLE_SUMS, SUMS_SIGNATURE };
	bool sums = public_key_kind(private_key_public(key)) == KEY_ED25519;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char beside[NAME_BYTES], safe[NAME_BYTES];

		if (beside_name(name, suffixes[i], beside, err) < 0)
			return -1;
		if (faccessat(directory, beside, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return error_set(err, ERROR_REFUSED,
					 "beside the bundle there is a signature already, %s: move it away first",
					 error_safe(beside, safe, sizeof(safe)));
	}
	/* Their names are not the bundle's. */
	for (size_t i = 0; i < ARRAY_SIZE(others) && sums; i++)
		if (faccessat(directory, others[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return error_set(err, ERROR_REFUSED,
					 "beside the bundle there is a signature already, %s, of this bundle or of "
					 "another one in the folder: move it away first",
					 others[i]);
	return 0;
}

int beside_sign(int directory, const char *name, const struct private_key *key, struct error **err)
{
	const struct verify_options options = { .require_signature = false };
	cleanup_opened struct opened *opened = NULL;
	struct verify_report report = { .exit_code = 3 };

	if (refuse_existing(directory, name, key, err) < 0 ||
	    open_bundle(directory, name, &options, &report, &opened, err) < 0 ||
	    write_sums(directory, key, opened, err) < 0)
		return -1;
	return write_statement(directory, name, key, opened, &report, err);
}

int beside_sign_path(const char *path, const struct private_key *key, struct error **err)
{
	cleanup_fd int directory = -1;
	const char *name;

	return split(path, &directory, &name, err) < 0 ? -1 : beside_sign(directory, name, key, err);
}

int beside_attest(const char *path, const struct verify_options *options, const struct private_key *key,
		  struct buf *written, struct error **err)
{
	cleanup_buf struct buf payload = BUF(DSSE_PAYLOAD_BYTES), line = BUF(DSSE_LINE_BYTES);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	cleanup_opened struct opened *opened = NULL;
	cleanup_fd int directory = -1;
	struct verify_report report = { .exit_code = 3 };
	char summary[NAME_BYTES], now[CLOCK_TEXT];
	const char *name;

	if (split(path, &directory, &name, err) < 0 || beside_name(name, SUMMARY_SUFFIX, summary, err) < 0)
		return -1;
	if (faccessat(directory, summary, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_REFUSED,
				 "beside the bundle there is what a verifier found already: move it away first");
	if (open_bundle(directory, name, options, &report, &opened, err) < 0)
		return -1;
	if (report.exit_code != 0)
		return error_set(err, ERROR_REFUSED, "verification did not pass: there is nothing to attest");
	clock_wall(now);
	if (statement_summary(&report, opened_manifest(opened), now, &payload, err) < 0 ||
	    sign_text(key, &payload, &envelope, &line, err) < 0 || write_beside(directory, summary, &line, err) < 0)
		return -1;
	buf_printf(written, "%s" SUMMARY_SUFFIX, path);
	return buf_check(written, "a path", err);
}
