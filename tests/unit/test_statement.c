/* Signed bundles: what the statements say, and each way in which one is not of its bundle, is changed, or is somebody
 * else's. */
#include "core/json.h"
#include "reports/dsse.h"
#include "reports/members.h"
#include "reports/statement.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/sign_keys.h"

#define STATEMENT "statement.intoto.jsonl"

struct signing {
	struct fixture fixture;
	struct private_key *key, *other;
	struct manifest manifest;
	char sums[HEX_SHA256], archive[HEX_SHA256];
	struct buf packed; /* the archive */
	struct buf beside; /* the envelope beside it; empty: none */
};

static void signing_free(struct signing *signing)
{
	fixture_free(&signing->fixture);
	private_key_free(signing->key);
	private_key_free(signing->other);
	buf_free(&signing->packed);
	buf_free(&signing->beside);
}
#define cleanup_signing __attribute__((cleanup(signing_free)))
#define SIGNING                                                                                                        \
	{                                                                                                              \
		.packed = BUF(FIXTURE_BYTES), .beside = BUF(DSSE_LINE_BYTES)                                           \
	}

static void read_facts(struct signing *signing, struct statement_facts *facts)
{
	const struct buf *text = fixture_text(&signing->fixture, "manifest.json");
	const struct buf *sums = fixture_text(&signing->fixture, BUNDLE_SUMS);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(manifest_decode(buf_string(text), text->length, &signing->manifest, &err), 0);
	CU_ASSERT(test_no_error(&err));
	hash_bytes(buf_string(sums), sums->length, signing->sums);
	*facts = (struct statement_facts){
		.manifest = &signing->manifest,
		.verdicts = signing->fixture.world.verdicts,
		.sums_sha256 = signing->sums,
	};
}

