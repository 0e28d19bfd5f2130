/*
 * Process descriptors for a program under a valgrind that does not know their system calls: it asks here, over the
 * socket on descriptor 3 (tests/sim/valgrind_calls.h), and gets the descriptor, or has its signal sent. Ends with the
 * socket.
 */
#include <errno.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/valgrind_calls.h"

#define LIFE_MS (10 * 60 * 1000)

static int answer(const struct valgrind_ask *ask, int given, int *out)
{
	int r;

	if (ask->call == VALGRIND_SEND_SIGNAL)
		return pidfd_send_signal(given, ask->signal, NULL, 0) < 0 ? errno : 0;
	r = pidfd_open(ask->pid, 0);
	*out = r;
	return r < 0 ? errno : 0;
}

int main(void)
{
	int64_t end = clock_deadline(LIFE_MS);
	struct valgrind_ask ask;

	for (;;) {
		cleanup_error struct error *err = NULL;
		cleanup_fd int given = -1, out = -1;
		size_t count = 1;
		int number;

		if (fd_receive(VALGRIND_FD, &ask, sizeof(ask), &given, &count, end, &err) != (int)sizeof(ask))
			return 0;
		if (count == 0)
			given = -1;
		number = answer(&ask, given, &out);
		if (fd_send(VALGRIND_FD, &number, sizeof(number), &out, out >= 0, end, &err) < 0)
			return 1;
	}
}
