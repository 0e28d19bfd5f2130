#include "observers/dns.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <limits.h>

/* `name` is in presentation form: a dot inside a label is escaped. */
static void join_labels(const char *name, struct buf *out)
{
	for (const char *at = name; *at != '\0'; at++) {
		char letter = (char)tolower((unsigned char)*at);

		if (*at == '\\' && at[1] != '\0') {
			buf_add(out, at, 2);
			at++;
		} else if (*at != '.') {
			buf_add(out, &letter, 1);
		}
	}
	buf_add(out, "\n", 1);
}

int dns_labels(const void *bytes, size_t length, struct buf *out, struct error **err)
{
	ns_msg message;
	ns_rr record;

	if (length > INT_MAX || ns_initparse(bytes, (int)length, &message) < 0)
		return error_set(err, ERROR_INPUT, "no DNS message");
	if (ns_msg_getflag(message, ns_f_qr) != 0 || ns_msg_count(message, ns_s_qd) == 0)
		return error_set(err, ERROR_INPUT, "no DNS question");
	for (int i = 0; i < ns_msg_count(message, ns_s_qd); i++) {
		if (ns_parserr(&message, ns_s_qd, i, &record) < 0)
			return error_set(err, ERROR_INPUT, "a broken DNS question");
		join_labels(ns_rr_name(record), out);
	}
	return buf_check(out, "a question's labels", err);
}
