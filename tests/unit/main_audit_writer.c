/*
 * For tests of the audit store: a gateway's calls without a gateway. `main_audit_writer DATABASE SINK CALLS`: of each
 * call the intent is committed, then the call goes out as one line of SINK (its id), then the outcome is committed.
 * Says each call's number on standard output. Tests kill it at any point.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "gateway/audit_store.h"

#define CLOSE_AFTER 50 /* calls: then the store is closed and opened again */

static int append(struct audit_store *store, const char *type, const char *call, struct error **err)
{
	struct audit_entry entry = {
		.session_id = "s1",
		.entry_type = type,
		.call_id = call,
		.tool_name = "permitted.tool",
		.server_identity = "",
		.policy_decision = call ? "allow" : "n/a",
		.latency_us = -1,
		.evidence_class = "hash-only",
	};

	return audit_store_append(store, &entry, err);
}

static int dispatch(int sink, const char *call, struct error **err)
{
	char line[AUDIT_ID_BYTES + 1];
	int length = snprintf(line, sizeof(line), "%s\n", call);

	return write(sink, line, (size_t)length) == length ? 0 : error_set(err, ERROR_SYSTEM, "writing the sink");
}

static int do_call(struct audit_store *store, int sink, struct error **err)
{
	char call[AUDIT_ID_BYTES];
	int status = audit_new_id(call, err);

	if (!status)
		status = append(store, "call_intent", call, err);
	if (!status)
		status = audit_store_commit(store, true, err);
	if (!status)
		status = dispatch(sink, call, err);
	if (!status)
		status = append(store, "tool_call", call, err);
	return status ? status : audit_store_commit(store, false, err);
}

static int do_calls(const char *path, int sink, long *left, struct error **err)
{
	struct audit_store *store = NULL;
	cleanup_error struct error *closing = NULL;
	int status = audit_store_open(path, &store, err);

	if (!status)
		status = append(store, "session_start", NULL, err);
	for (int i = 0; i<CLOSE_AFTER && * left> 0 && !status; i++, (*left)--) {
		status = do_call(store, sink, err);
		if (write(STDOUT_FILENO, ".", 1) != 1 && !status)
			status = error_set(err, ERROR_CLOSED, "nobody listens");
	}
	if (audit_store_close(store, &closing) < 0 && !status)
		error_keep_first(err, &closing);
	return *err ? -1 : status;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	cleanup_fd int sink = argc == 4 ? open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	long left = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	int status = sink < 0 ? error_set(&err, ERROR_USAGE, "DATABASE SINK CALLS") : 0;

	while (left > 0 && !status)
		status = do_calls(argv[1], sink, &left, &err);
	if (status)
		fprintf(stderr, "%s\n", error_text(err));
	return status ? 1 : 0;
}
