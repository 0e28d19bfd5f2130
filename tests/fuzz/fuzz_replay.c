/* replay.json: what is read is the same when it is written and read again. */
#include "reports/replay.h"

#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(replay)
{
	cleanup_free struct replay *replay = NULL;
	cleanup_free struct replay *again = NULL;
	cleanup_buf struct buf once = BUF(BUNDLE_FILE_BYTES), twice = BUF(BUNDLE_FILE_BYTES);
	struct error *err = NULL;

	if (replay_decode((const char *)bytes, size, &replay, &err) < 0) {
		error_free(err);
		return;
	}
	FUZZ_HOLDS(replay->outcome != REPLAY_NOT_ATTEMPTED);
	FUZZ_HOLDS((replay->outcome == REPLAY_DIVERGED) == (replay->diverged_count > 0));
	FUZZ_HOLDS(replay_encode(replay, &once, &err) == 0);
	FUZZ_HOLDS(replay_decode(buf_string(&once), once.length, &again, &err) == 0);
	FUZZ_HOLDS(replay_encode(again, &twice, &err) == 0);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
}
