/* What verify says beside the verdict: of what the bundle is a part, and whose its scenarios and declarations are. No
 * check rests on it.
 */
#include <inttypes.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "reports/coverage.h"
#include "reports/replay.h"
#include "reports/verify_parts.h"

static const struct verify_scenario *shipped_find(const struct verify_options *options, const char *id)
{
	for (size_t i = 0; i < options->shipped_count; i++)
		if (strcmp(options->shipped[i].id, id) == 0)
			return &options->shipped[i];
	return NULL;
}

/* What the words select can be missing only from a bundle of the whole plan. */
static bool selects_all(const struct manifest_origin *origin)
{
	for (size_t i = 0; i < origin->selection_count; i++)
		if (strcmp(origin->selection[i], "all") == 0)
			return origin->shard.of <= 1;
	return false;
}

static void count_lacking(const struct bundle *bundle, const struct verify_options *options,
			  struct verify_remarks *remarks)
{
	for (size_t i = 0; i < options->shipped_count && remarks->all; i++)
		remarks->lacking += options->shipped[i].of_all &&
				    !scenario_find(bundle->scenarios, bundle->scenarios_count, options->shipped[i].id);
}

static int compare(const struct bundle *bundle, const struct verify_options *options, struct verify_remarks *remarks,
		   struct error **err)
{
	for (size_t i = 0; i < bundle->scenarios_count; i++) {
		const struct verify_scenario *shipped = shipped_find(options, bundle->scenarios[i].id);
		struct verify_scenario one;

		if (!shipped) {
			remarks->own++;
			continue;
		}
		if (verify_scenario_of(&bundle->scenarios[i], &one, err) < 0)
			return -1;
		if (strcmp(one.sha256, shipped->sha256) == 0)
			remarks->same++;
		else
			remarks->differ++;
	}
	remarks->compared = true;
	count_lacking(bundle, options, remarks);
	return 0;
}

static const struct verify_declaration *declared_find(const struct verify_options *options, const char *id)
{
	for (size_t i = 0; i < options->declared_count; i++)
		if (strcmp(options->declared[i].id, id) == 0)
			return &options->declared[i];
	return NULL;
}

static int compare_declarations(const struct bundle *bundle, const struct verify_options *options,
				struct verify_declared *out, struct error **err)
{
	for (size_t i = 0; i < bundle->effects_count; i++) {
		const struct effect *effect = &bundle->effects[i];
		const struct verify_declaration *declared = declared_find(options, effect->id);
		char sha256[HEX_SHA256];

		if (!declared) {
			out->own++;
			continue;
		}
		if (effect_digest(effect, sha256, err) < 0)
			return -1;
		if (strcmp(sha256, declared->sha256) == 0)
			out->same++;
		else
			memcpy(out->differ[out->differ_count++], effect->id, sizeof(effect->id));
	}
	out->compared = true;
	return 0;
}

int verify_scenario_of(const struct scenario *scenario, struct verify_scenario *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	int result = scenario_text(scenario, &text, err);

	if (result < 0)
		return result;
	memcpy(out->id, scenario->id, sizeof(out->id));
	hash_bytes(buf_string(&text), text.length, out->sha256);
	out->of_all = scenario_selected(scenario, "all");
	return 0;
}

int verify_remark(const struct bundle *bundle, const struct verify_options *options, struct verify_remarks *out,
		  struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;

	*out = (struct verify_remarks){
		.shard = origin->shard,
		.merged = origin->merged_count,
		.replay = bundle->replay != NULL,
		.scenarios = bundle->scenarios_count,
		.all = selects_all(origin),
		.declared = { .count = bundle->effects_count },
	};
	if (bundle->replay) {
		memcpy(out->replay_of, bundle->replay->of.run, sizeof(out->replay_of));
		out->replay_part = bundle->replay->part;
		out->replay_outcome = replay_outcome_names[bundle->replay->outcome];
	}
	if (options->shipped && compare(bundle, options, out, err) < 0)
		return -1;
	return options->declared ? compare_declarations(bundle, options, &out->declared, err) : 0;
}

static void put_scenarios(const struct verify_remarks *remarks, bool quiet, struct buf *out)
{
	if (!remarks->compared) {
		buf_printf(out, "scenarios: %zu, and none are installed to compare them with\n", remarks->scenarios);
		return;
	}
	if (quiet && remarks->same == remarks->scenarios && remarks->lacking == 0)
		return;
	buf_printf(out, "scenarios: %zu of %zu are word for word those that come with this program", remarks->same,
		   remarks->scenarios);
	if (remarks->differ)
		buf_printf(out, ", %zu have another text", remarks->differ);
	if (remarks->own)
		buf_printf(out, ", %zu are the bundle's own", remarks->own);
	if (remarks->lacking)
		buf_printf(out, "; the run was of all, and %zu that come with this program are not there",
			   remarks->lacking);
	buf_text(out, "\n");
}

static void put_declarations(const struct verify_declared *declared, bool quiet, struct buf *out)
{
	if (declared->count == 0 || (quiet && declared->compared && declared->same == declared->count))
		return;
	if (!declared->compared) {
		buf_printf(out, "declarations: %zu, and none are installed to compare them with\n", declared->count);
		return;
	}
	buf_printf(out, "declarations: %zu of %zu are word for word those that come with this program", declared->same,
		   declared->count);
	for (size_t i = 0; i < declared->differ_count; i++)
		buf_printf(out, ", %s", declared->differ[i]);
	if (declared->differ_count)
		buf_printf(out, " %s another text", declared->differ_count > 1 ? "have" : "has");
	if (declared->own)
		buf_printf(out, ", %zu are the bundle's own", declared->own);
	buf_text(out, "\n");
}

void verify_remarks_text(const struct verify_remarks *remarks, bool quiet, struct buf *out)
{
	if (remarks->shard.of > 1)
		buf_printf(out,
			   "this is shard %" PRId64 " of %" PRId64 " of a plan: it says nothing of the other shards, "
			   "and one shard cannot show of which plan\n",
			   remarks->shard.index, remarks->shard.of);
	if (remarks->merged)
		buf_printf(out, "this is merged from the bundles of %zu shards\n", remarks->merged);
	if (remarks->replay)
		buf_printf(out, "this is a replay of %s run %s, and its own word for the outcome is %s\n",
			   remarks->replay_part ? "one scenario of" : "the", remarks->replay_of,
			   remarks->replay_outcome);
	put_scenarios(remarks, quiet, out);
	put_declarations(&remarks->declared, quiet, out);
}
