/* The verifier: an intact bundle, and each way in which one is not intact, with the check that must say so. */
#include "core/spawn.h"
#include "tests/unit/bundle_fixture.h"

static void test_intact(void)
{
	static const char *const ids[] = { "archive", "members",    "sums",        "manifest", "canonical",
					   "grammar", "references", "environment", "effects",  "verdicts",
					   "claims",  "mutations",  "generated" };
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES), text = BUF(FIXTURE_BYTES), quiet = BUF(FIXTURE_BYTES);
	struct verify_report report;

	CU_ASSERT(fixture_make(&fixture, "all"));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "", ""));
	CU_ASSERT_EQUAL(report.count, ARRAY_SIZE(ids) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		CU_ASSERT_EQUAL(fixture_check(&report, ids[i])->result, CHECK_PASS);
	CU_ASSERT_EQUAL(fixture_check(&report, "signature")->result, CHECK_NOT_CHECKED);
	CU_ASSERT(report.recomputed && report.verdict == VERDICT_PASS && report.fail + report.not_established == 0);
	CU_ASSERT_EQUAL(report.pass, fixture.world.verdicts->cells_count);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT(fixture_pack(&fixture, &archive));
	CU_ASSERT(fixture_verify_bytes(archive.data, archive.length, true, &report));
	CU_ASSERT_EQUAL(report.exit_code, 2);
	verify_text(&report, false, &text);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "pass        verdicts\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "not_checked signature: the bundle is not signed"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "verdict, made again: pass: no leak was seen"));
	verify_text(&report, true, &quiet);
	CU_ASSERT_PTR_NULL(strstr(buf_string(&quiet), "not_checked signature"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&quiet), "\nexit code 2: not checked: signature\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&quiet), "verdict, made again: pass"));
}

/* The verdict of an intact bundle is the exit code: what failed, what was not established, and an error of the harness.
 */
static void test_verdicts(void)
{
	static const struct {
		const char *what;
		int exit_code;
		enum verdict verdict;
	} rows[] = {
		{ "leak", 1, VERDICT_FAIL },
		{ "blind", 2, VERDICT_NOT_ESTABLISHED },
		{ "broken", 2, VERDICT_NOT_ESTABLISHED },
		{ "changed", 2, VERDICT_NOT_ESTABLISHED },
		{ "missing", 2, VERDICT_NOT_ESTABLISHED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct world *world = &fixture.world;
		struct verify_report report;

		CU_ASSERT(world_make(world, "baseline", 1, NULL));
		if (strcmp(rows[i].what, "leak") == 0)
			see(world, "baseline", "dns", "dns")->value = 1;
		else if (strcmp(rows[i].what, "blind") == 0)
			see(world, "baseline", "dns", "dns")->beacon_after = 0;
		else if (strcmp(rows[i].what, "broken") == 0)
			record_of(world, "mutation/network")->status = ARM_HARNESS_ERROR;
		else if (strcmp(rows[i].what, "missing") == 0)
			forget(world, see(world, "baseline", "dns", "dns"));
		else
			world->environment_changed = true;
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "", ""));
		CU_ASSERT(report.recomputed);
		CU_ASSERT_EQUAL(report.verdict, rows[i].verdict);
		CU_ASSERT_EQUAL(report.exit_code, rows[i].exit_code);
		if (world->environment_changed)
			CU_ASSERT_PTR_NOT_NULL(
				strstr(fixture_check(&report, "environment")->reason, "changed during the run"));
	}
}

static void test_truncated(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES), text = BUF(FIXTURE_BYTES);
	struct verify_report report;

	CU_ASSERT(fixture_make(&fixture, "lifecycle/bridge-killed"));
	CU_ASSERT(fixture_pack(&fixture, &archive));
	for (size_t length = 1; length < archive.length; length += length + 512 < archive.length ? 512 : 1) {
		CU_ASSERT(fixture_verify_bytes(archive.data, length, false, &report));
		CU_ASSERT(fixture_failed(&report, "archive", "cut within"));
		CU_ASSERT_EQUAL(report.exit_code, 1);
		CU_ASSERT(!report.recomputed);
		CU_ASSERT_EQUAL(fixture_check(&report, "verdicts")->result, CHECK_NOT_CHECKED);
	}
	verify_text(&report, true, &text);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "fail        archive: cut within"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "verdict: none: the bundle is not intact"));
}

/* Wherever one byte differs, something notices; but for the rare one by which the same contents are only packed in
 * another way, such as a run of zeros copied from elsewhere. */
