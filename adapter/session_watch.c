#include "adapter/session_watch_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/engine.h"
#include "adapter/preflight.h"
#include "core/clock.h"
#include "core/fd.h"

#define EVENTS_BYTES (1 * MIB) /* that came since the last step */
#define EVENT_BYTES (64 * KIB)
/* The engine's clock is ours; this is for the time that lies between the creation and its event. */
#define SINCE_NS (1 * NS_PER_S)

struct session_watch {
	bool armed;
	struct engine_request *listening, *inspecting;
	struct buf events;
	bool overflow; /* more than fits there came */
	struct watch_told told;
	struct watch_links links;
	struct watch_admitted admitted;
	struct buf last; /* the answer that was compared last, as it came */
	int64_t next; /* inspection and core pattern */
};

static int take_bytes(void *context, const void *bytes, size_t length, struct error **err)
{
	struct session_watch *watch = context;

	(void)err;
	watch->overflow = buf_add(&watch->events, bytes, length) < 0 || watch->overflow;
	return 0;
}

int session_watch_open(struct session *session, struct error **err)
{
	/* No filter by container: it would hide what happens to its networks. */
	static const char filters[] = "{\"type\":[\"container\",\"network\"]}";
	const struct session_limits *limits = &session->options->limits;
	struct session_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return error_set(err, ERROR_MEMORY, "no memory for watching the session");
	watch->events = (struct buf)BUF(EVENTS_BYTES);
	watch->last = (struct buf)BUF(ENGINE_ANSWER_BYTES);
	watch->links.fd = -1;
	session->watch = watch;
	return engine_events_begin(session->engine, clock_realtime() - SINCE_NS, filters,
				   clock_deadline(2 * (ENGINE_START_MS + limits->session_ms)), take_bytes, watch,
				   &watch->listening, err);
}

static bool shares_our_network(int netns)
{
	cleanup_fd int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd_same(own, netns);
}

int session_watch_links(struct session *session, struct error **err)
{
	if (!session->watch || shares_our_network(session->netns))
		return 0;
	return watch_links_open(session->netns, &session->watch->links, err);
}

/* ---- what is seen ---- */

static bool watched(const struct session *session, enum watch_kind kind)
{
	return kind >= WATCH_ALWAYS || !(session->options->watch_off & watch_bit(kind));
}

/* The first change stays. */
static void trip(struct session *session, enum watch_kind kind)
{
	if (kind == WATCH_KINDS || session->changed || !watched(session, kind))
		return;
	session_kill(session);
	session->changed = true;
	session->change = kind;
	session->changed_at = clock_now();
}

static void trip_any(struct session *session, unsigned changes)
{
	for (int kind = 0; kind < WATCH_KINDS; kind++)
		if (changes & watch_bit((enum watch_kind)kind))
			trip(session, (enum watch_kind)kind);
}

static void look_at_links(struct session *session)
{
	if (watch_links_changed(&session->watch->links))
		trip(session, WATCH_INTERFACE);
}

static void look_at_events(struct session *session)
{
	struct session_watch *watch = session->watch;
	const char *end;

	while ((end = memchr(buf_string(&watch->events), '\n', watch->events.length)) != NULL) {
		size_t length = (size_t)(end - buf_string(&watch->events));

		if (length > 0)
			trip(session,
			     watch_take_event(&watch->told, session->container, buf_string(&watch->events), length));
		buf_consume(&watch->events, length + 1);
	}
	if (watch->overflow || watch->events.length > EVENT_BYTES)
		trip(session, WATCH_EVENTS_LOST);
	if (!watch->listening || engine_done(watch->listening)) {
		/* A request that is done would keep the engine's other requests from waiting. */
		engine_cancel(session->engine, steal_pointer(&watch->listening));
		trip(session, WATCH_EVENTS_LOST);
	}
}

static void compare(struct session *session, const struct buf *answer)
{
	struct session_watch *watch = session->watch;
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *unread = NULL;
	unsigned changes = watch_bit(WATCH_INSPECT);

	if (answer->length == watch->last.length && memcmp(answer->data, watch->last.data, answer->length) == 0)
		return;
	if (json_parse(buf_string(answer), answer->length, JSON_ENGINE_DEPTH, &document, &unread) == 0) {
		const struct json_node *inspect = json_root(document);

		changes = watch_compare(&watch->admitted, inspect);
		/* A change of a kind that is not watched may well be one that the rules refuse. */
		if (!changes && !session_declared_holds(session, inspect))
			changes = watch_bit(WATCH_INSPECT);
	}
	trip_any(session, changes);
	buf_consume(&watch->last, watch->last.length);
	(void)buf_add(&watch->last, answer->data, answer->length);
}

