/*
 * The operator's channel, and the verb at its other end: who may ask, what is handed on, what is answered. The test is
 * the session.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/policy_channel.h"
#include "runner/store.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000
#define NOBODY 65534

/* A session as an operator sees it. */
struct desk {
	char path[PATH_MAX];
	int folder, lock;
	struct loop *loop;
	struct policy_channel *channel;
	struct policy_answer says; /* to what is no SHOW */
	unsigned shown, asked;
	char heard[POLICY_REQUEST_BYTES + 1]; /* the last that was no SHOW */
	size_t heard_length;
	bool silent;
};

struct verb_row {
	const char *what;
	const char *words[4];
	bool session; /* `--session ID` with the right one */
	enum policy_said said; /* when it comes so far */
	int code;
	const char *prints;
	const char *update; /* that the session heard, or NULL */
};

static const struct verb_row verb_rows[];

static void on_asked(void *context, unsigned client, const char *bytes, size_t length)
{
	struct desk *desk = context;
	struct policy_answer answer = desk->says;

	if (length == strlen(POLICY_SHOW) && memcmp(bytes, POLICY_SHOW, length) == 0) {
		desk->shown++;
		answer.said = POLICY_SAID_STATE;
		answer.revision = 6;
	} else {
		desk->asked++;
		desk->heard_length = length;
		memcpy(desk->heard, bytes, length);
		desk->heard[length] = '\0';
	}
	if (!desk->silent)
		policy_channel_answer(desk->channel, client, &answer);
}

