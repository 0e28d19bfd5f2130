#include "observers/address.h"

#include <arpa/inet.h>
#include <errno.h>

#include "core/fd.h"

int address_parse(const char *text, uint16_t port, union address *out, socklen_t *length, struct error **err)
{
	*out = (union address){ 0 };
	if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
		out->four.sin_family = AF_INET;
		out->four.sin_port = htons(port);
		*length = sizeof(out->four);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &out->six.sin6_addr) == 1) {
		out->six.sin6_family = AF_INET6;
		out->six.sin6_port = htons(port);
		*length = sizeof(out->six);
		return 0;
	}
	return error_set(err, ERROR_USAGE, "an observer's address is numeric");
}

int address_bind(const char *text, int type, int backlog, int *out, uint16_t *port, struct error **err)
{
	union address address;
	socklen_t length = 0;
	cleanup_fd int fd = -1;
	const int on = 1;
	int r = address_parse(text, 0, &address, &length, err);

	if (r < 0)
		return r;
	fd = socket(address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_errno(err, errno, "an observer's socket");
	if (address.any.sa_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return error_errno(err, errno, "IPV6_V6ONLY");
	if (bind(fd, &address.any, length) < 0)
		return error_errno(err, errno, "binding an observer's socket");
	if (type == SOCK_STREAM && listen(fd, backlog) < 0)
		return error_errno(err, errno, "listening");
	length = sizeof(address);
	if (getsockname(fd, &address.any, &length) < 0)
		return error_errno(err, errno, "getsockname");
	*port = ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
	*out = steal_fd(&fd);
	return 0;
}