static void test_changed_byte(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);
	struct verify_report report, good;
	size_t tried = 0, same = 0;

	CU_ASSERT(fixture_make(&fixture, "lifecycle/bridge-killed"));
	CU_ASSERT(fixture_pack(&fixture, &archive));
	CU_ASSERT(fixture_verify_bytes(archive.data, archive.length, false, &good));
	for (size_t at = 0; at < archive.length; at += at < 16 ? 1 : 37) {
		archive.data[at] ^= 1;
		CU_ASSERT(fixture_verify_bytes(archive.data, archive.length, false, &report));
		if (report.exit_code == good.exit_code) {
			CU_ASSERT_STRING_EQUAL(report.sums_sha256, good.sums_sha256);
			CU_ASSERT_STRING_NOT_EQUAL(report.archive_sha256, good.archive_sha256);
			same++;
		} else {
			CU_ASSERT_EQUAL(report.exit_code, 1);
			CU_ASSERT_EQUAL(fixture_check(&report, "archive")->result, CHECK_FAIL);
		}
		archive.data[at] ^= 1;
		tried++;
	}
	CU_ASSERT(good.exit_code == 0 && same * 20 < tried);
	buf_text(&archive, "x");
	CU_ASSERT(fixture_verify_bytes(archive.data, archive.length, false, &report));
	CU_ASSERT(fixture_failed(&report, "archive", "bytes behind the gzip member"));
}

/* What is done to a good bundle before it is packed, and the one check that must fail, with its reason. */
struct defect {
	const char *what;
	const char *member;
	const char *from, *to; /* NULL: the member is added with `to`, or dropped without */
	bool rehash;
	const char *check;
	const char *reason;
};
static const struct defect defects[];
static const size_t defects_count;

static void test_defects(void)
{
	for (size_t i = 0; i < defects_count; i++) {
		const struct defect *defect = &defects[i];
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(fixture_make(&fixture, "baseline"));
		if (defect->from)
			fixture_edit(&fixture, defect->member, defect->from, defect->to);
		else if (defect->to)
			buf_text(fixture_add(&fixture, defect->member), defect->to);
		else
			fixture_drop(&fixture, defect->member);
		if (defect->rehash)
			CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		if (!fixture_failed(&report, defect->check, defect->reason))
			CU_FAIL(defect->what);
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

/* A byte of any member changed: without new hashes it is always found; with them the readers meet it, and stand. */
static void test_changed_member(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(fixture_make(&fixture, "lifecycle/bridge-killed"));
	for (int i = 0; i < MEMBERS; i++) {
		size_t length;

		if (member_kinds[i].optional)
			continue;
		length = fixture_text(&fixture, member_kinds[i].name)->length;

		for (size_t at = 3; at < length; at += length / 8 + 1) {
			CU_ASSERT(fixture_write(&fixture));
			fixture_text(&fixture, member_kinds[i].name)->data[at] ^= 4;
			CU_ASSERT(fixture_verify(&fixture, &report));
			CU_ASSERT_EQUAL(report.exit_code, 1);
			CU_ASSERT_EQUAL(fixture_check(&report, "sums")->result, CHECK_FAIL);
			if (i != MEMBER_SUMS)
				fixture_sums(&fixture);
			if (i != MEMBER_SUMS && i != MEMBER_MANIFEST)
				CU_ASSERT(fixture_rehash(&fixture));
			CU_ASSERT(fixture_verify(&fixture, &report));
			CU_ASSERT(report.exit_code >= 0 && report.exit_code <= 3);
		}
	}
}

/* Hashes redone after SHA256SUMS alone, or the manifest alone. */
static void test_half_redone(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;
	struct error *err = NULL;

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	fixture_edit(&fixture, "junit.xml", "confinement", "Confinement");
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT_EQUAL(fixture_check(&report, "sums")->result, CHECK_FAIL);
	CU_ASSERT_STRING_EQUAL(fixture_check(&report, "sums")->reason,
			       "SHA256SUMS does not have the digest of junit.xml");
	CU_ASSERT_STRING_EQUAL(fixture_check(&report, "manifest")->reason,
			       "manifest.json has another digest of junit.xml");
	CU_ASSERT_EQUAL(fixture_check(&report, "generated")->result, CHECK_NOT_CHECKED);
	fixture_sums(&fixture);
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "manifest", "another digest of junit.xml"));
	CU_ASSERT_EQUAL(fixture_manifest(&fixture, HARNESS_VERSION, &err), 0);
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT_EQUAL(fixture_check(&report, "sums")->result, CHECK_FAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, "sums")->reason, "manifest.json"));
}

