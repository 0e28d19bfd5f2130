/*
 * report.html: one static page for people. No script, no request, nothing but what the other members say, each text
 * escaped. Pure, and linear in cells and events.
 */
#ifndef HARNESS_REPORTS_HTML_H
#define HARNESS_REPORTS_HTML_H

#include "reports/generate.h"

/* Appends the page. The same findings give the same bytes. */
int html_encode(const struct findings *findings, struct buf *out, struct error **err) MUST_CHECK;

#endif
