/*
 * A bundle of a run in which everything went well, made up in memory: its members as texts that a test can change, and
 * the archive packed from them, with the hashes made again or left as they were.
 */
#ifndef HARNESS_TESTS_UNIT_BUNDLE_FIXTURE_H
#define HARNESS_TESTS_UNIT_BUNDLE_FIXTURE_H

#include <sys/mman.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/ustar.h"
#include "reports/bundle.h"
#include "reports/coverage.h"
#include "reports/generate.h"
#include "reports/summary.h"
#include "reports/verify.h"
#include "tests/unit/environment_snapshot.h"
#include "tests/unit/judge_world.h"

#define FIXTURE_BYTES ((size_t)64 * MIB)
#define FIXTURE_MEMBERS 20

struct fixture_member {
	char name[NAME_MAX_SHORT];
	struct buf text;
};

struct fixture {
	struct world world;
	struct fixture_member members[FIXTURE_MEMBERS]; /* sorted by name */
	size_t count;
	struct manifest_gateway gateway; /* zeros: our own */
	struct manifest_origin origin;
	struct effect *effects; /* that the run declares, or NULL */
	size_t effects_count;
	const char *const *brought; /* programs that these bring, NULL-terminated; or NULL */
	const struct assessing *assessing; /* that the run was given, or NULL */
};

static inline void fixture_free(struct fixture *fixture)
{
	world_free(&fixture->world);
	free(fixture->effects);
	for (size_t i = 0; i < fixture->count; i++)
		buf_free(&fixture->members[i].text);
}
#define cleanup_fixture __attribute__((cleanup(fixture_free)))

static const char fixture_profile[] =
	"{\"id\":\"reference\",\"limits\":{\"coreHard\":0,\"coreSoft\":0,\"memoryBytes\":134217728,"
	"\"memorySwapBytes\":134217728,\"pids\":32,\"shmBytes\":67108864},\"protections\":[{\"admissionRule\":"
	"\"network-mode\","
	"\"id\":\"network\",\"required\":true,\"setting\":\"none\"}],\"schema\":\"confinement-evidence/profile/1\"}";

static inline bool fixture_has(const struct fixture *fixture, const char *name)
{
	for (size_t i = 0; i < fixture->count; i++)
		if (strcmp(fixture->members[i].name, name) == 0)
			return true;
	return false;
}

static inline struct buf *fixture_text(struct fixture *fixture, const char *name)
{
	for (size_t i = 0; i < fixture->count; i++)
		if (strcmp(fixture->members[i].name, name) == 0)
			return &fixture->members[i].text;
	fprintf(stderr, "no member %s\n", name);
	abort();
}

static inline void fixture_set(struct fixture *fixture, const char *name, const char *text)
{
	struct buf *to = fixture_text(fixture, name);

	buf_free(to);
	*to = (struct buf)BUF(FIXTURE_BYTES);
	buf_text(to, text);
}

static inline int fixture_order(const void *a, const void *b)
{
	return strcmp(((const struct fixture_member *)a)->name, ((const struct fixture_member *)b)->name);
}

static inline struct buf *fixture_add(struct fixture *fixture, const char *name)
{
	struct fixture_member *member = &fixture->members[fixture->count++];

	set(member->name, sizeof(member->name), name);
	member->text = (struct buf)BUF(FIXTURE_BYTES);
	qsort(fixture->members, fixture->count, sizeof(*member), fixture_order);
	return fixture_text(fixture, name);
}

static inline void fixture_drop(struct fixture *fixture, const char *name)
{
	size_t i = 0;

	buf_free(fixture_text(fixture, name));
	while (strcmp(fixture->members[i].name, name) != 0)
		i++;
	fixture->count--;
	memmove(&fixture->members[i], &fixture->members[i + 1], (fixture->count - i) * sizeof(fixture->members[0]));
}

