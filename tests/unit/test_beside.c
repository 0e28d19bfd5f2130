/* What is written beside a bundle, what is found there, and what is not signed. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/dsse.h"
#include "reports/statement.h"
#include "runner/beside.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/sign_keys.h"

struct shelf {
	struct fixture fixture;
	char folder[40], path[100]; /* of the bundle */
	struct private_key *key;
};

static void shelf_free(struct shelf *shelf)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, shelf->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
	fixture_free(&shelf->fixture);
	private_key_free(shelf->key);
}
#define cleanup_shelf __attribute__((cleanup(shelf_free)))

static void put_file(const struct shelf *shelf, const char *name, const char *bytes, size_t length)
{
	char path[200];
	struct error *err = NULL;

	snprintf(path, sizeof(path), "%s/%s", shelf->folder, name);
	CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, bytes, length, 0644, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void pack(struct shelf *shelf)
{
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);

	CU_ASSERT(fixture_pack(&shelf->fixture, &archive));
	put_file(shelf, BUNDLE_ARCHIVE, archive.data, archive.length);
}

/* A bundle in a folder of its own; with `leak` one of a run that failed. */
static void open_shelf(struct shelf *shelf, const char *pem, bool leak)
{
	struct error *err = NULL;

	*shelf = (struct shelf){ .folder = "/tmp/beside-test-XXXXXX" };
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(shelf->folder));
	snprintf(shelf->path, sizeof(shelf->path), "%s/" BUNDLE_ARCHIVE, shelf->folder);
	CU_ASSERT_EQUAL(private_key_parse(pem, strlen(pem), &shelf->key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(world_make(&shelf->fixture.world, "baseline", 1, NULL));
	if (leak)
		see(&shelf->fixture.world, "baseline", "dns", "dns")->value = 1;
	CU_ASSERT(fixture_write(&shelf->fixture));
	pack(shelf);
}

static bool has_file(const struct shelf *shelf, const char *name)
{
	char path[200];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", shelf->folder, name);
	return lstat(path, &status) == 0;
}

/* Verified with what is found beside it, by the shelf's own key. */
static void verify(const struct shelf *shelf, struct verify_report *report)
{
	cleanup_buf struct buf beside = BUF(DSSE_LINE_BYTES);
	cleanup_fd int fd = open(shelf->path, O_RDONLY | O_CLOEXEC);
	struct verify_options options = { .key = private_key_public(shelf->key) };
	struct error *err = NULL;
	bool found = false;

	CU_ASSERT_EQUAL(beside_read(shelf->path, NULL, &beside, &found, &err), 0);
	if (found) {
		options.beside = buf_string(&beside);
		options.beside_length = beside.length;
	}
	CU_ASSERT_EQUAL(verify_bundle(fd, &options, report, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_signed(void)
{
	static const struct {
		const char *pem;
		bool ssh;
	} rows[] = { { KEY_ED25519_PRIVATE, true }, { KEY_P256_PRIVATE, false } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_shelf struct shelf shelf;
		struct verify_report report;
		struct error *err = NULL;

		open_shelf(&shelf, rows[i].pem, false);
		verify(&shelf, &report);
		CU_ASSERT_EQUAL(report.exit_code, 2);
		CU_ASSERT_EQUAL(beside_sign_path(shelf.path, shelf.key, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(has_file(&shelf, BUNDLE_ARCHIVE ".intoto.jsonl"));
		CU_ASSERT(has_file(&shelf, BUNDLE_ARCHIVE ".sigstore.json"));
		CU_ASSERT_EQUAL(has_file(&shelf, "SHA256SUMS"), rows[i].ssh);
		CU_ASSERT_EQUAL(has_file(&shelf, "SHA256SUMS.sig"), rows[i].ssh);
		verify(&shelf, &report);
		CU_ASSERT_EQUAL(fixture_check(&report, "signature")->result, CHECK_PASS);
		CU_ASSERT_EQUAL(report.exit_code, 0);
		CU_ASSERT(beside_sign_path(shelf.path, shelf.key, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "a signature already"));
	}
}

/* Any of the files that would be written stands in the way of all. */
static void test_not_overwritten(void)
{
	static const char *const names[] = { BUNDLE_ARCHIVE ".intoto.jsonl", BUNDLE_ARCHIVE ".sigstore.json",
					     "SHA256SUMS", "SHA256SUMS.sig" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_shelf struct shelf shelf;
		struct error *err = NULL;

		open_shelf(&shelf, KEY_ED25519_PRIVATE, false);
		put_file(&shelf, names[i], "x", 1);
		CU_ASSERT(beside_sign_path(shelf.path, shelf.key, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "a signature already"));
		for (size_t other = 0; other < ARRAY_SIZE(names); other++)
			CU_ASSERT_EQUAL(has_file(&shelf, names[other]), other == i);
	}
}

/* A bundle that does not verify is not signed; one that says "fail" is, and nobody attests that it passed. */
static void test_bad_bundles(void)
{
	cleanup_shelf struct shelf broken, failed;
	struct verify_options options = { .require_signature = false };
	cleanup_buf struct buf written = BUF(PATH_MAX);
	struct verify_report report;
	struct error *err = NULL;

	open_shelf(&broken, KEY_P256_PRIVATE, false);
	fixture_edit(&broken.fixture, "verdicts.json", "\"class\":\"control\"", "\"class\":\"protected\"");
	pack(&broken);
	CU_ASSERT(beside_sign_path(broken.path, broken.key, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "the bundle does not verify, and is not signed: sums: "));
	CU_ASSERT(beside_attest(broken.path, &options, broken.key, &written, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "the bundle does not verify"));
	CU_ASSERT(!has_file(&broken, BUNDLE_ARCHIVE ".intoto.jsonl"));
	CU_ASSERT(!has_file(&broken, BUNDLE_ARCHIVE ".svr.intoto.jsonl"));

	open_shelf(&failed, KEY_P256_PRIVATE, true);
	CU_ASSERT_EQUAL(beside_sign_path(failed.path, failed.key, &err), 0);
	CU_ASSERT(test_no_error(&err));
	verify(&failed, &report);
	CU_ASSERT_EQUAL(fixture_check(&report, "signature")->result, CHECK_PASS);
	CU_ASSERT_EQUAL(report.exit_code, 1);
	CU_ASSERT(beside_attest(failed.path, &options, failed.key, &written, &err) < 0);
	CU_ASSERT_EQUAL(written.length, 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "nothing to attest"));
	CU_ASSERT(!has_file(&failed, BUNDLE_ARCHIVE ".svr.intoto.jsonl"));
}

/* What was asked for and could not be checked is not attested either. */
static void test_attested(void)
{
	cleanup_shelf struct shelf shelf;
	struct verify_options options = { .require_signature = true };
	cleanup_buf struct buf line = BUF(DSSE_LINE_BYTES), written = BUF(PATH_MAX);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	bool found = false, good = false;
	struct error *err = NULL;
	char path[200];

	open_shelf(&shelf, KEY_P256_PRIVATE, false);
	CU_ASSERT(beside_attest(shelf.path, &options, shelf.key, &written, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "nothing to attest"));
	options.require_signature = false;
	CU_ASSERT_EQUAL(beside_attest(shelf.path, &options, shelf.key, &written, &err), 0);
	snprintf(path, sizeof(path), "%s.svr.intoto.jsonl", shelf.path);
	CU_ASSERT_STRING_EQUAL(buf_string(&written), path);
	CU_ASSERT_EQUAL(beside_read("nowhere/bundle", path, &line, &found, &err), 0);
	CU_ASSERT_EQUAL(dsse_read(buf_string(&line), line.length, &envelope, &err), 0);
	CU_ASSERT_EQUAL(dsse_check(&envelope, private_key_public(shelf.key), &good, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(found && good);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&envelope.payload), "\"CONFINE_VERDICT_PASS\""));
	CU_ASSERT_PTR_NULL(strstr(buf_string(&envelope.payload), "CONFINE_SIGNATURE_VERIFIED"));
}

/* What another verifier found stays. */
static void test_attested_already(void)
{
	const struct verify_options options = { .require_signature = false };
	cleanup_buf struct buf line = BUF(DSSE_LINE_BYTES), written = BUF(PATH_MAX);
	cleanup_shelf struct shelf shelf;
	struct error *err = NULL;
	bool found = false;
	char path[200];

	open_shelf(&shelf, KEY_P256_PRIVATE, false);
	put_file(&shelf, BUNDLE_ARCHIVE ".svr.intoto.jsonl", "another's\n", 10);
	CU_ASSERT(beside_attest(shelf.path, &options, shelf.key, &written, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "there is what a verifier found already"));
	CU_ASSERT_EQUAL(written.length, 0);
	snprintf(path, sizeof(path), "%s.svr.intoto.jsonl", shelf.path);
	CU_ASSERT_EQUAL(beside_read(shelf.path, path, &line, &found, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&line), "another's\n");
}

static void test_read(void)
{
	cleanup_shelf struct shelf shelf;
	cleanup_buf struct buf text = BUF(DSSE_LINE_BYTES);
	char here[PATH_MAX], long_name[400];
	struct error *err = NULL;
	bool found = true;

	open_shelf(&shelf, KEY_P256_PRIVATE, false);
	CU_ASSERT_EQUAL(beside_read(shelf.path, NULL, &text, &found, &err), 0);
	CU_ASSERT(!found && text.length == 0 && test_no_error(&err));
	CU_ASSERT(beside_read(shelf.path, "/tmp/beside-test-none", &text, &found, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "No such file"));
	put_file(&shelf, BUNDLE_ARCHIVE ".intoto.jsonl", "line\n", 5);
	/* By its name alone, from within the folder. */
	CU_ASSERT_PTR_NOT_NULL(getcwd(here, sizeof(here)));
	CU_ASSERT_EQUAL(chdir(shelf.folder), 0);
	CU_ASSERT_EQUAL(beside_read(BUNDLE_ARCHIVE, NULL, &text, &found, &err), 0);
	CU_ASSERT(found && test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&text), "line\n");
	CU_ASSERT_EQUAL(chdir(here), 0);
	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	CU_ASSERT(beside_read(long_name, NULL, &text, &found, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "name is too long"));
}

static CU_TestInfo tests[] = {
	{ "signed", test_signed },
	{ "not overwritten", test_not_overwritten },
	{ "bad bundles", test_bad_bundles },
	{ "attested", test_attested },
	{ "attested already", test_attested_already },
	{ "read", test_read },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "beside", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("beside", suites);
}
