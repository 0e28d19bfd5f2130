/*
 * The arm's end of an observer: start it, give it subjects and inputs, wait for READY and SEEN, take its records. What
 * an observer says is kept as it comes, in bounded memory, so that waits may stand in any order. When the program went
 * away every wait returns ERROR_CLOSED, and observer_lost() is true for all ids of its kind.
 */
#ifndef HARNESS_OBSERVERS_CONTROL_H
#define HARNESS_OBSERVERS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/canary.h"
#include "core/spawn.h"
#include "observers/table.h"
#include "observers/wire.h"

#define OBSERVER_SAYS_BYTES ((off_t)1 << 20)

struct observer_process; /* one started program */

/* What an observer is to count. */
struct observer_subject {
	const char *subject;
	const struct canary *canary; /* NULL: none */
	bool marker; /* the canary is the beacon's of `phase`; the subject's name is then free */
	enum wire_phase phase;
	uint16_t port; /* that another observer bound, or 0 */
	const char *text; /* `deliveries`: the subject's tool; or NULL */
};

/* Starts libexec/PROGRAM with [program, kind id, extra]; `extra` may be NULL. The program's standard error is ours.
 * `netns` -1 or the namespace that the program enters before exec. */
int observer_start(const struct observer_kind *kind, const char *extra, int netns, struct observer_process **out,
		   struct error **err) MUST_CHECK;
/* As observer_start(), of a program that a declaration brings: `executable` is what runs, whatever its name, with
 * ["observer", kind id], and its standard error is a file of OBSERVER_SAYS_BYTES, beyond which it cannot write. */
int observer_start_own(const struct observer_kind *kind, int executable, struct observer_process **out,
		       struct error **err) MUST_CHECK;
int observer_expect(struct observer_process *process, const struct observer_subject *subject,
		    struct error **err) MUST_CHECK;
int observer_begin(struct observer_process *process, struct error **err) MUST_CHECK;
/* Waits for READY. Who gives wrong known answers is believed no longer: ERROR_REFUSED. */
int observer_wait_ready(struct observer_process *process, int64_t deadline, struct error **err) MUST_CHECK;
/* The port bound for `subject`, or 0. Known once ready. */
uint16_t observer_port(const struct observer_process *process, const char *subject);
/* Hands over a duplicate of `fd`; the caller keeps its own. */
int observer_give(struct observer_process *process, const char *input, int fd, struct error **err) MUST_CHECK;
/* `time` (clock_now()) at which a part was taken away. */
int observer_loss(struct observer_process *process, int64_t time, struct error **err) MUST_CHECK;
/* Waits until a marker of `phase` was seen by `observer` (NULL: by any of the kind's): 0, or ERROR_TIMEOUT. */
int observer_wait_seen(struct observer_process *process, const char *observer, enum wire_phase phase, int64_t deadline,
		       struct error **err) MUST_CHECK;
/* From now on no call may reach `tool`; or one may again. What arrives otherwise is late. */
int observer_policy(struct observer_process *process, const char *tool, bool revoked, struct error **err) MUST_CHECK;
/* Asks for a report and does not wait. */
int observer_ask(struct observer_process *process, enum wire_phase phase, struct error **err) MUST_CHECK;
/* Whether the report that observer_ask() asked for has come whole, so that observer_collect() need not wait. */
bool observer_reported(const struct observer_process *process, enum wire_phase phase);
/* Waits for END of `phase`, then hands each record of that report to `take` and forgets it. Records of a program that
 * vanished before END are not handed out: ERROR_CLOSED. A negative return of `take` ends it and is returned. */
typedef int (*observer_take)(void *context, const struct wire_record *record, struct error **err);
int observer_collect(struct observer_process *process, enum wire_phase phase, observer_take take, void *context,
		     int64_t deadline, struct error **err) MUST_CHECK;
/* Descriptor to poll for reading; observer_dispatch() then takes in what is there without waiting. -1 once lost.
 * Dispatch returns ERROR_CLOSED when the program went away. */
int observer_fd(const struct observer_process *process);
/* What a loop may still watch of it: as observer_fd(), and once it is lost the descriptor that it had. It is open until
 * observer_stop(), before which it is to be removed from every loop. */
int observer_watched(const struct observer_process *process);
int observer_dispatch(struct observer_process *process, struct error **err) MUST_CHECK;
/* What became known so far. */
bool observer_seen(const struct observer_process *process, const char *observer, enum wire_phase phase);
bool observer_hit(const struct observer_process *process, const char *subject);
bool observer_blinded(const struct observer_process *process, const char *observer, enum wire_reason *reason);
bool observer_lost(const struct observer_process *process);
/* Of one that is lost: ERROR_CLOSED where it went away, else what it did that it is believed no longer. */
enum error_code observer_why(const struct observer_process *process);
/* The revision of the deployment that it looks at, or "". */
const char *observer_revision(const struct observer_process *process);
const struct observer_kind *observer_kind(const struct observer_process *process);
const struct child *observer_child(const struct observer_process *process);
/* The last of what such a program has written there, at most `size` bytes, whatever they are: how many. */
size_t observer_says(const struct observer_process *process, char *out, size_t size);
/* Sends STOP and does not wait, so that many end at once. NULL-safe. */
void observer_halt(struct observer_process *process);
/* STOP, a bounded wait, then SIGKILL; frees. NULL-safe. */
void observer_stop(struct observer_process *process);

static inline void observer_cleanup(struct observer_process **process)
{
	observer_stop(*process);
}
#define cleanup_observer __attribute__((cleanup(observer_cleanup)))

#endif