/* The first `from` of a member becomes `to`. */
static inline void fixture_edit(struct fixture *fixture, const char *name, const char *from, const char *to)
{
	struct buf *text = fixture_text(fixture, name);
	cleanup_buf struct buf edited = BUF(FIXTURE_BYTES);
	const char *at = strstr(buf_string(text), from);

	if (!at) {
		fprintf(stderr, "%s does not hold %s\n", name, from);
		abort();
	}
	buf_add(&edited, text->data, (size_t)(at - text->data));
	buf_text(&edited, to);
	buf_text(&edited, at + strlen(from));
	fixture_set(fixture, name, buf_string(&edited));
}

static inline int fixture_observations(struct fixture *fixture, struct error **err)
{
	struct buf *text = fixture_text(fixture, "observations.jsonl");
	struct world *world = &fixture->world;

	buf_free(text);
	*text = (struct buf)BUF(FIXTURE_BYTES);
	for (size_t i = 0; i < world->observations_count; i++) {
		snprintf(world->observations[i].id, sizeof(world->observations[i].id), "o-%06zu", i + 1);
		if (observation_write(&world->observations[i], text, err) < 0)
			return -1;
	}
	return 0;
}

static inline void fixture_event(struct arm_record *record, const char *name, int64_t at)
{
	struct arm_event *event = &record->events[record->events_count++];

	set(event->name, sizeof(event->name), name);
	event->at_ns = at;
}

static inline int64_t fixture_loss(const struct world *world, const struct arm_record *record)
{
	for (size_t i = 0; i < world->observations_count; i++) {
		const struct observation *one = &world->observations[i];

		if (strcmp(one->arm, record->arm) == 0 && one->repetition == record->repetition &&
		    strcmp(one->subject, "loss_to_dead") == 0)
			return one->value;
	}
	return 0;
}

/* What an arm lives through that ends well, with times that fit what its observers measured. */
static inline void fixture_live(const struct world *world, const struct plan_arm *arm, struct arm_record *record)
{
	const struct scenario *scenario = arm->scenario;
	bool unarmed = scenario->removes_count && strcmp(scenario->removes[0], "watchdog") == 0;

	record->events_count = 0;
	record->duration_ns = 60 * NS_PER_S;
	fixture_event(record, unarmed ? "unarmed" : "armed", 10);
	fixture_event(record, "first-frame", 20);
	fixture_event(record, scenario->faults_count ? "part-lost" : "done", 30);
	fixture_event(record, "dead", 40 + fixture_loss(world, record));
}

/* Kind, unit and hits as the observers report them. */
static inline void fixture_report(struct observation *one)
{
	static const struct {
		const char *subject, *unit;
		int kind;
	} states[] = {
		{ "core-limit-soft", "bytes", OBSERVATION_STATE },
		{ "core-limit-hard", "bytes", OBSERVATION_STATE },
		{ "alive", "bool", OBSERVATION_STATE },
		{ "loss_to_dead", "ns", OBSERVATION_DURATION },
	};
	static const char *const hitless[] = { "state", "attempts", "decisions", "files-changes", NULL };
	bool total = strcmp(one->subject, "interfaces") == 0 || strcmp(one->subject, "packets-other") == 0;

	one->canary_hits = total || schema_enum(hitless, one->observer) >= 0 ? 0 : one->value;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (strcmp(one->subject, states[i].subject) == 0) {
			set(one->unit, sizeof(one->unit), states[i].unit);
			one->kind = states[i].kind;
		}
}

static inline size_t fixture_canaries(const struct world *world)
{
	size_t count = 0;

	for (size_t i = 0; i < world->plan->arms_count; i++)
		count += world->plan->arms[i].scenario->probes_count;
	return count;
}

/* The words that select the plan: its own, or else the id of each arm that was not added. */
static inline void fixture_select(const struct world *world, struct manifest_origin *origin)
{
	if (origin->selection_count == 0 && world->selector)
		set(origin->selection[origin->selection_count++], ID_MAX, world->selector);
	if (origin->selection_count > 0)
		return;
	for (size_t i = 0; i < world->plan->arms_count && origin->selection_count < PLAN_SELECTORS_MAX; i++)
		if (!world->plan->arms[i].added && world->plan->arms[i].repetition == 1)
			set(origin->selection[origin->selection_count++], ID_MAX, world->plan->arms[i].scenario->id);
}

