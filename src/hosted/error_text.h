/* SPDX-License-Identifier: MIT */
/* Filling a gait_error. For code outside of the target, which may use libc. Callable from any thread. */
#ifndef GAIT_HOSTED_ERROR_TEXT_H
#define GAIT_HOSTED_ERROR_TEXT_H

#include "base/attributes.h"
#include "gait/error.h"

/*
 * Notes why something failed: code is an errno number, negated or not; the text says what failed, on what, why, and
 * what can be done. Too long a text is cut off. Returns the negated number, so that it can be returned on. err may be
 * NULL.
 */
int error_set(struct gait_error *err, int code, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
