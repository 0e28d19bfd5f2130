/* SSHSIG (OpenSSH's PROTOCOL.sshsig): a file signed by an Ed25519 key, as `ssh-keygen -Y verify` reads it. */
#ifndef HARNESS_REPORTS_SSHSIG_H
#define HARNESS_REPORTS_SSHSIG_H

#include "reports/sign.h"

#define SSHSIG_NAMESPACE "confinement-evidence"

/* Appends the armoured signature over the message. ERROR_REFUSED for a key that is not Ed25519. */
int sshsig_write(const struct private_key *key, const void *message, size_t length, struct buf *out,
		 struct error **err) MUST_CHECK;
/* Whether the armoured text is such a signature over the message by that key; one of another form is none. */
int sshsig_check(const struct public_key *key, const void *message, size_t length, const char *armor,
		 size_t armor_length, bool *good, struct error **err) MUST_CHECK;

#endif
