#include "runner/policy_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"

#define CLIENTS 4
#define ANSWER_BYTES (16 * KIB)
#define MODE 0600

struct client {
	int fd; /* -1: none */
	bool waits; /* for its answer */
};

struct policy_channel {
	struct loop *loop;
	int listener;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct client clients[CLIENTS];
	policy_asked asked;
	void *context;
};

static int address_of(const char *folder, struct sockaddr_un *out, struct error **err)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (snprintf(out->sun_path, sizeof(out->sun_path), "%s/%s", folder, POLICY_SOCKET) < (int)sizeof(out->sun_path))
		return 0;
	return error_set(err, ERROR_LIMIT, "the operator's socket: its path is too long");
}

static bool trusted(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void drop(struct policy_channel *channel, struct client *client)
{
	if (client->fd >= 0)
		loop_remove(channel->loop, client->fd);
	fd_close(&client->fd);
	client->waits = false;
}

/* ---- serving ---- */

static int on_client(void *context, int fd, short revents, struct error **err)
{
	struct policy_channel *channel = context;
	char bytes[POLICY_REQUEST_BYTES];
	struct client *client = NULL;
	unsigned index = 0;
	ssize_t got;

	(void)revents;
	(void)err;
	for (unsigned i = 0; i < CLIENTS; i++)
		if (channel->clients[i].fd == fd) {
			client = &channel->clients[i];
			index = i;
		}
	if (!client)
		return 0;
	got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* A second request before the first was answered is as good as hanging up. */
	if (got <= 0 || client->waits) {
		drop(channel, client);
		return 0;
	}
	client->waits = true;
	channel->asked(channel->context, index, bytes, (size_t)got);
	return 0;
}

/* A free place, or that of one who connected and never asked. */
static struct client *place_for(struct policy_channel *channel)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (channel->clients[i].fd < 0)
			return &channel->clients[i];
	for (size_t i = 0; i < CLIENTS; i++) {
		if (channel->clients[i].waits)
			continue;
		drop(channel, &channel->clients[i]);
		return &channel->clients[i];
	}
	return NULL;
}

static int on_listener(void *context, int fd, short revents, struct error **err)
{
	struct policy_channel *channel = context;
	cleanup_fd int socket = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	cleanup_error struct error *full = NULL;
	struct client *client;

	(void)revents;
	(void)err;
	if (socket < 0 || !trusted(socket))
		return 0;
	client = place_for(channel);
	if (client && loop_fd(channel->loop, socket, POLLIN, on_client, channel, &full) == 0)
		client->fd = steal_fd(&socket);
	return 0;
}

static int listen_at(const struct sockaddr_un *address, int *out, struct error **err)
{
	cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* The mode of the socket is that of its file, from the first moment on. */
	if (fd < 0 || fchmod(fd, MODE) < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    listen(fd, CLIENTS) < 0)
		return error_errno(err, errno, "the operator's socket");
	*out = steal_fd(&fd);
	return 0;
}

int policy_channel_open(struct loop *loop, const char *folder, policy_asked asked, void *context,
			struct policy_channel **out, struct error **err)
{
	struct policy_channel *channel;
	struct sockaddr_un address;
	int r = address_of(folder, &address, err);

	if (r < 0)
		return r;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return error_set(err, ERROR_MEMORY, "no memory for the operator's channel");
	*channel = (struct policy_channel){ .loop = loop, .listener = -1, .asked = asked, .context = context };
	for (size_t i = 0; i < CLIENTS; i++)
		channel->clients[i].fd = -1;
	memcpy(channel->path, address.sun_path, sizeof(channel->path));
	r = listen_at(&address, &channel->listener, err);
	if (r == 0)
		r = loop_fd(loop, channel->listener, POLLIN, on_listener, channel, err);
	if (r == 0)
		*out = channel;
	else
		policy_channel_close(channel);
	return r;
}

void policy_channel_close(struct policy_channel *channel)
{
	if (!channel)
		return;
	for (size_t i = 0; i < CLIENTS; i++)
		drop(channel, &channel->clients[i]);
	if (channel->listener >= 0) {
		loop_remove(channel->loop, channel->listener);
		(void)unlink(channel->path);
	}
	fd_close(&channel->listener);
	free(channel);
}

