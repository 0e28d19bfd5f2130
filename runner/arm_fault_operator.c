/* An operator who uses the engine while a session goes on. */
#include <stdio.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_fault.h"

#define STEPS 2
#define ORDERS_MS 1000

/* Ends without a request where the engine answers at once. */
struct step {
	int (*begin)(struct arm *arm, struct arm_fault_state *state, struct error **err);
	int (*finish)(struct arm *arm, struct arm_fault_state *state,
		      struct error **err); /* NULL: any answer will do */
};
static const struct step steps[][STEPS];

static int disconnect(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	return engine_disconnect_begin(arm->engine, "none", arm->session.container, &state->request, err);
}

static int connect_bridge(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	return engine_connect_begin(arm->engine, "bridge", arm->session.container, &state->request, err);
}

static int update(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	return engine_update_begin(arm->engine, arm->session.container, 2 * arm->options.profile.pids, &state->request,
				   err);
}

static int rename_it(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	char name[ID_MAX];

	snprintf(name, sizeof(name), "harness-%.8s-renamed-%.12s", arm->context.run, arm->session.container);
	return engine_rename_begin(arm->engine, arm->session.container, name, &state->request, err);
}

static int prepare_command(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	static const char *const command[] = { "/agent", NULL };

	return engine_exec_begin(arm->engine, arm->session.container, command, &state->request, err);
}

/* What the second agent is to do comes on its standard input, as the first one's does: a canary is no argument. */
static int run_command(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES), orders = BUF(16 * KIB);
	char exec[CONTAINER_ID_MAX];
	int status = engine_exec_finish(arm->engine, steal_pointer(&state->request), exec, err);

	if (status == 0)
		status = engine_exec_start(arm->engine, exec, &state->stream, &rest, err);
	if (status == 0)
		status = arm_orders_after(arm, &orders, err);
	if (status == 0)
		status = fd_write_all(state->stream, orders.data, orders.length, clock_deadline(ORDERS_MS), err);
	buf_wipe(&orders);
	return status;
}

static int attach(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES);

	return engine_attach(arm->engine, arm->session.container, &state->stream, &rest, err);
}

static int take_answer(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };

	return engine_finish(arm->engine, steal_pointer(&state->request), &result, err);
}

/* The engine may well refuse to change a container that died of the change. */
static int forgive(struct arm *arm, int status, struct error **err)
{
	if (status == 0 || !(arm->session.changed || arm->told.dead))
		return status;
	error_free(steal_pointer(err));
	return 0;
}

static int begin(struct arm *arm, size_t index, struct error **err)
{
	struct arm_fault_state *state = &arm->faults[index];
	const struct step *step;

	if (state->step == STEPS || arm->session.changed || arm->told.dead)
		return 0;
	step = &steps[arm->scenario.faults[index].action][state->step];
	if (!step->begin)
		return 0;
	if (step->begin(arm, state, err) < 0)
		return error_wrap(err, "the fault could not be applied");
	arm_fault_give_stream(arm, state, false);
	return 0;
}

int arm_fault_ask(struct arm *arm, size_t index, struct error **err)
{
	return begin(arm, index, err);
}

int arm_fault_go_on(struct arm *arm, size_t index, struct error **err)
{
	struct arm_fault_state *state = &arm->faults[index];
	const struct step *step;
	int status;

	if (!state->request || !engine_done(state->request))
		return 0;
	step = &steps[arm->scenario.faults[index].action][state->step];
	status = step->finish ? step->finish(arm, state, err) : take_answer(arm, state, err);
	if (forgive(arm, status, err) < 0)
		return error_wrap(err, "the fault could not be applied");
	arm_fault_give_stream(arm, state, status < 0);
	state->step++;
	return begin(arm, index, err);
}

static const struct step steps[][STEPS] = {
	[FAULT_CONNECT] = { { .begin = disconnect }, { .begin = connect_bridge } },
	[FAULT_DISCONNECT] = { { .begin = disconnect } },
	[FAULT_UPDATE] = { { .begin = update } },
	[FAULT_EXEC] = { { .begin = prepare_command, .finish = run_command } },
	[FAULT_ATTACH] = { { .begin = attach } },
	[FAULT_RENAME] = { { .begin = rename_it } },
};
