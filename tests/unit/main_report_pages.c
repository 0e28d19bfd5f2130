/* main_report_pages FOLDER: report.html and ctrf.json of runs that were made up, for tests with browsers and
 * validators: one that passed, one in which everything went wrong that can, one in which nothing is established. */
#include <fcntl.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/ctrf.h"
#include "reports/html.h"
#include "tests/unit/declaration_world.h"
#include "tests/unit/findings_world.h"

#define TEXT_BYTES ((size_t)16 * MIB)

static void live(struct world *world)
{
	static const struct {
		const char *name, *subject;
		int64_t ms;
	} events[] = {
		{ "created", "", 20 },          { "attached", "", 21 },
		{ "ready", "", 150 },           { "started", "", 260 },
		{ "admitted", "", 264 },        { "armed", "", 266 },
		{ "first-frame", "", 270 },     { "delivered", "permitted", 290 },
		{ "part-lost", "bridge", 300 }, { "dead", "", 420 },
		{ "ended", "stream-end", 421 }, { "removed", "", 560 },
	};

	for (size_t a = 0; a < world->arms_count; a++) {
		struct arm_record *record = &world->arms[a];

		record->duration_ns = 561 * NS_PER_MS;
		for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
			struct arm_event *event = &record->events[record->events_count++];

			set(event->name, sizeof(event->name), events[i].name);
			set(event->subject, sizeof(event->subject), events[i].subject);
			event->at_ns = events[i].ms * NS_PER_MS;
		}
	}
}

static void well(struct world *world)
{
	(void)world;
}

static void badly(struct world *world)
{
	struct observation *lost = see(world, "baseline", "tcp4", "tcp4");
	struct arm_record *broken = record_of(world, "lifecycle/bridge-killed");

	lost->dropped = 17;
	lost->reason = OBSERVATION_REASON_DROPPED;
	see(world, "baseline", "dns", "dns")->value = 3;
	see(world, "baseline", "permitted", "deliveries")->value = 0;
	forget(world, see(world, "baseline-again", "restarts", "state"));
	see(world, "mutation/read-only", "file", "files-archive")->value = 0;
	stray(world, see(world, "baseline", "dns", "dns"), "file", 2);
	broken->status = ARM_TIMEOUT;
	set(broken->reason, sizeof(broken->reason), "session-limit");
}

static void changed(struct world *world)
{
	world->environment_changed = true;
}

static void bypassed(struct world *world)
{
	see(world, "effects/order-create", "order-http", "orders")->value = 1;
}

struct page {
	const char *name;
	void (*plant)(struct world *world);
	const char *lacks; /* of the host, or NULL */
	bool orders; /* the run took the paths of what is declared */
};
static const struct page pages[];

static int put(int folder, const char *name, const char *end, const struct buf *text, struct error **err)
{
	char path[64];

	snprintf(path, sizeof(path), "%s.%s", name, end);
	return fd_write_atomic(folder, path, text->data, text->length, 0644, err);
}

static int write_page(int folder, const struct page *page, struct error **err)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf html = BUF(TEXT_BYTES), ctrf = BUF(TEXT_BYTES);
	cleanup_free struct effect *effects = NULL;
	const char *const missing[] = { page->lacks, NULL };
	struct manifest_facts facts;
	struct findings findings;
	size_t count = 0;
	int result;

	if (page->orders ? !declared_make(&world, "effects", &effects, &count)
			 : !world_make(&world, "all", 2, missing) || declared_load(&effects, &count, err) < 0)
		return error_set(err, ERROR_INTERNAL, "no world");
	live(&world);
	page->plant(&world);
	findings = world_findings(&world, &facts);
	findings.effects = effects;
	findings.effects_count = count;
	result = html_encode(&findings, &html, err);
	if (result >= 0)
		result = ctrf_encode(&findings, &ctrf, err);
	if (result >= 0)
		result = put(folder, page->name, "html", &html, err);
	return result < 0 ? result : put(folder, page->name, "json", &ctrf, err);
}

int main(int argc, char **argv)
{
	cleanup_fd int folder = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	cleanup_error struct error *err = NULL;

	if (folder < 0) {
		fprintf(stderr, "usage: main_report_pages FOLDER\n");
		return 4;
	}
	for (const struct page *page = pages; page->name; page++)
		if (write_page(folder, page, &err) < 0) {
			fprintf(stderr, "%s: %s\n", page->name, error_text(err));
			return 1;
		}
	return 0;
}

static const struct page pages[] = {
	{ .name = "pass", .plant = well },
	{ .name = "fail", .plant = badly, .lacks = "ipv6-loopback" },
	{ .name = "not-established", .plant = changed },
	{ .name = "claims", .plant = bypassed, .orders = true },
	{ .name = NULL },
};
