/* `harness-gateway catalog add`: a server is asked for its tools, which are written down as approved. */
#include "tests/unit/gateway_process.h"

#define SECRET "zzsecretzz"
#define FILE_NAME "catalog.json"

struct listed {
	struct served served; /* its folder, and the played server's */
	char server[RIG_PATH_BYTES];
};

static void listed_init(struct listed *listed)
{
	served_init(&listed->served, "public");
	snprintf(listed->server, sizeof(listed->server), "%s", listed->served.rig.config.servers[0].command);
}

static void listed_end(struct listed *listed)
{
	served_end(&listed->served);
}
#define LISTED(name)                                                                                                   \
	__attribute__((cleanup(listed_end))) struct listed name;                                                       \
	listed_init(&name)

/* `more`: words behind "--catalog FILE", ended by NULL, before the server's own. */
static struct ended add(const struct listed *listed, const char *const *more)
{
	const char *words[WORDS_MAX + 1] = { "harness-gateway", "catalog", "add", "--catalog", FILE_NAME };
	int count = 5;

	for (; *more; more++)
		words[count++] = *more;
	words[count++] = "--";
	words[count++] = listed->server;
	words[count++] = "--upstream";
	words[count++] = listed->served.folder;
	return run_in(listed->served.folder, words);
}
#define ADD(listed, ...) add(listed, (const char *const[]){ __VA_ARGS__ })

static bool refused(const struct ended *ended, const char *says)
{
	bool ok = ended->code == 3 && is_one_line(ended->err) && strstr(ended->err, says) &&
		  !strstr(ended->err, SECRET) && ended->out[0] == '\0';

	if (!ok)
		fprintf(stderr, "expected %s, exit %d: %s%s", says, ended->code, ended->err, ended->out);
	return ok;
}

static bool is_written(const struct listed *listed)
{
	cleanup_buf struct buf text = BUF(CATALOG_BYTES);

	return read_file(listed->served.folder, FILE_NAME, &text);
}