void policy_channel_answer(struct policy_channel *channel, unsigned client, const struct policy_answer *answer)
{
	cleanup_buf struct buf text = BUF(ANSWER_BYTES);
	cleanup_error struct error *gone = NULL;
	struct json_writer json;

	if (client >= CLIENTS || !channel->clients[client].waits)
		return;
	channel->clients[client].waits = false;
	json_begin(&json, &text);
	schema_encode(policy_answer_fields, answer, &json);
	if (buf_check(&text, "an answer to the operator", &gone) < 0 ||
	    fd_send(channel->clients[client].fd, text.data, text.length, NULL, 0, clock_now(), &gone) < 0)
		drop(channel, &channel->clients[client]);
}

/* ---- asking ---- */

static int reach(const char *folder, int *out, struct error **err)
{
	cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;

	if (address_of(folder, &address, err) < 0)
		return -1;
	if (fd < 0)
		return error_errno(err, errno, "a socket");
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || !trusted(fd))
		return error_set(err, ERROR_CLOSED, "no session of yours listens there");
	*out = steal_fd(&fd);
	return 0;
}

int policy_ask(const char *folder, const char *bytes, size_t length, int64_t deadline, struct policy_answer *out,
	       struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	char answer[ANSWER_BYTES];
	cleanup_fd int fd = -1;
	size_t none = 0;
	int got;

	if (reach(folder, &fd, err) < 0 || fd_send(fd, bytes, length, NULL, 0, deadline, err) < 0)
		return -1;
	got = fd_receive(fd, answer, sizeof(answer), NULL, &none, deadline, err);
	if (got < 0)
		return got;
	if (got == 0)
		return error_set(err, ERROR_CLOSED, "the session ended without an answer");
	if (json_parse(answer, (size_t)got, JSON_DEPTH, &document, err) < 0)
		return error_wrap(err, "the session's answer");
	return schema_decode(policy_answer_fields, json_root(document), "the session's answer", out, sizeof(*out), err);
}

static const char *const said_names[] = {
	[POLICY_SAID_STATE] = "state", [POLICY_SAID_APPLIED] = "applied",
	[POLICY_SAID_STALE] = "stale", [POLICY_SAID_INVALID] = "invalid",
	[POLICY_SAID_BUSY] = "busy",   [POLICY_SAID_NOT_OPEN] = "not-open",
	[POLICY_SAID_LOST] = "lost",   NULL,
};

#define FLAG(owner, name, member)                                                                                      \
	{                                                                                                              \
		.key = (name), .type = SCHEMA_BOOL, .required = true, .offset = offsetof(struct owner, member)         \
	}

static const struct schema_field tool_fields[] = {
	{ .key = "tool",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .min = 1,
	  .size = NAME_MAX_SHORT,
	  .offset = offsetof(struct policy_tool_state, tool) },
	FLAG(policy_tool_state, "revoked", revoked),
	{ .key = NULL },
};

const struct schema_field policy_answer_fields[] = {
	{ .key = "said",
	  .type = SCHEMA_ENUM,
	  .required = true,
	  .names = said_names,
	  .offset = offsetof(struct policy_answer, said) },
	{ .key = "scenario",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .min = 1,
	  .size = ID_MAX,
	  .offset = offsetof(struct policy_answer, scenario) },
	FLAG(policy_answer, "open", open),
	FLAG(policy_answer, "closed", closed),
	{ .key = "revision",
	  .type = SCHEMA_INT,
	  .required = true,
	  .max = INT64_C(9007199254740991),
	  .offset = offsetof(struct policy_answer, revision) },
	{ .key = "tools",
	  .type = SCHEMA_OBJECT,
	  .required = true,
	  .fields = tool_fields,
	  .size = sizeof(struct policy_tool_state),
	  .array_max = SESSION_TOOLS_MAX,
	  .offset = offsetof(struct policy_answer, tools),
	  .count_offset = offsetof(struct policy_answer, tools_count) },
	{ .key = NULL },
};
