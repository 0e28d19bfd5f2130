/*
 * The policy gate: which of the originally approved tools may be called now. It is pure: an update is bytes, a call is
 * a name, and who carries either is not its business.
 *
 * An update is one JSON object of exactly `revision` and one of `revoke` and `restore`, a tool's name. Revisions rise
 * strictly. An update takes hold, and may be acknowledged, once the calls that were admitted before it have finished;
 * calls that come behind it wait for it. One that is invalid or stale closes admission as soon as it comes, until a
 * valid newer one. Nothing here knows a ceiling, a catalog, a label or a policy: an update cannot speak of them.
 */
#ifndef HARNESS_ADAPTER_POLICY_GATE_H
#define HARNESS_ADAPTER_POLICY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "core/schema.h"

#define POLICY_TOOLS_MAX 32 /* as many as there are bits in a mask of them */

enum policy_outcome { POLICY_APPLIED, POLICY_STALE, POLICY_INVALID };
extern const char *const policy_outcome_names[]; /* NULL-terminated */

/* What an update says. */
struct policy_change {
	int64_t revision;
	char revoke[NAME_MAX_SHORT];
	char restore[NAME_MAX_SHORT]; /* one of the two is "" */
};
extern const struct schema_field policy_change_fields[];

struct policy_tool {
	char name[NAME_MAX_SHORT];
	bool revoked;
};

struct policy_gate {
	bool enforced; /* false: updates are acknowledged, and calls pass */
	bool lock; /* false: an update does not wait for calls under way */
	struct policy_tool tools[POLICY_TOOLS_MAX]; /* approved, in the order of their approval */
	size_t tools_count;
	int64_t revision; /* of the last update that was applied; 0: none yet */
	bool closed;
	int64_t calls; /* under way */
	bool pending; /* an update came and is not acknowledged */
	enum policy_outcome outcome; /* of it */
	struct policy_change change; /* of it, when it is valid */
};

/* What is told of an update once it took hold. */
struct policy_acknowledgment {
	enum policy_outcome outcome;
	int64_t revision; /* that holds now */
	bool closed;
	uint32_t revoked; /* bit i: the tool that was approved as the i-th */
};

void policy_gate_init(struct policy_gate *gate, bool enforced, bool lock);
/* Before any update. A tool that is approved already, one that does not fit and one too many change nothing. */
void policy_gate_approve(struct policy_gate *gate, const char *tool);
/* Whether the tool may be called now. An admitted call is under way until policy_gate_finish(). Not while an update is
 * pending: the call waits. */
bool policy_gate_admit(struct policy_gate *gate, const char *tool);
void policy_gate_finish(struct policy_gate *gate);
/* Takes an update; `bytes` may be anything. Not while another is pending. */
void policy_gate_submit(struct policy_gate *gate, const char *bytes, size_t length);
/* An update waits for the calls under way. */
bool policy_gate_pending(const struct policy_gate *gate);
/* True once the pending update took hold: *out is then to be told, once. */
bool policy_gate_settle(struct policy_gate *gate, struct policy_acknowledgment *out);

/* Bit i: tools[i] cannot be called now, and this update opens it. `count` is at most POLICY_TOOLS_MAX. */
uint32_t policy_update_opens(const struct policy_acknowledgment *now, const char *const *tools, size_t count,
			     const char *bytes, size_t length);
/* Reads an update's form, without knowing which tools are approved. ERROR_INPUT names what is wrong. */
int policy_change_decode(const char *bytes, size_t length, struct policy_change *out, struct error **err) MUST_CHECK;

#endif
