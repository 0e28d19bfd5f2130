#include "oracle/claims_hints.h"

#include "core/fd.h"

static const struct claim_hint hints[];
static const size_t hints_count;

const struct claim_hint *claim_hint(int obligation)
{
	return obligation >= 0 && (size_t)obligation < hints_count && hints[obligation].means ? &hints[obligation]
											      : NULL;
}

static const struct claim_hint hints[] = {
	[OBLIGATION_EVIDENCE] = {
		"the claim rests on nothing",
		"an arm of this run, or a statement that counts, which the claim can rest on",
	},
	[OBLIGATION_REVISION] = {
		"what ran on the path is another revision than the declared one, or nobody says which",
		"a deployment whose service says the declared revision when it begins",
	},
	[OBLIGATION_EXERCISE] = {
		"not each scenario of the path was run, with an observer that saw and an agent that was at work",
		"a run of the path's scenarios, all of them, whose controls hold and whose mutants are caught; or a scenario that takes it, where it has none",
	},
	[OBLIGATION_DECISION] = {
		"the audit chain does not hold the decision on a call",
		"in each arm of the path the observer `correlation`, a cell `audit-chain` that is 0, and a gateway that wrote down each of its calls",
	},
	[OBLIGATION_CORRELATION] = {
		"call, entry of the audit chain and row were not joined, or not all of them",
		"a service that keeps in its row the id under which the gateway authorised the call",
	},
	[OBLIGATION_READ_BACK] = {
		"a call was allowed, and its effect was not found",
		"a service that commits what it answers that it did",
	},
	[OBLIGATION_UNIQUE_CALL] = {
		"two calls bear one id",
		"a gateway that gives each call an id of its own",
	},
	[OBLIGATION_OBSERVER] = {
		"the observer did not prove in each arm of the path that it could see",
		"an observer that sees its markers and proves its known answers; arms.json names what went wrong",
	},
	[OBLIGATION_EFFECT] = {
		"other effects were seen than the path makes",
		"as many effects as the path's scenario expects: the cell that failed says how many there were",
	},
	[OBLIGATION_COVERAGE] = {
		"that nothing came on the path was not earned",
		"a mutant that takes the path's protection away, in which the same observer counts the effect",
	},
	[OBLIGATION_MEDIATOR] = {
		"nobody stands in the path",
		"a mediator in it, and a declaration that names it and claims `mediated`",
	},
	[OBLIGATION_AUTHORIZATION] = {
		"the claim `authorization` is not established",
		"what that claim lacks",
	},
	[OBLIGATION_COMPLETENESS] = {
		"the claim `path_set_completeness` is not established",
		"what that claim lacks",
	},
	[OBLIGATION_INVENTORY] = {
		"no assessed inventory, or one without this path",
		"an assessor's signed statement of the kind `inventory` that lists exactly the declared paths",
	},
	[OBLIGATION_CONTROL] = {
		"no assessed evidence of a control in the path, which is of the deployment's side",
		"an assessor's signed statement of the kind `control` about that path",
	},
	[OBLIGATION_INDEPENDENT] = {
		"nobody but the harness looked at the path, which is of the deployment's side",
		"an assessor's signed statement of the kind `observation` about that path",
	},
};
static const size_t hints_count = ARRAY_SIZE(hints);
