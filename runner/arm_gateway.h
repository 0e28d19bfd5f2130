/*
 * The gateway of one arm. A kind of gateway is a row: what is started early, how the bridge comes to two pipes, how it
 * ends. What the run found out once for all arms comes with the arm's context.
 */
#ifndef HARNESS_RUNNER_ARM_GATEWAY_H
#define HARNESS_RUNNER_ARM_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "oracle/ground.h"

struct arm;

#define GATEWAY_URL_BYTES 256
#define GATEWAY_FILE_BYTES 1024
struct arm_gateway_choice {
	int kind; /* enum gateway_kind */
	/* GATEWAY_URL. Its upstream is our recorder, which appends to `sink`; `raised` is the one whose ceiling for
	 * public.tool is confidential, or "". */
	char url[GATEWAY_URL_BYTES], raised[GATEWAY_URL_BYTES];
	char token[GATEWAY_FILE_BYTES]; /* the file that holds it, or "" */
	char sink[GATEWAY_FILE_BYTES];
	/* GATEWAY_CMCP: of its virtual environment. */
	char python[GATEWAY_FILE_BYTES], program[GATEWAY_FILE_BYTES];
};
extern const struct schema_field arm_gateway_fields[];

#define GATEWAY_READY_MS 20000
#define GATEWAY_TOKEN_BYTES 33

/* gateway_embedded.c */
int gateway_embedded_start(struct arm *arm, struct error **err) MUST_CHECK;

/* gateway_cmcp.c: begin composes and starts it; start waits until it takes connections. */
int gateway_cmcp_begin(struct arm *arm, struct error **err) MUST_CHECK;
int gateway_cmcp_start(struct arm *arm, struct error **err) MUST_CHECK;
void gateway_cmcp_end(struct arm *arm);

/* A port of 127.0.0.1 that is free now. Who takes it before the gateway does has no token of the arm's. */
int gateway_free_port(uint16_t *out, struct error **err) MUST_CHECK;

/* gateway_http.c: libexec/mcp-http between the bridge's pipes and an endpoint; `token` is a descriptor, read to its
 * end. */
int gateway_http_relay(struct arm *arm, const char *url, int token, struct error **err) MUST_CHECK;
int gateway_url_start(struct arm *arm, struct error **err) MUST_CHECK;

/* The file of the recorder that belongs to the arm, for reading: -1 with *err. */
int arm_gateway_sink(const struct arm *arm, int *out, struct error **err) MUST_CHECK;
/* How much longer than another an arm may take to its end, because a fresh gateway takes so long to start. */
int64_t arm_gateway_slowness(const struct arm *arm);
/* Whether the kind writes a decisions file of ours. */
bool arm_gateway_decides(const struct arm *arm);

#endif
