/* The machine: its processors and their known faults, and its clock. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/schema.h"
#include "runner/environment_facts.h"

#define SYS_FILE_BYTES ((size_t)4 * KIB)
#define CPUINFO_BYTES ((size_t)8 * MIB)
#define CPUS_MAX 65536
#define FAULTS_MAX 64
#define FAULT_NAME_MAX 48
#define FAULTS "sys/devices/system/cpu/vulnerabilities"

/* A line of /proc/cpuinfo, of the first processor. */
static const struct {
	const char *field, *key;
} cpu_facts[] = {
	{ "cpu.vendor", "vendor_id" },
	{ "cpu.model", "model name" },
	{ "cpu.microcode", "microcode" },
};

/* How the kernel's word on a fault begins, and what it is called in a bundle. */
static const struct {
	const char *begins, *name;
} fault_classes[] = {
	{ "Not affected", "not-affected" },
	{ "Mitigation", "mitigation" },
	{ "Vulnerable", "vulnerable" },
	{ "Unknown", "unknown" },
};

/* The value behind `key` and a colon, within the first processor's lines; false when there is none. */
static bool cpu_line(const char *text, const char *key, const char **value, size_t *length)
{
	size_t key_length = strlen(key);

	for (const char *line = text; *line && *line != '\n'; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t blank;

		if (strncmp(line, key, key_length) != 0)
			continue;
		blank = strspn(line + key_length, " \t");
		if (line[key_length + blank] != ':')
			continue;
		*value = line + key_length + blank + 1;
		*value += strspn(*value, " \t");
		*length = strcspn(*value, "\n");
		return true;
	}
	return false;
}

static void put_cpu_text(struct facts *facts, const char *field, const char *text, const char *key)
{
	char copy[FACT_TEXT_MAX + 1];
	const char *value;
	size_t length;

	if (!cpu_line(text, key, &value, &length)) {
		fact_none(facts, field, FACT_ABSENT);
	} else if (length > FACT_TEXT_MAX) {
		fact_none(facts, field, FACT_UNSUPPORTED);
	} else {
		memcpy(copy, value, length);
		copy[length] = '\0';
		fact_text(facts, field, copy);
	}
}

/* A virtual machine's processor says so. Only some architectures have the line. */
static void put_virtualised(struct facts *facts, const char *text)
{
	static const char field[] = "cpu.virtualised", word[] = "hypervisor";
	const char *value, *end;
	bool found = false;
	size_t length;

	if (!cpu_line(text, "flags", &value, &length)) {
		fact_none(facts, field, FACT_ABSENT);
		return;
	}
	for (end = value + length; value < end && !found; value += strcspn(value, " \n") + 1)
		found = strncmp(value, word, sizeof(word) - 1) == 0 && strchr(" \n", value[sizeof(word) - 1]);
	fact_flag(facts, field, found);
}

static void put_cpu(struct facts *facts, int root)
{
	cleanup_buf struct buf text = BUF(CPUINFO_BYTES);
	cleanup_error struct error *why = NULL;
	bool read = fd_read_file(root, "proc/cpuinfo", CPUINFO_BYTES, &text, &why) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(cpu_facts); i++)
		if (read)
			put_cpu_text(facts, cpu_facts[i].field, buf_string(&text), cpu_facts[i].key);
		else
			fact_none(facts, cpu_facts[i].field, fact_reason_of(why));
	if (read)
		put_virtualised(facts, buf_string(&text));
	else
		fact_none(facts, "cpu.virtualised", fact_reason_of(why));
}

/* "0-3,7": how many; 0 for anything else. */
static int64_t count_cpus(const char *text)
{
	int64_t count = 0;

	while (*text) {
		char *end;
		unsigned long first, last;

		if (*text < '0' || *text > '9')
			return 0;
		first = last = strtoul(text, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= CPUS_MAX || (*end && *end != ','))
			return 0;
		count += (int64_t)(last - first) + 1;
		text = *end ? end + 1 : end;
	}
	return count;
}

static void put_online(struct facts *facts, int root)
{
	static const char field[] = "cpu.online";
	cleanup_buf struct buf text = BUF(SYS_FILE_BYTES);

	if (!fact_read(facts, field, root, "sys/devices/system/cpu/online", &text))
		return;
	if (count_cpus(text.data) > 0)
		fact_count(facts, field, count_cpus(text.data));
	else
		fact_none(facts, field, FACT_UNSUPPORTED);
}

