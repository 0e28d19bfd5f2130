/* The database of an arm in PostgreSQL: made for it, and gone with it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "core/fd.h"
#include "core/postgres.h"
#include "runner/arm.h"
#include "runner/cluster.h"

int arm_orders_pg_open(struct arm *arm, struct error **err)
{
	struct arm_orders *orders = &arm->orders;

	_Static_assert(sizeof(orders->name) >= CLUSTER_NAME_BYTES, "a database's name fits");
	cluster_name(arm->context.run, arm->path, orders->name);
	if (postgres_url(arm->context.cluster, orders->name, orders->database, err) < 0)
		return -1;
	orders->folder = open(arm->context.cluster, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (orders->folder < 0)
		return error_errno(err, errno, "the folder of the PostgreSQL socket");
	orders->made = true;
	return cluster_create(arm->context.cluster, orders->name, err);
}

void arm_orders_pg_close(struct arm *arm)
{
	cleanup_error struct error *left = NULL;

	if (!arm->orders.made)
		return;
	/* What stays, the end of the run finds, or `harness clean`. */
	(void)!cluster_drop(arm->context.cluster, arm->orders.name, &left);
	arm->orders.made = false;
}
