/* SPDX-License-Identifier: MIT */
/* Option structs of callers who may have been compiled with another version's header. */
#ifndef GAIT_LIBGAIT_OPTIONS_H
#define GAIT_LIBGAIT_OPTIONS_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>

/* A struct that begins with a size_t, its own size, as this version knows it. */
struct options_type {
    const char *doing; /* what fails if the options are wrong: "copy code" */
    const char *name;  /* of the struct */
    size_t size_bytes;
};

/*
 * Takes the caller's options over: what it does not know is 0 in *options_out, which has the type's size. NULL stands
 * for all zeroes. -EINVAL: it has something set that this version does not know, or no size.
 */
MUST_USE int options_read(const struct options_type *type, const void *given, void *options_out,
                          struct gait_error *err);

#endif
