/* observer-udp, the real program, with real datagrams. */
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "observers/address.h"
#include "observers/beacon.h"
#include "tests/unit/observing.h"

#define LOOPBACK "127.0.0.1"
#define QUESTION_MAX 256

static bool send_to(uint16_t port, const void *bytes, size_t length)
{
	struct error *err = NULL;
	union address to;
	socklen_t size = 0;
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int r = address_parse(LOOPBACK, port, &to, &size, &err);

	return r == 0 && test_no_error(&err) && sendto(fd, bytes, length, 0, &to.any, size) == (ssize_t)length;
}

/* A question whose name has `text` in two labels, the first of `first` bytes. */
static size_t make_question(const char *text, size_t first, char out[QUESTION_MAX])
{
	static const char header[] = { 1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const char end[] = { 0, 0, 1, 0, 1 };
	size_t rest = strlen(text) - first, at = sizeof(header);

	memcpy(out, header, sizeof(header));
	out[at++] = (char)first;
	memcpy(out + at, text, first);
	at += first;
	if (rest > 0) {
		out[at++] = (char)rest;
		memcpy(out + at, text + first, rest);
		at += rest;
	}
	memcpy(out + at, end, sizeof(end));
	return at + sizeof(end);
}

static bool ready(struct observing *observing, struct canary *one, struct canary *two)
{
	return observing_start(observing, "dns", NULL) && observing_expect(observing, "dns", NULL, one) &&
	       observing_expect(observing, "other", NULL, two) && observing_ready(observing);
}

static bool mark(struct observing *observing, const char *subject, enum wire_phase phase)
{
	struct error *err = NULL;
	int r = beacon_dns(LOOPBACK, observer_port(observing->process, subject),
			   phase == WIRE_AFTER ? &observing->after : &observing->before, &err);

	return test_no_error(&err) && r == 0 && observing_seen(observing, "dns", phase);
}

/* Each form of one datagram, and what it makes: records and hits of "dns". */
static void forms(void)
{
	struct canary one, two;
	char question[QUESTION_MAX], loud[CANARY_LENGTH + 1] = { 0 };
	const struct {
		const char *name;
		size_t first; /* of the question's labels; 0: the bytes as they are */
		bool loud;
		int64_t value;
	} cases[] = {
		{ "one label", CANARY_LENGTH, false, 1 },      { "two labels", 20, false, 1 },
		{ "capital letters", CANARY_LENGTH, true, 1 }, { "no DNS", 0, false, 1 },
		{ "capital letters, no DNS", 0, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };
		const struct wire_record *record;
		const char *text;
		size_t length;

		CU_ASSERT_TRUE(ready(&observing, &one, &two));
		for (size_t at = 0; at < CANARY_LENGTH; at++)
			loud[at] = one.text[at] == '-' ? '-' : (char)(one.text[at] - 'a' + 'A');
		text = cases[i].loud ? loud : one.text;
		length = make_question(text, cases[i].first, question);
		CU_ASSERT_TRUE(mark(&observing, "dns", WIRE_BEFORE));
		CU_ASSERT_TRUE(send_to(observer_port(observing.process, "dns"), cases[i].first ? question : text,
				       cases[i].first ? length : CANARY_LENGTH));
		CU_ASSERT_TRUE(mark(&observing, "dns", WIRE_AFTER));
		CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
		record = observing_record(&observing, "dns", "dns");
		if (record->value != cases[i].value)
			fprintf(stderr, "row: %s\n", cases[i].name);
		CU_ASSERT_EQUAL(record->value, cases[i].value);
		CU_ASSERT_EQUAL(record->hits, cases[i].value);
		CU_ASSERT_EQUAL(record->connections, 1);
		CU_ASSERT_EQUAL(record->bytes, (int64_t)(cases[i].first ? length : CANARY_LENGTH));
		CU_ASSERT_EQUAL(record->beacon_before, 1);
		CU_ASSERT_EQUAL(record->beacon_after, 1);
		CU_ASSERT_EQUAL(record->dropped, 0);
		CU_ASSERT_EQUAL(record->status, WIRE_OBSERVED);
		CU_ASSERT_EQUAL(observing_record(&observing, "dns", "other")->value, 0);
	}
}

/* A burst is counted one by one, at each port apart, and no answer ever comes. */
static void counts_and_never_answers(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct error *err = NULL;
	struct canary one, two;
	char question[QUESTION_MAX];
	union address to;
	socklen_t size = 0;
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t length;

	CU_ASSERT_TRUE(ready(&observing, &one, &two));
	length = make_question(two.text, CANARY_LENGTH, question);
	CU_ASSERT_EQUAL(address_parse(LOOPBACK, observer_port(observing.process, "other"), &to, &size, &err), 0);
	for (int i = 0; i < 50; i++)
		CU_ASSERT_EQUAL(sendto(fd, question, length, 0, &to.any, size), (ssize_t)length);
	CU_ASSERT_TRUE(observing_hit(&observing, "other"));
	CU_ASSERT_TRUE(mark(&observing, "dns", WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "other")->value, 50);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "other")->connections, 50);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->value, 0);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->connections, 0);
	CU_ASSERT_EQUAL(recv(fd, question, sizeof(question), MSG_DONTWAIT), -1);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* A marker outside the labels proves nothing of the way that a question takes. */
