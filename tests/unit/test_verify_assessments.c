/* Assessments in a bundle: each way in which one of them was altered, every digest made again, is refused; and who
 * reads it without knowing the keys is not fooled. */
#include "reports/assessments_member.h"
#include "reports/claims.h"
#include "reports/dsse.h"
#include "reports/statement.h"
#include "tests/unit/assessments_world.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"
#include "tests/unit/findings_world.h"

#define MEMBER "assessments.json"
#define STATEMENT "statement.intoto.jsonl"
#define FINISHED "2026-01-15T00:00:00Z"
#define FROM "2026-01-01T00:00:00Z"
#define UNTIL "2026-02-01T00:00:00Z" /* the fixture's run ended on the second day */

struct sealed {
	struct fixture fixture;
	struct assessing assessing;
};

static void sealed_free(struct sealed *sealed)
{
	fixture_free(&sealed->fixture);
	assessing_free(&sealed->assessing);
}
#define cleanup_sealed __attribute__((cleanup(sealed_free)))

static void add(struct sealed *sealed, enum assessment_kind kind, const char *id, const char *path, const char *key)
{
	static const char *const all[] = { "P1", "P2", "P3a", "P3b", "P4", "P5" };
	struct assessment statement = { .kind = (int)kind,
					.effect = "order_create",
					.boundary = "orders-sqlite",
					.revision = "example-1",
					.what = "what was looked at",
					.from = FROM,
					.until = UNTIL };
	cleanup_buf struct buf line = BUF(MIB);
	struct error *err = NULL;

	CU_ASSERT(effect_digest(effect_find(sealed->fixture.effects, sealed->fixture.effects_count, "order_create"),
				statement.declaration, &err) == 0);
	set(statement.id, sizeof(statement.id), id);
	set(statement.path, sizeof(statement.path), path);
	for (size_t i = 0; kind == ASSESSMENT_INVENTORY && i < ARRAY_SIZE(all); i++)
		set(statement.paths[statement.paths_count++], NAME_MAX_SHORT, all[i]);
	CU_ASSERT(assessed_world_sign(&statement, key, &line));
	CU_ASSERT(assessments_read(buf_string(&line), line.length, &sealed->assessing.assessors,
				   &sealed->assessing.statements, &err) == 0);
	CU_ASSERT(test_no_error(&err));
}

/* Two assessors and what each states; a third key that is known signed nothing. `run` signs the run. */
static bool make(struct sealed *sealed, bool run)
{
	struct assessing *assessing = &sealed->assessing;

	CU_ASSERT(assessed_world_assessor(&assessing->assessors, KEY_ED25519_PUBLIC));
	CU_ASSERT(assessed_world_assessor(&assessing->assessors, KEY_P256_PUBLIC));
	CU_ASSERT(assessed_world_assessor(&assessing->assessors, KEY_OTHER_PUBLIC));
	if (run)
		memcpy(assessing->run_keys[assessing->run_keys_count++], FINGERPRINT_ED25519, HEX_SHA256);
	if (!declared_make(&sealed->fixture.world, "effects", &sealed->fixture.effects, &sealed->fixture.effects_count))
		return false;
	add(sealed, ASSESSMENT_INVENTORY, "inventory", "", KEY_ED25519_PRIVATE);
	add(sealed, ASSESSMENT_CONTROL, "control-p4", "P4", KEY_P256_PRIVATE);
	add(sealed, ASSESSMENT_OBSERVATION, "seen-p4", "P4", KEY_P256_PRIVATE);
	add(sealed, ASSESSMENT_CONTROL, "control-p5", "P5", KEY_P256_PRIVATE);
	add(sealed, ASSESSMENT_OBSERVATION, "seen-p5", "P5", KEY_THIRD_PRIVATE);
	sealed->fixture.assessing = assessing;
	return fixture_write(&sealed->fixture);
}

static bool verify(struct sealed *sealed, const struct verify_options *options, struct verify_report *report)
{
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);
	cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct error *err = NULL;

	return fixture_pack(&sealed->fixture, &archive) && fd >= 0 &&
	       fd_write_all(fd, archive.data, archive.length, NEVER, &err) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
	       verify_bundle(fd, options, report, &err) == 0 && test_no_error(&err);
}

/* ---- whose keys they are -------------------------------------------------------------------------------------------
 */

