/*
 * A bundle of as many observations as one wants: the fixture's run, its arms and cells as they are, and behind its own
 * observations further ones of each arm, as its observers would report of its probes where no cell looks: zeros, with
 * times of their own. The verdicts stay those of the run.
 */
#ifndef HARNESS_TESTS_UNIT_BUNDLE_BIG_H
#define HARNESS_TESTS_UNIT_BUNDLE_BIG_H

#include <stdio.h>

#include "tests/unit/bundle_fixture.h"

#define BIG_OBSERVATIONS "observations.jsonl"

/* Observers that report records of any probe. */
static const char *const big_observers[] = { "tcp4",         "tcp6",          "dns",           "tcp4-nic",
					     "capture-host", "capture-netns", "files-archive", "files-upper",
					     "files-root",   "logs-api",      "logs-disk",     "client",
					     "audit-bytes",  "output" };

static inline uint32_t big_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Of one arm, from `number` on. */
static inline void big_arm(const struct plan_arm *arm, size_t number, size_t count, uint32_t *state, FILE *out)
{
	const struct scenario *scenario = arm->scenario;
	unsigned start = 1000000 + big_next(state) % 100000000, last = 800000000 + big_next(state) % 100000000;

	for (size_t pair = 0; count > 0; pair++) {
		const char *subject = scenario->probes[pair % scenario->probes_count];
		const char *observer =
			big_observers[pair / scenario->probes_count % (sizeof(big_observers) / sizeof(*big_observers))];

		if (scenario_cell(scenario, subject, observer))
			continue;
		fprintf(out,
			"{\"arm\":\"%s\",\"attempts\":0,\"beaconAfter\":2,\"beaconBefore\":2,\"bytes\":0,"
			"\"canaryHits\":0,\"connections\":0,\"dropped\":0,\"durationNs\":%u,\"id\":\"o-%06zu\","
			"\"kind\":\"count\",\"observer\":\"%s\",\"reason\":\"none\",\"repetition\":%lld,"
			"\"startNs\":%u,\"status\":\"observed\",\"subject\":\"%s\",\"unit\":\"records\",\"value\":0}\n",
			scenario->id, last + big_next(state) % 100000, number++, observer, (long long)arm->repetition,
			start, subject);
		count--;
	}
}

/* All of them, into a new file below `folder`; a descriptor, or -1. */
static inline int big_observations(const struct fixture *fixture, size_t count, int folder)
{
	const struct world *world = &fixture->world;
	const struct buf *own = fixture_text((struct fixture *)(uintptr_t)fixture, BIG_OBSERVATIONS);
	int fd = openat(folder, BIG_OBSERVATIONS, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "w");
	size_t number = world->observations_count + 1, arms = world->plan->arms_count;
	size_t more = count > world->observations_count ? count - world->observations_count : 0;
	uint32_t state = 88172645;

	if (!out)
		return -1;
	fwrite(buf_string(own), 1, own->length, out);
	for (size_t i = 0; i < arms; i++) {
		size_t share = more * (i + 1) / arms - more * i / arms;

		big_arm(&world->plan->arms[i], number, share, &state, out);
		number += share;
	}
	return fclose(out) == 0 ? fd : -1;
}

/* The manifest, and the list of members as bundle_seal() takes them, over the fixture's and the observations in `fd`.
 */
static inline int big_members(struct fixture *fixture, size_t count, int fd,
			      struct bundle_member members[FIXTURE_MEMBERS], size_t *members_count, struct error **err)
{
	struct manifest_program programs[MANIFEST_PROGRAMS_MAX];
	struct manifest_facts facts = fixture_facts(fixture, HARNESS_VERSION, programs);

	facts.observations = count;
	fixture_set(fixture, "manifest.json", "");
	for (int pass = 0; pass < 2; pass++) {
		int result;

		*members_count = fixture_list(fixture, members);
		for (size_t i = 0; i < *members_count; i++)
			if (strcmp(members[i].name, BIG_OBSERVATIONS) == 0)
				members[i] = (struct bundle_member){ .name = BIG_OBSERVATIONS, .fd = fd };
		if (pass == 1)
			break;
		result = manifest_encode(&facts, members, *members_count, fixture_text(fixture, "manifest.json"), err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Seals it below `folder` as BUNDLE_ARCHIVE. */
static inline int big_seal(struct fixture *fixture, size_t count, int folder, const struct canary *live,
			   size_t live_count, struct error **err)
{
	struct bundle_member members[FIXTURE_MEMBERS];
	struct bundle_identity identity;
	cleanup_fd int fd = big_observations(fixture, count, folder);
	size_t listed = 0;

	if (fd < 0)
		return error_set(err, ERROR_SYSTEM, "the observations cannot be written");
	if (big_members(fixture, count, fd, members, &listed, err) < 0)
		return -1;
	return bundle_seal(folder, members, listed, live, live_count, &identity, err);
}

#endif
