/* Where a database of a PostgreSQL server is, as one word. */
#include <stdio.h>
#include <string.h>

#include "core/postgres.h"

#define SCHEME "postgresql:///"
#define NAME_BYTES 64
#define FOLDER_BYTES 200

static bool of(const char *text, size_t size, const char *others)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t length = strlen(text);

	for (const char *at = text; *at; at++)
		if (!strchr(letters, *at) && !strchr(others, *at))
			return false;
	return length > 0 && length < size;
}

int postgres_url(const char *folder, const char *name, char out[POSTGRES_URL_BYTES], struct error **err)
{
	if (!of(name, NAME_BYTES, ""))
		return error_set(err, ERROR_INPUT, "no name for a database");
	if (folder[0] != '/' || !of(folder, FOLDER_BYTES, "/.-"))
		return error_set(err, ERROR_INPUT,
				 "the folder of a PostgreSQL socket is an absolute path of letters, digits and _/.-");
	snprintf(out, POSTGRES_URL_BYTES, SCHEME "%s?host=%s", name, folder);
	return 0;
}

bool postgres_is_url(const char *where)
{
	return strncmp(where, SCHEME, strlen(SCHEME)) == 0;
}