static void look_at_answer(struct session *session)
{
	struct session_watch *watch = session->watch;
	cleanup_result struct engine_result result = { .status = 0 };
	cleanup_error struct error *failed = NULL;

	if (!watch->inspecting || !engine_done(watch->inspecting))
		return;
	if (engine_finish(session->engine, steal_pointer(&watch->inspecting), &result, &failed) < 0 || !result.found)
		trip(session, WATCH_INSPECT);
	else
		compare(session, &result.body);
}

static void look_at_core_pattern(struct session *session)
{
	cleanup_error struct error *unread = NULL;
	enum core_class pattern = CORE_EMPTY;

	if (core_pattern_read(&pattern, &unread) < 0 || pattern != CORE_FILE)
		trip(session, WATCH_CORE_PATTERN);
}

static int look_again(struct session *session, struct error **err)
{
	struct session_watch *watch = session->watch;

	if (clock_now() < watch->next)
		return 0;
	watch->next = clock_deadline(WATCH_PERIOD_MS);
	look_at_core_pattern(session);
	/* One that is under way ends by its own deadline. */
	return watch->inspecting || session->changed
		       ? 0
		       : engine_inspect_begin(session->engine, session->container, clock_deadline(WATCH_ANSWER_MS),
					      &watch->inspecting, err);
}

/* ---- the steps ---- */

static bool is_dead(const struct session *session)
{
	cleanup_error struct error *ignored = NULL;

	return session->pidfd < 0 || fd_wait(session->pidfd, POLLIN, 0, &ignored) != 0;
}

int session_watch_arm(struct session *session, struct error **err)
{
	struct session_watch *watch = session->watch;

	if (!watch)
		return error_set(err, ERROR_INTERNAL, "the session's events were not opened");
	if (watch_admit(json_root(session->inspect), &watch->admitted, err) < 0 ||
	    engine_pump(session->engine, err) < 0)
		return -1;
	watch->armed = true;
	watch->next = clock_now();
	look_at_links(session);
	look_at_events(session);
	if (session->changed)
		return error_set(err, ERROR_REFUSED, "the container cannot be watched, or was changed already: %s",
				 watch_kind_names[session->change]);
	return 0;
}

int session_watch_step(struct session *session, struct error **err)
{
	struct session_watch *watch = session->watch;

	if (!watch || !watch->armed || session->changed || is_dead(session))
		return 0;
	look_at_links(session);
	if (engine_pump(session->engine, err) < 0)
		return -1;
	look_at_events(session);
	look_at_answer(session);
	return look_again(session, err);
}

int64_t session_watch_due(const struct session *session)
{
	const struct session_watch *watch = session->watch;

	return watch && watch->armed && !session->changed ? watch->next : NEVER;
}

size_t session_watch_descriptors(const struct session *session, struct pollfd *out, size_t max)
{
	const struct session_watch *watch = session->watch;
	size_t count = 0;

	if (!watch || !watch->armed || session->changed)
		return 0;
	if (watch->links.fd >= 0 && count < max)
		out[count++] = (struct pollfd){ .fd = watch->links.fd, .events = POLLIN };
	return count + engine_descriptors(session->engine, out + count, max - count);
}

void session_watch_close(struct session *session)
{
	struct session_watch *watch = steal_pointer(&session->watch);

	if (!watch)
		return;
	engine_cancel(session->engine, watch->listening);
	engine_cancel(session->engine, watch->inspecting);
	fd_close(&watch->links.fd);
	buf_free(&watch->events);
	buf_free(&watch->last);
	free(watch);
}

const char *const watch_kind_names[] = {
	[WATCH_NETWORK] = "watch-network",
	[WATCH_UPDATE] = "watch-update",
	[WATCH_EXEC] = "watch-exec",
	[WATCH_ATTACH] = "watch-attach",
	[WATCH_RENAME] = "watch-rename",
	[WATCH_INTERFACE] = "watch-interface",
	[WATCH_CORE_PATTERN] = "watch-core-pattern",
	[WATCH_INSPECT] = "watch-inspect",
	[WATCH_EVENTS_LOST] = "watch-events-lost",
	NULL,
};
