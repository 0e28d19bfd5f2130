/* Reads the orders, runs the probes in the order given, ends as told. */
#include "agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192
#define STEPS_MAX 300
#define BYTES_MAX 2048
#define STATUS_MAX 100

enum kind { KIND_PROBE, KIND_CHECKPOINT, KIND_MISBEHAVE };

struct step {
	enum kind kind;
	const struct probe *probe;
	char canary[64];
	char address[64];
	uint16_t port;
	const struct misbehaviour *misbehaviour;
	long long count;
};

/* What a misbehaviour writes: there is one at most. */
struct bytes {
	char data[BYTES_MAX];
	unsigned long length;
};

int read_line(char *line, int size)
{
	int length = 0;
	char byte;

	for (;;) {
		ssize_t got = read(STDIN_FILENO, &byte, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		if (byte == '\n')
			break;
		if (length < size - 1)
			line[length++] = byte;
	}
	line[length] = '\0';
	return length;
}

void write_all(int fd, const char *bytes, unsigned long length)
{
	while (length) {
		ssize_t put = write(fd, bytes, length);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return;
		bytes += put;
		length -= (unsigned long)put;
	}
}

static const struct probe *find_probe(const char *id)
{
	for (const struct probe *probe = probes; probe->id; probe++)
		if (strcmp(probe->id, id) == 0)
			return probe;
	return NULL;
}

static const struct misbehaviour *find_misbehaviour(const char *id)
{
	for (const struct misbehaviour *row = misbehaviours; row->id; row++)
		if (strcmp(row->id, id) == 0)
			return row;
	return NULL;
}

static int end(const char *id, int attempts)
{
	for (const struct ending *ending = endings; ending->id; ending++)
		if (strcmp(ending->id, id) == 0)
			return ending->run(attempts);
	return 127;
}

/* "ID CANARY ADDRESS PORT" */
static int parse_probe(char *line, struct step *step)
{
	char *rest = line;
	const char *id = strsep(&rest, " ");
	const char *canary = strsep(&rest, " ");
	const char *address = strsep(&rest, " ");

	if (!id || !canary || !address || !rest)
		return -1;
	step->probe = find_probe(id);
	if (!step->probe || strlen(canary) >= sizeof(step->canary) || strlen(address) >= sizeof(step->address))
		return -1;
	memcpy(step->canary, canary, strlen(canary) + 1);
	memcpy(step->address, address, strlen(address) + 1);
	step->port = (uint16_t)strtoul(rest, NULL, 10);
	return 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_hex(const char *text, struct bytes *out)
{
	out->length = 0;
	if (strcmp(text, "-") == 0)
		return 0;
	for (; text[0] && text[1] && out->length < BYTES_MAX; text += 2) {
		int high = digit(text[0]), low = digit(text[1]);

		if (high < 0 || low < 0)
			return -1;
		out->data[out->length++] = (char)(high * 16 + low);
	}
	return text[0] ? -1 : 0;
}

/* "ID COUNT HEX" */
static int parse_misbehaviour(char *line, struct step *step, struct bytes *bytes)
{
	char *rest = line;
	const char *id = strsep(&rest, " ");
	const char *count = strsep(&rest, " ");

	if (!id || !count || !rest)
		return -1;
	step->misbehaviour = find_misbehaviour(id);
	step->count = strtoll(count, NULL, 10);
	return step->misbehaviour ? parse_hex(rest, bytes) : -1;
}

static int parse_step(char *line, struct step *step, struct bytes *bytes)
{
	if (strcmp(line, "checkpoint") == 0) {
		step->kind = KIND_CHECKPOINT;
		return 0;
	}
	if (strncmp(line, "misbehave ", 10) == 0) {
		step->kind = KIND_MISBEHAVE;
		return parse_misbehaviour(line + 10, step, bytes);
	}
	step->kind = KIND_PROBE;
	return strncmp(line, "probe ", 6) == 0 ? parse_probe(line + 6, step) : -1;
}

static int try(const struct step *step, unsigned tries)
{
	for (unsigned n = 1; n <= tries; n++) {
		struct order order = {
			.canary = step->canary,
			.address = step->address,
			.port = step->port,
			.try_number = n,
		};

		step->probe->attempt(&order);
	}
	return (int)tries;
}

static void checkpoint(void)
{
	static const char frame[] = "{\"operation\":\"checkpoint\",\"arguments\":{}}\n";
	char line[LINE_MAX_BYTES];

	write_all(STDOUT_FILENO, frame, sizeof(frame) - 1);
	read_line(line, sizeof(line));
}

static void misbehave(const struct step *step, const struct bytes *bytes)
{
	const struct misbehaviour_order order = {
		.count = step->count,
		.bytes = bytes->data,
		.length = bytes->length,
	};

	step->misbehaviour->run(&order);
}

static int run(const struct step *steps, int count, unsigned tries, const struct bytes *bytes)
{
	int attempts = 0;

	for (int i = 0; i < count; i++) {
		const struct step *step = &steps[i];

		if (step->kind == KIND_PROBE)
			attempts += try(step, tries);
		else if (step->kind == KIND_CHECKPOINT)
			checkpoint();
		else
			misbehave(step, bytes);
	}
	return attempts < STATUS_MAX ? attempts : STATUS_MAX;
}

int main(void)
{
	static struct step steps[STEPS_MAX];
	static struct bytes bytes;
	char line[LINE_MAX_BYTES];
	unsigned tries = 1;
	int count = 0;

	signal(SIGPIPE, SIG_IGN);
	while (read_line(line, sizeof(line)) >= 0) {
		if (strncmp(line, "tries ", 6) == 0)
			tries = (unsigned)strtoul(line + 6, NULL, 10);
		else if (strncmp(line, "then ", 5) == 0)
			return end(line + 5, run(steps, count, tries, &bytes));
		else if (count == STEPS_MAX || parse_step(line, &steps[count++], &bytes) < 0)
			return 126;
	}
	return 125;
}
