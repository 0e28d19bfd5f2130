/* `run --assessment`: the statements are there and of their form before anything is begun. Which of the assessors' keys
 * signs the run is known then too. */
#include <string.h>

#include "runner/assessing.h"
#include "runner/run.h"

int run_assessing(struct run *run, struct error **err)
{
	struct assessing *assessing = &run->assessing;
	char key[HEX_SHA256];

	if (run->options->assessors.count > 0 && run->options->assessments.count == 0)
		return error_set(err, ERROR_USAGE, "--assessor needs --assessment, a file with signed statements");
	if (assessing_open(run->options, assessing, err) < 0)
		return -1;
	if (!run->key)
		return 0;
	if (public_key_fingerprint(private_key_public(run->key), key, err) < 0)
		return -1;
	if (assessors_find(&assessing->assessors, key) >= 0)
		memcpy(assessing->run_keys[assessing->run_keys_count++], key, sizeof(key));
	return 0;
}
