/* Lines of one container's log, counted by canary, each stream of it apart, and what beside them is no line of a log.
 */
#ifndef HARNESS_OBSERVERS_LOGS_LINES_H
#define HARNESS_OBSERVERS_LOGS_LINES_H

#include "observers/counter.h"
#include "observers/logs_frames.h"

struct logs_lines {
	struct counter streams[LOGS_STREAMS];
	struct counter raw;
};

int logs_lines_open(struct logs_lines *lines, struct observer *observer, struct error **err) MUST_CHECK;
/* Ends the last line of each stream, which need not have a line feed. */
void logs_lines_end(struct logs_lines *lines);
void logs_lines_clear(struct logs_lines *lines);
void logs_lines_close(struct logs_lines *lines);
/* Over all streams, for one subject. */
uint64_t logs_lines_records(const struct logs_lines *lines, size_t index);
uint64_t logs_lines_hits(const struct logs_lines *lines, size_t index);
/* The markers' records: a control emits one text, which stands for both phases. */
uint64_t logs_lines_markers(const struct observer *observer, const struct logs_lines *lines);

#endif
