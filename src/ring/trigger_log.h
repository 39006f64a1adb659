/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where threads say that something happened around which records are wanted. It has room for the
 * last ones: who reads too rarely finds that some are missing. Any thread, signal-safe, no lock.
 */
#ifndef GAIT_RING_TRIGGER_LOG_H
#define GAIT_RING_TRIGGER_LOG_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

#define RING_TRIGGERS_KEPT 1024u

enum ring_trigger_kind {
    RING_TRIGGER_SIGNAL = 1, /* a handler of the program's got the signal `value` */
    RING_TRIGGER_CALL,       /* a function was called */
    RING_TRIGGER_SLOW,       /* a call of a function took `value` ticks of the counter */
};

struct ring_trigger {
    uint64_t time;   /* the counter */
    uint32_t kind;   /* enum ring_trigger_kind */
    uint32_t number; /* whose: of the trigger that the controller asked for */
    uint32_t tid;
    uint32_t reserved;
    uint64_t value;
};

/* Some ten nanoseconds. */
void trigger_log_add(struct ring_region *region, const struct ring_trigger *trigger);

/* All zero: before the first one. */
struct trigger_log_place {
    uint64_t next;
    uint64_t awaited; /* 1 + that of one that was not there the last time */
    uint64_t missed;  /* that nobody was told of yet */
};

/*
 * The next one that was not read before. *missed_out: so many before it did not come, or were overwritten. False: there
 * is none, or it is being written right now; who looks again later gets it, or the one behind it.
 */
MUST_USE bool trigger_log_next(const struct ring_reader *reader, struct trigger_log_place *place,
                               struct ring_trigger *trigger_out, uint64_t *missed_out);

#endif
