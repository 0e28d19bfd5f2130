#include "observers/capture_netns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>

#include "core/fd.h"

#define SNMP_PATH "/proc/self/net/snmp"
#define SNMP_BYTES (16 * KIB)
#define EVENT_BYTES (16 * KIB)

void capture_netns_met(struct capture_netns *netns, uint32_t interface)
{
	if (interface == netns->loopback)
		return;
	for (size_t i = 0; i < netns->count; i++) {
		if (netns->others[i] == interface)
			return;
	}
	if (netns->count == CAPTURE_INTERFACES)
		netns->full = true;
	else
		netns->others[netns->count++] = interface;
}

int capture_netns_list(struct capture_netns *netns, struct error **err)
{
	struct if_nameindex *list = if_nameindex();

	if (!list)
		return error_errno(err, errno, "listing interfaces");
	for (const struct if_nameindex *at = list; at->if_index; at++)
		capture_netns_met(netns, at->if_index);
	if_freenameindex(list);
	return 0;
}

static void take_event(struct capture_netns *netns, struct nlmsghdr *message)
{
	const struct ifinfomsg *link = NLMSG_DATA(message);

	if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
		return;
	if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(*link)))
		capture_netns_met(netns, (uint32_t)link->ifi_index);
}

int capture_netns_events(struct capture_netns *netns, struct error **err)
{
	union {
		struct nlmsghdr header;
		char bytes[EVENT_BYTES];
	} buffer;

	for (;;) {
		ssize_t got = recv(netns->events, &buffer, sizeof(buffer), MSG_DONTWAIT | MSG_TRUNC);
		size_t left = got > 0 ? (size_t)got : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < 0 && errno != ENOBUFS)
			return error_errno(err, errno, "link changes");
		if (got < 0 || left > sizeof(buffer)) {
			netns->lost = true;
			continue;
		}
		for (struct nlmsghdr *at = &buffer.header; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left))
			take_event(netns, at);
	}
}

static int open_events(struct capture_netns *netns, struct error **err)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };

	netns->events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (netns->events < 0 || bind(netns->events, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_errno(err, errno, "watching link changes");
	return 0;
}

/* The line behind "Ip:" from `text` on, or NULL; *length is what it has up to its line feed. */
static const char *ip_line(const char *text, size_t left, size_t *length)
{
	while (left) {
		const char *feed = memchr(text, '\n', left);
		size_t line = feed ? (size_t)(feed - text) : left;

		if (line >= 3 && memcmp(text, "Ip:", 3) == 0) {
			*length = line - 3;
			return text + 3;
		}
		text += feed ? line + 1 : line;
		left -= feed ? line + 1 : line;
	}
	return NULL;
}

/* The next word of a line, its length in *word; 0 at the end. */
static const char *next_word(const char **line, size_t *left, size_t *word)
{
	const char *start;

	while (*left && **line == ' ') {
		(*line)++;
		(*left)--;
	}
	start = *line;
	while (*left && **line != ' ') {
		(*line)++;
		(*left)--;
	}
	*word = (size_t)(*line - start);
	return start;
}

static bool number(const char *word, size_t length, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < length; i++) {
		if (word[i] < '0' || word[i] > '9' || *out > (UINT64_MAX - 9) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(word[i] - '0');
	}
	return length != 0;
}

int capture_netns_parse(const char *text, size_t length, uint64_t *out, struct error **err)
{
	static const char column[] = "OutNoRoutes";
	size_t names_left = 0, values_left = 0, word, value_length;
	const char *names = ip_line(text, length, &names_left);
	const char *values, *name, *value;

	if (!names)
		return error_set(err, ERROR_INPUT, "snmp: no Ip line");
	values = names + names_left;
	values = ip_line(values, length - (size_t)(values - text), &values_left);
	if (!values)
		return error_set(err, ERROR_INPUT, "snmp: no second Ip line");
	do {
		name = next_word(&names, &names_left, &word);
		value = next_word(&values, &values_left, &value_length);
		if (word == sizeof(column) - 1 && memcmp(name, column, word) == 0)
			return number(value, value_length, out)
				       ? 0
				       : error_set(err, ERROR_INPUT, "snmp: OutNoRoutes is no number");
	} while (word);
	return error_set(err, ERROR_INPUT, "snmp: no column OutNoRoutes");
}

static int read_no_routes(uint64_t *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(SNMP_BYTES);
	int status = fd_read_file(AT_FDCWD, SNMP_PATH, SNMP_BYTES, &text, err);

	return status ? status : capture_netns_parse(buf_string(&text), text.length, out, err);
}

int capture_netns_open(struct capture_netns *netns, struct error **err)
{
	int status;

	memset(netns, 0, sizeof(*netns));
	netns->events = -1;
	netns->loopback = if_nametoindex("lo");
	if (!netns->loopback)
		return error_errno(err, errno, "the loopback's index");
	status = open_events(netns, err);
	if (!status)
		status = capture_netns_list(netns, err);
	return status ? status : read_no_routes(&netns->no_routes, err);
}

int capture_netns_no_routes(const struct capture_netns *netns, int64_t *out, struct error **err)
{
	uint64_t now = 0;
	int status = read_no_routes(&now, err);

	if (status)
		return status;
	*out = (int64_t)(now - netns->no_routes);
	return 0;
}

void capture_netns_close(struct capture_netns *netns)
{
	fd_close(&netns->events);
}
