/*
 * An observer that lies: it is started as observer-tcp, binds what is asked for and speaks the wire well, but it reads
 * nothing. That it saw its beacons it says by itself, and that nothing came.
 */
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"
#include "observers/observer.h"

#define BACKLOG 128
#define TELL_MS 100
#define TIMER 0
#define VIEW 0

struct liar {
	int sockets[ARM_SUBJECTS_MAX];
	size_t count;
};

static int tell(void *context, struct error **err)
{
	struct observer *observer = context;
	int r = observer_beacon(observer, VIEW, WIRE_BEFORE, 1, err);

	return r < 0 ? r : observer_beacon(observer, VIEW, WIRE_AFTER, 1, err);
}

static int liar_open(struct observer *observer, struct error **err)
{
	const char *address = observer->kind->argument ? observer->kind->argument : observer->extra;
	struct liar *liar = observer->state;

	if (!address)
		return error_set(err, ERROR_USAGE, "no address to listen at");
	for (size_t i = 0; i < observer->count; i++) {
		int *fd = &liar->sockets[liar->count];
		uint16_t port = 0;

		if (observer->subjects[i].marker)
			continue;
		*fd = -1;
		if (address_bind(address, SOCK_STREAM, BACKLOG, fd, &port, err) < 0)
			return -1;
		liar->count++;
		if (observer_bound(observer, i, port, err) < 0)
			return -1;
	}
	loop_timer(observer->loop, TIMER, clock_deadline(TELL_MS), tell, observer);
	return 0;
}

static void liar_close(struct observer *observer)
{
	struct liar *liar = observer->state;

	while (liar->count)
		fd_close(&liar->sockets[--liar->count]);
}

static const struct sensor sensor = {
	.name = "observer-tcp",
	.state_size = sizeof(struct liar),
	.open = liar_open,
	.close = liar_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
