/*
 * Time is an int64_t of nanoseconds on CLOCK_MONOTONIC: absolute, saturating, comparable between the processes of one
 * boot. The wall clock is for display, and to ask the engine, which knows no other.
 */
#ifndef HARNESS_CORE_CLOCK_H
#define HARNESS_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define NEVER INT64_MAX

int64_t clock_now(void);
/* now + milliseconds, saturating at NEVER. */
int64_t clock_deadline(int64_t milliseconds);
int64_t clock_add(int64_t time, int64_t nanoseconds);
/* For poll(): milliseconds until `deadline` rounded up, 0 when it passed, -1 for NEVER. */
int clock_poll_timeout(int64_t deadline);
/* The wall clock in nanoseconds since 1970, as the engine reckons its events: it may jump. */
int64_t clock_realtime(void);
/* The wall clock as RFC 3339 in UTC with seconds, "2026-01-02T03:04:05Z": 20 bytes and a NUL. */
#define CLOCK_TEXT 21
void clock_wall(char out[CLOCK_TEXT]);
/* The wall clock for a folder's name, "20260102T030405Z". */
#define CLOCK_STAMP 17
void clock_stamp(char out[CLOCK_STAMP]);

#endif
