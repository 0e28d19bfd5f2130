#include "gateway/program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"

#define TOKEN_FD 3 /* of libexec/mcp-http */
#define TOKEN_BYTES 512
/* Where a "#!" program finds itself, above all that an upstream is passed. */
#define SELF_FD 9

static int open_regular(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? steal_fd(&fd) : -1;
}

static bool may_run(int fd)
{
	return fd >= 0 && faccessat(fd, "", X_OK, AT_EMPTY_PATH) == 0;
}

static bool is_measured(int fd, const char *sha256)
{
	cleanup_error struct error *reason = NULL;
	char digest[HEX_SHA256];

	return fd >= 0 && hash_fd(fd, digest, &reason) == 0 && strcmp(digest, sha256) == 0;
}

int program_measure(const struct gateway_server *server, struct program *out)
{
	char start[2];
	bool measured;

	program_close(out);
	if (server->url[0])
		return 0;
	out->executable = open_regular(server->command);
	out->script = server->script[0] ? open_regular(server->script) : -1;
	out->server = server;
	measured = may_run(out->executable) &&
		   is_measured(server->script[0] ? out->script : out->executable, server->sha256);
	if (!measured) {
		program_close(out);
		return -1;
	}
	out->interpreted = pread(out->executable, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
			   memcmp(start, "#!", sizeof(start)) == 0;
	return 0;
}

struct program_stamp program_stamp(const struct gateway_server *server)
{
	const char *const paths[] = { server->command, server->script };
	struct program_stamp stamp = { { { 0 } } };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int64_t *file = stamp.files[i];
		struct stat info;

		if (!paths[i][0] || stat(paths[i], &info) < 0)
			continue;
		file[0] = (int64_t)info.st_dev;
		file[1] = (int64_t)info.st_ino;
		file[2] = info.st_size;
		file[3] = info.st_ctim.tv_sec;
		file[4] = info.st_ctim.tv_nsec;
	}
	return stamp;
}

bool program_same_stamp(const struct program_stamp *one, const struct program_stamp *other)
{
	return memcmp(one->files, other->files, sizeof(one->files)) == 0;
}

/* A "#!" program is opened by its interpreter, by the name that the kernel gives it: the descriptor must be there. */
static void by_descriptor(struct program *program, struct spawn_options *options)
{
	static const char self[] = "/proc/self/fd/9";

	if (!program->interpreted) {
		options->executable = program->executable;
		return;
	}
	options->path = self;
	options->fds[options->fds_count++] = (struct spawn_fd){ .from = program->executable, .to = SELF_FD };
}

/* Its end is what the relay reads to: without a token it is empty. */
static int give_token(const struct gateway_server *server, int *token, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(TOKEN_BYTES);
	cleanup_fd int in = -1;
	int r = fd_pipe(token, &in, err);

	if (r == 0 && server->token_file[0])
		r = fd_read_file(AT_FDCWD, server->token_file, TOKEN_BYTES, &bytes, err);
	if (r == 0)
		r = fd_write_all(in, bytes.data, bytes.length, clock_deadline(0), err);
	buf_wipe(&bytes);
	return r;
}

static int start_relay(const struct gateway_server *server, int64_t call_ms, const struct spawn_options *pipes,
		       struct child *child, struct error **err)
{
	char path[PATH_MAX], name[] = "mcp-http", url[GATEWAY_URL_BYTES], milliseconds[24];
	char *argv[] = { name, url, milliseconds, NULL };
	struct spawn_options options = *pipes;
	cleanup_fd int token = -1;

	snprintf(url, sizeof(url), "%s", server->url);
	snprintf(milliseconds, sizeof(milliseconds), "%lld", (long long)call_ms);
	if (spawn_helper_path(name, path, sizeof(path), err) < 0 || give_token(server, &token, err) < 0)
		return -1;
	options.path = path;
	options.argv = argv;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = token, .to = TOKEN_FD };
	return spawn(&options, child, err);
}

static int start_program(struct program *program, const struct gateway_server *server,
			 const struct spawn_options *pipes, struct child *child, struct error **err)
{
	struct gateway_server words = *server;
	char *argv[GATEWAY_ARGUMENTS_MAX + 3] = { words.command }, *envp[GATEWAY_VARIABLES_MAX + 1] = { NULL };
	struct spawn_options options = *pipes;
	size_t count = 1;

	if (server->script[0])
		argv[count++] = words.script;
	for (size_t i = 0; i < server->arguments_count; i++)
		argv[count++] = words.arguments[i];
	for (size_t i = 0; i < server->environment_count; i++)
		envp[i] = words.environment[i];
	by_descriptor(program, &options);
	if (server->pass_fd >= 0)
		options.fds[options.fds_count++] =
			(struct spawn_fd){ .from = (int)server->pass_fd, .to = UPSTREAM_FD_PASSED };
	options.argv = argv;
	options.envp = envp;
	return spawn(&options, child, err);
}

int program_start(struct program *program, const struct gateway_server *server, int64_t call_ms, struct child *child,
		  int *in, int *out, struct error **err)
{
	struct spawn_options options = { SPAWN_DEFAULTS };
	cleanup_fd int child_in = -1, child_out = -1;
	int r = fd_pipe(&child_in, out, err);

	if (r == 0)
		r = fd_pipe(in, &child_out, err);
	if (r < 0)
		return r;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_in, .to = STDIN_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_out, .to = STDOUT_FILENO };
	r = server->url[0] ? start_relay(server, call_ms, &options, child, err)
			   : start_program(program, server, &options, child, err);
	fd_close(&program->executable);
	return r;
}

bool program_unchanged(const struct program *program)
{
	cleanup_fd int now = -1;

	if (program->script < 0)
		return true;
	now = open_regular(program->server->script);
	return fd_same(now, program->script) && is_measured(now, program->server->sha256);
}

void program_close(struct program *program)
{
	fd_close(&program->executable);
	fd_close(&program->script);
}
