#include "runner/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/preflight.h"
#include "core/fd.h"
#include "core/hash.h"
#include "reports/environment.h"
#include "runner/environment_facts.h"

#define PROC_FILE_BYTES 4096
#define SNAPSHOT_BYTES (2 * FACTS_BYTES)
#define BOOT_APPLICATION "harness boot digest 1\n"
#define BOOT_DIGITS 32

/* Each fact that a bundle lists, once: what was found of the form that a bundle demands, or null and the reason. */
static int put_facts(const struct facts *facts, struct buf *out, struct error **err)
{
	cleanup_json struct json_document *values = NULL, *reasons = NULL;
	cleanup_buf struct buf text = BUF(SNAPSHOT_BYTES), unavailable = BUF(FACTS_BYTES);
	struct json_writer json, missing;
	const char *name;

	if (json_parse(buf_string(&facts->values_text), facts->values_text.length, JSON_DEPTH, &values, err) < 0 ||
	    json_parse(buf_string(&facts->reasons_text), facts->reasons_text.length, JSON_DEPTH, &reasons, err) < 0)
		return error_wrap(err, "the environment");
	json_begin(&json, &text);
	json_begin(&missing, &unavailable);
	json_object(&missing);
	json_object(&json);
	json_put_key(&json, "facts");
	json_object(&json);
	for (size_t i = 0; (name = environment_fact(i)); i++) {
		const struct json_node *value = json_member(json_root(values), name);
		const char *reason = json_string(json_member(json_root(reasons), name));

		json_put_key(&json, name);
		if (!json_is_null(value) && environment_fact_fits(name, value)) {
			json_put_raw(&json, json_raw(value).bytes, json_raw(value).length);
			continue;
		}
		json_put_null(&json);
		json_member_string(&missing, name, reason ? reason : fact_reason_names[FACT_UNSUPPORTED]);
	}
	json_object_end(&json);
	json_object_end(&missing);
	json_put_key(&json, "unavailable");
	json_put_raw(&json, buf_string(&unavailable), unavailable.length);
	json_object_end(&json);
	if (buf_check(&unavailable, "the environment", err) < 0 || buf_check(&text, "the environment", err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

int environment_take(const struct json_node *version, const struct json_node *info, const char *api, bool user_xattr,
		     const char *postgres, struct buf *out, struct error **err)
{
	cleanup_facts struct facts facts = { 0 };
	cleanup_fd int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char boot[HEX_SHA256];

	if (root < 0)
		return error_errno(err, errno, "the root folder");
	if (environment_boot(boot, err) < 0)
		return -1;
	facts_begin(&facts);
	facts_kernel(&facts, root);
	facts_machine(&facts, root);
	facts_engine(&facts, version, info, api);
	facts_process(&facts, getenv);
	fact_flag(&facts, "host.ipv6Loopback", preflight_ipv6_loopback());
	fact_flag(&facts, "host.userXattr", user_xattr);
	fact_flag(&facts, "host.postgres", postgres[0] != '\0');
	fact_text(&facts, "postgres.version", postgres);
	fact_text(&facts, "kernel.boot", boot);
	json_object_end(&facts.values);
	json_object_end(&facts.reasons);
	if (buf_check(&facts.values_text, "the environment", err) < 0 ||
	    buf_check(&facts.reasons_text, "the environment", err) < 0)
		return -1;
	return put_facts(&facts, out, err);
}

/* Every fact that is null in either snapshot, once, with the reason of the first one in which it is. */
static void put_unavailable(struct json_writer *json, const struct json_node *before, const struct json_node *after)
{
	const char *name;

	json_put_key(json, "unavailable");
	json_array(json);
	for (size_t i = 0; (name = environment_fact(i)); i++) {
		const struct json_node *reason = json_member(json_member(before, "unavailable"), name);

		if (!reason)
			reason = json_member(json_member(after, "unavailable"), name);
		if (!reason)
			continue;
		json_object(json);
		json_member_string(json, "field", name);
		json_member_string(json, "reason", json_string(reason));
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_snapshot(struct json_writer *json, const char *key, const struct json_node *snapshot)
{
	struct json_span facts = json_raw(json_member(snapshot, "facts"));

	json_put_key(json, key);
	json_put_raw(json, facts.bytes, facts.length);
}

int environment_encode(const struct buf *before, const struct buf *after, struct buf *out, bool *changed,
		       struct error **err)
{
	cleanup_json struct json_document *first = NULL, *second = NULL;
	cleanup_buf struct buf text = BUF(3 * SNAPSHOT_BYTES);
	struct json_writer json;

	if (json_parse(buf_string(before), before->length, JSON_DEPTH, &first, err) < 0 ||
	    json_parse(buf_string(after), after->length, JSON_DEPTH, &second, err) < 0)
		return error_wrap(err, "the environment");
	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "schema", ENVIRONMENT_SCHEMA);
	put_snapshot(&json, "before", json_root(first));
	put_snapshot(&json, "after", json_root(second));
	put_unavailable(&json, json_root(first), json_root(second));
	json_object_end(&json);
	if (buf_check(&text, "the environment", err) < 0 || json_canonical(text.data, text.length, out, err) < 0)
		return -1;
	return environment_differs(buf_string(out), out->length, changed, err);
}

int environment_boot(char out[HEX_SHA256], struct error **err)
{
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES);

	if (buf_text(&text, BOOT_APPLICATION) < 0 ||
	    fd_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", PROC_FILE_BYTES, &text, err) < 0)
		return *err ? -1 : error_set(err, ERROR_MEMORY, "no memory for the boot's digest");
	hash_bytes(text.data, text.length, out);
	out[BOOT_DIGITS] = '\0';
	return 0;
}
