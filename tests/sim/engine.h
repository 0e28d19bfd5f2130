/*
 * A simulated engine on a Unix socket. It answers every call of adapter/engine.h as a real engine did when its answers
 * were recorded (tests/data/engine, one row a file), unless a script says otherwise. Its container is the real agent as
 * a plain child, with a cgroup of its own and a true process id, whose standard streams are the framed attach stream.
 * Everything runs in one loop: a test's own, or that of tests/sim/main_engine.c.
 *
 * A script is an array of rows, each used once, by the first request that it fits, in the order of the script:
 *
 *     {"expect": {"method": "POST", "path": "/containers/ * /start"}, ...}
 *
 * `path` is the beginning of the target without the version; a star stands for any text (here with blanks around it,
 * which are not written). A row with nothing else lets one request pass. Beside it:
 *
 *     answer    {status, reason, headers, and one of json, lines, text, file}: sent instead, and nothing is done
 *     delay_ms  the request is served that much later
 *     hold      it is never served; the connection stays
 *     cut       it is served, and the connection ends in the middle of the answer
 *     garble    it is served, and the answer's body, or its first line where it has none, is noise
 */
#ifndef HARNESS_TESTS_SIM_ENGINE_H
#define HARNESS_TESTS_SIM_ENGINE_H

#include "core/error.h"
#include "core/loop.h"

#define SIM_DATA "tests/data/engine"

struct sim_options {
	const char *socket; /* where to listen; there is nothing yet */
	const char *agent; /* the program of every container: .../agent */
	const char *data; /* folder of the recorded answers */
	const char *script; /* a file, or NULL */
	int log; /* descriptor that gets one line a request, or -1 */
};

struct sim;

/* Listens. Uses timer slot 0 of the loop, which must outlive it. */
int sim_open(struct loop *loop, const struct sim_options *options, struct sim **out, struct error **err) MUST_CHECK;
/* Ends what runs and removes socket and cgroups. NULL-safe. */
void sim_close(struct sim *sim);
static inline void sim_cleanup(struct sim **sim)
{
	sim_close(*sim);
}
#define cleanup_sim __attribute__((cleanup(sim_cleanup)))

#endif
