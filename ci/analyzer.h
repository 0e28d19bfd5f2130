/*
 * Put before every file that clang's analyzer reads (`ci/lint tidy`). It looks at one file at a time, and so does not
 * know that these always return a negative number: it would follow each failed call as if it had succeeded.
 */
#include "core/error.h"

#define error_set(err, code, ...) ((void)error_set(err, code, __VA_ARGS__), -(int)(code))
#define error_errno(err, number, ...) ((void)error_errno(err, number, __VA_ARGS__), -(int)ERROR_SYSTEM)
#define error_wrap(err, ...) ((void)error_wrap(err, __VA_ARGS__), -1)