static void test_named(void)
{
	static const struct {
		const char *keys[4]; /* that the reader names */
		enum check_result result;
		int exit_code;
		const char *reason;
	} rows[] = {
		{ { NULL },
		  CHECK_NOT_CHECKED,
		  0,
		  "4 statements count, and whose keys made them is the bundle's own word" },
		{ { KEY_ED25519_PUBLIC, KEY_P256_PUBLIC },
		  CHECK_PASS,
		  0,
		  "4 statements count, each by a key that you name" },
		{ { KEY_P256_PUBLIC },
		  CHECK_NOT_CHECKED,
		  2,
		  "of 4 statements that count, 1 are by keys that you do not name" },
		{ { KEY_OTHER_PUBLIC }, CHECK_NOT_CHECKED, 2, "of 4 statements that count, 4 are by keys" },
	};
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };

	CU_ASSERT(make(&sealed, false));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_assessors struct assessors named = { .count = 0 };
		struct verify_options options = { .assessors = rows[i].keys[0] ? &named : NULL };
		const struct verify_check *check;
		struct verify_report report;

		for (size_t key = 0; rows[i].keys[key]; key++)
			CU_ASSERT(assessed_world_assessor(&named, rows[i].keys[key]));
		CU_ASSERT(verify(&sealed, &options, &report) && fixture_failed(&report, "", ""));
		check = fixture_check(&report, VERIFY_ASSESSORS);
		CU_ASSERT_EQUAL(check->result, rows[i].result);
		CU_ASSERT_PTR_NOT_NULL(strstr(check->reason, rows[i].reason));
		CU_ASSERT_EQUAL(report.exit_code, rows[i].exit_code);
		CU_ASSERT_EQUAL(report.assessors_count, 3);
		CU_ASSERT_STRING_EQUAL(report.assessors[0].key, FINGERPRINT_ED25519);
		CU_ASSERT_EQUAL(report.assessors[0].statements, 1);
		CU_ASSERT_EQUAL(report.assessors[1].statements, 3);
		CU_ASSERT_EQUAL(report.assessors[2].statements, 0);
	}
}

/* The last lines of a run say whose keys made its statements; of an effect of which none counts nothing. */
static void test_lines(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };
	cleanup_buf struct buf text = BUF(MIB), line = BUF(KIB);
	struct manifest_facts facts;
	struct findings findings;
	struct error *err = NULL;

	CU_ASSERT(make(&sealed, false));
	findings = world_findings(&sealed.fixture.world, &facts);
	facts.finished = FINISHED;
	findings.effects = sealed.fixture.effects;
	findings.effects_count = sealed.fixture.effects_count;
	findings.assessing = &sealed.assessing;
	CU_ASSERT(claims_lines(&findings, "b", &text, &err) == 0 && test_no_error(&err));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "; by statements of " FINGERPRINT_ED25519 ", " FINGERPRINT_P256
							 " (the bundle's own word)"));
	sealed.assessing.statements.count = 0;
	CU_ASSERT(claims_lines(&findings, "b", &line, &err) == 0 && test_no_error(&err));
	CU_ASSERT_PTR_NULL(strstr(buf_string(&line), "by statements of"));
}

/* What the run's own key states counts for nothing, and nothing is asked of it. */
static void test_run_key(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };
	struct verify_options options = { .assessors = NULL };
	struct verify_report report;

	CU_ASSERT(make(&sealed, true));
	CU_ASSERT(verify(&sealed, &options, &report) && fixture_failed(&report, "", ""));
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, VERIFY_ASSESSORS)->reason, "3 statements count"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(fixture_text(&sealed.fixture, "claims.json")), "self_signed"));
}

/* The key of --key is an assessor's: then nobody outside the run states anything. */
static void test_key_of_reader(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };
	cleanup_public_key struct public_key *key = NULL;
	struct error *err = NULL;
	struct verify_report report;
	struct verify_options options = { .assessors = NULL };

	CU_ASSERT(make(&sealed, false));
	CU_ASSERT(public_key_parse(KEY_P256_PUBLIC, strlen(KEY_P256_PUBLIC), &key, &err) == 0 && test_no_error(&err));
	options.key = key;
	CU_ASSERT(verify(&sealed, &options, &report) && fixture_failed(&report, "", ""));
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, VERIFY_ASSESSORS)->reason,
				      "of 4 statements that count, 3 are by a key that signs the bundle itself"));
	CU_ASSERT_EQUAL(report.exit_code, 2);
	CU_ASSERT_TRUE(report.assessors[1].signs);
}

/* ---- altered -------------------------------------------------------------------------------------------------------
 */

static const struct row {
	const char *from, *to;
	const char *check, *reason;
} rows[];
static const size_t rows_count;

static void test_altered(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };
	struct fixture *fixture = &sealed.fixture;

	CU_ASSERT(make(&sealed, false));
	for (size_t i = 0; i < rows_count; i++) {
		cleanup_buf struct buf kept = BUF(FIXTURE_BYTES);
		struct verify_report report;

		buf_text(&kept, buf_string(fixture_text(fixture, MEMBER)));
		fixture_edit(fixture, MEMBER, rows[i].from, rows[i].to);
		CU_ASSERT(fixture_rehash(fixture) && fixture_verify(fixture, &report));
		if (!fixture_failed(&report, rows[i].check, rows[i].reason))
			CU_FAIL(rows[i].to);
		CU_ASSERT_EQUAL(report.exit_code, 1);
		fixture_set(fixture, MEMBER, buf_string(&kept));
	}
}

