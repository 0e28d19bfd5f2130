/* Where a database is, and servers of PostgreSQL that are none: nobody waits longer than he said. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "tests/unit/test.h"

#define SHORT_MS 200

static void test_url(void)
{
	static const struct {
		const char *folder, *name, *url;
	} rows[] = {
		{ "/run/harness-postgres", "harness_1aZ", "postgresql:///harness_1aZ?host=/run/harness-postgres" },
		{ "/proc/self/fd/7", "a", "postgresql:///a?host=/proc/self/fd/7" },
		{ "run", "a", NULL },
		{ "", "a", NULL },
		{ "/run", "", NULL },
		{ "/run", "a b", NULL },
		{ "/run", "a?host=/tmp", NULL },
		{ "/run", "a\"", NULL },
		{ "/run&user=postgres", "a", NULL },
		{ "/run/a b", "a", NULL },
		{ "/run", "a123456789012345678901234567890123456789012345678901234567890123", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char url[POSTGRES_URL_BYTES] = "";
		struct error *err = NULL;
		int status = postgres_url(rows[i].folder, rows[i].name, url, &err);

		CU_ASSERT_EQUAL(status == 0, rows[i].url != NULL);
		if (rows[i].url) {
			CU_ASSERT_STRING_EQUAL(url, rows[i].url);
			CU_ASSERT(postgres_is_url(url));
		} else {
			CU_ASSERT_EQUAL(error_code(err), ERROR_INPUT);
		}
		error_free(err);
	}
	CU_ASSERT_FALSE(postgres_is_url("/tmp/orders.db"));
	CU_ASSERT_FALSE(postgres_is_url("postgresql.db"));
}

struct place {
	char folder[64], socket[96], url[POSTGRES_URL_BYTES];
	int listener;
};

static void place_end(struct place *place)
{
	fd_close(&place->listener);
	(void)unlink(place->socket);
	(void)rmdir(place->folder);
}
#define cleanup_place __attribute__((cleanup(place_end)))

static bool place_begin(struct place *place, bool listens)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct error *err = NULL;

	*place = (struct place){ .folder = "/tmp/harness-pg-XXXXXX", .listener = -1 };
	if (!mkdtemp(place->folder) || postgres_url(place->folder, "orders", place->url, &err) < 0)
		return false;
	snprintf(place->socket, sizeof(place->socket), "%.60s/" POSTGRES_SOCKET, place->folder);
	if (!listens)
		return true;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", place->socket);
	place->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return place->listener >= 0 && bind(place->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(place->listener, 1) == 0;
}

static enum error_code opened(const char *where)
{
	cleanup_postgres struct postgres *postgres = NULL;
	cleanup_error struct error *err = NULL;
	int64_t begun = clock_now();
	int status = postgres_open(where, "order_service", clock_deadline(SHORT_MS), &postgres, &err);

	CU_ASSERT(status < 0 && !postgres);
	CU_ASSERT(clock_now() - begun < 10 * SHORT_MS * NS_PER_MS);
	return error_code(err);
}

static void test_nobody(void)
{
	cleanup_place struct place place = { .listener = -1 };

	CU_ASSERT(place_begin(&place, false));
	CU_ASSERT_EQUAL(opened(place.url), ERROR_CLOSED);
	CU_ASSERT_EQUAL(opened("/tmp/orders.db"), ERROR_INPUT);
}

/* It takes the connection and says nothing. A server of another user than postgres is none, whatever it says. */
static void test_silent(void)
{
	cleanup_place struct place place = { .listener = -1 };
	enum error_code code;

	CU_ASSERT(place_begin(&place, true));
	code = opened(place.url);
	CU_ASSERT(code == ERROR_TIMEOUT || code == ERROR_CLOSED);
}

static CU_TestInfo tests[] = {
	{ "where a database is", test_url },
	{ "no server", test_nobody },
	{ "a server that is silent", test_silent },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "postgres", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_postgres", suites);
}
