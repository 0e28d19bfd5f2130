/* What the programs of declarations, and the order service, leave behind: the arm ends it before it reports its end. */
#include "core/clock.h"
#include "runner/arm.h"

#define END_MS 2000

static bool wanted(const struct arm *arm)
{
	for (size_t i = 0; i < arm->declared.count; i++)
		if (arm_observers_asked(arm, &arm->declared_kinds[i]))
			return true;
	return arm_orders_wanted(arm);
}

int arm_strays_adopt(struct arm *arm, struct error **err)
{
	return wanted(arm) ? strays_adopt(&arm->strays, err) : 0;
}

void arm_strays_end(struct arm *arm)
{
	if (!arm->strays.adopts)
		return;
	/* All that is the arm's own has ended before. */
	arm_observers_end(arm);
	arm_gateway_end(arm);
	arm_records_close(arm);
	arm_orders_close(arm);
	if (strays_end(&arm->strays, NULL, clock_deadline(END_MS)) > 0)
		arm_note(arm, "strays-ended", "", clock_now());
}
