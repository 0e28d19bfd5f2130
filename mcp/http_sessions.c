#include "mcp/http_sessions.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "core/fd.h"
#include "core/hash.h"

static struct http_session *find(struct http_sessions *sessions, const char *id)
{
	if (strlen(id) != HTTP_SESSION_ID - 1)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sessions->rows); i++)
		if (strcmp(sessions->rows[i].id, id) == 0)
			return &sessions->rows[i];
	return NULL;
}

int http_sessions_open(struct http_sessions *sessions, char id[HTTP_SESSION_ID], struct error **err)
{
	struct http_session *row = &sessions->rows[0];
	unsigned char random[(HTTP_SESSION_ID - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, errno, "getrandom");
	/* A free row was never used. */
	for (size_t i = 1; i < ARRAY_SIZE(sessions->rows); i++)
		if (sessions->rows[i].used < row->used)
			row = &sessions->rows[i];
	*row = (struct http_session){ .serial = ++sessions->last_serial, .used = ++sessions->uses };
	hash_digits(random, sizeof(random), row->id);
	memcpy(id, row->id, HTTP_SESSION_ID);
	return 0;
}

uint64_t http_sessions_find(struct http_sessions *sessions, const char *id)
{
	struct http_session *row = find(sessions, id);

	if (!row)
		return 0;
	row->used = ++sessions->uses;
	return row->serial;
}

bool http_sessions_end(struct http_sessions *sessions, const char *id)
{
	struct http_session *row = find(sessions, id);

	if (row)
		*row = (struct http_session){ .used = 0 };
	return row != NULL;
}
