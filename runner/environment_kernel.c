/* The kernel: which one it is, how it was built and started, and what it is set to. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#include "adapter/preflight.h"
#include "core/fd.h"
#include "core/gzip.h"
#include "core/hash.h"
#include "runner/environment_facts.h"

#define PROC_FILE_BYTES ((size_t)4 * KIB)
#define CONFIG_PACKED_BYTES ((size_t)4 * MIB)
#define CONFIG_BYTES ((size_t)16 * MIB)
#define BUILD_ID_MAX 64
#define CGROUP2_MAGIC 0x63677270
#define TMPFS_MAGIC 0x01021994
#define SYSFS_MAGIC 0x62656572

/* A file that holds one number. */
struct number_fact {
	const char *field, *path;
};
static const struct number_fact number_facts[];

/* Of the kernel's command line only these, and only with values of these bytes, are told: what else stands there may be
 * a secret. */
static const char *const flags[];
#define FLAG_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._,:=-"

static void put_number(struct facts *facts, const char *field, int root, const char *path)
{
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES);
	long long value;
	char *end;

	if (!fact_read(facts, field, root, path, &text))
		return;
	errno = 0;
	value = strtoll(text.data, &end, 10);
	if (errno || end == text.data || *end != '\0')
		fact_none(facts, field, FACT_UNSUPPORTED);
	else
		fact_count(facts, field, value);
}

/* Notes are {size of the name, size of what follows, type}, name and content, each filled to four bytes. */
static void put_build_id(struct facts *facts, int root)
{
	static const char field[] = "kernel.buildId", owner[] = "GNU";
	cleanup_buf struct buf notes = BUF(PROC_FILE_BYTES);
	cleanup_error struct error *why = NULL;
	char digits[2 * BUILD_ID_MAX + 1];
	size_t at = 0;

	if (fd_read_file(root, "sys/kernel/notes", PROC_FILE_BYTES, &notes, &why) < 0) {
		fact_none(facts, field, fact_reason_of(why));
		return;
	}
	while (notes.length - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, content;

		memcpy(&note, notes.data + at, sizeof(note));
		name = at + sizeof(note);
		content = name + ((size_t)note.n_namesz + 3) / 4 * 4;
		at = content + ((size_t)note.n_descsz + 3) / 4 * 4;
		if (content > notes.length || content + note.n_descsz > notes.length)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(owner) &&
		    memcmp(notes.data + name, owner, sizeof(owner)) == 0 && note.n_descsz <= BUILD_ID_MAX) {
			hash_digits(notes.data + content, note.n_descsz, digits);
			fact_text(facts, field, digits);
			return;
		}
		if (at > notes.length)
			break;
	}
	fact_none(facts, field, FACT_ABSENT);
}

static void put_config(struct facts *facts, int root, const char *release)
{
	static const char digest[] = "kernel.configSha256", source[] = "kernel.configSource";
	cleanup_buf struct buf packed = BUF(CONFIG_PACKED_BYTES), plain = BUF(CONFIG_BYTES);
	cleanup_error struct error *first = NULL, *second = NULL;
	char path[sizeof("boot/config-") + sizeof(((struct utsname *)0)->release)], hex[HEX_SHA256];
	bool is_packed = fd_read_file(root, "proc/config.gz", CONFIG_PACKED_BYTES, &packed, &first) == 0;

	snprintf(path, sizeof(path), "boot/config-%s", release);
	if (is_packed && gzip_digest(packed.data, packed.length, CONFIG_BYTES, hex, &first) < 0) {
		fact_none(facts, digest, FACT_UNSUPPORTED);
		fact_none(facts, source, FACT_UNSUPPORTED);
		return;
	}
	if (!is_packed &&
	    (!*release || strchr(release, '/') || fd_read_file(root, path, CONFIG_BYTES, &plain, &second) < 0)) {
		/* That the one is not built into the kernel is no news where the other may not be read. */
		enum fact_reason reason = fact_reason_of(first);

		if (reason == FACT_ABSENT && second)
			reason = fact_reason_of(second);
		fact_none(facts, digest, reason);
		fact_none(facts, source, reason);
		return;
	}
	if (!is_packed)
		hash_bytes(plain.data, plain.length, hex);
	fact_text(facts, digest, hex);
	fact_text(facts, source, is_packed ? "proc" : "boot");
}

static bool is_flag(const char *word, size_t length)
{
	size_t name = strcspn(word, "= \n");

	for (const char *const *flag = flags; *flag; flag++)
		if (strlen(*flag) == name && memcmp(*flag, word, name) == 0)
			return length <= FACT_TEXT_MAX && strspn(word, FLAG_BYTES) >= length;
	return false;
}

