/* The orders, whatever database holds them. */
#include "core/postgres.h"
#include "services/orders_store.h"

#define ORDER_DEPTH 2

int orders_open(const char *where, struct orders **out, struct error **err)
{
	return postgres_is_url(where) ? orders_open_pg(where, out, err) : orders_open_sqlite(where, out, err);
}

void orders_close(struct orders *orders)
{
	if (orders)
		orders->store->close(orders);
}

int orders_create(struct orders *orders, const struct order *order, const char *call, int64_t *id, struct error **err)
{
	return orders->store->create(orders, order, call, id, err);
}

int order_read(const char *bytes, size_t length, struct order *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	if (json_parse(bytes, length, ORDER_DEPTH, &document, err) < 0)
		return error_wrap(err, "an order");
	return schema_decode(order_fields, json_root(document), "an order", out, sizeof(*out), err);
}

#define TEXT(member)                                                                                                   \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ASCII, .min = 1,                                   \
	.size = sizeof(((struct order *)0)->member), .offset = offsetof(struct order, member)

const struct schema_field order_fields[] = {
	{ .key = "reference", TEXT(reference) },
	{ .key = "item", TEXT(item) },
	{ .key = "quantity",
	  .required = true,
	  .type = SCHEMA_INT,
	  .min = 1,
	  .max = 1000000,
	  .offset = offsetof(struct order, quantity) },
	{ .key = NULL },
};
