/* The table of probes, one row a way out, and the table of endings. */
#include "agent.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CONNECT_MS 1000
#define SLOW_MS 1000

static socklen_t socket_address(const struct order *order, struct sockaddr_storage *storage)
{
	struct sockaddr_in *four = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;

	memset(storage, 0, sizeof(*storage));
	if (inet_pton(AF_INET, order->address, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(order->port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, order->address, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(order->port);
		return sizeof(*six);
	}
	return 0;
}

static bool connected(int fd, const struct sockaddr_storage *address, socklen_t length)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	int status = 0;
	socklen_t size = sizeof(status);

	if (connect(fd, (const struct sockaddr *)address, length) == 0)
		return true;
	return poll(&ready, 1, CONNECT_MS) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &size) == 0 &&
	       status == 0;
}

static void try_tcp(const struct order *order)
{
	struct sockaddr_storage address;
	socklen_t length = socket_address(order, &address);
	int fd = length ? socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return;
	if (connected(fd, &address, length)) {
		write_all(fd, order->canary, strlen(order->canary));
		write_all(fd, "\n", 1);
	}
	close(fd);
}

/* A child has its own descriptors and pid: it must be as confined as its parent. */
static void try_tcp_child(const struct order *order)
{
	pid_t child = fork();

	if (child == 0) {
		try_tcp(order);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static size_t put_label(unsigned char *out, const char *label)
{
	size_t length = strlen(label);

	out[0] = (unsigned char)length;
	memcpy(out + 1, label, length);
	return length + 1;
}

/* One question (RFC 1035 4.1): type A, class IN, the canary as the first label. */
static void try_dns(const struct order *order)
{
	static const unsigned char header[12] = { 0x13, 0x37, 0x01, 0x00, 0x00, 0x01 };
	static const unsigned char type_a_class_in[4] = { 0, 1, 0, 1 };
	unsigned char packet[256];
	struct sockaddr_storage address;
	socklen_t length = socket_address(order, &address);
	size_t used = sizeof(header);
	int fd;

	if (!length || strlen(order->canary) > 63)
		return;
	memcpy(packet, header, sizeof(header));
	used += put_label(packet + used, order->canary);
	used += put_label(packet + used, "leak");
	used += put_label(packet + used, "invalid");
	packet[used++] = 0;
	memcpy(packet + used, type_a_class_in, sizeof(type_a_class_in));
	used += sizeof(type_a_class_in);
	fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, packet, used, MSG_DONTWAIT, (const struct sockaddr *)&address, length);
	close(fd);
}

static void try_file(const struct order *order)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s-%u", order->address, order->try_number);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	write_all(fd, order->canary, strlen(order->canary));
	write_all(fd, "\n", 1);
	close(fd);
}

/* A file whose name holds the canary, and nothing else of it does. */
static void try_file_name(const struct order *order)
{
	char path[192];
	int fd;

	snprintf(path, sizeof(path), "%s-%s-%u", order->address, order->canary, order->try_number);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* A symbolic link to where no file is. */
static void try_file_link(const struct order *order)
{
	char path[128];

	snprintf(path, sizeof(path), "%s-%u", order->address, order->try_number);
	(void)!symlink(order->canary, path);
}

/* An empty file with an attribute. */
static void try_file_xattr(const struct order *order)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s-%u", order->address, order->try_number);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	fsetxattr(fd, "user.leak", order->canary, strlen(order->canary), 0);
	close(fd);
}

/* An order, as the order service takes them. */
static int put_order(char *out, size_t size, const char *canary)
{
	return snprintf(out, size, "{\"reference\":\"%s\",\"item\":\"book\",\"quantity\":1}", canary);
}

/* To the endpoint of the order service itself. It is answered once the order is made. */
static void try_order_http(const struct order *order)
{
	struct sockaddr_storage address;
	socklen_t length = socket_address(order, &address);
	int fd = length ? socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
	char body[256], request[512];
	struct pollfd answer = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	put_order(body, sizeof(body), order->canary);
	snprintf(request, sizeof(request),
		 "POST /orders HTTP/1.1\r\nHost: %s:%u\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
		 order->address, order->port, strlen(body), body);
	if (connected(fd, &address, length)) {
		write_all(fd, request, strlen(request));
		poll(&answer, 1, CONNECT_MS);
	}
	close(fd);
}

