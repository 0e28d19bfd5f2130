/*
 * Plants a defect in an arm that runs: live-main_plant ARM ACTION PROGRAM [ARGUMENT]
 *
 * ARM is the process of the arm, which meanwhile waits for the watchdog that calls this. By then every observer was
 * ready and proved its sight, or does so within SETTLE_MS, and no plaintext is in the container. ACTION befalls the
 * arm's process of PROGRAM (the end of its path) whose first argument is ARGUMENT, if one is given:
 *
 *   stop, kill   SIGSTOP, SIGKILL
 *   resume       SIGCONT, at once
 *   drown        SIGSTOP, more packets on the loopback than a capture's ring can hold, SIGCONT
 *
 * Other actions befall the file PROGRAM that the arm has open, once it holds the text ARGUMENT, if one is given:
 *
 *   cut, halve   emptied; its second half taken off
 *   replace      emptied, and filled up again with as many other bytes
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"

#define WAIT_MS 3000
#define SETTLE_MS 200
#define LOOK_MS 1
#define PROC_BYTES 4096
#define FILE_BYTES (64 * KIB)
#define GENERATIONS 2
/* Each is kept whole by the ring, and answered by an ICMP error that is kept too. */
#define FLOOD_PACKETS (2 * CAPTURE_HOST_RING_BYTES / 512)
#define FLOOD_BYTES 512
#define DISCARD_PORT 9

struct wanted {
	const char *program;
	const char *argument; /* or NULL */
};

static bool read_proc(pid_t pid, const char *file, struct buf *out)
{
	cleanup_error struct error *gone = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return fd_read_file(AT_FDCWD, path, PROC_BYTES, out, &gone) == 0;
}

static bool runs(pid_t pid, const struct wanted *wanted)
{
	cleanup_buf struct buf words = BUF(PROC_BYTES);
	char path[64], program[PATH_MAX];
	const char *first;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, program, sizeof(program) - 1);
	if (length < 0)
		return false;
	program[length] = '\0';
	if (!strrchr(program, '/') || strcmp(strrchr(program, '/') + 1, wanted->program) != 0)
		return false;
	if (!wanted->argument)
		return true;
	if (!read_proc(pid, "cmdline", &words) || words.length == 0)
		return false;
	first = words.data + strnlen(words.data, words.length) + 1;
	return first < words.data + words.length && strcmp(first, wanted->argument) == 0;
}

/* Among the descendants of `parent`, or 0. A recorder is the gateway's child, which is the arm's. */
static pid_t find_below(pid_t parent, const struct wanted *wanted, int generations)
{
	cleanup_buf struct buf list = BUF(PROC_BYTES);
	char path[64], *word, *rest;
	pid_t found = 0;

	snprintf(path, sizeof(path), "task/%d/children", (int)parent);
	if (generations == 0 || !read_proc(parent, path, &list))
		return 0;
	rest = list.data;
	while (found == 0 && (word = strsep(&rest, " ")) && *word) {
		pid_t pid = (pid_t)strtol(word, NULL, 10);

		found = runs(pid, wanted) ? pid : find_below(pid, wanted, generations - 1);
	}
	return found;
}

static int flood(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(DISCARD_PORT),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	static const char packet[FLOOD_BYTES];

	if (fd < 0)
		return -1;
	for (int i = 0; i < FLOOD_PACKETS; i++)
		(void)!sendto(fd, packet, sizeof(packet), 0, (const struct sockaddr *)&to, sizeof(to));
	return 0;
}

static int strike(const char *action, pid_t target)
{
	if (strcmp(action, "kill") == 0)
		return kill(target, SIGKILL);
	if (strcmp(action, "stop") == 0)
		return kill(target, SIGSTOP);
	if (strcmp(action, "resume") == 0)
		return kill(target, SIGCONT);
	if (strcmp(action, "drown") != 0 || kill(target, SIGSTOP) < 0)
		return -1;
	return flood() < 0 ? -1 : kill(target, SIGCONT);
}

/* The file of this name in one of the process's descriptors. */
static bool find_file(pid_t pid, const char *name, char out[PATH_MAX])
{
	const struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	list = opendir(path);
	while (list && !found && (entry = readdir(list))) {
		ssize_t length = readlinkat(dirfd(list), entry->d_name, out, PATH_MAX - 1);

		out[length < 0 ? 0 : length] = '\0';
		found = strrchr(out, '/') && strcmp(strrchr(out, '/') + 1, name) == 0;
	}
	if (list)
		closedir(list);
	return found;
}

static bool await_text(const char *file, const char *text)
{
	int64_t deadline = clock_deadline(WAIT_MS);

	while (clock_now() < deadline) {
		cleanup_buf struct buf bytes = BUF(FILE_BYTES);
		cleanup_error struct error *gone = NULL;

		if (fd_read_file(AT_FDCWD, file, FILE_BYTES, &bytes, &gone) < 0)
			return false;
		if (bytes.length && memmem(bytes.data, bytes.length, text, strlen(text)))
			return true;
		(void)poll(NULL, 0, LOOK_MS);
	}
	return false;
}

static int shorten(const char *action, const char *file)
{
	cleanup_fd int fd = open(file, O_WRONLY | O_CLOEXEC);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return -1;
	if (strcmp(action, "halve") == 0)
		return ftruncate(fd, info.st_size / 2);
	if (ftruncate(fd, 0) < 0)
		return -1;
	for (off_t at = 0; strcmp(action, "replace") == 0 && at < info.st_size; at++)
		if (pwrite(fd, "x", 1, at) != 1)
			return -1;
	return 0;
}

static bool is_of_files(const char *action)
{
	return strcmp(action, "cut") == 0 || strcmp(action, "halve") == 0 || strcmp(action, "replace") == 0;
}

int main(int argc, char **argv)
{
	int64_t deadline = clock_deadline(WAIT_MS);
	struct wanted wanted = { .argument = NULL };
	char file[PATH_MAX];
	pid_t arm;

	if (argc < 4 || argc > 5)
		return fprintf(stderr, "usage: live-main_plant ARM stop|resume|kill|drown|cut|halve|replace PROGRAM "
				       "[ARGUMENT]\n"),
		       4;
	arm = (pid_t)strtol(argv[1], NULL, 10);
	wanted.program = argv[3];
	wanted.argument = argv[4];
	/* Whoever started this has descriptors whose other ends wait for their close. */
	if (close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
		return 1;
	if (is_of_files(argv[2]))
		return !find_file(arm, argv[3], file) || (argv[4] && !await_text(file, argv[4])) ||
		       shorten(argv[2], file) < 0;
	while (clock_now() < deadline) {
		pid_t target = find_below(arm, &wanted, GENERATIONS);

		if (target == 0) {
			(void)poll(NULL, 0, LOOK_MS);
			continue;
		}
		if (strcmp(argv[2], "resume") != 0)
			(void)poll(NULL, 0, SETTLE_MS);
		return strike(argv[2], target) < 0;
	}
	return 1;
}
