/* What is claimed of each effect that was declared, and why no more: derived, and never written by hand. */
#include <stdlib.h>

#include "core/fd.h"
#include "oracle/claims_hints.h"
#include "reports/claims.h"
#include "reports/html_parts.h"

static const char *status_words(int status)
{
	static const char *const words[] = {
		[CLAIM_ESTABLISHED] = "established",
		[CLAIM_NOT_ESTABLISHED] = "<b class=\"n\">not established</b>",
		[CLAIM_REFUTED] = "<b class=\"f\">refuted</b>",
	};

	return words[status];
}

static void put_reason(struct buf *out, const char *word, const char *reason, const char *path)
{
	escape_printf(out, "<li>%s <code>%s</code>%s%s\n", word, reason, path[0] ? " of path " : "", path);
}

/* Why it is not established, or refuted, and on what it rests. */
static void put_reasons(struct buf *out, const struct claim *claim)
{
	buf_text(out, "<ul>\n");
	for (size_t i = 0; i < claim->refuted_count; i++)
		put_reason(out, "Refuted by", claim_refutation_names[claim->refuted[i].by], claim->refuted[i].path);
	for (size_t i = 0; i < claim->unmet_count; i++)
		put_reason(out, "Unmet:", claim_obligation_names[claim->unmet[i].obligation], claim->unmet[i].path);
	for (size_t i = 0; i < claim->cut_count; i++)
		put_reason(out, "There are more than are listed of", claim_list_names[claim->cut[i]], "");
	for (size_t i = 0; i < claim->unseen_count; i++)
		put_reason(out, "Its observers cannot tell the", effect_sight_names[claim->unseen[i]], "");
	buf_text(out, claim->rests_on_count ? "<li>Rests on" : "<li>Rests on nothing");
	for (size_t i = 0; i < claim->rests_on_count; i++)
		escape_printf(out, "%s<code>%s</code>", i ? ", " : " ", claim->rests_on[i]);
	buf_text(out, claim->rests_on_cut ? " and more\n</ul>\n" : "\n</ul>\n");
}

static bool is_unmet(const struct claims *claims, int obligation)
{
	for (size_t id = 0; id < claims->claims_count; id++)
		for (size_t i = 0; i < claims->claims[id].unmet_count; i++)
			if (claims->claims[id].unmet[i].obligation == obligation)
				return true;
	return false;
}

/* Each kind of obligation once. */
static void put_hints(struct buf *out, const struct claims *claims)
{
	static const char *const columns[] = { "Unmet", "What that means", "What meets it", NULL };
	size_t count = 0;

	for (int i = 0; claim_obligation_names[i]; i++) {
		const struct claim_hint *hint = is_unmet(claims, i) ? claim_hint(i) : NULL;

		if (!hint)
			continue;
		if (count++ == 0)
			html_table(out, "x", "What is unmet", columns);
		escape_printf(out, "<tr><th scope=\"row\"><code>%s</code><td>%s<td>%s\n", claim_obligation_names[i],
			      hint->means, hint->meets);
	}
	if (count > 0)
		html_table_end(out);
}

static void put_claims(struct buf *out, const struct claims *claims)
{
	static const char *const columns[] = { "Claim", "Status", "It says", "It does not say", NULL };

	html_table(out, "x", "Claims", columns);
	for (size_t id = 0; id < claims->claims_count; id++) {
		const struct claim *claim = &claims->claims[id];

		escape_printf(out, "<tr><th scope=\"row\"><code>%s</code><td>", claim_names[claim->id]);
		buf_text(out, status_words(claim->status));
		escape_printf(out, "<td>%s<td>%s\n", claim->says, claim->says_not);
	}
	html_table_end(out);
	for (size_t id = 0; id < claims->claims_count; id++) {
		escape_printf(out, "<details><summary>%s: why</summary>\n", claim_names[claims->claims[id].id]);
		put_reasons(out, &claims->claims[id]);
		buf_text(out, "</details>\n");
	}
}

static void put_both_halves(struct buf *out, const struct claims *claims)
{
	const struct claim_non_bypassability *both = &claims->non_bypassability;

	escape_printf(out, "<p><code>NON_BYPASSABILITY(%s,%s)</code> is ", claims->boundary, claims->effect);
	buf_text(out, status_words(both->status));
	buf_text(out, ". It has two halves: that the set of paths is complete is ");
	buf_text(out, status_words(both->completeness));
	buf_text(out, ", and that what is in it is mediated is ");
	buf_text(out, status_words(both->mediation));
	buf_text(out, ".</p>\n");
}

/* Those that are about another effect of the run stand there. */
static bool any_shown(const struct html_page *page, size_t at, const struct claims *claims)
{
	for (size_t i = 0; i < claims->statements_count; i++)
		if (claims_shows(page->findings, page->findings->effects, page->findings->effects_count, at, i))
			return true;
	return false;
}

static void put_keys(struct buf *out, const struct claims *claims)
{
	cleanup_buf struct buf keys = BUF(CLAIMS_KEYS_BYTES);

	claims_keys(claims, &keys);
	if (keys.length > 0)
		escape_printf(out,
			      "<p>The deployment's side is as statements say that were signed by <code>%s</code>. That "
			      "this is the key of somebody else than who made the run is the bundle's own word: "
			      "<code>harness verify --assessor</code> asks.</p>\n",
			      buf_string(&keys));
}

