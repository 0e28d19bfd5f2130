/* Records of arms in one pool: lists without their spare room, and each effective value that arms share once. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge.h"

#define BLOCK_BYTES ((size_t)64 * KIB)
#define PLACES_FIRST 1024

struct block {
	struct block *next;
	size_t used;
	_Alignas(16) char bytes[];
};

struct arm_pool {
	struct block *blocks; /* the newest first */
	size_t bytes; /* in all, with the table */
	struct effective_value **places; /* hashed; NULL: free */
	size_t places_count, values;
};

int arm_pool_new(struct arm_pool **out, struct error **err)
{
	cleanup_arm_pool struct arm_pool *pool = calloc(1, sizeof(*pool));

	if (pool) {
		pool->places_count = PLACES_FIRST;
		pool->places = calloc(pool->places_count, sizeof(struct effective_value *));
	}
	if (!pool || !pool->places)
		return error_set(err, ERROR_MEMORY, "no memory for the records of arms");
	*out = steal_pointer(&pool);
	return 0;
}

void arm_pool_free(struct arm_pool *pool)
{
	if (!pool)
		return;
	while (pool->blocks) {
		struct block *next = pool->blocks->next;

		free(pool->blocks);
		pool->blocks = next;
	}
	free(pool->places);
	free(pool);
}

static int charge(struct arm_pool *pool, size_t bytes, struct error **err)
{
	pool->bytes += bytes;
	if (pool->bytes > ARM_POOL_BYTES)
		return error_set(err, ERROR_LIMIT, "the arms of a run say more than %d bytes", ARM_POOL_BYTES);
	return 0;
}

/* Not zeroed; NULL with *err set. */
static void *take(struct arm_pool *pool, size_t size, struct error **err)
{
	struct block *block = pool->blocks;
	size_t rounded = (size + 15) / 16 * 16;
	void *out;

	if (!block || block->used + rounded > BLOCK_BYTES) {
		size_t room = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;

		if (charge(pool, sizeof(*block) + room, err) < 0)
			return NULL;
		block = malloc(sizeof(*block) + room);
		if (!block) {
			error_set(err, ERROR_MEMORY, "no memory for the records of arms");
			return NULL;
		}
		*block = (struct block){ .next = pool->blocks };
		pool->blocks = block;
	}
	out = block->bytes + block->used;
	block->used += rounded;
	return out;
}

static int keep_list(struct arm_pool *pool, const void *from, size_t count, size_t size, void *out, struct error **err)
{
	void *to = NULL;

	if (count > 0) {
		to = take(pool, count * size, err);
		if (!to)
			return -1;
		memcpy(to, from, count * size);
	}
	memcpy(out, &to, sizeof(to));
	return 0;
}

static size_t value_hash(const struct effective_value *value)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *at = value->field; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	for (const char *at = value->sha256; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

/* Its place, or the free one where it would stand. The table is never full. */
static struct effective_value **place_of(struct effective_value **places, size_t count,
					 const struct effective_value *value)
{
	size_t at = value_hash(value) & (count - 1);

	while (places[at] &&
	       (strcmp(places[at]->field, value->field) != 0 || strcmp(places[at]->sha256, value->sha256) != 0))
		at = (at + 1) & (count - 1);
	return &places[at];
}

static int more_places(struct arm_pool *pool, struct error **err)
{
	size_t count = 2 * pool->places_count;
	struct effective_value **places;

	if (charge(pool, pool->places_count * sizeof(places[0]), err) < 0)
		return -1;
	places = calloc(count, sizeof(struct effective_value *));
	if (!places)
		return error_set(err, ERROR_MEMORY, "no memory for the records of arms");
	for (size_t i = 0; i < pool->places_count; i++)
		if (pool->places[i])
			*place_of(places, count, pool->places[i]) = pool->places[i];
	free(pool->places);
	pool->places = places;
	pool->places_count = count;
	return 0;
}

static int keep_value(struct arm_pool *pool, const struct effective_value *value, struct effective_value **out,
		      struct error **err)
{
	struct effective_value **place;

	if (2 * pool->values >= pool->places_count && more_places(pool, err) < 0)
		return -1;
	place = place_of(pool->places, pool->places_count, value);
	if (!*place) {
		struct effective_value *kept = take(pool, sizeof(*kept), err);

		if (!kept)
			return -1;
		*kept = *value;
		*place = kept;
		pool->values++;
	}
	*out = *place;
	return 0;
}

int arm_pool_keep(struct arm_pool *pool, const struct arm_record *from, struct arm_record *to, struct error **err)
{
	struct arm_record kept = *from;

	if (keep_list(pool, from->must_fail, from->must_fail_count, sizeof(from->must_fail[0]), &kept.must_fail, err) <
		    0 ||
	    keep_list(pool, from->failed, from->failed_count, sizeof(from->failed[0]), &kept.failed, err) < 0 ||
	    keep_list(pool, from->may_differ, from->may_differ_count, sizeof(from->may_differ[0]), &kept.may_differ,
		      err) < 0 ||
	    keep_list(pool, from->events, from->events_count, sizeof(from->events[0]), &kept.events, err) < 0 ||
	    keep_list(pool, from->effective, from->effective_count, sizeof(from->effective[0]), &kept.effective, err) <
		    0)
		return -1;
	for (size_t i = 0; i < from->effective_count; i++)
		if (keep_value(pool, from->effective[i], &kept.effective[i], err) < 0)
			return -1;
	*to = kept;
	return 0;
}
