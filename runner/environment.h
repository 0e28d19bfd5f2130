/*
 * What a run stood on: kernel, machine, engine, runtimes, CI, as numbers, enums and version strings. Taken before and
 * after the arms; what cannot be read is null and named with the reason. Nothing that identifies a host or a person: no
 * name, no address, no machine id, and of the environment's variables only listed ones.
 */
#ifndef HARNESS_RUNNER_ENVIRONMENT_H
#define HARNESS_RUNNER_ENVIRONMENT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"
#include "core/limits.h"

/* Appends a snapshot, for environment_encode(): {facts, unavailable}, canonical; each fact that a bundle lists is
 * there. `version` and `info` are the engine's answers, `api` the negotiated version; whether its data folder keeps
 * attributes of users. `postgres` is the version of the PostgreSQL cluster, "" without one. */
int environment_take(const struct json_node *version, const struct json_node *info, const char *api, bool user_xattr,
		     const char *postgres, struct buf *out, struct error **err) MUST_CHECK;
/* environment.json from two snapshots; *changed as environment_differs() says of it. */
int environment_encode(const struct buf *before, const struct buf *after, struct buf *out, bool *changed,
		       struct error **err) MUST_CHECK;
/* 32 hexadecimal digits that two runs share exactly when they share a boot, and that no other tool derives. */
int environment_boot(char out[HEX_SHA256], struct error **err) MUST_CHECK;

#endif
