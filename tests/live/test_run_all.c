/*
 * One `harness run all` on a real engine, and what must hold of it: the numbers, read from the bundle's observations
 * and not by our judge; the bundle itself, with tar, sha256sum and a verifier that has neither engine nor root; and
 * nothing left behind on the host.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/engine.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "tests/live/effect_rows.h"
#include "tests/live/frame_arms.h"
#include "tests/live/live.h"
#include "tests/live/loss_rows.h"
#include "tests/live/peer_rows.h"
#include "tests/live/process_rows.h"
#include "tests/live/telemetry_rows.h"
#include "tests/live/watch_rows.h"

#define RUN_MS 600000
#define CHECK_MS 20000
#define MEMBER_BYTES (16 * MIB)
#define SEEN_MAX 16384
#define GIVEN_TO 65534 /* whom the run's sudo is said to be for */

struct seen {
	char arm[ID_MAX], subject[NAME_MAX_SHORT], observer[NAME_MAX_SHORT], status[24], reason[24];
	int64_t value, dropped, before, after, hits;
};

static const struct arm_rows arms[];
static const char *const blind_to_baseline[];

static const struct difference differences[];

static struct world {
	struct live_folder folder;
	char bundle[PATH_MAX + 64];
	char run[40];
	bool ipv6;
	int code;
	struct buf output;
	struct seen seen[SEEN_MAX];
	size_t seen_count;
	struct json_document *records, *verdicts, *manifest;
	struct buf before, after; /* facts of the host */
} world = {
	.output = BUF(MIB),
	.before = BUF(MIB),
	.after = BUF(MIB),
};

/* ---- the run ---- */

static int script(const char *text, bool ordinary, struct buf *out)
{
	const char *words[] = { world.folder.path, TEST_BUILD, world.bundle, NULL };

	return live_shell(text, words, ordinary, RUN_MS, out);
}

static bool quiet(const char *text)
{
	cleanup_buf struct buf out = BUF(MIB);
	int status = script(text, false, &out);

	if (status != 0)
		fprintf(stderr, "%s\n%s\n", text, buf_string(&out));
	return status == 0;
}

/* What a run must leave as it was; what other programs do to it meanwhile is out of our hands, and rare. */
static const char host_facts[] =
	"sysctl kernel.core_pattern kernel.core_uses_pid kernel.dmesg_restrict net.ipv4.ip_forward "
	"net.ipv6.conf.all.disable_ipv6 net.core.bpf_jit_enable kernel.yama.ptrace_scope "
	"fs.suid_dumpable 2>/dev/null; ls /run/netns 2>/dev/null; cat /proc/swaps; iptables-save "
	"2>/dev/null | grep -c -i harness; ls /etc/docker 2>/dev/null; echo end";

