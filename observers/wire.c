#include "observers/wire.h"

#include <string.h>

#include "core/fd.h"

static bool from_arm(uint16_t type)
{
	return type >= WIRE_EXPECT && type <= WIRE_POLICY;
}

static bool from_observer(uint16_t type)
{
	return type >= WIRE_BOUND && type <= WIRE_REVISION;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static int send_bytes(int socket, const void *bytes, size_t length, int fd, int64_t deadline, struct error **err)
{
	return fd_send(socket, bytes, length, &fd, fd >= 0 ? 1 : 0, deadline, err);
}

int wire_send(int socket, struct wire_message *message, enum wire_type type, int fd, int64_t deadline,
	      struct error **err)
{
	message->header =
		(struct wire_header){ .version = WIRE_VERSION, .type = (uint16_t)type, .length = sizeof(*message) };
	return send_bytes(socket, message, sizeof(*message), fd, deadline, err);
}

int wire_send_record(int socket, struct wire_record *record, int64_t deadline, struct error **err)
{
	record->header =
		(struct wire_header){ .version = WIRE_VERSION, .type = WIRE_RECORD, .length = sizeof(*record) };
	return send_bytes(socket, record, sizeof(*record), -1, deadline, err);
}

/* What is wrong with a message's members, or NULL. */
static const char *message_fault(const struct wire_message *message)
{
	if (!terminated(message->subject, sizeof(message->subject)) ||
	    !terminated(message->text, sizeof(message->text)) || !terminated(message->canary, sizeof(message->canary)))
		return "a name without its end";
	if (message->canary[0] != '\0' && !canary_valid(message->canary, strlen(message->canary)))
		return "a canary of another form";
	if (message->marker > 1 || message->phase > WIRE_AFTER || message->reason >= WIRE_REASONS)
		return "a value outside its range";
	return NULL;
}

static const char *record_fault(const struct wire_record *record)
{
	if (!terminated(record->observer, sizeof(record->observer)) ||
	    !terminated(record->subject, sizeof(record->subject)) || !terminated(record->unit, sizeof(record->unit)))
		return "a name without its end";
	if (record->kind > WIRE_STATE || record->status > WIRE_OBSERVER_ERROR || record->reason >= WIRE_REASONS ||
	    record->phase > WIRE_AFTER)
		return "a value outside its range";
	return NULL;
}

static const char *fault(const union wire_any *any, size_t length, bool descriptor)
{
	const struct wire_header *header = &any->header;
	size_t expected = sizeof(struct wire_message);

	if (length < sizeof(*header))
		return "a message shorter than its header";
	if (header->version != WIRE_VERSION)
		return "another version";
	if (!from_arm(header->type) && !from_observer(header->type))
		return "an unknown type";
	if (header->type == WIRE_RECORD)
		expected = sizeof(struct wire_record);
	if (header->length != expected || length != expected)
		return "a wrong length";
	if (descriptor != (header->type == WIRE_INPUT))
		return descriptor ? "a descriptor that belongs to no input" : "an input without a descriptor";
	return header->type == WIRE_RECORD ? record_fault(&any->record) : message_fault(&any->message);
}

int wire_receive(int socket, union wire_any *out, int *fd, int64_t deadline, struct error **err)
{
	cleanup_fd int passed = -1;
	size_t count = 1;
	const char *reason;
	int got = fd_receive(socket, out, sizeof(*out), &passed, &count, deadline, err);

	*fd = -1;
	if (got < 0)
		return got;
	if (got == 0)
		return error_set(err, ERROR_CLOSED, "the other end of an observer's wire is gone");
	reason = fault(out, (size_t)got, count == 1);
	if (reason)
		return error_set(err, ERROR_PROTOCOL, "an observer's wire: %s", reason);
	*fd = steal_fd(&passed);
	return 0;
}
