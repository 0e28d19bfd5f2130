/* What watching a session is made of; for adapter/session_watch*.c and their tests alone. */
#ifndef HARNESS_ADAPTER_SESSION_WATCH_PARTS_H
#define HARNESS_ADAPTER_SESSION_WATCH_PARTS_H

#include "adapter/session.h"

#define WATCH_FIELDS_MAX 192
#define WATCH_FIELD_BYTES 128
#define WATCH_INTERFACES_MAX 64

static inline unsigned watch_bit(enum watch_kind kind)
{
	return 1U << kind;
}

/* ---- events: pure ---- */

/* What the events so far have told. */
struct watch_told {
	bool started;
	unsigned attaches;
	int64_t attached; /* the engine's time of the session's own, ns */
};

/* Takes one event, a JSON object. `container` is whose changes count. Returns the kind of change, or WATCH_KINDS for
 * none: an own attach, what the start itself does, another container's. What cannot be read is WATCH_EVENTS_LOST. */
enum watch_kind watch_take_event(struct watch_told *told, const char *container, const char *line, size_t length);

/* ---- inspection: pure ---- */

struct watch_field {
	char name[WATCH_FIELD_BYTES];
	char sha256[HEX_SHA256];
};

/* What was admitted. */
struct watch_admitted {
	struct watch_field fields[WATCH_FIELDS_MAX];
	size_t count;
	char name[ID_MAX + 2];
	int64_t pid, restarts;
};

int watch_admit(const struct json_node *inspect, struct watch_admitted *out, struct error **err) MUST_CHECK;
/* The kinds of change between what was admitted and what the engine says now, as bits. */
unsigned watch_compare(const struct watch_admitted *admitted, const struct json_node *inspect);

/* ---- links ---- */

struct watch_links {
	int fd; /* rtnetlink, in the container's network namespace; -1: none */
	unsigned known[WATCH_INTERFACES_MAX];
	size_t count;
};

/* Opens it in the namespace, with what is there now known. */
int watch_links_open(int netns, struct watch_links *links, struct error **err) MUST_CHECK;
/* Whether an interface came or went since. Events that were lost are a change. Does not wait. */
bool watch_links_changed(struct watch_links *links);

/* ---- session.c ---- */

/* The documents of the declared half, with `inspect` as what the engine says now. */
struct admission_declared session_declared(const struct session *session, const struct json_node *inspect);
/* Whether the declared half refuses exactly what the session's options say that it must. */
bool session_declared_holds(const struct session *session, const struct json_node *inspect);

#endif
