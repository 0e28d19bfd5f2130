/*
 * What a call through a gateway costs: our harness-gateway and the real cMCP, both over HTTP with a token, each before
 * a recorder of its own, the same calls in turn, and beside them what the disk asks for. Needs no engine.
 */
#ifndef HARNESS_TESTS_BENCH_GATEWAY_H
#define HARNESS_TESTS_BENCH_GATEWAY_H

#include "runner/arm.h"
#include "tests/bench/bench.h"

#define CALLERS 8
#define CALLS_IN_TURN 10 /* cMCP permits no more in a session */
#define SIDE_SAMPLES 8000
#define SESSION_ID_BYTES 64

enum side_kind { SIDE_OURS, SIDE_PLAIN, SIDE_CMCP, SIDES };

/* Of one way to call: from one caller, or from CALLERS in parallel. */
struct side_times {
	int64_t each[SIDE_SAMPLES]; /* ns, from the first byte of the request to the last one of the answer */
	size_t count;
	int64_t wall, cpu; /* ns, of all of them */
};

/* A caller's connection, which is kept. */
struct caller {
	int fd;
	int64_t sent; /* when, or 0: nothing is awaited */
	struct buf in;
};

/* A gateway that runs, with its own folder. */
struct side {
	enum side_kind kind;
	char folder[PATH_MAX];
	struct child child; /* but of SIDE_CMCP */
	struct arm *arm; /* SIDE_CMCP: what the runner composes and starts it by */
	uint16_t port;
	char token[GATEWAY_TOKEN_BYTES], session[SESSION_ID_BYTES];
	struct caller callers[CALLERS];
	struct memory tree; /* its processes, once it was called */
	struct side_times one, many;
};

/* ---- bench_side.c ---- */

/* One that was not started. */
void side_none(struct side *out);
/* Whether ci/cmcp installed it. */
bool side_has_cmcp(void);
/* Starts one in a fresh folder `name` below `parent`; *ready is the time from before its files are written until it
 * takes a connection. side_end() afterwards, on error too. */
int side_start(enum side_kind kind, const char *parent, const char *name, struct side *out, int64_t *ready,
	       struct error **err) MUST_CHECK;
/* CPU time that its processes took so far, in ns. */
int side_cpu(const struct side *side, int64_t *out, struct error **err) MUST_CHECK;
void side_end(struct side *side);

/* ---- bench_load.c ---- */

/* Connects the callers, and makes the first call, which starts the upstream. */
int load_open(struct side *side, struct error **err) MUST_CHECK;
void load_close(struct side *side);
/* `calls` permitted calls from the first `callers`, each of which waits for its answer before its next one. */
int load_calls(struct side *side, size_t callers, size_t calls, struct side_times *out, struct error **err) MUST_CHECK;
/* A new session where the calls of one are bounded, so that there may be more; counted nowhere. */
int load_reset(struct side *side, struct error **err) MUST_CHECK;

/* ---- bench_floor.c ---- */

/* One row of an audit entry's size, committed and synced; then one committed alone. */
struct floor_times {
	int64_t synced[SIDE_SAMPLES], committed[SIDE_SAMPLES];
	size_t count;
};
struct floor_store;
int floor_open(const char *folder, struct floor_store **out, struct error **err) MUST_CHECK;
int floor_calls(struct floor_store *store, size_t calls, struct floor_times *out, struct error **err) MUST_CHECK;
void floor_close(struct floor_store *store);

#endif
