/* The JSON Schemas that reports/schema/ holds: one for each member of a bundle that is JSON, or lines of JSON. */
#ifndef HARNESS_REPORTS_SCHEMA_H
#define HARNESS_REPORTS_SCHEMA_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"

/* Whether the member has one: all that are JSON and that the bundle's own form is about. */
bool member_has_schema(int member);
/* Appends the schema of the member, or of a line of it, and a line feed. */
int member_schema(int member, struct buf *out, struct error **err) MUST_CHECK;

#endif
