/*
 * The version of the bundle's format, major.minor. A newer minor of ours may say more than this program knows: that is
 * not checked, and never passes. Another major is refused.
 */
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "reports/verify_parts.h"

#define NAME "confinement-evidence/"
#define NUMBER_MAX 9999

/* Digits without a zero in front, at most NUMBER_MAX; -1 is none. */
static int take_number(const char **at)
{
	const char *first = *at;
	int value = 0;

	while (**at >= '0' && **at <= '9' && value <= NUMBER_MAX)
		value = value * 10 + (*(*at)++ - '0');
	if (*at == first || value > NUMBER_MAX || (*first == '0' && *at - first > 1))
		return -1;
	return value;
}

static bool parse(const char *text, int *major, int *minor)
{
	if (!text || strncmp(text, NAME, strlen(NAME)) != 0)
		return false;
	text += strlen(NAME);
	*major = take_number(&text);
	if (*major < 0 || *text++ != '.')
		return false;
	*minor = take_number(&text);
	return *minor >= 0 && *text == '\0';
}

void bundle_version(struct bundle *bundle)
{
	const struct buf *text = &bundle->members[MEMBER_MANIFEST].text;
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *ignored = NULL;
	int own_major = 0, own_minor = 0, major = 0, minor = 0;

	bundle->minor = MANIFEST_MINOR;
	/* What is no version at all is for the check of the manifest to say. */
	if (json_parse(buf_string(text), text->length, JSON_DEPTH, &document, &ignored) < 0 ||
	    !parse(json_string(json_member(json_root(document), "schema")), &major, &minor) ||
	    !parse(MANIFEST_SCHEMA, &own_major, &own_minor))
		return;
	bundle->other_major = major != own_major;
	bundle->newer = major == own_major && minor > own_minor;
	bundle->major = major;
	bundle->minor = minor;
}

int bundle_own_manifest(const struct bundle *bundle, struct buf *out, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_MANIFEST].text;
	char said[64];
	const char *at;

	snprintf(said, sizeof(said), "\"schema\":\"" NAME "%d.%d\"", bundle->major, bundle->minor);
	at = bundle->newer ? strstr(buf_string(text), said) : NULL;
	if (at) {
		buf_add(out, text->data, (size_t)(at - text->data));
		buf_text(out, "\"schema\":\"" MANIFEST_SCHEMA "\"");
		buf_text(out, at + strlen(said));
	} else {
		buf_add(out, buf_string(text), text->length);
	}
	return buf_check(out, "manifest.json", err);
}

bool bundle_unknown(const struct bundle *bundle, const struct error *why)
{
	return bundle->newer && error_is_unlisted(why);
}