/* Who ran it and when; `programs` become those that took part. */
static inline struct manifest_facts fixture_facts(struct fixture *fixture, const char *version,
						  struct manifest_program programs[MANIFEST_PROGRAMS_MAX])
{
	size_t count = 0;
	const struct buf *coverage = fixture_text(fixture, "coverage.json"),
			 *scenarios = fixture_text(fixture, "scenarios.json");
	struct hash *hash = hash_new();

	hash_add(hash, buf_string(coverage), coverage->length);
	hash_add(hash, buf_string(scenarios), scenarios->length);
	hash_end(hash, fixture->origin.plan);
	fixture->origin.repeat = 1;
	for (size_t i = 0; i < fixture->world.plan->arms_count; i++)
		if (fixture->world.plan->arms[i].repetition > fixture->origin.repeat)
			fixture->origin.repeat = fixture->world.plan->arms[i].repetition;
	if (fixture->origin.shard.of == 0)
		fixture->origin.shard = PLAN_WHOLE;
	fixture_select(&fixture->world, &fixture->origin);
	for (; manifest_program_names[count]; count++) {
		programs[count] = (struct manifest_program){ .name = "" };
		snprintf(programs[count].name, sizeof(programs[count].name), "%s", manifest_program_names[count]);
		memset(programs[count].sha256, 'c', HEX_SHA256 - 1);
	}
	for (const char *const *name = fixture->brought; name && *name; name++, count++) {
		programs[count] = (struct manifest_program){ .name = "" };
		snprintf(programs[count].name, sizeof(programs[count].name), "%s", *name);
		memset(programs[count].sha256, 'd', HEX_SHA256 - 1);
	}
	if (!fixture->gateway.version[0]) {
		fixture->gateway =
			(struct manifest_gateway){ .kind = GATEWAY_EMBEDDED, .version = "1.2.3", .composed = true };
		memset(fixture->gateway.sha256, 'c', HEX_SHA256 - 1);
	}
	return (struct manifest_facts){
		.minor = MANIFEST_MINOR,
		.run = "0123456789abcdef0123456789abcdef",
		.started = "2026-01-02T03:04:05Z",
		.finished = "2026-01-02T03:05:05Z",
		.version = version,
		.image = fixture->world.arms[0].image,
		.gateway = fixture->gateway,
		.programs = programs,
		.programs_count = count,
		.canaries = fixture_canaries(&fixture->world),
		.verdicts = fixture->world.verdicts,
		.arms = fixture->world.plan->arms_count,
		.observations = fixture->world.observations_count,
		.origin = &fixture->origin,
	};
}

/* Lists whatever members there are, as the run's own manifest would. */
static inline int fixture_manifest(struct fixture *fixture, const char *version, struct error **err)
{
	struct bundle_member members[FIXTURE_MEMBERS];
	struct manifest_program programs[MANIFEST_PROGRAMS_MAX];
	struct manifest_facts facts = fixture_facts(fixture, version, programs);
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++) {
		const struct fixture_member *member = &fixture->members[i];

		if (strcmp(member->name, "manifest.json") != 0 && strcmp(member->name, BUNDLE_SUMS) != 0)
			members[count++] = (struct bundle_member){ .name = member->name,
								   .bytes = buf_string(&member->text),
								   .length = member->text.length,
								   .fd = -1 };
	}
	fixture_set(fixture, "manifest.json", "");
	return manifest_encode(&facts, members, count, fixture_text(fixture, "manifest.json"), err);
}

static inline void fixture_sums(struct fixture *fixture)
{
	cleanup_buf struct buf sums = BUF(FIXTURE_BYTES);
	char sha256[HEX_SHA256];

	for (size_t i = 0; i < fixture->count; i++) {
		const struct fixture_member *member = &fixture->members[i];

		if (member_find(member->name) >= 0 && !member_in_sums(member_find(member->name)))
			continue;
		hash_bytes(buf_string(&member->text), member->text.length, sha256);
		buf_printf(&sums, "%s  %s\n", sha256, member->name);
	}
	fixture_set(fixture, BUNDLE_SUMS, buf_string(&sums));
}

