/* One message on an observer's wire, without a descriptor and with one: at most one of the two is right. */
#include "observers/wire.h"

#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/fuzz/fuzz.h"

static void check_names(const union wire_any *any)
{
	if (any->header.type == WIRE_RECORD) {
		FUZZ_HOLDS(strlen(any->record.observer) < NAME_MAX_SHORT &&
			   strlen(any->record.subject) < NAME_MAX_SHORT);
		FUZZ_HOLDS(strlen(any->record.unit) < sizeof(any->record.unit));
		FUZZ_HOLDS(any->record.reason < WIRE_REASONS && any->record.phase <= WIRE_AFTER);
		return;
	}
	FUZZ_HOLDS(strlen(any->message.subject) < NAME_MAX_SHORT && strlen(any->message.text) < NAME_MAX_SHORT);
	FUZZ_HOLDS(strlen(any->message.canary) <= CANARY_LENGTH && any->message.marker <= 1);
	FUZZ_HOLDS(any->message.reason < WIRE_REASONS && any->message.phase <= WIRE_AFTER);
}

static bool receive(const uint8_t *bytes, size_t size, bool descriptor)
{
	cleanup_fd int one = -1, other = -1, passed = -1;
	cleanup_error struct error *err = NULL;
	union wire_any any;
	int result = fd_seqpacket(&one, &other, &err);

	FUZZ_HOLDS(result == 0);
	result = fd_send(one, bytes, size, &one, descriptor, NEVER, &err);
	FUZZ_HOLDS(result == 0);
	if (wire_receive(other, &any, &passed, NEVER, &err) < 0) {
		FUZZ_HOLDS(passed == -1 && (error_code(err) == ERROR_PROTOCOL || error_code(err) == ERROR_CLOSED));
		return false;
	}
	FUZZ_HOLDS(!err && (passed >= 0) == descriptor);
	check_names(&any);
	return true;
}

FUZZ_TARGET(wire)
{
	/* No message at all is the end of the other side. What is longer than any is longer by one byte, too. */
	if (size == 0)
		return;
	if (size > sizeof(union wire_any) + 1)
		size = sizeof(union wire_any) + 1;
	FUZZ_HOLDS(!receive(bytes, size, false) || !receive(bytes, size, true));
}