/* Statements that are taken out, or put in, are others than those that the claims follow from. */
static void test_other_statements(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } }, other = { .fixture = { .count = 0 } };
	struct verify_report report;

	CU_ASSERT(make(&sealed, false) && make(&other, true));
	fixture_set(&sealed.fixture, MEMBER, buf_string(fixture_text(&other.fixture, MEMBER)));
	CU_ASSERT(fixture_rehash(&sealed.fixture) && fixture_verify(&sealed.fixture, &report));
	CU_ASSERT(fixture_failed(&report, "claims", "path_set_completeness is sealed as established"));
	fixture_drop(&sealed.fixture, MEMBER);
	CU_ASSERT(fixture_rehash(&sealed.fixture) && fixture_verify(&sealed.fixture, &report));
	CU_ASSERT(fixture_failed(&report, "claims", "path_set_completeness is sealed as established"));
}

/* The statement inside the archive is by an assessor's key, and the list of the run's keys lacks it. */
static void test_unlisted_run_key(void)
{
	cleanup_sealed struct sealed sealed = { .fixture = { .count = 0 } };
	cleanup_private_key struct private_key *key = NULL;
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	cleanup_buf struct buf payload = BUF(MIB), line = BUF(DSSE_LINE_BYTES);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	const struct buf *text, *sums;
	struct verify_report report;
	char digest[HEX_SHA256];
	struct error *err = NULL;

	CU_ASSERT(manifest && make(&sealed, false));
	if (!manifest)
		return;
	text = fixture_text(&sealed.fixture, "manifest.json");
	sums = fixture_text(&sealed.fixture, BUNDLE_SUMS);
	hash_bytes(buf_string(sums), sums->length, digest);
	CU_ASSERT(manifest_decode(buf_string(text), text->length, manifest, &err) == 0);
	CU_ASSERT(statement_encode(&(struct statement_facts){ .manifest = manifest,
							      .verdicts = sealed.fixture.world.verdicts,
							      .sums_sha256 = digest },
				   &payload, &err) == 0);
	CU_ASSERT(private_key_parse(KEY_ED25519_PRIVATE, strlen(KEY_ED25519_PRIVATE), &key, &err) == 0);
	CU_ASSERT(dsse_sign(key, buf_string(&payload), payload.length, &envelope, &err) == 0);
	CU_ASSERT(dsse_write(&envelope, &line, &err) == 0 && buf_text(&line, "\n") == 0 && test_no_error(&err));
	(void)fixture_add(&sealed.fixture, STATEMENT);
	fixture_set(&sealed.fixture, STATEMENT, buf_string(&line));
	CU_ASSERT(fixture_verify(&sealed.fixture, &report));
	CU_ASSERT(fixture_failed(&report, "effects", "assessors[0] signs the bundle, and runKeys lacks it"));
}

static CU_TestInfo tests[] = {
	{ "whose keys they are", test_named },
	{ "the last lines of a run", test_lines },
	{ "the run's own key", test_run_key },
	{ "the reader's key is an assessor's", test_key_of_reader },
	{ "altered", test_altered },
	{ "other statements", test_other_statements },
	{ "a key of the run that is not listed", test_unlisted_run_key },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "verify_assessments", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_assessments", suites);
}

#define HELD "signatures[0]: it does not hold"
static const struct row rows[] = {
	{ UNTIL, "2026-03-01T00:00:00Z", "effects", MEMBER ": statements[0]: " HELD },
	{ "\"kind\":\"control\"", "\"kind\":\"observation\"", "effects", MEMBER ": statements[1]: " HELD },
	{ "\"id\":\"control-p4\"", "\"id\":\"control-p6\"", "effects", MEMBER ": statements[1]: " HELD },
	{ "\"by\":\"06", "\"by\":\"07", "effects", "statements[0]: signatures[0]: by none of the assessors" },
	{ "\"by\":\"" FINGERPRINT_ED25519, "\"by\":\"" FINGERPRINT_P256, "effects", "statements[0]: " HELD },
	{ "\"fingerprint\":\"06", "\"fingerprint\":\"07", "effects", MEMBER " is not in its one form" },
	{ "\"runKeys\":[]", "\"runKeys\":[{\"fingerprint\":\"" FINGERPRINT_ED25519 "\"}]", "claims",
	  "path_set_completeness is sealed as established" },
	{ "\"runKeys\":[]",
	  "\"runKeys\":[{\"fingerprint\":\"07e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9\"}]",
	  "effects", "runKeys: not one of the assessors" },
	{ "\"runKeys\":[],", "", "effects", "alone" },
	{ "\"schema\":", "\"runMore\":1,\"schema\":", "effects", "alone" },
	{ "assessments/1", "assessments/2", "effects", "alone" },
	{ "MCowBQYDK2VwAyEA", "MCowBQYDK2VwAyEB", "effects", MEMBER },
	{ "\"signatures\":[]", "\"signatures\":[{\"by\":\"" FINGERPRINT_ED25519 "\",\"sig\":\"AAAA\"}]", "effects",
	  HELD },
	{ "\"id\":\"seen-p5\"", "\"id\":\"seen-p4\"", "effects", "a statement 'seen-p4' is there already" },
};
static const size_t rows_count = ARRAY_SIZE(rows);
