/*
 * libexec/order-service DATABASE [http]: an example's order service. Without a word behind it, an MCP server over stdio
 * with the tool order_create; with "http", POST /orders on a loopback port of its own, which it says on standard output
 * ("ready PORT REVISION"), until its standard input ends. An MCP client is told the revision as the server's version.
 * It authorises nobody: who reaches it makes orders.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "mcp/server.h"
#include "services/order_tool.h"

#define NAME "order-service"
#define QUEUE_BYTES (64 * KIB)
#define ANSWER_BYTES (64 * KIB)
#define LAST_WRITE_MS 1000
#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int serve_pipe(struct orders *orders, struct error **err)
{
	const struct mcp_server_options options = {
		.name = NAME,
		.version = ORDER_REVISION,
		.handlers = order_handlers,
		.context = orders,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = QUEUE_BYTES, .calls_max = 1 },
	};
	cleanup_mcp_server struct mcp_server *server = NULL;

	if (mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &server, err) < 0)
		return -1;
	return mcp_server_serve(server, clock_deadline(HELPER_LIFE_MS), LAST_WRITE_MS, err);
}

static int serve_http(struct orders *orders, struct error **err)
{
	const struct mcp_http_options options = {
		.address = "127.0.0.1",
		.name = NAME,
		.version = ORDER_REVISION,
		.handlers = order_handlers,
		.routes = order_routes,
		.context = orders,
		.answer_max = ANSWER_BYTES,
	};
	cleanup_loop struct loop *loop = NULL;
	cleanup_mcp_http_server struct mcp_http_server *server = NULL;
	int r = loop_new(&loop, err);

	if (r == 0)
		r = loop_fd(loop, STDIN_FILENO, POLLIN, loop_end_by_fd, NULL, err);
	if (r == 0)
		r = mcp_http_server_new(&options, &server, err);
	if (r == 0)
		r = mcp_http_server_attach(server, loop, 0, err);
	if (r < 0)
		return r;
	printf("ready %u " ORDER_REVISION "\n", (unsigned)mcp_http_server_port(server));
	fflush(stdout);
	r = loop_run(loop, clock_deadline(HELPER_LIFE_MS), err);
	if (r == 0)
		return error_set(err, ERROR_TIMEOUT, "nobody ended it");
	return r < 0 ? r : 0;
}

static int serve(const char *path, bool http, struct error **err)
{
	cleanup_orders struct orders *orders = NULL;
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = orders_open(path, &orders, err);
	if (r < 0)
		return r;
	return http ? serve_http(orders, err) : serve_pipe(orders, err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	bool http = argc == 3 && strcmp(argv[2], "http") == 0;

	if (argc != 2 && !http) {
		fprintf(stderr, "usage: " NAME " DATABASE [http]\n");
		return EXIT_USAGE;
	}
	if (serve(argv[1], http, &err) == 0)
		return 0;
	fprintf(stderr, NAME ": %s\n", error_text(err));
	return EXIT_ERROR;
}