static void sign_text(const struct private_key *key, const char *payload, struct buf *out)
{
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	struct error *err = NULL;

	out->length = 0;
	CU_ASSERT_EQUAL(dsse_sign(key, payload, strlen(payload), &envelope, &err), 0);
	CU_ASSERT_EQUAL(dsse_write(&envelope, out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	buf_text(out, "\n");
}

/* The statement's first `from` becomes `to` before it is signed; NULL: nothing does. */
static void make_statement(struct signing *signing, const char *archive, const char *from, const char *to,
			   struct buf *out)
{
	cleanup_buf struct buf payload = BUF(FIXTURE_BYTES), edited = BUF(FIXTURE_BYTES);
	struct statement_facts facts;
	struct error *err = NULL;
	const char *at;

	read_facts(signing, &facts);
	facts.archive_sha256 = archive;
	CU_ASSERT_EQUAL(statement_encode(&facts, &payload, &err), 0);
	CU_ASSERT(test_no_error(&err));
	at = from ? strstr(buf_string(&payload), from) : NULL;
	CU_ASSERT(!from || at);
	if (at) {
		buf_add(&edited, payload.data, (size_t)(at - payload.data));
		buf_text(&edited, to);
		buf_text(&edited, at + strlen(from));
	}
	sign_text(signing->key, buf_string(at ? &edited : &payload), out);
}

static void pack(struct signing *signing)
{
	signing->packed.length = 0;
	CU_ASSERT(fixture_pack(&signing->fixture, &signing->packed));
	hash_bytes(signing->packed.data, signing->packed.length, signing->archive);
}

static void put_inside(struct signing *signing, const char *from, const char *to)
{
	cleanup_buf struct buf line = BUF(DSSE_LINE_BYTES);

	make_statement(signing, NULL, from, to, &line);
	if (!fixture_has(&signing->fixture, STATEMENT))
		(void)fixture_add(&signing->fixture, STATEMENT);
	fixture_set(&signing->fixture, STATEMENT, buf_string(&line));
	pack(signing);
}

static void put_beside(struct signing *signing, const char *from, const char *to)
{
	make_statement(signing, signing->archive, from, to, &signing->beside);
}

static void sign(struct signing *signing, const char *pem)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(private_key_parse(pem, strlen(pem), &signing->key, &err), 0);
	CU_ASSERT_EQUAL(private_key_parse(KEY_OTHER_PRIVATE, strlen(KEY_OTHER_PRIVATE), &signing->other, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(fixture_make(&signing->fixture, "baseline"));
	put_inside(signing, NULL, NULL);
	put_beside(signing, NULL, NULL);
}

/* Verifies with the public half of `key`, or without one. */
static void verify(const struct signing *signing, const struct private_key *key, struct verify_report *report)
{
	const struct verify_options options = {
		.key = key ? private_key_public(key) : NULL,
		.beside = signing->beside.length ? buf_string(&signing->beside) : NULL,
		.beside_length = signing->beside.length,
	};
	cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(fd, signing->packed.data, signing->packed.length, NEVER, &err), 0);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_SET), 0);
	CU_ASSERT_EQUAL(verify_bundle(fd, &options, report, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void expect(const struct verify_report *report, enum check_result result, const char *says, int exit_code)
{
	const struct verify_check *check = fixture_check(report, "signature");

	CU_ASSERT(check->result == CHECK_FAIL ? fixture_failed(report, "signature", says)
					      : fixture_failed(report, "", ""));
	CU_ASSERT_EQUAL(check->result, result);
	CU_ASSERT_PTR_NOT_NULL(strstr(check->reason, says));
	if (!strstr(check->reason, says))
		fprintf(stderr, "expected '%s', got '%s'\n", says, check->reason);
	CU_ASSERT_EQUAL(report->exit_code, exit_code);
}

static void test_signed(void)
{
	static const char *const pems[] = { KEY_ED25519_PRIVATE, KEY_P256_PRIVATE };

	for (size_t i = 0; i < ARRAY_SIZE(pems); i++) {
		cleanup_signing struct signing signing = SIGNING;
		struct verify_report report;

		sign(&signing, pems[i]);
		verify(&signing, signing.key, &report);
		expect(&report, CHECK_PASS, "", 0);
		CU_ASSERT_STRING_EQUAL(fixture_check(&report, "signature")->reason, "");
		verify(&signing, NULL, &report);
		expect(&report, CHECK_NOT_CHECKED, "the bundle is signed, and no key was given", 0);
		verify(&signing, signing.other, &report);
		expect(&report, CHECK_FAIL, "not signed by the key that was given", 1);
		CU_ASSERT_PTR_NULL(strstr(fixture_check(&report, "signature")->reason, "--attestation"));
		/* Either of the two will do. */
		buf_free(&signing.beside);
		verify(&signing, signing.key, &report);
		expect(&report, CHECK_PASS, "", 0);
		/* What lies beside the archive is looked for by its name. */
		verify(&signing, signing.other, &report);
		expect(&report, CHECK_FAIL,
		       "key that was given, and nothing lies beside it as BUNDLE.intoto.jsonl: "
		       "--attestation takes another name",
		       1);
		fixture_drop(&signing.fixture, STATEMENT);
		pack(&signing);
		verify(&signing, signing.key, &report);
		expect(&report, CHECK_NOT_CHECKED,
		       "the bundle is not signed, in it or beside it as "
		       "BUNDLE.intoto.jsonl: --attestation takes another name",
		       2);
		verify(&signing, NULL, &report);
		expect(&report, CHECK_NOT_CHECKED, "nobody vouches for who made them", 0);
		put_beside(&signing, NULL, NULL);
		verify(&signing, signing.key, &report);
		expect(&report, CHECK_PASS, "", 0);
		verify(&signing, NULL, &report);
		expect(&report, CHECK_NOT_CHECKED, "no key was given", 0);
	}
}

/* A second party signs beside the archive: both keys verify, and what the other signed is said. */
static void test_two_parties(void)
{
	cleanup_signing struct signing signing = SIGNING;
	struct verify_report report;

	sign(&signing, KEY_P256_PRIVATE);
	put_inside(&signing, NULL, NULL);
	{
		struct private_key *key = signing.key;

		signing.key = signing.other;
		put_beside(&signing, NULL, NULL);
		signing.key = key;
	}
	verify(&signing, signing.key, &report);
	expect(&report, CHECK_PASS, "the statement beside the archive is signed by another key", 0);
	verify(&signing, signing.other, &report);
	expect(&report, CHECK_PASS, "the statement inside the archive is signed by another key", 0);
}

/* What a statement says otherwise than its bundle fails, with a good signature, and without a key too. */
struct lie {
	const char *from, *to, *says;
};
static const struct lie lies[];
static const size_t lies_count;

static void test_lies(void)
{
	cleanup_signing struct signing signing = SIGNING;
	struct verify_report report;

	sign(&signing, KEY_ED25519_PRIVATE);
	for (size_t i = 0; i < lies_count; i++) {
		put_inside(&signing, NULL, NULL);
		put_beside(&signing, lies[i].from, lies[i].to);
		verify(&signing, signing.key, &report);
		expect(&report, CHECK_FAIL, lies[i].says, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, "signature")->reason, "beside the archive: "));
		put_inside(&signing, lies[i].from, lies[i].to);
		buf_free(&signing.beside);
		signing.beside = (struct buf)BUF(DSSE_LINE_BYTES);
		verify(&signing, NULL, &report);
		expect(&report, CHECK_FAIL, lies[i].says, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, "signature")->reason, "inside the archive: "));
	}
}