static void read_back(const struct listed *listed, struct catalog *catalog)
{
	cleanup_buf struct buf text = BUF(CATALOG_BYTES);
	struct error *err = NULL;

	CU_ASSERT(read_file(listed->served.folder, FILE_NAME, &text));
	CU_ASSERT_EQUAL(catalog_read(buf_string(&text), text.length, catalog, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Written, served, and refused once a definition is another. */
static void test_added(void)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	struct gateway_config *config;
	struct heard heard;
	struct ended ended;

	LISTED(listed);
	config = &listed.served.rig.config;
	ended = ADD(&listed, "--sensitivity", "pii", "--env", "A=b", NULL);
	CU_ASSERT_EQUAL(ended.code, 0);
	CU_ASSERT_STRING_EQUAL(ended.out, "2 tools of a new server, 2 in the catalog\n");
	read_back(&listed, catalog);
	CU_ASSERT_EQUAL(catalog->tools_count, 2);
	CU_ASSERT_STRING_EQUAL(catalog->tools[0].tool, PERMITTED);
	CU_ASSERT_STRING_EQUAL(catalog->tools[1].sensitivity, "pii");
	CU_ASSERT_STRING_EQUAL(catalog->tools[1].definition, config->catalog[1].definition);
	CU_ASSERT_STRING_EQUAL(catalog->servers[0].sha256, config->servers[0].sha256);
	CU_ASSERT_STRING_EQUAL(catalog->servers[0].environment[0], "A=b");
	in_folder(config->catalog_file, listed.served.folder, FILE_NAME);
	config->catalog_count = config->servers_count = 0;
	rig_start(&listed.served.rig);
	CU_ASSERT_EQUAL(call_over_http(&listed.served, PERMITTED, "{}", "", &heard), 200);
	rig_stop(&listed.served.rig);
	put_file(&listed.served, "list",
		 "{\"tools\":[{\"name\":\"" PERMITTED "\"," DEFINITION ",{\"name\":\"" PUBLIC
		 "\",\"description\":\"record synthetic data!\",\"inputSchema\":{\"type\":\"object\"}}]}");
	rig_start(&listed.served.rig);
	CU_ASSERT_EQUAL(call_over_http(&listed.served, PERMITTED, "{}", "", &heard), 503);
	CU_ASSERT_EQUAL(count_lines(&listed.served, "calls"), 1);
	rig_stop(&listed.served.rig);
}

/* A second server is added behind the first, unless it has a tool of the same name. */
static void test_second(void)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	cleanup_buf struct buf before = BUF(CATALOG_BYTES), after = BUF(CATALOG_BYTES);
	struct ended ended;

	LISTED(listed);
	CU_ASSERT_EQUAL(ADD(&listed, "--tool", PERMITTED, NULL).code, 0);
	CU_ASSERT(read_file(listed.served.folder, FILE_NAME, &before));
	ended = ADD(&listed, NULL);
	CU_ASSERT(refused(&ended, "of that name already"));
	CU_ASSERT(read_file(listed.served.folder, FILE_NAME, &after));
	CU_ASSERT_STRING_EQUAL(buf_string(&before), buf_string(&after));
	ended = ADD(&listed, "--tool", PUBLIC, NULL);
	CU_ASSERT_STRING_EQUAL(ended.out, "1 tools of a new server, 2 in the catalog\n");
	read_back(&listed, catalog);
	CU_ASSERT_EQUAL(catalog->servers_count, 2);
	CU_ASSERT_EQUAL(catalog->tools[1].server, 1);
	/* Where its file is none, it stays. */
	put_file(&listed.served, FILE_NAME, SECRET);
	ended = ADD(&listed, NULL);
	CU_ASSERT(refused(&ended, "catalog"));
	after.length = 0;
	CU_ASSERT(read_file(listed.served.folder, FILE_NAME, &after));
	CU_ASSERT_STRING_EQUAL(buf_string(&after), SECRET);
}

struct server_row {
	const char *list; /* what the server lists; NULL: it never answers */
	const char *says;
};

static const struct server_row server_rows[];

static void test_servers(void)
{
	for (const struct server_row *row = server_rows; row->says; row++) {
		int64_t start = clock_now();
		struct ended ended;

		LISTED(listed);
		if (row->list)
			put_file(&listed.served, "list", row->list);
		else
			shut_gate(&listed.served, "gate-list");
		ended = ADD(&listed, "--wait-ms", row->list ? "5000" : "200", NULL);
		CU_ASSERT(refused(&ended, row->says));
		CU_ASSERT(!is_written(&listed));
		CU_ASSERT(clock_now() - start < 3 * NS_PER_S);
	}
}

/* One that nobody asked for keeps the others from nothing. */
static void test_wanted(void)
{
	struct ended ended;

	LISTED(listed);
	put_file(&listed.served, "list",
		 "{\"tools\":[{\"name\":\"a name with spaces\"," DEFINITION ",{\"name\":\"" PERMITTED "\"," DEFINITION
		 "]}");
	ended = ADD(&listed, "--tool", PERMITTED, NULL);
	CU_ASSERT_EQUAL(ended.code, 0);
	ended = ADD(&listed, "--tool", PUBLIC, NULL);
	CU_ASSERT(refused(&ended, "no such tool"));
	put_file(&listed.served, "list", BOTH_TOOLS);
	ended = ADD(&listed, "--tool", PUBLIC, "--tool", SECRET, NULL);
	CU_ASSERT(refused(&ended, "no such tool"));
}

/* Words that no catalog could hold. */
static void test_words(void)
{
	struct ended ended;

	LISTED(listed);
	ended = ADD(&listed, "--sensitivity", "Mis Cased " SECRET, NULL);
	CU_ASSERT(refused(&ended, "catalog[0].sensitivity"));
	ended = ADD(&listed, "--sensitivity", "a-label-that-is-longer-than-any-may-be", NULL);
	CU_ASSERT(refused(&ended, "label"));
	ended = ADD(&listed, "--env", SECRET, NULL);
	CU_ASSERT(refused(&ended, "environment[0]"));
	ended = ADD(&listed, "--env", "A=\xc3\xa9", NULL);
	CU_ASSERT(refused(&ended, "environment[0]"));
	CU_ASSERT_EQUAL(ADD(&listed, "--wait-ms", "0", NULL).code, 4);
	CU_ASSERT_EQUAL(ADD(&listed, "--wait-ms", "soon", NULL).code, 4);
	CU_ASSERT_EQUAL(ADD(&listed, "--url", "http://127.0.0.1:1", NULL).code, 4);
	ended = RUN("catalog", "add", "--catalog", FILE_NAME, "--url", "https://127.0.0.1:1/" SECRET);
	CU_ASSERT(refused(&ended, "not http://"));
	ended = RUN("catalog", "add", "--catalog", FILE_NAME, "--url", "http://127.0.0.1:1/", "--token-file",
		    "/nonexistent/token");
	CU_ASSERT(refused(&ended, "token"));
	CU_ASSERT(!is_written(&listed));
}

struct program_row {
	const char *words[4];
	const char *says;
};

static const struct program_row program_rows[];

static void test_programs(void)
{
	LISTED(listed);
	for (const struct program_row *row = program_rows; row->says; row++) {
		const char *words[16] = { "harness-gateway", "catalog",   "add",  "--catalog",
					  FILE_NAME,         "--wait-ms", "2000", "--" };
		struct ended ended;

		memcpy(words + 8, row->words, sizeof(row->words));
		ended = run_in(listed.served.folder, words);
		CU_ASSERT(refused(&ended, row->says));
		CU_ASSERT(!is_written(&listed));
	}
}

/* Where they lead stands in the catalog, so that it holds wherever the gateway starts. */
static void test_relative(void)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	char text[3 * RIG_PATH_BYTES], path[RIG_PATH_BYTES];
	struct ended ended;

	LISTED(listed);
	snprintf(text, sizeof(text), "exec '%s' --upstream '%s'\n", listed.server, listed.served.folder);
	put_file(&listed.served, "script", text);
	in_folder(path, listed.served.folder, "sh3");
	CU_ASSERT_EQUAL(symlink("/bin/sh", path), 0);
	ended = run_in(listed.served.folder, (const char *const[]){ "harness-gateway", "catalog", "add", "--catalog",
								    FILE_NAME, "--", "./sh3", "script", NULL });
	CU_ASSERT_EQUAL(ended.code, 0);
	read_back(&listed, catalog);
	/* A link stays one: an interpreter may find what is its own by that name. */
	in_folder(path, listed.served.folder, "./sh3");
	CU_ASSERT_STRING_EQUAL(catalog->servers[0].command, path);
	in_folder(path, listed.served.folder, "script");
	CU_ASSERT_STRING_EQUAL(catalog->servers[0].script, path);
	CU_ASSERT_EQUAL(catalog->servers[0].arguments_count, 0);
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define NAMED(name) "{\"tools\":[{\"name\":\"" name "\"," DEFINITION "]}"

static const struct server_row server_rows[] = {
	{ NULL, "did not answer" },
	{ "{\"tools\":[],\"nextCursor\":\"again\"}", "does not end" },
	{ "{\"tools\":[]}", "no such tool" },
	{ "{}", "no such tool" },
	{ NAMED(SECRET " with spaces"), "no catalog can hold" },
	{ NAMED("\\u001b[2J" SECRET), "no catalog can hold" },
	{ NAMED(SECRET "-that-is-longer-than-any-name-may-be-" LONG), "no catalog can hold" },
	{ NAMED(""), "no catalog can hold" },
	{ "{\"tools\":[{\"name\":1," DEFINITION "]}", "no catalog can hold" },
	{ "{\"tools\":[{\"name\":\"a\"," DEFINITION ",{\"name\":\"a\"," DEFINITION "]}", "of that name already" },
	{ NULL, NULL },
};

static const struct program_row program_rows[] = {
	{ { "/bin/true" }, "asking the server: " },
	{ { "/bin/echo", SECRET }, "asking the server: " },
	{ { "/bin/sh", "-c", "read line; echo nonsense; read line" }, "the server ended, or wrote" },
	{ { "/nonexistent/server" }, "the server's program" },
	{ { "/" }, "the server's program" },
	{ { "no-such-program-" SECRET }, "not found" },
	{ { NULL }, NULL },
};

static CU_TestInfo tests[] = {
	{ "added, served, drifted", test_added },      { "a second server", test_second },
	{ "servers that are none", test_servers },     { "tools that are wanted", test_wanted },
	{ "words that no catalog holds", test_words }, { "programs that are no servers", test_programs },
	{ "relative paths", test_relative },           CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_catalog", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "--upstream") == 0)
		return play(argv[2]);
	return test_main("gateway_catalog", suites);
}