/* Observations forged together with all that follows from them are consistent: that nobody signed it is said. */
static void test_consistent_forgery(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(world_make(&fixture.world, "baseline", 1, NULL));
	see(&fixture.world, "baseline", "dns", "dns")->value = 1;
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT_EQUAL(report.exit_code, 1);
	see(&fixture.world, "baseline", "dns", "dns")->value = 0;
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT_EQUAL(fixture_check(&report, "signature")->result, CHECK_NOT_CHECKED);
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture_check(&report, "signature")->reason, "nobody vouches"));
}

/* An observation that is not there any more, with the others numbered anew and every hash redone. */
static void test_removed_observation(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;
	struct error *err = NULL;

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	fixture.world.observations_count--;
	CU_ASSERT_EQUAL(fixture_observations(&fixture, &err), 0);
	CU_ASSERT(fixture_rehash(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "verdicts", "sealed as pass, made again it is not_established"));
}

/* All arms agree with each other, and not with the manifest's image, or with the environment's boot. */
static void test_environment(void)
{
	for (int boot = 0; boot < 2; boot++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct world *world = &fixture.world;
		struct verify_report report;

		CU_ASSERT(world_make(world, "baseline", 1, NULL));
		for (size_t i = 0; i < world->arms_count; i++)
			memset(boot ? world->arms[i].boot : world->arms[i].image, 'd', boot ? 32 : HEX_SHA256 - 1);
		CU_ASSERT(fixture_write(&fixture));
		memset(world->arms[0].image, 'a', HEX_SHA256 - 1);
		CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "environment",
					 boot ? "arms[0] ran in another boot" : "arms[0] ran another image"));
	}
}

/* Hosts on which no run starts, in both snapshots. */
static void test_refused_hosts(void)
{
	static const struct {
		const char *from, *to, *reason;
		bool text; /* the engine's text names it too */
	} rows[] = {
		{ "Class\":\"file\"", "Class\":\"pipe\"", "sysctl.corePatternClass: no run starts", false },
		{ "Class\":\"file\"", "Class\":\"socket\"", "sysctl.corePatternClass: no run starts", false },
		{ "Class\":\"file\"", "Class\":\"empty\"", "sysctl.corePatternClass: no run starts", false },
		{ "[\"name=seccomp", "[\"name=rootless\",\"name=seccomp", "no run starts on 'rootless'", false },
		{ "[\"name=seccomp", "[\"name=userns,x=1\",\"name=seccomp", "no run starts on 'userns'", false },
		{ "engine.api\":\"1.41", "engine.api\":\"1.40", "engine.api: 1.41 to 1.55 are spoken", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(fixture_make(&fixture, "lifecycle/bridge-killed"));
		fixture_edit(&fixture, "environment.json", rows[i].from, rows[i].to);
		fixture_edit(&fixture, "environment.json", rows[i].from, rows[i].to);
		if (rows[i].text)
			fixture_edit(&fixture, "docker-version.txt", "used 1.41", "used 1.40");
		CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "environment", rows[i].reason));
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

static const char *const no_ipv6[] = { "ipv6-loopback", NULL };
static const char *const no_xattr[] = { "user-xattr", NULL };
static const char *const neither[] = { "ipv6-loopback", "user-xattr", NULL };

/* Any selection, on a host with ::1 and attributes of users or without, is a whole set. */
static void test_selections(void)
{
	static const char *const selectors[] = { "all",
						 "baseline",
						 "baseline-again",
						 "lifecycle",
						 "lifecycle/bridge-killed",
						 "lifecycle/watchdog-paused",
						 "mutation",
						 "mutation/ack",
						 "mutation/log-driver",
						 "mutation/network",
						 "mutation/network-bridge",
						 "mutation/read-only",
						 "mutation/sink-ceiling",
						 "mutation/watchdog" };

	static const char *const *const missing[] = { NULL, no_ipv6, no_xattr, neither };

	for (size_t i = 0; i < ARRAY_SIZE(missing) * ARRAY_SIZE(selectors); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(world_make(&fixture.world, selectors[i / ARRAY_SIZE(missing)], 1,
				     missing[i % ARRAY_SIZE(missing)]));
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "", ""));
		CU_ASSERT_EQUAL(report.exit_code, 0);
	}
}

