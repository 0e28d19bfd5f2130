/* What schema.c and schema_write.c share; for nobody else. */
#ifndef HARNESS_CORE_SCHEMA_FIELD_H
#define HARNESS_CORE_SCHEMA_FIELD_H

#include "core/schema.h"

/* Bytes of one value in its struct. */
static inline size_t schema_stride(const struct schema_field *field)
{
	switch (field->type) {
	case SCHEMA_INT:
		return sizeof(int64_t);
	case SCHEMA_BOOL:
		return sizeof(bool);
	case SCHEMA_ENUM:
		return sizeof(int);
	case SCHEMA_STRING:
	case SCHEMA_OBJECT:
		break;
	}
	return field->size;
}

#endif
