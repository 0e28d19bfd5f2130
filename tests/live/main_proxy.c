/*
 * Stands between the harness and a real engine, and spoils the answers to one request, or to one kind. The harness
 * wants its peer to be dockerd: a copy of this program has that name.
 *
 *     dockerd LISTEN ENGINE FAULT N [PART]
 *
 * Two paths, a fault below, and which of the requests it is that have PART in their first line: a number from 1, or 0
 * for each. One line a request on stdout.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"

#define PAIRS 48
#define CHUNK (64 * KIB)
#define LIFE_MS (10 * 60 * 1000)
#define DELAY_MS 400
#define CUT_BYTES 9 /* within the status line */
#define WRITE_MS 20000

enum fault {
	FAULT_NONE, /* only the requests are listed */
	FAULT_DROP, /* the connection ends, and the engine never sees the request */
	FAULT_CUT, /* the answer ends within its status line */
	FAULT_TRUNCATE, /* the answer ends one byte early */
	FAULT_GARBLE, /* the answer's bytes are other ones */
	FAULT_HOLD, /* no answer comes */
	FAULT_DELAY, /* it comes late */
	FAULT_GONE, /* from now on there is no engine */
	FAULTS
};
static const char *const fault_names[FAULTS];

struct pair {
	int client, engine; /* -1: free, or ended */
	bool spoiled; /* the request under way is the one */
	bool closed; /* the client says nothing more */
	int64_t until; /* what the engine says waits till then */
};

struct proxy {
	const char *engine, *part;
	int listener;
	enum fault fault;
	long wanted, matched, seen;
	struct pair pairs[PAIRS];
	char chunk[CHUNK];
};

static int unix_socket(const char *path, bool listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && listening && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, PAIRS) == 0)
		return fd;
	if (fd >= 0 && !listening && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	fd_close(&fd);
	return -1;
}

static void end_pair(struct pair *pair)
{
	fd_close(&pair->client);
	fd_close(&pair->engine);
	pair->spoiled = false;
}

static void take_connection(struct proxy *proxy)
{
	int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);

	for (size_t i = 0; i < PAIRS && client >= 0; i++) {
		struct pair *pair = &proxy->pairs[i];

		if (pair->client >= 0)
			continue;
		*pair = (struct pair){ .client = client, .engine = unix_socket(proxy->engine, false) };
		return;
	}
	fd_close(&client);
}

static void go_away(struct proxy *proxy)
{
	fd_close(&proxy->listener);
	for (size_t i = 0; i < PAIRS; i++)
		end_pair(&proxy->pairs[i]);
}

static bool is_request(const char *bytes, size_t length)
{
	static const char *const methods[] = { "GET /", "POST /", "DELETE /", "HEAD /", "PUT /" };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (length > strlen(methods[i]) && memcmp(bytes, methods[i], strlen(methods[i])) == 0)
			return true;
	return false;
}

/* False: the pair is no more. */
static bool note_request(struct proxy *proxy, struct pair *pair, size_t length)
{
	const char *end = memchr(proxy->chunk, '\r', length);
	int line = end ? (int)(end - proxy->chunk) : 0;
	bool matches;

	if (!is_request(proxy->chunk, length))
		return true;

	printf("%ld %.*s\n", ++proxy->seen, line, proxy->chunk);
	matches = memmem(proxy->chunk, (size_t)line, proxy->part, strlen(proxy->part)) != NULL;
	proxy->matched += matches;
	pair->spoiled = matches && (proxy->wanted == 0 || proxy->matched == proxy->wanted);
	if (!pair->spoiled)
		return true;
	if (proxy->fault == FAULT_GONE)
		go_away(proxy);
	else if (proxy->fault == FAULT_DROP)
		end_pair(pair);
	else if (proxy->fault == FAULT_DELAY)
		pair->until = clock_deadline(DELAY_MS);
	return pair->client >= 0;
}

static bool put(int fd, const char *bytes, size_t length)
{
	cleanup_error struct error *ignored = NULL;

	return fd_write_all(fd, bytes, length, clock_deadline(WRITE_MS), &ignored) == 0;
}

