/* What two bundles say of declared effects: a claim whose status is another, a declaration that changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/claims.h"
#include "reports/compare.h"

/* Of each effect its declaration, and its claims. */
#define PER_EFFECT (1 + CLAIMS)

static void add(struct comparison *comparison, const struct claims *claims, const char *about, const char *was,
		const char *is)
{
	struct compare_claim *one = &comparison->claims[comparison->claims_count];

	if (strcmp(was, is) == 0)
		return;
	snprintf(one->effect, sizeof(one->effect), "%s", claims->id);
	snprintf(one->about, sizeof(one->about), "%s", about);
	snprintf(one->was, sizeof(one->was), "%s", was);
	snprintf(one->is, sizeof(one->is), "%s", is);
	comparison->claims_count++;
}

/* What only one side declares is told claim by claim, so that a claim that is gone is seen to be gone. */
static void compare_one(const struct claims *was, const struct claims *is, struct comparison *out)
{
	const struct claims *any = was ? was : is;

	add(out, any, COMPARE_DECLARATION, was ? was->declaration : "", is ? is->declaration : "");
	for (size_t i = 0; i < any->claims_count; i++)
		add(out, any, claim_names[any->claims[i].id], was ? claim_status_names[was->claims[i].status] : "",
		    is ? claim_status_names[is->claims[i].status] : "");
}

int compare_claims(const struct findings *one, const struct findings *other, struct comparison *out, struct error **err)
{
	cleanup_free struct claims *was = calloc(1, sizeof(*was));
	cleanup_free struct claims *is = calloc(1, sizeof(*is));
	size_t i = 0, j = 0;

	out->claims = calloc((one->effects_count + other->effects_count) * PER_EFFECT + 1, sizeof(*out->claims));
	if (!was || !is || !out->claims)
		return error_set(err, ERROR_MEMORY, "no memory to compare claims");
	while (i < one->effects_count || j < other->effects_count) {
		int order = i == one->effects_count     ? 1
			    : j == other->effects_count ? -1
							: strcmp(one->effects[i].id, other->effects[j].id);

		if ((order <= 0 && claims_of(one, &one->effects[i], was, err) < 0) ||
		    (order >= 0 && claims_of(other, &other->effects[j], is, err) < 0))
			return -1;
		compare_one(order <= 0 ? was : NULL, order >= 0 ? is : NULL, out);
		out->effects += order == 0;
		i += order <= 0;
		j += order >= 0;
	}
	return 0;
}