static struct json_document *member(const char *name)
{
	struct json_document *document = NULL;
	cleanup_buf struct buf text = BUF(MEMBER_BYTES);
	struct error *err = NULL;
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/open/confinement-evidence/%s", world.folder.path, name);
	if (fd_read_file(-1, path, MEMBER_BYTES, &text, &err) == 0)
		CU_ASSERT_EQUAL(json_parse(text.data, text.length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return document;
}

static void copy_text(const struct json_node *node, const char *key, char *out, size_t size)
{
	const char *text = json_string(json_member(node, key));

	snprintf(out, size, "%s", text ? text : "?");
}

static int64_t number(const struct json_node *node, const char *key)
{
	int64_t value = -1;

	CU_ASSERT(json_int64(json_member(node, key), &value));
	return value;
}

static void read_line(const char *line)
{
	cleanup_json struct json_document *document = NULL;
	struct seen *seen = &world.seen[world.seen_count++];
	struct error *err = NULL;
	const struct json_node *root;

	CU_ASSERT_EQUAL(json_parse(line, strlen(line), JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	root = json_root(document);
	copy_text(root, "arm", seen->arm, sizeof(seen->arm));
	copy_text(root, "subject", seen->subject, sizeof(seen->subject));
	copy_text(root, "observer", seen->observer, sizeof(seen->observer));
	copy_text(root, "status", seen->status, sizeof(seen->status));
	copy_text(root, "reason", seen->reason, sizeof(seen->reason));
	seen->value = number(root, "value");
	seen->dropped = number(root, "dropped");
	seen->before = number(root, "beaconBefore");
	seen->after = number(root, "beaconAfter");
	seen->hits = number(root, "canaryHits");
}

static void read_observations(void)
{
	cleanup_buf struct buf text = BUF(MEMBER_BYTES);
	struct error *err = NULL;
	char path[PATH_MAX + 64], *line, *rest;

	snprintf(path, sizeof(path), "%s/open/confinement-evidence/observations.jsonl", world.folder.path);
	CU_ASSERT_EQUAL(fd_read_file(-1, path, MEMBER_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	rest = text.data;
	while ((line = strsep(&rest, "\n")) && *line && world.seen_count < SEEN_MAX)
		read_line(line);
}

/* The first test: what it leaves in `world` is what the others look at. */
static void test_run(void)
{
	const char *run;

	live_folder_make(&world.folder);
	snprintf(world.bundle, sizeof(world.bundle), "%s/runs/latest/confinement-evidence.tar.gz", world.folder.path);
	world.ipv6 = quiet("grep -q '^0*1 .* lo$' /proc/net/if_inet6");
	if (!quiet("mkdir -p $1/tree/build && cp -a $2/harness $2/agent $2/libexec $1/tree/build && cp -a scenarios "
		   "effects $1/tree && "
		   "mkdir $1/open && touch $1/began && { grep ' nsfs ' /proc/self/mounts | sort >$1/nsfs; true; }") ||
	    script(host_facts, false, &world.before) != 0)
		CU_FAIL("no copy of what was built");
	world.code = script("SUDO_UID=65534 SUDO_GID=65534 $1/tree/build/harness run all --out $1/runs", false,
			    &world.output);
	(void)script(host_facts, false, &world.after);
	if (world.code != 0)
		fprintf(stderr, "%s\n", buf_string(&world.output));
	CU_ASSERT(quiet("tar -xzf $3 -C $1/open"));
	read_observations();
	world.records = member("arms.json");
	world.verdicts = member("verdicts.json");
	world.manifest = member("manifest.json");
	run = json_string(json_member(json_root(world.manifest), "runId"));
	snprintf(world.run, sizeof(world.run), "%s", run ? run : "?");
}

/* The last. */
static void test_end(void)
{
	json_free(world.records);
	json_free(world.verdicts);
	json_free(world.manifest);
	buf_free(&world.output);
	buf_free(&world.before);
	buf_free(&world.after);
	live_folder_remove(&world.folder);
}

static bool said(const char *text)
{
	bool found = strstr(buf_string(&world.output), text) != NULL;

	if (!found)
		fprintf(stderr, "not said: %s\n", text);
	return found;
}

/* How many scenarios of the tree have this key, of those that "all" means. */
static long scenarios_with(const char *key)
{
	cleanup_buf struct buf count = BUF(KIB);
	const char *words[] = { key, NULL };

	CU_ASSERT_EQUAL(live_shell("find scenarios -name '*.json' ! -path 'scenarios/engine/*' ! -name schema.json "
				   "-exec grep -l \"\\\"$1\\\":\" {} + | wc -l",
				   words, false, CHECK_MS, &count),
			0);
	return strtol(buf_string(&count), NULL, 10);
}

static void test_told(void)
{
	cleanup_buf struct buf sum = BUF(KIB);
	long scenarios = scenarios_with("title"), mutants = scenarios_with("control");
	char text[128];

	CU_ASSERT_EQUAL(world.code, 0);
	CU_ASSERT(mutants >= 7 && scenarios > mutants);
	snprintf(text, sizeof(text), "plan: %ld arms, 2 at a time", scenarios);
	CU_ASSERT(said(text));
	for (long i = 1; i <= scenarios; i++) {
		snprintf(text, sizeof(text), "%ld/%ld] ", i, scenarios);
		CU_ASSERT(said(text));
	}
	for (const struct arm_rows *arm = arms; arm->arm; arm++) {
		snprintf(text, sizeof(text), "] %s ", arm->arm);
		CU_ASSERT(said(text));
	}
	snprintf(text, sizeof(text), "mutations: %ld of %ld caught\n", mutants, mutants);
	CU_ASSERT(said(text));
	CU_ASSERT(said(" 0 fail, 0 not established"));
	CU_ASSERT(said("verdict: pass: "));
	CU_ASSERT(said("\nbundle: "));
	CU_ASSERT(said("\nwall time: "));
	CU_ASSERT_EQUAL(script("sha256sum <$3 | cut -d ' ' -f 1 | tr -d '\\n'", false, &sum), 0);
	snprintf(text, sizeof(text), "sha256: %.64s\n", buf_string(&sum));
	CU_ASSERT(said(text));
}

/* Of the bytes of hostile frames nothing comes out: not as they are on the terminal, not as text in the bundle. */
static void test_no_frame(void)
{
	for (size_t i = 0; i < world.output.length; i++) {
		char byte = world.output.data[i];

		if ((byte < ' ' || byte > '~') && byte != '\n') {
			CU_FAIL("a byte that is no printable character was written to the terminal");
			break;
		}
	}
	CU_ASSERT_PTR_NULL(strstr(buf_string(&world.output), "operation\":"));
	CU_ASSERT_PTR_NULL(strstr(buf_string(&world.output), "hello"));
	CU_ASSERT(quiet("! grep -qraE 'operation[\\\\]*\":|hello' $1/open/confinement-evidence"));
	/* The search can find: the same bytes as the scenario gives them. */
	CU_ASSERT(quiet("grep -q 68656c6c6f0a $1/open/confinement-evidence/scenarios.json"));
}

/* ---- the numbers ---- */

static const struct seen *find(const char *arm, const char *subject, const char *observer, size_t *count)
{
	const struct seen *found = NULL;

	*count = 0;
	for (size_t i = 0; i < world.seen_count; i++) {
		const struct seen *seen = &world.seen[i];

		if (strcmp(seen->arm, arm) != 0 || strcmp(seen->subject, subject) != 0 ||
		    strcmp(seen->observer, observer) != 0)
			continue;
		found = seen;
		++*count;
	}
	return found;
}

static bool holds(const struct row *row, const struct seen *seen)
{
	bool counted = row->op == '='   ? seen->value == row->value
		       : row->op == '>' ? seen->value >= row->value
					: seen->value <= row->value;

	/* A time to death that was cut off by the window is a true lower bound. */
	return counted && strcmp(seen->status, "observed") == 0 && seen->dropped == 0 && seen->before > 0 &&
	       seen->after > 0 &&
	       (strcmp(seen->reason, "none") == 0 || (row->op == '>' && strcmp(seen->reason, "censored") == 0));
}

static void check_arm(const struct arm_rows *arm)
{
	for (const struct row *row = arm->rows; row->subject; row++) {
		size_t count = 0;
		const struct seen *seen = find(arm->arm, row->subject, row->observer, &count);
		bool good = count == 1 && holds(row, seen);

		if ((row->ipv6 && !world.ipv6) || !effect_planned(arm->arm))
			continue;
		CU_ASSERT(good);
		if (!good)
			fprintf(stderr, "%s: %s@%s: seen %zu times, value %" PRId64 " (%c%" PRId64 "), %s, %s\n",
				arm->arm, row->subject, row->observer, count, seen ? seen->value : -1, row->op,
				row->value, seen ? seen->status : "-", seen ? seen->reason : "-");
	}
}

static void test_table(void)
{
	for (const struct arm_rows *arm = arms; arm->arm; arm++)
		check_arm(arm);
}

/* Beyond the cells: no observer outside of the container saw any canary of a baseline, and no arm is unknown. */
static void test_no_canary(void)
{
	size_t looked = 0;

	for (size_t i = 0; i < world.seen_count; i++) {
		const struct seen *seen = &world.seen[i];
		bool known = false;

		for (const struct arm_rows *arm = arms; arm->arm; arm++)
			known |= strcmp(arm->arm, seen->arm) == 0;
		CU_ASSERT(known);
		if (!known)
			fprintf(stderr, "%s: an arm without a row\n", seen->arm);
		if (strncmp(seen->arm, "baseline", strlen("baseline")) != 0)
			continue;
		for (const char *const *observer = blind_to_baseline; *observer; observer++) {
			if (strcmp(*observer, seen->observer) != 0)
				continue;
			looked++;
			CU_ASSERT_EQUAL(seen->hits, 0);
			CU_ASSERT_EQUAL(seen->value, 0);
		}
	}
	CU_ASSERT(looked >= 40);
}

/* ---- the bundle ---- */

static const struct json_node *record_of(const char *arm)
{
	const struct json_node *list = json_member(json_root(world.records), "arms");

	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		const char *id = json_string(json_member(one, "arm"));

		if (id && strcmp(id, arm) == 0)
			return one;
	}
	return NULL;
}

static const char *effective(const struct json_node *record, const char *field)
{
	const struct json_node *list = json_member(record, "effective");

	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		const char *name = json_string(json_member(one, "field"));

		if (name && strcmp(name, field) == 0)
			return json_string(json_member(one, "sha256"));
	}
	return "";
}

static void list_differences(const struct json_node *of, const struct json_node *against, bool missing, struct buf *out)
{
	const struct json_node *list = json_member(of, "effective");

	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		const char *field = json_string(json_member(one, "field"));
		const char *other = field ? effective(against, field) : "";

		if (field && (missing ? !*other : strcmp(other, effective(of, field)) != 0))
			(void)buf_printf(out, "%s ", field);
	}
}

static void test_differences(void)
{
	for (const struct difference *row = differences; row->mutant; row++) {
		cleanup_buf struct buf fields = BUF(64 * KIB);
		const struct json_node *mutant = record_of(row->mutant), *control = record_of(row->control);
		if (!effect_planned(row->mutant))
			continue;
		CU_ASSERT(json_count(json_member(mutant, "effective")) > 100);
		list_differences(mutant, control, false, &fields);
		list_differences(control, mutant, true, &fields);
		CU_ASSERT_STRING_EQUAL(buf_string(&fields), row->fields);
		if (strcmp(buf_string(&fields), row->fields) != 0)
			fprintf(stderr, "%s: %s\n", row->mutant, buf_string(&fields));
	}
}

static bool is(const struct json_node *node, const char *text)
{
	const char *string = json_string(node);

	return string && strcmp(string, text) == 0;
}

static bool same_list(const struct json_node *one, const struct json_node *other)
{
	struct json_span a = json_raw(one), b = json_raw(other);

	return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Each arm of one image and one boot, ended well, refused on what it had to and nothing else. */
static void test_records(void)
{
	const struct json_node *list = json_member(json_root(world.records), "arms");
	const struct json_node *first = json_first(list);

	CU_ASSERT_EQUAL(json_count(list), (size_t)scenarios_with("title"));
	for (const struct json_node *one = first; one; one = json_next(one)) {
		CU_ASSERT(is(json_member(one, "status"), "ok"));
		CU_ASSERT(same_list(json_member(one, "image"), json_member(first, "image")));
		CU_ASSERT(same_list(json_member(one, "boot"), json_member(first, "boot")));
		CU_ASSERT_EQUAL(json_count(json_member(one, "failed")), json_count(json_member(one, "mustFail")));
	}
	CU_ASSERT_EQUAL(json_count(json_member(record_of("baseline"), "failed")), 0);
	CU_ASSERT(json_count(json_member(record_of("mutation/network"), "failed")) > 1);
}

/* What the bridge says that it answered is a fact beside the observers', and agrees with them. */
static void test_answers(void)
{
	for (const struct answers *row = policy_answers; row->arm; row++) {
		const struct json_node *record = record_of(row->arm);
		bool right =
			number(record, "callsAllowed") == row->allowed && number(record, "callsDenied") == row->denied;

		if (!right)
			fprintf(stderr, "%s: allowed %" PRId64 ", denied %" PRId64 "\n", row->arm,
				number(record, "callsAllowed"), number(record, "callsDenied"));
		CU_ASSERT(right);
	}
}

static int64_t event_at(const struct json_node *record, const char *name)
{
	const struct json_node *list = json_member(record, "events");

	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		if (is(json_member(one, "name"), name))
			return number(one, "atNs");
	return -1;
}

/* An arm of which something was lost ends within five seconds of its window, and an engine that was not hurt has then
 * removed its container. */
static void test_ends(void)
{
	const struct json_node *list = json_member(json_root(world.records), "arms");
	size_t ends = 0;

	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		int64_t lost = event_at(one, "part-lost"), closed = event_at(one, "window-closed"),
			removed = event_at(one, "removed");

		CU_ASSERT(removed > 0 && event_at(one, "left") < 0);
		if (lost < 0)
			continue;
		CU_ASSERT(closed >= lost && removed > closed && removed - closed <= 5 * NS_PER_S);
		ends++;
	}
	CU_ASSERT(ends >= 16);
}

static void test_verdicts(void)
{
	const struct json_node *root = json_root(world.verdicts);
	const struct json_node *cells = json_member(root, "cells"), *mutations = json_member(root, "mutations");
	size_t earned = 0;

	CU_ASSERT(is(json_member(root, "overall"), "pass"));
	CU_ASSERT_EQUAL(number(root, "exitCode"), 0);
	for (const struct json_node *one = json_first(cells); one; one = json_next(one)) {
		CU_ASSERT(is(json_member(one, "verdict"), "pass"));
		earned += json_string_length(json_member(one, "mutant")) > 0;
	}
	CU_ASSERT(json_count(cells) >= 100);
	CU_ASSERT(earned >= 40);
	CU_ASSERT_EQUAL(json_count(mutations), (size_t)scenarios_with("control"));
	for (const struct json_node *one = json_first(mutations); one; one = json_next(one)) {
		bool installed = false, detected = false;

		CU_ASSERT(json_bool(json_member(one, "installed"), &installed) && installed);
		CU_ASSERT(json_bool(json_member(one, "detected"), &detected) && detected);
		CU_ASSERT(is(json_member(one, "verdict"), "pass"));
	}
}

/* Tools that are none of ours: every member is summed, every sum is right, and no byte is a canary's. */
static void test_members(void)
{
	CU_ASSERT(quiet("cd $1/open/confinement-evidence && sha256sum --strict --quiet -c SHA256SUMS"));
	CU_ASSERT(quiet("cd $1/open/confinement-evidence && test \"$(cut -c 67- SHA256SUMS | sort)\" = "
			"\"$(ls | grep -v SHA256SUMS | LC_ALL=C sort)\""));
	CU_ASSERT(quiet("! grep -rEa 'canary-[a-p]{8}' $1/open/confinement-evidence"));
	CU_ASSERT(quiet("ci/scan-bundle $3"));
	CU_ASSERT(quiet("test \"$(tar -tzf $3 | sed 's,/.*,,' | sort -u)\" = confinement-evidence"));
	CU_ASSERT(quiet("! grep -raw -e \"$(hostname)\" -e \"$(cat /etc/machine-id 2>/dev/null || echo none)\" -e "
			"\"$(cat /proc/sys/kernel/random/boot_id)\" $1/open/confinement-evidence"));
	CU_ASSERT(quiet("! command -v xmllint >/dev/null || xmllint --noout $1/open/confinement-evidence/junit.xml"));
	CU_ASSERT(quiet("test \"$(grep -c '<testcase ' $1/open/confinement-evidence/junit.xml)\" = "
			"\"$(sed -n 's/.*<testsuites .*tests=\"\\([0-9]*\\)\".*/\\1/p' "
			"$1/open/confinement-evidence/junit.xml)\""));
}

/* ---- verify, on a copy, as an ordinary user, where there is no engine and no network ---- */

static const char offline[] =
	"unshare --net --mount --propagation private sh -c 'mount -t tmpfs none /run && ! test -e /var/run/docker.sock "
	"&& "
	"cd / && exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env -i \"$@\"' sh ";

static int verify(const char *words, struct buf *out)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s $1/copy/build/harness verify %s", offline, words);
	return script(text, false, out);
}

static void test_verify(void)
{
	cleanup_buf struct buf good = BUF(MIB), bad = BUF(MIB), open = BUF(MIB), cut = BUF(MIB);

	CU_ASSERT(quiet("mkdir -p $1/copy/build && cp $1/tree/build/harness $1/copy/build && cp $3 $1/copy/bundle && "
			"chmod -R a+rX $1/copy && cp $1/copy/bundle $1/copy/bad && "
			"printf x | dd of=$1/copy/bad bs=1 seek=5000 conv=notrunc status=none && "
			"head -c 9000 $1/copy/bundle >$1/copy/cut"));
	CU_ASSERT_EQUAL(verify("$1/copy/bundle", &good), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&good), "verdict, made again: pass"));
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&good), "signature"));
	CU_ASSERT_EQUAL(verify("--require-signature $1/copy/bundle", &open), 2);
	CU_ASSERT_EQUAL(verify("$1/copy/bad", &bad), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&bad), "fail"));
	CU_ASSERT_EQUAL(verify("$1/copy/cut", &cut), 1);
}

