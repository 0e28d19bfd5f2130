/*
 * The PostgreSQL cluster in which arms have a database of orders, each its own: asked by a helper, since nothing here
 * links its library. `folder` is that of the server's socket.
 */
#ifndef HARNESS_RUNNER_CLUSTER_H
#define HARNESS_RUNNER_CLUSTER_H

#include <stdbool.h>

#include "core/error.h"
#include "core/limits.h"

#define CLUSTER_VERSION_BYTES 128
#define CLUSTER_NAME_BYTES 64
#define CLUSTER_FOLDER_BYTES 200

/* The folder that is named, or with NULL the one of ci/postgres. */
const char *cluster_folder(const char *named);
/* Whether a server's socket lies there. Whether a server answers it, cluster_version() finds out. */
bool cluster_there(const char *folder);
/* The server's version, once each role of the orders can come in; else "". Needs root. */
void cluster_version(const char *folder, char out[CLUSTER_VERSION_BYTES]);

/* The name of an arm's database, out of its run and of what its folder's name ends in. */
void cluster_name(const char *run, const char *path, char out[CLUSTER_NAME_BYTES]);
/* Makes the database, with the table of orders. */
int cluster_create(const char *folder, const char *name, struct error **err) MUST_CHECK;
/* Removes it, whoever is connected; one that is not there is success. */
int cluster_drop(const char *folder, const char *name, struct error **err) MUST_CHECK;
/* Removes those of a run, or with NULL of every run that is not under way. No server is success: then none is left. */
int cluster_sweep(const char *folder, const char *run, unsigned *count, struct error **err) MUST_CHECK;

#endif
