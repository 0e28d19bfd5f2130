/* A DNS query: each question's labels on a line of their own, or a refusal. */
#include "observers/dns.h"

#include <string.h>

#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(dns)
{
	cleanup_buf struct buf labels = BUF(MIB);
	cleanup_error struct error *err = NULL;

	if (dns_labels(bytes, size, &labels, &err) < 0) {
		FUZZ_HOLDS(error_code(err) == ERROR_INPUT || error_code(err) == ERROR_LIMIT);
		return;
	}
	FUZZ_HOLDS(labels.length > 0 && labels.data[labels.length - 1] == '\n');
	FUZZ_HOLDS(strlen(labels.data) == labels.length);
}
