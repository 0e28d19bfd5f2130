/* environment.json of a bundle: what has its form can be told, compared and asked. */
#include "reports/environment.h"

#include <stdbool.h>

#include "core/fd.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(environment)
{
	const char *text = (const char *)bytes;
	const char *lacks[ENVIRONMENT_NEEDS + 1];
	cleanup_buf struct buf kernel = BUF(MIB), engine = BUF(MIB);
	struct error *err = NULL;
	char boot[HEX_SHA256];
	bool differs = false, good = environment_check(text, size, &err) == 0;

	FUZZ_HOLDS(good == !err);
	error_free(err);
	err = NULL;
	if (environment_differs(text, size, &differs, &err) < 0)
		FUZZ_HOLDS(!good);
	error_free(err);
	err = NULL;
	if (environment_kernel_text(text, size, &kernel, &err) < 0 ||
	    environment_engine_text(text, size, &engine, &err) < 0)
		FUZZ_HOLDS(!good);
	error_free(err);
	err = NULL;
	if (environment_boot_of(text, size, boot, sizeof(boot), &err) < 0)
		FUZZ_HOLDS(!good);
	error_free(err);
	err = NULL;
	(void)!environment_lacks(text, size, lacks, &err);
	error_free(err);
	err = NULL;
	(void)!environment_refused(text, size, &err);
	error_free(err);
}
