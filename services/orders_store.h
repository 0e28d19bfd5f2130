/* A back end of the orders: what one database does with them. Of services/orders*.c alone. */
#ifndef HARNESS_SERVICES_ORDERS_STORE_H
#define HARNESS_SERVICES_ORDERS_STORE_H

#include "services/orders.h"

/* Each as the function of services/orders.h that is named so. */
struct orders_store {
	int (*create)(struct orders *orders, const struct order *order, const char *call, int64_t *id,
		      struct error **err);
	void (*close)(struct orders *orders); /* frees it */
};

/* The first member of a back end's own. */
struct orders {
	const struct orders_store *store;
};

int orders_open_sqlite(const char *path, struct orders **out, struct error **err) MUST_CHECK;
int orders_open_pg(const char *url, struct orders **out, struct error **err) MUST_CHECK;

#endif