/* Cells are absent exactly where the host lacks what they need, and then nobody saw them. */
static void test_absent(void)
{
	enum { HAS_IT, HAS_NONE, ONE_PLANNED, SEEN, UNSAID, ROWS };
	static const char *const reasons[ROWS] = {
		[HAS_IT] = "coverage.json: 'tcp6' at 'tcp6' of 'baseline' is absent, and host and gateway have what it "
			   "needs",
		[HAS_NONE] = "coverage.json: 'tcp6' at 'tcp6' of 'baseline' is planned, and host and gateway lack what "
			     "it needs",
		[ONE_PLANNED] = "is planned, and host and gateway lack what it needs",
		[SEEN] = "is of a cell that is absent",
		[UNSAID] = "host.ipv6Loopback: must be true or false",
	};

	for (int row = 0; row < ROWS; row++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct world *world = &fixture.world;
		const char *said = row == HAS_IT ? "false" : "true";
		struct verify_report report;

		CU_ASSERT(world_make(world, "baseline", 1, row == HAS_NONE || row == UNSAID ? NULL : no_ipv6));
		if (row == ONE_PLANNED)
			world->plan->absent_count--;
		if (row == SEEN) {
			twice(world, see(world, "baseline", "dns", "dns"), 0);
			set(world->observations[world->observations_count - 1].subject, NAME_MAX_SHORT, "tcp6");
			set(world->observations[world->observations_count - 1].observer, NAME_MAX_SHORT, "tcp6");
		}
		CU_ASSERT(fixture_write(&fixture));
		for (int twice = 0; twice < 2 && (row == HAS_IT || row == HAS_NONE || row == UNSAID); twice++) {
			char from[40], to[40];

			snprintf(from, sizeof(from), "host.ipv6Loopback\":%s", said);
			snprintf(to, sizeof(to), "host.ipv6Loopback\":%s",
				 row == UNSAID   ? "null"
				 : row == HAS_IT ? "true"
						 : "false");
			fixture_edit(&fixture, "environment.json", from, to);
		}
		if (row == UNSAID)
			fixture_edit(&fixture, "environment.json", "\"unavailable\":[",
				     "\"unavailable\":[{\"field\":\"host.ipv6Loopback\",\"reason\":\"error\"},");
		CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "references", reasons[row]));
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

/* The time from a loss to the end, against the two events, of which the report alone knows the exact one; and a bundle
 * whose scenarios are no whole set. */
static void test_losses(void)
{
	static const struct {
		const char *from, *to, *check, *reason;
	} rows[] = {
		{ "\"part-lost\"", "\"part\"", "references", "nothing was lost, though the time from it was measured" },
		{ "\"dead\"", "\"gone\"", "references", "arms[0].events: no 'dead'" },
		{ "{\"atNs\":500000040,", "{\"atNs\":750000031,", "references",
		  "is another time than the one measured" },
		{ "{\"atNs\":500000040,", "{\"atNs\":250000029,", "references",
		  "is another time than the one measured" },
		{ "{\"atNs\":500000040,", "{\"atNs\":750000030,", "generated", "report.html" },
		{ "{\"atNs\":500000040,", "{\"atNs\":250000030,", "generated", "report.html" },
		{ "\"unarmed\"", "\"armed\"", "references", "arms[1].events: armed, though the watchdog is removed" },
		{ "\"unarmed\"", "\"ready\"", "references", "arms[1].events: no 'unarmed'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(fixture_make(&fixture, "lifecycle/bridge-killed"));
		fixture_edit(&fixture, "arms.json", rows[i].from, rows[i].to);
		CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, rows[i].check, rows[i].reason));
	}
}

