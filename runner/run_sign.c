/* `run --sign`: the key is there and good before anything is begun; the statement inside the bundle, and what is
 * beside. */
#include <fcntl.h>

#include "core/fd.h"
#include "reports/dsse.h"
#include "reports/statement.h"
#include "runner/beside.h"
#include "runner/run.h"

int run_key(struct run *run, struct error **err)
{
	return run->options->sign ? private_key_open(run->options->sign, &run->key, err) : 0;
}

int run_statement(void *context, const char *sums_sha256, struct buf *out, struct error **err)
{
	const struct run_statement *made = context;
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	cleanup_buf struct buf payload = BUF(DSSE_PAYLOAD_BYTES);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	struct statement_facts facts = {
		.manifest = manifest,
		.verdicts = made->verdicts,
		.sums_sha256 = sums_sha256,
	};

	if (!manifest)
		return error_set(err, ERROR_MEMORY, "no memory for a statement");
	if (manifest_decode(buf_string(made->manifest), made->manifest->length, manifest, err) < 0 ||
	    statement_encode(&facts, &payload, err) < 0 ||
	    dsse_sign(made->key, buf_string(&payload), payload.length, &envelope, err) < 0 ||
	    dsse_write(&envelope, out, err) < 0)
		return -1;
	buf_text(out, "\n");
	return buf_check(out, "a statement", err);
}

int run_sign_beside(const struct run *run, struct error **err)
{
	return run->key ? beside_sign(run->store.folder, BUNDLE_ARCHIVE, run->key, err) : 0;
}