static void desk_open(struct desk *desk)
{
	struct error *err = NULL;

	*desk = (struct desk){ .folder = -1,
			       .lock = -1,
			       .says = { .scenario = "policy/played",
					 .open = true,
					 .revision = 7,
					 .tools = { { "permitted.tool", false }, { "public.tool", true } },
					 .tools_count = 2 } };
	CU_ASSERT_EQUAL(store_arm_folder("0123456789abcdef", &desk->folder, &desk->lock, desk->path, &err), 0);
	CU_ASSERT_EQUAL(loop_new(&desk->loop, &err), 0);
	CU_ASSERT_EQUAL(policy_channel_open(desk->loop, desk->path, on_asked, desk, &desk->channel, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void desk_close(struct desk *desk)
{
	policy_channel_close(desk->channel);
	loop_free(desk->loop);
	store_arm_remove(&desk->folder, &desk->lock, desk->path);
}
#define cleanup_desk __attribute__((cleanup(desk_close)))

/* Serves for a while, or until the channel has nothing more to do at once. */
static void serve(struct desk *desk, int64_t milliseconds)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(loop_run(desk->loop, clock_deadline(milliseconds), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static int dial(const struct desk *desk)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/%s", desk->path, POLICY_SOCKET);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		fd_close(&fd);
	return fd;
}

/* Whether the other end hung up, without a word. */
static bool hung_up(int fd)
{
	char byte;

	return fd_wait(fd, POLLIN, clock_deadline(GUARD_MS), NULL) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static bool says(int fd, const char *part)
{
	char text[4096];
	ssize_t got;

	if (fd_wait(fd, POLLIN, clock_deadline(GUARD_MS), NULL) != 1)
		return false;
	got = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	text[got > 0 ? got : 0] = '\0';
	if (!strstr(text, part))
		fprintf(stderr, "expected '%s', heard %s\n", part, text);
	return strstr(text, part) != NULL;
}

/* ---- the channel ---- */

static void test_socket(void)
{
	cleanup_desk struct desk desk;
	struct stat status;

	desk_open(&desk);
	CU_ASSERT_EQUAL(fstatat(desk.folder, POLICY_SOCKET, &status, AT_SYMLINK_NOFOLLOW), 0);
	CU_ASSERT(S_ISSOCK(status.st_mode));
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0600);
	policy_channel_close(desk.channel);
	desk.channel = NULL;
	CU_ASSERT_EQUAL(faccessat(desk.folder, POLICY_SOCKET, F_OK, AT_SYMLINK_NOFOLLOW), -1);
}

/* Whatever is no SHOW is handed on as it came, bounded; a second request before the answer ends it. */
static void test_requests(void)
{
	static const char *const documents[] = {
		"{\"revision\":1,\"revoke\":\"permitted.tool\"}",
		"{\"request\":\"show\" }",
		"{\"request\":\"shut\"}",
		"\n",
	};
	cleanup_desk struct desk desk;
	char long_one[3 * POLICY_REQUEST_BYTES];

	memset(long_one, 'x', sizeof(long_one));
	desk_open(&desk);
	for (size_t i = 0; i <= ARRAY_SIZE(documents); i++) {
		bool last = i == ARRAY_SIZE(documents);
		size_t length = last ? sizeof(long_one) : strlen(documents[i]);
		cleanup_fd int fd = dial(&desk);

		CU_ASSERT_EQUAL(send(fd, last ? long_one : documents[i], length, 0), (ssize_t)length);
		serve(&desk, 20);
		CU_ASSERT(says(fd, "\"revision\":7"));
		CU_ASSERT_EQUAL(desk.asked, i + 1);
		CU_ASSERT_EQUAL(desk.heard_length, last ? POLICY_REQUEST_BYTES : length);
	}
	CU_ASSERT_EQUAL(desk.shown, 0);
}

static void test_show(void)
{
	cleanup_desk struct desk desk;
	cleanup_fd int fd = -1;

	desk_open(&desk);
	fd = dial(&desk);
	CU_ASSERT_EQUAL(send(fd, POLICY_SHOW, strlen(POLICY_SHOW), 0), (ssize_t)strlen(POLICY_SHOW));
	serve(&desk, 20);
	CU_ASSERT(says(fd, "{\"tool\":\"public.tool\",\"revoked\":true}"));
	CU_ASSERT_EQUAL(desk.shown, 1);
	CU_ASSERT_EQUAL(desk.asked, 0);
}

static void test_impatient(void)
{
	cleanup_desk struct desk desk;
	cleanup_fd int fd = -1;

	desk_open(&desk);
	desk.silent = true;
	fd = dial(&desk);
	CU_ASSERT_EQUAL(send(fd, "1", 1, 0), 1);
	CU_ASSERT_EQUAL(send(fd, "2", 1, 0), 1);
	serve(&desk, 20);
	CU_ASSERT_EQUAL(desk.asked, 1);
	CU_ASSERT(hung_up(fd));
	/* An answer to one that left. */
	policy_channel_answer(desk.channel, 0, &desk.says);
	policy_channel_answer(desk.channel, 99, &desk.says);
}

/* Those who never ask do not keep others out; those who wait are not pushed out. */
static void test_crowd(void)
{
	cleanup_desk struct desk desk;
	int fds[12];

	desk_open(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dial(&desk);
		CU_ASSERT(fds[i] >= 0);
		serve(&desk, 5);
	}
	CU_ASSERT_EQUAL(send(fds[11], "1", 1, 0), 1);
	serve(&desk, 20);
	CU_ASSERT_EQUAL(desk.asked, 1);
	CU_ASSERT(says(fds[11], "policy/played"));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fd_close(&fds[i]);
}

/* The kernel says who connects: whoever is neither root nor the session's own user is hung up on, even where the file
 * would let him in. */
static void test_stranger(void)
{
	cleanup_desk struct desk desk;
	cleanup_fd int fd = -1;

	if (geteuid() != 0) {
		printf("only root can connect as somebody else\n");
		return;
	}
	desk_open(&desk);
	CU_ASSERT_EQUAL(chmod(desk.path, 0755), 0);
	CU_ASSERT_EQUAL(seteuid(NOBODY), 0);
	fd = dial(&desk);
	CU_ASSERT_EQUAL(seteuid(0), 0);
	CU_ASSERT(fd < 0);
	CU_ASSERT_EQUAL(fchmodat(desk.folder, POLICY_SOCKET, 0666, 0), 0);
	CU_ASSERT_EQUAL(seteuid(NOBODY), 0);
	fd = dial(&desk);
	CU_ASSERT_EQUAL(seteuid(0), 0);
	CU_ASSERT(fd >= 0);
	(void)!send(fd, "1", 1, MSG_NOSIGNAL);
	serve(&desk, 20);
	CU_ASSERT_EQUAL(desk.asked, 0);
	CU_ASSERT(fd_wait(fd, POLLIN, clock_deadline(GUARD_MS), NULL) == 1);
}

/* ---- the verb ---- */

static int on_child(void *context, int fd, short revents, struct error **err)
{
	(void)context;
	(void)fd;
	(void)revents;
	(void)err;
	return 1;
}

/* Runs the program while the channel is served. Returns its exit code. */
static int run_verb(struct desk *desk, const struct verb_row *row, struct buf *out)
{
	char program[] = TEST_BUILD "/harness", verb[] = "policy", flag[] = "--session", words[4][64], id[64];
	char *argv[9] = { program, verb };
	cleanup_fd int output = memfd_create("output", MFD_CLOEXEC);
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv,
					 .fds = { { .from = output, .to = 1 }, { .from = output, .to = 2 } },
					 .fds_count = 2 };
	cleanup_child struct child child = CHILD_NONE;
	struct error *err = NULL;
	int count = 2, status = -1;

	for (size_t i = 0; i < ARRAY_SIZE(words) && row->words[i]; i++) {
		snprintf(words[i], sizeof(words[i]), "%s", row->words[i]);
		argv[count++] = words[i];
	}
	snprintf(id, sizeof(id), "%s", strstr(desk->path, "harness-arm-") + strlen("harness-arm-"));
	if (row->session) {
		argv[count++] = flag;
		argv[count++] = id;
	}
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	CU_ASSERT_EQUAL(loop_fd(desk->loop, child.pidfd, POLLIN, on_child, NULL, &err), 0);
	CU_ASSERT_EQUAL(loop_run(desk->loop, clock_deadline(GUARD_MS), &err), 1);
	loop_remove(desk->loop, child.pidfd);
	CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(GUARD_MS), &status, &err), 0);
	CU_ASSERT_EQUAL(lseek(output, 0, SEEK_SET), 0);
	CU_ASSERT_EQUAL(fd_read_all(output, out, clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	return status;
}

static void test_verb(void)
{
	for (const struct verb_row *row = verb_rows; row->what; row++) {
		cleanup_buf struct buf out = BUF(64 * KIB);
		cleanup_desk struct desk desk;
		int code;
		bool right;

		desk_open(&desk);
		desk.says.said = (int)row->said;
		code = run_verb(&desk, row, &out);
		right = code == row->code && strstr(buf_string(&out), row->prints) != NULL &&
			desk.asked == (row->update != NULL) && (!row->update || strcmp(desk.heard, row->update) == 0);
		if (!right)
			fprintf(stderr, "%s: exit code %d, heard '%s', printed %s\n", row->what, code, desk.heard,
				buf_string(&out));
		CU_ASSERT(right);
	}
}

#define REVOKE "{\"revision\":7,\"revoke\":\"permitted.tool\"}"
#define RESTORE "{\"revision\":7,\"restore\":\"public.tool\"}"

static const struct verb_row verb_rows[] = {
	{ "show", { "show" }, false, 0, 0, "6  open      permitted.tool public.tool (revoked)\n", NULL },
	{ "revoke",
	  { "revoke", "permitted.tool" },
	  true,
	  POLICY_SAID_APPLIED,
	  0,
	  "revision 7: permitted.tool is revoked\n",
	  REVOKE },
	{ "restore",
	  { "restore", "public.tool" },
	  true,
	  POLICY_SAID_APPLIED,
	  0,
	  "revision 7: public.tool is restored\n",
	  RESTORE },
	{ "stale",
	  { "revoke", "permitted.tool" },
	  true,
	  POLICY_SAID_STALE,
	  3,
	  "harness: another update came first",
	  REVOKE },
	{ "invalid",
	  { "revoke", "permitted.tool" },
	  true,
	  POLICY_SAID_INVALID,
	  3,
	  "harness: the session refused",
	  REVOKE },
	{ "busy", { "revoke", "permitted.tool" }, true, POLICY_SAID_BUSY, 3, "nothing was changed: try again", REVOKE },
	{ "not open", { "revoke", "permitted.tool" }, true, POLICY_SAID_NOT_OPEN, 3, "makes no more calls", REVOKE },
	{ "lost", { "revoke", "permitted.tool" }, true, POLICY_SAID_LOST, 3, "it is not known", REVOKE },
	{ "an unknown tool",
	  { "revoke", "other.tool" },
	  true,
	  0,
	  4,
	  "'other.tool' was not approved for this session; these were: permitted.tool, public.tool\n",
	  NULL },
	{ "no tool", { "revoke" }, true, 0, 4, "policy takes", NULL },
	{ "no session", { "revoke", "permitted.tool" }, false, 0, 4, "harness: which session? --session ID", NULL },
	{ "another session",
	  { "revoke", "permitted.tool", "--session", "x\nyz" },
	  false,
	  0,
	  4,
	  "harness: no open session is 'x?yz'",
	  NULL },
	{ "an unknown word", { "replace", "permitted.tool" }, true, 0, 4, "policy takes", NULL },
	{ "no word", { NULL }, false, 0, 4, "policy takes", NULL },
	{ "a word too many", { "show", "permitted.tool" }, false, 0, 4, "policy takes", NULL },
	{ .what = NULL },
};

static CU_TestInfo channel_tests[] = {
	{ "the socket", test_socket },
	{ "requests", test_requests },
	{ "show", test_show },
	{ "an impatient one", test_impatient },
	{ "a crowd", test_crowd },
	{ "a stranger", test_stranger },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo verb_tests[] = {
	{ "harness policy", test_verb },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "channel", NULL, NULL, NULL, NULL, channel_tests },
	{ "verb", NULL, NULL, NULL, NULL, verb_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("policy_channel", suites);
}