struct faults {
	char names[FAULTS_MAX][FAULT_NAME_MAX];
	size_t count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* 0, or the errno; E2BIG for what no kernel has. */
static int list_faults(DIR *folder, struct faults *out)
{
	const struct dirent *entry;

	out->count = 0;
	for (errno = 0; (entry = readdir(folder)); errno = 0) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		if (length >= FAULT_NAME_MAX || out->count == FAULTS_MAX ||
		    !schema_matches(PATTERN_ID, entry->d_name, length))
			return E2BIG;
		memcpy(out->names[out->count++], entry->d_name, length + 1);
	}
	if (errno)
		return errno;
	qsort(out->names, out->count, sizeof(out->names[0]), by_name);
	return 0;
}

static const char *fault_class(const char *text)
{
	static const char prefix[] = "KVM: ";

	if (strncmp(text, prefix, sizeof(prefix) - 1) == 0)
		text += sizeof(prefix) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(fault_classes); i++)
		if (strncmp(text, fault_classes[i].begins, strlen(fault_classes[i].begins)) == 0)
			return fault_classes[i].name;
	return "other";
}

/* "NAME:CLASS" for each, and all that the kernel says of them as lines "NAME: TEXT", for the digest. */
static int read_faults(int folder, const struct faults *faults, struct buf *list, struct buf *all, struct error **err)
{
	for (size_t i = 0; i < faults->count; i++) {
		cleanup_buf struct buf text = BUF(SYS_FILE_BYTES);

		if (fd_read_file(folder, faults->names[i], SYS_FILE_BYTES, &text, err) < 0)
			return -1;
		buf_printf(list, "%s:%s ", faults->names[i], fault_class(buf_string(&text)));
		buf_printf(all, "%s: %s", faults->names[i], buf_string(&text));
	}
	return 0;
}

static void no_faults(struct facts *facts, enum fact_reason reason)
{
	fact_none(facts, "cpu.vulnerabilities", reason);
	fact_none(facts, "cpu.vulnerabilitiesSha256", reason);
}

static void put_faults(struct facts *facts, int root)
{
	cleanup_fd int fd = openat(root, FAULTS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int again = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *folder = again < 0 ? NULL : fdopendir(again);
	cleanup_buf struct buf list = BUF(FACTS_BYTES), all = BUF(FAULTS_MAX * (SYS_FILE_BYTES + FAULT_NAME_MAX));
	cleanup_error struct error *why = NULL;
	struct faults faults;
	char hex[HEX_SHA256];
	int number;

	if (!folder) {
		no_faults(facts, fact_reason_of_errno(errno));
		return;
	}
	(void)steal_fd(&again); /* the folder's now */
	number = list_faults(folder, &faults);
	if (number || !faults.count) {
		no_faults(facts, number == E2BIG ? FACT_UNSUPPORTED
				 : number        ? fact_reason_of_errno(number)
						 : FACT_ABSENT);
		return;
	}
	if (read_faults(fd, &faults, &list, &all, &why) < 0) {
		no_faults(facts, fact_reason_of(why));
		return;
	}
	hash_bytes(buf_string(&all), all.length, hex);
	fact_words(facts, "cpu.vulnerabilities", buf_string(&list), " ");
	fact_text(facts, "cpu.vulnerabilitiesSha256", hex);
}

/* Nothing is set: a call without modes only reads. */
static void put_synchronised(struct facts *facts)
{
	static const char field[] = "clock.synchronised";
	struct timex clock;

	memset(&clock, 0, sizeof(clock));
	if (adjtimex(&clock) < 0)
		fact_none(facts, field, fact_reason_of_errno(errno));
	else
		fact_flag(facts, field, !(clock.status & STA_UNSYNC));
}

static void put_clock_source(struct facts *facts, int root)
{
	static const char field[] = "clock.source";
	cleanup_buf struct buf text = BUF(SYS_FILE_BYTES);

	if (fact_read(facts, field, root, "sys/devices/system/clocksource/clocksource0/current_clocksource", &text))
		fact_text(facts, field, text.data);
}

void facts_machine(struct facts *facts, int root)
{
	put_cpu(facts, root);
	put_online(facts, root);
	put_faults(facts, root);
	put_clock_source(facts, root);
	put_synchronised(facts);
}
