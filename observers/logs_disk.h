/* The engine's folder of one container, searched for what a log driver left there. */
#ifndef HARNESS_OBSERVERS_LOGS_DISK_H
#define HARNESS_OBSERVERS_LOGS_DISK_H

#include "observers/logs_lines.h"
#include "observers/tree.h"

/* Clears `lines` and counts: the lines of the json-file driver by their decoded messages, any other file as one record.
 * A negative folder is INPUT_MISSING; a line beyond the buffer is LIMIT. */
int logs_disk_count(int folder, struct logs_lines *lines, struct tree_result *out, struct error **err) MUST_CHECK;
/* Whether the engine's own description of a container can be read in it. */
bool logs_disk_is_engines(int folder);

#endif