/* An update is acknowledged as its scenario says. */
static void test_updates(void)
{
	static const char armed[] = "{\"atNs\":10,\"name\":\"armed\",";
	static const struct {
		const char *outcome, *event, *reason;
	} rows[] = {
		{ "applied", "policy-applied", NULL },
		{ "stale", "policy-stale", NULL },
		{ "invalid", "policy-invalid", NULL },
		{ "applied", "policy-stale", "acknowledged otherwise than the scenario says" },
		{ "applied", "policy-invalid", "acknowledged otherwise than the scenario says" },
		{ "stale", "policy-applied", "acknowledged otherwise than the scenario says" },
		{ "invalid", "policy-stale", "acknowledged otherwise than the scenario says" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;
		char updates[256], events[256];

		snprintf(updates, sizeof(updates),
			 "\"updates\":[{\"document\":\"x\",\"outcome\":\"%s\",\"pause\":false,\"restore\":null,"
			 "\"revision\":0,\"revoke\":null,\"trigger\":\"permitted\"}]",
			 rows[i].outcome);
		snprintf(events, sizeof(events), "{\"atNs\":9,\"name\":\"%s\",\"subject\":\"permitted\"},%s",
			 rows[i].event, armed);
		CU_ASSERT(fixture_make(&fixture, "baseline"));
		fixture_edit(&fixture, "scenarios.json", "\"updates\":[]", updates);
		fixture_edit(&fixture, "arms.json", armed, events);
		CU_ASSERT(fixture_rehash(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		if (rows[i].reason)
			CU_ASSERT(fixture_failed(&report, "references", rows[i].reason));
		if (!rows[i].reason)
			CU_ASSERT_EQUAL(fixture_check(&report, "references")->result, CHECK_PASS);
	}
}

/* Fewer canaries than probes: one short of all is too few. */
static void test_canaries(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;
	char from[32], to[32];
	size_t count;

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	count = fixture_canaries(&fixture.world);
	snprintf(from, sizeof(from), "\"count\":%zu", count);
	snprintf(to, sizeof(to), "\"count\":%zu", count - 1);
	fixture_edit(&fixture, "manifest.json", from, to);
	fixture_sums(&fixture);
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "references", "manifest.json: fewer canaries than the"));
}

/* A mutant that is not its control's any more, and one without which a zero is not earned, with all that follows. */
static void test_no_set(void)
{
	for (int row = 0; row < 2; row++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct world *world = &fixture.world;
		struct verify_report report;

		CU_ASSERT(world_make(world, "baseline", 1, NULL));
		if (row == 0) {
			snprintf(scenario_in(world, "mutation/network")->ending, NAME_MAX_SHORT, "hold");
		} else {
			struct expectation *flips = &scenario_in(world, "mutation/log-driver")->expect[0];

			CU_ASSERT(flips->flips);
			set(flips->observer, sizeof(flips->observer), "logs-disk-2");
			set(see(world, "mutation/log-driver", flips->subject, "logs-api")->observer, NAME_MAX_SHORT,
			    flips->observer);
		}
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(
			fixture_failed(&report, "mutations",
				       row ? "mutation/log-driver.json: expect[0].flips: the control has no such cell"
					   : "scenarios.json: mutation/network.json: ending: not that of the control"));
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

/* No mutant at all: every zero is vacuous, even if the verdicts say so too. */
static void test_vacuous(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct world *world = &fixture.world;
	struct verify_report report;
	size_t arms = 0;

	CU_ASSERT(world_make(world, "baseline", 1, NULL));
	while (arms < world->plan->arms_count && !world->plan->arms[arms].scenario->control[0])
		arms++;
	CU_ASSERT(arms > 0 && arms < world->plan->arms_count);
	world->plan->arms_count = world->arms_count = arms;
	for (size_t i = 0; i < world->observations_count;)
		if (strncmp(world->observations[i].arm, "mutation/", 9) == 0)
			forget(world, &world->observations[i]);
		else
			i++;
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "mutations", "no mutant was run: vacuous"));
	CU_ASSERT_EQUAL(report.exit_code, 1);
}

/* Only the same version can make the texts again: another one says so, and the verdict stands. */
static void test_other_version(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;
	struct error *err = NULL;

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	CU_ASSERT_EQUAL(fixture_manifest(&fixture, "99.0.0", &err), 0);
	fixture_sums(&fixture);
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "", ""));
	CU_ASSERT_EQUAL(fixture_check(&report, "generated")->result, CHECK_NOT_CHECKED);
	CU_ASSERT_EQUAL(report.exit_code, 2);
}

/* The members in a row as they come: the writer would refuse names that do not rise. */
static int pack_member(const struct fixture_member *member, struct buf *out)
{
	cleanup_buf struct buf one = BUF(FIXTURE_BYTES);
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	struct error *err = NULL;
	char name[USTAR_NAME_MAX + 1];

	snprintf(name, sizeof(name), BUNDLE_TOP "/%s", member->name);
	if (ustar_writer_new(false, ustar_sink_buf, &one, &writer, &err) == 0 &&
	    ustar_writer_member(writer, name, '0', 0644, member->text.length, &err) == 0 &&
	    ustar_writer_data(writer, buf_string(&member->text), member->text.length, &err) == 0)
		buf_add(out, one.data, one.length);
	return test_no_error(&err);
}

