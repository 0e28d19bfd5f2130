/* Every maximum of the project in one place. Units are in the name or the comment. */
#ifndef HARNESS_CORE_LIMITS_H
#define HARNESS_CORE_LIMITS_H

#define KIB 1024
#define MIB (1024 * 1024)

/* Names */
#define ID_MAX 64 /* scenario, mutation, image and rule ids, with their NUL */
#define NAME_MAX_SHORT 32 /* subject, observer, probe, role, tool: with their NUL */
#define TITLE_MAX 160
#define HEX_SHA256 65 /* 64 hexadecimal digits and a NUL */
#define CONTAINER_ID_MAX 65

/* A helper that nobody ended by then ends by itself: no arm lives so long, whatever its windows. */
#define HELPER_LIFE_MS (15 * 60 * 1000)

/* One arm */
#define ARM_REMOVED_MAX 4
#define ARM_PROBES_MAX 256
#define ARM_AFTER_MAX 8
#define ARM_FAULTS_MAX 8
#define ARM_POLICY_MAX 16
#define POLICY_DOCUMENT_MAX 256 /* of a scenario; with its NUL */
#define ARM_CELLS_MAX 512
#define ARM_SUBJECTS_MAX 320
#define ARM_EVENTS_MAX 128
#define ARM_DIFFERENCE_MAX 64
#define ARM_EFFECTIVE_MAX 512
#define ARM_FIELD_MAX 128 /* the path of a field of the effective configuration, with its NUL */
#define ARM_POOL_BYTES (12 * MIB) /* what is kept of the records of a run's arms */
#define PLAN_ARMS_MAX 4096
#define PLAN_SCENARIOS_MAX 512 /* that a plan may choose from */
#define PLAN_ABSENT_MAX 4096
#define PLAN_SHARDS_MAX 64
#define PLAN_REPEAT_MAX 100
#define PLAN_SELECTORS_MAX 256 /* words that select */
#define ADMISSION_RULES_MAX 128

/* Declared effects and what is claimed of them */
#define EFFECTS_MAX 32
#define EFFECT_PATHS_MAX 32
#define EFFECT_OBSERVERS_MAX 8
#define EFFECT_SIGHTS_MAX 4
#define EFFECT_INPUTS_MAX 8
#define EFFECT_MEASURES_MAX 8
#define EFFECT_SCENARIOS_MAX 16
#define EFFECT_EXCLUDED_MAX 16
#define EFFECT_TEXT_MAX 161 /* 160 bytes and a NUL: a bundle has no longer text */
#define CLAIM_UNMET_MAX 256
#define CLAIM_RESTS_MAX 1024
#define CLAIM_STATEMENTS_MAX 128
#define ASSESSORS_MAX 16
#define ASSESSMENT_SIGNATURES_MAX 8 /* on one envelope */
#define ASSESSMENT_BYTES ((size_t)4 * KIB) /* as JSON, canonical */
#define ASSESSMENT_LINE_BYTES ((size_t)16 * KIB) /* an envelope */
#define CORRELATE_MAX 4096 /* calls, and rows, of an arm */

/* Documents */
#define JSON_DEPTH 16 /* bundle, scenario, configuration */
#define JSON_ENGINE_DEPTH 32 /* what an engine answers */
#define MISBEHAVIOUR_HEX 161 /* 80 bytes as hexadecimal digits, and a NUL: a bundle has no longer text */
#define SCENARIO_BYTES (256 * KIB)
#define ENGINE_ANSWER_BYTES (4 * MIB)
#define ENGINE_STREAM_BYTES (256 * MIB)
#define ENGINE_HEADER_BYTES (16 * KIB)

/* Session (defaults of the reference profile; a profile may lower or raise them) */
#define FRAME_BYTES (64 * KIB)
#define STDOUT_BYTES (1 * MIB)
#define STDERR_BYTES (1 * MIB)
#define SESSION_CALLS 16
#define SESSION_MS 15000
#define HEARTBEAT_MS 250
#define ACKNOWLEDGE_MS 1000
#define LEASE_MS 2000
#define STOP_TRIES 3
#define STOP_TRY_MS 5000
#define ATTACH_FRAME_BYTES (1 * MIB)

/* Gateway */
#define MCP_LINE_BYTES (8 * MIB)
#define GATEWAY_RESPONSE_BYTES (2 * MIB)
#define GATEWAY_TOOLS_MAX 64
#define GATEWAY_CALL_MS 5000
#define AUDIT_ENTRY_BYTES (64 * KIB) /* as JSON */

/* Engine calls, in milliseconds */
#define ENGINE_CALL_MS 10000
#define ENGINE_START_MS 30000
#define ENGINE_LOAD_MS 60000

/* Observers */
#define OBSERVER_TREE_ENTRIES 100000
#define OBSERVER_TREE_DEPTH 64
#define OBSERVER_TREE_BYTES (256LL * MIB)
#define OBSERVER_STREAM_MS 2000 /* for an input's end, once the last report was asked for */
#define CAPTURE_SNAPLEN 256
#define CAPTURE_HOST_RING_BYTES (6 * MIB) /* sees what all arms of a run do at once */
#define CAPTURE_NETNS_RING_BYTES (2 * MIB)
#define CAPTURE_READ_MS 1
#define CAPTURE_INTERFACES 64

/* Bundle, when it is read */
#define BUNDLE_TOTAL_BYTES (1024LL * MIB)
#define BUNDLE_FILE_BYTES (64LL * MIB)
#define BUNDLE_PACKED_BYTES (128LL * MIB)
#define BUNDLE_MEMBERS 64
#define BUNDLE_CELLS_MAX 65536 /* of a run, with those that nobody planned */
#define BUNDLE_SMALL_BYTES (2LL * MIB) /* of a member that its reader keeps, or that grows with the scenarios */
#define BUNDLE_KEPT_BYTES (4 * MIB) /* of all that are kept */
#define BUNDLE_VALUES_MAX 65536 /* of JSON in one of these */
#define OBSERVATION_LINES 4000000
#define OBSERVATION_LINE_BYTES (64 * KIB)

#endif
