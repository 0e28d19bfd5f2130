/* Numeric IP addresses, and sockets bound to a port that the kernel chooses. */
#ifndef HARNESS_OBSERVERS_ADDRESS_H
#define HARNESS_OBSERVERS_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/error.h"

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* "127.0.0.1" or "::1"; a name is ERROR_USAGE. */
int address_parse(const char *text, uint16_t port, union address *out, socklen_t *length,
		  struct error **err) MUST_CHECK;
/* A non-blocking socket of `type` (SOCK_STREAM: listening with `backlog`) at a free port of the address. */
int address_bind(const char *text, int type, int backlog, int *out, uint16_t *port, struct error **err) MUST_CHECK;

#endif
