#include "core/fd.h"
#include "core/hash.h"
#include "reports/coverage.h"

int coverage_digest(const struct plan *plan, char out[HEX_SHA256], struct error **err)
{
	cleanup_buf struct buf text = BUF(2 * (size_t)BUNDLE_FILE_BYTES);

	if (coverage_encode(plan, &text, err) < 0 || scenarios_encode(plan, &text, err) < 0)
		return -1;
	hash_bytes(buf_string(&text), text.length, out);
	return 0;
}