/* All hashes follow the members. */
static inline int fixture_rehash(struct fixture *fixture)
{
	struct error *err = NULL;

	(void)fixture_manifest(fixture, HARNESS_VERSION, &err);
	fixture_sums(fixture);
	return test_no_error(&err);
}

/* Judges, and writes what is made from the rest. */
static inline int fixture_generate(struct fixture *fixture, const struct buf *environment, struct error **err)
{
	struct world *world = &fixture->world;
	struct manifest_program programs[MANIFEST_PROGRAMS_MAX];
	struct manifest_facts facts;
	struct findings findings = {
		.manifest = &facts,
		.plan = world->plan,
		.arms = world->arms,
		.arms_count = world->arms_count,
		.environment = buf_string(environment),
		.environment_length = environment->length,
	};
	int result = 0;

	if (!world_judge(world))
		return error_set(err, ERROR_INTERNAL, "not judged");
	facts = fixture_facts(fixture, HARNESS_VERSION, programs);
	findings.verdicts = world->verdicts;
	findings.effects = fixture->effects;
	findings.effects_count = fixture->effects_count;
	findings.assessing = fixture->assessing;
	if (fixture->assessing)
		result = generate(MEMBER_ASSESSMENTS, &findings,
				  fixture_add(fixture, member_kinds[MEMBER_ASSESSMENTS].name), err);
	for (int i = 0; i < MEMBERS && result == 0; i++)
		if (generated(i) && !member_kinds[i].optional)
			result = generate(i, &findings, fixture_text(fixture, member_kinds[i].name), err);
	return result;
}

/* In place: there is room for a letter more. */
static inline void fixture_lack(char *snapshot, const char *fact)
{
	char *at = strstr(snapshot, fact) + strlen(fact) + strlen("\":");

	memmove(at + strlen("false"), at + strlen("true"), strlen(at + strlen("true")) + 1);
	memcpy(at, "false", strlen("false"));
}

/* A host that lacks what the absent cells of the plan want. */
static inline void fixture_host(char *out, size_t size, const struct plan *plan)
{
	bool ipv6 = true, xattr = true, postgres = true;

	for (size_t i = 0; i < plan->absent_count; i++) {
		ipv6 = ipv6 && strcmp(plan->absent[i].reason, "ipv6-loopback") != 0;
		xattr = xattr && strcmp(plan->absent[i].reason, "user-xattr") != 0;
		postgres = postgres && strcmp(plan->absent[i].reason, "postgres") != 0;
	}
	snprintf(out, size, "%s", fixture_snapshot);
	if (!ipv6)
		fixture_lack(out, "host.ipv6Loopback");
	if (!xattr)
		fixture_lack(out, "host.userXattr");
	if (!postgres)
		fixture_lack(out, "host.postgres");
}

/* Every member from the world as it stands now. */
static inline int fixture_write(struct fixture *fixture)
{
	struct world *world = &fixture->world;
	cleanup_buf struct buf environment = BUF(FIXTURE_BYTES);
	struct error *err = NULL;
	char before[sizeof(fixture_snapshot) + 16], after[sizeof(before)];

	for (int i = 0; i < MEMBERS; i++) {
		if (member_kinds[i].optional)
			continue;
		if (!fixture_has(fixture, member_kinds[i].name))
			(void)fixture_add(fixture, member_kinds[i].name);
		fixture_set(fixture, member_kinds[i].name, "");
	}
	for (size_t i = 0; i < world->arms_count; i++)
		fixture_live(world, &world->plan->arms[i], &world->arms[i]);
	for (size_t i = 0; i < world->observations_count; i++)
		fixture_report(&world->observations[i]);
	fixture_host(before, sizeof(before), world->plan);
	memcpy(after, before, sizeof(after));
	if (world->environment_changed)
		*strstr(after, "overlay2") = 'O';
	buf_printf(&environment,
		   "{\"after\":%s,\"before\":%s,\"schema\":\"confinement-evidence/environment/1\",\"unavailable\":"
		   "[{\"field\":\"engine.gitCommit\",\"reason\":\"absent\"}]}",
		   after, before);
	fixture_set(fixture, "environment.json", buf_string(&environment));
	fixture_set(fixture, "profile.json", fixture_profile);
	if (fixture_observations(fixture, &err) == 0 && fixture_generate(fixture, &environment, &err) == 0)
		return fixture_rehash(fixture);
	return test_no_error(&err);
}

