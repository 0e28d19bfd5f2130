/*
 * What a container's cgroup counted. None of it falls, and its folders go with the last process: so it is read while
 * they are there, again and again, and the largest value is kept.
 */
#ifndef HARNESS_OBSERVERS_PEAKS_H
#define HARNESS_OBSERVERS_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "observers/wire.h"

enum peak { PEAK_PROCESSES, PEAK_PROCESS_LIMIT, PEAK_MEMORY, PEAK_OOM_KILLS, PEAKS };

struct peaks {
	int processes, memory; /* folders, or -1; not owned */
	struct {
		bool read;
		int64_t value;
	} values[PEAKS];
};

void peaks_read(struct peaks *peaks);
/* Why there is no value, or WIRE_REASON_NONE. */
enum wire_reason peaks_value(const struct peaks *peaks, enum peak peak, int64_t *value);

#endif
