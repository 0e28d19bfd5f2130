/*
 * libexec/order-import DATABASE: a consumer of files. Each line of standard input is one order, as JSON, and becomes
 * one; a line that is none is passed over. It says how many it made ("imported N of M"). Who can leave a file where it
 * looks makes orders.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "services/orders.h"

#define FILE_BYTES (1 * MIB)
#define READ_MS 5000
#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int import_line(struct orders *orders, const char *line, size_t length, unsigned *made, struct error **err)
{
	cleanup_error struct error *unread = NULL;
	struct order order;
	int64_t id;

	if (order_read(line, length, &order, &unread) < 0)
		return 0;
	if (orders_create(orders, &order, "", &id, err) < 0)
		return -1;
	(*made)++;
	return 0;
}

static int import(const char *path, struct error **err)
{
	cleanup_buf struct buf file = BUF(FILE_BYTES);
	cleanup_orders struct orders *orders = NULL;
	unsigned lines = 0, made = 0;

	if (process_harden(true, 0, err) < 0 || orders_open(path, &orders, err) < 0 ||
	    fd_read_all(STDIN_FILENO, &file, clock_deadline(READ_MS), err) < 0)
		return -1;
	for (size_t at = 0; at < file.length;) {
		const char *line = file.data + at, *newline = memchr(line, '\n', file.length - at);
		size_t length = newline ? (size_t)(newline - line) : file.length - at;

		lines++;
		if (import_line(orders, line, length, &made, err) < 0)
			return -1;
		at += length + 1;
	}
	printf("imported %u of %u\n", made, lines);
	return 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: order-import DATABASE < FILE\n");
		return EXIT_USAGE;
	}
	if (import(argv[1], &err) == 0)
		return 0;
	fprintf(stderr, "order-import: %s\n", error_text(err));
	return EXIT_ERROR;
}
