/* A network namespace for a test: its loopback, and on demand a pair of interfaces. The test itself stays outside. */
#ifndef HARNESS_TESTS_UNIT_NETNS_WORLD_H
#define HARNESS_TESTS_UNIT_NETNS_WORLD_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/unit/watching.h"

static inline void set_up(const char *interface, const char *address)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_flags = 0 };
	struct sockaddr_in *to = (struct sockaddr_in *)(void *)&request.ifr_addr;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (address) {
		to->sin_family = AF_INET;
		CU_ASSERT_EQUAL(inet_pton(AF_INET, address, &to->sin_addr), 1);
		CU_ASSERT_EQUAL(ioctl(fd, SIOCSIFADDR, &request), 0);
	}
	request.ifr_flags = IFF_UP;
	CU_ASSERT_EQUAL(ioctl(fd, SIOCSIFFLAGS, &request), 0);
}

/* A namespace with its loopback up; the test itself stays on the host. */
static inline void make_namespace(int *outer, int *inner)
{
	*outer = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(unshare(CLONE_NEWNET), 0);
	*inner = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	set_up("lo", NULL);
	CU_ASSERT_EQUAL(setns(*outer, CLONE_NEWNET), 0);
}

static inline void enter(int namespace)
{
	CU_ASSERT_EQUAL(setns(namespace, CLONE_NEWNET), 0);
}

static inline void attribute(struct nlmsghdr *message, unsigned short type, const char *text, size_t length)
{
	struct rtattr *at = (struct rtattr *)(void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	at->rta_type = type;
	at->rta_len = (unsigned short)RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(at), text, length);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(at->rta_len);
}

/* Asks the kernel for a pair of interfaces, "out" and one that it names. */
static inline void ask_for_pair(int netlink)
{
	union {
		struct nlmsghdr header;
		char bytes[512];
	} request = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
				  .nlmsg_type = RTM_NEWLINK,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL } };
	struct rtattr *kind;

	attribute(&request.header, IFLA_IFNAME, "out", 4);
	kind = (struct rtattr *)(void *)(request.bytes + request.header.nlmsg_len);
	attribute(&request.header, IFLA_LINKINFO, NULL, 0);
	attribute(&request.header, IFLA_INFO_KIND, "veth", 4);
	kind->rta_len = (unsigned short)(request.bytes + request.header.nlmsg_len - (char *)kind);
	CU_ASSERT(send(netlink, &request, request.header.nlmsg_len, 0) > 0);
}

/* Whether the kernel said that `interface` is running: before, it drops what is sent there. */
static inline bool is_running(int netlink, unsigned interface)
{
	union {
		struct nlmsghdr header;
		char bytes[8192];
	} event;
	struct error *err = NULL;
	bool running = false;

	while (!running && fd_wait(netlink, POLLIN, watching_deadline(), &err) == 1) {
		ssize_t got = recv(netlink, &event, sizeof(event), 0);
		const struct ifinfomsg *link = NLMSG_DATA(&event.header);

		running = got >= (ssize_t)NLMSG_LENGTH(sizeof(*link)) && event.header.nlmsg_type == RTM_NEWLINK &&
			  (unsigned)link->ifi_index == interface && link->ifi_flags & IFF_RUNNING;
	}
	CU_ASSERT(test_no_error(&err));
	return running;
}

static inline void add_interfaces(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	cleanup_fd int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct if_nameindex *list;

	CU_ASSERT_EQUAL(bind(netlink, (const struct sockaddr *)&address, sizeof(address)), 0);
	ask_for_pair(netlink);
	list = if_nameindex();
	for (const struct if_nameindex *at = list; at && at->if_index; at++) {
		if (strcmp(at->if_name, "lo") != 0 && strcmp(at->if_name, "out") != 0)
			set_up(at->if_name, NULL);
	}
	if_freenameindex(list);
	set_up("out", "10.99.0.1");
	CU_ASSERT(is_running(netlink, if_nametoindex("out")));
}

#endif
