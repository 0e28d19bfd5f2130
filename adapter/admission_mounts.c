/* The kernel's list of mounts: its reading, and the rules over it. */
#include <string.h>

#include "adapter/admission_rules.h"

#define DEV "/dev"
#define PROC "/proc"

/* What may be mounted so that it can be written: file systems of the kernel's own, which end with the container. */
struct writable {
	const char *point;
	const char *type;
	bool always; /* there in each container */
};
enum { WRITABLE = 6 };
static const struct writable writable[WRITABLE];

bool mount_next(const char **rest, struct mount_line *out, bool *known)
{
	struct text line, word = { "", 0 };

	*out = (struct mount_line){ .options = { "", 0 } };
	*known = false;
	if (!text_line(rest, &line))
		return false;
	/* "ID PARENT DEVICE ROOT POINT OPTIONS [OPTIONAL...] - TYPE SOURCE SUPER" */
	if (!text_word(&line, &word) || !text_word(&line, &word) || !text_word(&line, &out->device) ||
	    !text_word(&line, &out->root) || !text_word(&line, &out->point) || !text_word(&line, &out->options))
		return true;
	do {
		if (!text_word(&line, &word))
			return true;
	} while (!text_is(word, "-"));
	*known = text_word(&line, &out->type);
	return true;
}

bool mount_read_only(const struct mount_line *mount)
{
	const struct text *options = &mount->options;

	return options->length >= 2 && memcmp(options->bytes, "ro", 2) == 0 &&
	       (options->length == 2 || options->bytes[2] == ',');
}

static bool same(struct text one, struct text other)
{
	return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

static bool below(struct text path, const char *folder)
{
	size_t length = strlen(folder);

	return path.length > length && memcmp(path.bytes, folder, length) == 0 && path.bytes[length] == '/';
}

/* A file of /proc or /sys that the runtime hides behind the container's own /dev/null: what is written is gone. */
static bool masks(const struct mount_line *mount, struct text dev)
{
	return text_is(mount->root, "/null") && dev.length > 0 && same(mount->device, dev) &&
	       (below(mount->point, PROC) || below(mount->point, "/sys"));
}

/* The row that this mount is, or WRITABLE. */
static size_t listed(const struct mount_line *mount)
{
	size_t row = 0;

	while (row < WRITABLE && !(text_is(mount->point, writable[row].point) &&
				   text_is(mount->type, writable[row].type) && text_is(mount->root, "/")))
		row++;
	return row;
}

bool effective_mounts(const struct admission_effective *files, const struct admission_rule *rule)
{
	bool seen[WRITABLE] = { false }, root = false, known;
	const char *rest = files->mountinfo;
	struct text dev = { "", 0 };
	struct mount_line mount;

	(void)rule;
	while (mount_next(&rest, &mount, &known)) {
		size_t row;

		if (!known)
			return false;
		root = root || text_is(mount.point, "/");
		if (mount_read_only(&mount))
			continue;
		row = listed(&mount);
		if (row == WRITABLE && masks(&mount, dev))
			continue;
		/* A second one at the same place is another than the runtime's. */
		if (row == WRITABLE || seen[row])
			return false;
		seen[row] = true;
		if (text_is(mount.point, DEV))
			dev = mount.device;
	}
	for (size_t row = 0; row < WRITABLE; row++)
		if (writable[row].always && !seen[row])
			return false;
	return root;
}

bool effective_read_only_mount(const struct admission_effective *files, const struct admission_rule *rule)
{
	const char *rest = files->mountinfo;
	struct mount_line mount;
	bool found = false, known;

	while (mount_next(&rest, &mount, &known))
		if (known && text_is(mount.point, rule->text))
			found = mount_read_only(&mount);
	return found;
}

static const struct writable writable[WRITABLE] = {
	{ .point = PROC, .type = "proc", .always = true },
	{ .point = DEV, .type = "tmpfs", .always = true },
	{ .point = "/dev/pts", .type = "devpts", .always = true },
	{ .point = "/dev/mqueue", .type = "mqueue", .always = true },
	{ .point = "/dev/shm", .type = "tmpfs", .always = true },
	/* cgroup version 1 alone: the folder of its hierarchies, each of which is read-only. */
	{ .point = "/sys/fs/cgroup", .type = "tmpfs" },
};