/* A statement of another archive, or of the same members packed again. */
static void test_another_bundle(void)
{
	cleanup_signing struct signing signing = SIGNING, other = SIGNING;
	struct verify_report report;

	sign(&signing, KEY_ED25519_PRIVATE);
	sign(&other, KEY_ED25519_PRIVATE);
	see(&other.fixture.world, "baseline", "permitted", "deliveries")->start_ns++;
	CU_ASSERT(fixture_write(&other.fixture));
	put_inside(&other, NULL, NULL);
	put_beside(&other, NULL, NULL);
	verify(&other, other.key, &report);
	expect(&report, CHECK_PASS, "", 0);
	fixture_set(&signing.fixture, STATEMENT, buf_string(fixture_text(&other.fixture, STATEMENT)));
	pack(&signing);
	verify(&signing, signing.key, &report);
	expect(&report, CHECK_FAIL, "inside the archive: the statement is of another bundle: another SHA256SUMS", 1);
	put_inside(&signing, NULL, NULL);
	buf_free(&signing.beside);
	buf_add(&signing.beside, other.beside.data, other.beside.length);
	verify(&signing, signing.key, &report);
	expect(&report, CHECK_FAIL, "beside the archive: the statement is of another bundle: another confinement", 1);
}

/* A signature does not mend a bundle: the lie is named, and the signature rests on what it broke. */
static void test_forged(void)
{
	cleanup_signing struct signing signing = SIGNING;
	struct verify_report report;

	sign(&signing, KEY_ED25519_PRIVATE);
	fixture_edit(&signing.fixture, "verdicts.json", "\"class\":\"control\"", "\"class\":\"protected\"");
	CU_ASSERT(fixture_rehash(&signing.fixture));
	put_inside(&signing, NULL, NULL);
	put_beside(&signing, NULL, NULL);
	verify(&signing, signing.key, &report);
	CU_ASSERT(fixture_failed(&report, "verdicts", ""));
	CU_ASSERT_EQUAL(fixture_check(&report, "signature")->result, CHECK_NOT_CHECKED);
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, "signature")->reason, "rests on 'verdicts'"));
	CU_ASSERT_EQUAL(report.exit_code, 1);
}

/* The lists and the result follow the verdicts. */
static void test_lists(void)
{
	static const struct {
		const char *what, *result, *list;
	} rows[] = {
		{ "all", "\"result\":\"PASSED\"", "\"failedTests\":[],\"passedTests\":[\"baseline\",\"" },
		{ "leak", "\"result\":\"FAILED\"", "\"failedTests\":[\"baseline\"],\"passedTests\":[\"" },
		{ "blind", "\"result\":\"WARNED\"", "\"warnedTests\":[\"baseline\"]" },
		{ "broken", "\"result\":\"WARNED\"", "\"warnedTests\":[\"baseline\",\"mutation/network\",\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_signing struct signing signing = SIGNING;
		cleanup_buf struct buf payload = BUF(FIXTURE_BYTES);
		struct world *world = &signing.fixture.world;
		struct statement_facts facts;
		struct error *err = NULL;

		CU_ASSERT(world_make(world, "baseline", 1, NULL));
		if (strcmp(rows[i].what, "leak") == 0)
			see(world, "baseline", "dns", "dns")->value = 1;
		else if (strcmp(rows[i].what, "blind") == 0)
			see(world, "baseline", "dns", "dns")->beacon_after = 0;
		else if (strcmp(rows[i].what, "broken") == 0)
			record_of(world, "mutation/network")->status = ARM_HARNESS_ERROR;
		CU_ASSERT(fixture_write(&signing.fixture));
		read_facts(&signing, &facts);
		CU_ASSERT_EQUAL(statement_encode(&facts, &payload, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&payload), rows[i].result));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&payload), rows[i].list));
		if (!strstr(buf_string(&payload), rows[i].list))
			fprintf(stderr, "%s: %s\n", rows[i].what, buf_string(&payload));
	}
}