static void put_command_line(struct facts *facts, int root)
{
	static const char digest[] = "kernel.cmdlineSha256", list[] = "kernel.cmdlineFlags";
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES), kept = BUF(PROC_FILE_BYTES + 1);
	cleanup_error struct error *why = NULL;
	char hex[HEX_SHA256];

	if (fd_read_file(root, "proc/cmdline", PROC_FILE_BYTES, &text, &why) < 0) {
		fact_none(facts, digest, fact_reason_of(why));
		fact_none(facts, list, fact_reason_of(why));
		return;
	}
	hash_bytes(buf_string(&text), text.length, hex);
	fact_text(facts, digest, hex);
	buf_text(&kept, "");
	for (const char *at = buf_string(&text); *at;) {
		size_t length = strcspn(at, " \n");

		if (length == 2 && memcmp(at, "--", 2) == 0) /* the rest is for the first process */
			break;
		if (is_flag(at, length)) {
			buf_add(&kept, at, length);
			buf_text(&kept, " ");
		}
		at += length;
		at += strspn(at, " \n");
	}
	fact_words(facts, list, buf_string(&kept), " ");
}

static void put_core_pattern(struct facts *facts)
{
	static const char field[] = "sysctl.corePatternClass";
	cleanup_error struct error *why = NULL;
	enum core_class pattern = CORE_EMPTY;

	if (core_pattern_read(&pattern, &why) < 0)
		fact_none(facts, field, fact_reason_of(why));
	else
		fact_text(facts, field, core_class_names[pattern]);
	fact_flag(facts, "sysctl.corePatternRelative", preflight_core_relative());
}

static void put_cgroup(struct facts *facts, int root)
{
	static const char field[] = "cgroup.version";
	cleanup_fd int folder = openat(root, "sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs status;

	if (folder < 0 || fstatfs(folder, &status) < 0)
		fact_none(facts, field, fact_reason_of_errno(errno));
	else if (status.f_type == CGROUP2_MAGIC)
		fact_count(facts, field, 2);
	else if (status.f_type == TMPFS_MAGIC)
		fact_count(facts, field, 1);
	else
		fact_none(facts, field, status.f_type == SYSFS_MAGIC ? FACT_ABSENT : FACT_UNSUPPORTED);
}

static void put_list(struct facts *facts, const char *field, int root, const char *path, const char *separators)
{
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES);

	if (fact_read(facts, field, root, path, &text))
		fact_words(facts, field, text.data, separators);
}

void facts_kernel(struct facts *facts, int root)
{
	struct utsname host;

	memset(&host, 0, sizeof(host));
	(void)uname(&host);
	fact_text(facts, "kernel.name", host.sysname);
	fact_text(facts, "kernel.release", host.release);
	fact_text(facts, "kernel.version", host.version);
	fact_text(facts, "kernel.machine", host.machine);
	put_build_id(facts, root);
	put_config(facts, root, host.release);
	put_command_line(facts, root);
	put_core_pattern(facts);
	for (size_t i = 0; number_facts[i].field; i++)
		put_number(facts, number_facts[i].field, root, number_facts[i].path);
	put_list(facts, "lsm.list", root, "sys/kernel/security/lsm", ",");
	put_list(facts, "seccomp.actions", root, "proc/sys/kernel/seccomp/actions_avail", " ");
	put_cgroup(facts, root);
}

static const struct number_fact number_facts[] = {
	{ "kernel.tainted", "proc/sys/kernel/tainted" },
	{ "sysctl.coreUsesPid", "proc/sys/kernel/core_uses_pid" },
	{ "sysctl.suidDumpable", "proc/sys/fs/suid_dumpable" },
	{ "sysctl.randomizeVaSpace", "proc/sys/kernel/randomize_va_space" },
	{ "sysctl.ptraceScope", "proc/sys/kernel/yama/ptrace_scope" },
	{ "sysctl.unprivilegedUsernsClone", "proc/sys/kernel/unprivileged_userns_clone" },
	{ "sysctl.maxUserNamespaces", "proc/sys/user/max_user_namespaces" },
	{ "sysctl.unprivilegedBpfDisabled", "proc/sys/kernel/unprivileged_bpf_disabled" },
	{ "sysctl.ipv6Disabled", "proc/sys/net/ipv6/conf/all/disable_ipv6" },
	{ "sysctl.ipv6BindOnly", "proc/sys/net/ipv6/bindv6only" },
	{ .field = NULL },
};

static const char *const flags[] = {
	"apparmor",
	"audit",
	"cgroup_disable",
	"cgroup_enable",
	"cgroup_no_v1",
	"init_on_alloc",
	"init_on_free",
	"ipv6.disable",
	"kpti",
	"lockdown",
	"lsm",
	"mitigations",
	"nokaslr",
	"nopti",
	"nosmap",
	"nosmep",
	"nosmt",
	"pti",
	"security",
	"selinux",
	"slab_nomerge",
	"swapaccount",
	"systemd.legacy_systemd_cgroup_controller",
	"systemd.unified_cgroup_hierarchy",
	"vsyscall",
	NULL,
};
