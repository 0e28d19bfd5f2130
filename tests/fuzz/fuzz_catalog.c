/* A catalog's file, and a tool's definition as a server gives it: the hash is the canonical form's alone. */
#include "gateway/catalog.h"

#include <string.h>

#include "core/buf.h"
#include "core/fd.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

static void check_catalog(const struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->tools_count; i++)
		FUZZ_HOLDS((size_t)catalog->tools[i].server < catalog->servers_count && catalog->tools[i].tool[0]);
	for (size_t i = 0; i < catalog->servers_count; i++)
		FUZZ_HOLDS(!catalog->servers[i].command[0] != !catalog->servers[i].url[0]);
}

static void read_catalog(const char *bytes, size_t size)
{
	cleanup_free struct catalog *catalog = calloc(1, sizeof(*catalog));
	cleanup_buf struct buf once = BUF(4 * CATALOG_BYTES), twice = BUF(4 * CATALOG_BYTES);
	struct json_writer writer;
	struct error *err = NULL;

	if (!catalog || catalog_read(bytes, size, catalog, &err) < 0) {
		error_free(err);
		return;
	}
	check_catalog(catalog);
	json_begin(&writer, &once);
	schema_encode(catalog_fields, catalog, &writer);
	FUZZ_HOLDS(catalog_read(buf_string(&once), once.length, catalog, &err) == 0);
	json_begin(&writer, &twice);
	schema_encode(catalog_fields, catalog, &writer);
	FUZZ_HOLDS(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
}

FUZZ_TARGET(catalog)
{
	cleanup_json struct json_document *document = NULL;
	char hash[HEX_SHA256], again[HEX_SHA256];
	struct error *err = NULL;

	read_catalog((const char *)bytes, size);
	if (json_parse((const char *)bytes, size, JSON_DEPTH, &document, &err) == 0 &&
	    catalog_definition_hash(json_root(document), hash, &err) == 0) {
		FUZZ_HOLDS(catalog_definition_hash(json_root(document), again, &err) == 0);
		FUZZ_HOLDS(memcmp(hash, again, sizeof(hash)) == 0);
	}
	error_free(err);
}
