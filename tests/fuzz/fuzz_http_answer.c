/* What an engine answers to a request for an upgrade, and what is made of its status and its body. */
#include <string.h>
#include <sys/mman.h>

#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/http_internal.h"
#include "tests/fuzz/fuzz.h"

#define BODY_MAX 4096

static void judge(const struct http_answer *answer)
{
	for (enum engine_operation operation = ENGINE_PING; operation < ENGINE_OPERATIONS; operation++) {
		cleanup_error struct error *err = NULL;
		bool found = false;
		int result = engine_judge(operation, answer->status, buf_string(&answer->body), answer->body.length,
					  &found, &err);

		FUZZ_HOLDS((result < 0) == (err != NULL) && (result == 0 || !found));
	}
	FUZZ_HOLDS(engine_parse_version(answer->api_version) < 1000);
}

static void read_answer(int fd)
{
	const struct http_call call = { .deadline = NEVER, .body_max = BODY_MAX };
	cleanup_answer struct http_answer answer = { .status = 0 };
	cleanup_error struct error *err = NULL;

	if (http_read_answer(fd, &call, &answer, &err) < 0) {
		FUZZ_HOLDS(error_code(err) == ERROR_CLOSED || error_code(err) == ERROR_LIMIT ||
			   error_code(err) == ERROR_PROTOCOL);
		return;
	}
	FUZZ_HOLDS(!err && answer.status >= 100 && answer.status <= 599 && answer.body.length <= BODY_MAX);
	FUZZ_HOLDS(strlen(answer.api_version) < sizeof(answer.api_version));
	FUZZ_HOLDS(strlen(answer.content_type) < sizeof(answer.content_type));
	FUZZ_HOLDS(strlen(answer.server) < sizeof(answer.server));
	judge(&answer);
}

FUZZ_TARGET(http_answer)
{
	cleanup_fd int fd = memfd_create("answer", MFD_CLOEXEC);

	FUZZ_HOLDS(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	read_answer(fd);
}
