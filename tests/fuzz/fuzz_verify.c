/*
 * A whole bundle: a kept one of which one member is other bytes, in a plain archive. The first byte says which member.
 * No hash is made again, so verify refuses all that is not the same; what it reads on the way stands.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "core/fd.h"
#include "reports/verify_parts.h"
#include "tests/fuzz/fuzz.h"

#define BASE "tests/data/bundles/format-1.1-harness-" HARNESS_VERSION ".tar.gz"

struct base {
	struct buf members[MEMBERS];
	bool present[MEMBERS];
	int current;
};

static int on_member(void *context, const char *name, uint64_t size, struct error **err)
{
	struct base *base = context;

	(void)size;
	(void)err;
	base->current = member_find(name);
	FUZZ_HOLDS(base->current >= 0);
	base->present[base->current] = true;
	return 0;
}

static int on_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct base *base = context;

	(void)err;
	return buf_add(&base->members[base->current], bytes, length);
}

static int on_end(void *context, struct error **err)
{
	(void)context;
	(void)err;
	return 0;
}

static void read_base(struct base *base)
{
	static const struct ustar_visitor visitor = { .member = on_member, .data = on_data, .end = on_end };
	cleanup_fd int fd = open(BASE, O_RDONLY | O_CLOEXEC);
	struct error *err = NULL;

	for (int i = 0; i < MEMBERS; i++)
		base->members[i] = (struct buf)BUF(BUNDLE_FILE_BYTES);
	FUZZ_HOLDS(fd >= 0 && ustar_read(fd, &bundle_limits, &visitor, base, &err) == 0);
}

static int write_out(void *context, const void *bytes, size_t length, struct error **err)
{
	(void)err;
	FUZZ_HOLDS(write(*(int *)context, bytes, length) == (ssize_t)length);
	return 0;
}

static void write_plain(const struct base *base, int fd)
{
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	struct error *err = NULL;

	FUZZ_HOLDS(ustar_writer_new(false, write_out, &fd, &writer, &err) == 0);
	for (int i = 0; i < MEMBERS; i++) {
		const struct buf *text = &base->members[i];
		char name[USTAR_NAME_MAX + 1];

		if (!base->present[i])
			continue;
		snprintf(name, sizeof(name), BUNDLE_TOP "/%s", member_kinds[i].name);
		FUZZ_HOLDS(ustar_writer_member(writer, name, '0', 0644, text->length, &err) == 0 &&
			   ustar_writer_data(writer, buf_string(text), text->length, &err) == 0);
	}
	FUZZ_HOLDS(ustar_writer_finish(writer, &err) == 0);
}

static void verify(int fd, bool same)
{
	const struct verify_options options = { .require_signature = false };
	cleanup_free struct bundle *bundle = calloc(1, sizeof(*bundle));
	struct verify_report report;
	struct error *err = NULL;
	bool failed = false;

	FUZZ_HOLDS(bundle);
	bundle->plain = true;
	FUZZ_HOLDS(bundle_verify(fd, &options, bundle, &report, &err) == 0 && !err);
	for (size_t i = 0; i < report.count; i++) {
		failed |= report.checks[i].result == CHECK_FAIL;
		FUZZ_HOLDS(report.checks[i].reason[strspn(report.checks[i].reason, " !\"#$%&'()*+,-./0123456789:;<=>?@"
										   "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
										   "abcdefghijklmnopqrstuvwxyz{|}~")] ==
			   '\0');
	}
	FUZZ_HOLDS(report.count > 0 && (failed ? report.exit_code == 1 : same));
	bundle_close(bundle);
}

FUZZ_TARGET(verify)
{
	cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct base base = { .current = -1 };
	int member = size > 0 ? bytes[0] : 0;
	bool same;

	if (member >= MEMBERS)
		return;
	read_base(&base);
	FUZZ_HOLDS(fd >= 0);
	same = size == 0 || (base.present[member] && base.members[member].length == size - 1 &&
			     (size == 1 || memcmp(buf_string(&base.members[member]), bytes + 1, size - 1) == 0));
	if (size > 0) {
		base.present[member] = true;
		base.members[member].length = 0;
		FUZZ_HOLDS(buf_add(&base.members[member], bytes + 1, size - 1) == 0);
	}
	write_plain(&base, fd);
	FUZZ_HOLDS(lseek(fd, 0, SEEK_SET) == 0);
	verify(fd, same);
	for (int i = 0; i < MEMBERS; i++)
		buf_free(&base.members[i]);
}