/* ---- what is left ---- */

static void test_kept(void)
{
	struct stat status;

	CU_ASSERT_EQUAL(stat(world.bundle, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0644);
	CU_ASSERT_EQUAL(status.st_uid, GIVEN_TO);
	CU_ASSERT_EQUAL(status.st_gid, GIVEN_TO);
	CU_ASSERT_EQUAL(status.st_nlink, 1);
	CU_ASSERT(quiet("test \"$(ls -A $1/runs | wc -l)\" = 2"));
	CU_ASSERT(quiet("case $(readlink $1/runs/latest) in */*) false ;; 2*Z-*) true ;; *) false ;; esac"));
	CU_ASSERT(quiet("test \"$(ls -A $1/runs/latest/)\" = confinement-evidence.tar.gz"));
	CU_ASSERT(quiet("test -z \"$(find $1/runs ! -user 65534)\""));
}

static void test_containers(void)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);
	struct error *err = NULL;
	char label[96];

	snprintf(label, sizeof(label), "harness.run=%s", world.run);
	CU_ASSERT_EQUAL(strlen(world.run), 32);
	CU_ASSERT(engine_open(LIVE_SOCKET, &engine, &err) == 0 && engine_negotiate(engine, &err) == 0 &&
		  engine_list(engine, label, &answer, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(buf_string(&answer), "[]\n");
}

static void test_host(void)
{
	CU_ASSERT_STRING_EQUAL(buf_string(&world.before), buf_string(&world.after));
	CU_ASSERT(quiet("test -z \"$(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname \"$1/*\" 2>/dev/null)\""));
	/* Folders that came since, and that no arm holds any more. */
	CU_ASSERT(quiet("for path in /tmp/harness-arm-*; do test ! -d $path || test $path -ot $1/began || "
			"! flock -n $path/lock true 2>/dev/null || exit 1; done"));
	/* Namespaces that were mounted since: those of other programs go too, within their time. */
	CU_ASSERT(quiet("end=$(($(date +%s) + 10)); while grep ' nsfs ' /proc/self/mounts | sort | comm -13 $1/nsfs - "
			"| grep .; "
			"do test $(date +%s) -lt $end || exit 1; sleep 0.1; done"));
}

static CU_TestInfo run_tests[] = {
	{ "it runs", test_run },
	{ "what is told", test_told },
	{ "no frame", test_no_frame },
	{ "the table", test_table },
	{ "no canary outside", test_no_canary },
	{ "records", test_records },
	{ "differences", test_differences },
	{ "answers", test_answers },
	{ "the ends of arms", test_ends },
	{ "verdicts", test_verdicts },
	{ "members", test_members },
	{ "verify", test_verify },
	{ "what is kept", test_kept },
	{ "no container", test_containers },
	{ "the host", test_host },
	{ "the end", test_end },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "run all", NULL, NULL, NULL, NULL, run_tests },
	CU_SUITE_INFO_NULL,
};