/* A run of `selector` in which everything went well. */
static inline int fixture_make(struct fixture *fixture, const char *selector)
{
	return world_make(&fixture->world, selector, 1, NULL) && fixture_write(fixture);
}

/* The members that seal() is given: all but the sums. Returns how many. */
static inline size_t fixture_list(struct fixture *fixture, struct bundle_member members[FIXTURE_MEMBERS])
{
	size_t count = 0;

	for (size_t i = 0; i < fixture->count; i++)
		if (strcmp(fixture->members[i].name, BUNDLE_SUMS) != 0)
			members[count++] = (struct bundle_member){ .name = fixture->members[i].name,
								   .bytes = buf_string(&fixture->members[i].text),
								   .length = fixture->members[i].text.length,
								   .fd = -1 };
	return count;
}

/* The archive, written apart from bundle_seal(). */
static inline int fixture_pack(struct fixture *fixture, struct buf *out)
{
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	struct error *err = NULL;
	int result = ustar_writer_new(true, ustar_sink_buf, out, &writer, &err);

	for (size_t i = 0; i < fixture->count && result == 0; i++) {
		const struct fixture_member *member = &fixture->members[i];
		char name[USTAR_NAME_MAX + 1];

		snprintf(name, sizeof(name), BUNDLE_TOP "/%s", member->name);
		result = ustar_writer_member(writer, name, '0', 0644, member->text.length, &err);
		if (result == 0)
			result = ustar_writer_data(writer, buf_string(&member->text), member->text.length, &err);
	}
	if (result == 0)
		result = ustar_writer_finish(writer, &err);
	return test_no_error(&err) && result == 0;
}

static inline int fixture_verify_bytes(const char *bytes, size_t length, bool require_signature,
				       struct verify_report *report)
{
	const struct verify_options options = { .require_signature = require_signature };
	cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct error *err = NULL;

	if (fd < 0 || fd_write_all(fd, bytes, length, NEVER, &err) < 0 || lseek(fd, 0, SEEK_SET) != 0)
		return 0;
	return verify_bundle(fd, &options, report, &err) == 0 && test_no_error(&err);
}

static inline int fixture_verify(struct fixture *fixture, struct verify_report *report)
{
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);

	return fixture_pack(fixture, &archive) && fixture_verify_bytes(archive.data, archive.length, false, report);
}

static inline const struct verify_check *fixture_check(const struct verify_report *report, const char *id)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->checks[i].id, id) == 0)
			return &report->checks[i];
	fprintf(stderr, "no check %s\n", id);
	abort();
}

/* The checks that failed are exactly `id` (or none, ""), and its reason holds `part`. */
static inline int fixture_failed(const struct verify_report *report, const char *id, const char *part)
{
	const char *failed = "";
	const char *reason = "";
	size_t count = 0;

	for (size_t i = 0; i < report->count; i++)
		if (report->checks[i].result == CHECK_FAIL) {
			failed = report->checks[i].id;
			reason = report->checks[i].reason;
			count++;
		}
	if (count <= 1 && strcmp(failed, id) == 0 && strstr(reason, part))
		return 1;
	fprintf(stderr, "expected '%s' to fail with '%s', failed: %zu, the last '%s' with '%s'\n", id, part, count,
		failed, reason);
	return 0;
}

#endif
