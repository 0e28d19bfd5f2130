/* Reads the orders, runs the probes in the order given, ends as told. */
#include "agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 512
#define ORDERS_MAX 256
#define STATUS_MAX 100

struct job {
	const struct probe *probe;
	char canary[64];
	char address[64];
	uint16_t port;
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

static int end(const char *id, int attempts)
{
	for (const struct ending *ending = endings; ending->id; ending++)
		if (strcmp(ending->id, id) == 0)
			return ending->run(attempts);
	return 127;
}

/* "probe ID CANARY ADDRESS PORT" */
static int parse_job(char *line, struct job *job)
{
	char *rest = line;
	const char *id = strsep(&rest, " ");
	const char *canary = strsep(&rest, " ");
	const char *address = strsep(&rest, " ");

	if (!id || !canary || !address || !rest)
		return -1;
	job->probe = find_probe(id);
	if (!job->probe || strlen(canary) >= sizeof(job->canary) || strlen(address) >= sizeof(job->address))
		return -1;
	memcpy(job->canary, canary, strlen(canary) + 1);
	memcpy(job->address, address, strlen(address) + 1);
	job->port = (uint16_t)strtoul(rest, NULL, 10);
	return 0;
}

static int run(const struct job *jobs, int count, unsigned tries)
{
	int attempts = 0;

	for (int i = 0; i < count; i++) {
		for (unsigned n = 1; n <= tries; n++) {
			struct order order = {
				.canary = jobs[i].canary,
				.address = jobs[i].address,
				.port = jobs[i].port,
				.try_number = n,
			};

			jobs[i].probe->attempt(&order);
			attempts++;
		}
	}
	return attempts < STATUS_MAX ? attempts : STATUS_MAX;
}

int main(void)
{
	static struct job jobs[ORDERS_MAX];
	char line[LINE_MAX_BYTES];
	unsigned tries = 1;
	int count = 0;

	signal(SIGPIPE, SIG_IGN);
	while (read_line(line, sizeof(line)) >= 0) {
		if (strncmp(line, "tries ", 6) == 0)
			tries = (unsigned)strtoul(line + 6, NULL, 10);
		else if (strncmp(line, "then ", 5) == 0)
			return end(line + 5, run(jobs, count, tries));
		else if (strncmp(line, "probe ", 6) != 0 || count == ORDERS_MAX ||
			 parse_job(line + 6, &jobs[count++]) < 0)
			return 126;
	}
	return 125;
}
