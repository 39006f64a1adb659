/* SPDX-License-Identifier: MIT */
/* What comes again is due at its own times, however late the recorder looks; those that were missed come as one. */
#include "record/trigger_schedule.h"

#include <errno.h>
#include <stdlib.h>

struct scheduled_trigger {
    const struct trigger_spec *trigger;
    uint64_t due_ns; /* UINT64_MAX: never again */
};

int trigger_schedule_init(struct trigger_schedule *schedule, const struct trigger_spec *triggers, size_t count,
                          uint64_t began_ns)
{
    *schedule = (struct trigger_schedule){.triggers = calloc(count + 1, sizeof(*schedule->triggers))};
    if (schedule->triggers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (triggers[i].kind == TRIGGER_SPEC_TIME || triggers[i].kind == TRIGGER_SPEC_EVERY)
            schedule->triggers[schedule->count++] =
                (struct scheduled_trigger){&triggers[i], began_ns + triggers[i].nanoseconds};
    return 0;
}

void trigger_schedule_deinit(struct trigger_schedule *schedule)
{
    free(schedule->triggers);
    *schedule = (struct trigger_schedule){.count = 0};
}

static uint64_t next_time(const struct scheduled_trigger *scheduled, uint64_t now_ns)
{
    uint64_t period = scheduled->trigger->nanoseconds;

    if (scheduled->trigger->kind != TRIGGER_SPEC_EVERY || period == 0)
        return UINT64_MAX;
    return scheduled->due_ns + ((now_ns - scheduled->due_ns) / period + 1) * period;
}

const struct trigger_spec *trigger_schedule_next(struct trigger_schedule *schedule, uint64_t now_ns)
{
    for (size_t i = 0; i < schedule->count; i++) {
        struct scheduled_trigger *scheduled = &schedule->triggers[i];

        if (scheduled->due_ns > now_ns)
            continue;
        scheduled->due_ns = next_time(scheduled, now_ns);
        return scheduled->trigger;
    }
    return NULL;
}
