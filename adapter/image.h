/*
 * The agent's image, made here: a deterministic archive (same program, same bytes) that holds /agent, /export with mode
 * 1777 and in it the marker of the files observers and a folder of files that are to be kept, nothing else.
 */
#ifndef HARNESS_ADAPTER_IMAGE_H
#define HARNESS_ADAPTER_IMAGE_H

#include "core/buf.h"
#include "core/error.h"
#include "core/limits.h"

#define IMAGE_REPOSITORY "harness/agent"
#define IMAGE_MARKER "harness-files-marker-1\n"
/* Everybody may delete what is in it: a file for each probe that does, named as that is. */
#define IMAGE_KEPT "export/kept"
#define IMAGE_KEPT_TEXT "this file is to be kept\n"
/* Which one it is, in a file of that folder. */
#define IMAGE_KEPT_REVISION "example-1\n"
#define IMAGE_ID_MAX 80 /* "sha256:" and 64 digits */

struct image {
	struct buf archive; /* what POST /images/load takes */
	char id[IMAGE_ID_MAX]; /* "sha256:" and the digest of the configuration */
	char tag[ID_MAX]; /* "harness/agent:" and 12 digits, so that clean finds it */
};

/* `agent`: descriptor of the static program. `architecture` as Go spells it: "amd64". image_free() afterwards. */
int image_build(int agent, const char *architecture, struct image *out, struct error **err) MUST_CHECK;
void image_free(struct image *image);
/* Of this machine, or "" when the engine would not know it. */
const char *image_architecture(void);

#endif
