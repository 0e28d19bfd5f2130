#include "observers/document.h"

#include "core/limits.h"

static int take(void *context, const void *bytes, size_t length, struct error **err)
{
	struct document *document = context;

	(void)err;
	/* A document that does not fit will not parse. */
	(void)buf_add(&document->text, bytes, length);
	return 0;
}

void document_init(struct document *document)
{
	*document = (struct document){
		.stream = STREAM(ENGINE_ANSWER_BYTES, take),
		.text = BUF(ENGINE_ANSWER_BYTES),
	};
	document->stream.context = document;
}

bool document_parse(const struct document *document, struct json_document **out)
{
	cleanup_error struct error *broken = NULL;

	return stream_reason(&document->stream) == WIRE_REASON_NONE && !document->text.failed &&
	       json_parse(buf_string(&document->text), document->text.length, JSON_ENGINE_DEPTH, out, &broken) == 0;
}

void document_close(struct document *document)
{
	stream_close(&document->stream);
	buf_wipe(&document->text);
}
