/* The form of a rule and the checks that the table in admission.c is made of; for the files of admission alone. */
#ifndef HARNESS_ADAPTER_ADMISSION_RULES_H
#define HARNESS_ADAPTER_ADMISSION_RULES_H

#include "adapter/admission.h"

struct admission_rule {
	const char *id;
	const char *title;
	enum admission_half half;
	/* The one of its half: whether the rule holds. */
	bool (*declared)(const struct admission_declared *documents, const struct admission_rule *rule);
	bool (*effective)(const struct admission_effective *files, const struct admission_rule *rule);
	const char *path; /* into inspect: "HostConfig.Binds" */
	const char *text; /* what is expected there, or a name */
	int64_t number;
	size_t offset; /* of what is expected, in struct profile */
};

typedef bool declared_check(const struct admission_declared *documents, const struct admission_rule *rule);
typedef bool effective_check(const struct admission_effective *files, const struct admission_rule *rule);

/* Value at a dotted path, or NULL. */
const struct json_node *json_at(const struct json_node *root, const char *path);
/* null, "", [], {} and absent are one. */
bool json_blank(const struct json_node *node);
/* An array of exactly these strings, in order; NULL-terminated. Blank for none. */
bool json_texts_are(const struct json_node *node, const char *const *texts);

/* Over one member of inspect: rule->path. */
declared_check declared_blank; /* none, in whichever spelling */
declared_check declared_empty_text; /* "": there, and empty */
declared_check declared_true;
declared_check declared_false;
declared_check declared_off; /* false, null or absent */
declared_check declared_unset; /* null or absent */
declared_check declared_text; /* rule->text */
declared_check declared_number; /* rule->number */
declared_check declared_profile_text; /* the profile's const char * at rule->offset */
declared_check declared_profile_number; /* the profile's int64_t */
declared_check declared_profile_true; /* the profile's bool */

/* Over more than one member of inspect. */
declared_check declared_id;
declared_check declared_warnings;
declared_check declared_networks;
declared_check declared_cap_drop;
declared_check declared_security_opt;
declared_check declared_log;
declared_check declared_restart;
declared_check declared_ulimits;
declared_check declared_masked_paths;
declared_check declared_read_only_paths;
declared_check declared_dns;
declared_check declared_user;
declared_check declared_labels;
declared_check declared_entrypoint;
declared_check declared_command;
declared_check declared_healthcheck;
declared_check declared_streams;

/* Over the image, and over inspect in the light of what the engine says of itself. */
declared_check image_immutable;
declared_check image_same;
declared_check image_volumes;
declared_check image_healthcheck;
declared_check image_working_dir;
declared_check engine_seccomp;
declared_check engine_apparmor;
declared_check engine_selinux;
declared_check engine_cgroupns;

/* Over the texts of /proc. */
effective_check effective_uid;
effective_check effective_gid;
effective_check effective_groups;
effective_check effective_capabilities;
effective_check effective_status; /* the line of rule->path is rule->text */
effective_check effective_namespace; /* rule->text is another than ours */
effective_check effective_interfaces;
effective_check effective_core_limit;
effective_check effective_descriptors;
effective_check effective_cgroup;
effective_check effective_pids_max;
effective_check effective_memory_max;
effective_check effective_swap_max;
effective_check effective_mounts;
effective_check effective_read_only_mount; /* at rule->text */

/* What admission and projection both read in the texts. A word or a line, not NUL-terminated. */
struct text {
	const char *bytes;
	size_t length;
};
/* The next line of *rest without its end; false when there is none. */
bool text_line(const char **rest, struct text *line);
/* The next word of a line between blanks, taken off it; false when there is none. */
bool text_word(struct text *line, struct text *word);
bool text_is(struct text text, const char *other);
/* The value behind "NAME:" in /proc/PID/status, blanks around it left out. */
bool status_value(const char *status, const char *name, struct text *out);
/* The next interface of /proc/PID/net/dev. */
bool net_dev_next(const char **rest, struct text *name);

/* A line of /proc/PID/mountinfo. */
struct mount_line {
	struct text device, root, point, options, type;
};
/* The next line; false when there is none. *known: whether it has the form of one. */
bool mount_next(const char **rest, struct mount_line *out, bool *known);
/* Whether the mount itself is read-only, whatever its file system is. */
bool mount_read_only(const struct mount_line *mount);

extern const char *const capability_sets[]; /* lines of /proc/PID/status, NULL-terminated */

#endif
