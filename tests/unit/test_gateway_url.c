/* An upstream that is a URL: another gateway of ours stands there, goes away, and comes back. */
#include "tests/unit/gateway_served.h"

#define FAULT "fault fault upstream:UPSTREAM_UNAVAILABLE permitted.tool public>public " EMPTY " - - unknown\n"

static void lead_to(struct served *outer, const struct served *inner)
{
	struct gateway_server *server = &outer->rig.config.servers[0];

	*server = (struct gateway_server){ .pass_fd = -1 };
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u/mcp", inner->port);
}

static void test_comes_back(void)
{
	struct heard heard;

	SERVED(inner, "public");
	SERVED(outer, "public");
	lead_to(&outer, &inner);
	rig_start(&inner.rig);
	rig_start(&outer.rig);
	CU_ASSERT_EQUAL(call_over_http(&outer, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(count_lines(&inner, "calls"), 1);
	/* Nobody is there: whether it took effect is not known, and the caller is told that there is no upstream. */
	mcp_client_free(steal_pointer(&inner.rig.client));
	child_end(&inner.rig.gateway);
	CU_ASSERT_EQUAL(call_over_http(&outer, PERMITTED, "{}", "", &heard), 502);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.body, "UPSTREAM_UNAVAILABLE"));
	CU_ASSERT_EQUAL(count_lines(&inner, "calls"), 1);
	/* It knows nothing of the session that there was. */
	fd_close(&inner.rig.lifeline);
	rig_start(&inner.rig);
	CU_ASSERT_EQUAL(call_over_http(&outer, PERMITTED, "{}", "", &heard), 200);
	CU_ASSERT_EQUAL(count_lines(&inner, "calls"), 2);
	CU_ASSERT(entries_are(
		&outer, SESSION_START("public") INTENT(
				PERMITTED, "public>public",
				EMPTY) "tool_call allow allowed permitted.tool public>public " EMPTY
				       " 8000dce0 clean -\n" INTENT(PERMITTED, "public>public", EMPTY) FAULT INTENT(
					       PERMITTED, "public>public",
					       EMPTY) "tool_call allow allowed permitted.tool public>public " EMPTY
						      " 8000dce0 clean -\n"));
}

static CU_TestInfo tests[] = {
	{ "an endpoint that comes back", test_comes_back },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_url", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	return argc == 3 ? play(argv[2]) : test_main("gateway_url", suites);
}
