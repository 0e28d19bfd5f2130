/* harness-gateway as its user starts it: words in, an exit code and two texts out, or an address where it serves. */
#ifndef HARNESS_TESTS_UNIT_GATEWAY_PROCESS_H
#define HARNESS_TESTS_UNIT_GATEWAY_PROCESS_H

#include "tests/unit/gateway_served.h"

#define WORDS_MAX 16

struct ended {
	int code; /* -1: it did not end */
	char out[RIG_TEXT_BYTES], err[RIG_TEXT_BYTES];
};

static inline int start_words(const char *const *words, const char *directory, int out, int err_fd, struct child *child)
{
	char path[RIG_PATH_BYTES], copies[WORDS_MAX][RIG_PATH_BYTES], *argv[WORDS_MAX + 1] = { NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv, .envp = environ,
					 .directory = directory };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(spawn_helper_path("harness-gateway", path, sizeof(path), &err), 0);
	for (int i = 0; i < WORDS_MAX && words[i]; i++) {
		snprintf(copies[i], sizeof(copies[i]), "%s", words[i]);
		argv[i] = copies[i];
	}
	options.fds[0] = (struct spawn_fd){ .from = out, .to = STDOUT_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = err_fd, .to = STDERR_FILENO };
	options.fds_count = 2;
	CU_ASSERT_EQUAL(spawn(&options, child, &err), 0);
	return test_no_error(&err);
}

static inline void text_of(int fd, char out[RIG_TEXT_BYTES])
{
	ssize_t got = pread(fd, out, RIG_TEXT_BYTES - 1, 0);

	out[got > 0 ? got : 0] = '\0';
}

/* `words`: with the program's name, ended by NULL. `directory`: where it starts, or NULL. */
static inline struct ended run_in(const char *directory, const char *const *words)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_error struct error *late = NULL;
	cleanup_fd int out = rig_file(), err = rig_file();
	struct ended ended = { .code = -1 };
	int status;

	start_words(words, directory, out, err, &child);
	if (child_wait(&child, clock_deadline(RIG_GUARD_MS), &status, &late) == 0)
		ended.code = status;
	text_of(out, ended.out);
	text_of(err, ended.err);
	return ended;
}
#define RUN(...) run_in(NULL, (const char *const[]){ "harness-gateway", __VA_ARGS__, NULL })

/* One printable line. */
static inline bool is_one_line(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i + 1 < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return length > 1 && text[length - 1] == '\n';
}

static inline void put_config(const struct served *served, const char *name)
{
	cleanup_buf struct buf text = BUF(GATEWAY_CONFIG_BYTES);
	struct json_writer writer;

	json_begin(&writer, &text);
	schema_encode(gateway_config_fields, &served->rig.config, &writer);
	put_file(served, name, buf_string(&text));
}

static inline struct ended run_config(const struct served *served, const char *verb)
{
	char path[RIG_PATH_BYTES];

	put_config(served, "config.json");
	in_folder(path, served->folder, "config.json");
	return RUN(verb, "--config", path);
}

#endif
