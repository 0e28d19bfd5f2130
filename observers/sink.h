/*
 * The protected sink's tools and its file: what reaches a tool is appended, a line each with a single write. Shared by
 * the recorder and by the upstream that misbehaves, so that both are counted alike.
 */
#ifndef HARNESS_OBSERVERS_SINK_H
#define HARNESS_OBSERVERS_SINK_H

#include "core/error.h"
#include "mcp/server.h"

#define SINK_FD 3
#define SINK_SLOW "slow.tool" /* one call of it may last */
/* No tool: the lines in which a hostile upstream or gateway says that it did what it is for. */
#define SINK_PEER_ACTED "peer.acted"

extern const char *const sink_tools[]; /* NULL-terminated */

/* For a sink whose parent passes no descriptors: opens the file, which is there, as SINK_FD. NULL: it was passed. */
int sink_open(const char *path, struct error **err) MUST_CHECK;
/* Appends {"tool":...,"arguments":...}. A line that was not written whole is an error. */
int sink_append(int fd, const char *tool, struct json_span arguments, struct error **err) MUST_CHECK;
/* Records a tools/call. Returns its tool, or NULL: it was answered (no such tool), or *err is set. */
const char *sink_record(int fd, struct mcp_request *request, struct error **err);
/* Answers a call that was recorded. */
void sink_answer(struct mcp_request *request);
/* Answers tools/list. */
int sink_list(struct mcp_request *request, struct error **err) MUST_CHECK;

#endif
