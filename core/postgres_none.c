/* In the place of core/postgres.c where there is no libpq. */
#include "core/postgres.h"

int postgres_open(const char *where, const char *role, int64_t deadline, struct postgres **out, struct error **err)
{
	(void)where;
	(void)role;
	(void)deadline;
	(void)out;
	return error_set(err, ERROR_REFUSED, "this build has no libpq: install libpq-dev and build again");
}

void postgres_close(struct postgres *postgres)
{
	(void)postgres;
}

int postgres_run(struct postgres *postgres, const char *sql, const char *const *values, size_t count, int64_t deadline,
		 postgres_take take, void *context, struct error **err)
{
	(void)postgres;
	(void)sql;
	(void)values;
	(void)count;
	(void)deadline;
	(void)take;
	(void)context;
	return error_set(err, ERROR_REFUSED, "this build has no libpq");
}

bool postgres_lost(const struct postgres *postgres)
{
	(void)postgres;
	return true;
}
