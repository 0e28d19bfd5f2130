/*
 * poll() with absolute deadlines and signals by signalfd. A callback returns 0 to go on, or non-zero to end loop_run()
 * with that value (negative: an error that it set).
 */
#ifndef HARNESS_CORE_LOOP_H
#define HARNESS_CORE_LOOP_H

#include <stdint.h>

#include "core/error.h"

struct loop;

typedef int (*loop_fd_callback)(void *context, int fd, short revents, struct error **err);
typedef int (*loop_timer_callback)(void *context, struct error **err);
typedef int (*loop_signal_callback)(void *context, int signal, struct error **err);

int loop_new(struct loop **out, struct error **err) MUST_CHECK;
void loop_free(struct loop *loop);
static inline void loop_cleanup(struct loop **loop)
{
	loop_free(*loop);
}
#define cleanup_loop __attribute__((cleanup(loop_cleanup)))

/* Watches `fd` (not owned) for poll events; 64 at most, or ERROR_LIMIT. Adding a watched descriptor changes it.
 * events 0: only HUP and ERR. */
int loop_fd(struct loop *loop, int fd, short events, loop_fd_callback callback, void *context,
	    struct error **err) MUST_CHECK;
void loop_remove(struct loop *loop, int fd);
/* One timer a slot; at an absolute time; setting it again moves it; NEVER disarms it. Slots are 0 to 15. */
void loop_timer(struct loop *loop, unsigned slot, int64_t when, loop_timer_callback callback, void *context);
/* Blocks SIGINT, SIGTERM and SIGHUP and delivers them by callback; once a loop. They stay blocked after loop_free(), so
 * that what is left to tidy is not cut short. */
int loop_signals(struct loop *loop, loop_signal_callback callback, void *context, struct error **err) MUST_CHECK;
/* Callbacks that end loop_run() with 1, whatever happened: of a lifeline, to which nothing is ever written, and of
 * signals that ask to end. */
int loop_end_by_fd(void *context, int fd, short revents, struct error **err);
int loop_end_by_signal(void *context, int signal, struct error **err);
/* Runs until a callback returns non-zero (returned), or the deadline (returns 0); what is ready is served at least
 * once. A watched descriptor that is not open is ERROR_INTERNAL. */
int loop_run(struct loop *loop, int64_t deadline, struct error **err);

#endif
