/* SPDX-License-Identifier: MIT */
/* The modules that stacks lead through, as the loader loads and unloads them, and frames that hooks have changed. */
#ifndef GAIT_LIBGAIT_STACK_MODULES_H
#define GAIT_LIBGAIT_STACK_MODULES_H

#include "base/attributes.h"
#include "gait/error.h"
#include "unwind/hooked_frames.h"

/* For walks: return addresses that hooks of this process have replaced. */
extern const struct hooked_frames stack_hooked_frames;

/* Watches the loader from now on; more than once is fine. Errors as of gait_stack_watch_modules. */
MUST_USE int stack_modules_watch(struct gait_error *err);

#endif
