/*
 * libexec/netns-beacon PORT: sends the marker that it reads from descriptor 0 as one datagram to 127.0.0.1:PORT, in the
 * network namespace that it was started in. The positive control of a capture there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "core/canary.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"

#define READ_MS 1000

static int port_of(const char *text, uint16_t *out, struct error **err)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || !port || port > UINT16_MAX)
		return error_set(err, ERROR_USAGE, "the port is a number from 1 to 65535");
	*out = (uint16_t)port;
	return 0;
}

static int send_marker(const struct canary *marker, uint16_t port, struct error **err)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error_errno(err, errno, "socket");
	if (sendto(fd, marker->text, CANARY_LENGTH, 0, (const struct sockaddr *)&to, sizeof(to)) != CANARY_LENGTH)
		return error_errno(err, errno, "sendto");
	return 0;
}

static int run(int argc, char **argv, struct error **err)
{
	struct canary marker = { .text = "" };
	uint16_t port = 0;
	int status;

	status = process_harden(true, 0, err);
	if (status)
		return status;
	if (argc != 2)
		return error_set(err, ERROR_USAGE, "one argument: the port");
	status = port_of(argv[1], &port, err);
	if (status)
		return status;
	status = fd_read_exact(STDIN_FILENO, marker.text, CANARY_LENGTH, clock_deadline(READ_MS), err);
	if (status)
		return status;
	if (!canary_valid(marker.text, CANARY_LENGTH))
		return error_set(err, ERROR_INPUT, "what came on descriptor 0 is no marker");
	return send_marker(&marker, port, err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (run(argc, argv, &err) == 0)
		return 0;
	fprintf(stderr, "netns-beacon: %s\n", error_text(err));
	return 3;
}
