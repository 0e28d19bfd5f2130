/*
 * A session stays watched from its creation to its end: by the engine's events about its container, by inspection again
 * and again, by the links of its network namespace, and by the host's core pattern. A change that nobody may make kills
 * the process at once, by its pidfd, and keeps its kind.
 *
 * Whoever drives the session calls session_watch_step() whenever one of the descriptors is ready, and at the latest
 * when it is due.
 */
#ifndef HARNESS_ADAPTER_SESSION_WATCH_H
#define HARNESS_ADAPTER_SESSION_WATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* Kinds of change. One change may be seen in several ways: each way asks whether its kind is watched. */
enum watch_kind {
	WATCH_NETWORK, /* connected to a network, or disconnected: an engine allows the first only after the second */
	WATCH_UPDATE, /* its limits or restart policy */
	WATCH_EXEC, /* another command in it */
	WATCH_ATTACH, /* another client at its streams */
	WATCH_RENAME,
	WATCH_INTERFACE, /* in its network namespace, from wherever it came */
	WATCH_CORE_PATTERN, /* the host's is no file pattern any more */
	WATCH_ALWAYS, /* from here on they cannot be switched off */
	WATCH_INSPECT = WATCH_ALWAYS, /* another difference to what was admitted, or no answer */
	WATCH_EVENTS_LOST,
	WATCH_KINDS,
};
extern const char *const watch_kind_names[]; /* "watch-network"; NULL-terminated, index = kind */

/* Events, inspections and readings of the core pattern are at most this far apart. */
#define WATCH_PERIOD_MS 80
/* An engine that does not answer an inspection for so long does not let the session be watched. */
#define WATCH_ANSWER_MS 5000
#define WATCH_DESCRIPTORS 8

struct session;

/* After the creation and before the attach: the engine's events are opened. */
int session_watch_open(struct session *session, struct error **err) MUST_CHECK;
/* From here on links are watched; before the effective half of admission reads the interfaces. Not where the container
 * shares our network namespace. */
int session_watch_links(struct session *session, struct error **err) MUST_CHECK;
/* After the last admission: from now on a change kills. One that came before is ERROR_REFUSED. */
int session_watch_arm(struct session *session, struct error **err) MUST_CHECK;
/* Looks at what is there, without waiting, and kills at a change. Nothing before session_watch_arm(), and nothing once
 * the process is dead or a change was found. */
int session_watch_step(struct session *session, struct error **err) MUST_CHECK;
/* When the next step is due; NEVER when nothing is watched. */
int64_t session_watch_due(const struct session *session);
/* What to poll() for until then; they hold until the next step, or the next use of the engine. */
size_t session_watch_descriptors(const struct session *session, struct pollfd *out, size_t max);
/* Ends it; session->change stays. Idempotent. */
void session_watch_close(struct session *session);

#endif
