/* A pair of linked interfaces, one end in the container's network namespace, made by rtnetlink (rtnetlink(7), veth(4)).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_fault.h"

#define MESSAGE_BYTES 1024
#define ANSWER_BYTES 8192
#define ANSWER_MS 1000
#define INSIDE_NAME "fault0" /* its namespace holds no other but the loopback */
#define HOST_BITS 32

/* Every arm's own, in the addresses for benchmarks (RFC 2544), which no network routes. */
#define INSIDE_NETWORK 0xc6120000U
#define INSIDE_MASK 0x0001ffffU

struct message {
	struct nlmsghdr header;
	char bytes[MESSAGE_BYTES];
};

static void start(struct message *message, int type, int flags, const void *body, size_t length)
{
	*message = (struct message){
		.header = {
			.nlmsg_len = (uint32_t)NLMSG_LENGTH(length),
			.nlmsg_type = (uint16_t)type,
			.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
		},
	};
	memcpy(NLMSG_DATA(&message->header), body, length);
}

/* The messages here are far from filling it. */
static struct rtattr *put(struct message *message, int type, const void *value, size_t length)
{
	struct rtattr *attribute = (struct rtattr *)(void *)((char *)message + NLMSG_ALIGN(message->header.nlmsg_len));

	attribute->rta_type = (uint16_t)type;
	attribute->rta_len = (uint16_t)RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(attribute), value, length);
	message->header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(message->header.nlmsg_len) + RTA_SPACE(length));
	return attribute;
}

static void nest_end(const struct message *message, struct rtattr *nest)
{
	nest->rta_len = (uint16_t)((const char *)message + message->header.nlmsg_len - (const char *)nest);
}

/* Sends it, and waits for the kernel's acknowledgment, which comes at once. */
static int ask(int fd, const struct message *message, struct error **err)
{
	union {
		struct nlmsghdr header;
		char bytes[ANSWER_BYTES];
	} answer;
	const struct nlmsgerr *verdict = NLMSG_DATA(&answer.header);

	if (send(fd, message, message->header.nlmsg_len, 0) < 0)
		return error_errno(err, errno, "asking for an interface");
	if (fd_wait(fd, POLLIN, clock_deadline(ANSWER_MS), err) != 1)
		return *err ? -1 : error_set(err, ERROR_TIMEOUT, "the kernel makes no interface");
	if (recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(sizeof(*verdict)) ||
	    answer.header.nlmsg_type != NLMSG_ERROR)
		return error_set(err, ERROR_PROTOCOL, "the kernel's answer about an interface is none");
	return verdict->error == 0 ? 0 : error_errno(err, -verdict->error, "making an interface");
}

static int open_socket(int *out, struct error **err)
{
	*out = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	return *out < 0 ? error_errno(err, errno, "rtnetlink") : 0;
}

/* The socket stays in the namespace, and this process comes back. *index is of the end inside. */
static int open_inside(int netns, int *out, int *index, struct error **err)
{
	cleanup_fd int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int status;

	if (own < 0 || setns(netns, CLONE_NEWNET) < 0)
		return error_errno(err, errno, "the container's network namespace");
	status = open_socket(out, err);
	*index = (int)if_nametoindex(INSIDE_NAME);
	if (setns(own, CLONE_NEWNET) == 0)
		return status;
	/* Worse than whatever came before it. */
	error_free(steal_pointer(err));
	return error_errno(err, errno, "coming back from the container's network namespace");
}

static int make_pair(int fd, const char *name, int netns, struct error **err)
{
	const struct ifinfomsg outside = { .ifi_family = AF_UNSPEC }, inside = { .ifi_family = AF_UNSPEC };
	struct rtattr *info, *data, *peer;
	struct message message;

	start(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &outside, sizeof(outside));
	put(&message, IFLA_IFNAME, name, strlen(name) + 1);
	info = put(&message, IFLA_LINKINFO, NULL, 0);
	put(&message, IFLA_INFO_KIND, "veth", 4);
	data = put(&message, IFLA_INFO_DATA, NULL, 0);
	peer = put(&message, VETH_INFO_PEER, &inside, sizeof(inside));
	put(&message, IFLA_IFNAME, INSIDE_NAME, sizeof(INSIDE_NAME));
	put(&message, IFLA_NET_NS_FD, &netns, sizeof(netns));
	nest_end(&message, peer);
	nest_end(&message, data);
	nest_end(&message, info);
	return ask(fd, &message, err);
}

static int set_up(int fd, int index, struct error **err)
{
	const struct ifinfomsg link = { .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct message message;

	start(&message, RTM_NEWLINK, 0, &link, sizeof(link));
	return ask(fd, &message, err);
}

static int add_address(int fd, int index, struct in_addr address, struct error **err)
{
	const struct ifaddrmsg body = { .ifa_family = AF_INET,
					.ifa_prefixlen = HOST_BITS,
					.ifa_index = (unsigned)index };
	struct message message;

	start(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
	put(&message, IFA_LOCAL, &address, sizeof(address));
	put(&message, IFA_ADDRESS, &address, sizeof(address));
	return ask(fd, &message, err);
}

static int add_route(int fd, int index, struct in_addr to, struct error **err)
{
	const struct rtmsg body = {
		.rtm_family = AF_INET,
		.rtm_dst_len = HOST_BITS,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	struct message message;

	start(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
	put(&message, RTA_DST, &to, sizeof(to));
	put(&message, RTA_OIF, &index, sizeof(index));
	return ask(fd, &message, err);
}

int arm_fault_link(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	const struct in_addr own = { .s_addr = htonl(INSIDE_NETWORK | ((uint32_t)getpid() & INSIDE_MASK)) };
	cleanup_fd int outside = -1, inside = -1;
	struct in_addr nic;
	char name[IFNAMSIZ];
	int index = 0;

	if (inet_pton(AF_INET, arm->context.nic, &nic) != 1)
		return error_set(err, ERROR_REFUSED, "the host has no address on the engine's bridge network");
	snprintf(name, sizeof(name), "fault%d", (int)getpid());
	if (open_socket(&outside, err) < 0 || make_pair(outside, name, arm->session.netns, err) < 0)
		return -1;
	state->link = (int)if_nametoindex(name);
	if (set_up(outside, state->link, err) < 0 || add_route(outside, state->link, own, err) < 0)
		return -1;
	if (open_inside(arm->session.netns, &inside, &index, err) < 0 || set_up(inside, index, err) < 0 ||
	    add_address(inside, index, own, err) < 0)
		return -1;
	return add_route(inside, index, nic, err);
}

void arm_fault_unlink(struct arm_fault_state *state)
{
	const struct ifinfomsg link = { .ifi_index = state->link };
	cleanup_error struct error *gone = NULL;
	cleanup_fd int fd = -1;
	struct message message;

	if (state->link == 0)
		return;
	start(&message, RTM_DELLINK, 0, &link, sizeof(link));
	if (open_socket(&fd, &gone) == 0)
		(void)!ask(fd, &message, &gone);
	state->link = 0;
}
