#include "observers/logs_lines.h"

int logs_lines_open(struct logs_lines *lines, struct observer *observer, struct error **err)
{
	int status = counter_open(&lines->raw, observer, err);

	for (size_t i = 0; i < LOGS_STREAMS && !status; i++)
		status = counter_open(&lines->streams[i], observer, err);
	return status;
}

void logs_lines_end(struct logs_lines *lines)
{
	for (size_t i = 0; i < LOGS_STREAMS; i++)
		counter_end(&lines->streams[i]);
	counter_end(&lines->raw);
}

void logs_lines_clear(struct logs_lines *lines)
{
	for (size_t i = 0; i < LOGS_STREAMS; i++)
		counter_clear(&lines->streams[i]);
	counter_clear(&lines->raw);
}

void logs_lines_close(struct logs_lines *lines)
{
	for (size_t i = 0; i < LOGS_STREAMS; i++)
		counter_close(&lines->streams[i]);
	counter_close(&lines->raw);
}

uint64_t logs_lines_records(const struct logs_lines *lines, size_t index)
{
	uint64_t sum = lines->raw.records[index];

	for (size_t i = 0; i < LOGS_STREAMS; i++)
		sum += lines->streams[i].records[index];
	return sum;
}

uint64_t logs_lines_hits(const struct logs_lines *lines, size_t index)
{
	uint64_t sum = lines->raw.hits[index];

	for (size_t i = 0; i < LOGS_STREAMS; i++)
		sum += lines->streams[i].hits[index];
	return sum;
}

uint64_t logs_lines_markers(const struct observer *observer, const struct logs_lines *lines)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < observer->count; i++) {
		if (observer->subjects[i].marker)
			sum += logs_lines_records(lines, i);
	}
	return sum;
}
