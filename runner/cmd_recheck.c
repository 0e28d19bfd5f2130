/* `harness recheck`: the verdicts of a bundle, made again from its observations. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "reports/summary.h"
#include "runner/bundle_file.h"
#include "runner/document.h"
#include "runner/store.h"
#include "runner/verb.h"

#define VERDICTS_BYTES ((size_t)BUNDLE_FILE_BYTES)
#define FILE_MODE 0644
#define LINE_BYTES 256

struct recheck {
	const struct verify_report *report;
	const struct verdicts *verdicts; /* made again, or NULL: the bundle is not fit for it */
	const struct verify_check *failed; /* the first, or NULL */
	bool identical;
	char was[HEX_SHA256], is[HEX_SHA256]; /* of verdicts.json */
	int code;
};

static void conclude(struct recheck *recheck)
{
	int none = recheck->report->newer ? EXIT_NOT_ESTABLISHED : EXIT_FAIL;
	int verdict = recheck->verdicts ? recheck->verdicts->exit_code : none;

	/* That an arm broke was the run's error, and left its cells open. */
	recheck->code = verdict == EXIT_HARNESS ? EXIT_NOT_ESTABLISHED : verdict;
	if (recheck->failed || (recheck->verdicts && !recheck->identical))
		recheck->code = EXIT_FAIL;
	else if (recheck->report->newer && recheck->code != EXIT_FAIL)
		recheck->code = EXIT_NOT_ESTABLISHED;
}

static void print_text(const struct recheck *recheck)
{
	const struct verdicts *verdicts = recheck->verdicts;
	cleanup_buf struct buf cells = BUF(LINE_BYTES);

	if (!verdicts)
		printf("not made again: %s\n", recheck->report->newer ? VERIFY_NEWER : "the bundle is not intact");
	else
		printf("verdicts.json, made again: %s\n", recheck->identical ? "the same bytes" : "other bytes");
	if (recheck->failed)
		printf("failed %s: %s\n", recheck->failed->id, recheck->failed->reason);
	if (!verdicts)
		return;
	if (recheck->report->newer)
		printf("not all of it was read: %s\n", VERIFY_NEWER);
	printf("verdict: %s\n", verdict_words(verdicts->overall));
	summary_cells(verdicts->pass, verdicts->fail, verdicts->not_established, verdicts->arms_count,
		      verdicts->mutations_count, &cells);
	fputs(buf_string(&cells), stdout);
}

static int print_document(const struct recheck *recheck, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);
	const struct verdicts *verdicts = recheck->verdicts;
	const char *newer = recheck->report->newer ? VERIFY_NEWER : "";
	struct json_writer json;

	document_begin(&json, &document, "recheck", recheck->code);
	json_member_bool(&json, "identical", recheck->identical);
	document_optional(&json, "sealedSha256", recheck->was);
	document_optional(&json, "madeSha256", recheck->is);
	document_optional(&json, "failed", recheck->failed ? recheck->failed->id : "");
	document_optional(&json, "reason", recheck->failed ? recheck->failed->reason : newer);
	document_optional(&json, "verdict", verdicts ? verdict_names[verdicts->overall] : "");
	json_put_key(&json, "cells");
	json_object(&json);
	json_member_int(&json, "pass", verdicts ? (int64_t)verdicts->pass : 0);
	json_member_int(&json, "fail", verdicts ? (int64_t)verdicts->fail : 0);
	json_member_int(&json, "notEstablished", verdicts ? (int64_t)verdicts->not_established : 0);
	json_object_end(&json);
	document_end(&json);
	return document_print(&document, err);
}

static int make_again(const struct opened *opened, const char *path, struct recheck *recheck, struct error **err)
{
	cleanup_buf struct buf again = BUF(VERDICTS_BYTES);
	size_t length = 0;
	const char *sealed = opened_text(opened, MEMBER_VERDICTS, &length);

	recheck->verdicts = opened_findings(opened)->verdicts;
	if (verdicts_encode(recheck->verdicts, &again, err) < 0)
		return -1;
	recheck->identical = again.length == length && memcmp(buf_string(&again), sealed, length) == 0;
	hash_bytes(sealed, length, recheck->was);
	hash_bytes(buf_string(&again), again.length, recheck->is);
	if (!path)
		return 0;
	if (fd_write_atomic(AT_FDCWD, path, buf_string(&again), again.length, FILE_MODE, err) < 0)
		return error_wrap(err, "the verdicts");
	store_give(AT_FDCWD, path);
	return 0;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_opened struct opened *opened = NULL;
	struct verify_report report;
	struct recheck recheck = { .report = &report };
	cleanup_fd int fd = -1;

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE,
				 "recheck takes one bundle: harness recheck runs/latest/" BUNDLE_NAME);
	if (options->target && bundle_file_spared(options->target, err) < 0)
		return -1;
	if (bundle_file(options->words[0], "recheck", &fd, err) < 0 || opened_judged(fd, &report, &opened, err) < 0)
		return -1;
	recheck.failed = bundle_file_failed(&report);
	if (opened && make_again(opened, options->target, &recheck, err) < 0)
		return -1;
	conclude(&recheck);
	if (!options->json)
		print_text(&recheck);
	else if (print_document(&recheck, err) < 0)
		return -1;
	return recheck.code;
}

const struct verb verb_recheck = {
	.name = "recheck",
	.words = "BUNDLE",
	.title = "make a bundle's verdicts again from its observations",
	.text = "Judges the observations again by the rules of this program, and compares the bytes with the sealed "
		"verdicts.json.\n"
		"With --out FILE they are written there. Needs neither root nor an engine. Exit codes: that of the "
		"verdict where the\n"
		"bytes are the same (0, 1, 2), 1 where they are not or the bundle is not intact, 2 where a newer "
		"version of the format\n"
		"says what this program does not know, 3 when the file cannot be opened.",
	.run = run,
};
