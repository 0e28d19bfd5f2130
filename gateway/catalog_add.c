#include "gateway/catalog_add.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/spawn.h"
#include "gateway/decision.h"

#define EXIT_USAGE 4
#define FILE_MODE 0644
#define WAIT_MS 30000
#define WAIT_DIGITS 6

static const char *const interpreters[];

struct words {
	const char *catalog, *sensitivity, *url, *token_file, *wait;
	const char *wanted[GATEWAY_TOOLS_MAX + 1];
	size_t wanted_count;
	const char *variables[GATEWAY_VARIABLES_MAX];
	size_t variables_count;
	char **command; /* ended by NULL, or NULL */
};

/* False: no such word, or a value is missing. */
static bool take_word(struct words *words, const char *word, const char *value)
{
	if (!value)
		return false;
	if (strcmp(word, "--catalog") == 0)
		words->catalog = value;
	else if (strcmp(word, "--sensitivity") == 0)
		words->sensitivity = value;
	else if (strcmp(word, "--url") == 0)
		words->url = value;
	else if (strcmp(word, "--token-file") == 0)
		words->token_file = value;
	else if (strcmp(word, "--wait-ms") == 0)
		words->wait = value;
	else if (strcmp(word, "--tool") == 0 && words->wanted_count < GATEWAY_TOOLS_MAX)
		words->wanted[words->wanted_count++] = value;
	else if (strcmp(word, "--env") == 0 && words->variables_count < GATEWAY_VARIABLES_MAX)
		words->variables[words->variables_count++] = value;
	else
		return false;
	return true;
}

static bool is_wait(const char *word)
{
	size_t length = strlen(word);

	return length > 0 && length <= WAIT_DIGITS && strspn(word, "0123456789") == length &&
	       strtol(word, NULL, 10) > 0;
}