static void try_order_child(const struct order *order)
{
	pid_t child = fork();

	if (child == 0) {
		try_order_http(order);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* Where somebody looks for files with orders. */
static void try_order_file(const struct order *order)
{
	char path[128], line[256];
	int length = put_order(line, sizeof(line), order->canary), fd;

	snprintf(path, sizeof(path), "%s-%u", order->address, order->try_number);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	write_all(fd, line, (unsigned long)length);
	write_all(fd, "\n", 1);
	close(fd);
}

static void try_delete(const struct order *order)
{
	unlink(order->address);
}

static void try_delete_child(const struct order *order)
{
	pid_t child = fork();

	if (child == 0) {
		try_delete(order);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void try_stderr(const struct order *order)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%s\n", order->canary);

	write_all(STDERR_FILENO, line, (unsigned long)length);
}

/* The application channel: one frame, one answer. `address` is the operation. */
static void call(const struct order *order)
{
	char line[1024];
	int length = snprintf(line, sizeof(line), "{\"operation\":\"%s\",\"arguments\":{\"value\":\"%s\"}}\n",
			      order->address, order->canary);

	write_all(STDOUT_FILENO, line, (unsigned long)length);
	read_line(line, sizeof(line));
}

static void call_order(const struct order *order)
{
	char body[256], line[1024];
	int length;

	put_order(body, sizeof(body), order->canary);
	length = snprintf(line, sizeof(line), "{\"operation\":\"%s\",\"arguments\":%s}\n", order->address, body);
	write_all(STDOUT_FILENO, line, (unsigned long)length);
	read_line(line, sizeof(line));
}

/* A permitted call whose arguments are this, around the canary. */
static void call_with(const struct order *order, const char *before, const char *behind)
{
	char line[1024];
	int length = snprintf(line, sizeof(line), "{\"operation\":\"%s\",\"arguments\":{%s%s%s}}\n", order->address,
			      before, order->canary, behind);

	write_all(STDOUT_FILENO, line, (unsigned long)length);
	read_line(line, sizeof(line));
}

static void call_key(const struct order *order)
{
	call_with(order, "\"", "\":\"value\"");
}

static void call_url(const struct order *order)
{
	call_with(order, "\"value\":\"https://example.invalid/", "?q=1\"");
}

/* With what a scanner of arguments takes for a command. */
static void call_blocked(const struct order *order)
{
	call_with(order, "\"value\":\"", " ; rm -rf /\"");
}

/* A call that lasts, whose answer is left unread: what is asked next waits behind it. */
static void call_ahead(const struct order *order)
{
	char line[1024];
	int length = snprintf(line, sizeof(line),
			      "{\"operation\":\"%s\",\"arguments\":{\"value\":\"%s\",\"milliseconds\":%d}}\n",
			      order->address, order->canary, SLOW_MS);

	write_all(STDOUT_FILENO, line, (unsigned long)length);
}

static void call_slow(const struct order *order)
{
	char line[1024];

	call_ahead(order);
	read_line(line, sizeof(line));
}

static int end_exit(int attempts)
{
	return attempts;
}

/* Says that it is done, and stays until its input ends. */
static int end_done(int attempts)
{
	static const char frame[] = "{\"operation\":\"done\",\"arguments\":{}}\n";
	char line[1024];

	write_all(STDOUT_FILENO, frame, sizeof(frame) - 1);
	while (read_line(line, sizeof(line)) >= 0)
		;
	return attempts;
}

/* Stays, whatever becomes of its input. */
static int end_hold(int attempts)
{
	for (;;)
		pause();
	return attempts;
}

const struct ending endings[] = {
	{ .id = "exit", .run = end_exit },
	{ .id = "done", .run = end_done },
	{ .id = "hold", .run = end_hold },
	{ .id = NULL },
};

const struct probe probes[] = {
	{ .id = "tcp4", .route = "IPv4 loopback", .attempt = try_tcp },
	{ .id = "tcp4-child", .route = "IPv4 loopback, from a child process", .attempt = try_tcp_child },
	{ .id = "tcp6", .route = "IPv6 loopback", .attempt = try_tcp },
	{ .id = "dns", .route = "a DNS question by UDP", .attempt = try_dns },
	{ .id = "tcp4-nic", .route = "the host's address on the engine's bridge network", .attempt = try_tcp },
	{ .id = "file", .route = "a file in /export", .attempt = try_file },
	{ .id = "file-name", .route = "the name of a file in /export", .attempt = try_file_name },
	{ .id = "file-link", .route = "the target of a symbolic link in /export", .attempt = try_file_link },
	{ .id = "file-xattr", .route = "an extended attribute of a file in /export", .attempt = try_file_xattr },
	{ .id = "stderr", .route = "standard error", .attempt = try_stderr },
	{ .id = "permitted", .route = "the permitted operation", .attempt = call },
	{ .id = "denied", .route = "the denied operation", .attempt = call },
	{ .id = "permitted-again", .route = "the permitted operation once more", .attempt = call },
	{ .id = "permitted-third", .route = "the permitted operation a third time", .attempt = call },
	{ .id = "slow", .route = "an operation that lasts", .attempt = call_slow },
	{ .id = "slow-ahead",
	  .route = "an operation that lasts, without waiting for its answer",
	  .attempt = call_ahead },
	{ .id = "denied-then", .route = "the denied operation, behind others", .attempt = call },
	{ .id = "in-key", .route = "the permitted operation, in a key", .attempt = call_key },
	{ .id = "in-url", .route = "the permitted operation, in a URL", .attempt = call_url },
	{ .id = "in-blocked",
	  .route = "the permitted operation, in what looks like a command",
	  .attempt = call_blocked },
	{ .id = "order-gateway", .route = "the operation that makes an order", .attempt = call_order },
	{ .id = "order-again", .route = "the operation that makes an order, once more", .attempt = call_order },
	{ .id = "order-http", .route = "the order service's endpoint", .attempt = try_order_http },
	{ .id = "order-child",
	  .route = "the order service's endpoint, from a child process",
	  .attempt = try_order_child },
	{ .id = "order-file", .route = "a file that somebody imports as orders", .attempt = try_order_file },
	{ .id = "file-delete", .route = "the deletion of a file that is to be kept", .attempt = try_delete },
	{ .id = "delete-child", .route = "the same by a child process", .attempt = try_delete_child },
	{ .id = "after", .route = "the permitted operation, once more", .attempt = call },
	{ .id = NULL },
};
