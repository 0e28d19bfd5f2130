/* The links of a container's network namespace, watched from outside by a socket that was opened inside. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>

#include "adapter/session_watch_parts.h"
#include "core/fd.h"

#define EVENT_BYTES (16 * KIB)

static int list_links(struct watch_links *links, struct error **err)
{
	struct if_nameindex *list = if_nameindex();

	if (!list)
		return error_errno(err, errno, "listing the container's interfaces");
	for (const struct if_nameindex *at = list; at->if_index && links->count < WATCH_INTERFACES_MAX; at++)
		links->known[links->count++] = at->if_index;
	if_freenameindex(list);
	return 0;
}

/* Events are bound to before the list: what comes between the two is known, and told of once more. */
static int open_here(struct watch_links *links, struct error **err)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };

	links->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (links->fd < 0 || bind(links->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_errno(err, errno, "watching the container's interfaces");
	return list_links(links, err);
}

/* A socket stays in the namespace where it was made; this process comes back at once. */
int watch_links_open(int netns, struct watch_links *links, struct error **err)
{
	cleanup_fd int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int status;

	*links = (struct watch_links){ .fd = -1 };
	if (own < 0)
		return error_errno(err, errno, "our own network namespace");
	if (setns(netns, CLONE_NEWNET) < 0)
		return error_errno(err, errno, "the container's network namespace");
	status = open_here(links, err);
	if (setns(own, CLONE_NEWNET) < 0) {
		/* Worse than whatever came before it. */
		error_free(steal_pointer(err));
		status = error_errno(err, errno, "coming back from the container's network namespace");
	}
	if (status < 0)
		fd_close(&links->fd);
	return status;
}

static bool is_known(const struct watch_links *links, unsigned index)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->known[i] == index)
			return true;
	return false;
}

static bool is_change(const struct watch_links *links, struct nlmsghdr *message)
{
	const struct ifinfomsg *link = NLMSG_DATA(message);

	if (message->nlmsg_type == RTM_DELLINK)
		return true;
	if (message->nlmsg_type != RTM_NEWLINK)
		return false;
	return message->nlmsg_len < NLMSG_LENGTH(sizeof(*link)) || !is_known(links, (unsigned)link->ifi_index);
}

bool watch_links_changed(struct watch_links *links)
{
	union {
		struct nlmsghdr header;
		char bytes[EVENT_BYTES];
	} buffer;

	while (links->fd >= 0) {
		ssize_t got = recv(links->fd, &buffer, sizeof(buffer), MSG_DONTWAIT | MSG_TRUNC);
		size_t left = got > 0 ? (size_t)got : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return false;
		if (got < 0 || left > sizeof(buffer))
			return true;
		for (struct nlmsghdr *at = &buffer.header; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left))
			if (is_change(links, at))
				return true;
	}
	return false;
}
