#include "core/nearest.h"

#include <stdio.h>
#include <string.h>

#define FAR (NEAREST_MAX + 1)
#define OFF_MAX 2
#define SHARE 3 /* one letter in three */

static unsigned least(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

/* Three rows of the table of Damerau's distance, in the form that swaps no letters twice. */
unsigned nearest_distance(const char *one, const char *other)
{
	unsigned rows[3][NEAREST_MAX + 1] = { 0 };
	size_t height = strnlen(one, NEAREST_MAX), width = strnlen(other, NEAREST_MAX);

	if (height == NEAREST_MAX || width == NEAREST_MAX)
		return FAR;
	for (size_t x = 0; x <= width; x++)
		rows[0][x] = (unsigned)x;
	for (size_t y = 1; y <= height; y++) {
		unsigned *row = rows[y % 3];
		const unsigned *above = rows[(y + 2) % 3], *higher = rows[(y + 1) % 3];

		row[0] = (unsigned)y;
		for (size_t x = 1; x <= width; x++) {
			row[x] = least(above[x], row[x - 1]) + 1;
			row[x] = least(row[x], above[x - 1] + (one[y - 1] != other[x - 1]));
			if (y > 1 && x > 1 && one[y - 1] == other[x - 2] && one[y - 2] == other[x - 1])
				row[x] = least(row[x], higher[x - 2] + 1);
		}
	}
	return rows[height % 3][width];
}

static void offer_as(struct nearest *nearest, const char *part, const char *name)
{
	unsigned distance = nearest_distance(nearest->word, part);

	if (distance > OFF_MAX || distance * SHARE > strlen(part) + 1)
		return;
	if (nearest->name[0] && nearest->distance <= distance)
		return;
	snprintf(nearest->name, sizeof(nearest->name), "%s", name);
	nearest->distance = distance;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	offer_as(nearest, name, name);
}

void nearest_offer_path(struct nearest *nearest, const char *name)
{
	const char *last = strrchr(name, '/');
	char folder[NEAREST_MAX];

	offer_as(nearest, name, name);
	if (last)
		offer_as(nearest, last + 1, name);
	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(end - name), name);
		offer_as(nearest, folder, folder);
	}
}

int nearest_error(const struct nearest *nearest, const char *kind, const char *see, struct error **err)
{
	char word[NEAREST_MAX];

	error_safe(nearest->word, word, sizeof(word));
	if (!nearest->name[0])
		return error_set(err, ERROR_USAGE, "unknown %s '%s': %s", kind, word, see);
	return error_set(err, ERROR_USAGE, "unknown %s '%s': did you mean '%s'?", kind, word, nearest->name);
}