static int gzip(const struct buf *plain, int out)
{
	char name[] = "gzip", flags[] = "-n9";
	char *const argv[] = { name, flags, NULL };
	cleanup_fd int in = memfd_create("plain", MFD_CLOEXEC);
	cleanup_child struct child child = CHILD_NONE;
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/gzip", .argv = argv };
	struct error *err = NULL;
	int status = -1;

	options.fds[options.fds_count++] = (struct spawn_fd){ .from = in, .to = 0 };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = out, .to = 1 };
	if (fd_write_all(in, plain->data, plain->length, NEVER, &err) == 0 && lseek(in, 0, SEEK_SET) == 0 &&
	    spawn(&options, &child, &err) == 0)
		(void)!child_wait(&child, clock_deadline(2000), &status, &err);
	return test_no_error(&err) && status == 0;
}

static void test_disordered(void)
{
	static const char zeros[1024];
	const struct verify_options options = { .require_signature = false };
	cleanup_fixture struct fixture fixture = { .count = 0 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	for (int swapped = 0; swapped < 2; swapped++) {
		cleanup_buf struct buf plain = BUF(FIXTURE_BYTES);
		cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
		struct verify_report report;
		struct error *err = NULL;

		for (size_t i = 0; i < fixture.count; i++)
			CU_ASSERT(pack_member(&fixture.members[swapped && i < 2 ? 1 - i : i], &plain));
		buf_add(&plain, zeros, sizeof(zeros));
		CU_ASSERT(gzip(&plain, fd));
		CU_ASSERT(lseek(fd, 0, SEEK_SET) == 0 && verify_bundle(fd, &options, &report, &err) == 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(fixture_failed(&report, swapped ? "members" : "", swapped ? "are not sorted by name" : ""));
	}
}

/* What is no bundle at all, and what cannot be read. */
static void test_unreadable(void)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *says;
	} rows[] = {
		{ "", 0, "the file is empty" },
		{ "x", 1, "no gzip file" },
		{ "\x1f", 1, "cut within the gzip header" },
		{ "\x1f\x8b\x08\x08\0\0\0\0\0\x03"
		  "name",
		  14, "not packed as harness packs" },
	};
	const struct verify_options options = { .require_signature = false };
	cleanup_fd int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct verify_report report;
	struct error *err = NULL;

	CU_ASSERT(fixture_verify_bytes("not a bundle, but some text", 27, false, &report));
	CU_ASSERT(fixture_failed(&report, "archive", "no gzip file"));
	CU_ASSERT_STRING_EQUAL(fixture_check(&report, "archive")->reason, "no gzip file");
	CU_ASSERT_STRING_EQUAL(fixture_check(&report, "signature")->reason, "rests on 'archive', which did not pass");
	CU_ASSERT_EQUAL(report.exit_code, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT(fixture_verify_bytes(rows[i].bytes, rows[i].length, false, &report));
		CU_ASSERT_STRING_EQUAL(fixture_check(&report, "archive")->reason, rows[i].says);
	}
	CU_ASSERT(verify_bundle(folder, &options, &report, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "archive: read"));
	CU_ASSERT_EQUAL(report.exit_code, 3);
}

static CU_TestInfo tests[] = {
	{ "intact", test_intact },
	{ "verdicts of intact bundles", test_verdicts },
	{ "truncated", test_truncated },
	{ "one byte changed", test_changed_byte },
	{ "defects", test_defects },
	{ "any member changed", test_changed_member },
	{ "hashes half redone", test_half_redone },
	{ "consistent forgery", test_consistent_forgery },
	{ "removed observation", test_removed_observation },
	{ "another image or boot", test_environment },
	{ "hosts that are refused", test_refused_hosts },
	{ "any selection", test_selections },
	{ "absent cells", test_absent },
	{ "losses", test_losses },
	{ "updates and what became of them", test_updates },
	{ "too few canaries", test_canaries },
	{ "no whole set", test_no_set },
	{ "vacuous", test_vacuous },
	{ "other version", test_other_version },
	{ "disordered", test_disordered },
	{ "unreadable", test_unreadable },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "verify", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify", suites);
}

#define OBSERVATIONS "observations.jsonl"
#define FILES_CHANGES                                                                                                  \
	"\"observer\":\"files-changes\",\"reason\":\"none\",\"repetition\":1,\"startNs\":0,\"status\":\"observed\","   \
	"\"subject\":\"file\",\"unit\":\"records\",\"value\":"
#define CANARY "canary-abcdefghijklmnopabcdefghijklmnop"

