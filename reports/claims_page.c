/* docs/claims.md: each obligation of a claim as Markdown. */
#include "oracle/claims_hints.h"
#include "reports/claims.h"

void claims_page(struct buf *out)
{
	buf_text(out, "<!-- Made by `make docs` from oracle/claims_hints.c: do not edit. -->\n"
		      "# What a claim lacks\n\n"
		      "An obligation that is unmet leaves a claim `not_established`. `harness effects claims` and "
		      "report.html name each, with the\n"
		      "path where it is of one. The last three, and with them `path_set_completeness`, are met by "
		      "signed statements of an assessor\n"
		      "alone ([effects.md](effects.md), Assessments); the others by a run of the declared paths.\n\n"
		      "| unmet | what that means | what meets it |\n|---|---|---|\n");
	for (int i = 0; claim_obligation_names[i]; i++) {
		const struct claim_hint *hint = claim_hint(i);

		if (hint)
			buf_printf(out, "| `%s` | %s | %s |\n", claim_obligation_names[i], hint->means, hint->meets);
	}
}