/* What verify found: a property for what passed, and none for what did not. */
static void test_summary(void)
{
	cleanup_signing struct signing signing = SIGNING;
	struct verify_report report;

	sign(&signing, KEY_ED25519_PRIVATE);
	for (int keyed = 0; keyed < 2; keyed++) {
		cleanup_buf struct buf payload = BUF(FIXTURE_BYTES);
		struct error *err = NULL;
		const char *text;

		verify(&signing, keyed ? signing.key : NULL, &report);
		CU_ASSERT_EQUAL(statement_summary(&report, &signing.manifest, "2026-01-02T03:06:05Z", &payload, &err),
				0);
		CU_ASSERT(test_no_error(&err));
		text = buf_string(&payload);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"predicateType\":\"https://in-toto.io/attestation/svr/v0.2\""));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"CONFINE_VERDICT_PASS\""));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"timeCreated\":\"2026-01-02T03:06:05Z\""));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, signing.archive));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, signing.sums));
		CU_ASSERT_PTR_NULL(strstr(text, signing.manifest.image));
		CU_ASSERT_EQUAL(strstr(text, "CONFINE_SIGNATURE_VERIFIED") != NULL, keyed);
		report.verdict = VERDICT_NOT_ESTABLISHED;
		report.checks[0].result = CHECK_FAIL;
		payload.length = 0;
		CU_ASSERT_EQUAL(statement_summary(&report, &signing.manifest, "2026-01-02T03:06:05Z", &payload, &err),
				0);
		CU_ASSERT_PTR_NULL(strstr(buf_string(&payload), "CONFINE_VERDICT_PASS"));
		CU_ASSERT_PTR_NULL(strstr(buf_string(&payload), "CONFINE_MUTATIONS"));
		CU_ASSERT_PTR_NULL(strstr(buf_string(&payload), "CONFINE_BUNDLE_INTEGRITY"));
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&payload), "CONFINE_VERDICTS_RECOMPUTED"));
	}
}

/* A statement of another version may say more, but nothing else and no text outside the grammar. */
static void test_another_version(void)
{
	static const struct {
		const char *from, *to, *says; /* NULL: taken */
	} rows[] = {
		{ "\"failedTests\":[]", "\"failedTests\":[],\"later\":\"what a newer one says\"", NULL },
		{ "\"failedTests\":[]", "\"failedTests\":[],\"later\":\"\\u001b[31m\"", "outside the grammar" },
		{ "\"failedTests\":[]", "\"failedTests\":[],\"later\":\"canary-abcdefghijklmnopabcdefghijklmnop\"",
		  "outside the grammar" },
		{ "\"result\":\"PASSED\"", "\"result\":\"WARNED\"", "another result" },
		{ "\"failedTests\":[]", "\"failedTests\":[\"baseline\"]", "other failedTests" },
	};
	cleanup_signing struct signing signing = SIGNING;

	sign(&signing, KEY_ED25519_PRIVATE);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf payload = BUF(FIXTURE_BYTES), edited = BUF(FIXTURE_BYTES);
		struct statement_facts facts;
		struct error *err = NULL;
		const char *at;
		int result;

		read_facts(&signing, &facts);
		snprintf(signing.manifest.version, sizeof(signing.manifest.version), "0.0.9");
		CU_ASSERT_EQUAL(statement_encode(&facts, &payload, &err), 0);
		at = strstr(buf_string(&payload), rows[i].from);
		CU_ASSERT_PTR_NOT_NULL(at);
		buf_add(&edited, payload.data, (size_t)(at - payload.data));
		buf_text(&edited, rows[i].to);
		buf_text(&edited, at + strlen(rows[i].from));
		result = statement_check(&facts, buf_string(&edited), edited.length, &err);
		CU_ASSERT_EQUAL(result < 0, rows[i].says != NULL);
		CU_ASSERT(rows[i].says ? test_error(&err, ERROR_INPUT, rows[i].says) : test_no_error(&err));
	}
}

/* bundle_seal() makes it from the sums that it wrote. */
static int make_late(void *context, const char *sums_sha256, struct buf *out, struct error **err)
{
	struct signing *signing = context;

	(void)err;
	CU_ASSERT_STRING_EQUAL(sums_sha256, signing->sums);
	make_statement(signing, NULL, NULL, NULL, out);
	return 0;
}