static const struct defect defects[] = {
	{ "an extra member", "tests.txt", NULL, "x", true, "members", "a member that schema version 1 does not have" },
	{ "an extra member that nothing lists", "zzz", NULL, "x", false, "members", "does not have" },
	{ "a missing member", "kernel.txt", NULL, NULL, true, "members", "kernel.txt is missing" },
	{ "no sums", "SHA256SUMS", NULL, NULL, false, "members", "SHA256SUMS is missing" },
	{ "a sum altered", "SHA256SUMS", "  arms.json", "  arms.jsom", false, "sums", "the digest of arms.json" },
	{ "a line too many", "SHA256SUMS", "  verdicts.json\n", "  verdicts.json\n\n", false, "sums",
	  "more than there is" },
	{ "a number altered", OBSERVATIONS, FILES_CHANGES "0", FILES_CHANGES "1", true, "verdicts",
	  "is sealed as pass, made again it is fail (value)" },
	{ "a beacon altered", OBSERVATIONS, "\"beaconAfter\":1", "\"beaconAfter\":0", true, "verdicts",
	  "made again it is not_established (not_live)" },
	{ "a verdict altered", "verdicts.json", "\"verdict\":\"pass\"", "\"verdict\":\"fail\"", true, "verdicts",
	  "is sealed as fail, made again it is pass" },
	{ "another count of verdicts", "verdicts.json", "\"counts\":{\"arms\":", "\"counts\":{\"arms\":1", true,
	  "verdicts", "is not what scenarios, arms and observations say" },
	{ "an expectation loosened", "scenarios.json", "\"op\":\"eq\"", "\"op\":\"le\"", true, "canonical",
	  "expect[0].op: a bound 'le' is for a measure" },
	{ "an arm's end altered", "arms.json", "\"status\":\"ok\"", "\"status\":\"timeout\"", true, "verdicts",
	  "(arm)" },
	{ "spaces", "verdicts.json", "{\"cells\"", "{ \"cells\"", true, "canonical",
	  "verdicts.json is not in its canonical" },
	{ "keys in another order", "environment.json", "{\"field\":\"engine.gitCommit\",\"reason\":\"absent\"}",
	  "{\"reason\":\"absent\",\"field\":\"engine.gitCommit\"}", true, "canonical",
	  "environment.json is not in its" },
	{ "an unknown key in arms.json", "arms.json", "\"agentAttempts\"", "\"aaa\":1,\"agentAttempts\"", true,
	  "canonical", "unknown key 'aaa'" },
	{ "an observation with spaces", OBSERVATIONS, "{\"arm\"", "{ \"arm\"", true, "canonical",
	  "line 1 is not in its canonical form" },
	{ "an arm that is not planned", OBSERVATIONS, "\"arm\":\"baseline\"", "\"arm\":\"baselinf\"", true,
	  "references", "line 1 is of an arm that is not planned" },
	{ "an unknown subject", OBSERVATIONS, "\"subject\":\"tcp4\"", "\"subject\":\"tcp9\"", true, "references",
	  "line 1 names an unknown subject" },
	{ "an unknown observer", OBSERVATIONS, "\"observer\":\"tcp4\"", "\"observer\":\"tcp9\"", true, "references",
	  "line 1 names an unknown observer" },
	{ "an id twice", OBSERVATIONS, "\"id\":\"o-000002\"", "\"id\":\"o-000001\"", true, "references",
	  "line 2 does not have the id o-000002" },
	{ "a record without its canary", OBSERVATIONS, "\"value\":0", "\"value\":1", true, "references",
	  "line 1 has more records than canaries" },
	{ "a canary without its record", OBSERVATIONS, "\"canaryHits\":0", "\"canaryHits\":1", true, "references",
	  "line 1 has canaries, and no record" },
	{ "less than nothing", OBSERVATIONS, FILES_CHANGES "0", FILES_CHANGES "-1", true, "references",
	  "has a value below 0" },
	{ "another kind", OBSERVATIONS, "\"kind\":\"count\"", "\"kind\":\"state\"", true, "references",
	  "line 1 has another kind or unit than 'tcp4' reports" },
	{ "another unit", OBSERVATIONS, "\"unit\":\"records\"", "\"unit\":\"bytes\"", true, "references",
	  "line 1 has another kind or unit than 'tcp4' reports" },
	{ "a time of a count", OBSERVATIONS, "\"kind\":\"state\"", "\"kind\":\"duration\"", true, "references",
	  "has another kind or unit than 'state' reports" },
	{ "a measure of nobody", OBSERVATIONS, "\"subject\":\"core-limit-soft\"", "\"subject\":\"permitted\"", true,
	  "references", "is of a subject that 'state' has not" },
	{ "an observation that starts too late", OBSERVATIONS, "\"startNs\":0", "\"startNs\":60000000001", true,
	  "references", "line 1 is not within its arm's time" },
	{ "an observation that lasts too long", OBSERVATIONS, "\"durationNs\":0", "\"durationNs\":60000000001", true,
	  "references", "line 1 is not within its arm's time" },
	{ "an arm that was never armed", "arms.json", "\"armed\"", "\"ready\"", true, "references",
	  "arms[0].events: no 'armed'" },
	{ "an arm that was left unarmed", "arms.json", "\"armed\"", "\"unarmed\"", true, "references",
	  "arms[0].events: the watchdog was not armed" },
	{ "an arm without plaintext", "arms.json", "\"first-frame\"", "\"frame\"", true, "references",
	  "arms[0].events: no 'first-frame'" },
	{ "plaintext before the watchdog", "arms.json", "{\"atNs\":10,", "{\"atNs\":21,", true, "references",
	  "arms[0].events: 'first-frame' before the watchdog was armed" },
	{ "an agent that was not done", "arms.json", "\"done\"", "\"doing\"", true, "references",
	  "arms[0].events: no 'done'" },
	{ "a process that did not end", "arms.json", "\"dead\"", "\"gone\"", true, "references",
	  "arms[0].events: no 'dead'" },
	{ "a part that no fault took", "arms.json", "{\"atNs\":10,\"name\":\"armed\",",
	  "{\"atNs\":9,\"name\":\"part-lost\",\"subject\":null},"
	  "{\"atNs\":10,\"name\":\"armed\",",
	  true, "references", "arms[0].events: 'part-lost', though no fault is planned" },
	{ "an update that nobody planned", "arms.json", "{\"atNs\":10,\"name\":\"armed\",",
	  "{\"atNs\":9,\"name\":\"policy-applied\",\"subject\":\"permitted\"},"
	  "{\"atNs\":10,\"name\":\"armed\",",
	  true, "references", "arms[0].events: a policy update that the scenario does not have" },
	{ "an update that nobody acknowledged", "scenarios.json", "\"updates\":[]",
	  "\"updates\":[{\"document\":\"x\",\"outcome\":\"applied\",\"pause\":false,\"restore\":null,\"revision\":0,"
	  "\"revoke\":null,"
	  "\"trigger\":\"permitted\"}]",
	  true, "references", "arms[0].events: a policy update was not acknowledged" },
	{ "an update that an operator made", "arms.json", "{\"atNs\":10,\"name\":\"armed\",",
	  "{\"atNs\":9,\"name\":\"operator-stale\",\"subject\":null},"
	  "{\"atNs\":10,\"name\":\"armed\",",
	  true, "references", "arms[0].events: an operator changed the session" },
	{ "an event after the end", "arms.json", "{\"atNs\":40,", "{\"atNs\":60000000001,", true, "references",
	  "arms[0].events: one is later than the arm's end" },
	{ "an arm that says it was refused", "arms.json", "\"reason\":null", "\"reason\":\"admission\"", true,
	  "references", "line 1 is of an arm that was refused" },
	{ "a canary in a title", "scenarios.json", "\"title\":\"", "\"title\":\"" CANARY, true, "grammar",
	  "scenarios.json holds what has a canary's shape" },
	{ "a text outside the grammar", "kernel.txt", "Linux", "Linux\x1b", true, "grammar",
	  "kernel.txt: a text outside" },
	{ "a fact that is not listed", "environment.json", "\"before\":{", "\"before\":{\"a.host\":\"x\",", true,
	  "grammar", "before: a fact that is not listed" },
	{ "a protection with a note", "profile.json", "\"admissionRule\"", "\"aNote\":\"x\",\"admissionRule\"", true,
	  "grammar", "unknown key 'aNote'" },
	{ "a report altered", "junit.xml", "name=\"tcp4@tcp4\"/>", "name=\"tcp5@tcp4\"/>", true, "generated",
	  "junit.xml is not what the other members make" },
	{ "another report altered", "ctrf.json", "\"failed\":0", "\"failed\":1", true, "generated",
	  "ctrf.json is not what" },
	{ "the page altered", "report.html", "Pass</h1>", "Fail</h1>", true, "generated", "report.html is not what" },
	{ "another kernel in the text", "kernel.txt", "6.1.0", "6.1.1", true, "generated", "kernel.txt is not what" },
	{ "another engine in the text", "docker-version.txt", "20.10", "20.11", true, "generated",
	  "docker-version.txt" },
};
static const size_t defects_count = ARRAY_SIZE(defects);