static void put_statements(const struct html_page *page, size_t at, const struct claims *claims)
{
	static const char *const columns[] = { "Statement", "Kind", "Path", "In its words", "Counts", "By", NULL };
	const struct findings *findings = page->findings;
	struct buf *out = page->out;

	if (!any_shown(page, at, claims))
		return;
	put_keys(out, claims);
	html_table(out, "x", "Statements of assessors", columns);
	for (size_t i = 0; i < claims->statements_count; i++) {
		const struct claim_statement *one = &claims->statements[i];

		if (!claims_shows(findings, findings->effects, findings->effects_count, at, i))
			continue;
		escape_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s<td>%s%s<td>%s<td><code>%s</code>\n", one->id,
			      assessment_kind_names[one->kind], one->path, one->what,
			      claims_unmediated(&findings->effects[at], one)
				      ? " (the path is declared without a mediator: the assessor states a control)"
				      : "",
			      assessment_reason_names[one->reason], one->by);
	}
	html_table_end(out);
}

static void put_words(struct buf *out, const char *words, size_t stride, size_t count)
{
	buf_text(out, "<td>");
	for (size_t i = 0; i < count; i++)
		escape_printf(out, "%s%s", i ? ", " : "", words + i * stride);
	buf_text(out, count ? "" : "none");
}

static void put_paths(struct buf *out, const struct effect *effect)
{
	static const char *const columns[] = { "Path",       "What it is", "Side",      "Mediator",   "Admits",
					       "Counted as", "Observers",  "Scenarios", "Is claimed", NULL };

	html_table(out, "x", "Declared paths: a path that is listed is listed", columns);
	for (size_t i = 0; i < effect->paths_count; i++) {
		const struct effect_path *path = &effect->paths[i];

		escape_printf(out, "<tr><th scope=\"row\">%s<td>%s<td>%s<td>%s<td>%s<td>%s", path->id, path->what,
			      effect_side_names[path->side], path->mediator, effect_admits_names[path->admits],
			      path->subject);
		put_words(out, path->observers[0], sizeof(path->observers[0]), path->observers_count);
		put_words(out, path->scenarios[0], sizeof(path->scenarios[0]), path->scenarios_count);
		escape_printf(out, "<td>%s, by %s: %s\n", effect_claims_names[path->coverage.claims],
			      effect_basis_names[path->coverage.basis], path->coverage.why);
	}
	html_table_end(out);
}

static void put_excluded(struct buf *out, const struct effect *effect)
{
	static const char *const columns[] = { "Excluded", "Why", NULL };

	if (effect->excluded_count == 0)
		return;
	html_table(out, "x", "What the declaration leaves out", columns);
	for (size_t i = 0; i < effect->excluded_count; i++)
		escape_printf(out, "<tr><th scope=\"row\">%s<td>%s\n", effect->excluded[i].what,
			      effect->excluded[i].reason);
	html_table_end(out);
}

static void put_effect(const struct html_page *page, size_t at, const struct claims *claims)
{
	const struct effect *effect = &page->findings->effects[at];
	struct buf *out = page->out;

	escape_printf(out,
		      "<h3><code>%s</code>: %s</h3>\n<dl class=\"facts\">\n<dt>Declaration<dd>%s, "
		      "<code>sha256:%s</code>\n<dt>Boundary<dd>%s: %s\n",
		      effect->effect, effect->title, effect->id, claims->declaration, effect->boundary.id,
		      effect->boundary.what);
	escape_printf(out, "<dt>Revision<dd>%s, as declared\n<dt>Inventory<dd>%s, by %s: %s\n</dl>\n", effect->revision,
		      effect->inventory.date, effect_method_names[effect->inventory.method], effect->inventory.what);
	put_claims(out, claims);
	put_hints(out, claims);
	put_both_halves(out, claims);
	put_statements(page, at, claims);
	put_paths(out, effect);
	put_excluded(out, effect);
}

bool html_has_claims(const struct html_page *page)
{
	return member_known(MEMBER_CLAIMS, page->findings->manifest->minor);
}

int html_claims(struct html_page *page, struct error **err)
{
	const struct findings *findings = page->findings;
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
	struct buf *out = page->out;

	if (!html_has_claims(page))
		return 0;
	if (!claims)
		return error_set(err, ERROR_MEMORY, "no memory for claims");
	buf_text(out, "<h2 id=\"claims\">What is claimed of protected effects</h2>\n");
	if (findings->effects_count == 0)
		buf_text(out, "<p>No effect was declared for this run: nothing is claimed of any.</p>\n");
	else
		buf_text(out, "<p>A status is derived from what was observed in this run and, of the deployment's "
			      "side, from what assessors signed: an obligation that is not "
			      "met takes it away, an observation may refute it, and nothing that is only listed raises "
			      "it.</p>\n");
	for (size_t i = 0; i < findings->effects_count; i++) {
		if (claims_of(findings, &findings->effects[i], claims, err) < 0)
			return -1;
		put_effect(page, i, claims);
	}
	return 0;
}
