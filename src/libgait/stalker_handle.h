/* SPDX-License-Identifier: MIT */
/* What the files behind gait/stalker.h share: the handle, and how its functions read what they are given. */
#ifndef GAIT_LIBGAIT_STALKER_HANDLE_H
#define GAIT_LIBGAIT_STALKER_HANDLE_H

#include "base/attributes.h"
#include "base/mutex.h"
#include "gait/stalker.h"
#include "libgait/stalker_registry.h"
#include "stalker/follow.h"

struct run_on_thread;

struct gait_stalker {
    struct stalker_engine *engine;
    struct registered_stalker registered;
    struct mutex runs_lock;
    struct run_on_thread *runs; /* that nobody waits for; under runs_lock */
};

/* The error of a function whose stalker is NULL. */
int stalker_handle_missing(struct gait_error *err, const char *doing);

/* Checks options for following and turns them into the engine's. -EINVAL, explained. */
MUST_USE int stalker_handle_request(const struct gait_follow_options *given, struct follow_request *request_out,
                                    struct gait_error *err);

#endif