/* What the engine said goes on, spoiled where it is that answer. */
static void pass_answer(struct proxy *proxy, struct pair *pair, size_t length)
{
	if (!pair->spoiled) {
		if (!put(pair->client, proxy->chunk, length))
			end_pair(pair);
		return;
	}
	switch (proxy->fault) {
	case FAULT_HOLD:
		return;
	case FAULT_CUT:
	case FAULT_TRUNCATE:
		(void)!put(pair->client, proxy->chunk,
			   proxy->fault == FAULT_TRUNCATE ? length - 1
			   : length < CUT_BYTES           ? length
							  : CUT_BYTES);
		end_pair(pair);
		return;
	case FAULT_GARBLE:
		for (size_t i = 0; i < length; i++)
			proxy->chunk[i] = (char)(proxy->chunk[i] ^ 0x55);
		break;
	default:
		break;
	}
	if (!put(pair->client, proxy->chunk, length))
		end_pair(pair);
}

static void serve(struct proxy *proxy, struct pair *pair, bool client, bool engine)
{
	ssize_t got;

	if (client) {
		got = read(pair->client, proxy->chunk, sizeof(proxy->chunk));
		if (got <= 0 && pair->engine >= 0) {
			/* Half closed: the engine may still have something to say. */
			shutdown(pair->engine, SHUT_WR);
			if (got < 0)
				end_pair(pair);
			return;
		}
		if (got <= 0 || !note_request(proxy, pair, (size_t)got))
			return;
		if (!put(pair->engine, proxy->chunk, (size_t)got))
			end_pair(pair);
	} else if (engine) {
		got = read(pair->engine, proxy->chunk, sizeof(proxy->chunk));
		if (got > 0)
			pass_answer(proxy, pair, (size_t)got);
		else if (!pair->spoiled || proxy->fault != FAULT_HOLD)
			end_pair(pair);
	}
}

static void run(struct proxy *proxy)
{
	int64_t end = clock_deadline(LIFE_MS);

	while (clock_now() < end && getppid() != 1) {
		struct pollfd polled[2 * PAIRS + 1];
		int64_t next = clock_deadline(DELAY_MS);

		for (size_t i = 0; i < PAIRS; i++) {
			const struct pair *pair = &proxy->pairs[i];
			bool waits = pair->until > clock_now();

			if (waits && pair->until < next)
				next = pair->until;
			polled[2 * i] = (struct pollfd){ .fd = pair->closed ? -1 : pair->client, .events = POLLIN };
			polled[2 * i + 1] = (struct pollfd){ .fd = waits ? -1 : pair->engine, .events = POLLIN };
		}
		polled[2 * PAIRS] = (struct pollfd){ .fd = proxy->listener, .events = POLLIN };
		if (poll(polled, ARRAY_SIZE(polled), clock_poll_timeout(next)) <= 0)
			continue;
		for (size_t i = 0; i < PAIRS; i++) {
			struct pair *pair = &proxy->pairs[i];
			char byte;

			if (polled[2 * i].revents && pair->client >= 0 &&
			    recv(pair->client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
				pair->closed = true;
			if (pair->client >= 0)
				serve(proxy, pair, polled[2 * i].revents != 0, polled[2 * i + 1].revents != 0);
		}
		if (proxy->listener >= 0 && polled[2 * PAIRS].revents)
			take_connection(proxy);
	}
}

int main(int argc, char **argv)
{
	struct proxy *proxy = argc == 5 || argc == 6 ? calloc(1, sizeof(*proxy)) : NULL;
	int status = 1;

	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!proxy)
		return 4;
	for (size_t i = 0; i < PAIRS; i++)
		proxy->pairs[i] = (struct pair){ .client = -1, .engine = -1 };
	for (int i = 0; i < FAULTS; i++)
		if (strcmp(fault_names[i], argv[3]) == 0)
			proxy->fault = (enum fault)i;
	proxy->engine = argv[2];
	proxy->part = argc == 6 ? argv[5] : "";
	proxy->wanted = strtol(argv[4], NULL, 10);
	proxy->listener = unix_socket(argv[1], true);
	if (proxy->listener >= 0) {
		printf("ready\n");
		run(proxy);
		go_away(proxy);
		status = 0;
	}
	free(proxy);
	return status;
}

static const char *const fault_names[FAULTS] = {
	[FAULT_NONE] = "none",     [FAULT_DROP] = "drop", [FAULT_CUT] = "cut",     [FAULT_TRUNCATE] = "truncate",
	[FAULT_GARBLE] = "garble", [FAULT_HOLD] = "hold", [FAULT_DELAY] = "delay", [FAULT_GONE] = "gone",
};
