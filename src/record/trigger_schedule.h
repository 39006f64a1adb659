/* SPDX-License-Identifier: MIT */
/* Triggers that come by the clock. Times are those of CLOCK_MONOTONIC. One thread at a time. */
#ifndef GAIT_RECORD_TRIGGER_SCHEDULE_H
#define GAIT_RECORD_TRIGGER_SCHEDULE_H

#include "base/attributes.h"
#include "record/trigger_spec.h"

#include <stddef.h>
#include <stdint.h>

struct trigger_schedule {
    struct scheduled_trigger *triggers;
    size_t count;
};

/* Takes those of the list that come by the clock. -ENOMEM. */
MUST_USE int trigger_schedule_init(struct trigger_schedule *schedule, const struct trigger_spec *triggers, size_t count,
                                   uint64_t began_ns);
void trigger_schedule_deinit(struct trigger_schedule *schedule);

/* One that is due, once for each time that it is; NULL: none is. */
const struct trigger_spec *trigger_schedule_next(struct trigger_schedule *schedule, uint64_t now_ns);

#endif