static void raw_marker_is_no_beacon(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct error *err = NULL;
	struct canary one, two;

	CU_ASSERT_TRUE(ready(&observing, &one, &two));
	CU_ASSERT_EQUAL(beacon_udp(LOOPBACK, observer_port(observing.process, "dns"), &observing.before, &err), 0);
	CU_ASSERT_TRUE(mark(&observing, "dns", WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->beacon_before, 0);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->beacon_after, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->connections, 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* What the kernel dropped is told, even when no datagram comes any more. */
static void drops_are_told(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary one, two;
	char filler[16 * KIB] = { 0 };

	CU_ASSERT_TRUE(ready(&observing, &one, &two));
	child_signal(observer_child(observing.process), SIGSTOP);
	for (int i = 0; i < 200; i++)
		CU_ASSERT_TRUE(send_to(observer_port(observing.process, "dns"), filler, sizeof(filler)));
	child_signal(observer_child(observing.process), SIGCONT);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_TRUE(observing_record(&observing, "dns", "dns")->dropped > 0);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->dropped +
				observing_record(&observing, "dns", "dns")->connections,
			200);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "other")->reason, WIRE_REASON_DROPPED);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "other")->status, WIRE_NOT_OBSERVABLE);
}

/* More labels than are kept: one name and thousands of pointers to it. */
static void too_many_labels(void)
{
	cleanup_observing struct observing observing = { 0 };
	struct canary one, two;
	char bomb[48 * KIB] = { 1, 2, 1, 0 };
	size_t at = 12, count = 0;

	CU_ASSERT_TRUE(ready(&observing, &one, &two));
	for (int label = 0; label < 3; label++, at += 64) {
		bomb[at] = 63;
		memset(bomb + at + 1, 'a', 63);
	}
	memcpy(bomb + at, "\0\0\1\0\1", 5);
	for (at += 5, count = 1; at + 6 <= sizeof(bomb); at += 6, count++)
		memcpy(bomb + at, "\xc0\x0c\0\1\0\1", 6);
	bomb[4] = (char)(count >> 8);
	bomb[5] = (char)count;
	CU_ASSERT_TRUE(send_to(observer_port(observing.process, "dns"), bomb, at));
	CU_ASSERT_TRUE(mark(&observing, "dns", WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->reason, WIRE_REASON_LIMIT);
	CU_ASSERT_EQUAL(observing_record(&observing, "dns", "dns")->status, WIRE_NOT_OBSERVABLE);
}

static CU_TestInfo tests[] = {
	{ "forms of a datagram", forms },
	{ "a burst is counted and never answered", counts_and_never_answers },
	{ "a raw marker is no beacon", raw_marker_is_no_beacon },
	{ "drops are told", drops_are_told },
	{ "too many labels", too_many_labels },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "observer-udp", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_udp", suites);
}