static bool take_words(struct words *words, int argc, char **argv)
{
	if (argc < 1 || strcmp(argv[0], "add") != 0)
		return false;
	for (int i = 1; i < argc; i += 2) {
		if (strcmp(argv[i], "--") == 0) {
			words->command = argv + i + 1;
			break;
		}
		if (!take_word(words, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			return false;
	}
	return words->catalog && (!words->wait || is_wait(words->wait)) &&
	       (words->command ? words->command[0] && !words->url : words->url != NULL);
}

static int put(char *out, size_t size, const char *text, struct error **err)
{
	if ((size_t)snprintf(out, size, "%s", text) >= size)
		return error_set(err, ERROR_INPUT, "a word of the server's is too long");
	return 0;
}

static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* As a shell finds it, so that the catalog holds where it was. */
static int find_command(const char *name, char out[GATEWAY_PATH_BYTES], struct error **err)
{
	const char *path = getenv("PATH");
	cleanup_free char *here = NULL;
	char found[PATH_MAX];

	/* Not resolved: an interpreter of a virtual environment is a link, and finds its packages by the name. */
	if (name[0] == '/')
		return put(out, GATEWAY_PATH_BYTES, name, err);
	if (strchr(name, '/')) {
		here = getcwd(NULL, 0);
		if (!here)
			return error_errno(err, errno, "the current folder");
		snprintf(found, sizeof(found), "%s/%s", here, name);
		return put(out, GATEWAY_PATH_BYTES, found, err);
	}
	while (path && *path) {
		size_t length = strcspn(path, ":");

		snprintf(found, sizeof(found), "%.*s/%s", (int)length, path, name);
		if (is_file(found) && access(found, X_OK) == 0)
			return put(out, GATEWAY_PATH_BYTES, found, err);
		path += length + (path[length] == ':');
	}
	return error_set(err, ERROR_INPUT, "the server's program is not found");
}

static int measure(struct gateway_server *server, struct error **err)
{
	const char *path = server->script[0] ? server->script : server->command;
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return error_errno(err, errno, "the server's program");
	if (!is_file(path))
		return error_set(err, ERROR_INPUT, "the server's program is no regular file");
	return hash_fd(fd, server->sha256, err) < 0 ? error_wrap(err, "the server's program") : 0;
}

/* "python3.11" is "python". */
static bool is_interpreter(const char *command)
{
	const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;

	for (const char *const *one = interpreters; *one; one++) {
		size_t length = strlen(*one);

		if (strncmp(name, *one, length) == 0 && name[length + strspn(name + length, "0123456789.")] == '\0')
			return true;
	}
	return false;
}

static int take_command(struct gateway_server *server, char **command, struct error **err)
{
	cleanup_free char *script = NULL;

	if (find_command(*command++, server->command, err) < 0)
		return -1;
	/* What an interpreter runs is what must not change, not the interpreter. */
	if (*command && is_interpreter(server->command) && is_file(*command)) {
		script = realpath(*command++, NULL);
		if (!script)
			return error_errno(err, errno, "the server's script");
		if (put(server->script, sizeof(server->script), script, err) < 0)
			return -1;
	}
	for (; *command; command++) {
		if (server->arguments_count == GATEWAY_ARGUMENTS_MAX)
			return error_set(err, ERROR_LIMIT, "a server has at most %d arguments", GATEWAY_ARGUMENTS_MAX);
		if (put(server->arguments[server->arguments_count++], GATEWAY_ARGUMENT_BYTES, *command, err) < 0)
			return -1;
	}
	return measure(server, err);
}

static int take_token_file(struct gateway_server *server, const char *path, struct error **err)
{
	cleanup_free char *whole = realpath(path, NULL);

	return whole ? put(server->token_file, sizeof(server->token_file), whole, err)
		     : error_errno(err, errno, "the token's file");
}

static int take_server(struct gateway_server *server, const struct words *words, struct error **err)
{
	*server = (struct gateway_server){ .pass_fd = -1 };
	for (size_t i = 0; i < words->variables_count; i++)
		if (put(server->environment[server->environment_count++], GATEWAY_ARGUMENT_BYTES, words->variables[i],
			err) < 0)
			return -1;
	if (words->command)
		return take_command(server, words->command, err);
	if (words->token_file && take_token_file(server, words->token_file, err) < 0)
		return -1;
	return put(server->url, sizeof(server->url), words->url, err);
}

static int read_old(const char *path, struct catalog *catalog, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(CATALOG_BYTES);

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (fd_read_file(AT_FDCWD, path, CATALOG_BYTES, &bytes, err) < 0)
		return error_wrap(err, "the catalog's file");
	return catalog_read(buf_string(&bytes), bytes.length, catalog, err);
}

/* A word that no catalog may hold is found by whoever will read it. */
static int check_written(struct buf *bytes, struct error **err)
{
	cleanup_free struct catalog *again = calloc(1, sizeof(*again));

	if (!again)
		return error_set(err, ERROR_MEMORY, "no memory for a catalog");
	return catalog_read(buf_string(bytes), bytes->length, again, err);
}

static int write_new(const char *path, const struct catalog *catalog, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(CATALOG_BYTES);
	struct json_writer writer;

	json_begin(&writer, &bytes);
	schema_encode(catalog_fields, catalog, &writer);
	buf_text(&bytes, "\n");
	if (buf_check(&bytes, "the catalog", err) < 0 || check_written(&bytes, err) < 0)
		return -1;
	return fd_write_atomic(AT_FDCWD, path, bytes.data, bytes.length, FILE_MODE, err);
}

static int add(const struct words *words, struct catalog *catalog, struct error **err)
{
	struct catalog_question question = {
		.sensitivity = words->sensitivity ? words->sensitivity : "public",
		.wanted = words->wanted_count ? words->wanted : NULL,
		.wait_ms = words->wait ? strtol(words->wait, NULL, 10) : WAIT_MS,
	};
	size_t added = 0;

	if (read_old(words->catalog, catalog, err) < 0)
		return -1;
	if (catalog->servers_count == GATEWAY_SERVERS_MAX)
		return error_set(err, ERROR_LIMIT, "a catalog has at most %d servers", GATEWAY_SERVERS_MAX);
	if (strlen(question.sensitivity) >= NAME_MAX_SHORT)
		return error_set(err, ERROR_INPUT, "the label is too long");
	question.server = catalog->servers_count++;
	if (take_server(&catalog->servers[question.server], words, err) < 0 ||
	    catalog_check(catalog->tools, catalog->tools_count, catalog->servers, catalog->servers_count, "catalog",
			  err) < 0 ||
	    catalog_ask(catalog, &question, &added, err) < 0)
		return -1;
	if (added == 0 || added < words->wanted_count)
		return error_set(err, ERROR_INPUT, "the server has no such tool");
	if (write_new(words->catalog, catalog, err) < 0)
		return -1;
	printf("%zu tools of a new server, %zu in the catalog\n", added, catalog->tools_count);
	return 0;
}

int catalog_add(int argc, char **argv, struct error **err)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	struct words words = { .catalog = NULL };

	if (!take_words(&words, argc, argv))
		return EXIT_USAGE;
	if (!catalog)
		return error_set(err, ERROR_MEMORY, "no memory for a catalog");
	if (process_harden(false, 0, err) < 0)
		return -1;
	return add(&words, catalog, err);
}

/* Programs that run the file that is their first argument; of any other the argument is its own. Ended by NULL. */
static const char *const interpreters[] = {
	"python", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "sh", "bash", "dash", NULL,
};