#define S INT64_C(1000000000)
#define ALWAYS                                                                                                         \
	{ "permitted", "deliveries", '=', 1, false }, { "core-limit-soft", "state", '=', 0, false },                   \
		{ "core-limit-hard", "state", '=', 0, false },                                                         \
	{                                                                                                              \
		"alive", "state", '=', 0, false                                                                        \
	}

static const struct row baseline[] = {
	{ "tcp4", "tcp4", '=', 0, false },
	{ "tcp4-child", "tcp4", '=', 0, false },
	{ "tcp6", "tcp6", '=', 0, true },
	{ "dns", "dns", '=', 0, false },
	{ "tcp4-nic", "tcp4-nic", '=', 0, false },
	{ "interfaces", "capture-netns", '=', 0, false },
	{ "packets-other", "capture-netns", '=', 0, false },
	{ "tcp4-nic", "capture-netns", '=', 0, false },
	{ "tcp4", "capture-host", '=', 0, false },
	{ "tcp4-child", "capture-host", '=', 0, false },
	{ "tcp6", "capture-host", '=', 0, true },
	{ "dns", "capture-host", '=', 0, false },
	{ "tcp4-nic", "capture-host", '=', 0, false },
	{ "file", "files-archive", '=', 0, false },
	{ "file", "files-changes", '=', 0, false },
	{ "file", "files-upper", '=', 0, false },
	{ "file", "files-root", '=', 0, false },
	{ "file-name", "files-archive", '=', 0, false },
	{ "file-name", "files-changes", '=', 0, false },
	{ "file-name", "files-upper", '=', 0, false },
	{ "file-name", "files-root", '=', 0, false },
	{ "file-link", "files-archive", '=', 0, false },
	{ "file-link", "files-upper", '=', 0, false },
	{ "file-link", "files-root", '=', 0, false },
	{ "file-xattr", "files-upper", '=', 0, false },
	{ "file-xattr", "files-root", '=', 0, false },
	{ "stderr", "logs-api", '=', 0, false },
	{ "stderr", "logs-disk", '=', 0, false },
	{ "denied", "deliveries", '=', 0, false },
	{ "permitted", "decisions", '=', 1, false },
	{ "denied", "decisions", '=', 1, false },
	{ "tcp4", "attempts", '>', 1, false },
	{ "tcp4-child", "attempts", '>', 1, false },
	{ "dns", "attempts", '>', 1, false },
	{ "tcp4-nic", "attempts", '>', 1, false },
	{ "restarts", "state", '=', 0, false },
	{ "starts", "state", '=', 1, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row network[] = {
	{ "tcp4", "tcp4", '=', 1, false },
	{ "tcp4-child", "tcp4", '=', 1, false },
	{ "tcp6", "tcp6", '=', 1, true },
	{ "dns", "dns", '=', 1, false },
	{ "tcp4-nic", "tcp4-nic", '=', 1, false },
	{ "tcp4", "capture-host", '>', 1, false },
	{ "tcp4-child", "capture-host", '>', 1, false },
	{ "tcp6", "capture-host", '>', 1, true },
	{ "dns", "capture-host", '>', 1, false },
	{ "tcp4-nic", "capture-host", '>', 1, false },
	{ "denied", "deliveries", '=', 0, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row network_bridge[] = {
	{ "tcp4-nic", "tcp4-nic", '=', 1, false },
	{ "tcp4-nic", "capture-host", '>', 1, false },
	{ "tcp4-nic", "capture-netns", '>', 1, false },
	{ "interfaces", "capture-netns", '>', 1, false },
	{ "tcp4", "tcp4", '=', 0, false },
	{ "tcp4-child", "tcp4", '=', 0, false },
	{ "tcp6", "tcp6", '=', 0, true },
	{ "dns", "dns", '=', 0, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row read_only[] = {
	{ "file", "files-archive", '=', 1, false },
	{ "file", "files-upper", '=', 1, false },
	{ "file", "files-root", '=', 1, false },
	{ "file", "files-changes", '>', 1, false },
	{ "file-name", "files-archive", '=', 1, false },
	{ "file-name", "files-changes", '>', 1, false },
	{ "file-name", "files-upper", '=', 1, false },
	{ "file-name", "files-root", '=', 1, false },
	{ "file-link", "files-archive", '=', 1, false },
	{ "file-link", "files-upper", '=', 1, false },
	{ "file-link", "files-root", '=', 1, false },
	{ "file-xattr", "files-upper", '=', 1, false },
	{ "file-xattr", "files-root", '=', 1, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row log_driver[] = {
	{ "stderr", "logs-api", '=', 1, false },
	{ "stderr", "logs-disk", '=', 1, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row sink_ceiling[] = {
	{ "denied", "deliveries", '=', 1, false },
	{ "denied", "decisions", '=', 0, false },
	{ "permitted", "decisions", '=', 1, false },
	ALWAYS,
	{ .subject = NULL },
};

static const struct row dead_soon[] = {
	{ "loss_to_dead", "state", '<', 1 * S, false },
	{ "loss_to_dead", "state", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};

static const struct row dead_by_lease[] = {
	{ "loss_to_dead", "state", '<', 5 * S / 2, false },
	{ "loss_to_dead", "state", '>', 1, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};

static const struct row lives_on[] = {
	{ "loss_to_dead", "state", '>', 5 * S, false },
	{ "permitted", "deliveries", '=', 1, false },
	{ .subject = NULL },
};

static const struct arm_rows arms[] = {
	{ "baseline", baseline },
	{ "baseline-again", baseline },
	{ "mutation/network", network },
	{ "mutation/network-bridge", network_bridge },
	{ "mutation/read-only", read_only },
	{ "mutation/log-driver", log_driver },
	{ "mutation/sink-ceiling", sink_ceiling },
	{ "lifecycle/bridge-killed", dead_soon },
	{ "lifecycle/watchdog-paused", dead_by_lease },
	{ "mutation/watchdog", lives_on },
	{ "mutation/ack", lives_on },
	PEER_ARMS,
	TELEMETRY_ARMS,
	POLICY_ARMS,
	WATCH_ARMS,
	FRAME_ARMS,
	LOSS_ARMS,
	PROCESS_ARMS,
	EFFECT_ARMS,
	{ .arm = NULL },
};

static const char *const blind_to_baseline[] = {
	"tcp4",          "tcp6",        "tcp4-nic",   "dns",      "capture-host", "files-archive",
	"files-changes", "files-upper", "files-root", "logs-api", "logs-disk",    NULL,
};

static const struct difference differences[] = {
	{ "mutation/network", "baseline",
	  "inspect.HostConfig.NetworkMode inspect.NetworkSettings.Networks kernel.ns.net kernel.interfaces " },
	{ "mutation/network-bridge", "baseline",
	  "inspect.HostConfig.NetworkMode inspect.NetworkSettings.Networks kernel.interfaces " },
	{ "mutation/read-only", "baseline", "inspect.HostConfig.ReadonlyRootfs kernel.mounts " },
	{ "mutation/log-driver", "baseline", "inspect.HostConfig.LogConfig.Type " },
	{ "mutation/sink-ceiling", "baseline", "gateway.ceiling.public.tool " },
	{ "mutation/watchdog", "lifecycle/bridge-killed", "session.watchdog " },
	{ "mutation/ack", "lifecycle/watchdog-paused", "session.acknowledge " },
	PEER_DIFFERENCES,
	TELEMETRY_DIFFERENCES,
	POLICY_DIFFERENCES,
	WATCH_DIFFERENCES,
	FRAME_DIFFERENCES,
	LOSS_DIFFERENCES,
	PROCESS_DIFFERENCES,
	EFFECT_DIFFERENCES,
	{ "baseline-again", "baseline", "" },
	{ .mutant = NULL },
};

int main(void)
{
	return live_main("test_run_all", suites);
}
