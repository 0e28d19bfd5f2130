#include "mcp/request.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/transport.h"

#define HANDSHAKE_BYTES 1024
/* Around a notification's parameters. */
#define NOTICE_OVERHEAD (RPC_METHOD_BYTES + 64)

static void drop(struct mcp_request *request)
{
	struct mcp_request **at = &request->list->first;

	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	request->list->count--;
	rpc_message_free(&request->message);
	free(request);
}

void mcp_requests_free(struct mcp_requests *list)
{
	while (list->first)
		drop(list->first);
}

const struct json_node *mcp_request_params(const struct mcp_request *request)
{
	return request->message.params;
}

bool mcp_request_cancelled(const struct mcp_request *request)
{
	return request->cancelled;
}

void mcp_request_status(struct mcp_request *request, int http_status)
{
	request->status = http_status;
}

/* The HTTP status that goes with an error's code. */
static int status_of(int code)
{
	switch (code) {
	case RPC_PARSE_ERROR:
	case RPC_INVALID_REQUEST:
	case RPC_INVALID_PARAMS:
		return 400;
	case RPC_METHOD_NOT_FOUND:
		return 404;
	default:
		return 500;
	}
}

static void answered(struct mcp_request *request)
{
	if (request->list->transport->answered)
		request->list->transport->answered(request);
	drop(request);
}

void mcp_request_result(struct mcp_request *request, struct json_span result)
{
	request->status = 0;
	if (!request->cancelled)
		rpc_put_result(request->list->transport->answer(request), request->message.id, result);
	answered(request);
}

void mcp_request_error(struct mcp_request *request, int code, const char *message, struct json_span data)
{
	if (request->status == 0)
		request->status = status_of(code);
	if (!request->cancelled)
		rpc_put_error(request->list->transport->answer(request), request->message.id, code, message, data);
	answered(request);
}

void mcp_request_notify(struct mcp_request *request, const char *method, struct json_span params)
{
	struct buf *out = NULL;

	if (!request->cancelled)
		out = request->list->transport->notice(request, params.length + NOTICE_OVERHEAD);
	if (!out)
		return;
	rpc_put_notification(out, method, params);
	if (request->list->transport->noticed)
		request->list->transport->noticed(request);
}

static void put_text_object(struct json_writer *writer, const char *key, const char *name, const char *version)
{
	json_put_key(writer, key);
	json_object(writer);
	json_member_string(writer, "name", name);
	json_member_string(writer, "version", version);
	json_object_end(writer);
}

static void initialize(struct mcp_request *request)
{
	const struct mcp_service *service = &request->list->service;
	const char *asked = json_string(json_member(request->message.params, "protocolVersion"));
	cleanup_buf struct buf result = BUF(HANDSHAKE_BYTES);
	struct json_writer writer;

	json_begin(&writer, &result);
	json_object(&writer);
	json_member_string(&writer, "protocolVersion", asked && mcp_speaks(asked) ? asked : MCP_PROTOCOL);
	json_put_key(&writer, "capabilities");
	json_object(&writer);
	json_put_key(&writer, "tools");
	json_object(&writer);
	json_object_end(&writer);
	json_object_end(&writer);
	put_text_object(&writer, "serverInfo", service->name, service->version);
	json_object_end(&writer);
	mcp_request_result(request, rpc_span(&result));
}

int mcp_run(struct mcp_request *request, struct error **err)
{
	const struct mcp_service *service = &request->list->service;
	const char *method = request->message.method;

	if (strcmp(method, "initialize") == 0) {
		initialize(request);
		return 0;
	}
	if (strcmp(method, "ping") == 0) {
		mcp_request_result(request, (struct json_span){ .bytes = "{}", .length = 2 });
		return 0;
	}
	for (const struct mcp_handler *handler = service->handlers; handler->method; handler++)
		if (strcmp(method, handler->method) == 0)
			return handler->run(service->context, request, err);
	mcp_request_error(request, RPC_METHOD_NOT_FOUND, "Method not found", RPC_NONE);
	return 0;
}

int mcp_open(struct mcp_requests *list, void *carrier, uint64_t peer, struct rpc_message *message,
	     struct mcp_request **out, struct error **err)
{
	struct mcp_request *request = malloc(sizeof(*request));

	if (!request)
		return error_set(err, ERROR_MEMORY, "no memory for an MCP request");
	*request = (struct mcp_request){
		.list = list, .next = list->first, .carrier = carrier, .peer = peer, .message = *message
	};
	*message = (struct rpc_message){ .document = NULL };
	list->first = request;
	list->count++;
	*out = request;
	return 0;
}

void mcp_cancel(struct mcp_request *request)
{
	const struct mcp_requests *list = request->list;

	if (request->cancelled)
		return;
	request->cancelled = true;
	if (list->transport->cancelled)
		list->transport->cancelled(request);
	if (list->service.cancelled)
		list->service.cancelled(list->service.context, request);
}

static bool same_id(const struct json_node *one, const struct json_node *other)
{
	int64_t number, wanted;

	if (json_string(one) && json_string(other))
		return json_string_length(one) == json_string_length(other) &&
		       strcmp(json_string(one), json_string(other)) == 0;
	return json_int64(one, &number) && json_int64(other, &wanted) && number == wanted;
}

void mcp_notified(struct mcp_requests *list, uint64_t peer, const struct rpc_message *message)
{
	const struct json_node *id = json_member(message->params, "requestId");
	struct mcp_request *request = list->first;

	if (peer == 0 || strcmp(message->method, "notifications/cancelled") != 0)
		return;
	while (request &&
	       !(request->peer == peer && same_id(json_member(json_root(request->message.document), "id"), id)))
		request = request->next;
	if (request)
		mcp_cancel(request);
}
