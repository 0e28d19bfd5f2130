#include "core/correlate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"

struct joining {
	const struct correlate_call *calls;
	size_t calls_count;
	const struct correlate_row *rows;
	size_t rows_count;
	size_t *call_of; /* of each row; calls_count: none */
	bool *taken; /* of each call: a row is its own */
	struct correlation *out;
};

static void find(struct joining *joining, enum correlate_kind kind, const struct correlate_call *call,
		 const struct correlate_row *row)
{
	struct correlate_finding *finding = &joining->out->findings[joining->out->count++];

	finding->kind = (int)kind;
	if (row) {
		snprintf(finding->subject, sizeof(finding->subject), "%s", row->subject);
		snprintf(finding->call, sizeof(finding->call), "%s", row->call);
		snprintf(finding->transaction, sizeof(finding->transaction), "%s", row->transaction);
		finding->row = row->row;
	}
	if (call) {
		if (!row)
			snprintf(finding->subject, sizeof(finding->subject), "%s", call->subject);
		snprintf(finding->call, sizeof(finding->call), "%s", call->call);
		snprintf(finding->entry, sizeof(finding->entry), "%s", call->entry);
	}
}

/* The call that the id names, or that asked for this. */
static size_t call_of(const struct joining *joining, size_t at)
{
	const struct correlate_row *row = &joining->rows[at];
	size_t second = joining->calls_count;

	for (size_t call = 0; call < joining->calls_count; call++) {
		if (row->call[0] && strcmp(joining->calls[call].call, row->call) == 0)
			return call;
		if (row->call[0] || strcmp(joining->calls[call].request, row->request) != 0)
			continue;
		if (!joining->taken[call])
			return call;
		if (second == joining->calls_count)
			second = call;
	}
	return second;
}

static enum correlate_kind kind_of_row(const struct correlate_call *call, const struct correlate_row *row, bool again)
{
	if (strcmp(call->request, row->request) != 0)
		return CORRELATE_COPIED_ID;
	if (!call->allowed)
		return CORRELATE_ROW_OF_DENIED;
	if (again)
		return CORRELATE_ROW_AGAIN;
	return call->entry[0] ? CORRELATE_JOINED : CORRELATE_CALL_WITHOUT_ENTRY;
}

static bool same_id_before(const struct joining *joining, size_t at)
{
	for (size_t call = 0; call < at; call++)
		if (strcmp(joining->calls[call].call, joining->calls[at].call) == 0)
			return true;
	return false;
}

/* A row that a copied id brought is not the call's own. */
static void find_of_call(struct joining *joining, size_t at)
{
	const struct correlate_call *call = &joining->calls[at];
	bool own = false;

	if (same_id_before(joining, at))
		find(joining, CORRELATE_CALL_AGAIN, call, NULL);
	for (size_t row = 0; row < joining->rows_count; row++) {
		enum correlate_kind kind;

		if (joining->call_of[row] != at)
			continue;
		kind = kind_of_row(call, &joining->rows[row], own);
		own |= kind != CORRELATE_COPIED_ID;
		find(joining, kind, call, &joining->rows[row]);
	}
	if (!own && call->allowed && !call->open)
		find(joining, call->entry[0] ? CORRELATE_CALL_WITHOUT_ROW : CORRELATE_CALL_WITHOUT_ENTRY, call, NULL);
}

static int check_rows(const struct correlate_row *rows, size_t count, struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].row <= 0)
			return error_set(err, ERROR_INPUT, "row %zu of the effect has no number", i);
		for (size_t before = 0; before < i; before++)
			if (rows[before].row == rows[i].row)
				return error_set(err, ERROR_INPUT, "row %zu of the effect has the number of row %zu", i,
						 before);
	}
	return 0;
}

int correlate(const struct correlate_call *calls, size_t calls_count, const struct correlate_row *rows,
	      size_t rows_count, struct correlation *out, struct error **err)
{
	cleanup_free size_t *owners = NULL;
	cleanup_free bool *taken = NULL;
	struct joining joining = {
		.calls = calls, .calls_count = calls_count, .rows = rows, .rows_count = rows_count, .out = out
	};

	*out = (struct correlation){ .findings = NULL };
	if (calls_count > CORRELATE_MAX || rows_count > CORRELATE_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d calls or rows to join", CORRELATE_MAX);
	if (check_rows(rows, rows_count, err) < 0)
		return -1;
	owners = calloc(rows_count + 1, sizeof(*owners));
	taken = calloc(calls_count + 1, sizeof(*taken));
	/* Of a call at most two findings without a row: that its id was there before, and that it has none. */
	out->findings = calloc(2 * calls_count + rows_count + 1, sizeof(*out->findings));
	if (!owners || !taken || !out->findings) {
		correlation_free(out);
		return error_set(err, ERROR_MEMORY, "no memory to join calls and rows");
	}
	joining.call_of = owners;
	joining.taken = taken;
	for (size_t row = 0; row < rows_count; row++) {
		owners[row] = call_of(&joining, row);
		taken[owners[row]] = true;
	}
	for (size_t call = 0; call < calls_count; call++)
		find_of_call(&joining, call);
	for (size_t row = 0; row < rows_count; row++)
		if (owners[row] == calls_count)
			find(&joining, CORRELATE_ROW_WITHOUT_CALL, NULL, &rows[row]);
	return 0;
}

void correlation_free(struct correlation *correlation)
{
	free(correlation->findings);
	*correlation = (struct correlation){ .findings = NULL };
}

size_t correlation_count(const struct correlation *correlation, enum correlate_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < correlation->count; i++)
		count += correlation->findings[i].kind == (int)kind;
	return count;
}

const char *const correlate_kind_names[] = {
	[CORRELATE_JOINED] = "joined",
	[CORRELATE_ROW_WITHOUT_CALL] = "row-without-call",
	[CORRELATE_CALL_WITHOUT_ROW] = "call-without-row",
	[CORRELATE_ROW_AGAIN] = "row-again",
	[CORRELATE_COPIED_ID] = "copied-id",
	[CORRELATE_ROW_OF_DENIED] = "row-of-denied",
	[CORRELATE_CALL_WITHOUT_ENTRY] = "call-without-entry",
	[CORRELATE_CALL_AGAIN] = "call-again",
	NULL,
};