static void test_sealed(void)
{
	cleanup_signing struct signing signing = SIGNING;
	char folder[] = "/tmp/statement-test-XXXXXX", path[64];
	struct bundle_late late = { .make = make_late, .context = &signing };
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct error *err = NULL;
	size_t count;
	cleanup_fd int directory = -1;

	sign(&signing, KEY_ED25519_PRIVATE);
	count = fixture_list(&signing.fixture, members);
	for (size_t i = 0; i < count; i++)
		if (strcmp(members[i].name, STATEMENT) == 0)
			members[i] = (struct bundle_member){ .name = STATEMENT, .fd = -1, .late = &late };
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(bundle_seal(directory, members, count, NULL, 0, &identity, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(identity.archive_sha256, signing.archive);
	CU_ASSERT_STRING_EQUAL(identity.sums_sha256, signing.sums);
	snprintf(path, sizeof(path), "%s/" BUNDLE_ARCHIVE, folder);
	CU_ASSERT_EQUAL(unlink(path) + rmdir(folder), 0);
}

/* What is made late is scanned as everything else. */
static int make_leak(void *context, const char *sums_sha256, struct buf *out, struct error **err)
{
	const struct canary *canary = context;

	(void)err;
	(void)sums_sha256;
	return buf_text(out, canary->text);
}

static void test_late_leak(void)
{
	cleanup_signing struct signing signing = SIGNING;
	char folder[] = "/tmp/statement-test-XXXXXX";
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	struct error *err = NULL;
	struct canary live;
	struct bundle_late late = { .make = make_leak, .context = &live };
	size_t count;
	cleanup_fd int directory = -1;

	CU_ASSERT(fixture_make(&signing.fixture, "baseline"));
	CU_ASSERT_EQUAL(canary_new(&live, &err), 0);
	count = fixture_list(&signing.fixture, members);
	members[count++] = (struct bundle_member){ .name = STATEMENT, .fd = -1, .late = &late };
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(bundle_seal(directory, members, count, &live, 1, &identity, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, "a live canary stands in " STATEMENT));
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static const struct lie lies[] = {
	{ "https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v2", "no in-toto statement of version 1" },
	{ "test-result/v0.1", "test-result/v0.2", "no test result of version 0.1" },
	{ "test-result/v0.1", "svr/v0.2", "no test result of version 0.1" },
	{ "\"result\":\"PASSED\"", "\"result\":\"WARNED\"", "another result" },
	{ "\"failedTests\":[]", "\"failedTests\":[\"baseline\"]", "other failedTests" },
	{ "\"warnedTests\":[]", "\"warnedTests\":[\"baseline\"]", "other warnedTests" },
	{ "\"passedTests\":[\"baseline\",", "\"passedTests\":[", "other passedTests" },
	{ "\"name\":\"SHA256SUMS\"", "\"name\":\"SHA512SUMS\"", "another SHA256SUMS" },
	{ "\"name\":\"agent-image-config\"", "\"name\":\"image\"", "another agent-image-config" },
	{ "\"name\":\"confinement-conformance\"", "\"name\":\"c\"", "another confinement-conformance" },
	{ "\"name\":\"scenarios.json\"", "\"name\":\"s\"", "another scenarios.json" },
	{ "\"version\":\"", "\"version\":\"9.", "more or other" },
	{ "\"failedTests\":[]", "\"failedTests\":[],\"x\":1", "more or other" },
	{ "\"predicateType\"", " \"predicateType\"", "more or other" },
	{ "\"failedTests\":[]", "\"failedTests\":[],\"failedTests\":[]", "the statement: " },
	{ "{", "", "the statement: " },
};
static const size_t lies_count = ARRAY_SIZE(lies);

static CU_TestInfo tests[] = {
	{ "signed", test_signed },
	{ "two parties", test_two_parties },
	{ "statements that lie", test_lies },
	{ "the statement of another bundle", test_another_bundle },
	{ "a forged bundle", test_forged },
	{ "lists and result", test_lists },
	{ "what verify found", test_summary },
	{ "a statement of another version", test_another_version },
	{ "sealed with its statement", test_sealed },
	{ "a canary in the statement", test_late_leak },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "statement", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("statement", suites);
}
