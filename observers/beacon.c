#include "observers/beacon.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/address.h"

#define SEND_MS 2000
#define DNS_HEADER 12
#define DNS_QUESTION_MAX (DNS_HEADER + 1 + CANARY_LENGTH + sizeof("\6beacon\7invalid") + 4)

/* Around the marker: one span whose ids are any that are not zero. */
#define SPAN_BEFORE                                                                                                    \
	"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"00000000000000000000000000000001\","          \
	"\"spanId\":\"0000000000000001\",\"name\":\"beacon\",\"kind\":1,\"startTimeUnixNano\":\"1\","                  \
	"\"endTimeUnixNano\":\"1\",\"attributes\":[{\"key\":\"beacon\",\"value\":{\"stringValue\":\""
#define SPAN_AFTER "\"}}]}]}]}]}"
#define SPAN_REQUEST_MAX 1024
#define SPAN_ANSWER "HTTP/1.1 200"

/* A connected socket of `type`, non-blocking. */
static int connect_to(const char *address, uint16_t port, int type, int64_t deadline, int *out, struct error **err)
{
	union address to;
	socklen_t length = 0, size = sizeof(int);
	cleanup_fd int fd = -1;
	int problem = 0;
	int r = address_parse(address, port, &to, &length, err);

	if (r < 0)
		return r;
	fd = socket(to.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_errno(err, errno, "a beacon's socket");
	if (connect(fd, &to.any, length) < 0) {
		if (errno != EINPROGRESS)
			return error_errno(err, errno, "a beacon to port %u", port);
		r = fd_wait(fd, POLLOUT, deadline, err);
		if (r < 0)
			return r;
		if (r == 0)
			return error_set(err, ERROR_TIMEOUT, "a beacon to port %u: the deadline passed", port);
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0)
			problem = errno;
		if (problem != 0)
			return error_errno(err, problem, "a beacon to port %u", port);
	}
	*out = steal_fd(&fd);
	return 0;
}

static int send_datagram(const char *address, uint16_t port, const void *bytes, size_t length, struct error **err)
{
	cleanup_fd int fd = -1;
	int64_t deadline = clock_deadline(SEND_MS);
	int r = connect_to(address, port, SOCK_DGRAM, deadline, &fd, err);

	return r < 0 ? r : fd_send(fd, bytes, length, NULL, 0, deadline, err);
}

int beacon_tcp(const char *address, uint16_t port, const struct canary *marker, int64_t deadline, struct error **err)
{
	char line[CANARY_LENGTH + 1];
	cleanup_fd int fd = -1;
	int r = connect_to(address, port, SOCK_STREAM, deadline, &fd, err);

	if (r < 0)
		return r;
	memcpy(line, marker->text, CANARY_LENGTH);
	line[CANARY_LENGTH] = '\n';
	r = fd_write_all(fd, line, sizeof(line), deadline, err);
	explicit_bzero(line, sizeof(line));
	return r;
}

int beacon_udp(const char *address, uint16_t port, const struct canary *marker, struct error **err)
{
	return send_datagram(address, port, marker->text, CANARY_LENGTH, err);
}

static char *put_label(char *to, const char *label, size_t length)
{
	*to++ = (char)length;
	memcpy(to, label, length);
	return to + length;
}

int beacon_dns(const char *address, uint16_t port, const struct canary *marker, struct error **err)
{
	/* RFC 1035, 4.1: flags of a query with recursion desired, one question. */
	static const unsigned char rest_of_header[] = { 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const unsigned char type_a_class_in[] = { 0, 1, 0, 1 };
	char question[DNS_QUESTION_MAX] = { 0 }, *to = question;
	int r;

	if (getrandom(to, 2, 0) != 2)
		return error_errno(err, errno, "a beacon's id");
	memcpy(to + 2, rest_of_header, sizeof(rest_of_header));
	to = put_label(to + DNS_HEADER, marker->text, CANARY_LENGTH);
	to = put_label(to, "beacon", strlen("beacon"));
	to = put_label(to, "invalid", strlen("invalid"));
	*to++ = 0;
	memcpy(to, type_a_class_in, sizeof(type_a_class_in));
	to += sizeof(type_a_class_in);
	r = send_datagram(address, port, question, (size_t)(to - question), err);
	explicit_bzero(question, sizeof(question));
	return r;
}

int beacon_spans(const char *address, uint16_t port, const struct canary *marker, int64_t deadline, struct error **err)
{
	char request[SPAN_REQUEST_MAX], answer[sizeof(SPAN_ANSWER)] = "";
	cleanup_fd int fd = -1;
	int length = snprintf(request, sizeof(request),
			      "POST /v1/traces HTTP/1.1\r\nHost: beacon\r\nConnection: close\r\n"
			      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s%s%s",
			      strlen(SPAN_BEFORE SPAN_AFTER) + CANARY_LENGTH, SPAN_BEFORE, marker->text, SPAN_AFTER);
	int r = connect_to(address, port, SOCK_STREAM, deadline, &fd, err);

	if (r == 0)
		r = fd_write_all(fd, request, (size_t)length, deadline, err);
	explicit_bzero(request, sizeof(request));
	if (r == 0)
		r = fd_read_exact(fd, answer, strlen(SPAN_ANSWER), deadline, err);
	if (r < 0)
		return r;
	return strcmp(answer, SPAN_ANSWER) == 0 ? 0 : error_set(err, ERROR_PROTOCOL, "a beacon's span was not taken");
}
