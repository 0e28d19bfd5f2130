/* What a program under valgrind asks of tests/sim/main_pidfd.c. */
#ifndef HARNESS_TESTS_SIM_VALGRIND_CALLS_H
#define HARNESS_TESTS_SIM_VALGRIND_CALLS_H

#include <sys/types.h>

#define VALGRIND_FD 3

enum valgrind_call { VALGRIND_OPEN, VALGRIND_SEND_SIGNAL };

struct valgrind_ask {
	enum valgrind_call call;
	pid_t pid; /* VALGRIND_OPEN; the answer carries its descriptor */
	int signal; /* VALGRIND_SEND_SIGNAL; the question carries the descriptor */
};

#endif
