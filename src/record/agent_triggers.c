/* SPDX-License-Identifier: MIT */
/*
 * Where more came than the ring has room for, the ones that are missing were seen at some time since the last look
 * last: from then on everything is wanted.
 */
#include "record/agent_triggers.h"

#include "base/time_counter.h"
#include "record/flight.h"
#include "record/trigger_spec.h"

/* No more at a time, whatever the process writes. */
#define AT_ONCE_MAX (2 * RING_TRIGGERS_KEPT)

static bool is_meant(const struct trigger_spec *spec, const struct ring_trigger *trigger)
{
    switch ((enum ring_trigger_kind)trigger->kind) {
    case RING_TRIGGER_SIGNAL:
        return spec->kind == TRIGGER_SPEC_SIGNAL && (uint64_t)spec->signal == trigger->value;
    case RING_TRIGGER_CALL:
        return spec->kind == TRIGGER_SPEC_SYMBOL;
    case RING_TRIGGER_SLOW:
        return spec->kind == TRIGGER_SPEC_SLOW;
    }
    return false;
}

/* Which of the user's triggers it was; NULL: none. Signals are known by their number, functions by the trigger's. */
static const struct trigger_spec *find_spec(const struct trigger_list *list, const struct ring_trigger *trigger)
{
    if (trigger->kind != RING_TRIGGER_SIGNAL)
        return trigger->number < list->count && is_meant(&list->specs[trigger->number], trigger)
                   ? &list->specs[trigger->number]
                   : NULL;
    for (size_t i = 0; i < list->count; i++)
        if (is_meant(&list->specs[i], trigger))
            return &list->specs[i];
    return NULL;
}

static int trigger_for(const struct trigger_list *list, const struct ring_trigger *trigger, struct flight *flight,
                       uint32_t pid)
{
    const struct trigger_spec *spec = find_spec(list, trigger);

    if (spec == NULL)
        return 0;
    return flight_trigger(flight, &(struct flight_event){.kind = trigger_spec_kind_name(spec->kind),
                                                         .text = spec->text,
                                                         .time = trigger->time,
                                                         .pid = pid,
                                                         .tid = trigger->tid & INT32_MAX});
}

int agent_triggers_take(struct agent_triggers *triggers, const struct ring_reader *ring,
                        const struct trigger_list *list, struct flight *flight, uint32_t pid)
{
    uint64_t now = time_counter(), missed;
    struct ring_trigger trigger, first;
    int result = 0;

    for (unsigned i = 0; result == 0 && i < AT_ONCE_MAX; i++) {
        if (!trigger_log_next(ring, &triggers->place, &trigger, &missed))
            break;
        /* Nobody can say that something was not yet, or long ago. */
        if (trigger.time > now || trigger.time < triggers->looked_time)
            trigger.time = triggers->looked_time == 0 ? now : triggers->looked_time;
        first = trigger;
        first.time = triggers->looked_time;
        flight->triggers_left_out += missed == 0 ? 0 : missed - 1;
        if (missed != 0 && triggers->looked_time != 0)
            result = trigger_for(list, &first, flight, pid);
        if (result == 0)
            result = trigger_for(list, &trigger, flight, pid);
    }
    triggers->looked_time = now;
    return result;
}
