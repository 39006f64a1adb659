/* SPDX-License-Identifier: MIT */
/*
 * The loop of a recording or a live listing: it looks once at everything there is to do with a family, then sleeps
 * until there is more. The thread of the family.
 */
#ifndef GAIT_RECORD_FAMILY_RUN_H
#define GAIT_RECORD_FAMILY_RUN_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>

struct family;

/* Why it ended. */
enum family_end {
    FAMILY_OVER,    /* no process is left */
    FAMILY_STOPPED, /* the user said so, or nothing else is wanted; processes may be left */
    FAMILY_FAILED,  /* the error says why */
};

/* Functions may be NULL. */
struct family_run {
    bool only_first;         /* what other processes do is not wanted when the first one has ended */
    bool typed_is_for_first; /* what is typed at the terminal is for a first process that is ours, and ends nothing */
    void (*before)(void *context);                        /* each look */
    int (*behind)(void *context, struct gait_error *err); /* it; an error ends the loop */
    bool (*is_to_end)(void *context);                     /* whether another than a signal wants an end */
    void *context;
};

/* Until no process is left, or stop_signals.h or is_to_end ends it. */
MUST_USE enum family_end family_run(struct family *family, const struct family_run *run, struct gait_error *err);

#endif
