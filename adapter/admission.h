/*
 * Admission: an ordered table of rules, each a pure function. The declared half reads what the engine says is effective
 * (inspect, image inspect, info); the effective half reads what the kernel says of the started process. Every rule is
 * evaluated and each failed one is named; absent or unknown means refused unless the rule says otherwise.
 */
#ifndef HARNESS_ADAPTER_ADMISSION_H
#define HARNESS_ADAPTER_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adapter/profile.h"
#include "core/json.h"

enum admission_half { ADMISSION_DECLARED, ADMISSION_EFFECTIVE };

/* Rules by their number in the table. */
struct rule_set {
	uint64_t bits[(ADMISSION_RULES_MAX + 63) / 64];
};
bool rule_set_has(const struct rule_set *set, size_t rule);
void rule_set_add(struct rule_set *set, size_t rule);
bool rule_set_equal(const struct rule_set *one, const struct rule_set *other);
bool rule_set_empty(const struct rule_set *set);
/* Adds the rule of this id; false when there is none. */
bool rule_set_add_id(struct rule_set *set, const char *id);

size_t admission_rules(void);
const char *admission_rule_id(size_t rule); /* kebab-case, at most 31 bytes */
const char *admission_rule_title(size_t rule); /* what it demands, one line */
enum admission_half admission_rule_half(size_t rule);

/* The documents of the declared half; parsed answers of the engine. */
struct admission_declared {
	const struct json_node *inspect; /* GET /containers/ID/json */
	const struct json_node *image; /* GET /images/ID/json */
	const struct json_node *info; /* GET /info */
	const char *image_id; /* expected, "sha256:..." */
	const char *container_id;
	const struct profile *profile; /* the profile that is REQUIRED (reference), not the mutated one */
	const struct profile_identity *identity;
	bool create_warnings; /* the engine warned at create beyond the listed set */
};

/* What the kernel says, as bytes read from /proc/PID below one descriptor, so that tests can record them. */
struct admission_effective {
	const char *status; /* /proc/PID/status */
	const char *limits; /* /proc/PID/limits */
	const char *cgroup; /* /proc/PID/cgroup */
	const char *net_dev; /* /proc/PID/net/dev */
	const char *mountinfo; /* /proc/PID/mountinfo */
	const char *descriptors; /* names in /proc/PID/fd, sorted, space-separated: "0 1 2" */
	struct {
		char name[16]; /* "net", "ipc", "uts", "pid", "mnt" */
		uint64_t own, theirs; /* inodes */
	} namespaces[8];
	size_t namespaces_count;
	/* Files of the container's cgroup; "" where there is none of the kind. */
	const char *pids_max;
	const char *memory_max; /* version 1: memory.limit_in_bytes */
	const char *memory_swap_max; /* version 1 alone: memory.memsw.limit_in_bytes, memory and swap together */
	const char *swap_max; /* version 2 alone: memory.swap.max */
	const char *container_id;
	const struct profile *profile;
};

/* Evaluates every rule of the half; failed ones are added to *failed. Never an error: a document that cannot be read
 * fails its rules. */
void admission_declared(const struct admission_declared *documents, struct rule_set *failed);
void admission_effective(const struct admission_effective *files, struct rule_set *failed);

/* Where the effective half is read, as descriptors of folders: /proc/PID (opened while `pidfd` was silent), and those
 * of the container's cgroup that limit processes and memory: one and the same in version 2, -1 where it is not known.
 */
struct admission_sources {
	int proc;
	int pids, memory;
};

/* Reads the files of the effective half. A cgroup's value that cannot be had is "", which its rule refuses; the others
 * must be there. The texts are owned by *out and freed by admission_effective_free(). */
struct admission_effective_files;
int admission_effective_read(const struct admission_sources *sources, struct admission_effective_files **out,
			     struct error **err) MUST_CHECK;
const struct admission_effective *admission_effective_view(struct admission_effective_files *files,
							   const struct profile *profile, const char *container_id);
void admission_effective_free(struct admission_effective_files *files);

/* The effective configuration as a flat list {field, SHA-256 of the value}, for the difference between arms: inspect's
 * configuration with volatile members left out (ids, times, pids, host names, paths of this container, the canary-free
 * command) and the kernel's facts (uids, capabilities, seccomp, namespaces own-or-other, interfaces, limits, mounts'
 * read-only state). Calls `take` once a field, in order. */
typedef int (*effective_take)(void *context, const char *field, const char *sha256, struct error **err);
int admission_project(const struct admission_declared *documents, const struct admission_effective *files,
		      effective_take take, void *context, struct error **err) MUST_CHECK;

#endif
