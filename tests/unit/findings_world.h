/* A world of judge_world.h as the findings that reports are made from. */
#ifndef HARNESS_TESTS_UNIT_FINDINGS_WORLD_H
#define HARNESS_TESTS_UNIT_FINDINGS_WORLD_H

#include "reports/generate.h"
#include "tests/unit/judge_world.h"

static const char world_environment[] =
	"{\"after\":{\"clock.synchronised\":true,\"host.cpus\":2,\"kernel.release\":\"6.1.0-18-amd64\",\"sysctl."
	"ipv6Disabled\":null},"
	"\"before\":{\"clock.synchronised\":false,\"engine.securityOptions\":[\"name=seccomp\",\"name=cgroupns\"],"
	"\"host.cpus\":4,"
	"\"kernel.release\":\"6.1.0-18-amd64\",\"sysctl.corePatternRelative\":true,\"sysctl.ipv6Disabled\":null},"
	"\"schema\":\"confinement-evidence/environment/1\","
	"\"unavailable\":[{\"field\":\"sysctl.ipv6Disabled\",\"reason\":\"permission\"}]}";

/* Judges. *facts and what is returned point into the world. */
static inline struct findings world_findings(struct world *world, struct manifest_facts *facts)
{
	static const struct manifest_program program = { .name = "harness", .sha256 = "00ff" };

	*facts = (struct manifest_facts){
		.minor = MANIFEST_MINOR,
		.run = "0123456789abcdef0123456789abcdef",
		.started = "2026-01-02T03:04:05Z",
		.finished = "2028-02-29T23:59:59Z",
		.version = "9.8.7",
		.image = world->arms[0].image,
		.gateway = { .version = "1.2.3", .composed = true },
		.programs = &program,
		.programs_count = 1,
		.arms = world->arms_count,
		.observations = world->observations_count,
	};
	(void)world_judge(world);
	facts->verdicts = world->verdicts;
	return (struct findings){
		.manifest = facts,
		.plan = world->plan,
		.arms = world->arms,
		.arms_count = world->arms_count,
		.verdicts = world->verdicts,
		.environment = world_environment,
		.environment_length = strlen(world_environment),
	};
}

static inline size_t count_of(const struct buf *text, const char *part)
{
	size_t count = 0;

	for (const char *at = strstr(buf_string(text), part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

#endif
