/* SPDX-License-Identifier: MIT */
/*
 * Between vfork and the execution of a program a child lives in the memory of who made it. Whatever is changed there
 * for one of the two is changed for the other as well, which is not stopped, and perhaps not even meant.
 */
#ifndef GAIT_INJECT_SHARED_MEMORY_H
#define GAIT_INJECT_SHARED_MEMORY_H

#include "base/attributes.h"

#include <stdbool.h>
#include <sys/types.h>

struct gait_error;

/* Whether a child of the process lives in its memory. */
bool shared_memory_has_child(pid_t pid);

/*
 * Waits while the process lives in its parent's memory, or a child in its; for a second at most, since it rarely takes
 * that long. -EBUSY: it still is in its parent's, and not to be touched. Children that stay are let be.
 */
MUST_USE int shared_memory_wait(pid_t pid, struct gait_error *err);

#endif
