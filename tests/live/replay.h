/*
 * Sends the request of every recorded answer (tests/data/engine) to an engine, real or simulated, and compares what
 * comes: status, content type, and the shape of the body, that is its keys and the types of their values. So that what
 * is recorded, what the simulated engine says, and what an engine says cannot drift apart.
 */
#ifndef HARNESS_TESTS_LIVE_REPLAY_H
#define HARNESS_TESTS_LIVE_REPLAY_H

#include <stddef.h>

/* `agent`: the program, of which the image is made where the engine does not have it; NULL: the engine has the recorded
 * image. Asserts; each difference is a line on stderr. Returns how many answers were compared. */
size_t replay(const char *socket, const char *agent);

#endif
